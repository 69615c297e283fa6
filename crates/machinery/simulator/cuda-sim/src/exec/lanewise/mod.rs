//! Lane-wise instructions: turns an operation on one thread's values into a handler for a whole warp.
//!
//! A lane operation is a closure without captures, for example `|a: f32, b: f32| a + b`. Its type identifies
//! its code, so a handler is that closure inlined into a loop over the lanes of a warp's register rows,
//! compiled once for each [`Cpu`](super::cpu::Cpu). Inactive lanes keep their old values.
//!
//! Each operation becomes two handlers: one for a single warp, and one for a gang, which is the same loop
//! inside a loop over the warps (see [`super::gang`]).

mod operations;

pub use operations::*;

use super::sm::{Inst, Sm};
use super::warp::gang_state::Gang;
use crate::lanes::LANES;
#[cfg(target_arch = "x86_64")]
use crate::lanes::active;

/// A value in a register row: 32 or 64 bits per lane. Types of 8 and 16 bits use 32-bit rows.
pub trait Lane: Copy + Default + 'static {}
impl Lane for u32 {}
impl Lane for i32 {}
impl Lane for f32 {}
impl Lane for u64 {}
impl Lane for i64 {}
impl Lane for f64 {}

/// The registers that an instruction accesses and the lanes it processes. The default methods access the
/// running warp's own registers.
pub trait View: Copy {
    /// Returns the lanes to compute. Computing all of them, active or not, is fastest with wide registers.
    #[inline(always)]
    fn lanes(self, _: &Sm) -> impl Iterator<Item = usize> + use<Self> {
        0..LANES
    }

    /// Returns the row of operand `n`.
    ///
    /// # Safety
    /// The requirements of [`Sm::row`].
    #[inline(always)]
    unsafe fn row<'a, T: Lane>(self, sm: &Sm, inst: &Inst, n: usize) -> &'a [T; LANES] {
        // SAFETY: the caller guarantees the requirements of `Sm::row`.
        unsafe { sm.row(inst, n) }
    }

    /// Returns predicate operand `n`, one bit per lane.
    ///
    /// # Safety
    /// The requirements of [`Sm::predicate`].
    #[inline(always)]
    unsafe fn predicate(self, sm: &Sm, inst: &Inst, n: usize) -> u32 {
        // SAFETY: the caller guarantees the requirements of `Sm::predicate`.
        unsafe { sm.predicate(inst, n) }
    }

    /// Writes the active lanes of predicate operand `n`.
    ///
    /// # Safety
    /// The requirements of [`Sm::predicate`].
    #[inline(always)]
    unsafe fn set_predicate(self, sm: &mut Sm, inst: &Inst, n: usize, value: u32) {
        // SAFETY: the caller guarantees the requirements of `Sm::predicate`.
        unsafe { sm.set_predicate(inst, n, value) }
    }

    /// Writes the active lanes of operand `n`.
    ///
    /// # Safety
    /// The requirements of [`Sm::row`].
    unsafe fn write<T: Lane>(self, sm: &mut Sm, inst: &Inst, n: usize, values: [T; LANES]);
}

/// The registers of a single warp, some of whose lanes may be inactive.
#[derive(Clone, Copy)]
pub struct WarpView;

impl View for WarpView {
    #[inline(always)]
    unsafe fn write<T: Lane>(self, sm: &mut Sm, inst: &Inst, n: usize, values: [T; LANES]) {
        // SAFETY: the caller guarantees the requirements of `Sm::row`.
        unsafe { sm.write(inst, n, values) }
    }
}

/// Like [`WarpView`], but with a loop over the active lanes that is neither unrolled nor vectorized, for CPUs
/// without useful wide registers. It halves the time to compile these handlers.
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
        // SAFETY: the caller guarantees that operand `n` is a row of `T`'s width in the current frame.
        let row = unsafe { &mut *sm.frame.add(inst.operands[n] as usize).cast::<[T; LANES]>() };
        for lane in active(sm.mask) {
            row[lane] = values[lane];
        }
    }
}

/// The registers of one warp of a gang, and the gang's uniform registers. All live lanes are active, so
/// writes need not preserve anything.
#[derive(Clone, Copy)]
pub struct GangView(*const [*mut u8; 2]);

impl GangView {
    /// Returns the view of member `member`, valid while the gang does not change.
    #[inline(always)]
    pub fn of(gang: &Gang, member: usize) -> GangView {
        GangView(&raw const gang.frames[member])
    }

    /// Returns the address of operand `n`, in the warp's own frame or the uniform frame.
    #[inline(always)]
    fn address(self, inst: &Inst, n: usize) -> *mut u8 {
        // An indexed load, because the compiler would otherwise make a separate loop over the gang's warps
        // for each combination of uniform operands.
        // SAFETY: the gang has not changed since `of`, so the pair of frames is still valid.
        let frame = unsafe { (*self.0)[usize::from(inst.uniform >> n & 1)] };
        frame.wrapping_add(inst.operands[n] as usize)
    }

    /// Returns the address of operand `n`, a destination, in the warp's own frame.
    #[inline(always)]
    fn own_address(self, inst: &Inst, n: usize) -> *mut u8 {
        // SAFETY: the gang has not changed since `of`, so the pair of frames is still valid.
        let frame = unsafe { (*self.0)[0] };
        frame.wrapping_add(inst.operands[n] as usize)
    }
}

impl View for GangView {
    #[inline(always)]
    unsafe fn row<'a, T: Lane>(self, _: &Sm, inst: &Inst, n: usize) -> &'a [T; LANES] {
        // SAFETY: the caller guarantees the operand's width, and the uniform frame has the layout of the
        // warps' frames.
        unsafe { &*self.address(inst, n).cast::<[T; LANES]>() }
    }

    #[inline(always)]
    unsafe fn predicate(self, _: &Sm, inst: &Inst, n: usize) -> u32 {
        // SAFETY: operand `n` is a predicate, in a frame with the layout of the warps' frames.
        unsafe { *self.address(inst, n).cast::<u32>() }
    }

    #[inline(always)]
    unsafe fn set_predicate(self, _: &mut Sm, inst: &Inst, n: usize, value: u32) {
        // SAFETY: operand `n` is a predicate of the warp's own frame.
        unsafe { *self.own_address(inst, n).cast::<u32>() = value }
    }

    #[inline(always)]
    unsafe fn write<T: Lane>(self, _: &mut Sm, inst: &Inst, n: usize, values: [T; LANES]) {
        // SAFETY: the caller guarantees that operand `n` is a row of `T`'s width in the warp's own frame.
        unsafe { *self.own_address(inst, n).cast::<[T; LANES]>() = values }
    }
}

impl Sm {
    /// Returns the row of operand `n`.
    ///
    /// # Safety
    /// Operand `n` of `inst` must be a row of `T`'s width in the current frame, and the row must not be written
    /// while the returned reference is in use.
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

    /// Returns predicate operand `n`, one bit per lane.
    ///
    /// # Safety
    /// Operand `n` of `inst` must be a predicate of the current frame.
    #[inline(always)]
    pub unsafe fn predicate(&self, inst: &Inst, n: usize) -> u32 {
        // SAFETY: the lowering gives predicates four bytes inside the frame.
        unsafe { *self.frame.add(inst.operands[n] as usize).cast::<u32>() }
    }

    /// Writes the active lanes of predicate operand `n`.
    ///
    /// # Safety
    /// The requirements of [`Sm::predicate`].
    #[inline(always)]
    pub unsafe fn set_predicate(&mut self, inst: &Inst, n: usize, value: u32) {
        // SAFETY: the caller guarantees that operand `n` is a predicate, which has four bytes inside the frame.
        unsafe {
            let predicate = self.frame.add(inst.operands[n] as usize).cast::<u32>();
            *predicate = (*predicate & !self.mask) | (value & self.mask);
        }
    }

    /// Writes the active lanes of operand `n`.
    ///
    /// # Safety
    /// The requirements of [`Sm::row`].
    #[inline(always)]
    pub unsafe fn write<T: Lane>(&mut self, inst: &Inst, n: usize, values: [T; LANES]) {
        // SAFETY: the row is inside the frame and as wide as `T`; the casts below preserve the width.
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

/// Defines `$name(cpu, f)`, which returns the handlers that apply `f` to every active lane. `$run` is the
/// body, generic over the closure's type. It is inlined into one function for a single warp and one that
/// loops over the warps of a gang, both for wide registers. On x86-64 a third function handles CPUs without
/// them and processes lanes one by one (see [`ScalarView`]). Users of the macro import the names in
/// it.
macro_rules! handlers {
    ($(#[$doc:meta])* $name:ident <$($t:ident),+> $f:path, $run:ident) => {
        $(#[$doc])*
        pub fn $name<$($t: Lane,)+ F: $f + Copy + 'static>(cpu: Cpu, _: F) -> Handlers {
            const {
                assert!(size_of::<F>() == 0, "a lane operation captures nothing");
            }
            #[cfg(target_arch = "x86_64")]
            unsafe fn plain<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: F has no fields, so any (empty) bit pattern is a value of it; the lowering checked
                // the widths of the operands.
                unsafe { $run::<_, $($t,)+ F>(ScalarView, sm, inst, std::mem::zeroed()) };
                inst.next()
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: F has no fields, and the lowering checked the operands; on x86-64 the handler is
                // chosen only if the CPU has AVX2.
                unsafe { $run::<_, $($t,)+ F>(WarpView, sm, inst, std::mem::zeroed()) };
                inst.next()
            }
            #[cfg_attr(
                target_arch = "x86_64",
                target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")
            )]
            unsafe fn wide_gang<$($t: Lane,)+ F: $f + Copy>(sm: &mut Sm, inst: &Inst) -> Next {
                for member in sm.gang.members_written(inst.gang_scope) {
                    let view = GangView::of(&sm.gang, member);
                    // SAFETY: F has no fields, and the lowering checked the operands; chosen only with AVX2.
                    unsafe { $run::<_, $($t,)+ F>(view, sm, inst, std::mem::zeroed()) };
                }
                inst.next()
            }
            #[cfg(target_arch = "x86_64")]
            if !cpu.is_wide() {
                return Handlers {
                    warp: plain::<$($t,)+ F>,
                    gang: None,
                    preserves_uniformity: true,
                };
            }
            let _ = cpu;
            Handlers {
                warp: wide::<$($t,)+ F>,
                gang: Some(wide_gang::<$($t,)+ F>),
                preserves_uniformity: true,
            }
        }
    };
}
use handlers;
