//! One addition whose second operand is in constant or in global memory, in four access patterns.
//! Follows the notes on constant memory, "Constant Memory Usage and Performance".
//!
//! The kernels are in `kernels/add-constant.cu`; the ladder beyond the notes is in `ladder.rs`.

use std::process::ExitCode;

use add_constant::{Addition, Flags, NUM_VALUES, Values, inputs, ladder, reference};
use anyhow::{Context as _, Result};
use chapter::{Entry, launch};
use clap::Parser;
use common::module;
use common::verify::{POISON, compare, output};
use cust::prelude::*;

/// The kernels, compiled to PTX.
const PTX: &str = include_str!(env!("ADD_CONSTANT_PTX"));

fn main() -> ExitCode {
    chapter::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let chapter = flags.open()?;
    let stream = &chapter.gpu.stream;

    // The values, copied to global memory and to the symbol in constant memory.
    let host_values: [i32; NUM_VALUES] = std::array::from_fn(|index| index as i32);
    let values =
        DeviceBuffer::from_slice(&host_values).context("cannot copy the values to the GPU")?;
    let module = module::load(ptx)?;
    let mut const_values = module::symbol::<[i32; NUM_VALUES]>(&module, c"const_values")?;
    const_values.copy_from(&host_values)?;

    for num_sums in flags.sums() {
        // Allocate the inputs, which are copied to the GPU, and the sums, which the kernels write.
        let host_inputs = inputs::random(num_sums, flags.seed);
        let inputs =
            DeviceBuffer::from_slice(&host_inputs).context("cannot copy the inputs to the GPU")?;
        let mut sums = output::<i32>("the sums", host_inputs.len())?;
        let (grid, block) = launch::grid_1d(&chapter.gpu.device, num_sums, flags.block())?;

        for pattern in flags.patterns() {
            let expected =
                reference::add_constant(&host_inputs, &host_values, flags.block(), pattern);
            for variant in flags.variants().note_kernels() {
                // Launch as often as one timing sample needs.
                sums.set_8(POISON)?;
                let kernel = module.get_function(variant.kernel)?;
                let measured = chapter.measure(variant.name, || {
                    // SAFETY: the arguments match the kernel's parameters in the .cu file; there
                    // are `num_sums` inputs and sums, and `NUM_VALUES` values in both memories.
                    unsafe {
                        match variant.values {
                            Values::Constant => launch!(kernel<<<grid, block, 0, stream>>>(
                                sums.as_device_ptr(), inputs.as_device_ptr(),
                                num_sums, pattern.number()
                            )),
                            _ => launch!(kernel<<<grid, block, 0, stream>>>(
                                sums.as_device_ptr(), inputs.as_device_ptr(), values.as_device_ptr(),
                                num_sums, NUM_VALUES as u32, pattern.number()
                            )),
                        }
                    }
                })?;

                // Read back and compare: integers must be equal.
                let check = compare(&sums.as_host_vec()?, &expected, |actual, expected| {
                    actual == expected
                });
                let verdict = check.verdict(|index| format!("sum {index}"));
                let addition = Addition::new(num_sums, Some(pattern), &measured.timing);
                chapter.add(Entry::new(variant.name, measured, verdict).with(|_| addition));
            }
            ladder::run(
                flags, &chapter, pattern, &values, &inputs, &mut sums, &expected,
            )?;
        }
        ladder::vector(flags, &chapter, &host_inputs, &inputs, &mut sums)?;
        drop((inputs, sums)); // frees the buffers
    }
    flags.finish(&chapter)
}

#[cfg(test)]
mod tests;
