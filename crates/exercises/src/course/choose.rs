//! Brightness of pixels, through four weights and a table.

use anyhow::Result;
use cust::launch;

use crate::host::{Bench, Case, Host, Output};

/// Threads of a block.
const BLOCK: u32 = 256;
/// Entries of the table: one for each byte that there is.
const TABLE: usize = 256;

/// The host side.
pub struct Choose;

impl Host for Choose {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let pixels = case.integers(0, case.n(), u32::MAX);
        let weights = case.integers(1, 4, 1000);
        let table = case.integers(2, TABLE, 1 << 16);
        let brightness = |pixel: &u32| {
            let bytes = pixel.to_le_bytes();
            let each = bytes.iter().zip(&weights);
            each.map(|(&byte, weight)| weight * table[usize::from(byte)])
                .sum()
        };
        let expected = pixels.iter().map(brightness).collect();

        bench.input_variable("weights", &weights)?;
        if bench.has_variable("constant_table")? {
            bench.input_variable("constant_table", &table)?;
        }
        let device_pixels = bench.input("pixels", &pixels)?;
        let device_table = bench.input("table", &table)?;
        let out = bench.output::<u32>(case.n())?;
        let kernel = bench.kernel("brightness")?;
        let stream = &bench.gpu.stream;
        let grid = case.size[0].div_ceil(BLOCK);
        // SAFETY: the arguments are those that the kernel is declared with: n pixels, n results, and
        // the whole table.
        bench.launch(|| unsafe {
            launch!(kernel<<<grid, BLOCK, 0, stream>>>(
                device_pixels.as_device_ptr(), device_table.as_device_ptr(), out.as_device_ptr(),
                case.size[0]
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[case.n()], &out, expected)?])
    }
}
