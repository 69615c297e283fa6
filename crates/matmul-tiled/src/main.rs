//! Matrix multiplication through tiles in shared memory, compared with the version from pitched
//! memory. Follows the note on memory, "Shared memory", code 4.5 and 4.3.
//!
//! The kernels are in `kernels/matmul-tiled.cu` and `kernels/matmul-pitched.cu`; the ladder beyond
//! the note is in `ladder.rs`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chapter::{Entry, launch};
use clap::Parser;
use common::verify::{POISON, compare, within_ulps};
use common::{PitchedBuffer, module};
use cust::prelude::*;
use matmul_pitched::{Matrix, matrix, reference};
use matmul_tiled::{Accesses, Flags, ladder};

fn main() -> ExitCode {
    chapter::main(|| run(&Flags::parse()))
}

fn run(flags: &Flags) -> Result<()> {
    let chapter = flags.open()?;
    let stream = &chapter.gpu.stream;

    // C = AB. A has M rows of N elements, B has N rows of P elements.
    let product = &flags.product;
    let (m, n, p) = (product.m as usize, product.n as usize, product.p as usize);
    let (host_a, host_b) = matrix::factors(product);
    let expected = reference::product(&host_a, &host_b, n, p);
    let mut host_c = vec![0.0; m * p];

    // Allocate A in two dimensions, and B and C in three dimensions with a depth of 1.
    let mut a = PitchedBuffer::new_2d(n, m)?;
    let mut b = PitchedBuffer::new_3d(p, n, 1)?;
    let mut c = PitchedBuffer::new_3d(p, m, 1)?;

    // Copy: rows are contiguous on the host and start at multiples of the pitch on the GPU.
    a.copy_2d_from(&host_a, n)?;
    b.copy_2d_from(&host_b, p)?;

    for variant in flags.variants().note_kernels() {
        c.set_8(POISON)?;
        let module = module::load(variant.ptx)?;
        let kernel = module
            .get_function(variant.kernel)
            .with_context(|| format!("cannot find the kernel {}", variant.kernel))?;

        // A block is as large as its tile of C, BLOCK_SIZE squared: one thread per element.
        let block = variant.area(flags.block);
        let (grid, block) = launch::grid_2d(&chapter.gpu.device, product.p, product.m, block)?;

        // Launch as often as one timing sample needs.
        let measured = chapter.measure(variant.kernel, || {
            // A matrix is passed by value; its stride is the pitch in elements.
            let (a, b, c) = (Matrix::from(&a), Matrix::from(&b), Matrix::from(&c));
            // SAFETY: the arguments match the kernel's parameters in the .cu file, each matrix has
            // the rows and columns it states, and the block is as large as the tile.
            unsafe { launch!(kernel<<<grid, block, 0, stream>>>(a, b, c)) }
        })?;

        // Read back and compare bit by bit: kernels and reference accumulate in the same order.
        c.copy_3d_to(&mut host_c, p)?;
        let check = compare(&host_c, &expected, within_ulps(0));
        let verdict = check.verdict(|index| matrix::element_name(index, p));

        // Count global memory accesses; the note's formula is 2MNP / BLOCK_SIZE + MP.
        let entry = Entry::new(variant.name, measured, verdict);
        chapter.add(entry.with(|measured| Accesses::of(product, variant.tile, measured)));
    }
    drop((a, b, c)); // frees the buffers
    ladder::run(flags, &chapter, [&host_a, &host_b], &expected)?;
    flags.finish(&chapter)
}

#[cfg(test)]
mod tests;
