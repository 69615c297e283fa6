//! The sample of blocks that the time model uses.

use crate::harness::*;

/// Returns the modelled time of a kernel in microseconds, for a launch of `blocks` blocks of `threads` threads.
fn modelled_microseconds(kernel: &str, (blocks, threads): (u32, u32), seed: Option<u64>) -> f64 {
    let mut machine = Machine::new(include_str!("../../kernels/ptx/watched.ptx"));
    machine.options.conditions.sample_seed = seed;
    let count = threads as usize * blocks as usize;
    let (out, source) = (machine.out::<u32>(count), machine.out::<u32>(1 << 16));
    let report = machine.run(kernel, blocks, threads, params![out, source]);
    record(&report).time.milliseconds * 1e3
}

#[test]
fn kernel_cannot_predict_the_sample() {
    // Small grids are sampled completely, large ones partly.
    for size in [(1000, 256), (33_000, 256)] {
        let default_time = modelled_microseconds("slow", size, None);
        let tricked_time = modelled_microseconds("slow_elsewhere", size, None);
        assert!(
            tricked_time < 0.8 * default_time,
            "{size:?}: {tricked_time} {default_time}"
        );
        for seed in 0..4 {
            let seeded_time = modelled_microseconds("slow", size, Some(seed));
            let ratio = seeded_time / default_time;
            assert!((0.97..1.03).contains(&ratio), "{size:?}, {seed}: {ratio}");
            let tricked = modelled_microseconds("slow_elsewhere", size, Some(seed)) / default_time;
            assert!(
                (0.94..1.03).contains(&tricked),
                "{size:?}, {seed}: {tricked}"
            );
        }
    }
}
