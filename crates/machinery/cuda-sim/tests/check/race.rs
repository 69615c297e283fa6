//! Accesses of shared memory that nothing orders, and of device memory by several blocks.

use crate::harness::{Machine, module_of};
use crate::{assert_one, assert_silent, checking, found, kernel_of, line_of, only, params};
use Severity::{Error, Warning};
use cuda_sim::check::{Finding, FindingKind, Severity};

/// Threads with a tile of 256 words: `%own` is the address of their own word, `%next` of the word
/// `far` further on, around the end.
fn tile(far: u32, body: &str) -> String {
    format!(
        ".shared .align 16 .b32 tile[256];
        .reg .b64 %own, %next;
        mov.u64 %d1, tile;
        mad.wide.u32 %own, %t, 4, %d1;
        add.u32 %r1, %t, {far};
        mov.u32 %r3, %ntid.x;
        rem.u32 %r1, %r1, %r3;
        mad.wide.u32 %next, %r1, 4, %d1;
        {body}
        st.global.u32 [%mine], %r2;"
    )
}

fn words(findings: &[Finding]) -> Vec<(FindingKind, Severity)> {
    findings
        .iter()
        .map(|one| (one.kind, one.severity))
        .collect()
}

#[test]
fn a_read_before_the_barrier() {
    let body = "st.shared.u32 [%own], %t; // there
        ld.shared.u32 %r2, [%next]; // here";
    // Thread t reads what thread t + 32 writes, or has yet to write: warps run in order. That
    // nobody has written it when it is read is a matter of that order.
    let all = found(&tile(32, body), 64);
    assert_eq!(
        words(&all.0),
        [
            (FindingKind::ReadAfterWrite, Error),
            (FindingKind::WriteAfterRead, Error)
        ]
    );
    let there = line_of(&all.1, "// there");
    let of = only(all, FindingKind::ReadAfterWrite);
    let finding = assert_one(of, FindingKind::ReadAfterWrite, Error, 32, 32);
    let other = finding.other.clone().expect("the write");
    assert_eq!(
        (other.source.ptx_line, other.thread, other.write),
        (there, [0, 0, 0], true)
    );
    assert!(
        finding
            .what
            .contains("4 bytes at offset 0x0 of shared memory"),
        "{finding}"
    );
    let right = body.replace("// there", "\nbar.sync 0;");
    assert_silent(found(&tile(32, &right), 64));
    assert_silent(found(&tile(32, &right), 100));
}

#[test]
fn a_write_before_others_have_read() {
    let body = |between: &str| {
        format!(
            "st.shared.u32 [%own], %t;
        bar.sync 0;
        ld.shared.u32 %r2, [%next]; // there
        {between}
        st.shared.u32 [%own], %r2; // here"
        )
    };
    let of = only(found(&tile(32, &body("")), 64), FindingKind::WriteAfterRead);
    let there = line_of(&of.1, "// there");
    let finding = assert_one(of, FindingKind::WriteAfterRead, Error, 32, 32);
    let other = finding.other.expect("the read");
    assert_eq!(
        (other.source.ptx_line, other.thread, other.write),
        (there, [0, 0, 0], false)
    );
    assert_silent(found(&tile(32, &body("bar.sync 0;")), 64));
    assert_silent(found(&tile(32, &body("bar.sync 0, 64;")), 64));
}

#[test]
fn all_read_one_word_before_it_is_written() {
    let body = "setp.ne.u32 %p1, %t, 0;
        @!%p1 st.shared.u32 [tile], 7; // there
        ld.shared.u32 %r2, [tile]; // here";
    let (findings, _) = found(&tile(0, body), 96);
    assert_eq!(
        words(&findings),
        [
            (FindingKind::ReadAfterWrite, Error),
            (FindingKind::ReadAfterWrite, Warning)
        ]
    );
    assert_eq!((findings[0].count, findings[1].count), (64, 31));
    let right = body.replace("// there", "\nbar.sync 0;");
    assert_silent(found(&tile(0, &right), 96));
}

#[test]
fn two_writers() {
    let store = |value: &str| tile(0, &format!("st.shared.u32 [tile+8], {value}; // here"));
    assert_silent(found(&store("5"), 64));
    let (findings, ptx) = found(&store("%t"), 64);
    assert_eq!(
        words(&findings),
        [
            (FindingKind::WriteAfterWrite, Error),
            (FindingKind::OneStore, Error)
        ]
    );
    let line = line_of(&ptx, "// here");
    assert!(findings.iter().all(|one| one.source.ptx_line == line));
    // Lanes that are not neighbours.
    let body = "and.b32 %r1, %t, 7; mad.wide.u32 %d2, %r1, 4, %d1;
        st.shared.u32 [%d2], %t; // here";
    assert_one(
        found(&tile(0, body), 32),
        FindingKind::OneStore,
        Error,
        8,
        24,
    );
    let body = body.replace("%t; // here", "%r1;");
    assert_silent(found(&tile(0, &body), 32));
}

#[test]
fn lanes_of_a_warp_do_not_wait_for_each_other() {
    let body = |between: &str| {
        format!(
            "st.shared.u32 [%own], %t;
        {between}
        ld.shared.u32 %r2, [%next]; // here"
        )
    };
    let of = found(&tile(1, &body("")), 32);
    assert_one(of, FindingKind::ReadAfterWrite, Warning, 0, 32);
    for between in [
        "bar.warp.sync -1;",
        "bar.sync 0;",
        "bar.sync 1, 32;",
        "shfl.sync.idx.b32 %r4, %t, 0, 31, -1;",
    ] {
        assert_silent(found(&tile(1, &body(between)), 32));
    }
    // In a launch of which only a part is counted as well.
    let ptx = kernel_of(&tile(1, &body("bar.sync 0;"))).replace("st.global", "// st.global");
    let mut machine = checking(&ptx);
    let out = machine.out::<u32>(32);
    assert_eq!(machine.run("k", 100, 32, params![out]).findings, []);
    // Half of the warp.
    let of = found(
        &tile(
            1,
            &body("setp.ge.u32 %p1, %t, 16; @%p1 bra past; bar.warp.sync 0xffff; past:"),
        ),
        32,
    );
    assert_one(of, FindingKind::ReadAfterWrite, Warning, 15, 17);
}

#[test]
fn counted_barriers_order_those_that_come() {
    // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
    let body = |far: u32| {
        tile(
            far,
            "shr.u32 %r4, %t, 6;
        add.u32 %r4, %r4, 1;
        st.shared.u32 [%own], %t;
        bar.sync %r4, 64;
        ld.shared.u32 %r2, [%next]; // here",
        )
    };
    // The second warp of each pair reads what the other pair writes.
    let of = found(&body(32), 128);
    assert_one(of, FindingKind::ReadAfterWrite, Error, 32, 64);
    let of = found(&body(64), 128);
    assert_one(of, FindingKind::ReadAfterWrite, Error, 0, 128);
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
    assert_silent(found(&tile(32, body), 64));
    let late = body.replace(
        "bar.arrive 1, 64;",
        "bar.arrive 1, 64; st.shared.u32 [%own], 5; // there",
    );
    let (findings, _) = found(&tile(32, &late), 64);
    assert_eq!(words(&findings), [(FindingKind::ReadAfterWrite, Error)]);
}

#[test]
fn atomics_do_not_race_with_atomics() {
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
    assert_silent(found(&body("bar.sync 0;"), 96));
    let (findings, ptx) = found(&body("bar.warp.sync -1;"), 96);
    let wrong = findings
        .iter()
        .find(|one| one.kind == FindingKind::WriteAfterWrite);
    let wrong = wrong.unwrap_or_else(|| panic!("{findings:#?}\n{ptx}"));
    assert_eq!(wrong.severity, Error);
}

#[test]
fn a_fence_and_a_flag_order_two_warps() {
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
    assert_silent(found(&body("membar.cta;"), 64));
    let of = found(&body(""), 64);
    assert_one(of, FindingKind::ReadAfterWrite, Error, 32, 32);
}

#[test]
fn narrow_and_wide_accesses_overlap() {
    let body = "st.shared.u32 [%own], %t;
        bar.sync 0;
        mov.b64 %d2, tile; cvt.u64.u32 %d3, %t; add.s64 %d2, %d2, %d3;
        setp.ge.u32 %p1, %t, 32;
        @%p1 st.shared.u8 [%d2], 1;
        @!%p1 ld.shared.v2.u32 {%r2, %r4}, [tile+40]; // there";
    let (findings, _) = found(&tile(0, body), 64);
    assert_eq!(words(&findings), [(FindingKind::WriteAfterRead, Error)]);
    assert_eq!((findings[0].count, findings[0].thread), (8, [40, 0, 0]));
    let body = body.replace("tile+40", "tile+64");
    assert_silent(found(&tile(0, &body), 64));
}

#[test]
fn asynchronous_copies_are_waited_for() {
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
    for right in [
        "cp.async.wait_all; bar.sync 0;",
        "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;",
    ] {
        assert_silent(found(&body(right), 64));
    }
    for (wrong, kind) in [
        ("bar.sync 0;", FindingKind::CopyNotAwaited),
        (
            "cp.async.wait_group 0; bar.sync 0;",
            FindingKind::CopyNotAwaited,
        ),
        (
            "cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;",
            FindingKind::CopyNotAwaited,
        ),
        (
            "bar.sync 0; cp.async.wait_all;",
            FindingKind::ReadAfterWrite,
        ),
    ] {
        let (findings, ptx) = found(&body(wrong), 64);
        assert_eq!(findings[0].kind, kind, "{wrong}: {findings:#?}\n{ptx}");
        assert_eq!(findings[0].source.ptx_line, line_of(&ptx, "// here"));
    }
    // What is on its way when a block ends is nothing to the next one.
    let ptx = kernel_of(&body("").replace("ld.shared.u32 %r2, [%next]; // here", ""));
    let ptx = ptx.replace("st.global.u32 [%mine], %r2;", "");
    let mut machine = checking(&ptx);
    machine.use_threads(1);
    let out = machine.out::<u32>(64);
    assert_eq!(machine.run("k", 20, 64, params![out]).findings, []);
}

/// Blocks of 32 threads that have `%g`, the thread's number in the grid, and `%at`, its word.
fn grid(body: &str) -> String {
    module_of(
        "",
        &format!(
            ".reg .b32 %g;
        .reg .b64 %at;
        mov.u32 %r1, %ctaid.x;
        mad.lo.u32 %g, %r1, 32, %t;
        mad.wide.u32 %at, %g, 4, %out;
        {body}"
        ),
    )
}

fn found_in_grid(body: &str, blocks: u32, threads: usize) -> (Vec<Finding>, String) {
    let ptx = grid(body);
    (found_of(&ptx, blocks, threads), ptx)
}

fn found_of(ptx: &str, blocks: u32, threads: usize) -> Vec<Finding> {
    let mut machine = checking(ptx);
    machine.use_threads(threads);
    let out = machine.buffer(&vec![0u32; blocks as usize * 32 + 64]);
    machine.run("k", blocks, 32, params![out]).findings
}

#[test]
fn blocks_that_use_the_same_device_memory() {
    let in_place = "ld.global.u32 %r2, [%at+4]; // there
        st.global.u32 [%at], %r2; // here";
    for threads in [1, 2, 5] {
        // Lanes of a warp do it too.
        let of = found_in_grid(in_place, 40, threads);
        let of = only(of, FindingKind::BetweenBlocks);
        let there = line_of(&of.1, "// there");
        let finding = assert_one(of, FindingKind::BetweenBlocks, Warning, 0, 39);
        assert_eq!(finding.block, [1, 0, 0]);
        let other = finding.other.clone().expect("the read");
        assert_eq!(
            (other.block, other.source.ptx_line, other.write),
            ([0, 0, 0], there, false)
        );
        assert!(
            finding
                .what
                .contains("byte 128 of the 5376-byte allocation"),
            "{finding}"
        );
    }
    let sum = "ld.global.u32 %r2, [%out]; add.u32 %r2, %r2, 1; st.global.u32 [%out], %r2; // here";
    let of = only(found_in_grid(sum, 40, 2), FindingKind::BetweenBlocks);
    let finding = assert_one(of, FindingKind::BetweenBlocks, Warning, 0, 1);
    let other = finding.other.expect("another block");
    assert_eq!(
        (finding.block, other.block, other.write),
        ([0; 3], [39, 0, 0], true)
    );
    // A fence that nobody calls, and one that nothing follows by which others could know of it.
    let unused = ".visible .entry unused() { membar.gl; ret; }";
    let ptx = grid(sum).replace(".visible .entry k", &format!("{unused}\n.visible .entry k"));
    let of = only((found_of(&ptx, 40, 2), ptx), FindingKind::BetweenBlocks);
    assert_one(of, FindingKind::BetweenBlocks, Warning, 0, 1);
    let of = found_in_grid(&format!("{sum}\nmembar.gl;"), 40, 2);
    assert_one(
        only(of, FindingKind::BetweenBlocks),
        FindingKind::BetweenBlocks,
        Warning,
        0,
        1,
    );
    for right in [
        "ld.global.u32 %r2, [%at]; st.global.u32 [%at], %r2;",
        "red.global.add.u32 [%out], 1;",
        "ld.global.u32 %r2, [%out+5124];",
        "st.global.u32 [%at], %r2; ld.global.u32 %r2, [%at];",
    ] {
        assert_silent(found_in_grid(right, 40, 2));
    }
    // One block has nobody to race with but its own threads.
    let of = found_in_grid(in_place, 1, 1);
    assert_one(of, FindingKind::WriteAfterRead, Warning, 1, 31);
}

#[test]
fn blocks_that_order_themselves() {
    // Every block writes a word of its own and counts up; the last one reads all.
    let body = |fence: &str| {
        format!(
            "setp.ne.u32 %p1, %t, 0;
        @%p1 bra done;
        st.global.u32 [%at], %r1; // here
        {fence}
        atom.global.add.u32 %r3, [%out+1280], 1;
        setp.ne.u32 %p1, %r3, 9;
        @%p1 bra done;
        membar.gl;
        ld.global.u32 %r4, [%out]; // there
    done:"
        )
    };
    assert_silent(found_in_grid(&body("membar.gl;"), 10, 2));
    let of = found_in_grid(&body(""), 10, 2);
    let there = line_of(&of.1, "// there");
    let finding = assert_one(of, FindingKind::BetweenBlocks, Warning, 0, 1);
    let other = finding.other.expect("the read");
    assert_eq!((finding.block, other.block), ([0; 3], [9, 0, 0]));
    assert_eq!((other.source.ptx_line, other.write), (there, false));
}

/// The kinds and lines of what is found in a grid, in order.
fn lines_in_grid(body: &str, blocks: u32) -> Vec<(FindingKind, u32)> {
    let (findings, _) = found_in_grid(body, blocks, 2);
    let all = findings.iter();
    all.map(|one| (one.kind, one.source.ptx_line)).collect()
}

/// Only the first thread of a block does this.
fn first_thread(body: &str) -> String {
    format!(
        "setp.ne.u32 %p1, %t, 0;
        @%p1 bra done;
        {body}
    done:"
    )
}

#[test]
fn what_a_fence_in_a_block_orders_is_not_ordered_for_other_blocks() {
    let body = |fence: &str| {
        first_thread(&format!(
            "st.global.u32 [%at], %r1;
        {fence}
        atom.global.add.u32 %r3, [%out+1280], 1;
        setp.ne.u32 %p1, %r3, 9;
        @%p1 bra done;
        ld.global.u32 %r4, [%out];"
        ))
    };
    let kinds = |fence| lines_in_grid(&body(fence), 10).len();
    assert_eq!(
        ["membar.gl;", "fence.acq_rel.gpu;", "membar.sys;"].map(kinds),
        [0; 3]
    );
    assert_eq!(["membar.cta;", "fence.acq_rel.cta;"].map(kinds), [1; 2]);
    // What releases needs no fence.
    let body = body("").replace("atom.global", "atom.acq_rel.gpu.global");
    assert_eq!(lines_in_grid(&body, 10), []);
}

#[test]
fn a_lock_orders_blocks_and_what_is_done_beside_it_is_not() {
    // The lock is at word 1280, what it protects at word 1288.
    let body = |take: &str, inside: &str, give: &str| {
        first_thread(&format!(
            "again:
        {take}
        setp.ne.u32 %p1, %r3, 0;
        @%p1 bra again;
        membar.gl;
        {inside}
        {give}"
        ))
    };
    let cas = "atom.global.cas.b32 %r3, [%out+1280], 0, 1;";
    let plain =
        "ld.global.u32 %r4, [%out+1288]; add.u32 %r4, %r4, 1; st.global.u32 [%out+1288], %r4;";
    let give = "membar.gl; atom.global.exch.b32 %r5, [%out+1280], 0;";
    let volatile = plain.replace("global", "volatile.global");
    for (take, inside, give) in [
        (cas, plain, give),
        (cas, &*volatile, give),
        (
            cas,
            plain,
            "membar.gl; st.volatile.global.u32 [%out+1280], 0;",
        ),
        (cas, plain, "st.release.gpu.global.u32 [%out+1280], 0;"),
        ("atom.global.exch.b32 %r3, [%out+1280], 1;", plain, give),
    ] {
        let found = lines_in_grid(&body(take, inside, give), 10);
        assert_eq!(found, [], "{take} {inside} {give}");
    }
    // No fence before it is given back; done after that; no lock at all.
    let late = format!("{give} {plain}");
    for wrong in [
        body(cas, plain, "atom.global.exch.b32 %r5, [%out+1280], 0;"),
        body(cas, &volatile, "atom.global.exch.b32 %r5, [%out+1280], 0;"),
        body(cas, "", &late),
        first_thread(&format!("membar.gl; {plain} membar.gl;")),
        first_thread(&format!("membar.gl; {volatile} membar.gl;")),
    ] {
        let found = lines_in_grid(&wrong, 10);
        assert!(!found.is_empty(), "{wrong}");
        assert!(
            found.iter().all(|one| one.0 == FindingKind::BetweenBlocks),
            "{found:?} {wrong}"
        );
    }
}

#[test]
fn a_lock_orders_the_threads_of_a_block() {
    // Three lanes of each warp take the lock, at word 0, and count up word 8.
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

#[test]
fn volatile_accesses_are_no_atomics() {
    let sum = "ld.volatile.global.u32 %r2, [%out];
        add.u32 %r2, %r2, 1;
        st.volatile.global.u32 [%out], %r2; // here";
    // By several blocks, and by several warps of one.
    let of = found_in_grid(&first_thread(sum), 10, 2);
    let line = line_of(&of.1, "// here");
    assert!(!of.0.is_empty(), "{}", of.1);
    assert!(
        of.0.iter()
            .all(|one| { (one.kind, one.source.ptx_line) == (FindingKind::BetweenBlocks, line) })
    );
    let by_warps = |body: &str| {
        found(
            &format!(
                "and.b32 %r1, %t, 31;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra done;
        shr.u32 %r6, %t, 5;
        {body}
    done:"
            ),
            96,
        )
    };
    let (findings, ptx) = by_warps(sum);
    assert!(
        words(&findings).contains(&(FindingKind::WriteAfterWrite, Error)),
        "{findings:#?}\n{ptx}"
    );
    // An exchange of what was read before by an atomic.
    let split = "atom.global.or.b32 %r2, [%out], 0;
        add.u32 %r2, %r2, 1;
        atom.global.exch.b32 %r3, [%out], %r2;";
    assert!(!lines_in_grid(&first_thread(split), 10).is_empty());
    let (findings, ptx) = by_warps(split);
    assert!(
        words(&findings).contains(&(FindingKind::WriteAfterWrite, Error)),
        "{findings:#?}\n{ptx}"
    );
    // Flags: all that is ever stored there is one value, whoever looks at them.
    let flag = "ld.volatile.global.u32 %r2, [%out];
        setp.eq.u32 %p1, %r2, 5;
        @%p1 bra done;
        st.volatile.global.u32 [%out], 5;";
    assert_eq!(lines_in_grid(&first_thread(flag), 10), []);
    assert_silent(by_warps(flag));
    // One after the other, each waits for its turn.
    let turn = |own: &str| {
        format!(
            "wait:
        ld.volatile.global.u32 %r2, [%out];
        setp.ne.u32 %p1, %r2, {own};
        @%p1 bra wait;
        membar.gl;
        add.u32 %r2, %r2, 1;
        st.volatile.global.u32 [%out], %r2;"
        )
    };
    let body = first_thread(&format!("mov.u32 %r7, %ctaid.x; {}", turn("%r7")));
    assert_eq!(lines_in_grid(&body, 10), []);
    // What is there before the launch is not zero.
    let first = u32::from_ne_bytes([crate::harness::POISON; 4]);
    let body = format!("add.u32 %r6, %r6, {first}; {}", turn("%r6"));
    assert_silent(by_warps(&body));
}

#[test]
fn a_loop_over_volatile_memory_waits_for_nobody() {
    // The block that comes last adds up what all have stored, at words 0, 1, 2.
    let body = |fence: &str| {
        first_thread(&format!(
            "mov.u32 %r1, %ctaid.x;
        mad.wide.u32 %d1, %r1, 4, %out;
        st.volatile.global.u32 [%d1], %r1; // here
        {fence}
        atom.global.add.u32 %r3, [%out+1280], 1;
        setp.ne.u32 %p1, %r3, 9;
        @%p1 bra done;
        mov.u64 %d2, %out;
        mov.u32 %r4, 0;
    again:
        ld.volatile.global.u32 %r5, [%d2]; // there
        add.s64 %d2, %d2, 4;
        add.u32 %r4, %r4, 1;
        setp.lt.u32 %p1, %r4, 10;
        @%p1 bra again;"
        ))
    };
    assert_silent(found_in_grid(&body("membar.gl;"), 10, 2));
    let of = found_in_grid(&body(""), 10, 2);
    let there = line_of(&of.1, "// there");
    let finding = assert_one(of, FindingKind::BetweenBlocks, Warning, 0, 9);
    assert_eq!(finding.other.expect("the read").source.ptx_line, there);
}

#[test]
fn volatile_shared_memory_is_not_in_order_by_itself() {
    let body = |between: &str| {
        format!(
            "st.volatile.shared.u32 [%own], %t; // there
        {between}
        ld.volatile.shared.u32 %r2, [%next]; // here"
        )
    };
    // Of other warps.
    let all = found(&tile(32, &body("")), 64);
    let of = only(all, FindingKind::ReadAfterWrite);
    assert_one(of, FindingKind::ReadAfterWrite, Error, 32, 32);
    // Of other lanes.
    let of = found(&tile(1, &body("")), 32);
    assert_one(of, FindingKind::ReadAfterWrite, Warning, 0, 32);
    assert_silent(found(&tile(32, &body("bar.sync 0;")), 64));
    assert_silent(found(&tile(1, &body("bar.warp.sync -1;")), 32));
}

/// Threads that have `%next`, the address of the word of output `far` further on, around the end.
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
    assert!(finding.what.contains("byte 0 of the 384-byte"), "{finding}");
    for right in ["bar.sync 0;", "bar.sync 1, 96;", "barrier.sync 0;"] {
        assert_silent(found(&ring(32, &body(right)), 96));
    }
    // A fence alone is no barrier, and one of a warp is none of the block.
    for wrong in ["membar.gl;", "bar.warp.sync -1;"] {
        let (findings, ptx) = found(&ring(32, &body(wrong)), 96);
        assert!(!findings.is_empty(), "{wrong}\n{ptx}");
    }
    // Read first, and written then.
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
    // Two write: the same value is no matter of chance.
    let two = |value: &str| found(&format!("st.global.u32 [%out+8], {value}; // here"), 64);
    assert_silent(two("5"));
    let (findings, ptx) = two("%t");
    assert_eq!(
        words(&findings),
        [
            (FindingKind::WriteAfterWrite, Error),
            (FindingKind::OneStore, Error)
        ],
        "{ptx}"
    );
    // Atomics, and each its own.
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
    // Each thread writes 40 lines of its own; 1024 threads are 40960 lines.
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
    // Only that three blocks do the same.
    assert_eq!(kinds(findings("")), [FindingKind::BetweenBlocks]);
    let late = "st.global.u32 [%out+4], %t;";
    assert!(kinds(findings(late)).contains(&FindingKind::WriteAfterWrite));
}

#[test]
fn what_is_found_does_not_depend_on_host_threads_nor_change_results() {
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
        let mut plain = Machine::new(&ptx);
        plain.profile = profile;
        plain.use_threads(1);
        let (_, wanted) = run(&mut plain);
        let mut findings: Option<Vec<Finding>> = None;
        for threads in [1, 2, 3] {
            let mut machine = checking(&ptx);
            machine.profile = profile;
            machine.use_threads(threads);
            let (_, report) = run(&mut machine);
            assert_eq!(report.counts, wanted.counts);
            assert_eq!(report.time, wanted.time);
            assert_eq!(report.profile, wanted.profile);
            assert!(!report.findings.is_empty());
            let first = findings.get_or_insert_with(|| report.findings.clone());
            assert_eq!(*first, report.findings);
        }
        assert!(wanted.findings.is_empty());
    }
}
