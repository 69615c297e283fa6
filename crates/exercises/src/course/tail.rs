//! 02-tail: the last block has threads with nothing to do.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// Every sample of a recording times a gain, in place.
pub struct Tail;

const BLOCK: usize = 128;

impl Host for Tail {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let recording = case.floats(0, case.n());
        let gain = case.floats(1, 1)[0];
        let expected = recording.iter().map(|sample| sample * gain).collect();

        let samples = DeviceBuffer::from_slice(&recording)?;
        let kernel = bench.kernel("fade")?;
        let stream = &bench.gpu.stream;
        let blocks = case.n().div_ceil(BLOCK) as u32;
        // SAFETY: the arguments are the kernel's, and there are as many samples as it is told.
        unsafe {
            launch!(kernel<<<blocks, BLOCK as u32, 0, stream>>>(
                samples.as_device_ptr(), gain, case.n() as i32
            ))
        }?;
        stream.synchronize()?;
        Ok(vec![Output::new(
            "samples",
            &[case.n()],
            &samples,
            expected,
        )?])
    }
}
