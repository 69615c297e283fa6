//! Execution in shuffled order: every order that the rules allow, and no other.

use super::*;
use std::collections::BTreeSet;

/// Returns the numbers that `body` produces with many seeds, starting from 0 each time.
fn outcomes(simulator: &Simulator, mut body: impl FnMut()) -> BTreeSet<u64> {
    let mut actual = BTreeSet::new();
    for seed in 0..60 {
        let twice = [0; 2].map(|_| {
            simulator.set(0);
            cuda_driver::shuffle(Some(seed));
            body();
            calls! { cuCtxSynchronize(); }
            cuda_driver::shuffle(None);
            simulator.now()
        });
        assert_eq!(twice[0], twice[1], "seed {seed}");
        actual.insert(twice[0]);
    }
    actual
}

#[test]
fn independent_streams_run_in_every_order() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(1));
    let free = outcomes(&simulator, || {
        simulator.append(1, first);
        simulator.append(2, second);
        simulator.append(3, first);
    });
    assert_eq!(free, [123, 132, 213].into());
    // Without a seed, the order is that of submission.
    simulator.set(0);
    simulator.append(1, first);
    simulator.append(2, second);
    simulator.append(3, first);
    calls! { cuStreamSynchronize(first); }
    assert_eq!(simulator.now(), 123);
}

#[test]
fn events_and_the_default_stream_order_operations() {
    let simulator = Simulator::new();
    let (first, second, done) = (stream(1), stream(1), event());
    let ordered = outcomes(&simulator, || {
        simulator.append(1, first);
        calls! {
            cuEventRecord(done, first);
            cuStreamWaitEvent(second, done, 0);
        }
        simulator.append(2, second);
    });
    assert_eq!(ordered, [12].into());
    // An event stands for the operations before its last record.
    let later = outcomes(&simulator, || {
        ok(code!(cuEventRecord(done, first)));
        simulator.append(1, first);
        ok(code!(cuStreamWaitEvent(second, done, 0)));
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
fn waiting_for_a_stream_leaves_others_pending() {
    let simulator = Simulator::new();
    let (first, second) = (stream(1), stream(1));
    let mut outcomes_seen = BTreeSet::new();
    outcomes(&simulator, || {
        simulator.append(1, first);
        simulator.append(2, second);
        calls! { cuStreamSynchronize(second); }
        outcomes_seen.insert(simulator.now());
    });
    // The operations before the second stream's are executed with it, or not at all.
    assert_eq!(outcomes_seen, [2, 12].into());
}
