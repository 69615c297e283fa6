//! Gangs: several warps of a block executed in lockstep, one handler call per instruction for all of them.
//!
//! Dispatching an instruction costs as much as executing it for 32 lanes. While several warps of a block are at
//! the same instruction with all their live lanes, one handler executes it for all of them: a loop over the
//! warps around the loop over the lanes. Values that are uniform over the warps, such as parameters, loop
//! counters and everything computed from them (see `lower/analysis/uniformity.rs`), are computed once, in a
//! frame that belongs to the gang.
//!
//! A program has a copy of its code for gangs, instruction for instruction, so warps can switch between the
//! copies at any address:
//!
//! * At a divergent branch, every warp continues alone up to the branch's reconvergence point, the immediate
//!   post-dominator. There the gang forms again if all its warps arrive in this turn. The code in between is
//!   known statically: values that it reads are also kept in the warps' own frames, and it writes no uniform
//!   value.
//! * At a branch one of whose paths ends the thread, as in `if (i >= n) return;`, some lanes end and the gang
//!   continues.
//! * An instruction without a gang handler runs warp by warp.
//! * A gang reports no faults: it disbands before the faulting instruction, and the warps run one after the
//!   other, as they would have without a gang. The first of them to fault is reported.
//! * Warps wait at barriers as usual and form a gang again if they leave in lockstep. A gang that holds all
//!   live threads of its block passes the barrier at once.
//!
//! Warps never wait for each other just to form a gang, so gangs cannot change which warp blocks which. Kernels
//! whose results depend on the order of their warps (they print, use order-dependent atomics or read the clock)
//! run warp by warp. So does the first of every sixteen blocks, because a bug can make results depend on the
//! order: in a gang no warp runs ahead of the others, which would hide a missing barrier.
//!
//! The warps of a profiled block run one slice of their turn at a time, one after the other, and access the
//! block's caches in this order (see [`super::profiler`]). A gang runs one slice of all its warps; its cache
//! accesses are deferred and replayed warp by warp at the end of the slice. At a divergent branch every warp
//! continues alone to the end of its slice. Warps that are then at one address with equal parts of their turns
//! left form a gang again for the next slice.

mod control;
mod formation;
mod members;
mod run;

pub use control::{
    ExitPath, barrier, branch_if, branch_unless, diverge, enter, exit, warp_by_warp,
};
