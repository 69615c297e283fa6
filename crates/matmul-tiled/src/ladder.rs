//! What goes beyond the note: what the hardware allows, and the rungs up to there.

use anyhow::{Context as _, Result};
use chapter::limit::Fp32;
use chapter::{Chapter, Entry, Limit, shared};
use common::error::note;
use common::verify::{POISON, compare, within_ulps};
use common::{launch, module};
use cust::function::{BlockSize, GridSize};
use cust::launch;
use matmul_pitched::flags::ProductFlags;
use matmul_pitched::{Matrix, PitchedBuffer, matrix};

use crate::accesses::Accesses;
use crate::cublas::{self, Math};
use crate::flags::Flags;
use crate::shares::Shares;
use crate::tf32;
use crate::variant::Variant;

/// Before the note's kernels run: says what each rung adds, and measures what the hardware allows
/// and, where the machine has it, cuBLAS. Nothing where no rung was chosen.
///
/// # Errors
///
/// CUDA's own.
pub fn prepare(flags: &Flags, chapter: &Chapter) -> Result<()> {
    if !chapter.climbs(&flags.variants()) {
        return Ok(());
    }
    let product = &flags.product;
    let fp32 = Fp32::measure(&chapter.gpu, chapter.repeat())?;
    chapter.limit(Limit {
        name: "multiply-adds alone",
        timing: fp32.time(product.multiply_adds()),
    });
    if let Some(library) = cublas::find(&chapter.gpu) {
        let (host_a, host_b) = matrix::factors(product);
        let matrices = allocate(product, &host_a, &host_b)?;
        chapter.limit(cublas::sgemm(library, Math::Fp32, chapter, &matrices)?);
    }
    Ok(())
}

/// After the note's kernels: multiplies A and B with each rung that was chosen and that the GPU
/// runs.
///
/// # Errors
///
/// CUDA's own, such as those of a kernel that failed.
pub fn run(
    flags: &Flags,
    chapter: &Chapter,
    [host_a, host_b]: [&[f32]; 2],
    expected: &[f32],
) -> Result<()> {
    let gpu = &chapter.gpu;
    let shared_limit = shared::shared_limit(&gpu.device)?;
    let mut rungs = flags.variants().those_for(&gpu.info).rungs();
    rungs.retain(|rung| rung.shared_bytes <= shared_limit);
    if rungs.is_empty() {
        return Ok(());
    }
    let product = &flags.product;
    let (n, p) = (product.n as usize, product.p as usize);
    let mut matrices = allocate(product, host_a, host_b)?;
    let mut host_c = vec![0.0; expected.len()];
    let in_tf32 = rungs.iter().any(|variant| variant.tf32);
    let expected_in_tf32 = in_tf32.then(|| tf32::product(host_a, host_b, n, p));

    let stream = &gpu.stream;
    for variant in rungs {
        let module = module::load(variant.ptx)?;
        let kernel = module
            .get_function(variant.kernel)
            .with_context(|| format!("cannot find the kernel {}", variant.kernel))?;
        let bytes = variant.shared_bytes;
        shared::allow_shared(&kernel, bytes).context(variant.name)?;
        let shares = Shares::new(gpu, &kernel, variant, product)?;
        let (grid, block) = grid(chapter, flags, variant)?;
        let grid = shares.as_ref().map_or(grid, Shares::grid);
        // What tensor cores are measured against: right before, for the same reason as below.
        let library = match variant.tf32 && flags.common.is_timed() {
            true => cublas::find(gpu),
            false => None,
        };
        let in_tf32 = |library| cublas::sgemm(library, Math::Tf32, chapter, &matrices);
        let cublas = library.map(in_tf32).transpose()?;

        let [a, b, c] = &mut matrices;
        c.set_8(POISON)?;
        let (matrix_a, matrix_b) = (Matrix::from(&*a), Matrix::from(&*b));
        let matrix_c = Matrix::from(&*c);
        // SAFETY: these are the kernel's arguments, and each is an allocation with as many rows and
        // columns, or parts and flags, as it says. The block is the kernel's own.
        let launch = || unsafe {
            match &shares {
                None => launch!(
                    kernel<<<grid, block, bytes, stream>>>(matrix_a, matrix_b, matrix_c)
                ),
                Some(Shares { parts, ready, .. }) => launch!(
                    kernel<<<grid, block, bytes, stream>>>(
                        matrix_a, matrix_b, matrix_c, parts.as_device_ptr(), ready.as_device_ptr()
                    )
                ),
            }
        };
        let measured = match variant.tf32 {
            // Tensor cores at full speed draw more power than the GPU may for long.
            true => chapter.paced(variant.kernel, launch),
            false => chapter.measure(variant.kernel, launch),
        }?;

        // Bit by bit: all add up in one order. Only tensor cores have their own, and a reference of
        // theirs.
        c.copy_3d_to(&mut host_c, p)?;
        let place = |index| matrix::place(index, p);
        let verdict = match expected_in_tf32.as_ref().filter(|_| variant.tf32) {
            Some(expected) => tf32::compare(&host_c, expected).verdict(place),
            None => compare(&host_c, expected, within_ulps(0)).verdict(place),
        };
        let entry = Entry::new(variant.name, measured, verdict).with(|measured| {
            let accesses = Accesses::of(product, variant.tile, measured);
            match &shares {
                Some(Shares { cut, tile, .. }) => accesses.handing_on(*tile, cut.cut_tiles()),
                None => accesses,
            }
        });
        chapter.add(match variant.tf32 {
            true => entry.limit(cublas),
            false => entry,
        });
    }
    Ok(())
}

/// A, B and C in pitched memory, the first two copied there.
fn allocate(
    product: &ProductFlags,
    host_a: &[f32],
    host_b: &[f32],
) -> Result<[PitchedBuffer<f32>; 3]> {
    let (m, n, p) = (product.m as usize, product.n as usize, product.p as usize);
    let mut a = PitchedBuffer::new_2d(n, m)?;
    let mut b = PitchedBuffer::new_3d(p, n, 1)?;
    let c = PitchedBuffer::new_3d(p, m, 1)?;
    a.copy_2d_from(host_a, n)?;
    b.copy_2d_from(host_b, p)?;
    Ok([a, b, c])
}

/// Blocks that cover C, each with the part of it that it computes.
///
/// # Errors
///
/// Where the device does not take them.
pub fn grid(chapter: &Chapter, flags: &Flags, variant: &Variant) -> Result<(GridSize, BlockSize)> {
    let device = &chapter.gpu.device;
    let (width, height) = (flags.product.p, flags.product.m);
    let area = variant.area(flags.block);
    let grid = match variant.threads {
        None => launch::grid_2d(device, width, height, area),
        Some(threads) => launch::tiles_2d(device, width.into(), height.into(), area, threads),
    };
    grid.context(variant.name)
}

/// Whether a GPU that gives a block so much shared memory runs a kernel; where not, says so on
/// standard error.
pub fn fits(variant: &Variant, shared_limit: u32) -> bool {
    let fits = variant.shared_bytes <= shared_limit;
    if !fits {
        note(format_args!(
            "left out: {} needs {} bytes of shared memory a block, and this GPU gives {}",
            variant.name, variant.shared_bytes, shared_limit
        ));
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::named;

    #[test]
    fn a_gpu_with_too_little_shared_memory_leaves_a_rung_out() {
        assert!(fits(named("tensor cores"), 190_464));
        assert!(!fits(named("tensor cores"), 190_463));
        assert!(fits(named("squares"), 0));
    }
}
