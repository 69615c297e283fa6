//! Barriers and warp-wide instructions that some threads never reach.

use crate::{assert_one, assert_silent, found};
use cuda_sim::check::FindingKind;
use cuda_sim::check::Severity::{Error, Warning};

#[test]
fn a_barrier_in_a_branch_of_half_a_warp() {
    let body = "setp.ge.u32 %p1, %t, 16;
        @%p1 bra past;
        bar.sync 0; // here
    past:
        st.global.u32 [%mine], %t;";
    let finding = assert_one(found(body, 32), FindingKind::DivergentBarrier, Error, 0, 16);
    assert!(finding.details.contains("16 of the warp's 32"), "{finding}");
    // All threads of the second warp skip it: the count is still that of the same 16 threads.
    assert_one(found(body, 64), FindingKind::DivergentBarrier, Error, 0, 16);
    assert_silent(found("bar.sync 0;", 100));
}

#[test]
fn threads_that_end_before_a_barrier() {
    let one = |body: &str, threads: u32, ended: u32, left: &str| {
        let of = found(body, threads);
        let line = crate::line_of(&of.1, left);
        let kind = FindingKind::EndedBeforeBarrier;
        let finding = assert_one(of, kind, Warning, 0, ended.into());
        let wanted = match ended {
            1 => "1 thread of the block has ended".to_owned(),
            many => format!("{many} threads of the block have ended"),
        };
        assert!(finding.details.contains(&wanted), "{finding}");
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
    one(&body(32), 64, 32, "// left");
    one(&body(16), 64, 48, "// left");
    one(&body(63), 64, 1, "// left");
    assert_silent(found(&body(64), 64));
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
    one(&body(40), 64, 24, "// left");
    assert_silent(found(&body(64), 64));
    one(
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
    one(body, 64, 32, "// left");
    // A barrier for the remaining threads.
    let body = "setp.ge.u32 %p1, %t, 64;
        @%p1 bra end;
        bar.sync 1, 64;
        st.global.u32 [%mine], %t;
    end:";
    assert_silent(found(body, 96));
    // All barriers come first.
    let body = "bar.sync 0;
        setp.ge.u32 %p1, %t, 16;
        @%p1 bra end;
        st.global.u32 [%mine], %t;
    end:";
    assert_silent(found(body, 96));
}

#[test]
fn lanes_may_come_one_by_one_to_a_barrier_that_is_not_aligned() {
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
    assert_silent(found(&body("barrier.sync"), 32));
    let (findings, ptx) = found(&body("bar.sync"), 32);
    assert_eq!(findings.len(), 2, "{findings:#?}\n{ptx}");
    assert!(
        findings
            .iter()
            .all(|one| one.kind == FindingKind::DivergentBarrier)
    );
}

#[test]
fn a_loop_that_threads_leave_at_different_times() {
    let body = "mov.u32 %r1, 0;
    again:
        bar.sync 0; // here
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, %t;
        @%p1 bra again;
        st.global.u32 [%mine], %t;";
    // Threads 0 and 1 leave after the first iteration; the others wait for them forever.
    assert_one(found(body, 32), FindingKind::DivergentBarrier, Error, 2, 30);
    let body = body.replace("%t;", "5;");
    assert_silent(found(&body, 64));
}

#[test]
fn one_barrier_at_two_places() {
    let body = "setp.ge.u32 %p1, %t, 32;
        @%p1 bra second;
        bar.sync 0; // there
        bra meet;
    second:
        bar.sync 0; // here
    meet:
        st.global.u32 [%mine], %t;";
    let found_of = found(body, 64);
    let line = crate::line_of(&found_of.1, "// there");
    let finding = assert_one(found_of, FindingKind::MixedBarriers, Error, 32, 1);
    assert_eq!(finding.other.unwrap().source.ptx_line, line);
}

#[test]
fn barriers_that_can_not_open_or_do_not_exist() {
    let body = "setp.ge.u32 %p1, %t, 32;
        @%p1 bra past;
        bar.sync 1, 64; // here
    past:
        st.global.u32 [%mine], %t;";
    let finding = assert_one(found(body, 64), FindingKind::BarrierNeverOpens, Error, 0, 1);
    assert!(finding.details.contains("never opens"), "{finding}");
    assert_one(
        found("bar.sync 0, 33; // here", 64),
        FindingKind::InvalidBarrier,
        Error,
        0,
        1,
    );
}

#[test]
fn masks_and_who_comes() {
    let shuffle = |mask: &str| {
        format!(
            "setp.ge.u32 %p1, %t, 16;
        @%p1 bra past;
        shfl.sync.down.b32 %r1, %t, 8, 31, {mask}; // here
    past:
        st.global.u32 [%mine], %t;"
        )
    };
    assert_one(
        found(&shuffle("-1"), 32),
        FindingKind::AbsentLanes,
        Error,
        0,
        16,
    );
    assert_silent(found(&shuffle("0xffff"), 32));
    let finding = assert_one(
        found(&shuffle("0xff"), 32),
        FindingKind::MaskLacksCaller,
        Error,
        8,
        8,
    );
    assert!(finding.details.contains("lanes 8 to 15"), "{finding}");
    // A warp that was partial from the start.
    assert_silent(found("vote.sync.ballot.b32 %r1, 1, -1;", 20));
    // Lanes that have exited.
    let ended = "setp.ge.u32 %p1, %t, 16; @%p1 exit;
        vote.sync.ballot.b32 %r1, 1, -1; // here";
    assert_one(found(ended, 32), FindingKind::AbsentLanes, Warning, 0, 16);
    let ended = ended.replace(
        "vote.sync.ballot.b32 %r1, 1, -1; // here",
        "bar.warp.sync -1;",
    );
    assert_silent(found(&ended, 32));
    let body = "setp.ge.u32 %p1, %t, 4;
        @%p1 bra past;
        bar.warp.sync -1; // here
    past:
        st.global.u32 [%mine], %t;";
    assert_one(found(body, 32), FindingKind::AbsentLanes, Error, 0, 28);
    // The lanes of the other branch reach another instruction with the same mask.
    let body = "setp.ge.u32 %p1, %t, 4;
        @%p1 bra other;
        bar.warp.sync -1;
        bra meet;
    other:
        bar.warp.sync -1;
    meet:
        st.global.u32 [%mine], %t;";
    assert_silent(found(body, 32));
}

#[test]
fn shuffles_of_one_warp_at_two_places() {
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
    let all = found(&halves(3), 32);
    assert!(
        all.0
            .iter()
            .all(|finding| finding.kind == FindingKind::AbsentLanes && finding.severity == Warning),
        "{:?}",
        all.0
    );
    assert_eq!(all.0.len(), 2);
    // From a lane of the other half, which provides no value here.
    let all = found(&halves(17), 32);
    let asked = |finding: &&cuda_sim::check::Finding| finding.kind == FindingKind::ShuffleFromAbsentLane;
    let asked: Vec<_> = all.0.iter().filter(asked).collect();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].severity, asked[0].count), (Error, 16));
}

/// Checks a shuffle of half a warp in the given form, followed by `use_result`.
fn half_shuffles(form: &str, then: &str) -> (Vec<cuda_sim::check::Finding>, String) {
    found(
        &format!(
            "ld.global.u32 %r2, [%out];
        setp.ge.u32 %p1, %t, 16;
        @%p1 bra past;
        {form} // here
        {then}
    past:
        st.global.u32 [%mine], %r2;"
        ),
        32,
    )
}

#[test]
fn a_shuffle_from_lanes_that_take_no_part() {
    let kind = FindingKind::ShuffleFromAbsentLane;
    let sync = |of: (Vec<_>, String)| crate::only(of, kind);
    let add = "add.u32 %r2, %r2, %r1;";
    let shuffle = |mode: &str, by: &str, clamp: u32| {
        format!("shfl.sync.{mode}.b32 %r1, %t, {by}, {clamp}, 0xffff;")
    };
    let with = |mode: &str, by: &str, clamp: u32, then: &str| {
        sync(half_shuffles(&shuffle(mode, by, clamp), then))
    };
    // All lanes read from absent lanes.
    let finding = assert_one(with("down", "16", 31, add), kind, Error, 0, 16);
    assert!(finding.details.contains("lanes 0 to 15"), "{finding}");
    assert_one(with("bfly", "16", 31, add), kind, Error, 0, 16);
    // Lanes 8 to 15 read from absent lanes.
    let next = "add.u32 %r3, %t, 8; ";
    let by_number = |then: &str| {
        let form = format!("{next}{}", shuffle("idx", "%r3", 31));
        sync(half_shuffles(&form, then))
    };
    assert_one(by_number(add), kind, Warning, 8, 8);
    assert_one(
        by_number("st.global.u32 [%mine+128], %r1;"),
        kind,
        Warning,
        8,
        8,
    );
    assert_one(
        by_number("setp.gt.u32 %p2, %r1, 3; selp.u32 %r2, %r1, %r2, %p2;"),
        kind,
        Warning,
        8,
        8,
    );
    // Every lane reads within the mask.
    assert_silent(with("down", "8", 0x100f, add));
    assert_silent(with("bfly", "8", 31, add));
    assert_silent(with("idx", "5", 31, add));
    // A tree reduction: the upper lanes read beyond the mask, and their results are never used.
    assert_silent(with("down", "8", 31, add));
    // The lanes that read from absent lanes do not use the result.
    let chosen = "setp.lt.u32 %p2, %t, 8; add.u32 %r4, %r2, %r1; selp.u32 %r2, %r4, %r2, %p2;";
    assert_silent(by_number(chosen));
    assert_silent(by_number(
        "setp.lt.u32 %p2, %t, 8; @%p2 add.u32 %r2, %r2, %r1;",
    ));
    let branch = "setp.ge.u32 %p2, %t, 8; @%p2 bra past; add.u32 %r2, %r2, %r1;";
    assert_silent(by_number(branch));
}
