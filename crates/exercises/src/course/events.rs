//! The time of a kernel, taken by the student's function.

use std::cell::Cell;

use anyhow::Result;
use common::timing;
use cust::error::CudaResult;
use cust::launch;
use cust::stream::Stream;

use crate::host::{Bench, Case, Host, Output};

/// Threads: one warp.
const THREADS: u32 = 32;
/// Rounds of the kernel in a usual launch: some ten microseconds of a GPU's.
const ROUNDS: u32 = 6000;

/// The student's function: the median of so many times of what the closure launches.
pub type MedianMs = fn(&Stream, usize, &dyn Fn() -> CudaResult<()>) -> CudaResult<f32>;

/// The host side.
pub struct Events(pub MedianMs);

impl Host for Events {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let out = bench.output::<f32>(THREADS as usize)?;
        let kernel = bench.kernel("work")?;
        let stream = &bench.gpu.stream;
        let work = |rounds: u32| {
            // SAFETY: the arguments are those that the kernel is declared with, and it writes a
            // number for each of its threads.
            unsafe { launch!(kernel<<<1, THREADS, 0, stream>>>(out.as_device_ptr(), rounds)) }
        };

        let events = timing::events(stream)?;
        work(ROUNDS)?;
        let expected = events.time(|| Ok(work(ROUNDS)?))?;

        let launches = Cell::new(0);
        let launch = || {
            let number = launches.replace(launches.get() + 1);
            work(ROUNDS * share(number) / 4)
        };
        // Of three launches in a row one is usual, and one each is shorter and longer.
        let samples = 3 * (2 * case.n() - 1);
        let got = (self.0)(stream, samples, &launch)?;
        stream.synchronize()?;
        Ok(vec![Output::of(
            "milliseconds",
            &[1],
            vec![got],
            vec![expected],
        )?])
    }
}

/// What the launch of this number takes, in quarters of a usual one.
fn share(number: u32) -> u32 {
    match (number, number % 3) {
        (0, _) => 100,
        (_, 0) => 2,
        (_, 1) => 4,
        _ => 40,
    }
}
