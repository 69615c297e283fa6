//! Data races in shared memory.

use crate::*;

/// Returns a kernel with a tile of 256 words: `%own` is the address of the thread's word, `%next` that of the
/// word `distance` words further on, wrapping around.
fn tile(distance: u32, body: &str) -> String {
    format!(
        ".shared .align 16 .b32 tile[256];
        .reg .b64 %own, %next;
        mov.u64 %d1, tile;
        mad.wide.u32 %own, %t, 4, %d1;
        add.u32 %r1, %t, {distance};
        mov.u32 %r3, %ntid.x;
        rem.u32 %r1, %r1, %r3;
        mad.wide.u32 %next, %r1, 4, %d1;
        {body}
        st.global.u32 [%mine], %r2;"
    )
}

#[test]
fn read_before_barrier_is_reported() {
    let body = "st.shared.u32 [%own], %t; // there
        ld.shared.u32 %r2, [%next]; // here";
    // Thread t reads the word that thread t + 32 writes, before or after the write: warps run in
    // order. Whether an unwritten word is read depends on that order.
    let result = check_kernel(&tile(32, body), 64);
    assert_eq!(
        kinds_and_severities(&result.0),
        [(ReadAfterWrite, Error), (WriteAfterRead, Error)]
    );
    let other_line = line_of(&result.1, "// there");
    let result = result.only(ReadAfterWrite);
    let finding = result.single(ReadAfterWrite, Error, 32, 32);
    let other = finding.other.clone().expect("the other access is missing");
    assert_eq!(
        (other.source.ptx_line, other.thread, other.write),
        (other_line, [0, 0, 0], true)
    );
    assert_contains(&finding.details, "4 bytes at offset 0x0 of shared memory");
    let correct = body.replace("// there", "\nbar.sync 0;");
    check_kernel(&tile(32, &correct), 64).none();
    check_kernel(&tile(32, &correct), 100).none();
}

#[test]
fn write_before_others_have_read_is_reported() {
    let body = |between: &str| {
        format!(
            "st.shared.u32 [%own], %t;
        bar.sync 0;
        ld.shared.u32 %r2, [%next]; // there
        {between}
        st.shared.u32 [%own], %r2; // here"
        )
    };
    let result = check_kernel(&tile(32, &body("")), 64).only(WriteAfterRead);
    let other_line = line_of(&result.1, "// there");
    let finding = result.single(WriteAfterRead, Error, 32, 32);
    let other = finding.other.expect("the other access is missing");
    assert_eq!(
        (other.source.ptx_line, other.thread, other.write),
        (other_line, [0, 0, 0], false)
    );
    check_kernel(&tile(32, &body("bar.sync 0;")), 64).none();
    check_kernel(&tile(32, &body("bar.sync 0, 64;")), 64).none();
}

#[test]
fn reads_that_race_with_one_write_are_reported() {
    let body = "setp.ne.u32 %p1, %t, 0;
        @!%p1 st.shared.u32 [tile], 7; // there
        ld.shared.u32 %r2, [tile]; // here";
    let (findings, _) = check_kernel(&tile(0, body), 96);
    assert_eq!(
        kinds_and_severities(&findings),
        [(ReadAfterWrite, Error), (ReadAfterWrite, Warning)]
    );
    assert_eq!((findings[0].count, findings[1].count), (64, 31));
    let correct = body.replace("// there", "\nbar.sync 0;");
    check_kernel(&tile(0, &correct), 96).none();
}

#[test]
fn conflicting_writes_are_reported() {
    let store = |value: &str| tile(0, &format!("st.shared.u32 [tile+8], {value}; // here"));
    check_kernel(&store("5"), 64).none();
    let (findings, ptx) = check_kernel(&store("%t"), 64);
    assert_eq!(
        kinds_and_severities(&findings),
        [(WriteAfterWrite, Error), (ConflictingStore, Error)]
    );
    let line = line_of(&ptx, "// here");
    assert!(
        findings
            .iter()
            .all(|finding| finding.source.ptx_line == line)
    );
    // Lanes that are not neighbours.
    let body = "and.b32 %r1, %t, 7; mad.wide.u32 %d2, %r1, 4, %d1;
        st.shared.u32 [%d2], %t; // here";
    check_kernel(&tile(0, body), 32).single(ConflictingStore, Error, 8, 24);
    let body = body.replace("%t; // here", "%r1;");
    check_kernel(&tile(0, &body), 32).none();
}

#[test]
fn lanes_of_a_warp_are_not_implicitly_ordered() {
    let body = |between: &str| {
        format!(
            "st.shared.u32 [%own], %t;
        {between}
        ld.shared.u32 %r2, [%next]; // here"
        )
    };
    let result = check_kernel(&tile(1, &body("")), 32);
    let finding = result.single(ReadAfterWrite, Warning, 0, 32);
    assert_eq!(finding.likely_cause, Some(Cause::MissingWarpSync));
    for between in ["bar.warp.sync -1;", "bar.sync 0;", "bar.sync 1, 32;"] {
        check_kernel(&tile(1, &body(between)), 32).none();
    }
    // Instructions that exchange values do not order memory.
    for between in [
        "shfl.sync.idx.b32 %r4, %t, 0, 31, -1;",
        "vote.sync.ballot.b32 %r4, 1, -1;",
        "match.any.sync.b32 %r4, %t, -1;",
    ] {
        let result = check_kernel(&tile(1, &body(between)), 32);
        result.single(ReadAfterWrite, Warning, 0, 32);
    }
    // Also in a launch of which only a sample is counted.
    let ptx = kernel_of(&tile(1, &body("bar.sync 0;"))).replace("st.global", "// st.global");
    let mut machine = checking_machine(&ptx);
    let out = machine.out::<u32>(32);
    assert_eq!(machine.run("k", 100, 32, params![out]).findings, []);
    // Half of the warp.
    let result = check_kernel(
        &tile(
            1,
            &body("setp.ge.u32 %p1, %t, 16; @%p1 bra past; bar.warp.sync 0xffff; past:"),
        ),
        32,
    );
    result.single(ReadAfterWrite, Warning, 15, 17);
}

#[test]
fn likely_cause_depends_on_the_warps_and_on_the_lines() {
    let causes = |body: &str, threads: u32| {
        let (findings, ptx) = check_kernel(&tile(1, body), threads);
        assert!(!findings.is_empty(), "{ptx}");
        let causes = findings.into_iter().map(|finding| finding.likely_cause);
        causes.map(Option::unwrap).collect::<Vec<_>>()
    };
    let all = |causes: Vec<Cause>, expected: Cause| {
        assert!(causes.iter().all(|cause| *cause == expected), "{causes:?}");
    };
    // A read and a write in two lines.
    let two_lines = "st.shared.u32 [%own], %t; bar.sync 0;
        ld.shared.u32 %r2, [%next];
        st.shared.u32 [%own], %r2;";
    all(causes(two_lines, 32), Cause::MissingWarpSync);
    // The lines also race between warps, for which `__syncwarp` is not enough.
    assert!(!causes(two_lines, 64).contains(&Cause::MissingWarpSync));
    // In one line, as in an in-place scan.
    let one_line = "st.shared.u32 [%own], %t; bar.sync 0;
        ld.shared.u32 %r2, [%next]; st.shared.u32 [%own], %r2;";
    all(causes(one_line, 32), Cause::StatementNeedsWarpSync);
    all(causes(one_line, 64), Cause::StatementNeedsBarrier);
    // All threads update one element.
    let update = "st.shared.u32 [%own], %t; bar.sync 0;
        ld.shared.u32 %r2, [tile]; add.u32 %r2, %r2, 1; st.shared.u32 [tile], %r2;";
    all(causes(update, 32), Cause::SumWithoutAtomic);
    all(causes(update, 64), Cause::SumWithoutAtomic);
}

#[test]
fn counted_barriers_order_their_participants() {
    // Warps 0 and 1 share barrier 1, warps 2 and 3 barrier 2.
    let body = |distance: u32| {
        tile(
            distance,
            "shr.u32 %r4, %t, 6;
        add.u32 %r4, %r4, 1;
        st.shared.u32 [%own], %t;
        bar.sync %r4, 64;
        ld.shared.u32 %r2, [%next]; // here",
        )
    };
    // The second warp of each pair reads words that the other pair writes.
    let result = check_kernel(&body(32), 128);
    result.single(ReadAfterWrite, Error, 32, 64);
    let result = check_kernel(&body(64), 128);
    result.single(ReadAfterWrite, Error, 0, 128);
    // A producer that does not wait.
    let body = "setp.ge.u32 %p1, %t, 32;
        @%p1 bra take;
        st.shared.u32 [%own], %t;
        bar.arrive 1, 64;
        bra done;
    take:
        bar.sync 1, 64;
        ld.shared.u32 %r2, [%next];
    done:";
    check_kernel(&tile(32, body), 64).none();
    let late_write = body.replace(
        "bar.arrive 1, 64;",
        "bar.arrive 1, 64; st.shared.u32 [%own], 5; // there",
    );
    let (findings, _) = check_kernel(&tile(32, &late_write), 64);
    assert_eq!(kinds_and_severities(&findings), [(ReadAfterWrite, Error)]);
}

#[test]
fn atomics_race_only_with_plain_accesses() {
    let body = |zero: &str| {
        tile(
            0,
            &format!(
                "setp.ne.u32 %p1, %t, 40;
        @!%p1 st.shared.u32 [tile], 0;
        {zero}
        atom.shared.add.u32 %r2, [tile], 1; // here"
            ),
        )
    };
    check_kernel(&body("bar.sync 0;"), 96).none();
    let (findings, ptx) = check_kernel(&body("bar.warp.sync -1;"), 96);
    let incorrect = findings
        .iter()
        .find(|finding| finding.kind == WriteAfterWrite);
    let incorrect = incorrect.unwrap_or_else(|| panic!("{findings:#?}\n{ptx}"));
    assert_eq!(incorrect.severity, Error);
    assert_eq!(incorrect.likely_cause, Some(Cause::MissingBarrier));
    let other_atomic = incorrect.other.as_ref().is_some_and(|other| other.atomic);
    assert_ne!(incorrect.atomic, other_atomic, "{incorrect}");
    // The atomics of the warp that stored the zero do not hide it from other warps, even if they are ordered after it.
    let first = body("bar.warp.sync -1;").replace("%t, 40", "%t, 0");
    let (findings, ptx) = check_kernel(&first, 96);
    let errors = findings.iter().filter(|finding| finding.severity == Error);
    let kinds: Vec<_> = errors.map(|finding| finding.kind).collect();
    assert_eq!(kinds, [WriteAfterWrite], "{findings:#?}\n{ptx}");
}

#[test]
fn result_of_atomics_needs_a_barrier_before_it_is_read() {
    let body = |between: &str| {
        tile(
            0,
            &format!(
                "setp.ne.u32 %p1, %t, 0;
        @!%p1 st.shared.u32 [tile], 0;
        bar.sync 0;
        atom.shared.add.u32 %r4, [tile], 1;
        {between}
        ld.shared.u32 %r2, [tile]; // here"
            ),
        )
    };
    check_kernel(&body("bar.sync 0;"), 96).none();
    for between in ["", "bar.warp.sync -1;"] {
        let (findings, ptx) = check_kernel(&body(between), 96);
        let errors = findings.iter().filter(|finding| finding.severity == Error);
        let kinds: Vec<_> = errors.clone().map(|finding| finding.kind).collect();
        assert_eq!(
            kinds,
            [ReadAfterWrite, WriteAfterRead],
            "{findings:#?}\n{ptx}"
        );
        for finding in errors {
            assert_eq!(finding.likely_cause, Some(Cause::MissingBarrier));
            assert_contains(finding, "updates atomically at");
        }
    }
}

#[test]
fn loads_that_an_atomic_verifies_are_not_reported() {
    // Each thread updates the word that `at` names: shared memory that thread 0 has set, or device memory.
    let body = |at: &str, code: &str| {
        let space = if at == "tile" { "shared" } else { "global" };
        let code = code.replace("AT", at).replace("SPACE", space);
        tile(
            0,
            &format!(
                "setp.ne.u32 %p1, %t, 0;
        @!%p1 st.shared.u32 [tile], 0;
        bar.sync 0;
        mov.u32 %r2, 0;
        {code}"
            ),
        )
    };
    let check = |at: &str, code: &str| {
        let ptx = kernel_of(&body(at, code));
        let mut machine = checking_machine(&ptx);
        let out = machine.buffer(&[0u32; 192]);
        (machine.run("k", 1, 96, params![out]).findings, ptx)
    };
    let retry = "ld.SPACE.u32 %r4, [AT];
    again:
        add.u32 %r5, %r4, 1;
        atom.SPACE.cas.b32 %r6, [AT], %r4, %r5;
        setp.ne.u32 %p2, %r4, %r6;
        mov.u32 %r4, %r6;
        @%p2 bra again;";
    let maximum = "ld.SPACE.u32 %r4, [AT];
        setp.ge.u32 %p2, %r4, %t;
        @%p2 bra done;
        atom.SPACE.max.u32 %r6, [AT], %t;
    done:";
    let volatile = "ld.volatile.SPACE.u32 %r2, [AT];
        atom.SPACE.add.u32 %r6, [AT], 1;";
    for at in ["tile", "%out+640"] {
        for code in [retry, maximum, volatile] {
            check(at, code).none();
        }
        // The value is used otherwise: a warning that names the remedy.
        let kept = "ld.SPACE.u32 %r2, [AT];
        atom.SPACE.add.u32 %r6, [AT], 1;";
        let (findings, ptx) = check(at, kept);
        assert!(!findings.is_empty(), "{ptx}");
        for finding in findings {
            assert_eq!(finding.severity, Warning, "{finding}\n{ptx}");
            assert_eq!(finding.likely_cause, Some(Cause::LoadBeforeAtomic));
        }
        // A test without an atomic of the thread.
        let tests = "setp.lt.u32 %p2, %t, 64;
        @%p2 bra count;
        ld.SPACE.u32 %r4, [AT];
        setp.ne.u32 %p2, %r4, 9;
        @%p2 bra done;
        mov.u32 %r2, 1;
        bra done;
    count:
        atom.SPACE.add.u32 %r6, [AT], 1;
    done:";
        check(at, tests).include(ReadAfterWrite, Error);
    }
}

#[test]
fn minimum_over_the_edges_of_a_graph_is_a_warning() {
    // Relaxation: the distance of one node, plus a length, may lower that of another.
    let relax = |operation: &str| {
        format!(
            ".reg .b64 %from, %to;
        mad.wide.u32 %from, %t, 4, %out;
        add.u32 %r1, %t, 40;
        rem.u32 %r1, %r1, 96;
        mad.wide.u32 %to, %r1, 4, %out;
        ld.global.u32 %r2, [%from];
        add.u32 %r2, %r2, 5;
        ld.global.u32 %r3, [%to];
        setp.ge.u32 %p1, %r2, %r3;
        @%p1 bra done;
        atom.global.{operation}.u32 %r4, [%to], %r2;
    done:"
        )
    };
    let check = |operation: &str| {
        let ptx = module_of("", &relax(operation));
        let mut machine = checking_machine(&ptx);
        let distances: Vec<u32> = (0..96).map(|node| node * 7 % 96 * 10).collect();
        let out = machine.buffer(&distances);
        machine.run("k", 1, 96, params![out]).findings
    };
    let findings = check("min");
    assert!(!findings.is_empty());
    for finding in findings {
        assert_eq!(finding.severity, Warning, "{finding}");
        assert_eq!(finding.likely_cause, Some(Cause::LoadBeforeAtomic));
    }
    let sum = check("add");
    assert!(sum.iter().any(|finding| finding.severity == Error));
}

#[test]
fn fence_and_flag_order_two_warps() {
    let body = |fence: &str| {
        tile(
            32,
            &format!(
                ".shared .align 4 .b32 flag;
        st.shared.u32 [flag], 0;
        bar.sync 0;
        setp.ge.u32 %p1, %t, 32;
        @%p1 bra take;
        st.shared.u32 [%own], %t;
        bar.warp.sync -1;
        {fence}
        bar.warp.sync -1;
        atom.shared.exch.b32 %r4, [flag], 1;
        bra done;
    take:
        ld.volatile.shared.u32 %r4, [flag];
        setp.eq.u32 %p1, %r4, 0;
        @%p1 bra take;
        ld.shared.u32 %r2, [%next]; // here
    done:"
            ),
        )
    };
    check_kernel(&body("membar.cta;"), 64).none();
    let result = check_kernel(&body(""), 64);
    result.single(ReadAfterWrite, Error, 32, 32);
}

#[test]
fn overlapping_narrow_and_wide_accesses_are_reported() {
    let body = "st.shared.u32 [%own], %t;
        bar.sync 0;
        mov.b64 %d2, tile; cvt.u64.u32 %d3, %t; add.s64 %d2, %d2, %d3;
        setp.ge.u32 %p1, %t, 32;
        @%p1 st.shared.u8 [%d2], 1;
        @!%p1 ld.shared.v2.u32 {%r2, %r4}, [tile+40]; // there";
    let (findings, _) = check_kernel(&tile(0, body), 64);
    assert_eq!(kinds_and_severities(&findings), [(WriteAfterRead, Error)]);
    assert_eq!((findings[0].count, findings[0].thread), (8, [40, 0, 0]));
    let body = body.replace("tile+40", "tile+64");
    check_kernel(&tile(0, &body), 64).none();
}

#[test]
fn reads_before_waiting_for_async_copies_are_reported() {
    let body = |wait: &str| {
        tile(
            32,
            &format!(
                "cvta.to.global.u64 %d4, %mine;
        cp.async.ca.shared.global [%own], [%d4], 4; // there
        {wait}
        ld.shared.u32 %r2, [%next]; // here"
            ),
        )
    };
    for correct in [
        "cp.async.wait_all; bar.sync 0;",
        "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;",
    ] {
        check_kernel(&body(correct), 64).none();
    }
    for (incorrect, kind) in [
        ("bar.sync 0;", CopyNotAwaited),
        ("cp.async.wait_group 0; bar.sync 0;", CopyNotAwaited),
        (
            "cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;",
            CopyNotAwaited,
        ),
        ("bar.sync 0; cp.async.wait_all;", ReadAfterWrite),
    ] {
        let (findings, ptx) = check_kernel(&body(incorrect), 64);
        assert_eq!(findings[0].kind, kind, "{incorrect}: {findings:#?}\n{ptx}");
        assert_eq!(findings[0].source.ptx_line, line_of(&ptx, "// here"));
    }
    // A copy in flight at the end of a block does not concern the next block.
    let ptx = kernel_of(&body("").replace("ld.shared.u32 %r2, [%next]; // here", ""));
    let ptx = ptx.replace("st.global.u32 [%mine], %r2;", "");
    let mut machine = checking_machine(&ptx);
    machine.use_threads(1);
    let out = machine.out::<u32>(64);
    assert_eq!(machine.run("k", 20, 64, params![out]).findings, []);
}

#[test]
fn volatile_shared_accesses_are_not_ordered() {
    let body = |between: &str| {
        format!(
            "st.volatile.shared.u32 [%own], %t; // there
        {between}
        ld.volatile.shared.u32 %r2, [%next]; // here"
        )
    };
    // Between warps.
    let result = check_kernel(&tile(32, &body("")), 64);
    let result = result.only(ReadAfterWrite);
    result.single(ReadAfterWrite, Error, 32, 32);
    // Between lanes.
    let result = check_kernel(&tile(1, &body("")), 32);
    result.single(ReadAfterWrite, Warning, 0, 32);
    check_kernel(&tile(32, &body("bar.sync 0;")), 64).none();
    check_kernel(&tile(1, &body("bar.warp.sync -1;")), 32).none();
}

#[test]
fn findings_are_deterministic_and_checks_do_not_change_results() {
    let body = tile(
        5,
        "st.shared.u32 [%own], %t;
        ld.shared.u32 %r2, [%next];
        st.global.u32 [%mine], %r2;",
    );
    let run = |machine: &mut Machine| {
        let out = machine.out::<u32>(256);
        let report = machine.run("k", 50, 256, params![out]);
        (machine.read::<u32>(out, 256), report)
    };
    let ptx = kernel_of(&body);
    for profile in [false, true] {
        let mut unchecked = Machine::new(&ptx);
        unchecked.options.profile = profile;
        unchecked.use_threads(1);
        let (_, expected) = run(&mut unchecked);
        let mut findings: Option<Vec<Finding>> = None;
        for threads in [1, 2, 3] {
            let mut machine = checking_machine(&ptx);
            machine.options.profile = profile;
            machine.use_threads(threads);
            let (_, report) = run(&mut machine);
            assert_eq!(report.counts, expected.counts);
            assert_eq!(record(&report), record(&expected));
            assert!(!report.findings.is_empty());
            let first = findings.get_or_insert_with(|| report.findings.clone());
            assert_eq!(*first, report.findings);
        }
        assert!(expected.findings.is_empty());
    }
}
