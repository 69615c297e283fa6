//! What goes beyond the note: what the memory allows, and the rungs up to there.

use anyhow::Result;
use chapter::{Entry, ladder, limit};
use common::verify::{POISON, compare, output, within_ulps};
use common::{launch, module};
use cust::launch;
use cust::memory::{AsyncCopyDestination as _, CopyDestination as _, DeviceBuffer};

use crate::accuracy;
use crate::flags::Flags;
use crate::open::Chapter;
use crate::scheme::{COEF, RADIUS};
use crate::stencil::Stencil;
use crate::variant::Coefficients;

/// Before the note's kernels run: says what each rung adds, and measures a copy of the array.
/// Nothing where no rung was chosen.
///
/// # Errors
///
/// CUDA's own.
pub fn prepare(flags: &Flags, chapter: &Chapter) -> Result<()> {
    chapter.ideas(ladder::ideas(&flags.variants()));
    if flags.climbs() && flags.common.is_timed() {
        let bytes = (flags.size as usize + 2 * RADIUS) * size_of::<f32>();
        chapter.limit(limit::copy_of(&chapter.gpu, chapter.repeat(), bytes)?);
    }
    Ok(())
}

/// After the note's kernels: each rung that was chosen; where none was, a row for the limit.
///
/// # Errors
///
/// CUDA's own, such as those of a kernel that failed.
pub fn run(
    flags: &Flags,
    chapter: &Chapter,
    host_points: &[f32],
    expected: &[f32],
    derivative: &[f64],
) -> Result<()> {
    let points = DeviceBuffer::from_slice(host_points)?;
    let mut results = output::<f32>("the results", host_points.len())?;
    if !flags.climbs() {
        return copy(chapter, host_points, &points, &mut results);
    }
    let mut host_results = vec![0.0; host_points.len()];
    let dcoef = DeviceBuffer::from_slice(&COEF)?;
    let inner = RADIUS..RADIUS + expected.len();
    let from = points.index(inner.clone()).as_device_ptr();
    let to = results.index(inner.clone()).as_device_ptr();

    let stream = &chapter.gpu.stream;
    let chosen = flags.blocks().into_iter().flat_map(|threads| {
        let rungs = flags.variants().into_iter();
        let rungs = rungs.filter(|rung| !rung.is_the_notes());
        rungs.map(move |rung| (threads, rung))
    });
    for (threads, rung) in chosen {
        let module = module::load(rung.ptx)?;
        if rung.coefficients == Coefficients::Symbol {
            module::symbol::<[f32; RADIUS + 1]>(&module, c"coef")?.copy_from(&COEF)?;
        }
        let kernel = module.get_function(rung.kernel)?;
        let (grid, block) =
            launch::grid_1d(&chapter.gpu.device, rung.threads(flags.size), threads)?;
        results.set_8(POISON)?;
        let measured = chapter.measure(rung.kernel, || {
            // SAFETY: the arguments are those of the rung's kernel; there are `size` points and
            // results behind a halo of `RADIUS` on a boundary of 16 bytes, as many more after
            // them, and `RADIUS + 1` coefficients.
            unsafe {
                match rung.coefficients {
                    Coefficients::Symbol => {
                        launch!(kernel<<<grid, block, 0, stream>>>(from, to, flags.size))
                    }
                    Coefficients::Global => launch!(kernel<<<grid, block, 0, stream>>>(
                        from, to, flags.size, dcoef.as_device_ptr()
                    )),
                }
            }
        })?;

        results.copy_to(&mut host_results)?;
        let computed = &host_results[inner.clone()];
        let check = compare(computed, expected, within_ulps(0));
        let verdict = check.verdict(|index| format!("point {index}"));
        let error = accuracy::largest_error(computed, derivative);
        let verdict = accuracy::judge(verdict, error);
        let stencil = Stencil::new(computed.len(), Some(threads), Some(error), &measured.timing);
        chapter.add(Entry::new(rung.name, measured, verdict).with(|_| stencil));
    }
    Ok(())
}

/// Beside the note's kernels: the same array copied on the GPU.
fn copy(
    chapter: &Chapter,
    host_points: &[f32],
    points: &DeviceBuffer<f32>,
    results: &mut DeviceBuffer<f32>,
) -> Result<()> {
    let measured = chapter.measure("the copy on the GPU", || {
        // SAFETY: both allocations outlive the copy, which `measure` waits for.
        unsafe { results.async_copy_from(points, &chapter.gpu.stream) }
    })?;
    let check = compare(&results.as_host_vec()?, host_points, within_ulps(0));
    let verdict = check.verdict(|index| format!("element {index}"));
    let stencil = Stencil::new(host_points.len(), None, None, &measured.timing);
    chapter.add(Entry::new("device copy", measured, verdict).with(|_| stencil));
    Ok(())
}
