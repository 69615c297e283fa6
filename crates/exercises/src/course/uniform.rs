//! A filter whose weights are in constant memory.

use anyhow::Result;
use cust::launch;

use crate::host::{Bench, Case, Host, Output};

/// Threads of a block.
const BLOCK: u32 = 128;
/// Weights, and numbers that a result depends on.
const TAPS: usize = 32;

/// The host side.
pub struct Uniform;

impl Host for Uniform {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let numbers = integers(case, 0, case.n() + TAPS - 1);
        let weights = integers(case, 1, TAPS);
        let expected = numbers
            .windows(TAPS)
            .map(|window| window.iter().zip(&weights).map(|(x, w)| x * w).sum())
            .collect();

        bench.input_variable("weights", &weights)?;
        let device_numbers = bench.input("in", &numbers)?;
        let out = bench.output::<i32>(case.n())?;
        let kernel = bench.kernel("filter")?;
        let stream = &bench.gpu.stream;
        let grid = case.size[0].div_ceil(BLOCK);
        // SAFETY: the arguments are those that the kernel is declared with: n results, and TAPS - 1
        // numbers more.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, BLOCK, 0, stream>>>(
                device_numbers.as_device_ptr(), out.as_device_ptr(), case.size[0]
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[case.n()], &out, expected)?])
    }
}

/// Numbers from -1000 to 999.
fn integers(case: &Case, stream: u64, len: usize) -> Vec<i32> {
    let numbers = case.integers(stream, len, 2000);
    numbers
        .into_iter()
        .map(|number| number.cast_signed() - 1000)
        .collect()
}
