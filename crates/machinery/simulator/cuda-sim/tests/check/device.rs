//! Unordered accesses to device memory by the threads of a block.

use crate::*;

#[test]
fn lock_orders_threads_of_a_block() {
    // Three lanes of each warp take the lock, at word 0, and increment word 8.
    let body = |before: &str, release: &str| {
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
        {release}
        atom.global.exch.b32 %r5, [%out], 0;
    skip:
        add.u32 %r7, %r7, 1;
        setp.lt.u32 %p2, %r7, 3;
        @%p2 bra next;"
        )
    };
    check_kernel(&body("membar.gl;", "membar.gl;"), 96).none();
    check_kernel(&body("", "membar.cta;"), 96).none();
    let (findings, ptx) = check_kernel(&body("membar.gl;", ""), 96);
    assert!(!findings.is_empty(), "{ptx}");
}

/// Returns a kernel whose threads have `%next`, the address of the output word `distance` words further on,
/// wrapping around.
fn ring(distance: u32, body: &str) -> String {
    format!(
        ".reg .b64 %next;
        add.u32 %r1, %t, {distance};
        mov.u32 %r3, %ntid.x;
        rem.u32 %r1, %r1, %r3;
        mad.wide.u32 %next, %r1, 4, %out;
        {body}"
    )
}

#[test]
fn unordered_accesses_by_warps_of_a_block_are_reported() {
    let body = |between: &str| {
        format!(
            "st.global.u32 [%mine], %t; // there
        {between}
        ld.global.u32 %r2, [%next]; // here"
        )
    };
    let result = check_kernel(&ring(32, &body("")), 96);
    let result = result.only(ReadAfterWrite);
    let other_line = line_of(&result.1, "// there");
    let finding = result.single(ReadAfterWrite, Error, 64, 32);
    let other = finding.other.clone().expect("the other access is missing");
    assert_eq!(
        (other.source.ptx_line, other.thread, other.write),
        (other_line, [0, 0, 0], true)
    );
    assert_contains(&finding.details, "byte 0 of the 384-byte");
    for sufficient in ["bar.sync 0;", "bar.sync 1, 96;", "barrier.sync 0;"] {
        check_kernel(&ring(32, &body(sufficient)), 96).none();
    }
    // A fence alone is no barrier, and a barrier of a warp does not order the block.
    for insufficient in ["membar.gl;", "bar.warp.sync -1;"] {
        let (findings, ptx) = check_kernel(&ring(32, &body(insufficient)), 96);
        assert!(!findings.is_empty(), "{insufficient}\n{ptx}");
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
    let result = check_kernel(&ring(64, &body("")), 96).only(WriteAfterRead);
    result.single(WriteAfterRead, Error, 64, 32);
    check_kernel(&ring(64, &body("bar.sync 0;")), 96).none();
    // Two threads write: an equal value does not depend on their order.
    let two_writes =
        |value: &str| check_kernel(&format!("st.global.u32 [%out+8], {value}; // here"), 64);
    two_writes("5").none();
    let (findings, ptx) = two_writes("%t");
    assert_eq!(
        kinds_and_severities(&findings),
        [(WriteAfterWrite, Error), (ConflictingStore, Error)],
        "{ptx}"
    );
    // Atomics, and writes to each thread's own word.
    check_kernel(
        "st.global.u32 [%mine], 0; red.global.add.u32 [%mine], 1;",
        96,
    )
    .none();
    check_kernel(
        "st.global.u32 [%mine], 0; bar.sync 0; red.global.add.u32 [%out], 1;",
        96,
    )
    .none();
    let body = "setp.ne.u32 %p1, %t, 40;
        @!%p1 st.global.u32 [%out], 0;
        red.global.add.u32 [%out], 1;";
    check_kernel(body, 96).include(WriteAfterWrite, Error);
}

#[test]
fn blocks_may_use_more_memory_than_is_tracked() {
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
        let mut machine = checking_machine(&ptx);
        let out = machine.out::<u8>(40 * 131_072);
        machine.run("k", 3, 1024, params![out]).findings
    };
    let kinds = |findings: Vec<Finding>| -> Vec<FindingKind> {
        let mut kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
        kinds.dedup();
        kinds
    };
    // The only finding is that all three blocks write the same memory.
    assert_eq!(kinds(findings("")), [InterBlockRace]);
    let late_write = "st.global.u32 [%out+4], %t;";
    assert!(kinds(findings(late_write)).contains(&WriteAfterWrite));
}
