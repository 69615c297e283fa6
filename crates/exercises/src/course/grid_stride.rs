//! 04-grid-stride: a few blocks, and any number of elements.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// Squares, by a grid that is always the same.
pub struct GridStride;

const BLOCKS: u32 = 8;
const BLOCK: u32 = 128;

impl Host for GridStride {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let numbers = case.floats(0, case.n());
        let expected = numbers.iter().map(|x| x * x).collect();

        let from = bench.input("in", &numbers)?;
        let to = bench.output(case.n())?;
        let kernel = bench.kernel("squares")?;
        let stream = &bench.gpu.stream;
        // SAFETY: the arguments are the kernel's, and both arrays have as many elements as it is told.
        unsafe {
            launch!(kernel<<<BLOCKS, BLOCK, 0, stream>>>(
                from.as_device_ptr(), to.as_device_ptr(), case.n() as i32
            ))
        }?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[case.n()], &to, expected)?])
    }
}
