//! Matrix multiplication, from `kernels/matmul-pitched.cu` and `kernels/matmul-tiled.cu`.

use launch_plan::{Argument, Element, Launch, ResolvedPlan};
use matmul_pitched::flags::{Fill, ProductFlags};
use matmul_pitched::{matrix, reference};
use multiversion::multiversion;

use super::{OUTPUT, POISON, Scale, Workload, floats, output, plan};

/// Threads per block in each dimension.
const BLOCK: u32 = 16;

/// Row lengths are padded to a multiple of this many floats (512 bytes).
const PADDING: usize = 128;

/// The kernel to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    Pitched,
    Tiled,
}

/// C (m×p) = A (m×n) · B (n×p), all three in pitched memory.
pub struct Matmul {
    kernel: Kernel,
    flags: ProductFlags,
    /// A and B without padding.
    packed: [Vec<f32>; 2],
    /// A and B with padded rows.
    padded: [Vec<f32>; 2],
}

impl Matmul {
    /// The chapter's random matrices.
    pub fn boxed(kernel: Kernel, scale: Scale) -> Box<dyn Workload> {
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
        Box::new(Matmul {
            kernel,
            flags,
            packed: [a, b],
            padded,
        })
    }

    /// Returns m, n and p.
    fn sizes(&self) -> [usize; 3] {
        [self.flags.m, self.flags.n, self.flags.p].map(|size| size as usize)
    }
}

impl Workload for Matmul {
    fn size(&self) -> String {
        let [m, n, p] = self.sizes();
        format!("{m}×{n}×{p}")
    }

    fn ptx(&self) -> &'static str {
        match self.kernel {
            Kernel::Pitched => include_str!("../../../../../../kernels/ptx/matmul-pitched.ptx"),
            Kernel::Tiled => include_str!("../../../../../../kernels/ptx/matmul-tiled.ptx"),
        }
    }

    /// Passes each matrix as a structure: its rows, columns, address and row stride in floats.
    fn plan(&self, words: usize) -> ResolvedPlan {
        let kernel = match self.kernel {
            Kernel::Pitched => "mat_mul_pitched",
            Kernel::Tiled => "mat_mul_tiled_16",
        };
        let (across, down) = (self.flags.p.div_ceil(BLOCK), self.flags.m.div_ceil(BLOCK));
        let shape = [[across, down, 1], [BLOCK, BLOCK, 1]];
        let [m, n, p] = self.sizes();
        let [a, b] = &self.padded;
        let matrices = [(m, n, 1), (n, p, 2), (m, p, OUTPUT)];
        let arguments = matrices.map(|(rows, cols, buffer)| {
            let members = [rows, cols, 0, stride(cols)];
            let bytes = members.map(|member| (member as u64).to_le_bytes());
            Argument::Structure {
                bytes: bytes.concat(),
                pointers: vec![(2 * size_of::<u64>(), buffer)],
            }
        });
        plan(
            vec![output(Element::F32, words), floats("a", a), floats("b", b)],
            Launch::new(kernel, shape, arguments.to_vec()),
        )
    }

    fn expected(&self) -> Vec<u32> {
        let [_, n, p] = self.sizes();
        let [a, b] = &self.packed;
        let bits: Vec<u32> = reference::product(a, b, n, p)
            .into_iter()
            .map(f32::to_bits)
            .collect();
        pad(&bits, p, POISON)
    }

    fn plain(&self, output: &mut [u32]) {
        let [_, n, p] = self.sizes();
        let [a, b] = &self.padded;
        multiply(a, b, n, p, output);
    }
}

/// Computes one element per thread, from a row of A and a column of B.
#[multiversion(targets("x86_64+avx2+fma"))]
fn multiply(a: &[f32], b: &[f32], n: usize, p: usize, output: &mut [u32]) {
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

/// Returns the row stride in floats of a matrix with `cols` columns.
fn stride(cols: usize) -> usize {
    cols.next_multiple_of(PADDING)
}

/// Pads rows of `cols` elements to a length of [`stride`].
fn pad<T: Copy>(elements: &[T], cols: usize, with: T) -> Vec<T> {
    let padding = std::iter::repeat_n(with, stride(cols) - cols);
    let rows = elements.chunks(cols);
    rows.flat_map(|row| row.iter().copied().chain(padding.clone()))
        .collect()
}
