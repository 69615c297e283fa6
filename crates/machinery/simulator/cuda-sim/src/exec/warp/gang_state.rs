//! The state of a running gang and of the warp groups of a block. Separate from [`crate::exec::gang`], which runs
//! gangs, because the SM contains this state.

use super::NO_INDEX;
use super::window::Function;
use super::window::Window;
use crate::lanes::{FULL, active};
use std::ops::Range;

/// Maximum number of warps of a gang. Larger gangs are no faster, and their registers no longer fit the host's
/// L1 cache.
pub const MAX_WARPS: usize = 8;

/// One block in this many runs its warps one by one, so that a missing barrier can show.
pub const SOLO_BLOCK_INTERVAL: u64 = 16;

/// Maximum bytes of registers of a gang. They fit the L1 cache of most CPUs and leave room for the data that
/// the instructions load.
const MAX_REGISTER_BYTES: u32 = 28 << 10;

/// The running gang.
pub struct Gang {
    /// For each warp, the pointers to its own frame and to the uniform frame. After the last warp follows one
    /// more pair in which both point to the uniform frame.
    pub frames: [[*mut u8; 2]; MAX_WARPS + 1],
    /// The frame of values that are uniform over the warps.
    pub uniform_frame: *mut u8,
    /// Number of warps; the arrays in this struct are valid up to here.
    pub count: usize,
    /// Each warp's index in its block.
    pub warps: [usize; MAX_WARPS],
    /// Mask of each warp's live lanes.
    pub masks: [u32; MAX_WARPS],
    /// True if every warp has 32 live lanes.
    pub is_full: bool,
    /// Number of live lanes of all warps.
    pub threads: u64,
    /// True once the warps themselves hold their registers and a split. Most gangs run to their end in lockstep
    /// and never need this.
    pub started: bool,
    /// Registers of warps that do not hold them yet; reused by the next gang.
    pub windows: Vec<Window>,
    /// The uniform frame of such warps.
    pub uniform_window: Option<Window>,
    /// Index of the gang's warp group in the block.
    pub group: usize,
    /// Number of warps of that group when the block started.
    pub group_warps: u64,
    /// The SM's clock up to which the instructions of the warps are counted.
    pub counted_to: u64,
    /// Position within the gang of the warp that runs an instruction which can fault.
    pub member: usize,
    /// Address of the next instruction when the gang is formed.
    pub pc: u32,
    /// For each warp of a disbanded gang, true if it is already at the reconvergence point.
    pub at_reconvergence: [bool; MAX_WARPS],
    /// Reason for the last stop.
    pub stopped: StopReason,
}

/// Reasons for which a gang stops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The warps wait or have ended.
    Blocked,
    /// The warps have used up their turn or their slice of it.
    Yielded,
    /// The warps continue one by one until they reconverge.
    Diverged,
    /// A warp is about to fault.
    Faulting,
}

/// State that a block keeps for each group of warps that can run as a gang.
#[derive(Default)]
pub struct WarpGroup {
    /// True if the warps have run before.
    pub started: bool,
    /// The uniform frame; `None` until the warps hold their own registers.
    pub window: Option<Window>,
    /// True if the current uniform values are in `window`, not in the warps' own registers.
    pub formed: bool,
}

/// Returns the number of warps per gang of a kernel; 1 if the kernel must run warp by warp.
pub fn warps_per_gang(function: &Function) -> usize {
    if !function.can_form_gangs {
        return 1;
    }
    let own_bytes = function.frame_bytes - function.uniform.bytes();
    ((MAX_REGISTER_BYTES / own_bytes.max(1)) as usize).clamp(2, MAX_WARPS)
}

/// The frames that an instruction writes when a gang runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GangScope {
    /// Each warp's own frame.
    Warps,
    /// The uniform frame.
    Uniform,
    /// Both, for a uniform value that is also read by warps outside the gang.
    Both,
}

impl Gang {
    /// Creates a gang without warps.
    pub fn empty() -> Gang {
        Gang {
            frames: [[std::ptr::null_mut(); 2]; MAX_WARPS + 1],
            uniform_frame: std::ptr::null_mut(),
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
            counted_to: 0,
            member: 0,
            pc: NO_INDEX,
            at_reconvergence: [false; MAX_WARPS],
            stopped: StopReason::Blocked,
        }
    }

    /// Returns the range of [`Gang::frames`] that an instruction writes. The uniform frame comes last because
    /// the iterations for the warps still read it.
    #[inline(always)]
    pub fn members_written(&self, scope: GangScope) -> Range<usize> {
        let (first, end) = match scope {
            GangScope::Warps => (0, self.count),
            GangScope::Uniform => (self.count, self.count + 1),
            GangScope::Both => (0, self.count + 1),
        };
        // The bound is redundant; it lets the compiler omit bounds checks.
        first..end.min(MAX_WARPS + 1)
    }

    /// Returns the number of warps, or `None` if any of their 32 lanes has ended.
    #[inline(always)]
    pub fn full_warp_count(&self) -> Option<usize> {
        // The bounds are redundant; they let the compiler omit bounds checks.
        self.is_full.then_some(self.count.clamp(1, MAX_WARPS))
    }

    /// Returns the number of instructions that each warp may still run at `clock` if the gang yields at
    /// `deadline`; a negative number in two's complement if it has run more.
    pub fn remaining(&self, deadline: u64, clock: u64) -> u64 {
        let remaining = deadline.wrapping_sub(clock) as i64;
        (remaining / self.count.max(1) as i64) as u64
    }

    /// Returns the indices of the gang's warps in their block.
    #[inline(always)]
    pub fn warp_indices(&self) -> &[usize] {
        &self.warps[..self.count]
    }

    /// Returns the mask of live lanes of each warp.
    pub fn masks(&self) -> &[u32] {
        &self.masks[..self.count]
    }

    /// Returns the number of live lanes of all warps.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// Adds the block's warp with index `warp`, its live lanes and its registers.
    #[inline(always)]
    pub fn add(&mut self, warp: usize, lanes: u32, frame: *mut u8) {
        self.warps[self.count] = warp;
        self.masks[self.count] = lanes;
        self.frames[self.count][0] = frame;
        self.count += 1;
    }

    /// Completes the gang after the last [`Gang::add`], with `frame` as the uniform frame.
    #[inline(always)]
    pub fn seal(&mut self, frame: *mut u8) {
        self.uniform_frame = frame;
        self.frames[self.count][0] = frame;
        for [_, uniform] in &mut self.frames[..=self.count] {
            *uniform = frame;
        }
        self.count_threads();
    }

    /// Recounts the live lanes.
    pub fn count_threads(&mut self) {
        let masks = &self.masks[..self.count];
        self.is_full = masks.iter().all(|&mask| mask == FULL);
        self.threads = masks.iter().map(|mask| u64::from(mask.count_ones())).sum();
    }
}

impl Gang {
    /// Returns true if the warps agree on all values that should be uniform. The uniform frame then holds them.
    pub fn uniform_values_agree(&self, function: &Function) -> bool {
        let rows = &function.uniform;
        // SAFETY: the frames belong to `function`, whose layout contains these rows.
        unsafe {
            self.rows_agree::<u64>(rows.wide.clone())
                && self.rows_agree::<u32>(rows.narrow.clone())
                && self.predicates_agree(rows.predicates.clone())
        }
    }

    /// # Safety
    /// `rows` is a range of rows of `T` in the layout of all frames.
    unsafe fn rows_agree<T: Copy + PartialEq>(&self, rows: Range<u32>) -> bool {
        for row in rows.step_by(32 * size_of::<T>()) {
            // SAFETY: the row lies in every frame, and has 32 elements of `T`.
            let at = |frame: *mut u8| unsafe { &mut *frame.add(row as usize).cast::<[T; 32]>() };
            let first = at(self.frames[0][0])[self.masks[0].trailing_zeros() as usize % 32];
            for (&[frame, _], &mask) in self.frames.iter().zip(&self.masks[..self.count]) {
                let row = at(frame);
                if active(mask).any(|lane| row[lane] != first) {
                    return false;
                }
            }
            *at(self.uniform_frame) = [first; 32];
        }
        true
    }

    /// # Safety
    /// `predicates` is a range of predicates in the layout of all frames.
    unsafe fn predicates_agree(&self, predicates: Range<u32>) -> bool {
        for offset in predicates.step_by(4) {
            // SAFETY: the predicate lies in every frame and has four bytes.
            let at = |frame: *mut u8| unsafe { &mut *frame.add(offset as usize).cast::<u32>() };
            let (mut any, mut all) = (false, true);
            for (&[frame, _], &mask) in self.frames.iter().zip(&self.masks[..self.count]) {
                any |= *at(frame) & mask != 0;
                all &= *at(frame) & mask == mask;
            }
            if any != all {
                return false;
            }
            *at(self.uniform_frame) = if all { FULL } else { 0 };
        }
        true
    }
}
