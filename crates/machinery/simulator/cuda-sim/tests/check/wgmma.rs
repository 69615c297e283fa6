//! Reads of shared memory by `wgmma`: of uninitialized memory, and unordered with writes.

use crate::*;

/// Checks a warpgroup that fills the matrix B, 8 rows of 32 bytes, and multiplies by it. `%own` is the address
/// at which each thread with `%p1` writes its word.
fn check_wgmma(fill: &str, between: &str, after: &str) -> Checked {
    let body = format!(
        ".shared .align 1024 .b32 tile[64];
        .reg .f32 %f<4>;
        .reg .b64 %own;
        mov.u64 %d1, tile;
        mad.wide.u32 %own, %t, 4, %d1;
        mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
        setp.lt.u32 %p1, %t, 64;
        {fill}
        {between}
        // Rows of 16 bytes, of which the second half of all lies 128 bytes behind the first.
        mov.u64 %d2, {};
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {{%f0, %f1, %f2, %f3}}, {{%r1, %r2, %r3, %r4}}, %d2, 0, 1, 1; // product
        wgmma.commit_group.sync.aligned;
        {after}
        st.global.f32 [%mine], %f0;",
        8u64 << 16 | 16 << 32,
    );
    let ptx = kernel_of(&body);
    let ptx = ptx.replace(".version 7.0", ".version 8.0");
    check_module(&ptx.replace("sm_80", "sm_90a"), 128)
}

const FILL: &str = "@%p1 st.shared.u32 [%own], %t;";
const BARRIER: &str = "fence.proxy.async; bar.sync 0;";
const WAIT: &str = "wgmma.wait_group.sync.aligned 0;";

/// Moves the mark for findings to the `wgmma`.
fn at_product((findings, ptx): Checked) -> Checked {
    (findings, ptx.replace("// product", "// here"))
}

#[test]
fn kernel_that_waits_is_not_reported() {
    check_wgmma(FILL, BARRIER, WAIT).none();
    let next_fill = format!("{WAIT} bar.sync 0; {FILL}");
    check_wgmma(FILL, BARRIER, &next_fill).none();
}

#[test]
fn uninitialized_matrix_is_reported() {
    let half_fill = FILL.replace("%p1", "%p2");
    let half_fill = format!("setp.lt.u32 %p2, %t, 32; {half_fill}");
    for fill in ["", &half_fill] {
        let unwritten = check_wgmma(fill, BARRIER, WAIT).only(UninitializedShared);
        let (first, count) = if fill.is_empty() { (0, 64) } else { (1, 32) };
        at_product(unwritten).single(UninitializedShared, Error, first, count);
    }
}

#[test]
fn matrix_written_without_barrier_is_reported() {
    let (findings, _) = check_wgmma(FILL, "", WAIT).only(ReadAfterWrite);
    assert!(!findings.is_empty());
}

#[test]
fn write_before_waiting_for_wgmma_is_reported() {
    let early_write = format!("bar.sync 0; {FILL} {WAIT}");
    let (findings, _) = check_wgmma(FILL, BARRIER, &early_write);
    let kinds: Vec<FindingKind> = findings.iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&ReadAfterWrite), "{kinds:?}");
    // At that point only the newest group may still be reading.
    let older_groups =
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; bar.sync 0;";
    check_wgmma(FILL, BARRIER, &format!("{older_groups} {FILL}")).none();
}
