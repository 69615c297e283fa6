//! A gang: warps of a block that run in step. What runs it is in [`crate::exec::gang`].

use crate::exec::function::Function;
use crate::exec::warp::NO_INDEX;
use crate::exec::window::Window;
use crate::lanes::{FULL, active};
use std::ops::Range;

/// The most warps of a gang. With more the simulator gets no faster, and their registers no longer fit
/// the host's L1 cache.
pub const MAX_WARPS: usize = 8;

/// One block in this many runs its warps one by one, so that a missing barrier can show.
pub const SOLO_BLOCK_INTERVAL: u64 = 16;

/// Bytes of registers that a gang may have: they stay in the L1 cache of most CPUs, with room left for
/// what the instructions load.
const MAX_REGISTER_BYTES: u32 = 28 << 10;

/// The gang that is running.
pub struct Gang {
    /// A pair of pointers for each warp: its own registers, and the gang's, which hold what all warps
    /// have in common. One more pair follows the last warp's, in which both are the gang's.
    pub frames: [[*mut u8; 2]; MAX_WARPS + 1],
    /// The gang's registers.
    pub common: *mut u8,
    /// How many warps it has; the arrays beside it are filled up to here.
    pub count: usize,
    /// Each warp's number in its block.
    pub warps: [usize; MAX_WARPS],
    /// The lanes of each warp that have not ended.
    pub masks: [u32; MAX_WARPS],
    /// Every warp has all 32 lanes.
    pub is_full: bool,
    /// Lanes of all warps that have not ended.
    pub threads: u64,
    /// The warps' own state says that they have begun, and has their registers. A gang that runs to its
    /// end in step, as most do, never has to tell its warps.
    pub started: bool,
    /// Registers for warps that have not been told to begin, used again by the next gang.
    pub windows: Vec<Window>,
    /// Registers for what such warps have in common.
    pub uniform_window: Option<Window>,
    /// The number of its group of warps in the block.
    pub group: usize,
    /// How many warps that group had when the block began.
    pub group_warps: u64,
    /// The warp that is running an instruction which may fail, by its place in the gang.
    pub member: usize,
    /// The address at which its warps stand before it runs.
    pub pc: u32,
    /// After it has parted: which of its warps already stand where it will meet again.
    pub at_reconvergence: [bool; MAX_WARPS],
    /// Why the gang stopped.
    pub stopped: StopReason,
}

/// Why a gang stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Its warps wait or have ended.
    Together,
    /// They have had their turn, or their slice of one.
    Yielded,
    /// They go on one by one until they meet again.
    Diverged,
    /// One of them is about to fail.
    Faulting,
}

/// What a block remembers of each group of its warps, which may run as a gang.
#[derive(Default)]
pub struct WarpGroup {
    /// Its warps have run before.
    pub started: bool,
    /// The registers that hold what the warps have in common; none before the warps were told to begin.
    pub window: Option<Window>,
    /// What they have in common is in `window`, and not in the warps' own registers.
    pub formed: bool,
}

/// How many warps of a kernel make a gang; one if the kernel has to run warp by warp.
pub fn size(function: &Function) -> usize {
    if !function.in_step {
        return 1;
    }
    let own_bytes = function.frame_bytes - function.common.bytes();
    ((MAX_REGISTER_BYTES / own_bytes.max(1)) as usize).clamp(2, MAX_WARPS)
}

/// Whose registers an instruction writes when a gang runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GangScope {
    /// Each warp's own.
    Warps,
    /// Those that the warps have in common.
    Common,
    /// Both: the same value is read by the gang and by warps alone.
    Both,
}

impl Gang {
    /// A gang without warps.
    pub fn empty() -> Gang {
        Gang {
            frames: [[std::ptr::null_mut(); 2]; MAX_WARPS + 1],
            common: std::ptr::null_mut(),
            count: 0,
            warps: [0; MAX_WARPS],
            masks: [0; MAX_WARPS],
            is_full: false,
            threads: 0,
            started: false,
            windows: Vec::new(),
            uniform_window: None,
            group: 0,
            group_warps: 0,
            member: 0,
            pc: NO_INDEX,
            at_reconvergence: [false; MAX_WARPS],
            stopped: StopReason::Together,
        }
    }

    /// Which of [`Gang::frames`] an instruction writes. The gang's own come last, because the warps'
    /// turns before still read them.
    #[inline(always)]
    pub fn members_written(&self, scope: GangScope) -> Range<usize> {
        let (first, end) = match scope {
            GangScope::Warps => (0, self.count),
            GangScope::Common => (self.count, self.count + 1),
            GangScope::Both => (0, self.count + 1),
        };
        // Never more than the array has: said here, so that the compiler leaves out a check of each.
        first..end.min(MAX_WARPS + 1)
    }

    /// How many warps there are, if none of their lanes has ended; else none.
    #[inline(always)]
    pub fn full_warp_count(&self) -> Option<usize> {
        // Between one and the array's length: said here, so that the compiler leaves out checks.
        self.is_full.then_some(self.count.clamp(1, MAX_WARPS))
    }

    /// Instructions that each warp may still run at `clock`, if the gang gives way at `deadline`. A
    /// negative number, as two's complement, if it has run more.
    pub fn left(&self, deadline: u64, clock: u64) -> u64 {
        let left = deadline.wrapping_sub(clock) as i64;
        (left / self.count.max(1) as i64) as u64
    }

    /// The numbers of its warps in their block.
    #[inline(always)]
    pub fn warp_indices(&self) -> &[usize] {
        &self.warps[..self.count]
    }

    /// The lanes of each warp that have not ended.
    pub fn masks(&self) -> &[u32] {
        &self.masks[..self.count]
    }

    /// Lanes of all warps that have not ended.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// Adds warp number `place` of the block, with its lanes and registers.
    #[inline(always)]
    pub fn add(&mut self, warp: usize, lanes: u32, frame: *mut u8) {
        self.warps[self.count] = warp;
        self.masks[self.count] = lanes;
        self.frames[self.count][0] = frame;
        self.count += 1;
    }

    /// Ends the adding of warps: what they have in common is in `frame`.
    #[inline(always)]
    pub fn seal(&mut self, frame: *mut u8) {
        self.common = frame;
        self.frames[self.count][0] = frame;
        for [_, common] in &mut self.frames[..=self.count] {
            *common = frame;
        }
        self.count_threads();
    }

    /// Counts the living lanes again.
    pub fn count_threads(&mut self) {
        let masks = &self.masks[..self.count];
        self.is_full = masks.iter().all(|&mask| mask == FULL);
        self.threads = masks.iter().map(|mask| u64::from(mask.count_ones())).sum();
    }
}

impl Gang {
    /// Whether the warps have the same values in what they should have in common; then the gang has
    /// them too.
    pub fn uniform_values_agree(&self, function: &Function) -> bool {
        let rows = &function.common;
        // SAFETY: the frames are of this function, in which the rows lie.
        unsafe {
            self.rows_agree::<u64>(rows.wide.clone())
                && self.rows_agree::<u32>(rows.narrow.clone())
                && self.predicates_agree(rows.predicates.clone())
        }
    }

    /// # Safety
    /// In the range of all frames there are rows of `T`s.
    unsafe fn rows_agree<T: Copy + PartialEq>(&self, rows: Range<u32>) -> bool {
        for row in rows.step_by(32 * size_of::<T>()) {
            // SAFETY: the caller's promise.
            let at = |frame: *mut u8| unsafe { &mut *frame.add(row as usize).cast::<[T; 32]>() };
            let first = at(self.frames[0][0])[self.masks[0].trailing_zeros() as usize % 32];
            for (&[frame, _], &mask) in self.frames.iter().zip(&self.masks[..self.count]) {
                let row = at(frame);
                if active(mask).any(|lane| row[lane] != first) {
                    return false;
                }
            }
            *at(self.common) = [first; 32];
        }
        true
    }

    /// # Safety
    /// In the range of all frames there are predicates.
    unsafe fn predicates_agree(&self, predicates: Range<u32>) -> bool {
        for offset in predicates.step_by(4) {
            // SAFETY: the caller's promise.
            let at = |frame: *mut u8| unsafe { &mut *frame.add(offset as usize).cast::<u32>() };
            let (mut any, mut all) = (false, true);
            for (&[frame, _], &mask) in self.frames.iter().zip(&self.masks[..self.count]) {
                any |= *at(frame) & mask != 0;
                all &= *at(frame) & mask == mask;
            }
            if any != all {
                return false;
            }
            *at(self.common) = if all { FULL } else { 0 };
        }
        true
    }
}
