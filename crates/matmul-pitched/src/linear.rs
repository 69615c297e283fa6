//! The matrices in linear memory, to measure the benefit of padded rows.

use anyhow::{Context as _, Result};
use cust::memory::{CopyDestination, DeviceBuffer};

use crate::matrix::Matrix;

/// A, B and C with contiguous rows.
pub struct Linear {
    a: DeviceBuffer<f32>,
    b: DeviceBuffer<f32>,
    c: DeviceBuffer<f32>,
    n: usize,
    p: usize,
}

impl Linear {
    /// Allocates all three with rows of `n` elements in A and `p` in B and C, and copies `a` and `b` to the
    /// first two.
    ///
    /// # Errors
    /// Fails if CUDA reports an error.
    pub fn new(a: &[f32], b: &[f32], n: usize, p: usize) -> Result<Self> {
        let copied = |elements| {
            DeviceBuffer::from_slice(elements)
                .context("cannot copy a matrix to linear memory of the GPU")
        };
        // SAFETY: `poison` or a kernel writes the buffer before it is read.
        let c = unsafe { DeviceBuffer::uninitialized(a.len() / n * p) }
            .context("cannot allocate linear memory on the GPU")?;
        Ok(Linear {
            a: copied(a)?,
            b: copied(b)?,
            c,
            n,
            p,
        })
    }

    /// Returns A, B and C as kernel arguments.
    pub fn matrices(&self) -> [Matrix; 3] {
        let matrix = |elements: &DeviceBuffer<f32>, cols: usize| Matrix {
            rows: (elements.len() / cols) as u64,
            cols: cols as u64,
            elements: elements.as_device_ptr(),
            stride: cols as u64,
        };
        [
            matrix(&self.a, self.n),
            matrix(&self.b, self.p),
            matrix(&self.c, self.p),
        ]
    }

    /// Sets every byte of C to `value`.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn poison(&mut self, value: u8) -> Result<()> {
        Ok(self.c.set_8(value)?)
    }

    /// Copies C to the host.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn copy_to(&self, c: &mut [f32]) -> Result<()> {
        Ok(self.c.copy_to(c)?)
    }
}
