//! 11-volume: a volume of slices with padded rows.

use anyhow::Result;
use cust::memory::{DeviceCopy, DevicePointer};
use cust::prelude::*;

use super::row_padding;
use crate::host::{Bench, Case, Host, Output};

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
        let values = case.floats(0, slice * depth);
        let before = |i: usize| if i < slice { 0.0 } else { values[i - slice] };
        let expected = (0..values.len()).map(|i| values[i] - before(i)).collect();

        let extra = case.floats(1, row_padding::extra_elements(case));
        let rows = row_padding::pad_rows(&values, width, &extra);
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
        let kernel = bench.kernel("slice_differences")?;
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
