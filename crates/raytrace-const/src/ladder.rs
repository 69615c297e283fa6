//! Measurements beyond the note: the hardware's limit, and the rungs towards it.

use anyhow::{Result, anyhow};
use chapter::limit::Fp32;
use chapter::{Chapter, Entry, Limit, launch};
use common::module;
use common::verify::{POISON, compare, output};
use cust::function::{BlockSize, GridSize};
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer};

use crate::flags::Flags;
use crate::picture::{Picture, Pixel};
use crate::scene::{self, ConstantScene, Sphere};
use crate::variant::{Spheres, Variant};

/// The rung with one intersection test for sixteen pixels.
const NEAREST_POINT: &str = "nearest point";

/// The rung with fewer intersection tests than the others.
const CULLED: &str = "culled";

/// Lists the ideas of the selected rungs and measures the hardware's limit, before the note's kernels run.
/// Does nothing if no rung was selected.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn prepare(flags: &Flags, chapter: &Chapter) -> Result<()> {
    if chapter.with_ladder(&flags.variants()) {
        limits(flags, chapter)?;
    }
    Ok(())
}

/// Sets the limit of each result to the longer of two times: writing the picture, and the instructions of the
/// intersection tests that pixels cannot share. These are two per test; nine if sixteen pixels share one
/// test.
fn limits(flags: &Flags, chapter: &Chapter) -> Result<()> {
    let mut image = output::<Pixel>("the image", flags.width as usize * flags.height as usize)?;
    let written = chapter.measure("writing the picture", || {
        // SAFETY: the image outlives the asynchronous memset, which `measure` waits for.
        unsafe { image.set_8_async(POISON, &chapter.gpu.stream) }
    });
    let writing = Limit::new("writing the picture", written.map(|written| written.timing));
    let tests = f64::from(flags.width) * f64::from(flags.height) * f64::from(flags.spheres);
    let rate = Fp32::measure(&chapter.gpu, chapter.repeat());
    let longer = |name, instructions| {
        let time = match &rate {
            Ok(rate) => Ok(rate.time(instructions)),
            Err(error) => Err(anyhow!("{error:#}")),
        };
        let tests = Limit::new(name, time);
        match (&writing.timing, &tests.timing) {
            (Some(writing_time), Some(time)) if writing_time.median_ms > time.median_ms => {
                writing.clone()
            }
            _ => tests,
        }
    };
    let pixels = longer("multiply-adds and comparisons", 2.0 * tests);
    let patches = longer("nine instructions for sixteen pixels", 9.0 / 16.0 * tests);
    chapter.limit_of(move |variant, (): &()| match variant {
        NEAREST_POINT => patches.clone(),
        // The number of tests depends on the scene, so only the writing is a limit.
        CULLED => writing.clone(),
        _ => pixels.clone(),
    });
    Ok(())
}

/// Draws the picture with each selected rung, after the note's kernels; stops at the first wrong picture.
///
/// # Errors
///
/// Fails if CUDA reports an error, such as that of a failed kernel.
pub fn run(
    flags: &Flags,
    chapter: &Chapter,
    spheres: &[Sphere],
    expected: &Picture,
    picture: &mut Picture,
) -> Result<()> {
    let rungs = flags.variants().rungs();
    if chapter.is_wrong() || rungs.is_empty() {
        return Ok(());
    }
    let (outlines, surfaces) = scene::grouped(spheres);
    let global_outlines = DeviceBuffer::from_slice(&outlines)?;
    let global_surfaces = DeviceBuffer::from_slice(&surfaces)?;
    let scene = ConstantScene::new(&outlines, &surfaces);
    let mut image = output::<Pixel>("the image", expected.pixels.len())?;

    let stream = &chapter.gpu.stream;
    let (width, height, count) = (flags.width, flags.height, flags.spheres);
    for variant in rungs {
        let module = module::load(variant.ptx)?;
        if variant.spheres != Spheres::GlobalScene {
            module::symbol::<ConstantScene>(&module, c"constant_scene")?.copy_from(&scene)?;
        }
        image.set_8(POISON)?;
        let kernel = module.get_function(variant.kernel)?;
        let (grid, block) = grid(chapter, flags, variant)?;
        let measured = chapter.measure(variant.kernel, || {
            // SAFETY: the arguments match the parameters of the rung's kernel; the buffers and the symbol
            // have whole groups of spheres, at least `count`, and `image` has `width * height` pixels.
            unsafe {
                match variant.spheres {
                    Spheres::GlobalScene => launch!(kernel<<<grid, block, 0, stream>>>(
                        global_outlines.as_device_ptr(), global_surfaces.as_device_ptr(), count,
                        image.as_device_ptr(), width, height
                    )),
                    Spheres::SceneAndOutlines => launch!(kernel<<<grid, block, 0, stream>>>(
                        global_outlines.as_device_ptr(), count,
                        image.as_device_ptr(), width, height
                    )),
                    _ => launch!(kernel<<<grid, block, 0, stream>>>(
                        count, image.as_device_ptr(), width, height
                    )),
                }
            }
        })?;

        image.copy_to(&mut picture.pixels)?;
        let check = compare(&picture.pixels, &expected.pixels, |actual, expected| {
            actual == expected
        });
        let entry = Entry::new(
            variant.name,
            measured,
            check.verdict(|index| picture.pixel_name(index)),
        );
        let entry = match variant.name {
            CULLED => entry.separate(),
            _ => entry,
        };
        if !chapter.add(entry) {
            // the wrong picture is saved
            break; // the file will show the wrong picture
        }
    }
    Ok(())
}

/// Returns a grid of blocks of `--block` threads that covers the picture, with a patch of pixels per thread.
///
/// # Errors
///
/// Fails if the device does not allow it.
pub fn grid(chapter: &Chapter, flags: &Flags, variant: &Variant) -> Result<(GridSize, BlockSize)> {
    let (across, down) = variant.patch;
    let (width, height) = (flags.width.div_ceil(across), flags.height.div_ceil(down));
    launch::grid_2d(&chapter.gpu.device, width, height, flags.block)
}
