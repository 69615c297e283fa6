//! Matrix products, from `kernels/matmul-pitched.cu` and `kernels/matmul-tiled.cu`.

use matmul_pitched::flags::{Fill, ProductFlags};
use matmul_pitched::{matrix, reference};
use multiversion::multiversion;

use super::{Argument, Buffer, POISON, Scale, Work};

/// Threads of a block in either direction.
const BLOCK: u32 = 16;

/// Floats that rows are padded to a multiple of: 512 bytes.
const PADDING: usize = 128;

/// Which kernel it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    Pitched,
    Tiled,
}

/// C (m×p) = A (m×n) · B (n×p), all three in pitched memory.
pub struct Product {
    kernel: Kernel,
    flags: ProductFlags,
    /// As they are, and with padded rows.
    close: [Vec<f32>; 2],
    padded: [Vec<f32>; 2],
}

impl Product {
    /// The chapter's random matrices.
    pub fn boxed(kernel: Kernel, scale: Scale) -> Box<dyn Work> {
        let (m, n, p) = scale.pick([
            (48, 64, 32),
            (480, 640, 320),
            (960, 640, 640),
            (1920, 640, 1280),
        ]);
        let flags = ProductFlags {
            m,
            n,
            p,
            fill: Fill::Random,
            seed: 1,
        };
        let (a, b) = matrix::factors(&flags);
        let padded = [pad(&a, n as usize, 0.0), pad(&b, p as usize, 0.0)];
        Box::new(Product {
            kernel,
            flags,
            close: [a, b],
            padded,
        })
    }

    /// m, n and p.
    fn sizes(&self) -> [usize; 3] {
        [self.flags.m, self.flags.n, self.flags.p].map(|size| size as usize)
    }
}

impl Work for Product {
    fn size(&self) -> String {
        let [m, n, p] = self.sizes();
        format!("{m}×{n}×{p}")
    }

    fn ptx(&self) -> &'static str {
        match self.kernel {
            Kernel::Pitched => include_str!("../../../../../kernels/ptx/matmul-pitched.ptx"),
            Kernel::Tiled => include_str!("../../../../../kernels/ptx/matmul-tiled.ptx"),
        }
    }

    fn kernel(&self) -> &'static str {
        match self.kernel {
            Kernel::Pitched => "mat_mul_pitched",
            Kernel::Tiled => "mat_mul_tiled_16",
        }
    }

    fn shape(&self) -> [[u32; 3]; 2] {
        let (across, down) = (self.flags.p.div_ceil(BLOCK), self.flags.m.div_ceil(BLOCK));
        [[across, down, 1], [BLOCK, BLOCK, 1]]
    }

    /// Each matrix is rows, columns, where it lies, floats from row to row.
    fn arguments(&self) -> Vec<Argument<'_>> {
        let [m, n, p] = self.sizes();
        let [a, b] = &self.padded;
        let matrices = [
            (m, n, Argument::Input(Buffer::Floats(a))),
            (n, p, Argument::Input(Buffer::Floats(b))),
            (m, p, Argument::Output),
        ];
        let arguments = matrices.map(|(rows, cols, place)| {
            let long = |size: usize| Argument::Long(size as u64);
            [long(rows), long(cols), place, long(stride(cols))]
        });
        arguments.concat()
    }

    fn expected(&self) -> Vec<u32> {
        let [_, n, p] = self.sizes();
        let [a, b] = &self.close;
        let bits: Vec<u32> = reference::product(a, b, n, p)
            .into_iter()
            .map(f32::to_bits)
            .collect();
        pad(&bits, p, POISON)
    }

    fn plain(&self, output: &mut [u32]) {
        let [_, n, p] = self.sizes();
        let [a, b] = &self.padded;
        dot_products(a, b, n, p, output);
    }
}

/// A thread an element, a row of A and a column of B each.
#[multiversion(targets("x86_64+avx2+fma"))]
fn dot_products(a: &[f32], b: &[f32], n: usize, p: usize, output: &mut [u32]) {
    let rows = a.chunks(stride(n)).zip(output.chunks_mut(stride(p)));
    for (row, output) in rows {
        for (col, element) in output[..p].iter_mut().enumerate() {
            let column = b[col..].iter().step_by(stride(p));
            let products = row[..n].iter().zip(column);
            let sum = products.fold(0.0_f32, |sum, (a, b)| a.mul_add(*b, sum));
            *element = sum.to_bits();
        }
    }
}

/// Floats from row to row.
fn stride(cols: usize) -> usize {
    cols.next_multiple_of(PADDING)
}

/// Rows of `cols` elements, filled up to [`stride`] of them.
fn pad<T: Copy>(elements: &[T], cols: usize, with: T) -> Vec<T> {
    let padding = std::iter::repeat_n(with, stride(cols) - cols);
    let rows = elements.chunks(cols);
    rows.flat_map(|row| row.iter().copied().chain(padding.clone()))
        .collect()
}
