//! How rows are padded in pitched and 3D memory, and a matrix product there: the note on memory,
//! "Device memory", code 4.2 and 4.3.
//!
//! The kernel is in `kernels/matmul-pitched.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::report::{Report, note};
use common::verify::{POISON, compare, within_ulps};
use common::{launch, memory, module, timing};
use cust::prelude::*;
use matmul_pitched::flags::{Flags, Inputs};
use matmul_pitched::matrix::{self, Matrix};
use matmul_pitched::pitched::PitchedBuffer;
use matmul_pitched::pitches::{self, Pitch};
use matmul_pitched::rate::Rate;
use matmul_pitched::reference;
use serde::Serialize;

/// The kernel, as PTX.
const PTX: &str = include_str!(env!("MATMUL_PITCHED_PTX"));

/// The chapter's JSON record.
#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    report: &'a Report<Inputs, Rate>,
    pitches: &'a [Pitch],
}

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    // The note's M, N and P.
    let product = &flags.product;
    let (m, n, p) = (product.m as usize, product.n as usize, product.p as usize);
    let (grid, block) = launch::grid_2d(&gpu.device, p as u64, m as u64, flags.block)?;
    memory::require(&gpu, "this chapter", flags.memory_need())?;

    // Code 4.2: how long rows become.
    let pitches = pitches::of(&flags.widths)?;

    // Code 4.3: A in two dimensions, B and C in three, of which the last is 1.
    let (host_a, host_b) = matrix::factors(product);
    let expected = reference::product(&host_a, &host_b, n, p);
    let mut a = PitchedBuffer::new_2d(n, m)?;
    let mut b = PitchedBuffer::new_3d(p, n, 1)?;
    let mut c = PitchedBuffer::new_3d(p, m, 1)?;

    // Rows lie close together on the computer, and at the pitch on the GPU.
    a.copy_2d_from(&host_a, n)?;
    b.copy_2d_from(&host_b, p)?;
    c.set_8(POISON)?;

    let module = module::load(ptx)?;
    let kernel = module
        .get_function("mat_mul_pitched")
        .context("cannot find the kernel mat_mul_pitched")?;
    let events = timing::events(stream)?;
    let mut report = Report::new(
        "matmul-pitched",
        &gpu.info,
        &flags.common,
        flags.inputs(),
        "pitched",
    );
    let timing = events
        .timing(gpu.info.time, flags.common.repeat, || {
            // SAFETY: the arguments are those of `mat_mul_pitched` in the .cu file, and each
            // is an allocation with as many rows and columns as it says.
            unsafe {
                launch!(kernel<<<grid, block, 0, stream>>>(
                    Matrix::from(&a), Matrix::from(&b), Matrix::from(&c)
                ))
            }?;
            Ok(())
        })
        .context("mat_mul_pitched failed")?;

    // Read back, and compare bit by bit: kernel and reference round in the same places.
    let mut host_c = vec![0.0; m * p];
    c.copy_3d_to(&mut host_c, p)?;
    let verdict =
        compare(&host_c, &expected, within_ulps(0)).verdict(|index| matrix::place(index, p));

    report.add("pitched", Rate::of(product, &timing), timing, &verdict);
    let record = Record {
        report: &report,
        pitches: &pitches,
    };
    report.print_with(&record, &[pitches::table(&pitches)])?;
    note(
        "\nA row takes `pitch` bytes of memory, however narrow it is: what lies beyond its width is \
         padding, so that the next row starts on a boundary.\n\
         Each thread reads a row of A and a column of B for itself; `matmul-tiled` shows what \
         sharing them saves.",
    );
    report.verdict()
}

#[cfg(test)]
mod tests;
