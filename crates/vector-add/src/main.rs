//! Linear memory: allocate, copy there, launch, copy back, free; and what each kind of copy
//! costs. The note on memory, "Device memory", code 4.1.
//!
//! The kernels are in `kernels/vector-add.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::ladder::{self, Rung};
use common::limit::{self, Span};
use common::report::{Report, note};
use common::timing::Events;
use common::verify::{POISON, compare, within_ulps};
use common::{launch, memory, module, timing};
use cust::device::DeviceAttribute;
use cust::prelude::*;
use vector_add::copies::{Copies, Kind};
use vector_add::flags::{Flags, Inputs};
use vector_add::moved::Moved;
use vector_add::round_trip::RoundTrip;
use vector_add::variant::{Variant, Work};
use vector_add::{free, vectors};

/// The kernels, as PTX.
const PTX: &str = include_str!(env!("VECTOR_ADD_PTX"));

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    launch::grid_1d(&gpu.device, flags.count, flags.block)?;
    memory::require(&gpu, "this sum", vectors::memory_need(flags))?;

    let variants = flags.variants();
    let climbs = ladder::climbs(&variants);
    let bytes = vectors::bytes(flags.count);
    let events = timing::events(stream)?;
    let mut report = Report::new(
        "vector-add",
        &gpu.info,
        &flags.common,
        flags.inputs(),
        if climbs {
            Variant::Add.name()
        } else {
            Kind::HostToDevice.name()
        },
    );
    if climbs && flags.common.is_timed() {
        report.limit("copy on the device", copy(&gpu, flags, &events)?);
    }

    let (a, b) = vectors::random(flags);
    let expected = vectors::add(&a, &b);
    let module = module::load(ptx)?;

    // ANCHOR: allocate
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
    // ANCHOR_END: allocate

    for variant in &variants {
        let Work::Kernel { name, width } = variant.work() else {
            continue;
        };
        let kernel = module.get_function(name)?;
        let threads = flags.count / width + flags.count % width;
        let (grid, block) = launch::grid_1d(&gpu.device, threads, flags.block)?;
        device_c.set_8(POISON)?;

        // ANCHOR: launch
        // Launch, as often as a good sample takes.
        let launch = || -> Result<()> {
            // SAFETY: the arguments are those of all kernels in the .cu file, and each vector has
            // `count` elements and starts on a boundary of at least 16 bytes.
            unsafe {
                launch!(kernel<<<grid, block, 0, stream>>>(
                    device_a.as_device_ptr(), device_b.as_device_ptr(), device_c.as_device_ptr(),
                    flags.count
                ))
            }?;
            Ok(())
        };
        let added = events
            .timing(gpu.info.time, flags.common.repeat, launch)
            .with_context(|| format!("{name} failed"))?;

        // Copy back, and compare bit by bit: one addition rounds in one way.
        let mut c = vec![0.0; a.len()];
        device_c.copy_to(&mut c)?;
        // ANCHOR_END: launch
        let check = compare(&c, &expected, within_ulps(0));
        let verdict = check.verdict(vectors::place);
        let moved = Moved::new(3 * bytes, &added);
        report.add(variant.name(), moved, added, &verdict);
    }

    // Free. What goes out of scope is freed as well, but without a word where that fails.
    free::device(device_a, "a")?;
    free::device(device_b, "b")?;
    free::device(device_c, "c")?;

    if climbs {
        round_trips(
            &gpu,
            flags,
            &module,
            &events,
            (a, b),
            &expected,
            &mut report,
        )?;
    } else {
        copies(&gpu, flags, &events, a, &mut report)?;
    }

    report.print()?;
    if climbs {
        note(format_args!("\n{}", ladder::ideas(&variants)));
    } else {
        note(
            "\n`add` and `device to device` move their bytes within the GPU's memory; copies to and \
             from the host move them\nover the link between the two: compare GB/s. With `default` \
             the driver tells the direction by the addresses;\nwith `pinned` the GPU fetches the \
             bytes by itself and the host need not wait.",
        );
    }
    report.verdict()
}

/// The same bytes by every kind of copy.
fn copies(
    gpu: &Gpu,
    flags: &Flags,
    events: &Events,
    vector: Vec<f32>,
    report: &mut Report<Inputs, Moved>,
) -> Result<()> {
    let bytes = vectors::bytes(flags.count);
    let mut copies = Copies::new(vector)?;
    for kind in Kind::ALL {
        copies.poison(kind)?;
        let timing = timing::time(gpu.info.time, flags.common.repeat, |times| {
            copies.time(kind, times, events)
        })
        .with_context(|| format!("the copy {} failed", kind.name()))?;
        let check = compare(&copies.copied(kind)?, copies.vector(), within_ulps(0));
        let verdict = check.verdict(vectors::place);
        report.add(kind.name(), Moved::new(bytes, &timing), timing, &verdict);
    }
    copies.free()
}

/// The limit of a kernel: a copy that reads and writes as many bytes as a sum does, half of them
/// each.
fn copy(gpu: &Gpu, flags: &Flags, events: &Events) -> Result<timing::Timing> {
    let bytes = 6 * flags.count as usize;
    let allocate = || {
        // SAFETY: a copy may move any bytes, and nothing else looks at these.
        unsafe { DeviceBuffer::<u8>::uninitialized(bytes) }
            .context("cannot allocate the ends of a copy on the GPU")
    };
    let (from, to) = (allocate()?, allocate()?);
    let span = |buffer: &DeviceBuffer<u8>| Span {
        address: buffer.as_device_ptr().as_raw(),
        bytes,
    };
    let timing = limit::copy(gpu, events, flags.common.repeat, span(&to), span(&from))?;
    free::device(from, "what was copied")?;
    free::device(to, "the copy")?;
    Ok(timing)
}

/// Whole sums, with the copies there and back, beside what the link allows.
fn round_trips(
    gpu: &Gpu,
    flags: &Flags,
    module: &Module,
    events: &Events,
    (a, b): (Vec<f32>, Vec<f32>),
    expected: &[f32],
    report: &mut Report<Inputs, Moved>,
) -> Result<()> {
    let ways: Vec<_> = flags
        .variants()
        .into_iter()
        .filter_map(|variant| match variant.work() {
            Work::RoundTrip(way) => Some((variant, way)),
            Work::Kernel { .. } => None,
        })
        .collect();
    if ways.is_empty() {
        return Ok(());
    }
    let other = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let add = module.get_function("add")?;
    let max_pitch = gpu.device.get_attribute(DeviceAttribute::MaxPitch)? as usize;
    let streams = [&gpu.stream, &other];
    let mut trip = RoundTrip::new(add, flags.block, max_pitch, streams, a, b)?;
    let (clock, repeat) = (gpu.info.time, flags.common.repeat);
    if flags.common.is_timed() {
        let link = timing::time(clock, repeat, |times| trip.time_link(times, events))
            .context("the copies both ways failed")?;
        report.limit("the link, both ways at once", link);
    }
    for (variant, way) in ways {
        trip.poison()?;
        let timing = timing::time(clock, repeat, |times| trip.time(way, times, events))
            .with_context(|| format!("the {} sum failed", variant.name()))?;
        let check = compare(trip.sum(way), expected, within_ulps(0));
        let moved = Moved::new(3 * vectors::bytes(flags.count), &timing);
        report.add_whole(
            variant.name(),
            moved,
            timing,
            &check.verdict(vectors::place),
        );
    }
    trip.free()
}

#[cfg(test)]
mod tests;
