//! Exercises on pitched memory. Their rows are longer than the width passed to the kernel, so that only the pitch locates
//! the next row.

use anyhow::Result;
use common::PitchedBuffer;
use common::verify::POISON;
use cust::memory::{DeviceCopy, DevicePointer, DeviceSlice};
use cust::prelude::*;

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
        let (scale, colours) = (case.scale(), case.floats(0, COLOURS * width * height));
        let picture: Vec<f32> = colours
            .iter()
            .map(|&colour| scale * with_few_bits(colour))
            .collect();
        let grey = |pixel: &[f32]| 0.25 * pixel[0] + 0.5 * pixel[1] + 0.25 * pixel[2];
        let expected = picture.chunks(COLOURS).map(grey).collect();

        let extra = case.floats(1, extra_elements(case));
        let rows = pad_rows(&picture, COLOURS * width, &extra);
        let size = [COLOURS * width + extra.len(), height, 1];
        let image = bench.pitched_input("image", &rows, size)?;
        let to = bench.output(width * height)?;
        let kernel = bench.submission.kernel("to_grey")?;
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

/// Rounds to a multiple of 2⁻¹⁹, so that sums of a few quarters are exact in any order.
fn with_few_bits(colour: f32) -> f32 {
    const STEPS: f32 = (1 << 19) as f32;
    (colour * STEPS).floor() / STEPS
}

/// The extraction of a part of a picture.
pub struct PitchedRows;

impl Host for PitchedRows {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height) = (case.width(), case.height());
        // Three different pitches: rows of `width` floats, the part's rows, and the picture's rows, which are
        // at least 128 floats longer.
        let padded_width = width + extra_elements(case);
        // All memory of a matrix with many rows counts.
        let range = if height < 1000 { 300 } else { 100 };
        let margins = case.integers(1, 3, range);
        let (left, top) = (1 + margins[0] as usize, 1 + margins[1] as usize);
        let picture_width = left + padded_width + 128 + margins[2] as usize;
        let picture_height = top + height;
        let picture = case.scaled_floats(0, picture_width * picture_height);
        let rows = picture.chunks(picture_width).skip(top);
        let expected = rows.flat_map(|row| &row[left..left + width]).copied();

        let size = [picture_width, picture_height, 1];
        let from = bench.pitched_input("picture", &picture, size)?;
        let mut to = PitchedBuffer::<f32>::new_2d(padded_width, height)?;
        let filler = padding_byte(case);
        to.fill_8(filler)?;
        let extra = vec![f32::from_ne_bytes([filler; 4]); padded_width - width];
        let unwritten = vec![f32::from_ne_bytes([POISON; 4]); width * height];
        to.copy_2d_from(&pad_rows(&unwritten, width, &extra), padded_width)?;
        let kernel = bench.submission.kernel("cut")?;
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
pub(super) fn padding_byte(case: &Case) -> u8 {
    match case.integers(2, 1, 1 << 8)[0] as u8 {
        POISON => 0,
        drawn => drawn,
    }
}

/// Copies all rows, padding included, as 32-bit words.
pub(super) fn words(buffer: &PitchedBuffer<f32>) -> Result<Vec<u32>> {
    let words = buffer.pitch() / size_of::<u32>() * buffer.rows();
    let start = buffer.as_device_ptr().cast::<u32>();
    // SAFETY: the allocation has `rows` rows of `pitch` bytes, and the kernel that wrote it has finished.
    let all = unsafe { DeviceSlice::from_raw_parts(start, words) };
    Ok(all.as_host_vec()?)
}

/// The difference of each slice of a volume from the one before.
pub struct SliceDifferences;

/// The structure `Volume` of the `.cu` file.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Volume {
    start: DevicePointer<f32>,
    pitch: usize,
    width: i32,
    height: i32,
    depth: i32,
}

impl Host for SliceDifferences {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height, depth) = (case.width(), case.height(), case.depth());
        let slice = width * height;
        let values = case.scaled_floats(0, slice * depth);
        let before = |i: usize| if i < slice { 0.0 } else { values[i - slice] };
        let expected = (0..values.len()).map(|i| values[i] - before(i)).collect();

        let extra = case.floats(1, extra_elements(case));
        let rows = pad_rows(&values, width, &extra);
        let size = [width + extra.len(), height, depth];
        let buffer = bench.pitched_input("volume", &rows, size)?;
        let differences = bench.output(values.len())?;
        let volume = Volume {
            start: buffer.as_device_ptr(),
            pitch: buffer.pitch(),
            width: width as i32,
            height: height as i32,
            depth: depth as i32,
        };
        let kernel = bench.submission.kernel("slice_differences")?;
        let stream = &bench.gpu.stream;
        let grid = (
            width.div_ceil(32) as u32,
            height.div_ceil(4) as u32,
            depth as u32,
        );
        // SAFETY: the arguments match the kernel's signature, and the buffer has the size and pitch that
        // `volume` gives.
        unsafe {
            launch!(kernel<<<grid, (32, 4, 1), 0, stream>>>(volume, differences.as_device_ptr()))
        }?;
        stream.synchronize()?;
        let shape = [depth, height, width];
        Ok(vec![Output::new(
            "differences",
            &shape,
            &differences,
            expected,
        )?])
    }
}

/// Column sums of a matrix, one strip of a column per thread.
pub struct Columns;

/// Rows per strip.
const STRIP: usize = 32;
/// Threads per block, one per column of a strip.
const COLUMNS_PER_BLOCK: usize = 128;

impl Host for Columns {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (width, height) = (case.width(), case.height());
        // In one of three matrices, all elements are as large as the sums permit.
        let largest = (2_000_000_000 / height) as u32;
        let (from, range) = match case.integers(5, 1, 3)[0] {
            0 => (largest as i32 - 9, 10),
            _ => (-1_000_000, 2_000_000),
        };
        let drawn = case.integers(0, width * height, range);
        let matrix: Vec<i32> = drawn.iter().map(|&drawn| from + drawn as i32).collect();
        let mut expected = vec![0; width];
        for row in matrix.chunks(width) {
            for (sum, element) in expected.iter_mut().zip(row) {
                *sum += element;
            }
        }

        let extra = case.integers(1, extra_elements(case), u32::MAX);
        let extra: Vec<i32> = extra.into_iter().map(u32::cast_signed).collect();
        let rows = pad_rows(&matrix, width, &extra);
        let pitched = bench.pitched_input("matrix", &rows, [width + extra.len(), height, 1])?;
        let sums = DeviceBuffer::from_slice(&vec![0; width])?;
        let kernel = bench.submission.kernel("column_sums")?;
        let stream = &bench.gpu.stream;
        let strips = height.div_ceil(STRIP) * width;
        let blocks = strips.div_ceil(COLUMNS_PER_BLOCK) as u32;
        // SAFETY: the arguments match the kernel's signature; the matrix has `height` rows of at least
        // `width` elements, and `sums` has `width` elements.
        bench.launch(|| unsafe {
            launch!(kernel<<<blocks, COLUMNS_PER_BLOCK as u32, 0, stream>>>(
                pitched.as_device_ptr(), pitched.pitch(), sums.as_device_ptr(), width as i32,
                height as i32
            ))
        })?;
        stream.synchronize()?;
        Ok(vec![Output::new("sums", &[width], &sums, expected)?])
    }
}

/// Draws the number of extra elements per row: enough that the pitch differs from that of a row without them.
fn extra_elements(case: &Case) -> usize {
    /// The number of rows from which on all memory of a matrix counts.
    const MANY_ROWS: usize = 10_000;
    let range = if case.height() < MANY_ROWS { 128 } else { 2 };
    128 + case.integers(9, 1, range)[0] as usize
}

/// Lays out rows of `width` elements, each followed by the extra elements.
fn pad_rows<T: Copy>(elements: &[T], width: usize, extra: &[T]) -> Vec<T> {
    let rows = elements.chunks(width);
    rows.flat_map(|row| row.iter().chain(extra))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_followed_by_the_extra_elements() {
        assert_eq!(
            pad_rows(&[1, 2, 3, 4], 2, &[0, 9]),
            [1, 2, 0, 9, 3, 4, 0, 9]
        );
    }
}
