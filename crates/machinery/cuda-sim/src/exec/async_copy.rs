//! Asynchronous copies from global to shared memory. Source: PTX ISA, section 9.7.9.25 (`cp.async`).
//!
//! What a copy brings is read when it starts, and it is in shared memory only once its thread has
//! waited for it: whoever reads there earlier finds what was there before. Both are among what a
//! GPU may do, and this choice shows a wait that is missing.

use super::access::reach;
use super::lanes::{LANES, active};
use super::sm::Sm;
use super::space::{Global, Shared, Space as _};
use crate::program::code::{Inst, Next};

/// The most bytes a lane copies at once.
const MOST: usize = 16;

/// The copies of one warp that are on their way.
pub struct Copies {
    /// In the order in which they started.
    started: Vec<Copy>,
    /// Groups that each lane has closed. Copies that it starts now will be in the next.
    closed: [u32; LANES],
}

/// What some lanes copy with one instruction, all of them in their group of the same number.
struct Copy {
    group: u32,
    /// Lanes that have not waited for it yet.
    lanes: u32,
    bytes: usize,
    to: [u32; LANES],
    data: [[u8; MOST]; LANES],
}

impl Copies {
    /// None.
    pub const fn new() -> Copies {
        Copies {
            started: Vec::new(),
            closed: [0; LANES],
        }
    }

    /// Becomes none again.
    pub fn reset(&mut self) {
        self.started.clear();
        self.closed = [0; LANES];
    }

    /// `copy` has started; its lanes' groups may differ.
    fn start(&mut self, copy: &Copy) {
        let mut left = copy.lanes;
        while left != 0 {
            let group = self.closed[left.trailing_zeros() as usize];
            let together = active(left).filter(|&lane| self.closed[lane] == group);
            let lanes = together.fold(0, |lanes, lane| lanes | 1 << lane);
            self.started.push(Copy {
                group,
                lanes,
                ..*copy
            });
            left &= !lanes;
        }
    }

    /// Brings to `shared` what lanes wait for: all of their groups but the newest `pending`, and
    /// copies that are in no group yet where `all`.
    fn finish(&mut self, lanes: u32, pending: u32, all: bool, shared: &mut [u64]) {
        let closed = &self.closed;
        self.started.retain_mut(|copy| {
            let waits = |lane: &usize| {
                let newer = closed[*lane].wrapping_sub(copy.group);
                all || newer > pending
            };
            for lane in active(copy.lanes & lanes).filter(waits) {
                let data = &copy.data[lane][..copy.bytes];
                put(shared, copy.to[lane] as usize, data);
                copy.lanes &= !(1 << lane);
            }
            copy.lanes != 0
        });
    }
}

/// Writes bytes at an address of shared memory. They lie inside: that was checked when their copy
/// started.
fn put(shared: &mut [u64], at: usize, data: &[u8]) {
    const WORD: usize = size_of::<u64>();
    for (part, data) in data.chunks(WORD).enumerate() {
        let word = &mut shared[at / WORD + part];
        let mut bytes = word.to_ne_bytes();
        bytes[at % WORD..][..data.len()].copy_from_slice(data);
        *word = u64::from_ne_bytes(bytes);
    }
}

/// How much of its source a copy reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    Whole,
    /// As many bytes as a 32-bit operand says.
    Bytes,
    /// Nothing where a predicate holds.
    Unless,
}

/// The bytes a lane copies and the [`Source`], as `x` has them.
pub fn packed(bytes: u32, source: Source) -> u32 {
    bytes | (source as u32) << 8
}

/// Where a lane copies to and from, as the instruction says.
///
/// # Safety
/// `inst` is a [`start`].
#[inline(always)]
pub unsafe fn addresses(sm: &Sm, inst: &Inst) -> ([u64; LANES], [u64; LANES]) {
    // SAFETY: operands 0 and 1 are 64-bit rows.
    let (to, from) = unsafe { (sm.row::<u64>(inst, 0), sm.row::<u64>(inst, 1)) };
    (
        to.map(|to| to.wrapping_add_signed(i64::from(inst.y as i32))),
        from.map(|from| from.wrapping_add(inst.imm)),
    )
}

/// `cp.async`: operands the address in shared memory, plus `y`; the address in global memory, plus
/// `imm`; and what the [`Source`] says. `x`: see [`packed`]. Bytes of the destination that the
/// source has none for become zero.
///
/// # Safety
/// As for [`crate::program::code::Handler`]; so for every handler here.
pub unsafe fn start(sm: &mut Sm, inst: &Inst) -> Next {
    let bytes = u64::from(inst.x & 0xff);
    let how = inst.x >> 8;
    // SAFETY: the instruction is this one; operand 2 is a 32-bit row or a predicate, as `how` says.
    let (to, from, sizes) = unsafe {
        let (to, from) = addresses(sm, inst);
        let sizes = if how == Source::Bytes as u32 {
            *sm.row::<u32>(inst, 2)
        } else if how == Source::Unless as u32 {
            let nothing = sm.predicate(inst, 2);
            std::array::from_fn(|lane| {
                if nothing >> lane & 1 == 1 {
                    0
                } else {
                    u32::MAX
                }
            })
        } else {
            [u32::MAX; LANES]
        };
        (to, from, sizes)
    };
    let mut copy = Copy {
        group: 0,
        lanes: sm.mask,
        bytes: bytes as usize,
        to: [0; LANES],
        data: [[0; MOST]; LANES],
    };
    for lane in active(sm.mask) {
        if let Err(kind) = reach::<Shared>(sm, lane, to[lane], bytes, bytes, true) {
            return sm.fail(inst, lane, kind);
        }
        copy.to[lane] = to[lane] as u32;
        let wanted = bytes.min(sizes[lane].into());
        if wanted == 0 {
            continue;
        }
        match reach::<Global>(sm, lane, from[lane], wanted, bytes, false) {
            // SAFETY: `reach` found `wanted` bytes, no more than a lane's data has.
            Ok(host) => unsafe {
                host.copy_to_nonoverlapping(copy.data[lane].as_mut_ptr(), wanted as usize);
            },
            Err(kind) => return sm.fail(inst, lane, kind),
        }
    }
    Global::count(sm, false, 1, sm.mask.count_ones().into());
    sm.block.warp_mut().copies.start(&copy);
    inst.next()
}

/// `cp.async.commit_group`
///
/// # Safety
/// As for [`start`].
pub unsafe fn commit(sm: &mut Sm, inst: &Inst) -> Next {
    let mask = sm.mask;
    let copies = &mut sm.block.warp_mut().copies;
    for lane in active(mask) {
        copies.closed[lane] = copies.closed[lane].wrapping_add(1);
    }
    inst.next()
}

/// `cp.async.wait_group`: until at most the newest `x` groups are on their way.
///
/// # Safety
/// As for [`start`].
pub unsafe fn wait_group(sm: &mut Sm, inst: &Inst) -> Next {
    finish(sm, inst.x, false);
    inst.next()
}

/// `cp.async.wait_all`: until no copy is on its way.
///
/// # Safety
/// As for [`start`].
pub unsafe fn wait_all(sm: &mut Sm, inst: &Inst) -> Next {
    finish(sm, 0, true);
    inst.next()
}

fn finish(sm: &mut Sm, pending: u32, all: bool) {
    let (mask, block) = (sm.mask, &mut *sm.block);
    let copies = &mut block.warps[block.running].copies;
    copies.finish(mask, pending, all, &mut block.shared);
}
