//! 14-lost-updates: many threads, one counter.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// How many values are above a threshold.
pub struct LostUpdates;

const BLOCK: usize = 256;

/// About so many values are above the threshold where there are many: an answer may let threads in one by
/// one, with a lock, and that is not to take for ever.
const ABOVE: f32 = 100.0;

impl Host for LostUpdates {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (numbers, threshold) = values(case);
        let above = numbers.iter().filter(|&&number| number > threshold).count();

        bench.set_variable("above", &[0_u32])?;
        let values = bench.input("values", &numbers)?;
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

/// The values, one in eight of which is the threshold itself and so not above it; and the threshold.
fn values(case: &Case) -> (Vec<f32>, f32) {
    let mut values = case.floats(0, case.n());
    let threshold = match 2.0 * ABOVE / case.n() as f32 {
        few @ ..0.5 => 1.0 - few,
        _ => 0.5 * case.floats(1, 1)[0],
    };
    let equal = case.integers(2, case.n(), 8);
    for (value, _) in values.iter_mut().zip(equal).filter(|(_, it)| *it == 0) {
        *value = threshold;
    }
    (values, threshold)
}
