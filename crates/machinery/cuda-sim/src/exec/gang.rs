//! A gang: warps of a block that run in step. What runs it is in [`super::together`].

use super::function::Function;
use super::warp::NOWHERE;
use super::window::Window;
use crate::lanes::{FULL, active};
use std::ops::Range;

/// The most warps of a gang: more bring nothing, but their registers need room in the first cache.
pub const MOST: usize = 8;

/// One block in so many runs its warps one by one.
pub const APART: u64 = 16;

/// Bytes of registers that a gang may have: what the first cache of most CPUs has room for, besides
/// what the instructions load.
const ROOM: u32 = 28 << 10;

/// The gang that is running.
pub struct Gang {
    /// The registers of each warp, and those that they have in common; behind the last the latter
    /// twice.
    pub frames: [[*mut u8; 2]; MOST + 1],
    /// The latter again.
    pub common: *mut u8,
    pub count: usize,
    /// Each warp's place in its block, and its living lanes.
    pub warps: [usize; MOST],
    pub masks: [u32; MOST],
    /// All of these masks are full.
    pub whole: bool,
    /// Living lanes of all warps.
    pub threads: u64,
    /// The warps know that they have begun, and have their registers. Most never need to.
    pub begun: bool,
    /// Registers for those that do not, and for what they have in common: the next gang's as well.
    pub windows: Vec<Window>,
    pub common_window: Option<Window>,
    /// The group it is of, and how many warps that had at first.
    pub group: usize,
    pub group_warps: u64,
    /// The warp whose turn it is, in an instruction that may fail.
    pub turn: usize,
    /// Where its warps stand, before it runs.
    pub place: u32,
    /// Which of its warps are where it meets again, after it has parted.
    pub there: [bool; MOST],
    /// Why the gang stopped.
    pub stopped: Stopped,
}

/// Why a gang stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Its warps wait or have ended.
    Together,
    /// They have had their turn, or slice of it.
    GivingWay,
    /// They go on one by one until they meet again.
    Parted,
    /// One of them is about to fail.
    Failing,
}

/// What a block keeps of a gang of its warps.
#[derive(Default)]
pub struct WarpGroup {
    /// Its warps have run.
    pub begun: bool,
    /// What the warps have in common; none as long as they know nothing of having begun.
    pub window: Option<Window>,
    /// It is in there, and not in the warps' own frames.
    pub formed: bool,
}

/// How many warps of a kernel make a gang; one where it runs warp by warp.
pub fn size(function: &Function) -> usize {
    if !function.in_step {
        return 1;
    }
    let own = function.frame_bytes - function.common.bytes();
    ((ROOM / own.max(1)) as usize).clamp(2, MOST)
}

/// Whose registers an instruction writes when a gang runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Each warp's own.
    Warps,
    /// Those that the warps have in common.
    Common,
    /// Both: the same value is read by the gang and by warps alone.
    Both,
}

impl Gang {
    /// Nobody.
    pub fn none() -> Gang {
        Gang {
            frames: [[std::ptr::null_mut(); 2]; MOST + 1],
            common: std::ptr::null_mut(),
            count: 0,
            warps: [0; MOST],
            masks: [0; MOST],
            whole: false,
            threads: 0,
            begun: false,
            windows: Vec::new(),
            common_window: None,
            group: 0,
            group_warps: 0,
            turn: 0,
            place: NOWHERE,
            there: [false; MOST],
            stopped: Stopped::Together,
        }
    }

    /// The frames that an instruction writes, by their place in [`Gang::frames`]. What the warps
    /// have in common comes last: until then it is what the instruction reads.
    #[inline(always)]
    pub fn turns(&self, reach: Reach) -> Range<usize> {
        let (first, end) = match reach {
            Reach::Warps => (0, self.count),
            Reach::Common => (self.count, self.count + 1),
            Reach::Both => (0, self.count + 1),
        };
        // Never more than there are; the compiler need not check each.
        first..end.min(MOST + 1)
    }

    /// How many warps there are, if all their lanes live.
    #[inline(always)]
    pub fn whole_warps(&self) -> Option<usize> {
        // Never more than there are, nor none; the compiler need not check each.
        self.whole.then_some(self.count.clamp(1, MOST))
    }

    /// Instructions that each warp has left at `clock`, if the gang gives way at `deadline`; below
    /// zero, wrapping, where it has run more.
    pub fn left(&self, deadline: u64, clock: u64) -> u64 {
        let left = deadline.wrapping_sub(clock) as i64;
        (left / self.count.max(1) as i64) as u64
    }

    /// Where its warps are in their block.
    #[inline(always)]
    pub fn places(&self) -> &[usize] {
        &self.warps[..self.count]
    }

    /// The lanes of its warps.
    pub fn masks(&self) -> &[u32] {
        &self.masks[..self.count]
    }

    /// Living lanes of all warps.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// Adds a warp at `place` of its block, with these lanes and registers.
    #[inline(always)]
    pub fn add(&mut self, place: usize, lanes: u32, frame: *mut u8) {
        self.warps[self.count] = place;
        self.masks[self.count] = lanes;
        self.frames[self.count][0] = frame;
        self.count += 1;
    }

    /// These were all its warps; what they have in common is in `frame`.
    #[inline(always)]
    pub fn close(&mut self, frame: *mut u8) {
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
        self.whole = masks.iter().all(|&mask| mask == FULL);
        self.threads = masks.iter().map(|mask| u64::from(mask.count_ones())).sum();
    }
}

impl Gang {
    /// Whether the warps have the same values in what they should have in common; then the gang has
    /// them too.
    pub fn agrees(&self, function: &Function) -> bool {
        let rows = &function.common;
        // SAFETY: the frames are of this function, in which the rows lie.
        unsafe {
            self.agree::<u64>(rows.wide.clone())
                && self.agree::<u32>(rows.narrow.clone())
                && self.agree_on_predicates(rows.predicates.clone())
        }
    }

    /// # Safety
    /// In the range of all frames there are rows of `T`s.
    unsafe fn agree<T: Copy + PartialEq>(&self, rows: Range<u32>) -> bool {
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
    unsafe fn agree_on_predicates(&self, predicates: Range<u32>) -> bool {
        for place in predicates.step_by(4) {
            // SAFETY: the caller's promise.
            let at = |frame: *mut u8| unsafe { &mut *frame.add(place as usize).cast::<u32>() };
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
