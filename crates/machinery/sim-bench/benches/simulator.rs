//! How fast the simulator is: the chapters' kernels, and an arithmetic loop without memory, beside
//! the same computations as plain Rust loops on one core.
//!
//! `cargo bench -p cuda-sim`, or a part of them: `cargo bench -p cuda-sim -- raytrace`. Criterion
//! prints elements a second, which are the kernel's thread instructions, for the plain loop as
//! well. Every name says what is counted (nothing; a sample, as ever; everything, as with
//! `--profile`) and on how many threads. `scripts/speed` compares with other engines.

#[expect(dead_code, reason = "src/speed.rs has the other scales")]
mod work;

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cuda_sim::exec::Observe;
use rayon::ThreadPoolBuilder;
use work::{Machine, POISON, Scale};

fn kernels(criterion: &mut Criterion) {
    let pools = [1, 2].map(|threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        (threads, pool.expect("threads start"))
    });
    for (name, work) in work::ALL {
        let work = work(Scale::One);
        let expected = work.expected();
        let machine = Machine::new(work.as_ref(), expected.len());
        let report = machine.run(&pools[0].1, Observe::Nothing);
        let mut output = vec![POISON; expected.len()];
        work.plain(&mut output);
        for results in [&output, &machine.take_output()] {
            assert!(*results == expected, "{name} is wrong");
        }

        let mut group = criterion.benchmark_group(format!("{name}, {}", work.size()));
        let instructions = machine.thread_instructions(&report);
        group.throughput(Throughput::Elements(instructions));
        for (threads, pool) in &pools {
            for (counted, observe) in [
                ("nothing", Observe::Nothing),
                ("a sample", Observe::Sample),
                ("everything", Observe::Everything),
            ] {
                let id = format!("{counted} counted, threads: {threads}");
                group.bench_function(id, |bench| bench.iter(|| machine.run(pool, observe)));
            }
        }
        group.bench_function("plain loop", |bench| bench.iter(|| work.plain(&mut output)));
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
