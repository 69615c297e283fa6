//! The transpose of a matrix, in blocks of 32 by 32 threads.

use anyhow::Result;
use cust::launch;

use crate::host::{Bench, Case, Host, Output};

/// Threads of a block along x and y.
const TILE: u32 = 32;

/// The host side of the exercises on transposing.
pub struct Transpose;

impl Host for Transpose {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height) = (case.width(), case.height());
        let matrix = case.floats(0, width * height);
        let mut expected = vec![0.0; width * height];
        for y in 0..height {
            for x in 0..width {
                expected[x * height + y] = matrix[y * width + x];
            }
        }

        let device_matrix = bench.input("in", &matrix)?;
        let out = bench.output::<f32>(width * height)?;
        let kernel = bench.kernel("transpose")?;
        let stream = &bench.gpu.stream;
        let (across, down) = (case.size[0], case.size[1]);
        let grid = (across.div_ceil(TILE), down.div_ceil(TILE));
        // SAFETY: the arguments are those that the kernel is declared with, and both matrices have
        // width times height elements.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, (TILE, TILE), 0, stream>>>(
                device_matrix.as_device_ptr(), out.as_device_ptr(), across, down
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[width, height], &out, expected)?])
    }
}
