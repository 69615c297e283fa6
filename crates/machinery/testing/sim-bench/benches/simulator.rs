//! Measures the speed of the simulator: runs the chapters' kernels, and an arithmetic loop without memory
//! accesses, next to the same computations as plain Rust loops on one core.
//!
//! Run all with `cargo bench -p sim-bench --bench simulator`, or some of them with `cargo bench -p sim-bench
//! --bench simulator -- raytrace`. Criterion prints elements per second, which are the kernel's thread
//! instructions, for the plain loop too. Every name gives what is counted (nothing; a sample, the default;
//! everything, as with `--profile`) and the number of threads. `scripts/speed` compares the simulator with
//! other engines.

#[expect(dead_code, reason = "src/speed.rs has the other scales")]
mod workloads;

use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rayon::ThreadPoolBuilder;
use workloads::{Counted, Machine, POISON, Scale};

fn kernels(criterion: &mut Criterion) {
    let pools = [1, 2].map(|threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        (threads, Arc::new(pool.expect("cannot start the threads")))
    });
    for (name, workload) in workloads::ALL {
        let workload = workload(Scale::One);
        let expected = workload.expected();
        let mut machine = Machine::new(workload.as_ref(), expected.len());
        let record = machine.run(&pools[0].1, Counted::Nothing);
        let mut output = vec![POISON; expected.len()];
        workload.plain(&mut output);
        for results in [&output, &machine.take_output()] {
            assert!(*results == expected, "{name}: wrong result");
        }

        let mut group = criterion.benchmark_group(format!("{name}, {}", workload.size()));
        let instructions = record.counters.thread_instructions;
        group.throughput(Throughput::Elements(instructions));
        for (threads, pool) in &pools {
            for (counted, observe) in [
                ("nothing", Counted::Nothing),
                ("a sample", Counted::Sample),
                ("everything", Counted::Everything),
            ] {
                let id = format!("{counted} counted, threads: {threads}");
                group.bench_function(id, |bench| bench.iter(|| machine.run(pool, observe)));
            }
        }
        group.bench_function("plain loop", |bench| {
            bench.iter(|| workload.plain(&mut output))
        });
        group.finish();
    }
}

criterion_group! {
    name = simulator;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    targets = kernels
}
criterion_main!(simulator);
