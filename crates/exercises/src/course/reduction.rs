//! Sums of blocks.

use anyhow::Result;
use cust::launch;

use super::whole;
use crate::host::{Bench, Case, Host, Output};

/// Threads of a block, and numbers that it adds up.
const BLOCK: u32 = 256;

/// The host side.
pub struct Reduction;

impl Host for Reduction {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let numbers = whole::floats(case, 0, case.n());
        let blocks = numbers.chunks(BLOCK as usize);
        let expected: Vec<f32> = blocks.map(|block| block.iter().sum()).collect();

        let device_numbers = bench.input("in", &numbers)?;
        let sums = bench.output::<f32>(expected.len())?;
        let kernel = bench.kernel("block_sums")?;
        let stream = &bench.gpu.stream;
        let grid = case.size[0].div_ceil(BLOCK);
        // SAFETY: the arguments are those that the kernel is declared with: n numbers, and a sum for
        // each block.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, BLOCK, 0, stream>>>(
                device_numbers.as_device_ptr(), sums.as_device_ptr(), case.size[0]
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new(
            "sums",
            &[expected.len()],
            &sums,
            expected,
        )?])
    }
}
