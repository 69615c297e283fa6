//! Differences of neighbours, by blocks that walk through the array.

use anyhow::Result;
use cust::launch;

use super::whole;
use crate::host::{Bench, Case, Host, Output};

/// Threads of a block.
const BLOCK: u32 = 256;
/// Blocks: so few that each has several chunks.
const BLOCKS: u32 = 2;

/// The host side.
pub struct MissingBarrier;

impl Host for MissingBarrier {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let numbers = whole::floats(case, 0, case.n() + 1);
        let expected = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();

        let device_numbers = bench.input("in", &numbers)?;
        let out = bench.output::<f32>(case.n())?;
        let kernel = bench.kernel("differences")?;
        let stream = &bench.gpu.stream;
        // SAFETY: the arguments are those that the kernel is declared with: n + 1 numbers, n results.
        unsafe {
            launch!(kernel<<<BLOCKS, BLOCK, 0, stream>>>(
                device_numbers.as_device_ptr(), out.as_device_ptr(), case.size[0]
            ))
        }?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[case.n()], &out, expected)?])
    }
}
