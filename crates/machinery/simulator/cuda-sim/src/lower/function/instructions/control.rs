//! Branches, calls, returns, and instructions that end or delay a thread.

use super::entry::GuardKind::{BranchAround, Condition};
use super::entry::{Entry, lowered, ptx};

pub const ENTRIES: &[Entry] = &[
    lowered("bra", ptx(1, 0), |l, i| l.bra(i)).guarded(Condition),
    lowered("brx", ptx(6, 0).sm(30), |l, i| l.branch_table(i))
        .guarded(BranchAround)
        .ends_block(),
    lowered("call", ptx(1, 0), |l, i| l.call(i)).guarded(BranchAround),
    lowered("ret", ptx(1, 0), |l, _| l.ret())
        .guarded(BranchAround)
        .ends_block(),
    lowered("exit", ptx(1, 0), |l, _| l.exit())
        .guarded(BranchAround)
        .ends_block(),
    lowered("trap", ptx(1, 0), |l, _| l.trap())
        .guarded(BranchAround)
        .ends_block(),
    lowered("brkpt", ptx(1, 0).sm(11), |l, _| l.breakpoint())
        .guarded(BranchAround)
        .ends_block(),
    lowered("griddepcontrol", ptx(7, 8).sm(90), |l, i| {
        l.grid_dependency(i)
    })
    .refuses_older(),
    // Neither sleeping nor performance-monitor events have an effect that a program can observe.
    lowered("nanosleep", ptx(6, 3).sm(70), |l, _| l.sleep()),
    lowered("pmevent", ptx(1, 4), |l, _| l.nop()),
];
