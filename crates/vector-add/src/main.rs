//! Linear memory: allocate, copy there, launch, copy back, free; and what each kind of copy
//! costs. The note on memory, "Device memory", code 4.1.
//!
//! The kernel is in `kernels/vector-add.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::report::{Report, note};
use common::verify::{POISON, compare, within_ulps};
use common::{launch, memory, module, timing};
use cust::prelude::*;
use vector_add::copies::{Copies, Kind};
use vector_add::flags::Flags;
use vector_add::moved::Moved;
use vector_add::{free, vectors};

/// The kernel, as PTX.
const PTX: &str = include_str!(env!("VECTOR_ADD_PTX"));

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    let (grid, block) = launch::grid_1d(&gpu.device, flags.count, flags.block)?;
    memory::require(&gpu, "this sum", vectors::memory_need(flags))?;

    let (a, b) = vectors::random(flags);
    let expected = vectors::add(&a, &b);
    let module = module::load(ptx)?;
    let add = module.get_function("add")?;

    // Allocate three vectors on the GPU: linear memory, one element right after the other.
    let allocate = || {
        // SAFETY: each is written before it is read.
        unsafe { DeviceBuffer::<f32>::uninitialized(a.len()) }
            .context("cannot allocate a vector on the GPU")
    };
    let (mut device_a, mut device_b, mut device_c) = (allocate()?, allocate()?, allocate()?);

    // Copy there.
    device_a.copy_from(&a)?;
    device_b.copy_from(&b)?;
    device_c.set_8(POISON)?;

    // Launch, as often as a good sample takes.
    let events = timing::events(stream)?;
    let mut report = Report::new(
        "vector-add",
        &gpu.info,
        &flags.common,
        flags.inputs(),
        Kind::HostToDevice.name(),
    );
    let add = || -> Result<()> {
        // SAFETY: the arguments are those of `add` in the .cu file, and each vector has
        // `count` elements.
        unsafe {
            launch!(add<<<grid, block, 0, stream>>>(
                device_a.as_device_ptr(), device_b.as_device_ptr(), device_c.as_device_ptr(),
                flags.count
            ))
        }?;
        Ok(())
    };
    let added = events
        .timing(gpu.info.time, flags.common.repeat, add)
        .context("add failed")?;

    // Copy back, and compare bit by bit: one addition rounds in one way.
    let mut c = vec![0.0; a.len()];
    device_c.copy_to(&mut c)?;
    let check = compare(&c, &expected, within_ulps(0));
    let verdict = check.verdict(vectors::place);

    let bytes = vectors::bytes(flags.count);
    report.add_apart("add", Moved::new(3 * bytes, &added), added, &verdict);

    // Free. What goes out of scope is freed as well, but without a word where that fails.
    free::device(device_a, "a")?;
    free::device(device_b, "b")?;
    free::device(device_c, "c")?;

    // The same bytes by every kind of copy.
    let mut copies = Copies::new(a)?;
    for kind in Kind::ALL {
        copies.poison(kind)?;
        let timing = timing::time(gpu.info.time, flags.common.repeat, |times| {
            copies.time(kind, times, &events)
        })
        .with_context(|| format!("the copy {} failed", kind.name()))?;
        let check = compare(&copies.copied(kind)?, copies.vector(), within_ulps(0));
        let verdict = check.verdict(vectors::place);
        report.add(kind.name(), Moved::new(bytes, &timing), timing, &verdict);
    }
    copies.free()?;

    report.print()?;
    note(
        "\n`add` and `device to device` move their bytes within the GPU's memory; copies to and from \
         the host move them\nover the link between the two: compare GB/s. With `default` the driver \
         tells the direction by the addresses;\nwith `pinned` the GPU fetches the bytes by itself \
         and the host need not wait.",
    );
    report.verdict()
}

#[cfg(test)]
mod tests;
