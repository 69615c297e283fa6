//! Checks of a kernel while it runs: mistakes that may go unseen, because the result is right by
//! chance, or right on this GPU and not on the next.
//!
//! A program has its code once more, in which every access, barrier and synchronisation comes here
//! first (see [`crate::isa::checked`]). A launch without checks pays nothing. One with checks
//! runs its warps one by one, and does and counts what it does without.
//!
//! | check | what it finds |
//! |---|---|
//! | memory | accesses outside of what they may reach. The simulator always looks; this reports it like the rest, and an index of one shared array that leads into another |
//! | init | reads of device or shared memory that nobody has written, and of local memory that its thread has not |
//! | race | accesses of shared or device memory by threads of a block with no barrier between them, and of device memory by several blocks |
//! | sync | barriers and warp-wide instructions that not all threads reach |
//! | leak | memory still allocated when its context goes |
//!
//! What they do not see: registers that nobody has written; and what blocks do with
//! atomics that they do not look at the results of, beside other accesses of the same place.

pub(crate) mod accessor;
mod blocks;
pub(crate) mod checker;
mod choice;
mod clocks;
pub(crate) mod deed;
mod device;
mod device_access;
mod device_shadow;
mod ends;
mod evidence;
pub(crate) mod finding;
mod finding_kind;
mod in_order;
mod launch_checks;
mod ledger;
mod lines;
mod local_access;
mod local_shadow;
mod meetings;
mod order;
mod reads;
pub(crate) mod runs;
pub(crate) mod shadow;
mod shared;
mod shared_access;
mod synchronise;
pub(crate) mod words;

pub use choice::{Check, Checks};
pub use finding::{Finding, OtherAccess, Severity};
pub use finding_kind::FindingKind;

pub(crate) use checker::Checker;
pub(crate) use launch_checks::{LaunchChecks, LaunchedBlocks};
pub(crate) use ledger::{KernelContext, Ledger};
pub(crate) use shadow::Shadow;
