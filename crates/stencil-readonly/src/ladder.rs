//! What goes beyond the note: what the memory allows, and the rungs up to there.

use anyhow::Result;
use chapter::{Chapter, Entry, limit};
use common::verify::{POISON, compare, within_ulps};
use common::{launch, module};
use cust::launch;
use cust::memory::{AsyncCopyDestination as _, CopyDestination as _, DeviceBuffer};

use crate::accuracy::Expected;
use crate::flags::Flags;
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
    if chapter.climbs(&flags.variants()) {
        let bytes = (flags.size as usize + 2 * RADIUS) * size_of::<f32>();
        chapter.limit(limit::copy_of(&chapter.gpu, chapter.repeat(), bytes)?);
    }
    Ok(())
}

/// After the note's kernels in blocks of `threads`: each rung that was chosen, in blocks of as many.
///
/// # Errors
///
/// CUDA's own, such as those of a kernel that failed.
pub fn run(
    flags: &Flags,
    chapter: &Chapter,
    threads: u32,
    points: &DeviceBuffer<f32>,
    results: &mut DeviceBuffer<f32>,
    expected: &Expected,
) -> Result<()> {
    let rungs = flags.variants().rungs();
    if rungs.is_empty() {
        return Ok(());
    }
    let mut host_results = vec![0.0; results.len()];
    let dcoef = DeviceBuffer::from_slice(&COEF)?;
    let inner = RADIUS..RADIUS + flags.size as usize;
    let from = points.index(inner.clone()).as_device_ptr();
    let to = results.index(inner.clone()).as_device_ptr();

    let stream = &chapter.gpu.stream;
    for rung in rungs {
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
        let (verdict, error) = expected.compare(computed);
        let stencil = Stencil::new(computed.len(), Some(threads), Some(error), &measured.timing);
        chapter.add(Entry::new(rung.name, measured, verdict).with(|_| stencil));
    }
    Ok(())
}

/// Beside the note's kernels, where no rung was chosen: the same array copied on the GPU.
///
/// # Errors
///
/// CUDA's own.
pub fn copy(
    flags: &Flags,
    chapter: &Chapter,
    host_points: &[f32],
    points: &DeviceBuffer<f32>,
    results: &mut DeviceBuffer<f32>,
) -> Result<()> {
    if flags.variants().climbs() {
        return Ok(());
    }
    results.set_8(POISON)?;
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
