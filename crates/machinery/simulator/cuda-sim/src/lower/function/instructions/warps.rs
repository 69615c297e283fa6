//! Instructions executed by several threads together: barriers, warp-level exchange and matrix multiplication.

use super::entry::GuardKind::BranchAround;
use super::entry::{Entry, Requirements, lowered, not_simulated, ptx};

/// The requirements of `wgmma`.
const HOPPER: Requirements = ptx(8, 0).sm(90);
/// The only target that has `wgmma`: its instructions are specific to the architecture.
const SM_90A_ONLY: &str = "sm_90a";

pub const ENTRIES: &[Entry] = &[
    lowered("bar", ptx(1, 0), |l, i| l.aligned_barrier(i)).guarded(BranchAround),
    lowered("barrier", ptx(6, 0).sm(30), |l, i| l.barrier(i)).guarded(BranchAround),
    lowered("activemask", ptx(6, 2).sm(30), |l, i| l.active_mask(i)),
    lowered("elect", ptx(8, 0).sm(90), |l, i| l.elect(i)).guarded(BranchAround),
    lowered("match", ptx(6, 0).sm(70), |l, i| l.find_match(i)).guarded(BranchAround),
    lowered("redux", ptx(7, 0).sm(80), |l, i| l.redux(i)).guarded(BranchAround),
    lowered("shfl", ptx(3, 0).sm(30), |l, i| l.shuffle(i)).guarded(BranchAround),
    lowered("vote", ptx(1, 2).sm(12), |l, i| l.vote(i)).guarded(BranchAround),
    lowered("ldmatrix", ptx(6, 5).sm(75), |l, i| l.ldmatrix(i))
        .guarded(BranchAround)
        .refuses_older(),
    lowered("stmatrix", ptx(7, 8).sm(90), |l, i| l.stmatrix(i))
        .guarded(BranchAround)
        .refuses_older(),
    lowered("mbarrier", ptx(7, 0).sm(80), |l, i| l.mbarrier(i))
        .also_requires(arrival_requirements)
        .refuses_older(),
    lowered("mbarrier.complete_tx", ptx(8, 0).sm(90), |l, i| {
        l.mbarrier(i)
    })
    .refuses_older(),
    lowered("mbarrier.expect_tx", ptx(8, 0).sm(90), |l, i| l.mbarrier(i)).refuses_older(),
    lowered("mbarrier.try_wait", ptx(7, 8).sm(90), |l, i| l.mbarrier(i)).refuses_older(),
    lowered("mma", ptx(6, 4).sm(70), |l, i| l.mma(i))
        .guarded(BranchAround)
        .also_requires(mma_requirements)
        .refuses_older(),
    lowered("wgmma.fence", HOPPER, |l, i| l.wgmma_sync(i))
        .guarded(BranchAround)
        .only_for(SM_90A_ONLY),
    lowered("wgmma.commit_group", HOPPER, |l, i| l.wgmma_sync(i))
        .guarded(BranchAround)
        .only_for(SM_90A_ONLY),
    lowered("wgmma.wait_group", HOPPER, |l, i| l.wgmma_sync(i))
        .guarded(BranchAround)
        .only_for(SM_90A_ONLY),
    lowered("wgmma.mma_async", HOPPER, |l, i| l.wgmma_mma_async(i))
        .guarded(BranchAround)
        .only_for(SM_90A_ONLY),
    not_simulated("wgmma.mma_async.sp", ptx(8, 2).sm(90)),
    not_simulated("mma.sp", ptx(7, 1).sm(80)).also_requires(mma_requirements),
    not_simulated("wmma", ptx(6, 0).sm(70)).also_requires(mma_requirements),
];

/// Returns the requirements of an arrival, which may also set a transaction count (`expect_tx`).
fn arrival_requirements(modifiers: &[&str]) -> Requirements {
    match modifiers.contains(&"expect_tx") {
        true => ptx(8, 0).sm(90),
        false => ptx(7, 0),
    }
}

/// Returns the requirements of a matrix multiplication from its shape and element types.
fn mma_requirements(modifiers: &[&str]) -> Requirements {
    modifiers
        .iter()
        .map(|modifier| match *modifier {
            "m8n8k16" | "m16n8k8" | "s4" | "u4" | "s8" | "u8" | "b1" => ptx(6, 5).sm(75),
            "m16n8k4" | "m16n8k16" | "m16n8k32" | "bf16" | "tf32" | "f64" => ptx(7, 0).sm(80),
            "e4m3" | "e5m2" => ptx(8, 4).sm(89),
            _ => ptx(6, 0),
        })
        .fold(ptx(6, 0), Requirements::and)
}
