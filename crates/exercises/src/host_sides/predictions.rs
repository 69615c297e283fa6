//! Exercises in which the student predicts a counter, which is then measured with the course's own kernels.

use std::collections::HashSet;

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Code, Host, Output};

/// Six access patterns, each executed by one warp.
pub struct PredictSectors;

/// Maps a lane to the index of the element that it loads.
type Element = fn(usize) -> usize;

/// The kernels' names and access patterns.
const SECTOR_KERNELS: [(&str, Element); 6] = [
    ("neighbours", |lane| lane),
    ("backwards", |lane| 31 - lane),
    ("one_further", |lane| lane + 1),
    ("every_third", |lane| 3 * lane),
    ("every_eighth", |lane| 8 * lane),
    ("the_same", |_| 0),
];

/// Threads per warp.
const WARP: usize = 32;
/// The number of elements of the input.
const LENGTH: usize = 8 * WARP;
/// The counter that is predicted.
const SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

impl Host for PredictSectors {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let predicted = bench
            .submission
            .variable::<u32>("predicted", SECTOR_KERNELS.len())?;
        let numbers = case.floats(0, LENGTH);
        let from = bench.input("in", &numbers)?;
        let stream = &bench.gpu.stream;

        let mut outputs = Vec::new();
        let mut sectors = Vec::new();
        for (name, element) in SECTOR_KERNELS {
            let run = |code: &Code| {
                let (kernel, to) = (code.kernel(name)?, bench.output::<f32>(WARP)?);
                // SAFETY: the arguments match the kernel's signature; no lane loads past the `LENGTH` elements of
                // `in`, and `to` has `WARP` elements, one per lane.
                unsafe {
                    launch!(kernel<<<1, WARP as u32, 0, stream>>>(
                        from.as_device_ptr(), to.as_device_ptr()
                    ))
                }?;
                stream.synchronize()?;
                anyhow::Ok(to)
            };
            let to = run(&bench.submission)?;
            let expected = (0..WARP).map(|lane| numbers[element(lane)]).collect();
            outputs.push(Output::new(name, &[WARP], &to, expected)?);
            // Count the course's own kernels: the student may have changed the copies in the submission.
            let measured = bench.counted_apart(|| {
                run(bench.start_code()?)?;
                bench.counter(SECTORS)
            })?;
            sectors.push(match measured {
                Some(measured) => u32::try_from(measured)?,
                None => count_sectors(element),
            });
        }
        outputs.push(
            Output::from_values("predicted", &[SECTOR_KERNELS.len()], predicted, sectors)?
                .predicted(&SECTOR_KERNELS.map(|(name, _)| name)),
        );
        Ok(outputs)
    }
}

/// Returns the number of 32-byte sectors that a warp's elements occupy, for machines without counters.
fn count_sectors(element: Element) -> u32 {
    let mut sectors: Vec<_> = (0..WARP).map(|lane| 4 * element(lane) / 32).collect();
    sectors.sort_unstable();
    sectors.dedup();
    sectors.len() as u32
}

/// Threads per block along one side; a block has 16 rows of 16.
const BLOCK_SIDE: u32 = 16;
const THREADS: usize = 256;
/// Elements of the table.
const TABLE: usize = 1024;

/// A kernel's name and the element that a thread reads, given its block index and thread index.
type Kernel = (&'static str, fn(usize, usize) -> usize);

const CONSTANT_KERNELS: [Kernel; 4] = [
    ("by_block", |block, _| block),
    ("by_thread", |_, thread| thread),
    ("by_row", |_, thread| thread / BLOCK_SIDE as usize),
    ("far_apart", |_, thread| 100 * (thread % 8)),
];

/// The host side. A warp makes one request to the constant cache per distinct address.
pub struct PredictConstant;

impl Host for PredictConstant {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let blocks = case.n();
        let numbers = case.integers(0, TABLE, u32::MAX);
        let table: Vec<i32> = numbers.into_iter().map(u32::cast_signed).collect();
        // Read the predictions before any of the student's kernels can change them.
        let predicted = bench
            .submission
            .variable::<u32>("predicted", CONSTANT_KERNELS.len())?;
        bench.input_variable("table", &table)?;
        bench.start_code()?.set_variable("table", &table)?;

        let mut outputs = Vec::new();
        let mut requests = Vec::new();
        for (name, element) in CONSTANT_KERNELS {
            let read = |i| element(i / THREADS, i % THREADS);
            let expected = (0..blocks * THREADS).map(|i| table[read(i)]).collect();
            let run = |code: &Code| {
                let (kernel, stream) = (code.kernel(name)?, &bench.gpu.stream);
                let out = bench.output::<i32>(blocks * THREADS)?;
                // SAFETY: the kernel takes one pointer and writes one element per thread; `out` has as many
                // elements.
                unsafe {
                    launch!(kernel<<<case.size[0], (BLOCK_SIDE, BLOCK_SIDE), 0, stream>>>(out.as_device_ptr()))
                }?;
                stream.synchronize()?;
                anyhow::Ok(out)
            };
            let out = run(&bench.submission)?;
            outputs.push(Output::new(name, &[blocks, THREADS], &out, expected)?);

            // Count the course's own kernels: the student may have changed the copies in the submission.
            let measured = bench.counted_apart(|| {
                run(bench.start_code()?)?;
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
            Output::from_values("predicted", &[CONSTANT_KERNELS.len()], predicted, requests)?
                .predicted(&CONSTANT_KERNELS.map(|(name, _)| name)),
        );
        Ok(outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_computed_from_addresses_match_an_h200() {
        let counts = SECTOR_KERNELS.map(|(_, element)| count_sectors(element));
        assert_eq!(counts, [4, 4, 5, 12, 32, 1]);
    }
}
