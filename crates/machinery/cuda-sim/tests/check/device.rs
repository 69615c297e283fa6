//! Unordered accesses to device memory by the threads of a block.

use crate::race::words;
use crate::{assert_one, assert_silent, checking, found, kernel_of, line_of, only, params};
use cuda_sim::check::Severity::Error;
use cuda_sim::check::{Finding, FindingKind};

#[test]
fn a_lock_orders_the_threads_of_a_block() {
    // Three lanes of each warp take the lock, at word 0, and increment word 8.
    let body = |before: &str, give: &str| {
        format!(
            "setp.ne.u32 %p2, %t, 0;
        @%p2 bra begin;
        st.global.u32 [%out], 0;
    begin:
        bar.sync 0;
        and.b32 %r6, %t, 31;
        mov.u32 %r7, 0;
    next:
        setp.ne.u32 %p2, %r6, %r7;
        @%p2 bra skip;
    try:
        atom.global.cas.b32 %r3, [%out], 0, 1;
        setp.ne.u32 %p1, %r3, 0;
        @%p1 bra try;
        {before}
        ld.volatile.global.u32 %r4, [%out+32];
        add.u32 %r4, %r4, 1;
        st.volatile.global.u32 [%out+32], %r4;
        {give}
        atom.global.exch.b32 %r5, [%out], 0;
    skip:
        add.u32 %r7, %r7, 1;
        setp.lt.u32 %p2, %r7, 3;
        @%p2 bra next;"
        )
    };
    assert_silent(found(&body("membar.gl;", "membar.gl;"), 96));
    assert_silent(found(&body("", "membar.cta;"), 96));
    let (findings, ptx) = found(&body("membar.gl;", ""), 96);
    assert!(!findings.is_empty(), "{ptx}");
}

/// Returns a kernel whose threads have `%next`, the address of the output word `distance` words further on,
/// wrapping around.
fn ring(far: u32, body: &str) -> String {
    format!(
        ".reg .b64 %next;
        add.u32 %r1, %t, {far};
        mov.u32 %r3, %ntid.x;
        rem.u32 %r1, %r1, %r3;
        mad.wide.u32 %next, %r1, 4, %out;
        {body}"
    )
}

#[test]
fn device_memory_between_warps_of_a_block() {
    let body = |between: &str| {
        format!(
            "st.global.u32 [%mine], %t; // there
        {between}
        ld.global.u32 %r2, [%next]; // here"
        )
    };
    let of = found(&ring(32, &body("")), 96);
    let of = only(of, FindingKind::ReadAfterWrite);
    let there = line_of(&of.1, "// there");
    let finding = assert_one(of, FindingKind::ReadAfterWrite, Error, 64, 32);
    let other = finding.other.clone().expect("the write");
    assert_eq!(
        (other.source.ptx_line, other.thread, other.write),
        (there, [0, 0, 0], true)
    );
    assert!(finding.details.contains("byte 0 of the 384-byte"), "{finding}");
    for right in ["bar.sync 0;", "bar.sync 1, 96;", "barrier.sync 0;"] {
        assert_silent(found(&ring(32, &body(right)), 96));
    }
    // A fence alone is no barrier, and a barrier of a warp does not order the block.
    for wrong in ["membar.gl;", "bar.warp.sync -1;"] {
        let (findings, ptx) = found(&ring(32, &body(wrong)), 96);
        assert!(!findings.is_empty(), "{wrong}\n{ptx}");
    }
    // A read before the write.
    let body = |between: &str| {
        format!(
            "st.global.u32 [%mine], %t;
        bar.sync 0;
        ld.global.u32 %r2, [%next];
        {between}
        st.global.u32 [%mine], %r2; // here"
        )
    };
    let of = only(found(&ring(64, &body("")), 96), FindingKind::WriteAfterRead);
    assert_one(of, FindingKind::WriteAfterRead, Error, 64, 32);
    assert_silent(found(&ring(64, &body("bar.sync 0;")), 96));
    // Two threads write: an equal value does not depend on their order.
    let two = |value: &str| found(&format!("st.global.u32 [%out+8], {value}; // here"), 64);
    assert_silent(two("5"));
    let (findings, ptx) = two("%t");
    assert_eq!(
        words(&findings),
        [
            (FindingKind::WriteAfterWrite, Error),
            (FindingKind::ConflictingStore, Error)
        ],
        "{ptx}"
    );
    // Atomics, and writes to each thread's own word.
    assert_silent(found(
        "st.global.u32 [%mine], 0; red.global.add.u32 [%mine], 1;",
        96,
    ));
    assert_silent(found(
        "st.global.u32 [%mine], 0; bar.sync 0; red.global.add.u32 [%out], 1;",
        96,
    ));
    let body = "setp.ne.u32 %p1, %t, 40;
        @!%p1 st.global.u32 [%out], 0;
        red.global.add.u32 [%out], 1;";
    let (findings, ptx) = found(body, 96);
    assert!(
        words(&findings).contains(&(FindingKind::WriteAfterWrite, Error)),
        "{findings:#?}\n{ptx}"
    );
}

#[test]
fn a_block_may_use_more_memory_than_is_looked_at() {
    // Each thread writes 40 lines of its own, so 1024 threads write 40960 lines.
    let body = |last: &str| {
        format!(
            "mad.wide.u32 %d1, %t, 128, %out;
        mov.u32 %r1, 0;
    again:
        st.global.u32 [%d1], %r1;
        add.s64 %d1, %d1, 131072;
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, 40;
        @%p1 bra again;
        {last}"
        )
    };
    let findings = |last: &str| {
        let ptx = kernel_of(&body(last));
        let mut machine = checking(&ptx);
        let out = machine.out::<u8>(40 * 131_072);
        machine.run("k", 3, 1024, params![out]).findings
    };
    let kinds = |findings: Vec<Finding>| -> Vec<FindingKind> {
        let mut kinds: Vec<_> = findings.iter().map(|one| one.kind).collect();
        kinds.dedup();
        kinds
    };
    // The only finding is that all three blocks write the same memory.
    assert_eq!(kinds(findings("")), [FindingKind::InterBlockRace]);
    let late = "st.global.u32 [%out+4], %t;";
    assert!(kinds(findings(late)).contains(&FindingKind::WriteAfterWrite));
}
