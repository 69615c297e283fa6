//! What goes beyond the note: what the hardware allows, and the rungs up to there.

use anyhow::Result;
use chapter::limit::Fp32;
use chapter::{Chapter, Entry, Limit, shared};
use common::error::note;
use common::verify::{POISON, compare, within_ulps};
use cust::launch;
use matmul_pitched::flags::ProductFlags;
use matmul_pitched::{Matrix, PitchedBuffer, matrix};

use crate::accesses::Accesses;
use crate::cublas::{self, Math};
use crate::flags::Flags;
use crate::plan::{Between, Launched, Plan};
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

    let stream = &gpu.stream;
    for variant in rungs {
        let launched = Launched::by(variant, chapter, flags)?;
        let plan = Plan::new(chapter, flags, &launched)?;
        // What tensor cores are measured against: right before, for the same reason as below.
        let library = match variant.tf32.is_some() && flags.common.is_timed() {
            true => cublas::find(gpu),
            false => None,
        };
        let in_tf32 = |library| cublas::sgemm(library, Math::Tf32, chapter, &matrices);
        let cublas = library.map(in_tf32).transpose()?;

        let [a, b, c] = &mut matrices;
        c.set_8(POISON)?;
        let (matrix_a, matrix_b) = (Matrix::from(&*a), Matrix::from(&*b));
        let matrix_c = Matrix::from(&*c);
        let Plan {
            kernel,
            grid,
            block,
            bytes,
            ..
        } = &plan;
        // SAFETY: these are the kernel's arguments, and each is an allocation with as many rows and
        // columns, or parts and flags, as it says. The block is the kernel's own.
        let launch = || unsafe {
            match &plan.between {
                None => launch!(
                    kernel<<<*grid, *block, *bytes, stream>>>(matrix_a, matrix_b, matrix_c)
                ),
                Some(Between { parts, ready, .. }) => launch!(
                    kernel<<<*grid, *block, *bytes, stream>>>(
                        matrix_a, matrix_b, matrix_c, parts.as_device_ptr(), ready.as_device_ptr()
                    )
                ),
            }
        };
        let measured = match variant.tf32 {
            // Tensor cores at full speed draw more power than the GPU may for long.
            Some(_) => chapter.paced(variant.kernel, launch),
            None => chapter.measure(variant.kernel, launch),
        }?;

        // Bit by bit: all add up in one order, or in that of the parts. Only tensor cores have
        // their own, and a reference of theirs.
        c.copy_3d_to(&mut host_c, p)?;
        let place = |index| matrix::place(index, p);
        let exactly = |expected: &[f32]| compare(&host_c, expected, within_ulps(0)).verdict(place);
        let verdict = match (variant.tf32, plan.split) {
            (Some(of_a), _) => {
                let expected = tf32::product(host_a, host_b, n, p, of_a);
                tf32::compare(&host_c, &expected).verdict(place)
            }
            (None, Some(split)) if split.parts > 1 => exactly(&split.product(host_a, host_b, n, p)),
            _ => exactly(expected),
        };
        let entry = Entry::new(variant.name, measured, verdict).with(|measured| {
            let accesses = Accesses::of(product, plan.tile, measured);
            match (&plan.between, plan.tile) {
                (Some(between), Some(tile)) => accesses.handing_on(tile, between.tiles),
                _ => accesses,
            }
        });
        chapter.add(match variant.tf32 {
            Some(_) => entry.limit(cublas),
            None => entry,
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
