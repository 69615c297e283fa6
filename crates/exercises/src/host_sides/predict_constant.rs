//! 22-predict-constant: the number of requests to the constant cache, predicted and then counted.

use std::collections::HashSet;

use anyhow::Result;
use cust::launch;

use crate::host::{Bench, Case, Host, Output};

/// Threads per block along one side; a block has 16 rows of 16.
const BLOCK_SIDE: u32 = 16;
const THREADS: usize = 256;
/// Threads per warp.
const WARP: usize = 32;
/// Elements of the table.
const TABLE: usize = 1024;

/// A kernel's name and the element that a thread reads, given its block index and thread index.
type Kernel = (&'static str, fn(usize, usize) -> usize);

const KERNELS: [Kernel; 4] = [
    ("by_block", |block, _| block),
    ("by_thread", |_, thread| thread),
    ("by_row", |_, thread| thread / BLOCK_SIDE as usize),
    ("far_apart", |_, thread| 100 * (thread % 8)),
];

/// The kernels' names, which label the predictions.
const NAMES: [&str; 4] = {
    let mut names = [""; 4];
    let mut number = 0;
    while number < names.len() {
        names[number] = KERNELS[number].0;
        number += 1;
    }
    names
};

/// The host side. A warp makes one request to the constant cache per distinct address.
pub struct PredictConstant;

impl Host for PredictConstant {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let blocks = case.n();
        let numbers = case.integers(0, TABLE, u32::MAX);
        let table: Vec<i32> = numbers.into_iter().map(u32::cast_signed).collect();
        // Read the predictions before any of the student's kernels can change them.
        let predicted = bench.variable::<u32>("predicted", KERNELS.len())?;
        bench.input_variable("table", &table)?;
        bench.start_code()?.set_variable("table", &table)?;

        let mut outputs = Vec::new();
        let mut requests = Vec::new();
        for (name, element) in KERNELS {
            let read = |i| element(i / THREADS, i % THREADS);
            let expected = (0..blocks * THREADS).map(|i| table[read(i)]).collect();
            let out = bench.output::<i32>(blocks * THREADS)?;
            let kernel = bench.kernel(name)?;
            let stream = &bench.gpu.stream;
            // SAFETY: the kernel takes one pointer and writes one element per thread; `out` has as many
            // elements.
            unsafe {
                launch!(kernel<<<case.size[0], (BLOCK_SIDE, BLOCK_SIDE), 0, stream>>>(out.as_device_ptr()))
            }?;
            stream.synchronize()?;
            outputs.push(Output::new(name, &[blocks, THREADS], &out, expected)?);

            // Count the course's own kernels: the student may have changed the copies in the submission.
            let measured = bench.uncounted(|| {
                let kernel = bench.start_code()?.kernel(name)?;
                let out = bench.output::<i32>(blocks * THREADS)?;
                // SAFETY: the kernel takes one pointer and writes one element per thread; `out` has as many
                // elements.
                unsafe {
                    launch!(kernel<<<case.size[0], (BLOCK_SIDE, BLOCK_SIDE), 0, stream>>>(out.as_device_ptr()))
                }?;
                stream.synchronize()?;
                bench.counter("idc__requests.sum")
            })?;
            let warps = (blocks * THREADS / WARP) as u64;
            requests.push(match measured {
                Some(requests) => u32::try_from(requests / warps)?,
                // A GPU's counters need a profiler, so compute the requests of one warp; all warps are alike.
                None => (0..WARP).map(read).collect::<HashSet<_>>().len() as u32,
            });
        }
        outputs.push(
            Output::from_values("predicted", &[KERNELS.len()], predicted, requests)?
                .predicted(&NAMES),
        );
        Ok(outputs)
    }
}
