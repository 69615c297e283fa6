//! Measurements beyond the note: the hardware's limits, a faster kernel, and complete additions including the
//! transfers.

use anyhow::{Context as _, Result, ensure};
use chapter::{Chapter, Entry, Limit, launch, limit};
use common::timing::{Measured, Timing};
use common::verify::{compare, output, within_ulps};
use common::{module, timing};
use cust::device::DeviceAttribute;
use cust::launch;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};

use crate::copies::Bandwidth;
use crate::flags::Flags;
use crate::round_trip::RoundTrip;
use crate::variant::{Variant, Work};
use crate::{free, vectors};

/// Measurements of the link until one is not disturbed.
const LINK_ATTEMPTS: u32 = 3;

/// Lists the ideas of the selected rungs and measures the limit of a kernel, before the note's kernel runs: a
/// copy that moves as many bytes as an addition, half of them reads and half of them writes. Does nothing if
/// no rung was selected.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn prepare(flags: &Flags, chapter: &Chapter) -> Result<()> {
    if chapter.with_ladder(&flags.variants()) {
        let bytes = 6 * flags.count as usize;
        chapter.limit(limit::copy_of(&chapter.gpu, chapter.repeat(), bytes));
    }
    Ok(())
}

/// Adds `a` and `b` with each selected rung, after the note's kernel. Complete additions launch the kernel in
/// the module `note`.
///
/// # Errors
///
/// Fails if CUDA reports an error, such as that of a failed kernel.
pub fn run(
    flags: &Flags,
    chapter: &Chapter,
    note: &Module,
    (a, b): (&[f32], &[f32]),
    expected: &[f32],
) -> Result<()> {
    for variant in flags.variants() {
        if let Work::Kernel { width, ptx } = variant.config {
            let module = module::load(ptx)?;
            kernel(flags, chapter, variant, (&module, width), (a, b), expected)?;
        }
    }
    round_trips(flags, chapter, note, (a, b), expected)
}

/// Runs a rung's kernel, whose threads add `width` elements with one access each.
fn kernel(
    flags: &Flags,
    chapter: &Chapter,
    variant: &Variant,
    (module, width): (&Module, u64),
    (a, b): (&[f32], &[f32]),
    expected: &[f32],
) -> Result<()> {
    let copied = |vector: &[f32]| {
        DeviceBuffer::from_slice(vector).context("cannot allocate a vector on the GPU")
    };
    let (a, b, c) = (copied(a)?, copied(b)?, output("a vector", expected.len())?);
    let kernel = module.get_function(variant.kernel)?;
    let threads = flags.count / width + flags.count % width;
    let (grid, block) = launch::grid_1d(&chapter.gpu.device, threads, flags.block)?;
    let stream = &chapter.gpu.stream;
    let measured = chapter.measure(variant.kernel, || {
        // SAFETY: the arguments match the kernel's parameters; each vector has `count` elements and is
        // aligned to at least 16 bytes.
        unsafe {
            launch!(kernel<<<grid, block, 0, stream>>>(
                a.as_device_ptr(), b.as_device_ptr(), c.as_device_ptr(), flags.count
            ))
        }
    })?;
    chapter.add(entry(flags, variant, measured, &c.as_host_vec()?, expected));
    free::device(a, "a")?;
    free::device(b, "b")?;
    free::device(c, "c")
}

/// Runs the complete additions, including the transfers, and measures the limit of the link.
fn round_trips(
    flags: &Flags,
    chapter: &Chapter,
    note: &Module,
    (a, b): (&[f32], &[f32]),
    expected: &[f32],
) -> Result<()> {
    let modes = flags
        .variants()
        .into_iter()
        .filter_map(|variant| match variant.config {
            Work::RoundTrip(mode) => Some((variant, mode)),
            _ => None,
        });
    let mut modes = modes.peekable();
    let Some((variant, _)) = modes.peek() else {
        return Ok(());
    };
    let stream = &chapter.gpu.stream;
    let other = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let add = note.get_function(variant.kernel)?;
    let max_pitch = chapter
        .gpu
        .device
        .get_attribute(DeviceAttribute::MaxPitch)? as usize;
    let mut trip = RoundTrip::new(add, flags.block, max_pitch, [stream, &other], a, b)?;
    let events = timing::events(stream)?;
    let time_link = |trip: &mut RoundTrip| -> Result<Timing> {
        trip.poison()?;
        let link = chapter.sample("the copies both ways", |times| {
            trip.time_link(times, &events)
        })?;
        Ok(link.timing)
    };
    let link = flags.common.is_timed().then(|| time_link(&mut trip));
    let mut fastest = f64::INFINITY;
    let mut entries = Vec::new();
    for (variant, mode) in modes {
        trip.poison()?;
        let label = format!("the {} sum", variant.name);
        let measured = chapter.sample(&label, |times| trip.time(mode, times, &events))?;
        fastest = fastest.min(measured.timing.median_ms);
        let whole = measured.without_launch();
        entries.push(entry(flags, variant, whole, trip.sum(mode), expected).separate());
    }
    if let Some(link) = link {
        let link = link.and_then(|link| undisturbed(link, fastest, || time_link(&mut trip)));
        chapter.limit(Limit::new("the link, both ways at once", link));
    }
    for entry in entries {
        chapter.add(entry);
    }
    trip.free()
}

/// Returns the link's time, measured again if a complete addition, which contains the same copies, was faster: then
/// something else used the link during the first measurement.
fn undisturbed(
    first: Timing,
    fastest_ms: f64,
    mut again: impl FnMut() -> Result<Timing>,
) -> Result<Timing> {
    let mut link = first;
    for _ in 1..LINK_ATTEMPTS {
        if link.median_ms <= fastest_ms {
            break;
        }
        link = again()?;
    }
    ensure!(
        link.median_ms <= fastest_ms,
        "the copies took {} ms, and an addition with the same copies took {fastest_ms}",
        link.median_ms
    );
    Ok(link)
}

/// Returns the result of a rung.
fn entry(
    flags: &Flags,
    variant: &Variant,
    measured: Measured,
    sum: &[f32],
    expected: &[f32],
) -> Entry {
    let verdict = compare(sum, expected, within_ulps(0)).verdict(vectors::element_name);
    let bytes = 3 * vectors::bytes(flags.count);
    Entry::new(variant.name, measured, verdict)
        .with(|measured| Bandwidth::new(bytes, &measured.timing))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result of measuring 1.2 ms and then these times, next to an addition that took 1 ms.
    fn link(again: &[f64]) -> Result<Timing> {
        let mut again = again.iter();
        undisturbed(Timing::once(1.2), 1.0, || {
            Ok(Timing::once(*again.next().context("measured too often")?))
        })
    }

    #[test]
    fn a_disturbed_link_is_measured_again() {
        assert_eq!(link(&[0.9]).unwrap().median_ms, 0.9);
        assert_eq!(link(&[1.1, 1.0]).unwrap().median_ms, 1.0);
        let message = link(&[1.3, 1.1]).unwrap_err().to_string();
        assert!(message.contains("the copies took 1.1 ms"), "{message}");
    }
}
