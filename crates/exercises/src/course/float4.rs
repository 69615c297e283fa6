//! 07-float4: four elements a thread, loaded and stored at once.

use anyhow::Result;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// A recording that is cut off where it is too loud.
pub struct Float4;

const BLOCK: usize = 256;

impl Host for Float4 {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let recording = case.floats(0, case.n());
        let level = case.floats(1, 1)[0].abs();
        let clip = |sample: &f32| sample.max(-level).min(level);
        let expected = recording.iter().map(clip).collect();

        let from = bench.input("in", &recording)?;
        let to = bench.output(case.n())?;
        let kernel = bench.kernel("clip_all")?;
        let stream = &bench.gpu.stream;
        let blocks = case.n().div_ceil(4).div_ceil(BLOCK) as u32;
        // SAFETY: the arguments are the kernel's, both arrays have as many samples as it is told, and
        // allocations start on a boundary of 256 bytes.
        bench.launch(|| unsafe {
            launch!(kernel<<<blocks, BLOCK as u32, 0, stream>>>(
                from.as_device_ptr(), to.as_device_ptr(), level, case.n() as i32
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[case.n()], &to, expected)?])
    }
}
