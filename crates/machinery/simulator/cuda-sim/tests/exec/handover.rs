//! Warps that only wait for others yield at once instead of at the end of their time slice.

use crate::harness::*;

#[test]
fn lock_is_handed_over_at_once() {
    let mut machine = Machine::new(include_str!("../../kernels/ptx/order.ptx"));
    for kernel in ["add_locked", "add_spinning"] {
        let out = machine.buffer(&[0u32; 6]);
        let report = machine.run(kernel, 4, 64, params![out]);
        assert_eq!(machine.read::<u32>(out, 2), [256, 0], "{kernel}");
        // Each of 256 threads needs at least two atomics; a time slice has 65,536 instructions.
        let atomics = report.counts.atomics;
        assert!((512..50_000).contains(&atomics), "{kernel}: {atomics}");
    }
}

#[test]
fn lock_is_handed_over_soon_in_random_schedules() {
    let mut machine = Machine::new(include_str!("../../kernels/ptx/order.ptx"));
    for seed in 0..5 {
        machine.options.conditions.shuffle = Some(seed);
        for kernel in ["add_locked", "add_spinning"] {
            let out = machine.buffer(&[0u32; 18]);
            let report = machine.run(kernel, 16, 128, params![out]);
            assert_eq!(machine.read::<u32>(out, 2), [2048, 0], "{kernel}, {seed}");
            // All 64 warps may try a few times at each of 2048 hand-overs, but not for whole time slices.
            let atomics = report.counts.atomics;
            assert!(atomics < 500 * 2048, "{kernel}, {seed}: {atomics}");
        }
    }
}

#[test]
fn polling_warps_yield() {
    // The first warp waits until the second one has written.
    for (pause, max_visits) in [("", 1000), ("nanosleep.u32 100;", 10)] {
        let mut machine = Machine::new(&kernel_of(&format!(
            ".shared .b32 flag;
            mov.u32 %r1, 0;
            st.volatile.shared.u32 [flag], %r1;
            bar.sync 0;
            setp.ge.u32 %p1, %t, 32;
            @%p1 bra WRITE;
        WAIT:
            {pause}
            ld.volatile.shared.u32 %r2, [flag];
            setp.eq.u32 %p2, %r2, 0;
            @%p2 bra WAIT;
            bra END;
        WRITE:
            mov.u32 %r2, 7;
            st.volatile.shared.u32 [flag], %r2;
        END:
            st.global.u32 [%mine], %r2;"
        )));
        let out = machine.out::<u32>(64);
        let report = machine.run("k", 1, 64, params![out]);
        assert_eq!(machine.read::<u32>(out, 64), [7; 64]);
        let busiest = report.counts.visits.iter().map(|visit| visit.warps).max();
        let busiest = busiest.expect("no blocks");
        assert!(busiest <= max_visits, "{pause}: {busiest}");
    }
}
