//! Barriers and warp-wide instructions that some threads never reach.

use crate::*;

#[test]
fn barrier_in_divergent_branch_is_reported() {
    let body = "setp.ge.u32 %p1, %t, 16;
        @%p1 bra past;
        bar.sync 0; // here
    past:
        st.global.u32 [%mine], %t;";
    let finding = check_kernel(body, 32).single(DivergentBarrier, Error, 0, 16);
    assert_contains(&finding.details, "16 of the warp's 32");
    // All threads of the second warp skip it: the count is still that of the same 16 threads.
    check_kernel(body, 64).single(DivergentBarrier, Error, 0, 16);
    check_kernel("bar.sync 0;", 100).none();
}

#[test]
fn exit_before_barrier_is_reported() {
    let check_exit = |body: &str, threads: u32, exited: u32, exit_mark: &str| {
        let result = check_kernel(body, threads);
        let line = line_of(&result.1, exit_mark);
        let kind = EndedBeforeBarrier;
        let finding = result.single(kind, Warning, 0, exited.into());
        let expected = match exited {
            1 => "1 thread of the block has exited".to_owned(),
            count => format!("{count} threads of the block have exited"),
        };
        assert_contains(&finding.details, &expected);
        assert!(
            finding
                .details
                .to_string()
                .ends_with(&format!("PTX line {line}")),
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
    check_kernel(&body(64), 64).none();
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
    check_kernel(&body(64), 64).none();
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
    check_kernel(body, 96).none();
    // All barriers come first.
    let body = "bar.sync 0;
        setp.ge.u32 %p1, %t, 16;
        @%p1 bra end;
        st.global.u32 [%mine], %t;
    end:";
    check_kernel(body, 96).none();
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
    check_kernel(&body("barrier.sync"), 32).none();
    let (findings, ptx) = check_kernel(&body("bar.sync"), 32);
    assert_eq!(findings.len(), 2, "{findings:#?}\n{ptx}");
    assert!(
        findings
            .iter()
            .all(|finding| finding.kind == DivergentBarrier)
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
    check_kernel(body, 32).single(DivergentBarrier, Error, 2, 30);
    let body = body.replace("%t;", "5;");
    check_kernel(&body, 64).none();
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
    let line = line_of(&result.1, "// there");
    let finding = result.single(MixedBarriers, Error, 32, 1);
    assert_eq!(finding.other.unwrap().source.ptx_line, line);
}

#[test]
fn impossible_and_invalid_barriers_are_reported() {
    let body = "setp.ge.u32 %p1, %t, 32;
        @%p1 bra past;
        bar.sync 1, 64; // here
    past:
        st.global.u32 [%mine], %t;";
    let finding = check_kernel(body, 64).single(BarrierNeverOpens, Error, 0, 1);
    assert_contains(&finding.details, "never opens");
    check_kernel("bar.sync 0, 33; // here", 64).single(InvalidBarrier, Error, 0, 1);
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
    check_kernel(&shuffle("-1"), 32).single(AbsentLanes, Error, 0, 16);
    check_kernel(&shuffle("0xffff"), 32).none();
    let finding = check_kernel(&shuffle("0xff"), 32).single(MaskLacksCaller, Error, 8, 8);
    assert_contains(&finding.details, "lanes 8 to 15");
    // A warp that was partial from the start.
    check_kernel("vote.sync.ballot.b32 %r1, 1, -1;", 20).none();
    // Lanes that have exited.
    let exited = "setp.ge.u32 %p1, %t, 16; @%p1 exit;
        vote.sync.ballot.b32 %r1, 1, -1; // here";
    check_kernel(exited, 32).single(AbsentLanes, Warning, 0, 16);
    let exited = exited.replace(
        "vote.sync.ballot.b32 %r1, 1, -1; // here",
        "bar.warp.sync -1;",
    );
    check_kernel(&exited, 32).none();
    let body = "setp.ge.u32 %p1, %t, 4;
        @%p1 bra past;
        bar.warp.sync -1; // here
    past:
        st.global.u32 [%mine], %t;";
    check_kernel(body, 32).single(AbsentLanes, Error, 0, 28);
    // The lanes of the other branch reach another instruction with the same mask.
    let body = "setp.ge.u32 %p1, %t, 4;
        @%p1 bra other;
        bar.warp.sync -1;
        bra meet;
    other:
        bar.warp.sync -1;
    meet:
        st.global.u32 [%mine], %t;";
    check_kernel(body, 32).none();
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
            .all(|finding| finding.kind == AbsentLanes && finding.severity == Warning),
        "{:?}",
        result.0
    );
    assert_eq!(result.0.len(), 2);
    // From a lane of the other half, which provides no value here.
    let result = check_kernel(&halves(17), 32);
    let from_absent = |finding: &&Finding| finding.kind == ShuffleFromAbsentLane;
    let from_absent: Vec<_> = result.0.iter().filter(from_absent).collect();
    assert_eq!(from_absent.len(), 1);
    assert_eq!((from_absent[0].severity, from_absent[0].count), (Error, 16));
}

/// Checks a shuffle of half a warp in the given form, followed by `use_result`.
fn half_shuffles(form: &str, use_result: &str) -> Checked {
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
    let kind = ShuffleFromAbsentLane;
    let sync = |result: (Vec<_>, String)| result.only(kind);
    let add = "add.u32 %r2, %r2, %r1;";
    let shuffle = |mode: &str, by: &str, clamp: u32| {
        format!("shfl.sync.{mode}.b32 %r1, %t, {by}, {clamp}, 0xffff;")
    };
    let check_shuffle = |mode: &str, by: &str, clamp: u32, use_result: &str| {
        sync(half_shuffles(&shuffle(mode, by, clamp), use_result))
    };
    // All lanes read from absent lanes.
    let finding = check_shuffle("down", "16", 31, add).single(kind, Error, 0, 16);
    assert_contains(&finding.details, "lanes 0 to 15");
    check_shuffle("bfly", "16", 31, add).single(kind, Error, 0, 16);
    // Lanes 8 to 15 read from absent lanes.
    let next_lane = "add.u32 %r3, %t, 8; ";
    let by_lane_number = |use_result: &str| {
        let form = format!("{next_lane}{}", shuffle("idx", "%r3", 31));
        sync(half_shuffles(&form, use_result))
    };
    by_lane_number(add).single(kind, Warning, 8, 8);
    by_lane_number("st.global.u32 [%mine+128], %r1;").single(kind, Warning, 8, 8);
    by_lane_number("setp.gt.u32 %p2, %r1, 3; selp.u32 %r2, %r1, %r2, %p2;")
        .single(kind, Warning, 8, 8);
    // Every lane reads within the mask.
    check_shuffle("down", "8", 0x100f, add).none();
    check_shuffle("bfly", "8", 31, add).none();
    check_shuffle("idx", "5", 31, add).none();
    // A tree reduction: the upper lanes read beyond the mask, and their results are never used.
    check_shuffle("down", "8", 31, add).none();
    // The lanes that read from absent lanes do not use the result.
    let select = "setp.lt.u32 %p2, %t, 8; add.u32 %r4, %r2, %r1; selp.u32 %r2, %r4, %r2, %p2;";
    by_lane_number(select).none();
    by_lane_number("setp.lt.u32 %p2, %t, 8; @%p2 add.u32 %r2, %r2, %r1;").none();
    let branch = "setp.ge.u32 %p2, %t, 8; @%p2 bra past; add.u32 %r2, %r2, %r1;";
    by_lane_number(branch).none();
}
