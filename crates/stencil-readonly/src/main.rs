//! A nine-point stencil, its coefficients in constant memory and through the read-only cache: the
//! note on constant memory and the read-only cache, 5.5.1 and 5.5.2.
//!
//! The kernels are in `kernels/stencil-readonly.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::ladder::{self, Rung as _};
use common::limit::{self, Span};
use common::report::{Report, note};
use common::verify::{POISON, compare, within_ulps};
use common::{launch, memory, module, timing};
use cust::memory::AsyncCopyDestination;
use cust::prelude::*;
use serde::Serialize;
use stencil_readonly::accuracy::{self, Explained};
use stencil_readonly::flags::{Flags, Inputs};
use stencil_readonly::scheme::{COEF, RADIUS};
use stencil_readonly::stencil::Stencil;
use stencil_readonly::{reference, wave};

/// The kernels, as PTX.
const PTX: &str = include_str!(env!("STENCIL_READONLY_PTX"));

/// The chapter's JSON record.
#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    report: &'a Report<Inputs, Stencil>,
    explained_error: Explained,
}

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    let variants = flags.variants();
    let climbs = ladder::climbs(&variants);
    for block in flags.blocks() {
        launch::grid_1d(&gpu.device, flags.size.into(), block)?;
    }
    memory::require(&gpu, "this array", flags.memory_need())?;

    let size = flags.size as usize;
    let host_points = wave::points(size);
    let derivative = wave::derivative(size);
    let expected = reference::stencil(&host_points);

    // Allocate: points and results, each with RADIUS more on either side, and the coefficients.
    let points =
        DeviceBuffer::from_slice(&host_points).context("cannot copy the points to the GPU")?;
    // SAFETY: it is filled with `POISON` before it is read.
    let mut results = unsafe { DeviceBuffer::<f32>::uninitialized(host_points.len()) }
        .context("cannot allocate the results on the GPU")?;
    let mut host_results = vec![0.0; host_points.len()];
    // ANCHOR: memory
    let dcoef = DeviceBuffer::from_slice(&COEF)?;
    let inner = RADIUS..RADIUS + size;
    let from = points.index(inner.clone()).as_device_ptr();
    let to = results.index(inner.clone()).as_device_ptr();

    // Copy the coefficients to the symbol that is constant memory.
    let module = module::load(ptx)?;
    module::symbol::<[f32; RADIUS + 1]>(&module, c"coef")?.copy_from(&COEF)?;
    // ANCHOR_END: memory

    let events = timing::events(stream)?;
    let mut report = Report::new(
        "stencil-readonly",
        &gpu.info,
        &flags.common,
        flags.inputs(),
        "constant",
    );

    // The memory's limit: the same array copied on the GPU.
    if climbs && flags.common.is_timed() {
        let (to, from) = (span(&results), span(&points));
        let copy = limit::copy(&gpu, &events, flags.common.repeat, to, from)?;
        report.limit("copy on the device", copy);
    }

    for threads in flags.blocks() {
        for &variant in &variants {
            let (grid, block) = launch::grid_1d(&gpu.device, variant.threads(flags.size), threads)?;
            let shared = variant.shared_bytes(threads);
            // Launch: the kernels take pointers to the first point and the first result.
            results.set_8(POISON)?;
            let kernel = module.get_function(variant.kernel())?;
            let launch = || match variant.takes_coefficients() {
                // SAFETY: the arguments are those of the kernel in the .cu file; there are `size`
                // points and results behind a halo of `RADIUS` on a boundary of 16 bytes, as many
                // more after them, and shared memory for a block's points and its halo.
                false => unsafe {
                    launch!(kernel<<<grid, block, shared, stream>>>(from, to, flags.size))
                },
                // SAFETY: as above; there are `RADIUS + 1` coefficients.
                true => unsafe {
                    launch!(kernel<<<grid, block, shared, stream>>>(
                        from, to, flags.size, dcoef.as_device_ptr()
                    ))
                },
            };
            let timing = events
                .timing(gpu.info.time, flags.common.repeat, || Ok(launch()?))
                .with_context(|| format!("{} failed", variant.kernel()))?;

            // Read back. Kernel and reference round in the same places, and so are equal bit by
            // bit; the derivative is as good as its coefficients.
            results.copy_to(&mut host_results)?;
            let computed = &host_results[inner.clone()];
            let verdict = compare(computed, &expected, within_ulps(0))
                .verdict(|index| format!("point {index}"));
            let error = accuracy::largest_error(computed, &derivative);
            let verdict = accuracy::judge(verdict, error);
            let stencil = Stencil::new(size, Some(threads), Some(error), &timing);
            report.add(variant.name(), stencil, timing, &verdict);
        }
    }

    // Beside the note's kernels: the same array copied on the GPU.
    if !climbs {
        results.set_8(POISON)?;
        let timing = events
            .timing(gpu.info.time, flags.common.repeat, || {
                // SAFETY: both allocations outlive the copy, which `events` waits for.
                Ok(unsafe { results.async_copy_from(&points, stream) }?)
            })
            .context("the copy on the GPU failed")?;
        results.copy_to(&mut host_results)?;
        let verdict = compare(&host_results, &host_points, within_ulps(0))
            .verdict(|index| format!("element {index}"));
        let copy = Stencil::new(host_points.len(), None, None, &timing);
        report.add("device copy", copy, timing, &verdict);
    }

    let explained = accuracy::explained();
    let record = Record {
        report: &report,
        explained_error: explained,
    };
    report.print_with(&record, &[])?;
    if climbs {
        note(format_args!("\n{}", ladder::ideas(&variants)));
    }
    note(format_args!(
        "\nEvery warp reads the same four coefficients, from constant memory or through the read-only \
         cache.\n\
         Every block fetches a halo of 8 points beside its own, so that small blocks fetch much more \
         than they have.\n\
         The derivative is between -1 and 1. Coefficients of five decimal places put it off by \
         {:.2e}, and rounding to 32 bits by at most {:.2e} more.",
        explained.by_coefficients, explained.by_rounding,
    ));
    report.verdict()
}

/// All of `buffer`, as one end of a copy.
fn span(buffer: &DeviceBuffer<f32>) -> Span {
    Span {
        address: buffer.as_device_ptr().as_raw(),
        bytes: buffer.len() * size_of::<f32>(),
    }
}

#[cfg(test)]
mod tests;
