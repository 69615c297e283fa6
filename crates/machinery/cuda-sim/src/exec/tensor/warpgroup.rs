//! `wgmma`: products of matrices that four warps hold together, and of which one or both lie in shared
//! memory. Source: PTX ISA, section "Asynchronous warpgroup level matrix instructions".
//!
//! Each warp has 16 rows of the 64, as if it did an `mma` for each eight columns: so it is computed, sums
//! included. It is done at once, when a warp comes to the instruction; a GPU may do it at any time until the
//! warp has waited for it. What a kernel has to say of that is demanded: see [`WgmmaGroups`].

use super::descriptor::{CHUNK, CHUNKS, Descriptor};
use super::usual::Left;
use super::{Multiplicand, ProductShape, Registers, SHAPES, product_of};
use crate::exec::access::translate;
use crate::exec::cpu::Cpu;
use crate::exec::fault::FaultKind;
use crate::exec::sm::{Handler, Inst, Next, Sm};
use crate::exec::state_space::{SharedSpace, SpaceAccess as _};
use crate::exec::sync::converge;
use crate::exec::warp::Warp;
use crate::exec::wgmma_groups::WgmmaGroups;
use crate::lanes::{FULL, LANES};
use std::ops::Range;

/// Warps of a warpgroup.
pub const WARPS: usize = 4;

/// The most columns of the second matrix.
pub const MOST_COLUMNS: usize = 256;

/// The most registers of an instruction: the result, the first matrix, a descriptor and the predicate.
const MOST_REGISTERS: usize = MOST_COLUMNS / 2 + 4 + 2;

/// What a product is like beside the types of its elements.
#[derive(Clone, Copy)]
pub struct Form {
    /// Eights of columns.
    pub eights: usize,
    /// The first matrix lies in shared memory as the second does.
    pub shared: bool,
    /// Products are subtracted.
    pub negated: bool,
    /// Of the two matrices: whether neighbours in shared memory belong to one column of elements.
    pub transposed: [bool; 2],
}

impl Form {
    pub fn packed(self) -> u32 {
        let flags = [
            self.shared,
            self.negated,
            self.transposed[0],
            self.transposed[1],
        ];
        let bit = |(n, flag): (usize, bool)| u32::from(flag) << n;
        self.eights as u32 * 16 + flags.into_iter().enumerate().map(bit).sum::<u32>()
    }

    /// Additions and multiplications that are a thread's part of it.
    pub fn operations(self, multiplicand: Multiplicand) -> u32 {
        self.eights as u32 * SHAPES[place(multiplicand)].operations()
    }

    /// Registers of the result.
    fn results(self) -> usize {
        4 * self.eights
    }

    fn unpacked(packed: u32) -> Form {
        let flag = |n: u32| packed >> n & 1 == 1;
        Form {
            eights: packed as usize / 16,
            shared: flag(0),
            negated: flag(1),
            transposed: [flag(2), flag(3)],
        }
    }
}

/// The handler of `wgmma.mma_async` with elements of a type. `x`: the [`Form`]. Its operand list `imm` has the
/// registers of the result, to which it adds; of the first matrix, or its descriptor; the descriptor of the
/// second; and the predicate that says whether anything is added to.
pub fn handler(cpu: Cpu, multiplicand: Multiplicand) -> Handler {
    use Multiplicand::{Bf16, F16, Tf32};
    match multiplicand {
        Tf32 => of_form::<{ place(Tf32) }>(cpu),
        F16 => of_form::<{ place(F16) }>(cpu),
        Bf16 => of_form::<{ place(Bf16) }>(cpu),
    }
}

/// The place in [`SHAPES`] of the `mma` whose sums these are.
const fn place(multiplicand: Multiplicand) -> usize {
    match multiplicand {
        Multiplicand::Tf32 => 1,
        Multiplicand::F16 => 3,
        Multiplicand::Bf16 => 7,
    }
}

fn of_form<const FORM: usize>(cpu: Cpu) -> Handler {
    unsafe fn plain<const FORM: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        // SAFETY: as for any handler.
        unsafe {
            multiply_add(sm, inst, SHAPES[FORM], |a, left, b, c| {
                product_of(SHAPES[FORM], a, left, b, c)
            })
        }
    }
    #[cfg(target_arch = "x86_64")]
    unsafe fn avx2<const FORM: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn wide<const FORM: usize>(
            a: &Registers,
            left: &Left,
            b: &Registers,
            c: &Registers,
        ) -> Registers {
            product_of(SHAPES[FORM], a, left, b, c)
        }
        // SAFETY: as for any handler; chosen only where the CPU has AVX2.
        unsafe {
            multiply_add(sm, inst, SHAPES[FORM], |a, left, b, c| {
                wide::<FORM>(a, left, b, c)
            })
        }
    }
    match cpu {
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2 => avx2::<FORM>,
        _ => plain::<FORM>,
    }
}

/// # Safety
/// As for [`Handler`]; the operand list is as [`handler`] says.
#[inline(always)]
unsafe fn multiply_add(
    sm: &mut Sm,
    inst: &Inst,
    shape: ProductShape,
    product: impl Fn(&Registers, &Left, &Registers, &Registers) -> Registers,
) -> Next {
    let unfenced = !sm.block.warp().products.fenced;
    let unfenced = unfenced.then_some(FaultKind::Warpgroup(
        "no `wgmma.fence` comes before the first `wgmma.mma_async`",
    ));
    if let Some(fault) = whole_warpgroup(sm).or(unfenced) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    let next = converge(sm, inst, FULL, |sm| {
        sm.block.warp_mut().products.start();
        // SAFETY: the caller's promise; every lane runs.
        if let Err(fault) = unsafe { sums(sm, inst, shape, product) } {
            sm.fail(inst, 0, fault);
        }
    });
    if sm.fault.is_some() {
        return std::ptr::null();
    }
    next
}

/// # Safety
/// As for [`multiply_add`], of all lanes.
#[inline(always)]
unsafe fn sums(
    sm: &mut Sm,
    inst: &Inst,
    shape: ProductShape,
    product: impl Fn(&Registers, &Left, &Registers, &Registers) -> Registers,
) -> Result<(), FaultKind> {
    let form = Form::unpacked(inst.arg0);
    let mut places = [0; MOST_REGISTERS];
    let list = &sm.grid.program.operand_lists[inst.imm as usize];
    let last = list.len() - 1;
    places[..=last].copy_from_slice(list);
    let results = form.results();
    let frame = sm.frame;
    // SAFETY: the lowering put the registers of the result and of the first matrix, all 32-bit rows, inside
    // the frame. Every lane runs, so that whole rows are written.
    let row = |n: usize| unsafe { &mut *frame.add(places[n] as usize).cast::<[u32; LANES]>() };
    // SAFETY: the caller's promise.
    let matrices = unsafe { Matrices::of(sm, inst)? };
    let mut a: Registers = [[0; LANES]; 4];
    match matrices.first {
        None => (0..4).for_each(|n| a[n] = *row(results + n)),
        Some(first) => {
            for (lower, eight) in matrices.first_eights().enumerate() {
                let words = first.words(&fetch(sm, &first, eight)?);
                (a[lower], a[2 + lower]) = (words[0], words[1]);
            }
        }
    }
    if form.negated {
        let words = a.as_flattened_mut().iter_mut();
        words.for_each(|word| *word ^= shape.multiplicand.signs());
    }
    // SAFETY: the last operand is a predicate.
    let adds = unsafe { frame.add(places[last] as usize).cast::<u32>().read() } & 1 == 1;
    SharedSpace::count(sm, false, 1, LANES as u64);
    let left = Left::of(shape, &a);
    let (mut b, mut c): (Registers, Registers) = ([[0; LANES]; 4], [[0; LANES]; 4]);
    for eight in 0..form.eights {
        let words = matrices.second.words(&fetch(sm, &matrices.second, eight)?);
        (b[0], b[1]) = (words[0], words[1]);
        if adds {
            (0..4).for_each(|n| c[n] = *row(4 * eight + n));
        }
        let d = product(&a, &left, &b, &c);
        (0..4).for_each(|n| *row(4 * eight + n) = d[n]);
    }
    Ok(())
}

/// The matrices of a product that lie in shared memory.
pub struct Matrices {
    first: Option<Descriptor>,
    second: Descriptor,
    eights: usize,
    /// The warp's place in its warpgroup.
    warp: usize,
}

impl Matrices {
    /// Those of a `wgmma.mma_async`.
    ///
    /// # Safety
    /// As for [`Handler`]; the instruction is one of [`handler`]'s.
    pub unsafe fn of(sm: &Sm, inst: &Inst) -> Result<Matrices, FaultKind> {
        let form = Form::unpacked(inst.arg0);
        let list = &sm.grid.program.operand_lists[inst.imm as usize];
        let descriptor = |n: usize, transposed| {
            // SAFETY: descriptors are 64-bit rows.
            let row = unsafe { &*sm.frame.add(list[n] as usize).cast::<[u64; LANES]>() };
            if row.iter().any(|&other| other != row[0]) {
                return Err(FaultKind::Warpgroup(
                    "the threads of a warp have different descriptors of one matrix",
                ));
            }
            Descriptor::new(row[0], transposed)
        };
        let [first, second] = form.transposed;
        Ok(Matrices {
            first: match form.shared {
                true => Some(descriptor(form.results(), first)?),
                false => None,
            },
            second: descriptor(list.len() - 2, second)?,
            eights: form.eights,
            warp: sm.block.warp().index as usize % WARPS,
        })
    }

    /// The eights of rows that are the warp's of the first matrix.
    fn first_eights(&self) -> Range<usize> {
        2 * self.warp..2 * self.warp + 2
    }

    /// Where each chunk that the warp reads begins.
    pub fn chunks(&self) -> impl Iterator<Item = u64> {
        let of = |matrix: Descriptor, eights: Range<usize>| {
            eights.flat_map(move |eight| (0..CHUNKS).map(move |n| matrix.chunk(eight, n)))
        };
        let first = self.first.map(|first| of(first, self.first_eights()));
        let second = of(self.second, 0..self.eights);
        first.into_iter().flatten().chain(second)
    }
}

/// Eight rows of a matrix.
#[inline(always)]
fn fetch(
    sm: &mut Sm,
    matrix: &Descriptor,
    eight: usize,
) -> Result<[[u8; CHUNK]; CHUNKS], FaultKind> {
    let mut chunks = [[0; CHUNK]; CHUNKS];
    for (n, chunk) in chunks.iter_mut().enumerate() {
        let address = matrix.chunk(eight, n);
        let host = translate::<SharedSpace>(sm, 0, address, CHUNK as u64, CHUNK as u64, false)?;
        // SAFETY: `translate` found as many bytes as a chunk has.
        unsafe { host.copy_to_nonoverlapping(chunk.as_mut_ptr(), CHUNK) };
    }
    Ok(chunks)
}

/// The warps of the running one's warpgroup; none where it has not four.
fn warpgroup(sm: &Sm) -> Option<&[Warp]> {
    let first = sm.block.running / WARPS * WARPS;
    sm.block.warps.get(first..first + WARPS)
}

/// The fault it is to come to an instruction of a warpgroup where some of its 128 threads do not exist, or have
/// ended before they came here.
fn whole_warpgroup(sm: &Sm) -> Option<FaultKind> {
    let run = sm.block.warp().products.run;
    let comes = |warp: &Warp| warp.alive == FULL || warp.products.run > run;
    let whole = warpgroup(sm).is_some_and(|warps| warps.iter().all(comes));
    (!whole).then_some(FaultKind::WarpgroupIncomplete)
}

/// `wgmma.fence`
///
/// # Safety
/// As for [`Handler`]; so for every handler here.
pub unsafe fn fence(sm: &mut Sm, inst: &Inst) -> Next {
    step(sm, inst, |products| products.fenced = true)
}

/// `wgmma.commit_group`
///
/// # Safety
/// As for [`fence`].
pub unsafe fn commit(sm: &mut Sm, inst: &Inst) -> Next {
    step(sm, inst, WgmmaGroups::commit)
}

/// `wgmma.wait_group`: until at most the newest `x` groups are under way.
///
/// # Safety
/// As for [`fence`].
pub unsafe fn wait(sm: &mut Sm, inst: &Inst) -> Next {
    step(sm, inst, |products| products.wait(inst.arg0))
}

#[inline(always)]
fn step(sm: &mut Sm, inst: &Inst, step: impl FnOnce(&mut WgmmaGroups)) -> Next {
    if let Some(fault) = whole_warpgroup(sm) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    converge(sm, inst, FULL, |sm| {
        let products = &mut sm.block.warp_mut().products;
        products.run += 1;
        step(products);
    })
}

/// A thread is about to end in a kernel that has products.
///
/// # Safety
/// As for [`fence`].
pub unsafe fn end(sm: &mut Sm, inst: &Inst) -> Next {
    let products = &sm.block.warp().products;
    let behind = |warp: &Warp| warp.products.run > products.run;
    let fault = if warpgroup(sm).is_some_and(|warps| warps.iter().any(behind)) {
        FaultKind::WarpgroupIncomplete
    } else if !products.are_complete() {
        FaultKind::Warpgroup(
            "a thread ends and has not waited for its products: `wgmma.commit_group` and then \
             `wgmma.wait_group` have to come before their results are used",
        )
    } else {
        return inst.next();
    };
    sm.fail(inst, sm.mask.trailing_zeros() as usize, fault)
}
