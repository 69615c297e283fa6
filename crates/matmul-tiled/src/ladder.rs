//! Measurements beyond the note: the hardware's limit, and the rungs towards it.

use anyhow::Result;
use chapter::limit::Fp32;
use chapter::{Chapter, Entry, Limit, memory};
use common::PitchedBuffer;
use common::error::note;
use common::verify::{POISON, compare, within_ulps};
use cust::launch;
use matmul_pitched::flags::ProductFlags;
use matmul_pitched::{Matrix, matrix};

use crate::accesses::Accesses;
use crate::cublas::{self, Precision};
use crate::flags::Flags;
use crate::plan::{Between, Launched, Plan};
use crate::tf32;
use crate::variant::Variant;

/// Lists the ideas of the selected rungs and measures the hardware's limit and, if installed, cuBLAS, before
/// the note's kernels run. Does nothing if no rung was selected.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn prepare(flags: &Flags, chapter: &Chapter) -> Result<()> {
    if !chapter.with_ladder(&flags.variants()) {
        return Ok(());
    }
    chapter.time_in_graphs();
    let product = &flags.product;
    let fp32 = Fp32::measure(&chapter.gpu, chapter.repeat());
    let time = fp32.map(|fp32| fp32.time(product.multiply_adds()));
    chapter.limit(Limit::new("multiply-adds alone", time));
    if let Some(library) = cublas::find(&chapter.gpu) {
        let (host_a, host_b) = matrix::factors(product);
        let (host, matrices) = ([&host_a[..], &host_b], allocate(product, &host_a, &host_b)?);
        let precision = Precision::Fp32;
        chapter.limit(cublas::sgemm(library, precision, chapter, &matrices, host));
    }
    Ok(())
}

/// Multiplies A and B with each selected rung that the GPU runs, after the note's kernels.
///
/// # Errors
///
/// Fails if CUDA reports an error, such as that of a failed kernel.
pub fn run(
    flags: &Flags,
    chapter: &Chapter,
    [host_a, host_b]: [&[f32]; 2],
    expected: &[f32],
) -> Result<()> {
    let gpu = &chapter.gpu;
    let shared_limit = memory::shared_limit(&gpu.device)?;
    let mut rungs = flags.variants().supported_on(&gpu.info).rungs();
    rungs.retain(|rung| rung.shared_bytes <= shared_limit);
    if rungs.is_empty() {
        return Ok(());
    }
    let product = &flags.product;
    let (n, p) = (product.n as usize, product.p as usize);
    let mut matrices = allocate(product, host_a, host_b)?;
    let mut host_c = vec![0.0; expected.len()];

    let stream = &gpu.stream;
    let mut tf32_limit = None;
    for variant in rungs {
        let launched = Launched::by(variant, chapter, flags)?;
        let plan = Plan::new(chapter, flags, &launched)?;
        // The limit of the tensor core rungs is measured right before the first, with pauses, like the rungs.
        if variant.tf32.is_some() && tf32_limit.is_none() && flags.common.is_timed() {
            let (precision, host) = (Precision::Tf32, [host_a, host_b]);
            let time = |library| cublas::sgemm(library, precision, chapter, &matrices, host);
            tf32_limit = cublas::find(gpu).map(time);
        }

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
        // SAFETY: the arguments match the kernel's parameters. Each matrix is an allocation with the rows and
        // columns it states, the partial tiles and flags are as many as the plan needs, and the block is the
        // kernel's.
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
            // Tensor cores at full speed draw more power than the GPU sustains.
            Some(_) => chapter.measure_with_pauses(variant.kernel, launch),
            None => chapter.measure(variant.kernel, launch),
        }?;

        // Bit by bit: all kernels accumulate in the same order, split K in that of its parts. Only tensor
        // cores have their own order, and so their own reference.
        c.copy_3d_to(&mut host_c, p)?;
        let element_name = |index| matrix::element_name(index, p);
        let exactly =
            |expected: &[f32]| compare(&host_c, expected, within_ulps(0)).verdict(element_name);
        let verdict = match (variant.tf32, plan.split) {
            (Some(rounding), _) => {
                let expected = tf32::product(host_a, host_b, n, p, rounding);
                tf32::compare(&host_c, &expected).verdict(element_name)
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
            Some(_) => entry.limit(tf32_limit.clone()),
            None => entry,
        });
    }
    Ok(())
}

/// Allocates A, B and C in pitched memory and copies the first two.
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

/// Returns true if a GPU with this limit of shared memory per block runs a kernel, and prints a note to
/// standard error if not.
pub fn fits(variant: &Variant, shared_limit: u32) -> bool {
    let fits = variant.shared_bytes <= shared_limit;
    if !fits {
        note(format_args!(
            "left out: {} needs {} bytes of shared memory per block, and this GPU allows {}",
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
    fn rungs_with_too_much_shared_memory_do_not_fit() {
        assert!(fits(named("tensor cores"), 190_464));
        assert!(!fits(named("tensor cores"), 190_463));
        assert!(fits(named("squares"), 0));
    }
}
