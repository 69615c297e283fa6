//! One addition, its second operand in constant or in global memory, in four access patterns: the
//! notes on constant memory, "Constant Memory Usage and Performance".
//!
//! The kernels are in `kernels/add-constant.cu`.

use std::process::ExitCode;

use add_constant::addition::Addition;
use add_constant::flags::Flags;
use add_constant::pattern::{AccessPattern, NUM_VALUES};
use add_constant::variant::{Shape, Variant};
use add_constant::{inputs, reference};
use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::ladder::{self, Rung};
use common::limit::{self, Span};
use common::report::{Report, note};
use common::verify::{POISON, compare};
use common::{launch, memory, module, timing};
use cust::prelude::*;

/// The kernels, as PTX.
const PTX: &str = include_str!(env!("ADD_CONSTANT_PTX"));

/// What `vector` adds to every input.
const VECTOR_VALUE: i32 = 1357;

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    for sums in flags.sums() {
        launch::grid_1d(&gpu.device, sums.into(), flags.block())?;
    }
    let mut variants = flags.variants();
    variants.retain(|variant| variant.runs_on(&gpu.info));
    for variant in &variants {
        variant.takes(flags.block())?;
    }
    let climbs = ladder::climbs(&flags.variants());
    memory::require(&gpu, "these sums", flags.memory_need())?;

    // ANCHOR: symbol
    // The values: in global memory, and in the symbol that is constant memory.
    let host_values: [i32; NUM_VALUES] = std::array::from_fn(|index| index as i32);
    let values =
        DeviceBuffer::from_slice(&host_values).context("cannot copy the values to the GPU")?;
    let module = module::load(ptx)?;
    let mut const_values = module::symbol::<[i32; NUM_VALUES]>(&module, c"const_values")?;
    const_values.copy_from(&host_values)?;
    // ANCHOR_END: symbol

    let vector = module.get_function("add_constant_vector")?;
    let events = timing::events(stream)?;
    let mut report = Report::new(
        "add-constant",
        &gpu.info,
        &flags.common,
        flags.inputs(),
        "global",
    );

    for num_sums in flags.sums() {
        // Allocate: the inputs, copied there, and the sums, filled by the kernels.
        let host_inputs = inputs::random(num_sums, flags.seed);
        let inputs =
            DeviceBuffer::from_slice(&host_inputs).context("cannot copy the inputs to the GPU")?;
        // SAFETY: it is filled with `POISON` before it is read.
        let mut sums = unsafe { DeviceBuffer::<i32>::uninitialized(num_sums as usize) }
            .context("cannot allocate the sums on the GPU")?;
        let mut host_sums = vec![0; num_sums as usize];
        let (from, to) = (inputs.as_device_ptr(), sums.as_device_ptr());

        // On the ladder the memory's limit comes first: a copy of as many bytes.
        if climbs && flags.common.is_timed() {
            let span = |buffer: &DeviceBuffer<i32>| Span {
                address: buffer.as_device_ptr().as_raw(),
                bytes: size_of_val(&host_inputs[..]),
            };
            let (to, from) = (span(&sums), span(&inputs));
            let copy = limit::copy(&gpu, &events, flags.common.repeat, to, from)?;
            report.limit("copy on the device", copy);
        }

        // Launch, read back and compare: whole numbers are equal or wrong.
        let mut measure = |variant: &str,
                           pattern: Option<AccessPattern>,
                           expected: &[i32],
                           launch: &dyn Fn() -> Result<()>|
         -> Result<()> {
            sums.set_8(POISON)?;
            let timing = events
                .timing(gpu.info.time, flags.common.repeat, launch)
                .with_context(|| format!("{variant} failed"))?;
            sums.copy_to(&mut host_sums)?;
            let verdict = compare(&host_sums, expected, |got, want| got == want)
                .verdict(|index| format!("sum {index}"));
            let addition = Addition::new(num_sums, pattern, &timing);
            report.add(variant, addition, timing, &verdict);
            Ok(())
        };

        for pattern in flags.patterns() {
            let expected =
                reference::add_constant(&host_inputs, &host_values, flags.block(), pattern);
            let (values, number) = (values.as_device_ptr(), pattern.number());
            for &variant in &variants {
                let kernel = module.get_function(variant.kernel())?;
                let Shape {
                    grid,
                    block,
                    shared,
                } = variant.shape(&gpu, &kernel, num_sums, flags.block())?;
                measure(variant.name(), Some(pattern), &expected, &|| {
                    // SAFETY: the arguments are those of each kernel in the .cu file; there are
                    // `num_sums` inputs and sums, and `NUM_VALUES` values, in allocations that
                    // start on a boundary of at least 16 bytes, and in the symbol.
                    unsafe {
                        match variant {
                            Variant::Global => launch!(kernel<<<grid, block, shared, stream>>>(
                                to, from, values, num_sums, NUM_VALUES as u32, number
                            )),
                            Variant::Constant => launch!(kernel<<<grid, block, shared, stream>>>(
                                to, from, num_sums, number
                            )),
                            _ => launch!(kernel<<<grid, block, shared, stream>>>(
                                to, from, values, num_sums, number
                            )),
                        }
                    }?;
                    Ok(())
                })?;
            }
        }

        // The memory's limit: the same bytes in and out, sixteen of them a thread.
        let threads = num_sums / 4 + num_sums % 4;
        let (grid, block) = launch::grid_1d(&gpu.device, threads.into(), flags.block())?;
        let expected = reference::add_vector(&host_inputs, VECTOR_VALUE);
        measure("vector", None, &expected, &|| {
            // SAFETY: the arguments are those of `add_constant_vector`; there are `num_sums`
            // inputs and sums, in allocations that start on a boundary of at least 16 bytes.
            unsafe {
                launch!(vector<<<grid, block, 0, stream>>>(to, from, VECTOR_VALUE, num_sums))?;
            }
            Ok(())
        })?;
    }

    report.print()?;
    if climbs {
        note(format_args!("\n{}", ladder::ideas(&variants)));
        return report.verdict();
    }
    note(
        "\nCompare `constant` with `global`: where all threads of a warp read the same value, \
         constant memory keeps up; where they read different ones, it is asked for one after the \
         other.\n\
         `vector` moves the same bytes in and out, 16 a thread: about what the memory alone takes.",
    );
    report.verdict()
}

#[cfg(test)]
mod tests;
