//! Sums of nine neighbours, as fast as memory allows.

use anyhow::Result;
use cust::launch;

use super::whole;
use crate::host::{Bench, Case, Host, Output};

/// Threads of a block.
const BLOCK: u32 = 256;
/// Results of a thread.
const POINTS: u32 = 8;
/// Numbers that a result is the sum of.
const WIDTH: usize = 9;

/// The host side.
pub struct HalfTheLimit;

impl Host for HalfTheLimit {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let numbers = whole::floats(case, 0, case.n() + WIDTH - 1);
        // All numbers are whole, so a sum that goes along stays exact: the next number in, the last out.
        let mut sum: f32 = numbers[..WIDTH - 1].iter().sum();
        let steps = numbers[WIDTH - 1..].iter().zip(&numbers);
        let expected = steps.map(|(next, last)| {
            let whole = sum + next;
            sum = whole - last;
            whole
        });
        let expected = expected.collect();

        let device_numbers = bench.input("in", &numbers)?;
        let out = bench.output::<f32>(case.n())?;
        let kernel = bench.kernel("sums")?;
        let stream = &bench.gpu.stream;
        let grid = case.size[0].div_ceil(BLOCK * POINTS);
        // SAFETY: the arguments are those that the kernel is declared with: n results, and WIDTH - 1
        // numbers more.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, BLOCK, 0, stream>>>(
                device_numbers.as_device_ptr(), out.as_device_ptr(), case.size[0]
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[case.n()], &out, expected)?])
    }

    /// Each number in once, each result out once.
    fn bytes(&self, case: &Case) -> u64 {
        ((2 * case.n() + WIDTH - 1) * size_of::<f32>()) as u64
    }
}
