//! Forward progress of threads that wait for each other by polling memory.

use crate::harness::*;
use cuda_sim::exec::{Fault, FaultKind, TimeLimit};
use std::time::{Duration, Instant};

const PTX: &str = include_str!("../../kernels/ptx/progress.ptx");

#[test]
fn lanes_wait_for_another_lane() {
    for block in [14, 32, 64] {
        let mut machine = Machine::new(PTX);
        let (flag, out) = (machine.buffer(&[0u32]), machine.out::<u32>(block as usize));
        machine.run("flag_in_warp", 1, block, params![flag, out]);
        let mut expected = vec![42; block as usize];
        expected[13] = 1;
        assert_eq!(machine.read::<u32>(out, block as usize), expected);
    }
}

#[test]
fn lanes_progress_while_others_spin() {
    for block in [2, 32, 40] {
        let mut machine = Machine::new(PTX);
        let (ticket, out) = (machine.buffer(&[0u32]), machine.out::<u32>(block as usize));
        machine.run("tickets", 1, block, params![ticket, out]);
        let expected: Vec<u32> = (0..block).map(|t| t * 2).collect();
        assert_eq!(machine.read::<u32>(out, block as usize), expected);
        assert_eq!(machine.read::<u32>(ticket, 1), [block]);
    }
}

#[test]
fn warp_waits_for_another_warp() {
    let mut machine = Machine::new(PTX);
    let (flag, out) = (machine.buffer(&[0u32]), machine.out::<u32>(64));
    machine.run("flag_of_warp", 1, 64, params![flag, out]);
    assert_eq!(machine.read::<u32>(out, 32), [1; 32]);
}

#[test]
fn block_waits_for_another_block() {
    let mut machine = Machine::new(PTX);
    machine.use_threads(1);
    let (flag, out) = (machine.buffer(&[0u32]), machine.out::<u32>(200));
    machine.run("flag_of_block", 200, 32, params![flag, out]);
    assert_eq!(machine.read::<u32>(out, 200), [5; 200]);
}

/// A grid of as many blocks as the modelled GPU has SMs is completely resident.
#[test]
fn resident_blocks_wait_for_each_other() {
    for blocks in [2, 132] {
        let mut machine = Machine::new(PTX);
        let (count, out) = (machine.buffer(&[0u32]), machine.out::<u32>(blocks));
        machine.run("grid_barrier", blocks as u32, 1, params![count, out]);
        assert_eq!(
            machine.read::<u32>(out, blocks),
            vec![blocks as u32; blocks]
        );
    }
}

#[test]
fn spin_locks_make_progress() {
    for kernel in ["spin_lock", "spin_lock_inside"] {
        for (grid, block) in [(1, 8), (2, 34)] {
            let mut machine = Machine::new(PTX);
            let (lock, sum) = (machine.buffer(&[0u32]), machine.buffer(&[0u32]));
            machine.run(kernel, grid, block, params![lock, sum]);
            let expected = grid * (1..=block).sum::<u32>();
            assert_eq!(
                machine.read::<u32>(sum, 1),
                [expected],
                "{kernel} {grid} × {block}"
            );
            assert_eq!(machine.read::<u32>(lock, 1), [0]);
        }
    }
}

#[test]
fn endless_kernel_is_stopped_at_its_time_limit() {
    let limit = Duration::from_millis(50);
    let endless = [
        "bra L; L: bra L;",
        "L: bar.sync 0; bra L;",
        "L: setp.lt.u32 %p1, %t, 3; @%p1 bra L;",
    ];
    let loops = endless.map(kernel_of);
    for (ptx, block) in loops.iter().flat_map(|ptx| [(ptx, 32), (ptx, 64)]) {
        let mut machine = Machine::new(ptx);
        machine.options.time_limit = Some(TimeLimit::Launch(limit));
        let out = machine.out::<u32>(64);
        let fault = machine.fault("k", 2, block, params![out]);
        assert_eq!(exceeded_limit(&fault), TimeLimit::Launch(limit));
    }
    let mut machine = Machine::new(PTX);
    machine.options.time_limit = Some(TimeLimit::Launch(limit));
    let flag = machine.buffer(&[0u32]);
    let fault = machine.fault("endless", 300, 32, params![flag]);
    assert_eq!(exceeded_limit(&fault), TimeLimit::Launch(limit));
}

/// A block's time slice is a million instructions of a warp, which may take seconds under profiling and checks.
#[test]
fn time_limit_is_checked_within_a_time_slice() {
    let ptx = kernel_of(
        "mov.u32 %r1, 0;
        L: add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, 100000;
        @%p1 bra L;",
    );
    for block in [32, 64] {
        let mut machine = Machine::new(&ptx);
        machine.options.time_limit = Some(TimeLimit::Launch(Duration::from_nanos(1)));
        let out = machine.out::<u32>(1);
        let fault = machine.fault("k", 1, block, params![out]);
        assert_eq!(exceeded_limit(&fault), machine.options.time_limit.unwrap());
    }
}

fn exceeded_limit(fault: &Fault) -> TimeLimit {
    match fault.kind {
        FaultKind::Timeout { limit, .. } => limit,
        ref other => panic!("unexpected fault: {other:?}"),
    }
}

#[test]
fn time_limit_is_checked_between_blocks() {
    for threads in [1, 2] {
        let mut machine = Machine::new(&kernel_of(""));
        machine.use_threads(threads);
        machine.options.time_limit = Some(TimeLimit::Launch(Duration::from_millis(50)));
        let out = machine.out::<u32>(32);
        let start = Instant::now();
        let fault = machine.fault("k", 200_000_000, 32, params![out]);
        assert_eq!(exceeded_limit(&fault), machine.options.time_limit.unwrap());
        // Running all blocks would take ten times as long, even on the fastest machine.
        assert!(start.elapsed() < Duration::from_secs(2));
    }
}

#[test]
fn timeout_names_kernel_block_warp_and_line() {
    let ptx = kernel_of(
        "mov.u32 %r1, %ctaid.x;
        setp.eq.u32 %p1, %r1, 3;
        setp.ge.u32 %p2, %t, 69;
        and.pred %p1, %p1, %p2;
        AGAIN: @%p1 bra AGAIN;",
    );
    let line = line_of(&ptx, "AGAIN:");
    for threads in [1, 2] {
        let mut machine = Machine::new(&ptx);
        machine.use_threads(threads);
        machine.options.time_limit = Some(TimeLimit::Launch(Duration::from_millis(50)));
        let out = machine.out::<u32>(96);
        let message = machine.fault("k", 5, 96, params![out]).to_string();
        let expected_end = format!(
            " of 5\n  in kernel k, block (3, 0, 0), warp 2, thread (69, 0, 0)\n  at PTX line {line}"
        );
        assert!(message.ends_with(&expected_end), "{message}");
    }
}

#[test]
fn timeout_names_all_waiting_blocks() {
    // Four blocks wait for a fifth; in each, thread 0 polls and the others wait at a barrier.
    let ptx = kernel_of(
        "setp.ne.u32 %p1, %t, 0;
        @%p1 bra met;
        atom.global.add.u32 %r2, [%out], 1;
    wait:
        atom.global.add.u32 %r2, [%out], 0; // polls
        setp.lt.u32 %p2, %r2, 5;
        @%p2 bra wait;
    met:
        bar.sync 0; // barrier",
    );
    let mut machine = Machine::new(&ptx);
    machine.options.time_limit = Some(TimeLimit::Launch(Duration::from_millis(200)));
    let out = machine.buffer(&[0u32; 64]);
    let fault = machine.fault("k", 4, 64, params![out]);
    let barrier = fault.stalls.iter().find(|stall| stall.at_barrier);
    let barrier = barrier.expect("threads wait at the barrier");
    assert_eq!((barrier.threads, barrier.blocks), (4 * 63, 4));
    assert_eq!(barrier.source.ptx_line, line_of(&ptx, "// barrier"));
    let polling = fault.stalls.iter().filter(|stall| !stall.at_barrier);
    assert_eq!(polling.map(|stall| stall.threads).sum::<u64>(), 4);
    let line = line_of(&ptx, "// barrier");
    let expected = format!(
        "252 threads of block (0, 0, 0) and 3 others: waiting at the barrier at PTX line {line}"
    );
    assert!(fault.to_string().contains(&expected), "{fault}");
}

/// With a standstill limit, a launch may take any time as long as blocks keep finishing.
#[test]
fn standstill_limit_applies_only_if_no_block_finishes() {
    const LIMIT: Duration = Duration::from_millis(400);
    let ptx = kernel_of(
        "mov.u32 %r1, 0;
    LOOP:
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, 1000;
        @%p1 bra LOOP;",
    );
    let mut machine = Machine::new(&ptx);
    machine.use_threads(1);
    let out = machine.out::<u32>(32);
    let start = Instant::now();
    machine.run("k", 2000, 32, params![out]);
    // The number of blocks that take three times the limit.
    let blocks = 2000.0 * 3.0 * LIMIT.as_secs_f64() / start.elapsed().as_secs_f64();
    machine.options.time_limit = Some(TimeLimit::Standstill(LIMIT));
    let start = Instant::now();
    machine.run("k", blocks as u32, 32, params![out]);
    assert!(start.elapsed() > LIMIT);

    let endless = kernel_of("AGAIN: bra AGAIN;");
    let mut machine = Machine::new(&endless);
    machine.options.time_limit = Some(TimeLimit::Standstill(LIMIT));
    let out = machine.out::<u32>(32);
    let fault = machine.fault("k", 1000, 32, params![out]);
    assert_eq!(exceeded_limit(&fault), TimeLimit::Standstill(LIMIT));
    let message = fault.to_string();
    assert!(
        message.starts_with("no block of the kernel has ended for 0.4 s"),
        "{message}"
    );
}

#[test]
fn block_that_waits_for_a_faulted_block_is_stopped() {
    let ptx = kernel_of(
        "mov.u32 %r1, %ctaid.x;
        setp.eq.u32 %p1, %r1, 1;
        @%p1 trap;
        L: ld.volatile.global.u32 %r2, [%out];
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra L;",
    );
    for threads in [1, 2] {
        let mut machine = Machine::new(&ptx);
        machine.use_threads(threads);
        let flag = machine.buffer(&[0u32]);
        let fault = machine.fault("k", 3, 1, params![flag]);
        assert_eq!(fault.kind, FaultKind::Trap);
        assert_eq!(location(&fault).block, [1, 0, 0]);
    }
}

/// Runs in the child process of the test below: a kernel without an end or a limit.
#[test]
#[ignore = "never ends by itself: the test after it ends it"]
fn endless() {
    let mut machine = Machine::new(&kernel_of("bra L; L: bra L;"));
    machine.options.time_limit = Some(TimeLimit::Launch(Duration::MAX));
    let out = machine.out::<u32>(64);
    println!("it runs");
    machine.fault("k", 200, 64, params![out]);
}

#[cfg(unix)]
#[test]
fn sigterm_ends_an_endless_kernel() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    // Not SIGINT: shells make background processes ignore it.
    const TERMINATE: i32 = 15;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "progress::endless", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let started = lines
        .map_while(Result::ok)
        .any(|line| line.contains("it runs"));
    assert!(started, "the child did not start its launch");
    let kill_command = format!("kill -TERM {}", child.id());
    let signal_status = Command::new("sh")
        .args(["-c", &kill_command])
        .status()
        .unwrap();
    assert!(signal_status.success());
    assert_eq!(child.wait().unwrap().signal(), Some(TERMINATE));
}

#[test]
fn long_loop_reconverges_in_every_iteration() {
    // Longer than a warp's time slice, and half of the lanes diverge in every iteration.
    let rounds: u64 = 30_000;
    let ptx = kernel_of(&format!(
        "mov.u32 %r1, 0; mov.u32 %r2, 0;
        setp.lt.u32 %p1, %t, 16;
    LOOP:
        ld.global.u32 %r3, [%mine];
        @!%p1 bra MEET;
        add.s32 %r2, %r2, 1;
    MEET:
        add.s32 %r1, %r1, 1;
        setp.lt.u32 %p2, %r1, {rounds};
        @%p2 bra LOOP;
        st.global.u32 [%mine], %r2;"
    ));
    let mut machine = Machine::new(&ptx);
    let out = machine.out::<u32>(32);
    let report = machine.run("k", 1, 32, params![out]);
    let max_visits = report.counts.visits.iter().map(|visit| visit.warps).max();
    assert_eq!(max_visits, Some(rounds));
}
