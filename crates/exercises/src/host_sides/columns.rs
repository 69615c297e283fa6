//! 12-columns: coalescing depends on which index runs along `threadIdx.x`.

use anyhow::Result;
use cust::prelude::*;

use super::row_padding;
use crate::host::{Bench, Case, Host, Output};

/// Column sums of a matrix, one strip of a column per thread.
pub struct Columns;

/// Rows per strip.
const STRIP: usize = 32;
const BLOCK: usize = 128;

impl Host for Columns {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height) = (case.width(), case.height());
        let drawn = case.integers(0, width * height, 2000);
        let matrix: Vec<i32> = drawn.iter().map(|&drawn| drawn as i32 - 1000).collect();
        let mut expected = vec![0; width];
        for row in matrix.chunks(width) {
            for (sum, element) in expected.iter_mut().zip(row) {
                *sum += element;
            }
        }

        let extra = case.integers(1, row_padding::extra_elements(case), u32::MAX);
        let extra: Vec<i32> = extra.into_iter().map(u32::cast_signed).collect();
        let rows = row_padding::pad_rows(&matrix, width, &extra);
        let pitched = bench.pitched_input("matrix", &rows, [width + extra.len(), height, 1])?;
        let sums = DeviceBuffer::from_slice(&vec![0; width])?;
        let kernel = bench.kernel("column_sums")?;
        let stream = &bench.gpu.stream;
        let strips = height.div_ceil(STRIP) * width;
        let blocks = strips.div_ceil(BLOCK) as u32;
        // SAFETY: the arguments match the kernel's signature; the matrix has `height` rows of at least
        // `width` elements, and `sums` has `width` elements.
        bench.launch(|| unsafe {
            launch!(kernel<<<blocks, BLOCK as u32, 0, stream>>>(
                pitched.as_device_ptr(), pitched.pitch(), sums.as_device_ptr(), width as i32,
                height as i32
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("sums", &[width], &sums, expected)?])
    }
}
