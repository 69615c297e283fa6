//! Memory accesses, address conversions, fences, and cache control.

use super::entry::{Entry, Requirements, lowered, ptx};

pub const ENTRIES: &[Entry] = &[
    lowered("ld", ptx(1, 0), |l, i| l.load(i)),
    lowered("ldu", ptx(2, 0), |l, i| l.load(i)),
    lowered("st", ptx(1, 0), |l, i| l.store(i)),
    lowered("atom", ptx(1, 1).sm(11), |l, i| l.atomic(i)),
    lowered("red", ptx(1, 2).sm(11), |l, i| l.reduction(i)),
    lowered("cp.async", ptx(7, 0).sm(80), |l, i| l.async_copy(i))
        .also_requires(cp_async_requirements)
        .refuses_older(),
    lowered("createpolicy", ptx(7, 4).sm(80), |l, i| l.create_policy(i)),
    lowered("cp.async.mbarrier", ptx(7, 0).sm(80), |l, i| {
        l.cp_async_mbarrier_arrive(i)
    })
    .refuses_older(),
    lowered("cvta", ptx(2, 0).sm(20), |l, i| l.cvta(i)),
    lowered("isspacep", ptx(2, 0).sm(20), |l, i| l.isspacep(i)),
    lowered("fence", ptx(6, 0).sm(70), |l, i| l.fence(i)),
    lowered("fence.proxy.async", ptx(8, 0).sm(90), |l, i| {
        l.fence_proxy(i)
    })
    .refuses_older(),
    lowered("membar", ptx(1, 4), |l, i| l.fence(i)),
    // Textures and surfaces, through a handle in a register, as compilers emit them.
    lowered("tex", ptx(3, 1).sm(20), |l, i| l.texture(i)),
    lowered("tld4", ptx(3, 1).sm(20), |l, i| l.gather(i)),
    lowered("txq", ptx(3, 1).sm(20), |l, i| l.texture_size(i)),
    lowered("suld", ptx(3, 1).sm(20), |l, i| l.surface_load(i)),
    lowered("sust", ptx(3, 1).sm(20), |l, i| l.surface_store(i)),
    lowered("sured", ptx(3, 1).sm(20), |l, i| l.surface_reduction(i)),
    lowered("suq", ptx(3, 1).sm(20), |l, i| l.surface_size(i)),
    // Cache hints, which affect neither results nor counters.
    lowered("applypriority", ptx(7, 4).sm(80), |l, _| l.nop()),
    lowered("discard", ptx(7, 4).sm(80), |l, _| l.nop()),
    lowered("prefetch", ptx(2, 0).sm(20), |l, _| l.nop()),
    lowered("prefetchu", ptx(2, 0).sm(20), |l, _| l.nop()),
];

/// Returns the requirements of a `cp.async`, which may also prefetch into the L2 cache.
fn cp_async_requirements(modifiers: &[&str]) -> Requirements {
    match modifiers.last() {
        Some(&("L2::64B" | "L2::128B" | "L2::256B")) => ptx(7, 4),
        _ => ptx(7, 0),
    }
}
