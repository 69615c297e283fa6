//! The sample of blocks that the time model uses.

use crate::harness::Machine;
use crate::params;

/// Returns the modelled time of a kernel in microseconds, for a launch of `blocks` blocks of `threads` threads.
fn time(kernel: &str, (blocks, threads): (u32, u32), seed: Option<u64>) -> f64 {
    let mut machine = Machine::new(include_str!("../../kernels/ptx/watched.ptx"));
    machine.conditions.watched = seed;
    let count = threads as usize * blocks as usize;
    let (out, from) = (machine.out::<u32>(count), machine.out::<u32>(1 << 16));
    let report = machine.run(kernel, blocks, threads, params![out, from]);
    report.time.milliseconds * 1e3
}

#[test]
fn a_kernel_cannot_foretell_them() {
    // Small grids are sampled completely, large ones partly.
    for size in [(1000, 256), (33_000, 256)] {
        let honest = time("slow", size, None);
        let foretold = time("slow_elsewhere", size, None);
        assert!(foretold < 0.8 * honest, "{size:?}: {foretold} {honest}");
        for seed in 0..4 {
            let watched = time("slow", size, Some(seed));
            let moved = watched / honest;
            assert!((0.97..1.03).contains(&moved), "{size:?}, {seed}: {moved}");
            let found = time("slow_elsewhere", size, Some(seed)) / honest;
            assert!((0.94..1.03).contains(&found), "{size:?}, {seed}: {found}");
        }
    }
}
