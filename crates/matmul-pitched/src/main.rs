//! How rows are padded in pitched and 3D memory, and a matrix product there: the note on memory,
//! "Device memory", code 4.2 and 4.3.
//!
//! The kernel is in `kernels/matmul-pitched.cu`, faster ones in `kernels/matmul-pitched-ladder.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::ladder::{self, Rung};
use common::limit::Fp32;
use common::report::{Report, note};
use common::verify::{POISON, compare, within_ulps};
use common::{memory, module, timing};
use cust::prelude::*;
use matmul_pitched::flags::{Flags, Inputs};
use matmul_pitched::linear::Linear;
use matmul_pitched::matrix::{self, Matrix};
use matmul_pitched::pitched::PitchedBuffer;
use matmul_pitched::pitches::{self, Pitch};
use matmul_pitched::rate::Rate;
use matmul_pitched::reference;
use matmul_pitched::variant::Variant;
use serde::Serialize;

/// The kernel, as PTX.
const PTX: &str = include_str!(env!("MATMUL_PITCHED_PTX"));
const LADDER_PTX: &str = include_str!(env!("MATMUL_PITCHED_LADDER_PTX"));

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
    let variants = flags.variants();
    for variant in &variants {
        variant.shape(&gpu, flags)?;
    }
    let climbs = ladder::climbs(&variants);
    memory::require(&gpu, "this chapter", flags.memory_need())?;

    // Code 4.2: how long rows become.
    let pitches = pitches::of(&flags.widths)?;

    let mut report = Report::new(
        "matmul-pitched",
        &gpu.info,
        &flags.common,
        flags.inputs(),
        Variant::Pitched.name(),
    );

    // Code 4.3: A in two dimensions, B and C in three, of which the last is 1.
    let (host_a, host_b) = matrix::factors(product);
    let expected = reference::product(&host_a, &host_b, n, p);
    // ANCHOR: allocate
    let mut a = PitchedBuffer::new_2d(n, m)?;
    let mut b = PitchedBuffer::new_3d(p, n, 1)?;
    let mut c = PitchedBuffer::new_3d(p, m, 1)?;
    // ANCHOR_END: allocate

    if climbs {
        // Rungs that load four columns at once read on into B's padding. What is there does not
        // show in their results, but nothing that is read should be undefined.
        b.fill_8(0)?;
    }

    // ANCHOR: copy
    // Rows lie close together on the computer, and at the pitch on the GPU.
    a.copy_2d_from(&host_a, n)?;
    b.copy_2d_from(&host_b, p)?;
    // ANCHOR_END: copy

    // What the padding is compared with: the same matrices without.
    let mut linear = match variants.iter().any(|variant| variant.is_linear()) {
        true => Some(Linear::new(&host_a, &host_b, n, p)?),
        false => None,
    };

    let module = module::load(ptx)?;
    let ladder_module = match climbs {
        true => Some(module::load(LADDER_PTX)?),
        false => None,
    };
    let events = timing::events(stream)?;
    if climbs && flags.common.is_timed() {
        let fp32 = Fp32::measure(&gpu, &events, flags.common.repeat)?;
        let products = m as f64 * n as f64 * p as f64;
        report.limit("arithmetic alone", fp32.time(products));
    }

    let mut host_c = vec![0.0; m * p];
    for variant in &variants {
        let name = variant.kernel();
        let module = match &ladder_module {
            Some(ladder_module) if !variant.is_the_notes() => ladder_module,
            _ => &module,
        };
        let kernel = module
            .get_function(name)
            .with_context(|| format!("cannot find the kernel {name}"))?;
        let (grid, block) = variant.shape(&gpu, flags)?;
        let mut linear = linear.as_mut().filter(|_| variant.is_linear());
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
        let timing = events
            .timing(gpu.info.time, flags.common.repeat, || {
                // SAFETY: the arguments are those of each kernel in the .cu files, and each is an
                // allocation with as many rows and columns as it says. Those kernels that load 16
                // bytes get rows that start at multiples of the pitch, and are padded to it.
                unsafe {
                    launch!(kernel<<<grid, block, 0, stream>>>(matrix_a, matrix_b, matrix_c))
                }?;
                Ok(())
            })
            .with_context(|| format!("{name} failed"))?;

        // Read back, and compare bit by bit: kernels and reference round in the same places.
        match linear {
            Some(linear) => linear.copy_to(&mut host_c)?,
            None => c.copy_3d_to(&mut host_c, p)?,
        }
        let verdict =
            compare(&host_c, &expected, within_ulps(0)).verdict(|index| matrix::place(index, p));
        report.add(variant.name(), Rate::of(product, &timing), timing, &verdict);
    }

    let record = Record {
        report: &report,
        pitches: &pitches,
    };
    report.print_with(&record, &[pitches::table(&pitches)])?;
    if climbs {
        note(format_args!("\n{}", ladder::ideas(&variants)));
        return report.verdict();
    }
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
