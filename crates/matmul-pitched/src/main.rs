//! Padded rows in pitched and 3D memory, and a matrix multiplication there. Follows the note on
//! memory, "Device memory", code 4.2 and 4.3.
//!
//! The kernel is in `kernels/matmul-pitched.cu`; the ladder beyond the note is in `ladder.rs`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chapter::{Entry, launch};
use clap::Parser;
use common::verify::{POISON, compare, within_ulps};
use common::{PitchedBuffer, module};
use cust::prelude::*;
use matmul_pitched::pitches::{DEPTH, HEIGHT};
use matmul_pitched::{Flags, Matrix, Pitches, Rate, ladder, matrix, reference};

/// The kernel, compiled to PTX.
const PTX: &str = include_str!(env!("MATMUL_PITCHED_PTX"));

fn main() -> ExitCode {
    chapter::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let chapter = flags.open()?;

    // Code 4.2: the pitch of rows in two and in three dimensions. Each buffer is freed at once.
    let mut pitches = Pitches::default();
    for &width in &flags.widths {
        pitches.add_2d(&PitchedBuffer::new_2d(width as usize, HEIGHT)?);
    }
    for &width in &flags.widths {
        pitches.add_3d(&PitchedBuffer::new_3d(width as usize, HEIGHT, DEPTH)?);
    }
    chapter.extra(pitches);

    // Code 4.3: C = AB. A has M rows of N elements, B has N rows of P elements.
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

    let module = module::load(ptx)?;
    let stream = &chapter.gpu.stream;
    for variant in flags.variants().note_kernels() {
        c.set_8(POISON)?;
        let kernel = module
            .get_function(variant.kernel)
            .with_context(|| format!("cannot find the kernel {}", variant.kernel))?;

        // Launch one thread per element of C, as often as one timing sample needs.
        let (grid, block) =
            launch::grid_2d(&chapter.gpu.device, product.p, product.m, flags.block)?;
        let measured = chapter.measure(variant.kernel, || {
            // A matrix is passed by value; its stride is the pitch in elements.
            let (a, b, c) = (Matrix::from(&a), Matrix::from(&b), Matrix::from(&c));
            // SAFETY: the arguments match the kernel's parameters in the .cu file, and each matrix
            // is an allocation with the rows and columns it states.
            unsafe { launch!(kernel<<<grid, block, 0, stream>>>(a, b, c)) }
        })?;

        // Read back and compare bit by bit: kernel and reference round in the same places.
        c.copy_3d_to(&mut host_c, p)?;
        let check = compare(&host_c, &expected, within_ulps(0));
        let verdict = check.verdict(|index| matrix::element_name(index, p));
        let entry = Entry::new(variant.name, measured, verdict);
        chapter.add(entry.with(|measured| Rate::of(product, &measured.timing)));
    }
    drop((a, b, c)); // frees the buffers
    ladder::run(flags, &chapter, [&host_a, &host_b], &expected)?;
    flags.finish(&chapter)
}

#[cfg(test)]
mod tests;
