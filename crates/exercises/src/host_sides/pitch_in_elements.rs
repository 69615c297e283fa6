//! 08-pitch-in-elements: a pitch is in bytes, not in elements.

use anyhow::Result;
use cust::prelude::*;

use super::row_padding;
use crate::host::{Bench, Case, Host, Output};

/// The conversion of a colour picture in pitched memory to grey.
pub struct PitchInElements;

/// Floats per pixel.
const COLOURS: usize = 3;
/// Threads per block along x and along y.
const BLOCK: usize = 16;

impl Host for PitchInElements {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height) = (case.width(), case.height());
        let picture = case.floats(0, COLOURS * width * height);
        let grey = |pixel: &[f32]| 0.25 * pixel[0] + 0.5 * pixel[1] + 0.25 * pixel[2];
        let expected = picture.chunks(COLOURS).map(grey).collect();

        let extra = case.floats(1, row_padding::extra_elements(case));
        let rows = row_padding::pad_rows(&picture, COLOURS * width, &extra);
        let size = [COLOURS * width + extra.len(), height, 1];
        let image = bench.pitched_input("image", &rows, size)?;
        let to = bench.output(width * height)?;
        let kernel = bench.kernel("to_grey")?;
        let stream = &bench.gpu.stream;
        let grid = (width.div_ceil(BLOCK) as u32, height.div_ceil(BLOCK) as u32);
        let block = (BLOCK as u32, BLOCK as u32);
        // SAFETY: the arguments match the kernel's signature, and both pictures have `width` by `height`
        // pixels.
        unsafe {
            launch!(kernel<<<grid, block, 0, stream>>>(
                image.as_device_ptr(), image.pitch(), to.as_device_ptr(), width as i32,
                height as i32
            ))
        }?;
        stream.synchronize()?;
        Ok(vec![Output::new("grey", &[height, width], &to, expected)?])
    }
}
