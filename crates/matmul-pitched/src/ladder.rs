//! Measurements beyond the note: the hardware's limit, and the rungs towards it.

use anyhow::{Context as _, Result};
use chapter::limit::Fp32;
use chapter::{Chapter, Entry, Limit, launch};
use common::verify::{POISON, compare, within_ulps};
use common::{PitchedBuffer, module};
use cust::function::{BlockSize, GridSize};
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer};

use crate::flags::Flags;
use crate::matrix::{self, Matrix};
use crate::rate::Rate;
use crate::variant::{Variant, any_linear};

/// Lists the ideas of the selected rungs and measures the hardware's limit, before the note's kernel runs.
/// Does nothing if no rung was selected.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn prepare(flags: &Flags, chapter: &Chapter) -> Result<()> {
    if chapter.with_ladder(&flags.variants()) {
        let fp32 = Fp32::measure(&chapter.gpu, chapter.repeat());
        let time = fp32.map(|fp32| fp32.time(flags.product.multiply_adds()));
        chapter.limit(Limit::new("arithmetic alone", time));
    }
    Ok(())
}

/// Multiplies A and B with each selected rung, after the note's kernel.
///
/// # Errors
///
/// Fails if CUDA reports an error, such as that of a failed kernel.
pub fn run(
    flags: &Flags,
    chapter: &Chapter,
    [host_a, host_b]: [&[f32]; 2],
    expected: &[f32],
) -> Result<()> {
    let rungs = flags.variants().rungs();
    if rungs.is_empty() {
        return Ok(());
    }
    let product = &flags.product;
    let (m, n, p) = (product.m as usize, product.n as usize, product.p as usize);
    let mut a = PitchedBuffer::new_2d(n, m)?;
    let mut b = PitchedBuffer::new_3d(p, n, 1)?;
    let mut c = PitchedBuffer::new_3d(p, m, 1)?;
    // Rungs that load four columns at once also read B's padding. It does not affect their results, but no
    // memory that is read should be uninitialized.
    b.fill_8(0)?;
    a.copy_2d_from(host_a, n)?;
    b.copy_2d_from(host_b, p)?;
    // The same matrices without padding, for comparison.
    let mut linear = if any_linear(&rungs) {
        Some(Linear::new(host_a, host_b, n, p)?)
    } else {
        None
    };

    let stream = &chapter.gpu.stream;
    let mut host_c = vec![0.0; expected.len()];
    for variant in rungs {
        let module = module::load(variant.ptx)?;
        let kernel = module
            .get_function(variant.kernel)
            .with_context(|| format!("cannot find the kernel {}", variant.kernel))?;
        let (grid, block) = grid(chapter, flags, variant)?;
        let mut linear = linear.as_mut().filter(|_| variant.linear);
        let [matrix_a, matrix_b, matrix_c] = match &mut linear {
            Some(linear) => {
                linear.poison(POISON)?;
                linear.matrices()
            }
            None => {
                c.set_8(POISON)?;
                [Matrix::from(&a), Matrix::from(&b), Matrix::from(&c)]
            }
        };
        let measured = chapter.measure(variant.kernel, || {
            // SAFETY: the arguments match the parameters of each kernel in the .cu files, and each matrix is
            // an allocation with the rows and columns it states. Kernels that load 16 bytes get rows that
            // start at multiples of the pitch and are padded to it.
            unsafe { launch!(kernel<<<grid, block, 0, stream>>>(matrix_a, matrix_b, matrix_c)) }
        })?;

        match linear {
            Some(linear) => linear.copy_to(&mut host_c)?,
            None => c.copy_3d_to(&mut host_c, p)?,
        }
        let check = compare(&host_c, expected, within_ulps(0));
        let verdict = check.verdict(|index| matrix::element_name(index, p));
        let entry = Entry::new(variant.name, measured, verdict);
        chapter.add(entry.with(|measured| Rate::of(product, &measured.timing)));
    }
    Ok(())
}

/// Returns a grid of blocks that covers C, with a part of C per thread.
///
/// # Errors
///
/// Fails if the device does not allow it.
pub fn grid(chapter: &Chapter, flags: &Flags, variant: &Variant) -> Result<(GridSize, BlockSize)> {
    let (across, down) = variant.part;
    let cols = flags.product.p.div_ceil(across);
    let rows = flags.product.m.div_ceil(down);
    let (width, height) = if variant.swapped {
        (rows, cols)
    } else {
        (cols, rows)
    };
    let block = variant.block.unwrap_or(flags.block);
    launch::grid_2d(&chapter.gpu.device, width, height, block)
}

/// A, B and C in linear memory, with contiguous rows, to measure the benefit of padded ones.
struct Linear {
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
    fn new(a: &[f32], b: &[f32], n: usize, p: usize) -> Result<Self> {
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
    fn matrices(&self) -> [Matrix; 3] {
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
    fn poison(&mut self, value: u8) -> Result<()> {
        Ok(self.c.set_8(value)?)
    }

    /// Copies C to the host.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    fn copy_to(&self, c: &mut [f32]) -> Result<()> {
        Ok(self.c.copy_to(c)?)
    }
}
