//! The matrices in linear memory, to see what padding rows is good for.

use anyhow::{Context as _, Result};
use cust::memory::{CopyDestination, DeviceBuffer};

use crate::matrix::Matrix;

/// A, B and C, whose rows lie right after each other.
pub struct Linear {
    a: DeviceBuffer<f32>,
    b: DeviceBuffer<f32>,
    c: DeviceBuffer<f32>,
    n: usize,
    p: usize,
}

impl Linear {
    /// Allocates all three for rows of `n` elements in A and `p` in B and C, with `a` and `b` in the
    /// first two.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn new(a: &[f32], b: &[f32], n: usize, p: usize) -> Result<Self> {
        let copied = |elements| {
            DeviceBuffer::from_slice(elements)
                .context("cannot copy a matrix to linear memory of the GPU")
        };
        // SAFETY: `poison` or a kernel fills it before it is read.
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

    /// A, B and C, as the kernels take them.
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
    /// CUDA's own.
    pub fn poison(&mut self, value: u8) -> Result<()> {
        Ok(self.c.set_8(value)?)
    }

    /// Copies C from here.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn copy_to(&self, c: &mut [f32]) -> Result<()> {
        Ok(self.c.copy_to(c)?)
    }
}
