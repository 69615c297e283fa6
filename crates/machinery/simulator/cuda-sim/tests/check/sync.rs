//! Barriers and warp-wide instructions that some threads never reach.

use crate::{assert_no_findings, assert_single_finding, check_kernel};
use cuda_sim::check::FindingKind;
use cuda_sim::check::Severity::{Error, Warning};

#[test]
fn barrier_in_divergent_branch_is_reported() {
    let body = "setp.ge.u32 %p1, %t, 16;
        @%p1 bra past;
        bar.sync 0; // here
    past:
        st.global.u32 [%mine], %t;";
    let finding = assert_single_finding(
        check_kernel(body, 32),
        FindingKind::DivergentBarrier,
        Error,
        0,
        16,
    );
    assert!(finding.details.contains("16 of the warp's 32"), "{finding}");
    // All threads of the second warp skip it: the count is still that of the same 16 threads.
    assert_single_finding(
        check_kernel(body, 64),
        FindingKind::DivergentBarrier,
        Error,
        0,
        16,
    );
    assert_no_findings(check_kernel("bar.sync 0;", 100));
}

#[test]
fn exit_before_barrier_is_reported() {
    let check_exit = |body: &str, threads: u32, exited: u32, exit_mark: &str| {
        let result = check_kernel(body, threads);
        let line = crate::line_of(&result.1, exit_mark);
        let kind = FindingKind::EndedBeforeBarrier;
        let finding = assert_single_finding(result, kind, Warning, 0, exited.into());
        let expected = match exited {
            1 => "1 thread of the block has exited".to_owned(),
            count => format!("{count} threads of the block have exited"),
        };
        assert!(finding.details.contains(&expected), "{finding}");
        assert!(
            finding.details.ends_with(&format!("PTX line {line}")),
            "{finding}"
        );
    };
    // By a branch to the end, directly or after other code; whole warps and parts of a warp.
    let body = |limit: u32| {
        format!(
            "setp.ge.u32 %p1, %t, {limit};
        @%p1 bra end; // left
        bar.sync 0; // here
        st.global.u32 [%mine], %t;
    end:"
        )
    };
    check_exit(&body(32), 64, 32, "// left");
    check_exit(&body(16), 64, 48, "// left");
    check_exit(&body(63), 64, 1, "// left");
    assert_no_findings(check_kernel(&body(64), 64));
    let body = |limit: u32| {
        format!(
            "setp.lt.u32 %p1, %t, {limit};
        @%p1 bra go;
        st.global.u32 [%mine], %t;
        exit; // left
    go:
        bar.sync 0; // here"
        )
    };
    check_exit(&body(40), 64, 24, "// left");
    assert_no_findings(check_kernel(&body(64), 64));
    check_exit(
        "setp.ge.u32 %p1, %t, 16; @%p1 exit; // left
        bar.sync 0; // here",
        64,
        48,
        "// left",
    );
    // Threads that skip the barrier, and exit while the others wait.
    let body = "setp.ge.u32 %p1, %t, 32;
        @%p1 bra past;
        bar.sync 0; // here
    past:
        st.global.u32 [%mine], %t;
        ret; // left";
    check_exit(body, 64, 32, "// left");
    // A barrier for the remaining threads.
    let body = "setp.ge.u32 %p1, %t, 64;
        @%p1 bra end;
        bar.sync 1, 64;
        st.global.u32 [%mine], %t;
    end:";
    assert_no_findings(check_kernel(body, 96));
    // All barriers come first.
    let body = "bar.sync 0;
        setp.ge.u32 %p1, %t, 16;
        @%p1 bra end;
        st.global.u32 [%mine], %t;
    end:";
    assert_no_findings(check_kernel(body, 96));
}

#[test]
fn unaligned_barrier_allows_divergent_lanes() {
    let body = |barrier: &str| {
        format!(
            "and.b32 %r1, %t, 1;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 bra even;
        {barrier} 0; // here
        bra meet;
    even:
        {barrier} 0; // there
    meet:
        st.global.u32 [%mine], %t;"
        )
    };
    assert_no_findings(check_kernel(&body("barrier.sync"), 32));
    let (findings, ptx) = check_kernel(&body("bar.sync"), 32);
    assert_eq!(findings.len(), 2, "{findings:#?}\n{ptx}");
    assert!(
        findings
            .iter()
            .all(|finding| finding.kind == FindingKind::DivergentBarrier)
    );
}

#[test]
fn barrier_in_loop_with_divergent_exit_is_reported() {
    let body = "mov.u32 %r1, 0;
    again:
        bar.sync 0; // here
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, %t;
        @%p1 bra again;
        st.global.u32 [%mine], %t;";
    // Threads 0 and 1 leave after the first iteration; the others wait for them forever.
    assert_single_finding(
        check_kernel(body, 32),
        FindingKind::DivergentBarrier,
        Error,
        2,
        30,
    );
    let body = body.replace("%t;", "5;");
    assert_no_findings(check_kernel(&body, 64));
}

#[test]
fn two_instructions_at_one_barrier_are_reported() {
    let body = "setp.ge.u32 %p1, %t, 32;
        @%p1 bra second;
        bar.sync 0; // there
        bra meet;
    second:
        bar.sync 0; // here
    meet:
        st.global.u32 [%mine], %t;";
    let result = check_kernel(body, 64);
    let line = crate::line_of(&result.1, "// there");
    let finding = assert_single_finding(result, FindingKind::MixedBarriers, Error, 32, 1);
    assert_eq!(finding.other.unwrap().source.ptx_line, line);
}

#[test]
fn impossible_and_invalid_barriers_are_reported() {
    let body = "setp.ge.u32 %p1, %t, 32;
        @%p1 bra past;
        bar.sync 1, 64; // here
    past:
        st.global.u32 [%mine], %t;";
    let finding = assert_single_finding(
        check_kernel(body, 64),
        FindingKind::BarrierNeverOpens,
        Error,
        0,
        1,
    );
    assert!(finding.details.contains("never opens"), "{finding}");
    assert_single_finding(
        check_kernel("bar.sync 0, 33; // here", 64),
        FindingKind::InvalidBarrier,
        Error,
        0,
        1,
    );
}

#[test]
fn masks_that_do_not_match_active_lanes_are_reported() {
    let shuffle = |mask: &str| {
        format!(
            "setp.ge.u32 %p1, %t, 16;
        @%p1 bra past;
        shfl.sync.down.b32 %r1, %t, 8, 31, {mask}; // here
    past:
        st.global.u32 [%mine], %t;"
        )
    };
    assert_single_finding(
        check_kernel(&shuffle("-1"), 32),
        FindingKind::AbsentLanes,
        Error,
        0,
        16,
    );
    assert_no_findings(check_kernel(&shuffle("0xffff"), 32));
    let finding = assert_single_finding(
        check_kernel(&shuffle("0xff"), 32),
        FindingKind::MaskLacksCaller,
        Error,
        8,
        8,
    );
    assert!(finding.details.contains("lanes 8 to 15"), "{finding}");
    // A warp that was partial from the start.
    assert_no_findings(check_kernel("vote.sync.ballot.b32 %r1, 1, -1;", 20));
    // Lanes that have exited.
    let exited = "setp.ge.u32 %p1, %t, 16; @%p1 exit;
        vote.sync.ballot.b32 %r1, 1, -1; // here";
    assert_single_finding(
        check_kernel(exited, 32),
        FindingKind::AbsentLanes,
        Warning,
        0,
        16,
    );
    let exited = exited.replace(
        "vote.sync.ballot.b32 %r1, 1, -1; // here",
        "bar.warp.sync -1;",
    );
    assert_no_findings(check_kernel(&exited, 32));
    let body = "setp.ge.u32 %p1, %t, 4;
        @%p1 bra past;
        bar.warp.sync -1; // here
    past:
        st.global.u32 [%mine], %t;";
    assert_single_finding(
        check_kernel(body, 32),
        FindingKind::AbsentLanes,
        Error,
        0,
        28,
    );
    // The lanes of the other branch reach another instruction with the same mask.
    let body = "setp.ge.u32 %p1, %t, 4;
        @%p1 bra other;
        bar.warp.sync -1;
        bra meet;
    other:
        bar.warp.sync -1;
    meet:
        st.global.u32 [%mine], %t;";
    assert_no_findings(check_kernel(body, 32));
}

#[test]
fn shuffles_in_both_branches_are_reported() {
    let halves = |lane: u32| {
        format!(
            "setp.ge.u32 %p1, %t, 16;
        @%p1 bra other;
        shfl.sync.idx.b32 %r1, %t, {lane}, 31, -1; // here
        add.u32 %r1, %r1, 1;
        bra meet;
    other:
        shfl.sync.idx.b32 %r1, %t, 20, 31, -1;
        add.u32 %r1, %r1, 1;
    meet:
        st.global.u32 [%mine], %r1;"
        )
    };
    // Within each half: CUDA C++ requires one instruction for all, but hardware gives the intended result.
    let result = check_kernel(&halves(3), 32);
    assert!(
        result
            .0
            .iter()
            .all(|finding| finding.kind == FindingKind::AbsentLanes && finding.severity == Warning),
        "{:?}",
        result.0
    );
    assert_eq!(result.0.len(), 2);
    // From a lane of the other half, which provides no value here.
    let result = check_kernel(&halves(17), 32);
    let from_absent =
        |finding: &&cuda_sim::check::Finding| finding.kind == FindingKind::ShuffleFromAbsentLane;
    let from_absent: Vec<_> = result.0.iter().filter(from_absent).collect();
    assert_eq!(from_absent.len(), 1);
    assert_eq!((from_absent[0].severity, from_absent[0].count), (Error, 16));
}

/// Checks a shuffle of half a warp in the given form, followed by `use_result`.
fn half_shuffles(form: &str, use_result: &str) -> (Vec<cuda_sim::check::Finding>, String) {
    check_kernel(
        &format!(
            "ld.global.u32 %r2, [%out];
        setp.ge.u32 %p1, %t, 16;
        @%p1 bra past;
        {form} // here
        {use_result}
    past:
        st.global.u32 [%mine], %r2;"
        ),
        32,
    )
}

#[test]
fn shuffles_from_absent_lanes_are_reported() {
    let kind = FindingKind::ShuffleFromAbsentLane;
    let sync = |result: (Vec<_>, String)| crate::only_kind(result, kind);
    let add = "add.u32 %r2, %r2, %r1;";
    let shuffle = |mode: &str, by: &str, clamp: u32| {
        format!("shfl.sync.{mode}.b32 %r1, %t, {by}, {clamp}, 0xffff;")
    };
    let check_shuffle = |mode: &str, by: &str, clamp: u32, use_result: &str| {
        sync(half_shuffles(&shuffle(mode, by, clamp), use_result))
    };
    // All lanes read from absent lanes.
    let finding = assert_single_finding(check_shuffle("down", "16", 31, add), kind, Error, 0, 16);
    assert!(finding.details.contains("lanes 0 to 15"), "{finding}");
    assert_single_finding(check_shuffle("bfly", "16", 31, add), kind, Error, 0, 16);
    // Lanes 8 to 15 read from absent lanes.
    let next_lane = "add.u32 %r3, %t, 8; ";
    let by_lane_number = |use_result: &str| {
        let form = format!("{next_lane}{}", shuffle("idx", "%r3", 31));
        sync(half_shuffles(&form, use_result))
    };
    assert_single_finding(by_lane_number(add), kind, Warning, 8, 8);
    assert_single_finding(
        by_lane_number("st.global.u32 [%mine+128], %r1;"),
        kind,
        Warning,
        8,
        8,
    );
    assert_single_finding(
        by_lane_number("setp.gt.u32 %p2, %r1, 3; selp.u32 %r2, %r1, %r2, %p2;"),
        kind,
        Warning,
        8,
        8,
    );
    // Every lane reads within the mask.
    assert_no_findings(check_shuffle("down", "8", 0x100f, add));
    assert_no_findings(check_shuffle("bfly", "8", 31, add));
    assert_no_findings(check_shuffle("idx", "5", 31, add));
    // A tree reduction: the upper lanes read beyond the mask, and their results are never used.
    assert_no_findings(check_shuffle("down", "8", 31, add));
    // The lanes that read from absent lanes do not use the result.
    let select = "setp.lt.u32 %p2, %t, 8; add.u32 %r4, %r2, %r1; selp.u32 %r2, %r4, %r2, %p2;";
    assert_no_findings(by_lane_number(select));
    assert_no_findings(by_lane_number(
        "setp.lt.u32 %p2, %t, 8; @%p2 add.u32 %r2, %r2, %r1;",
    ));
    let branch = "setp.ge.u32 %p2, %t, 8; @%p2 bra past; add.u32 %r2, %r2, %r1;";
    assert_no_findings(by_lane_number(branch));
}
