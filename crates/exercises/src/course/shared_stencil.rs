//! A picture whose pixels become the sums of the three by three around them.

use anyhow::Result;
use cust::launch;

use super::whole;
use crate::host::{Bench, Case, Host, Output};

/// Threads of a block along x and y.
const BLOCK: (u32, u32) = (32, 8);

/// The host side.
pub struct SharedStencil;

impl Host for SharedStencil {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height) = (case.width(), case.height());
        let picture = whole::floats(case, 0, width * height);
        let mut expected = vec![0.0; width * height];
        for y in 0..height {
            for x in 0..width {
                for row in y.saturating_sub(1)..(y + 2).min(height) {
                    for col in x.saturating_sub(1)..(x + 2).min(width) {
                        expected[y * width + x] += picture[row * width + col];
                    }
                }
            }
        }

        let device_picture = bench.input("in", &picture)?;
        let out = bench.output::<f32>(width * height)?;
        let kernel = bench.kernel("blur")?;
        let stream = &bench.gpu.stream;
        let (across, down) = (case.size[0], case.size[1]);
        let grid = (across.div_ceil(BLOCK.0), down.div_ceil(BLOCK.1));
        // SAFETY: the arguments are those that the kernel is declared with, and both pictures have
        // width times height pixels.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, BLOCK, 0, stream>>>(
                device_picture.as_device_ptr(), out.as_device_ptr(), across, down
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[height, width], &out, expected)?])
    }
}
