//! The progress of a launch, observed from another thread.

use crate::harness::*;
use cuda_sim::exec::Progress;
use std::sync::atomic::{AtomicU32, Ordering};

const BLOCKS: u32 = 5;

/// Returns a kernel whose block n ends when the first word of the output exceeds n.
fn gate() -> String {
    kernel_of(
        "mov.u32 %r1, %ctaid.x;
        WAIT: atom.global.or.b32 %r2, [%out], 0;
        setp.le.u32 %p1, %r2, %r1;
        @%p1 bra WAIT;",
    )
}

/// Returns the progress of the machine's launch, or `None` if none is running.
fn progress(machine: &Machine) -> Option<Progress> {
    machine.options.watch.progress()
}

/// Waits until `predicate` is true of the launch's progress, and returns it. Panics if the launch ends first.
fn wait_for(machine: &Machine, predicate: impl Fn(&Progress) -> bool) -> Progress {
    loop {
        let progress = progress(machine).expect("the launch has ended");
        if predicate(&progress) {
            return progress;
        }
        std::thread::yield_now();
    }
}

#[test]
fn progress_shows_finished_blocks() {
    for threads in [1, 2, 3] {
        let mut machine = Machine::new(&gate());
        machine.use_threads(threads);
        let out = machine.buffer(&[0u32]);
        let word = machine.global.host(out, 4).unwrap().cast::<u32>();
        // SAFETY: `word` points to 4 aligned bytes of an allocation that lives as long as the machine, and
        // the kernel accesses them only with atomics.
        let gate = unsafe { AtomicU32::from_ptr(word) };
        let machine = &machine;
        assert_eq!(progress(machine), None);
        let mut launches = Vec::new();
        for _ in 0..2 {
            gate.store(0, Ordering::Relaxed);
            std::thread::scope(|scope| {
                let launch =
                    scope.spawn(|| machine.launch(&Launch::new("k", BLOCKS, 32, params![out])));
                while progress(machine).is_none() {
                    assert!(!launch.is_finished());
                    std::thread::yield_now();
                }
                for finished in 0..BLOCKS {
                    gate.store(finished, Ordering::Relaxed);
                    let progress = wait_for(machine, |progress_now| {
                        progress_now.blocks_done == u64::from(finished)
                    });
                    assert_eq!(progress.blocks, u64::from(BLOCKS));
                    assert_eq!(progress.kernel, "k");
                    launches.push(progress.launch);
                }
                gate.store(BLOCKS, Ordering::Relaxed);
                let report = launch.join().unwrap();
                assert!(report.is_ok());
            });
            assert_eq!(progress(machine), None);
        }
        let (first, second) = launches.split_at(BLOCKS as usize);
        assert!(first.iter().all(|&launch| launch == first[0]));
        assert!(second.iter().all(|&launch| launch == second[0]));
        assert_ne!(first[0], second[0]);
    }
}

#[test]
fn faulted_launch_shows_no_progress() {
    let mut machine = Machine::new(&kernel_of("trap;"));
    let out = machine.out::<u32>(1);
    machine.fault("k", 3, 32, params![out]);
    assert_eq!(progress(&machine), None);
}
