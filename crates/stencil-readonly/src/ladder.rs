//! Measurements beyond the note: the memory's limit, and the rungs towards it.

use anyhow::Result;
use chapter::{Chapter, Entry, launch, limit};
use common::module;
use common::verify::{POISON, compare, within_ulps};
use cust::launch;
use cust::memory::{AsyncCopyDestination as _, CopyDestination as _, DeviceBuffer};

use crate::accuracy::Expected;
use crate::flags::Flags;
use crate::scheme::{COEF, RADIUS};
use crate::stencil::Stencil;
use crate::variant::Coefficients;

/// Lists the ideas of the selected rungs and measures a copy of the array, before the note's kernels run.
/// Does nothing if no rung was selected.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn prepare(flags: &Flags, chapter: &Chapter) -> Result<()> {
    if chapter.with_ladder(&flags.variants()) {
        let bytes = (flags.size as usize + 2 * RADIUS) * size_of::<f32>();
        chapter.limit(limit::copy_of(&chapter.gpu, chapter.repeat(), bytes));
    }
    Ok(())
}

/// Runs each selected rung in blocks of `threads`, after the note's kernels in the same blocks.
///
/// # Errors
///
/// Fails if CUDA reports an error, such as that of a failed kernel.
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
            // SAFETY: the arguments match the parameters of the rung's kernel; there are `size` points and
            // results after a halo of `RADIUS`, aligned to 16 bytes, with the same halo behind them, and
            // `RADIUS + 1` coefficients.
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

/// Copies the same array on the GPU, for comparison with the note's kernels. Does nothing if rungs were
/// selected.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn copy(
    flags: &Flags,
    chapter: &Chapter,
    host_points: &[f32],
    points: &DeviceBuffer<f32>,
    results: &mut DeviceBuffer<f32>,
) -> Result<()> {
    if flags.variants().has_rungs() {
        return Ok(());
    }
    results.set_8(POISON)?;
    let measured = chapter.measure("the copy on the GPU", || {
        // SAFETY: both allocations outlive the asynchronous copy, which `measure` waits for.
        unsafe { results.async_copy_from(points, &chapter.gpu.stream) }
    })?;
    let check = compare(&results.as_host_vec()?, host_points, within_ulps(0));
    let verdict = check.verdict(|index| format!("element {index}"));
    let stencil = Stencil::new(host_points.len(), None, None, &measured.timing);
    chapter.add(Entry::new("device copy", measured, verdict).with(|_| stencil));
    Ok(())
}
