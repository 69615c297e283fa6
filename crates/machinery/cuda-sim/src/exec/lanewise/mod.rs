//! Thirty-two lanes an instruction: how an operation on one thread's values becomes a handler
//! that runs a whole warp.
//!
//! A lane operation is a plain closure without captures, `|a: f32, b: f32| a + b`. Its type
//! carries its code, so a handler is that closure inlined into a loop over the rows of a warp's
//! registers, once for each [`Cpu`](super::cpu::Cpu). Inactive lanes keep their old value.
//!
//! Each operation becomes two handlers: one for a warp alone, and one for all warps of a gang,
//! which is the same loop inside a loop over the warps (see [`super::gang`]).

mod handlers;
mod predicates;
mod values;

pub use predicates::*;
pub use values::*;

use super::gang::Gang;
use super::sm::{Inst, Sm};
use crate::lanes::LANES;
#[cfg(target_arch = "x86_64")]
use crate::lanes::active;

/// A value a register row holds: 32 or 64 bits a lane. Types of 8 and 16 bits live in 32-bit rows.
pub trait Lane: Copy + Default + 'static {}
impl Lane for u32 {}
impl Lane for i32 {}
impl Lane for f32 {}
impl Lane for u64 {}
impl Lane for i64 {}
impl Lane for f64 {}

/// Whose registers an instruction reads and writes, and how it goes through the lanes. What a view says
/// nothing of is done with the registers of a warp by itself.
pub trait View: Copy {
    /// The lanes to compute: all of them, which is quickest with wide registers, whether they run
    /// or not.
    #[inline(always)]
    fn lanes(self, _: &Sm) -> impl Iterator<Item = usize> + use<Self> {
        0..LANES
    }

    /// The row of operand `n`.
    ///
    /// # Safety
    /// As for [`Sm::row`].
    #[inline(always)]
    unsafe fn row<'a, T: Lane>(self, sm: &Sm, inst: &Inst, n: usize) -> &'a [T; LANES] {
        // SAFETY: the caller's promise.
        unsafe { sm.row(inst, n) }
    }

    /// The predicate operand `n`: one bit a lane.
    ///
    /// # Safety
    /// As for [`Sm::predicate`].
    #[inline(always)]
    unsafe fn predicate(self, sm: &Sm, inst: &Inst, n: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { sm.predicate(inst, n) }
    }

    /// Writes the active lanes of predicate operand `n`.
    ///
    /// # Safety
    /// As for [`Sm::predicate`].
    #[inline(always)]
    unsafe fn set_predicate(self, sm: &mut Sm, inst: &Inst, n: usize, value: u32) {
        // SAFETY: the caller's promise.
        unsafe { sm.set_predicate(inst, n, value) }
    }

    /// Writes the active lanes of operand `n`.
    ///
    /// # Safety
    /// As for [`Sm::row`].
    unsafe fn write<T: Lane>(self, sm: &mut Sm, inst: &Inst, n: usize, values: [T; LANES]);
}

/// Those of a warp by itself, of which some lanes may not run.
#[derive(Clone, Copy)]
pub struct WarpView;

impl View for WarpView {
    #[inline(always)]
    unsafe fn write<T: Lane>(self, sm: &mut Sm, inst: &Inst, n: usize, values: [T; LANES]) {
        // SAFETY: the caller's promise.
        unsafe { sm.write(inst, n, values) }
    }
}

/// As [`WarpView`], with a loop over the running lanes that is not unrolled and takes no wide registers:
/// for CPUs that have none of use. A compiler is done with it in half the time.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct ScalarView;

#[cfg(target_arch = "x86_64")]
impl View for ScalarView {
    #[inline(always)]
    fn lanes(self, sm: &Sm) -> impl Iterator<Item = usize> + use<> {
        active(sm.mask)
    }

    #[inline(always)]
    unsafe fn write<T: Lane>(self, sm: &mut Sm, inst: &Inst, n: usize, values: [T; LANES]) {
        // SAFETY: the caller's promise.
        let row = unsafe { &mut *sm.frame.add(inst.operands[n] as usize).cast::<[T; LANES]>() };
        for lane in active(sm.mask) {
            row[lane] = values[lane];
        }
    }
}

/// Those of a warp of a gang, and those that the gang has in common. All lanes that live run, so that
/// nothing needs to survive a write.
#[derive(Clone, Copy)]
pub struct GangView(*const [*mut u8; 2]);

impl GangView {
    /// For warp `turn` of the gang, as long as that stays as it is.
    #[inline(always)]
    pub fn of(gang: &Gang, turn: usize) -> GangView {
        GangView(&raw const gang.frames[turn])
    }

    /// Where operand `n` lies.
    #[inline(always)]
    fn place(self, inst: &Inst, n: usize) -> *mut u8 {
        // Looked up, since the compiler would make a loop over the gang's warps for each combination
        // of the operands' conditions.
        // SAFETY: the gang is as it was.
        let frame = unsafe { (*self.0)[usize::from(inst.uniform >> n & 1)] };
        frame.wrapping_add(inst.operands[n] as usize)
    }

    /// Where operand `n`, a destination, lies: in the warp's own frame.
    #[inline(always)]
    fn own_place(self, inst: &Inst, n: usize) -> *mut u8 {
        // SAFETY: as above.
        let frame = unsafe { (*self.0)[0] };
        frame.wrapping_add(inst.operands[n] as usize)
    }
}

impl View for GangView {
    #[inline(always)]
    unsafe fn row<'a, T: Lane>(self, _: &Sm, inst: &Inst, n: usize) -> &'a [T; LANES] {
        // SAFETY: the caller's promise; the gang's own frame is laid out as every warp's is.
        unsafe { &*self.place(inst, n).cast::<[T; LANES]>() }
    }

    #[inline(always)]
    unsafe fn predicate(self, _: &Sm, inst: &Inst, n: usize) -> u32 {
        // SAFETY: as above.
        unsafe { *self.place(inst, n).cast::<u32>() }
    }

    #[inline(always)]
    unsafe fn set_predicate(self, _: &mut Sm, inst: &Inst, n: usize, value: u32) {
        // SAFETY: as above.
        unsafe { *self.own_place(inst, n).cast::<u32>() = value }
    }

    #[inline(always)]
    unsafe fn write<T: Lane>(self, _: &mut Sm, inst: &Inst, n: usize, values: [T; LANES]) {
        // SAFETY: as above.
        unsafe { *self.own_place(inst, n).cast::<[T; LANES]>() = values }
    }
}

impl Sm {
    /// The row of operand `n`.
    ///
    /// # Safety
    /// Operand `n` of `inst` is a row of `T`'s width in the current frame; no other reference
    /// to that row lives while this one is written through.
    #[inline(always)]
    pub unsafe fn row<'a, T: Lane>(&self, inst: &Inst, n: usize) -> &'a [T; LANES] {
        // SAFETY: the lowering gives every operand a row of its type's width inside the frame.
        unsafe {
            &*self
                .frame
                .add(inst.operands[n] as usize)
                .cast::<[T; LANES]>()
        }
    }

    /// The predicate operand `n`: one bit a lane.
    ///
    /// # Safety
    /// Operand `n` of `inst` is a predicate of the current frame.
    #[inline(always)]
    pub unsafe fn predicate(&self, inst: &Inst, n: usize) -> u32 {
        // SAFETY: the lowering gives predicates four bytes inside the frame.
        unsafe { *self.frame.add(inst.operands[n] as usize).cast::<u32>() }
    }

    /// Writes the active lanes of predicate operand `n`.
    ///
    /// # Safety
    /// As for [`Sm::predicate`].
    #[inline(always)]
    pub unsafe fn set_predicate(&mut self, inst: &Inst, n: usize, value: u32) {
        // SAFETY: as above.
        unsafe {
            let place = self.frame.add(inst.operands[n] as usize).cast::<u32>();
            *place = (*place & !self.mask) | (value & self.mask);
        }
    }

    /// Writes the active lanes of operand `n`.
    ///
    /// # Safety
    /// As for [`Sm::row`].
    #[inline(always)]
    pub unsafe fn write<T: Lane>(&mut self, inst: &Inst, n: usize, values: [T; LANES]) {
        // SAFETY: the row is inside the frame and as wide as T; the two casts below keep the
        // width and only forget the type.
        unsafe {
            let row = self.frame.add(inst.operands[n] as usize);
            if !self.blend {
                *row.cast::<[T; LANES]>() = values;
            } else if size_of::<T>() == 4 {
                let values = &*(&raw const values).cast::<[u32; LANES]>();
                let row = &mut *row.cast::<[u32; LANES]>();
                for lane in 0..LANES {
                    let keep = self.lanes[lane];
                    row[lane] = (values[lane] & keep) | (row[lane] & !keep);
                }
            } else {
                let values = &*(&raw const values).cast::<[u64; LANES]>();
                let row = &mut *row.cast::<[u64; LANES]>();
                for lane in 0..LANES {
                    let keep = self.lanes[lane] as i32 as i64 as u64;
                    row[lane] = (values[lane] & keep) | (row[lane] & !keep);
                }
            }
        }
    }
}
