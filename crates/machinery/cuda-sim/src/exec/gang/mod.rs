//! A gang: warps of a block that run in step, an instruction for all of them at once.
//!
//! Finding the next instruction costs as much as running it for 32 lanes. While several warps of a
//! block stand at the same instruction, with all their living lanes, one handler runs it for all of
//! them: a loop over the warps, and in it the loop over the lanes. What is the same in all warps, as
//! parameters, loop counters and everything computed from them are (see
//! `lower/analysis/common.rs`), is computed once, in a frame that belongs to the gang.
//!
//! A program has its code once more for gangs, instruction for instruction, so that warps change
//! from one to the other wherever they are:
//!
//! * At a branch where the gang's lanes do not agree every warp goes on alone, up to the place where
//!   the branch's ways meet. There the gang forms again, if all of its warps come there in this
//!   turn. Code on the way is known: what it reads is kept in the warps' own frames as well, and it
//!   writes nothing that the warps have in common.
//! * At a branch whose one way is the thread's end, as in `if (i >= n) return;`, some lanes end and
//!   the gang goes on.
//! * An instruction without a form for gangs is run warp by warp.
//! * A fault is not reported: the warps part before it and run alone, one after the other, as they
//!   would have without a gang. The first of them to fail is the one that is reported.
//! * At a barrier warps wait as ever, and those that come out of it in step are a gang again; but a
//!   gang that is all of its block goes on.
//!
//! Warps are never held back for a gang's sake, so that it makes no difference to what waits for
//! what. Kernels whose results depend on the order of their warps, because they print, use atomics
//! whose order shows, or read the clock, run warp by warp. So does the first of every sixteen blocks,
//! since results may depend on the order by mistake: in a gang no warp is ahead of the others, and a
//! barrier that is missing would not be missed.
//!
//! Warps of an observed block run a slice of their turn at a time, one after the other, and ask the
//! block's caches in that order (see [`super::profiler`]). A gang runs one slice of all its warps. What
//! they ask meanwhile is noted, and asked warp by warp when the slice is over. Where the gang's lanes
//! do not agree every warp goes on alone to the end of its slice; those that stand at one place
//! then, and have as much left of their turns, are a gang again in the next.

mod control;
mod formation;
mod members;
mod run;
mod state;

pub use control::{
    ExitPath, barrier, branch_if, branch_unless, diverge, enter, exit, warp_by_warp,
};
pub use state::{Gang, GangScope, MAX_WARPS, SOLO_BLOCK_INTERVAL, StopReason, WarpGroup, size};
