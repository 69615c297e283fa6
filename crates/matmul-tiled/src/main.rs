//! A matrix product through tiles in shared memory beside the one from pitched memory: the note
//! on memory, "Shared memory", code 4.5 and 4.3.
//!
//! The kernels are in `kernels/matmul-tiled.cu` and `kernels/matmul-pitched.cu`; those that go on
//! from there to the hardware's limit are in `kernels/matmul-ladder`.

use std::borrow::Cow;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::ladder::{self, Rung as _};
use common::limit::Fp32;
use common::report::{Report, note};
use common::timing::Timing;
use common::verify::{POISON, compare, within_ulps};
use common::{counters, launch, memory, module, timing};
use cust::prelude::*;
use matmul_pitched::matrix::{self, Matrix};
use matmul_pitched::pitched::PitchedBuffer;
use matmul_pitched::rate::Rate;
use matmul_pitched::reference;
use matmul_tiled::accesses::Accesses;
use matmul_tiled::cublas::{self, Math};
use matmul_tiled::flags::Flags;
use matmul_tiled::shares::Shares;
use matmul_tiled::tf32;
use matmul_tiled::variant::Variant;

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), |variant| variant.ptx().into()))
}

/// The chapter, with the PTX that `ptx` gives for a variant.
fn run(flags: &Flags, ptx: impl Fn(Variant) -> Cow<'static, str>) -> Result<()> {
    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    // The note's M, N and P.
    let product = &flags.product;
    let (m, n, p) = (product.m as usize, product.n as usize, product.p as usize);
    let chosen = flags.variants();
    let shared_limit = launch::shared_limit(&gpu.device)?;
    let runs = |variant: &&Variant| variant.runs_on(&gpu.info) && variant.fits(shared_limit);
    let variants = chosen.iter().filter(runs);
    let variants = variants.map(|&variant| {
        let area = variant.area(flags.block);
        let (width, height) = (p as u64, m as u64);
        let grid = match variant.threads() {
            None => launch::grid_2d(&gpu.device, width, height, area),
            Some(threads) => launch::tiles_2d(&gpu.device, width, height, area, threads),
        };
        Ok((variant, grid.with_context(|| variant.name())?))
    });
    let variants = variants.collect::<Result<Vec<_>>>()?;
    memory::require(&gpu, "this product", product.memory_need())?;

    let (host_a, host_b) = matrix::factors(product);
    let expected = reference::product(&host_a, &host_b, n, p);
    let in_tf32 = variants.iter().any(|(variant, _)| variant.is_tf32());
    let expected_in_tf32 = in_tf32.then(|| tf32::product(&host_a, &host_b, n, p));
    let mut host_c = vec![0.0; m * p];

    // Rows lie close together on the computer, and at the pitch on the GPU.
    let mut a = PitchedBuffer::new_2d(n, m)?;
    let mut b = PitchedBuffer::new_3d(p, n, 1)?;
    let mut c = PitchedBuffer::new_3d(p, m, 1)?;
    a.copy_2d_from(&host_a, n)?;
    b.copy_2d_from(&host_b, p)?;

    let events = timing::events(stream)?;
    let mut report = Report::new(
        "matmul-tiled",
        &gpu.info,
        &flags.common,
        flags.inputs(),
        "pitched",
    );

    let climbs = ladder::climbs(&chosen);
    let limits = climbs && flags.common.is_timed();
    let cublas = limits.then(|| cublas::find(&gpu)).flatten();
    let yardstick = |math: Math, matrices: [&PitchedBuffer<f32>; 3]| -> Result<Option<Timing>> {
        let time = |library| cublas::sgemm(library, math, &events, flags.common.repeat, matrices);
        cublas.as_ref().map(time).transpose()
    };
    if limits {
        let fp32 = Fp32::measure(&gpu, &events, flags.common.repeat)?;
        let multiply_adds = m as f64 * n as f64 * p as f64;
        report.limit("multiply-adds alone", fp32.time(multiply_adds));
        if let Some(timing) = yardstick(Math::Fp32, [&a, &b, &c])? {
            report.limit("cuBLAS, fp32", timing);
        }
    }

    for (variant, (grid, block)) in variants {
        let module = module::load(&ptx(variant))?;
        let kernel = module
            .get_function(variant.kernel())
            .with_context(|| format!("cannot find the kernel {}", variant.kernel()))?;
        let shared = variant.shared_bytes();
        launch::allow_shared(&kernel, shared).with_context(|| variant.name())?;
        let shares = Shares::new(&gpu, &kernel, variant, product)?;
        let grid = shares.as_ref().map_or(grid, Shares::grid);
        // What tensor cores are measured against: right before, for the same reason as below.
        let limit = match variant.is_tf32() {
            true => yardstick(Math::Tf32, [&a, &b, &c])?,
            false => None,
        };
        // ANCHOR: launch
        c.set_8(POISON)?;
        let launch = || {
            let (a, b, c) = (Matrix::from(&a), Matrix::from(&b), Matrix::from(&c));
            // SAFETY: these are the kernel's arguments, and each is an allocation with as many
            // rows and columns, or parts and flags, as it says. The block is the kernel's own.
            unsafe {
                match &shares {
                    None => launch!(kernel<<<grid, block, shared, stream>>>(a, b, c)),
                    Some(Shares { parts, ready, .. }) => {
                        launch!(kernel<<<grid, block, shared, stream>>>(
                            a, b, c, parts.as_device_ptr(), ready.as_device_ptr()
                        ))
                    }
                }
            }?;
            Ok(())
        };
        // ANCHOR_END: launch
        let timing = match variant.is_tf32() {
            // Tensor cores at full speed draw more power than the GPU may for long.
            true => events.paced(gpu.info.time, flags.common.repeat, launch),
            false => events.timing(gpu.info.time, flags.common.repeat, launch),
        };
        let timing = timing.with_context(|| format!("{} failed", variant.kernel()))?;
        let counted = counters::last_launch();

        // Read back, and compare bit by bit: all kernels and the reference add up in one order.
        // Only tensor cores have their own, and a reference of theirs.
        c.copy_3d_to(&mut host_c, p)?;
        let place = |index| matrix::place(index, p);
        let tf32 = expected_in_tf32.as_ref().filter(|_| variant.is_tf32());
        let verdict = match tf32 {
            Some(expected) => tf32::compare(&host_c, expected).verdict(place),
            None => compare(&host_c, &expected, within_ulps(0)).verdict(place),
        };
        let rate = Rate::of(product, &timing);
        let cut_tiles = shares.map_or(0, |shares| shares.cut.cut_tiles());
        let accesses = Accesses::of(product, variant.tile(), cut_tiles, counted.as_ref(), rate);
        match variant.is_tf32() {
            false => report.add(variant.name(), accesses, timing, &verdict),
            true => {
                let limit = limit.map(|timing| ("cuBLAS, TF32", timing));
                report.add_beside(limit, variant.name(), accesses, timing, &verdict);
            }
        }
    }

    report.print()?;
    if climbs {
        note(format_args!("\n{}", ladder::ideas(&chosen)));
        return report.verdict();
    }
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
