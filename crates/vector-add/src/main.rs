//! Linear memory: allocate, copy to the device, launch, copy back, free. Follows the note on
//! memory, "Device memory", code 4.1.
//!
//! The kernel is in `kernels/vector-add.cu`. `copies.rs` measures the cost of each kind of copy;
//! the ladder beyond the note is in `ladder.rs`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chapter::{Entry, launch};
use clap::Parser;
use common::module;
use common::verify::{POISON, compare, within_ulps};
use cust::prelude::*;
use vector_add::{Bandwidth, Flags, copies, free, ladder, vectors};

/// The kernel, compiled to PTX.
const PTX: &str = include_str!(env!("VECTOR_ADD_PTX"));

fn main() -> ExitCode {
    chapter::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let chapter = flags.open()?;
    let stream = &chapter.gpu.stream;
    let (host_a, host_b) = vectors::random(flags);
    let expected = vectors::add(&host_a, &host_b);
    let mut host_c = vec![0.0; expected.len()];
    let module = module::load(ptx)?;

    // Allocate three vectors on the GPU in linear memory: contiguous elements.
    let allocate = || {
        // SAFETY: each vector is written before it is read.
        unsafe { DeviceBuffer::<f32>::uninitialized(expected.len()) }
            .context("cannot allocate a vector on the GPU")
    };
    let (mut a, mut b, mut c) = (allocate()?, allocate()?, allocate()?);

    // Copy the operands from the host to the device.
    a.copy_from(&host_a)?;
    b.copy_from(&host_b)?;

    let (grid, block) = launch::grid_1d(&chapter.gpu.device, flags.count, flags.block)?;
    for variant in flags.variants().note_kernels() {
        c.set_8(POISON)?;
        let add = module.get_function(variant.kernel)?;

        // Launch as often as one timing sample needs.
        let measured = chapter.measure(variant.kernel, || {
            // SAFETY: the arguments match the kernel's parameters in the .cu file, and each vector
            // has `count` elements.
            unsafe {
                launch!(add<<<grid, block, 0, stream>>>(
                    a.as_device_ptr(), b.as_device_ptr(), c.as_device_ptr(), flags.count
                ))
            }
        })?;

        // Copy the result back and compare it bit by bit: IEEE addition has one correct result.
        c.copy_to(&mut host_c)?;
        let check = compare(&host_c, &expected, within_ulps(0));
        let bytes = 3 * vectors::bytes(flags.count);
        let entry = Entry::new(variant.name, measured, check.verdict(vectors::element_name));
        chapter.add(entry.with(|measured| Bandwidth::new(bytes, &measured.timing)));
    }

    // Free explicitly: dropping a buffer frees it as well, but ignores errors.
    free::device(a, "a")?;
    free::device(b, "b")?;
    free::device(c, "c")?;

    copies::run(flags, &chapter, &host_a)?;
    ladder::run(flags, &chapter, &module, (&host_a, &host_b), &expected)?;
    flags.finish(&chapter)
}

#[cfg(test)]
mod tests;
