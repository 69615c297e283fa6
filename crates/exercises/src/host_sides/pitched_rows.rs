//! 09-pitched-rows: two buffers with different pitches, and padding that must not be written.

use anyhow::Result;
use common::PitchedBuffer;
use common::verify::POISON;
use cust::memory::DeviceSlice;
use cust::prelude::*;

use super::row_padding;
use crate::host::{Bench, Case, Host, Output};

/// The extraction of a part of a picture.
pub struct PitchedRows;

/// Threads per block along x and along y.
const BLOCK: usize = 16;

impl Host for PitchedRows {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height) = (case.width(), case.height());
        // Three different pitches: rows of `width` floats, the part's rows, and the picture's rows, which are
        // at least 128 floats longer.
        let padded_width = width + row_padding::extra_elements(case);
        let margins = case.integers(1, 3, 100);
        let (left, top) = (1 + margins[0] as usize, 1 + margins[1] as usize);
        let picture_width = left + padded_width + 128 + margins[2] as usize;
        let picture_height = top + height;
        let picture = case.floats(0, picture_width * picture_height);
        let rows = picture.chunks(picture_width).skip(top);
        let expected = rows.flat_map(|row| &row[left..left + width]).copied();

        let size = [picture_width, picture_height, 1];
        let from = bench.pitched_input("picture", &picture, size)?;
        let mut to = PitchedBuffer::<f32>::new_2d(padded_width, height)?;
        let filler = padding_byte(case);
        to.fill_8(filler)?;
        let extra = vec![f32::from_ne_bytes([filler; 4]); padded_width - width];
        let unwritten = vec![f32::from_ne_bytes([POISON; 4]); width * height];
        to.copy_2d_from(
            &row_padding::pad_rows(&unwritten, width, &extra),
            padded_width,
        )?;
        let kernel = bench.kernel("cut")?;
        let stream = &bench.gpu.stream;
        let grid = (width.div_ceil(BLOCK) as u32, height.div_ceil(BLOCK) as u32);
        let block = (BLOCK as u32, BLOCK as u32);
        // SAFETY: the arguments match the kernel's signature, and both pictures have the sizes and pitches
        // passed.
        unsafe {
            launch!(kernel<<<grid, block, 0, stream>>>(
                from.as_device_ptr(), from.pitch(), to.as_device_ptr(), to.pitch(),
                left as i32, top as i32, width as i32, height as i32
            ))
        }?;
        stream.synchronize()?;

        let stride = to.pitch() / size_of::<f32>();
        let rows = words(&to)?;
        let rows = rows.chunks(stride);
        let part = rows.clone().flat_map(|row| &row[..width]);
        let part = part.map(|&word| f32::from_bits(word)).collect();
        let padding: Vec<u32> = rows.flat_map(|row| &row[width..]).copied().collect();
        let untouched = vec![u32::from_ne_bytes([filler; 4]); padding.len()];
        let padding_shape = [height, padding.len() / height];
        Ok(vec![
            Output::from_values("part", &[height, width], part, expected.collect())?,
            Output::from_values("padding", &padding_shape, padding, untouched)?.padding_of("part"),
        ])
    }
}

/// Draws the byte that fills the padding before the launch, different in each case and never the poison byte,
/// which means "never written".
fn padding_byte(case: &Case) -> u8 {
    match case.integers(2, 1, 1 << 8)[0] as u8 {
        POISON => 0,
        drawn => drawn,
    }
}

/// Copies all rows, padding included, as 32-bit words.
fn words(buffer: &PitchedBuffer<f32>) -> Result<Vec<u32>> {
    let words = buffer.pitch() / size_of::<u32>() * buffer.rows();
    let start = buffer.as_device_ptr().cast::<u32>();
    // SAFETY: the allocation has `rows` rows of `pitch` bytes, and the kernel that wrote it has finished.
    let all = unsafe { DeviceSlice::from_raw_parts(start, words) };
    Ok(all.as_host_vec()?)
}
