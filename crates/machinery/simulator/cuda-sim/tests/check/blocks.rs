//! Tests of race detection between blocks: unordered accesses to device memory, and the fences, atomics and
//! locks that order accesses.

use crate::*;

/// Returns a module whose kernel has the thread's index in the grid, `%g`, and the address of its word,
/// `%at`. Blocks have 32 threads.
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

fn check_grid(body: &str, blocks: u32, threads: usize) -> Checked {
    let ptx = grid(body);
    (check_grid_module(&ptx, blocks, threads), ptx)
}

fn check_grid_module(ptx: &str, blocks: u32, threads: usize) -> Vec<Finding> {
    let mut machine = checking_machine(ptx);
    machine.use_threads(threads);
    let out = machine.buffer(&vec![0u32; blocks as usize * 32 + 64]);
    machine.run("k", blocks, 32, params![out]).findings
}

#[test]
fn missing_fence_before_the_atomic_is_named() {
    // The block that finishes last reads what block 0 has written.
    let body = |write: &str, fence: &str| {
        format!(
            "setp.ne.u32 %p1, %t, 0;
        @%p1 bra end;
        {write}
        {fence}
        atom.global.add.u32 %r2, [%out+5120], 1;
        setp.ne.u32 %p1, %r2, 39;
        @%p1 bra end;
        ld.global.u32 %r3, [%out];
        st.global.u32 [%out+5124], %r3;
    end:"
        )
    };
    let write = "st.global.u32 [%at], 7; // here";
    check_grid(&body(write, "membar.gl;"), 40, 1).none();
    let finding = check_grid(&body(write, ""), 40, 1).single(InterBlockRace, Error, 0, 1);
    assert_eq!(finding.likely_cause, Some(Cause::MissingFence));
    // A write after the atomic is not announced by it.
    let (before, after) = ("", "atom.global.add.u32 %r2, [%out+5120], 1;");
    let late = body(before, "").replace(after, &format!("{after}\n{write}"));
    let finding = check_grid(&late, 40, 1).single(InterBlockRace, Error, 0, 1);
    assert_eq!(finding.likely_cause, Some(Cause::BlockOrder));
}

#[test]
fn atomics_of_block_scope_race_between_blocks() {
    // The first atomic leaves the order of blocks open; the result of the others makes blocks run one after the other.
    for atomic in [
        "red.SCOPE.global.add.u32 [WORD], 1; // here",
        "atom.SCOPE.global.add.u32 %r2, [WORD], 1; // here
        st.global.u32 [%at+256], %r2;",
        "atom.SCOPE.global.exch.b32 %r2, [WORD], 1; // here
        st.global.u32 [%at+256], %r2;",
        "atom.release.SCOPE.global.add.u32 %r2, [WORD], 1; // here
        st.global.u32 [%at+256], %r2;",
    ] {
        let check = |scope: &str, word: &str| {
            let body = atomic.replace("SCOPE", scope).replace("WORD", word);
            check_grid(&body, 2, 1)
        };
        check("gpu", "%out").none();
        check("cta", "%at").none();
        let (findings, _) = check("cta", "%out");
        let causes = findings
            .iter()
            .map(|finding| (finding.kind, finding.severity, &finding.likely_cause));
        let expected = (InterBlockRace, Error, &Some(Cause::BlockScope));
        assert_eq!(causes.collect::<Vec<_>>(), [expected], "{atomic}");
    }
}

#[test]
fn ordered_accesses_of_block_scope_do_not_order_blocks() {
    // Each block hands a value to the next one. The atomic makes the blocks run one after the other.
    let body = |scope: &str| {
        format!(
            "setp.ne.u32 %p1, %t, 0;
        @%p1 bra end;
        mov.u32 %r3, %ctaid.x;
        setp.ne.u32 %p2, %r3, 0;
        @%p2 bra wait;
        st.global.u32 [%out+8], 7; // here
        st.release.{scope}.global.u32 [%out], 1;
        bra.uni end;
    wait:
        ld.acquire.{scope}.global.u32 %r2, [%out]; // and here
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra wait;
        ld.global.u32 %r2, [%out+8];
        atom.global.add.u32 %r3, [%out+12], %r2;
    end:"
        )
    };
    check_grid(&body("gpu"), 2, 1).none();
    let checked = check_grid(&body("cta"), 2, 1);
    let causes = checked
        .0
        .iter()
        .map(|finding| (finding.kind, &finding.likely_cause));
    assert!(
        causes
            .clone()
            .any(|cause| cause == (InterBlockRace, &Some(Cause::BlockScope))),
        "{:?}",
        causes.collect::<Vec<_>>()
    );
}

#[test]
fn grid_barrier_of_one_thread_per_block_is_a_barrier() {
    // Thread 0 counts and waits; the rest of its warp reaches the barrier long before it.
    let body = "st.global.u32 [%at+4], %t;
        bar.sync 0;
        setp.ne.u32 %p1, %t, 0;
        @%p1 bra met;
        membar.gl;
        atom.global.add.u32 %r2, [%out], 1;
    wait:
        atom.global.add.u32 %r2, [%out], 0;
        setp.lt.u32 %p2, %r2, 4;
        @%p2 bra wait;
        membar.gl;
    met:
        bar.sync 0;
        sub.u32 %r3, 127, %g;
        mad.wide.u32 %d1, %r3, 4, %out;
        ld.global.u32 %r2, [%d1+4];";
    check_grid(body, 4, 1).none();
}

#[test]
fn unordered_accesses_by_several_blocks_are_reported() {
    let in_place = "ld.global.u32 %r2, [%at+4]; // there
        st.global.u32 [%at], %r2; // here";
    for threads in [1, 2, 5] {
        // The lanes of a warp race with each other too, so other kinds of findings are ignored.
        let result = check_grid(in_place, 40, threads);
        let result = result.only(InterBlockRace);
        let other_line = line_of(&result.1, "// there");
        let finding = result.single(InterBlockRace, Error, 0, 39);
        assert_eq!(finding.block, [1, 0, 0]);
        let other = finding.other.clone().expect("the other access is missing");
        assert_eq!(
            (other.block, other.source.ptx_line, other.write),
            ([0, 0, 0], other_line, false)
        );
        assert_contains(&finding.details, "byte 128 of the 5376-byte allocation");
    }
    let sum = "ld.global.u32 %r2, [%out]; add.u32 %r2, %r2, 1; st.global.u32 [%out], %r2; // here";
    let result = check_grid(sum, 40, 2).only(InterBlockRace);
    let finding = result.single(InterBlockRace, Error, 0, 1);
    let other = finding.other.expect("the other access is missing");
    assert_eq!(
        (finding.block, other.block, other.write),
        ([0; 3], [39, 0, 0], true)
    );
    // A fence that no thread executes, and one that no later operation publishes.
    let unused = ".visible .entry unused() { membar.gl; ret; }";
    let ptx = grid(sum).replace(".visible .entry k", &format!("{unused}\n.visible .entry k"));
    let result = (check_grid_module(&ptx, 40, 2), ptx).only(InterBlockRace);
    result.single(InterBlockRace, Error, 0, 1);
    let result = check_grid(&format!("{sum}\nmembar.gl;"), 40, 2);
    result
        .only(InterBlockRace)
        .single(InterBlockRace, Error, 0, 1);
    for correct in [
        "ld.global.u32 %r2, [%at]; st.global.u32 [%at], %r2;",
        "red.global.add.u32 [%out], 1;",
        "ld.global.u32 %r2, [%out+5124];",
        "st.global.u32 [%at], %r2; ld.global.u32 %r2, [%at];",
    ] {
        check_grid(correct, 40, 2).none();
    }
    // A single block can race only between its own threads.
    let result = check_grid(in_place, 1, 1);
    result.single(WriteAfterRead, Warning, 1, 31);
}

#[test]
fn blocks_ordered_by_a_counter_are_not_reported() {
    // Every block writes a word of its own and increments a counter; the last one reads all words.
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
    check_grid(&body("membar.gl;"), 10, 2).none();
    let result = check_grid(&body(""), 10, 2);
    let other_line = line_of(&result.1, "// there");
    let finding = result.single(InterBlockRace, Error, 0, 1);
    let other = finding.other.expect("the other access is missing");
    assert_eq!((finding.block, other.block), ([0; 3], [9, 0, 0]));
    assert_eq!((other.source.ptx_line, other.write), (other_line, false));
}

/// Returns the kinds and lines of the findings in a grid, in order.
fn lines_in_grid(body: &str, blocks: u32) -> Vec<(FindingKind, u32)> {
    let (findings, _) = check_grid(body, blocks, 2);
    let all = findings.iter();
    all.map(|finding| (finding.kind, finding.source.ptx_line))
        .collect()
}

/// Returns code in which only the first thread of a block runs `body`.
fn first_thread(body: &str) -> String {
    format!(
        "setp.ne.u32 %p1, %t, 0;
        @%p1 bra done;
        {body}
    done:"
    )
}

#[test]
fn block_scope_fence_does_not_order_blocks() {
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
    // An atomic with release semantics needs no fence.
    let body = body("").replace("atom.global", "atom.acq_rel.gpu.global");
    assert_eq!(lines_in_grid(&body, 10), []);
}

#[test]
fn lock_orders_blocks_and_accesses_outside_it_are_reported() {
    // The lock is word 1280, and the data it protects is word 1288.
    let body = |acquire: &str, body_in_lock: &str, release: &str| {
        first_thread(&format!(
            "again:
        {acquire}
        setp.ne.u32 %p1, %r3, 0;
        @%p1 bra again;
        membar.gl;
        {body_in_lock}
        {release}"
        ))
    };
    let cas = "atom.global.cas.b32 %r3, [%out+1280], 0, 1;";
    let increment =
        "ld.global.u32 %r4, [%out+1288]; add.u32 %r4, %r4, 1; st.global.u32 [%out+1288], %r4;";
    let release = "membar.gl; atom.global.exch.b32 %r5, [%out+1280], 0;";
    let volatile = increment.replace("global", "volatile.global");
    for (acquire, body_in_lock, release) in [
        (cas, increment, release),
        (cas, &*volatile, release),
        (
            cas,
            increment,
            "membar.gl; st.volatile.global.u32 [%out+1280], 0;",
        ),
        (cas, increment, "st.release.gpu.global.u32 [%out+1280], 0;"),
        (
            "atom.global.exch.b32 %r3, [%out+1280], 1;",
            increment,
            release,
        ),
    ] {
        let actual = lines_in_grid(&body(acquire, body_in_lock, release), 10);
        assert_eq!(actual, [], "{acquire} {body_in_lock} {release}");
    }
    // No fence before the release; an access after the release; no lock at all.
    let after_release = format!("{release} {increment}");
    for incorrect in [
        body(cas, increment, "atom.global.exch.b32 %r5, [%out+1280], 0;"),
        body(cas, &volatile, "atom.global.exch.b32 %r5, [%out+1280], 0;"),
        body(cas, "", &after_release),
        first_thread(&format!("membar.gl; {increment} membar.gl;")),
        first_thread(&format!("membar.gl; {volatile} membar.gl;")),
    ] {
        let actual = lines_in_grid(&incorrect, 10);
        assert!(!actual.is_empty(), "{incorrect}");
        assert!(
            actual.iter().all(|finding| finding.0 == InterBlockRace),
            "{actual:?} {incorrect}"
        );
    }
}

#[test]
fn volatile_accesses_are_not_atomic() {
    let sum = "ld.volatile.global.u32 %r2, [%out];
        add.u32 %r2, %r2, 1;
        st.volatile.global.u32 [%out], %r2; // here";
    // By several blocks, and by several warps of one block.
    let result = check_grid(&first_thread(sum), 10, 2);
    let line = line_of(&result.1, "// here");
    assert!(!result.0.is_empty(), "{}", result.1);
    assert!(
        result
            .0
            .iter()
            .all(|finding| { (finding.kind, finding.source.ptx_line) == (InterBlockRace, line) })
    );
    let by_warps = |body: &str| {
        check_kernel(
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
    by_warps(sum).include(WriteAfterWrite, Error);
    // An atomic read followed by an exchange is not one atomic operation.
    let split = "atom.global.or.b32 %r2, [%out], 0;
        add.u32 %r2, %r2, 1;
        atom.global.exch.b32 %r3, [%out], %r2;";
    assert!(!lines_in_grid(&first_thread(split), 10).is_empty());
    by_warps(split).include(WriteAfterWrite, Error);
    // A flag that is only ever set to one value is harmless, whichever thread reads it.
    let flag = "ld.volatile.global.u32 %r2, [%out];
        setp.eq.u32 %p1, %r2, 5;
        @%p1 bra done;
        st.volatile.global.u32 [%out], 5;";
    assert_eq!(lines_in_grid(&first_thread(flag), 10), []);
    by_warps(flag).none();
    // Threads wait in turn, each for the previous one.
    let wait_for_turn = |turn_number: &str| {
        format!(
            "wait:
        ld.volatile.global.u32 %r2, [%out];
        setp.ne.u32 %p1, %r2, {turn_number};
        @%p1 bra wait;
        membar.gl;
        add.u32 %r2, %r2, 1;
        st.volatile.global.u32 [%out], %r2;"
        )
    };
    let body = first_thread(&format!("mov.u32 %r7, %ctaid.x; {}", wait_for_turn("%r7")));
    assert_eq!(lines_in_grid(&body, 10), []);
    // The memory before the launch is not zero.
    let first = u32::from_ne_bytes([sim_machine::POISON; 4]);
    let body = format!("add.u32 %r6, %r6, {first}; {}", wait_for_turn("%r6"));
    by_warps(&body).none();
}

#[test]
fn accesses_that_name_an_order_are_atomic() {
    // A thread stores its number, and all others of the grid, or of the block, read it or the one before.
    let exchange = |load: &str, store: &str| {
        format!(
            "mov.u32 %r7, %ctaid.x;
        mad.lo.u32 %r7, %r7, 32, %t;
        setp.eq.u32 %p1, %r7, 40;
        @%p1 bra store;
        {load}.global.u32 %r2, [%out];
        bra done;
    store:
        {store}.global.u32 [%out], %r7;
    done:"
        )
    };
    for (load, store) in [
        ("ld.relaxed.gpu", "st.relaxed.gpu"),
        ("ld.acquire.gpu", "st.release.gpu"),
    ] {
        let body = exchange(load, store);
        assert_eq!(lines_in_grid(&body, 10), [], "{body}");
        check_kernel(&body, 96).none();
    }
    for (load, store) in [("ld.relaxed.gpu", "st"), ("ld", "st.relaxed.gpu")] {
        let body = exchange(load, store);
        assert!(!lines_in_grid(&body, 10).is_empty(), "{body}");
        let (findings, ptx) = check_kernel(&body, 96);
        assert!(!findings.is_empty(), "{ptx}");
    }
    // The threads of a warp do not run in lockstep.
    let (findings, ptx) = check_kernel(&exchange("ld.volatile", "st.volatile"), 64);
    assert!(!findings.is_empty(), "{ptx}");
    assert!(findings.iter().all(|finding| finding.severity == Warning));
}

#[test]
fn polling_at_the_level_2_cache_waits() {
    // Decoupled look-back, as in older versions of CUB: a block waits for its predecessor's sum and flag, in one word.
    let look_back = |load: &str, store: &str| {
        first_thread(&format!(
            ".reg .b64 %word;
        mov.u32 %r7, %ctaid.x;
        mov.u32 %r5, 1;
        setp.eq.u32 %p1, %r7, 0;
        @%p1 bra store;
        mul.wide.u32 %word, %r7, 8;
        add.u64 %word, %word, %out;
    wait:
        membar.cta;
        {load}.v2.u32 {{%r4, %r2}}, [%word+-8];
        setp.ne.u32 %p1, %r4, 1;
        @%p1 bra wait;
        add.u32 %r5, %r2, 2;
    store:
        mul.wide.u32 %word, %r7, 8;
        add.u64 %word, %word, %out;
        mov.u32 %r4, 1;
        {store}.v2.u32 [%word], {{%r4, %r5}};"
        ))
    };
    for (load, store) in [
        ("ld.global.cg", "st.global.cg"),
        ("ld.global.cv", "st.global.wt"),
        ("ld.volatile.global", "st.volatile.global"),
    ] {
        let body = look_back(load, store);
        assert_eq!(lines_in_grid(&body, 10), [], "{body}");
    }
    let body = look_back("ld.global.cg", "st.global");
    assert!(!lines_in_grid(&body, 10).is_empty(), "{body}");
}

#[test]
fn a_write_after_a_handshake_follows_the_reads_before_it() {
    // In place: a block reads its word and passes on, without a fence, that it has; the next block then overwrites the
    // first block's word.
    let pass_on = |read_before: bool, fence: &str| {
        let read = "ld.global.u32 %r2, [%at];";
        let (before, after) = if read_before { (read, "") } else { ("", read) };
        first_thread(&format!(
            "mov.u32 %r7, %ctaid.x;
        setp.ne.u32 %p1, %r7, 0;
        @%p1 bra wait;
        {before}
        {fence}
        st.volatile.global.u32 [%out+384], 1;
        {after}
        bra done;
    wait:
        ld.volatile.global.u32 %r4, [%out+384];
        setp.ne.u32 %p1, %r4, 1;
        @%p1 bra wait;
        st.global.u32 [%out], %r7;"
        ))
    };
    assert_eq!(lines_in_grid(&pass_on(true, ""), 2), []);
    assert_eq!(lines_in_grid(&pass_on(true, "membar.gl;"), 2), []);
    assert!(!lines_in_grid(&pass_on(false, ""), 2).is_empty());
}

#[test]
fn loop_over_volatile_memory_is_not_a_spin_loop() {
    // The last block sums the words that all blocks have stored, at words 0, 1, 2.
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
    check_grid(&body("membar.gl;"), 10, 2).none();
    let result = check_grid(&body(""), 10, 2);
    let other_line = line_of(&result.1, "// there");
    let finding = result.single(InterBlockRace, Error, 0, 9);
    assert_eq!(
        finding
            .other
            .expect("the other access is missing")
            .source
            .ptx_line,
        other_line
    );
}

/// Returns the kinds, severities and causes of the findings in a grid of 4 blocks of 32 threads.
fn verdicts_in_grid(body: &str) -> Vec<(FindingKind, Severity, Option<Cause>)> {
    let (findings, _) = check_grid(body, 4, 2);
    let findings = findings.into_iter();
    findings
        .map(|finding| (finding.kind, finding.severity, finding.likely_cause))
        .collect()
}

#[test]
fn blocks_that_set_a_flag_to_one_value_are_not_reported() {
    assert_eq!(verdicts_in_grid("st.global.u32 [%out+640], 1;"), []);
    // The same value, which is not a constant: one element that several blocks compute.
    let first = first_thread("ld.global.u32 %r2, [%out]; st.global.u32 [%out+640], %r2;");
    assert_eq!(verdicts_in_grid(&first), []);
    let same_index = "and.b32 %r2, %t, 7; mad.wide.u32 %d1, %r2, 4, %out;
        st.global.u32 [%d1], %r2; // here";
    let cause = Some(Cause::SameElementInBlocks);
    assert_eq!(
        verdicts_in_grid(same_index),
        [(InterBlockRace, Warning, cause.clone())]
    );
    // Different values.
    let different = first_thread("st.global.u32 [%out+640], %r1;");
    assert_eq!(
        verdicts_in_grid(&different),
        [(InterBlockRace, Error, cause)]
    );
}

#[test]
fn flag_that_other_blocks_only_test_is_a_warning() {
    // As in a breadth-first search: a level is set if it is unset.
    let level = |value: &str| {
        first_thread(&format!(
            "ld.global.u32 %r2, [%out];
        setp.eq.u32 %p1, %r2, 5;
        @%p1 bra done;
        st.global.u32 [%out], {value};"
        ))
    };
    let decides = Some(Cause::DecidesByFlag);
    assert_eq!(
        verdicts_in_grid(&level("5")),
        [(InterBlockRace, Warning, decides.clone())]
    );
    assert_eq!(
        verdicts_in_grid(&level("%r1")),
        [(InterBlockRace, Error, Some(Cause::BlockOrder))]
    );
    // In kernels whose blocks may observe each other.
    let ordered = |value: &str| {
        let counter = "atom.global.add.u32 %r3, [%out+640], 1; st.global.u32 [%out+644], %r3;";
        level(value).replace(
            "ld.global.u32 %r2, [%out];",
            &format!("{counter}\nld.global.u32 %r2, [%out];"),
        )
    };
    let severities = |body: &str| -> Vec<(Severity, Option<Cause>)> {
        let verdicts = verdicts_in_grid(body).into_iter();
        verdicts
            .map(|(_, severity, cause)| (severity, cause))
            .collect()
    };
    assert!(severities(&ordered("5")).contains(&(Warning, decides)));
    assert!(severities(&ordered("%r1")).contains(&(Error, Some(Cause::BlockOrder))));
}

#[test]
fn result_of_atomics_read_by_other_blocks_is_an_error() {
    let sum = first_thread(
        "atom.global.add.u32 %r2, [%out+640], 1;
        ld.global.u32 %r3, [%out+640];
        add.u32 %r3, %r3, %r2;
        st.global.u32 [%at], %r3;",
    );
    assert_eq!(
        verdicts_in_grid(&sum),
        [(InterBlockRace, Error, Some(Cause::ResultOfAtomics))]
    );
}

#[test]
fn neighbouring_bytes_of_blocks_that_synchronize_are_not_reported() {
    // Each block stores one byte, and counts.
    let body = |index: &str| {
        first_thread(&format!(
            "mov.u32 %r2, {index};
        cvt.u64.u32 %d1, %r2;
        add.s64 %d1, %d1, %out;
        st.global.u8 [%d1], %r2;
        atom.global.add.u32 %r3, [%out+640], 1;
        st.global.u32 [%at+4], %r3;"
        ))
    };
    assert_eq!(verdicts_in_grid(&body("%ctaid.y")), []);
    check_grid(&body("%ctaid.x"), 4, 2).none();
}

#[test]
fn racy_elements_are_counted_as_wide_as_they_are() {
    let wide =
        first_thread("ld.global.u64 %d2, [%out]; add.u64 %d2, %d2, 1; st.global.u64 [%out], %d2;");
    let narrow =
        ".reg .b16 %narrow; ld.global.u8 %narrow, [%out+648]; st.global.u8 [%at+4], %narrow;";
    for body in [wide.clone(), format!("{wide}\n{narrow}")] {
        let (findings, ptx) = check_grid(&body, 4, 2);
        let result = (findings, ptx).only(InterBlockRace).0;
        assert_eq!(result[0].count, 1, "{body}");
        assert_contains(&result[0].details, "8 bytes at");
    }
}
