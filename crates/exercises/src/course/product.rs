//! A matrix product, in blocks of 16 by 16 threads.

use anyhow::Result;
use cust::launch;

use super::whole;
use crate::host::{Bench, Case, Host, Output};

/// Threads of a block along x and y, and elements of a tile.
const TILE: u32 = 16;

/// The host side of the exercises on tiles: C = AB, A with M rows of N elements, B with N of P.
pub struct Product {
    /// What M, N and P are multiples of: they are this many times the size's three numbers.
    pub unit: u32,
}

impl Host for Product {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let [m, n, p] = [0, 1, 2].map(|dimension| case.size[dimension] * self.unit);
        let [rows, inner, cols] = [m, n, p].map(|length| length as usize);
        let a = whole::floats(case, 0, rows * inner);
        let b = whole::floats(case, 1, inner * cols);
        let mut expected = vec![0.0; rows * cols];
        for row in 0..rows {
            for col in 0..cols {
                for k in 0..inner {
                    expected[row * cols + col] += a[row * inner + k] * b[k * cols + col];
                }
            }
        }

        let device_a = bench.input("A", &a)?;
        let device_b = bench.input("B", &b)?;
        let c = bench.output::<f32>(rows * cols)?;
        let kernel = bench.kernel("product")?;
        let stream = &bench.gpu.stream;
        let grid = (p.div_ceil(TILE), m.div_ceil(TILE));
        // SAFETY: the arguments are those that the kernel is declared with, and the matrices have as
        // many elements as their sizes say.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, (TILE, TILE), 0, stream>>>(
                device_a.as_device_ptr(), device_b.as_device_ptr(), c.as_device_ptr(), m, n, p
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("C", &[rows, cols], &c, expected)?])
    }
}
