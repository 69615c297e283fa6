//! A nine-point stencil whose coefficients are in constant memory or read through the read-only
//! cache. Follows the note on constant memory and the read-only cache, 5.5.1 and 5.5.2.
//!
//! The kernels are in `kernels/stencil-readonly.cu`; the ladder beyond the note is in `ladder.rs`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chapter::{Entry, launch};
use clap::Parser;
use common::module;
use common::verify::{POISON, output};
use cust::prelude::*;
use stencil_readonly::{
    COEF, Coefficients, Expected, Flags, RADIUS, Stencil, ladder, scheme, wave,
};

/// The kernels, compiled to PTX.
const PTX: &str = include_str!(env!("STENCIL_READONLY_PTX"));

fn main() -> ExitCode {
    chapter::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let chapter = flags.open()?;
    let stream = &chapter.gpu.stream;
    let size = flags.size as usize;
    let host_points = wave::points(size);
    let expected = Expected::of(&host_points);

    // Allocate points and results, with a halo of RADIUS on both sides, and the coefficients.
    let points =
        DeviceBuffer::from_slice(&host_points).context("cannot copy the points to the GPU")?;
    let mut results = output::<f32>("the results", host_points.len())?;
    let mut host_results = vec![0.0; host_points.len()];
    let dcoef = DeviceBuffer::from_slice(&COEF)?;

    // Copy the coefficients to the symbol in constant memory.
    let module = module::load(ptx)?;
    module::symbol::<[f32; RADIUS + 1]>(&module, c"coef")?.copy_from(&COEF)?;

    // The kernels take pointers to the first point and the first result behind the halo.
    let inner = RADIUS..RADIUS + size;
    let from = points.index(inner.clone()).as_device_ptr();
    let to = results.index(inner.clone()).as_device_ptr();

    for threads in flags.blocks() {
        let (grid, block) = launch::grid_1d(&chapter.gpu.device, flags.size, threads)?;
        let shared = scheme::shared_bytes(threads);
        for variant in flags.variants().note_kernels() {
            // Launch as often as one timing sample needs.
            results.set_8(POISON)?;
            let kernel = module.get_function(variant.kernel)?;
            let measured = chapter.measure(variant.kernel, || {
                // SAFETY: the arguments match the kernel's parameters in the .cu file; there are
                // `size` points and results with a halo of `RADIUS` on both sides, as many
                // coefficients as `COEF` has, and shared memory for a block's points and its halo.
                unsafe {
                    match variant.coefficients {
                        Coefficients::Symbol => {
                            launch!(kernel<<<grid, block, shared, stream>>>(from, to, flags.size))
                        }
                        Coefficients::Global => launch!(kernel<<<grid, block, shared, stream>>>(
                            from, to, flags.size, dcoef.as_device_ptr()
                        )),
                    }
                }
            })?;

            // Read back and compare with the reference bit by bit: both round in the same places.
            // The derivative is as accurate as its coefficients.
            results.copy_to(&mut host_results)?;
            let computed = &host_results[inner.clone()];
            let (verdict, error) = expected.compare(computed);
            let stencil = Stencil::new(size, Some(threads), Some(error), &measured.timing);
            chapter.add(Entry::new(variant.name, measured, verdict).with(|_| stencil));
        }
        ladder::run(flags, &chapter, threads, &points, &mut results, &expected)?;
    }
    ladder::copy(flags, &chapter, &host_points, &points, &mut results)?;
    drop((points, dcoef, results)); // frees the buffers
    flags.finish(&chapter)
}

#[cfg(test)]
mod tests;
