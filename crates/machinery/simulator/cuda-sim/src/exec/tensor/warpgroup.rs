//! `wgmma`: multiplications of matrices by four warps, with one or both matrices in shared memory. Source:
//! PTX ISA, section "Asynchronous warpgroup level matrix instructions".
//!
//! Each warp has 16 of the 64 rows, as if it executed an `mma` for each eight columns, and this is how it is
//! computed, rounding included. The result is computed as soon as a warp arrives at the instruction; a GPU
//! may compute it at any time until the warp has waited for it. The synchronization that a kernel needs is
//! enforced: see [`WgmmaGroups`].

use super::fast_path::Left;
use super::{COLUMNS, Multiplicand, ProductShape, Registers, SHAPES, product_with};
use crate::check::{FaultKind, WarpgroupMisuse};
use crate::exec::cpu::Cpu;
use crate::exec::memory::access::translate;
use crate::exec::memory::state_space::{SharedSpace, SpaceAccess as _};
use crate::exec::sm::{Handler, Inst, Next, Sm};
use crate::exec::sync::converge;
use crate::exec::warp::Warp;
use crate::exec::warp::async_groups::WgmmaGroups;
use crate::lanes::{FULL, LANES};
use std::ops::Range;

/// Warps per warpgroup.
pub const WARPS: usize = 4;

/// Maximum number of columns of matrix B.
pub const MAX_COLUMNS: usize = 256;

/// Maximum number of registers of an instruction: the result, matrix A, a descriptor and the predicate.
const MAX_REGISTERS: usize = MAX_COLUMNS / 2 + 4 + 2;

/// The properties of a multiplication other than its element types.
#[derive(Clone, Copy)]
pub struct Form {
    /// Columns of matrix B, in groups of eight.
    pub column_groups: usize,
    /// True if matrix A is in shared memory too.
    pub shared: bool,
    /// True to subtract the product.
    pub negated: bool,
    /// For both matrices, true if neighbours in shared memory belong to one column.
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
        self.column_groups as u32 * 16 + flags.into_iter().enumerate().map(bit).sum::<u32>()
    }

    /// Returns the number of additions and multiplications per thread.
    pub fn operations(self, multiplicand: Multiplicand) -> u32 {
        self.column_groups as u32 * SHAPES[shape_index(multiplicand)].operations()
    }

    /// Returns the number of registers of the result.
    fn results(self) -> usize {
        4 * self.column_groups
    }

    fn unpacked(packed: u32) -> Form {
        let flag = |n: u32| packed >> n & 1 == 1;
        Form {
            column_groups: packed as usize / 16,
            shared: flag(0),
            negated: flag(1),
            transposed: [flag(2), flag(3)],
        }
    }
}

/// Returns the handler of `wgmma.mma_async` for an element type. `arg0` is the [`Form`]. The instruction's
/// operand list `imm` holds the registers of the result, to which it adds; those of matrix A, or its
/// descriptor; the descriptor of matrix B; and the predicate that enables the addition.
pub fn handler(cpu: Cpu, multiplicand: Multiplicand) -> Handler {
    use Multiplicand::{Bf16, F16, Tf32};
    match multiplicand {
        Tf32 => of_form::<{ shape_index(Tf32) }>(cpu),
        F16 => of_form::<{ shape_index(F16) }>(cpu),
        Bf16 => of_form::<{ shape_index(Bf16) }>(cpu),
    }
}

/// Returns the index in [`SHAPES`] of the `mma` with the same sums.
const fn shape_index(multiplicand: Multiplicand) -> usize {
    match multiplicand {
        Multiplicand::Tf32 => 1,
        Multiplicand::F16 => 3,
        Multiplicand::Bf16 => 7,
    }
}

fn of_form<const FORM: usize>(cpu: Cpu) -> Handler {
    unsafe fn plain<const FORM: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        // SAFETY: the caller guarantees the requirements of `Handler`, and the lowering made the operand list
        // that `handler` describes.
        unsafe {
            multiply_add(sm, inst, SHAPES[FORM], |a, left, b, c| {
                product_with(SHAPES[FORM], a, left, b, c)
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
            product_with(SHAPES[FORM], a, left, b, c)
        }
        // SAFETY: the operand list is that of `handler`, as `multiply_add` requires; chosen only on CPUs with
        // AVX2.
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

/// Runs `wgmma.mma_async`.
///
/// # Safety
/// The requirements of [`Handler`]; the operand list is as [`handler`] describes.
#[inline(always)]
unsafe fn multiply_add(
    sm: &mut Sm,
    inst: &Inst,
    shape: ProductShape,
    product: impl Fn(&Registers, &Left, &Registers, &Registers) -> Registers,
) -> Next {
    let is_unfenced = !sm.block.warp().products.fenced;
    let unfenced = is_unfenced.then_some(FaultKind::Warpgroup(WarpgroupMisuse::Unfenced));
    if let Some(fault) = incomplete_warpgroup_fault(sm).or(unfenced) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    let next = converge(sm, inst, FULL, |sm| {
        sm.block.warp_mut().products.start();
        // SAFETY: the operand list is as required, and all lanes are active.
        if let Err(fault) = unsafe { compute(sm, inst, shape, product) } {
            sm.fail(inst, 0, fault);
        }
    });
    if sm.fault.is_some() {
        return std::ptr::null();
    }
    next
}

/// Computes the warp's part of the result.
///
/// # Safety
/// The requirements of [`multiply_add`], with all lanes active.
#[inline(always)]
unsafe fn compute(
    sm: &mut Sm,
    inst: &Inst,
    shape: ProductShape,
    product: impl Fn(&Registers, &Left, &Registers, &Registers) -> Registers,
) -> Result<(), FaultKind> {
    let form = Form::unpacked(inst.arg0);
    let mut offsets = [0; MAX_REGISTERS];
    let list = &sm.grid.program.operand_lists[inst.imm as usize];
    let last = list.len() - 1;
    offsets[..=last].copy_from_slice(list);
    let results = form.results();
    let frame = sm.frame;
    // SAFETY: the lowering placed the registers of the result and of matrix A, all 32-bit rows, inside the
    // frame. All lanes are active, so whole rows may be written.
    let row = |n: usize| unsafe { &mut *frame.add(offsets[n] as usize).cast::<[u32; LANES]>() };
    // SAFETY: the instruction is a `wgmma.mma_async`, as this function requires.
    let matrices = unsafe { Matrices::of(sm, inst)? };
    let mut a: Registers = [[0; LANES]; 4];
    match matrices.first {
        None => (0..4).for_each(|n| a[n] = *row(results + n)),
        Some(first) => {
            for (lower, group) in matrices.a_groups().enumerate() {
                let words = first.words(&fetch(sm, &first, group)?);
                (a[lower], a[2 + lower]) = (words[0], words[1]);
            }
        }
    }
    if form.negated {
        let words = a.as_flattened_mut().iter_mut();
        words.for_each(|word| *word ^= shape.multiplicand.signs());
    }
    // SAFETY: the last operand is a predicate.
    let adds = unsafe { frame.add(offsets[last] as usize).cast::<u32>().read() } & 1 == 1;
    SharedSpace::count(sm, false, 1, LANES as u64);
    let left = Left::of(shape, &a);
    let (mut b, mut c): (Registers, Registers) = ([[0; LANES]; 4], [[0; LANES]; 4]);
    for group in 0..form.column_groups {
        let words = matrices.second.words(&fetch(sm, &matrices.second, group)?);
        (b[0], b[1]) = (words[0], words[1]);
        if adds {
            (0..4).for_each(|n| c[n] = *row(4 * group + n));
        }
        let d = product(&a, &left, &b, &c);
        (0..4).for_each(|n| *row(4 * group + n) = d[n]);
    }
    Ok(())
}

/// The matrices in shared memory of a multiplication.
pub struct Matrices {
    first: Option<Descriptor>,
    second: Descriptor,
    column_groups: usize,
    /// Index of the warp in its warpgroup.
    warp: usize,
}

impl Matrices {
    /// Decodes the matrices of a `wgmma.mma_async`.
    ///
    /// # Safety
    /// The requirements of [`Handler`]; the instruction must have a handler of [`handler`].
    pub unsafe fn of(sm: &Sm, inst: &Inst) -> Result<Matrices, FaultKind> {
        let form = Form::unpacked(inst.arg0);
        let list = &sm.grid.program.operand_lists[inst.imm as usize];
        let descriptor = |n: usize, transposed| {
            // SAFETY: descriptors are 64-bit rows.
            let row = unsafe { &*sm.frame.add(list[n] as usize).cast::<[u64; LANES]>() };
            if row.iter().any(|&other| other != row[0]) {
                return Err(FaultKind::Warpgroup(WarpgroupMisuse::DifferentDescriptors));
            }
            Descriptor::new(row[0], transposed)
        };
        let [first, second] = form.transposed;
        Ok(Matrices {
            first: if form.shared {
                Some(descriptor(form.results(), first)?)
            } else {
                None
            },
            second: descriptor(list.len() - 2, second)?,
            column_groups: form.column_groups,
            warp: sm.block.warp().index as usize % WARPS,
        })
    }

    /// Returns the warp's rows of matrix A, in groups of eight.
    fn a_groups(&self) -> Range<usize> {
        2 * self.warp..2 * self.warp + 2
    }

    /// Iterates over the addresses of the chunks that the warp reads.
    pub fn chunks(&self) -> impl Iterator<Item = u64> {
        let of = |matrix: Descriptor, column_groups: Range<usize>| {
            column_groups.flat_map(move |group| (0..CHUNKS).map(move |n| matrix.chunk(group, n)))
        };
        let first = self.first.map(|first| of(first, self.a_groups()));
        let second = of(self.second, 0..self.column_groups);
        first.into_iter().flatten().chain(second)
    }
}

/// Reads eight rows of a matrix.
#[inline(always)]
fn fetch(
    sm: &mut Sm,
    matrix: &Descriptor,
    group: usize,
) -> Result<[[u8; CHUNK]; CHUNKS], FaultKind> {
    let mut chunks = [[0; CHUNK]; CHUNKS];
    for (n, chunk) in chunks.iter_mut().enumerate() {
        let address = matrix.chunk(group, n);
        let host = translate::<SharedSpace>(sm, 0, address, CHUNK as u64, CHUNK as u64, false)?;
        // SAFETY: `translate` checked the bytes of a chunk.
        unsafe { host.copy_to_nonoverlapping(chunk.as_mut_ptr(), CHUNK) };
    }
    Ok(chunks)
}

/// Returns the four warps of the running warp's warpgroup, or `None` if the block has fewer.
fn warpgroup(sm: &Sm) -> Option<&[Warp]> {
    let first = sm.block.running / WARPS * WARPS;
    sm.block.warps.get(first..first + WARPS)
}

/// Returns the fault of a warpgroup-wide instruction if some of its 128 threads do not exist, or ended before
/// it.
fn incomplete_warpgroup_fault(sm: &Sm) -> Option<FaultKind> {
    let run = sm.block.warp().products.run;
    let has_arrived = |warp: &Warp| warp.alive == FULL || warp.products.run > run;
    let complete = warpgroup(sm).is_some_and(|warps| warps.iter().all(has_arrived));
    (!complete).then_some(FaultKind::WarpgroupIncomplete)
}

/// Runs `wgmma.fence`.
///
/// # Safety
/// The requirements of [`Handler`]. All handlers below share them.
pub unsafe fn fence(sm: &mut Sm, inst: &Inst) -> Next {
    step(sm, inst, |products| products.fenced = true)
}

/// Runs `wgmma.commit_group`.
///
/// # Safety
/// As for [`fence`].
pub unsafe fn commit(sm: &mut Sm, inst: &Inst) -> Next {
    step(sm, inst, WgmmaGroups::commit)
}

/// Runs `wgmma.wait_group`: waits until at most the newest `arg0` groups are in flight.
///
/// # Safety
/// As for [`fence`].
pub unsafe fn wait(sm: &mut Sm, inst: &Inst) -> Next {
    step(sm, inst, |products| products.wait(inst.arg0))
}

#[inline(always)]
fn step(sm: &mut Sm, inst: &Inst, step: impl FnOnce(&mut WgmmaGroups)) -> Next {
    if let Some(fault) = incomplete_warpgroup_fault(sm) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    converge(sm, inst, FULL, |sm| {
        let products = &mut sm.block.warp_mut().products;
        products.run += 1;
        step(products);
    })
}

/// Checks, before a thread ends, that its warpgroup's multiplications are complete.
///
/// # Safety
/// As for [`fence`].
pub unsafe fn end(sm: &mut Sm, inst: &Inst) -> Next {
    let products = &sm.block.warp().products;
    let behind = |warp: &Warp| warp.products.run > products.run;
    let fault = if warpgroup(sm).is_some_and(|warps| warps.iter().any(behind)) {
        FaultKind::WarpgroupIncomplete
    } else if !products.are_complete() {
        FaultKind::Warpgroup(WarpgroupMisuse::NotAwaited)
    } else {
        return inst.next();
    };
    sm.fail(inst, sm.mask.trailing_zeros() as usize, fault)
}

/// Bytes per chunk.
pub const CHUNK: usize = 16;

/// Chunks per group of eight rows.
pub const CHUNKS: usize = 16;

/// Number of rows after which the swizzle repeats.
const PATTERN: u64 = 8;

/// A decoded matrix descriptor: the layout of a matrix in shared memory. Source: PTX ISA, sections "Asynchronous
/// warpgroup level matrix shared memory layout" and "Matrix descriptor"; CUTLASS's `mma_sm90_desc.hpp` gives the same
/// layouts as formulas.
///
/// One instruction uses 32 bytes of each row, in chunks of 16 bytes. Each group of eight rows has [`CHUNKS`] chunks.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    start: u64,
    /// Leading and stride byte offset, whose meaning depends on the layout.
    leading: u64,
    stride: u64,
    /// Distance in bytes between rows of the swizzle pattern; 16 means no swizzle.
    width: u64,
    /// True if neighbours in a chunk belong to one column instead of one row.
    transposed: bool,
}

impl Descriptor {
    /// Decodes a descriptor. Fails for offsets that are not simulated or invalid.
    pub fn new(bits: u64, transposed: bool) -> Result<Descriptor, FaultKind> {
        let field = |from: u32| (bits >> from & 0x3fff) << 4;
        let width = match bits >> 62 {
            0 => CHUNK as u64,
            1 => 128,
            2 => 64,
            _ => 32,
        };
        let start = field(0);
        if bits >> 49 & 7 != 0 {
            return Err(FaultKind::Warpgroup(WarpgroupMisuse::BaseOffset));
        }
        // A matrix may start anywhere inside its first row.
        if width > CHUNK as u64 && start / width % PATTERN != 0 {
            return Err(FaultKind::Warpgroup(WarpgroupMisuse::MisplacedSwizzle));
        }
        Ok(Descriptor {
            start,
            leading: field(16),
            stride: field(32),
            width,
            transposed,
        })
    }

    /// Returns the address of chunk `n` of a group of eight rows. For each row, the chunks are its first and
    /// second 16 bytes; in a transposed matrix they are the columns.
    pub fn chunk(&self, group: usize, n: usize) -> u64 {
        let (group, n) = (group as u64, n as u64);
        let chunks_per_row = self.width / CHUNK as u64;
        let offset = match (self.transposed, chunks_per_row) {
            (false, 1) => group * self.stride + n % 2 * self.leading + n / 2 * self.width,
            (false, _) => group * self.stride + n % 2 * CHUNK as u64 + n / 2 * self.width,
            (true, 1) => {
                group * self.stride + n / PATTERN * self.leading + n % PATTERN * self.width
            }
            (true, _) => {
                let within = group % chunks_per_row * CHUNK as u64 + n % PATTERN * self.width;
                within + group / chunks_per_row * self.leading + n / PATTERN * self.stride
            }
        };
        let linear = self.start + offset;
        linear ^ (linear >> 7 & (chunks_per_row - 1)) << 4
    }

    /// Returns the words of eight rows in the register layout of `mma`: the first register holds the first 16
    /// bytes of every row, four lanes per row; the second register holds the others.
    pub fn words(&self, chunks: &[[u8; CHUNK]; CHUNKS]) -> [[u32; 4 * COLUMNS]; 2] {
        let mut words = [[0; 4 * COLUMNS]; 2];
        for (n, chunk) in chunks.iter().enumerate() {
            if self.transposed {
                let (register, lane, shift) = (n / 8, n % 8 / 2, n % 2 * 16);
                for (row, half) in chunk.as_chunks().0.iter().enumerate() {
                    words[register][4 * row + lane] |=
                        u32::from(u16::from_le_bytes(*half)) << shift;
                }
            } else {
                let lanes = &mut words[n % 2][4 * (n / 2)..][..4];
                for (word, bytes) in lanes.iter_mut().zip(chunk.as_chunks().0) {
                    *word = u32::from_le_bytes(*bytes);
                }
            }
        }
        words
    }
}
