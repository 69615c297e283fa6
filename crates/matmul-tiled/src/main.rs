//! A matrix product through tiles in shared memory beside the one from pitched memory: the note
//! on memory, "Shared memory", code 4.5 and 4.3.
//!
//! The kernels are in `kernels/matmul-tiled.cu` and `kernels/matmul-pitched.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::report::{Report, note};
use common::verify::{POISON, compare, within_ulps};
use common::{counters, launch, memory, module, timing};
use cust::prelude::*;
use matmul_pitched::matrix::{self, Matrix};
use matmul_pitched::pitched::PitchedBuffer;
use matmul_pitched::rate::Rate;
use matmul_pitched::reference;
use matmul_tiled::accesses::Accesses;
use matmul_tiled::flags::{Flags, Variant};

/// The kernel of `matmul-pitched`, as PTX.
const PITCHED_PTX: &str = include_str!(env!("MATMUL_PITCHED_PTX"));
/// The kernels with tiles, as PTX.
const TILED_PTX: &str = include_str!(env!("MATMUL_TILED_PTX"));

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), PITCHED_PTX, TILED_PTX))
}

fn run(flags: &Flags, pitched_ptx: &str, tiled_ptx: &str) -> Result<()> {
    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    // The note's M, N and P.
    let product = &flags.product;
    let (m, n, p) = (product.m as usize, product.n as usize, product.p as usize);
    let variants = flags.tile.variants().iter().map(|&variant| {
        let block = flags.block_of(variant);
        let grid = launch::grid_2d(&gpu.device, p as u64, m as u64, block);
        Ok((variant, grid.with_context(|| variant.name())?))
    });
    let variants = variants.collect::<Result<Vec<_>>>()?;
    memory::require(&gpu, "this product", product.memory_need())?;

    let (host_a, host_b) = matrix::factors(product);
    let expected = reference::product(&host_a, &host_b, n, p);
    let mut host_c = vec![0.0; m * p];

    // Rows lie close together on the computer, and at the pitch on the GPU.
    let mut a = PitchedBuffer::new_2d(n, m)?;
    let mut b = PitchedBuffer::new_3d(p, n, 1)?;
    let mut c = PitchedBuffer::new_3d(p, m, 1)?;
    a.copy_2d_from(&host_a, n)?;
    b.copy_2d_from(&host_b, p)?;

    let pitched = module::load(pitched_ptx)?;
    let tiled = module::load(tiled_ptx)?;
    let events = timing::events(stream)?;
    let mut report = Report::new(
        "matmul-tiled",
        &gpu.info,
        &flags.common,
        flags.inputs(),
        "pitched",
    );

    for (variant, (grid, block)) in variants {
        let module = match variant {
            Variant::Pitched => &pitched,
            _ => &tiled,
        };
        let kernel = module
            .get_function(variant.kernel())
            .with_context(|| format!("cannot find the kernel {}", variant.kernel()))?;
        c.set_8(POISON)?;
        let timing = events
            .timing(gpu.info.time, flags.common.repeat, || {
                // SAFETY: all four kernels take these arguments, and each is an allocation
                // with as many rows and columns as it says. A tile is a block.
                unsafe {
                    launch!(kernel<<<grid, block, 0, stream>>>(
                        Matrix::from(&a), Matrix::from(&b), Matrix::from(&c)
                    ))
                }?;
                Ok(())
            })
            .with_context(|| format!("{} failed", variant.kernel()))?;
        let counted = counters::last_launch();

        // Read back, and compare bit by bit: all four and the reference add up in one order.
        c.copy_3d_to(&mut host_c, p)?;
        let verdict =
            compare(&host_c, &expected, within_ulps(0)).verdict(|index| matrix::place(index, p));
        let rate = Rate::of(product, &timing);
        let accesses = Accesses::of(product, variant.tile(), counted.as_ref(), rate);
        report.add(variant.name(), accesses, timing, &verdict);
    }

    report.print()?;
    note(
        "\nEvery thread of `pitched` loads a row of A and a column of B: 2MPN loads, and MP stores. \
         In a tile threads share what each of them loads, so that loads become fewer by as much as \
         a tile is wide.\nThe times do not go down as much: shared memory is read as often as \
         global memory was, and it takes its time too.",
    );
    report.verdict()
}

#[cfg(test)]
mod tests;
