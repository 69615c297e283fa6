//! 14-lost-updates: many threads, one counter.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// How many values are above a threshold.
pub struct LostUpdates;

const BLOCK: usize = 256;

impl Host for LostUpdates {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let numbers = case.floats(0, case.n());
        let threshold = 0.5 * case.floats(1, 1)[0];
        let above = numbers.iter().filter(|&&number| number > threshold).count();

        bench.set_variable("above", &[0_u32])?;
        let values = DeviceBuffer::from_slice(&numbers)?;
        let kernel = bench.kernel("count_above")?;
        let stream = &bench.gpu.stream;
        let blocks = case.n().div_ceil(BLOCK) as u32;
        // SAFETY: the arguments are the kernel's, and there are as many values as it is told.
        unsafe {
            launch!(kernel<<<blocks, BLOCK as u32, 0, stream>>>(
                values.as_device_ptr(), threshold, case.n() as i32
            ))
        }?;
        stream.synchronize()?;
        let counted = bench.variable("above", 1)?;
        Ok(vec![Output::of(
            "above",
            &[1],
            counted,
            vec![above as u32],
        )?])
    }
}
