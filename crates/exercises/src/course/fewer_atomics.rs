//! 15-fewer-atomics: one atomic operation a block.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// The sum of many numbers, in a variable of the module.
pub struct FewerAtomics;

const BLOCK: usize = 256;

impl Host for FewerAtomics {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let drawn = case.integers(0, case.n(), 10_000);
        // As the variable does, it begins again at 0 past 32 bits.
        let total = drawn.iter().copied().fold(0, u32::wrapping_add);

        bench.set_variable("total", &[0_u32])?;
        let numbers = bench.input("numbers", &drawn)?;
        let kernel = bench.kernel("add_up")?;
        let stream = &bench.gpu.stream;
        let blocks = case.n().div_ceil(BLOCK) as u32;
        // SAFETY: the arguments are the kernel's, and there are as many numbers as it is told.
        bench.launch(|| unsafe {
            launch!(kernel<<<blocks, BLOCK as u32, 0, stream>>>(
                numbers.as_device_ptr(), case.n() as i32
            ))
        })?;
        stream.synchronize()?;
        let sum = bench.variable("total", 1)?;
        Ok(vec![Output::of("total", &[1], sum, vec![total])?])
    }
}
