//! Other orders than that in which work was put in: all that the rules allow, and none besides.

use super::*;
use std::collections::BTreeSet;

/// The numbers that come of `body` with many seeds; the number is 0 before each.
fn outcomes(simulator: &Simulator, mut body: impl FnMut()) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for seed in 0..60 {
        let twice = [0; 2].map(|_| {
            simulator.set(0);
            cuda_driver::shuffle(Some(seed));
            body();
            // SAFETY: nothing is named.
            ok(unsafe { cu::cuCtxSynchronize() });
            cuda_driver::shuffle(None);
            simulator.now()
        });
        assert_eq!(twice[0], twice[1], "seed {seed}");
        found.insert(twice[0]);
    }
    found
}

#[test]
fn streams_that_nothing_orders_are_done_in_any_order() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(1));
    let free = outcomes(&simulator, || {
        simulator.append(1, first);
        simulator.append(2, second);
        simulator.append(3, first);
    });
    assert_eq!(free, [123, 132, 213].into());
    // Without a seed it is the order in which work was put in.
    simulator.set(0);
    simulator.append(1, first);
    simulator.append(2, second);
    simulator.append(3, first);
    // SAFETY: any handle may be named.
    ok(unsafe { cu::cuStreamSynchronize(first) });
    assert_eq!(simulator.now(), 123);
}

#[test]
fn events_and_the_default_stream_are_waited_for() {
    let simulator = Simulator::new();
    let (first, second, done) = (stream(1), stream(1), event());
    let ordered = outcomes(&simulator, || {
        simulator.append(1, first);
        // SAFETY: any handles may be named, here and below.
        unsafe {
            ok(cu::cuEventRecord(done, first));
            ok(cu::cuStreamWaitEvent(second, done, 0));
        }
        simulator.append(2, second);
    });
    assert_eq!(ordered, [12].into());
    // An event stands for what was there when it was recorded last.
    let later = outcomes(&simulator, || {
        // SAFETY: any handles may be named, and results written to.
        unsafe { ok(cu::cuEventRecord(done, first)) };
        simulator.append(1, first);
        // SAFETY: any handles may be named, and results written to.
        unsafe { ok(cu::cuStreamWaitEvent(second, done, 0)) };
        simulator.append(2, second);
    });
    assert_eq!(later, [12, 21].into());
    let (blocking, other) = (stream(0), stream(0));
    let around = outcomes(&simulator, || {
        simulator.append(1, blocking);
        simulator.append(2, null_mut());
        simulator.append(3, other);
    });
    assert_eq!(around, [123].into());
    let passing = outcomes(&simulator, || {
        simulator.append(1, first);
        simulator.append(2, null_mut());
    });
    assert_eq!(passing, [12, 21].into());
}

#[test]
fn who_waits_for_one_stream_does_not_wait_for_another() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(1));
    let mut seen = BTreeSet::new();
    outcomes(&simulator, || {
        simulator.append(1, first);
        simulator.append(2, second);
        // SAFETY: any handle may be named.
        ok(unsafe { cu::cuStreamSynchronize(second) });
        seen.insert(simulator.now());
    });
    // What comes before the second stream is done with it, or not at all.
    assert_eq!(seen, [2, 12].into());
}
