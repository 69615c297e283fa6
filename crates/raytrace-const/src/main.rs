//! Spheres in global memory, in constant memory, and in constant memory at indices that the
//! compiler knows: CUDA by Example, chapter 6, "Constant memory and events".
//!
//! The kernels are in `kernels/raytrace-const.cu`, those of the ladder in
//! `kernels/raytrace-ladder.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::ladder::{self, Rung as _};
use common::limit::Fp32;
use common::report::{Report, note};
use common::timing::{self, Timing};
use common::verify::{POISON, compare};
use common::{launch, memory, module};
use cust::function::{BlockSize, GridSize};
use cust::prelude::*;
use raytrace_const::flags::Flags;
use raytrace_const::picture::{Destination, Picture, Pixel};
use raytrace_const::scene::{self, ConstantBank, ConstantScene};
use raytrace_const::variant::Variant;
use raytrace_const::{limits, reference};

/// The book's kernels and the ladder's, as PTX: two modules, each with constant memory of its own.
const PTX: &str = include_str!(env!("RAYTRACE_CONST_PTX"));
const LADDER_PTX: &str = include_str!(env!("RAYTRACE_LADDER_PTX"));

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), PTX, LADDER_PTX))
}

fn run(flags: &Flags, ptx: &str, ladder_ptx: &str) -> Result<()> {
    let out = Destination::new(&flags.out)?;
    limits::spheres_fit(flags)?;

    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    let variants = flags.variants();
    for variant in &variants {
        grid(&gpu, flags, *variant)?;
    }
    memory::require(&gpu, "this picture", limits::memory_need(flags))?;
    limits::pixels_count(flags)?;

    let spheres = scene::random(flags);
    let expected = reference::render(&spheres, flags.width, flags.height);

    // Allocate on the GPU: the spheres, copied there, and the image, filled by the kernels.
    let global_spheres =
        DeviceBuffer::from_slice(&spheres).context("cannot copy the spheres to the GPU")?;
    // SAFETY: it is filled with `POISON` before it is read.
    let mut image = unsafe { DeviceBuffer::<Pixel>::uninitialized(expected.pixels.len()) }
        .context("cannot allocate the image on the GPU")?;

    // The same spheres as the ladder's kernels have them.
    let (outlines, surfaces) = scene::grouped(&spheres);
    let global_outlines = DeviceBuffer::from_slice(&outlines)?;
    let global_surfaces = DeviceBuffer::from_slice(&surfaces)?;

    // `__constant__` memory is not allocated: it is a symbol of the module.
    let module = module::load(ptx)?;
    let mut constant_spheres = module::symbol::<ConstantBank>(&module, c"constant_spheres")?;
    let ladder = ladder::climbs(&variants).then(|| module::load(ladder_ptx));
    let ladder = ladder.transpose()?;
    if let Some(ladder) = &ladder {
        let mut constant_scene = module::symbol::<ConstantScene>(ladder, c"constant_scene")?;
        constant_scene.copy_from(&ConstantScene::new(&outlines, &surfaces))?;
    }

    let start = Event::new(EventFlags::DEFAULT)?;
    let stop = Event::new(EventFlags::DEFAULT)?;

    let mut report = Report::new(
        "raytrace-const",
        &gpu.info,
        &flags.common,
        flags.inputs(),
        "global",
    );
    let mut drawn = Picture::black(flags.width, flags.height);
    let limited = ladder.is_some() && flags.common.is_timed();
    let limits = limited.then(|| limits(&gpu, flags, &mut image));
    let limits = limits.transpose()?;
    let mut limit = "";

    for &variant in &variants {
        // ANCHOR: symbol
        // Copy to the symbol, in the layout that the kernel reads.
        match variant {
            Variant::Constant => {
                constant_spheres.copy_from(&ConstantBank::packed(&spheres))?;
            }
            Variant::Unrolled => {
                constant_spheres.copy_from(&ConstantBank::aligned(&spheres))?;
            }
            _ => {}
        }
        // ANCHOR_END: symbol
        image.set_8(POISON)?;
        if let Some((name, timing)) = limits.as_ref().map(|limits| limits.of(variant))
            && name != limit
        {
            report.limit(name, timing);
            limit = name;
        }

        // Launch between two events, as often as a good sample takes.
        let module = match &ladder {
            Some(ladder) if !Variant::BOOK.contains(&variant) => ladder,
            _ => &module,
        };
        let kernel = module.get_function(variant.kernel())?;
        let (grid, block) = grid(&gpu, flags, variant)?;
        let (width, height, count) = (flags.width, flags.height, flags.spheres);
        let launch = || match variant {
            // SAFETY: the arguments are those of `raytrace_global` in the .cu file; `image` has
            // `width * height` pixels and `global_spheres` has `count` spheres.
            Variant::Global => unsafe {
                launch!(kernel<<<grid, block, 0, stream>>>(
                    global_spheres.as_device_ptr(), count,
                    image.as_device_ptr(), width, height
                ))
            },
            // SAFETY: as above; both buffers have whole groups of spheres, at least `count`.
            Variant::PatchesGlobal | Variant::PatchesTiles => unsafe {
                launch!(kernel<<<grid, block, 0, stream>>>(
                    global_outlines.as_device_ptr(), global_surfaces.as_device_ptr(), count,
                    image.as_device_ptr(), width, height
                ))
            },
            // SAFETY: as above; `count` spheres are in the buffer and in the symbol.
            Variant::Culled => unsafe {
                launch!(kernel<<<grid, block, 0, stream>>>(
                    global_outlines.as_device_ptr(), count,
                    image.as_device_ptr(), width, height
                ))
            },
            Variant::Constant
            | Variant::Unrolled
            | Variant::Outlines
            | Variant::Rows
            | Variant::Patches => {
                // SAFETY: as above; the spheres are in the symbol, which holds at least `count`,
                // and for the ladder's kernels whole groups of them.
                unsafe {
                    launch!(kernel<<<grid, block, 0, stream>>>(
                        count, image.as_device_ptr(), width, height
                    ))
                }
            }
        };
        let timing = timing::time(gpu.info.time, flags.common.repeat, |launches| {
            start.record(stream)?;
            for _ in 0..launches {
                launch()?;
            }
            stop.record(stream)?;
            stop.synchronize()?;
            Ok(stop.elapsed_time_f32(&start)?)
        })
        .with_context(|| format!("{} failed", variant.kernel()))?;

        // Read back, and compare bit by bit: kernel and reference round in the same places.
        image.copy_to(&mut drawn.pixels)?;
        let check = compare(&drawn.pixels, &expected.pixels, |got, want| got == want);
        let verdict = check.verdict(|index| drawn.place(index));
        match variant {
            // It makes fewer tests, and so is compared with nothing.
            Variant::Culled => report.add_apart(variant.name(), (), timing, &verdict),
            _ => report.add(variant.name(), (), timing, &verdict),
        }
        if report.is_wrong() {
            break; // the file will show the wrong picture
        }
    }

    out.save(&drawn)?;
    report.print()?;
    if ladder.is_some() {
        note(format_args!("\n{}", ladder::ideas(&variants)));
    }
    note(format_args!(
        "\nAll threads of a warp read the same sphere at the same time, as constant memory likes \
         it best.\nWhether that pays depends on the loop: compare `constant`, which computes each \
         address, with `unrolled`, where the compiler knows it.\n\
         The picture: {}",
        flags.out.display()
    ));
    let shown = || format!("{} shows a wrong picture", flags.out.display());
    report.verdict().with_context(shown)
}

/// Blocks of `--block` threads, each with its patch of pixels, that cover the picture.
fn grid(gpu: &Gpu, flags: &Flags, variant: Variant) -> Result<(GridSize, BlockSize)> {
    let (across, down) = variant.patch();
    let (width, height) = (flags.width.div_ceil(across), flags.height.div_ceil(down));
    launch::grid_2d(&gpu.device, width.into(), height.into(), flags.block)
}

/// What the hardware allows.
struct Limits {
    /// Writing the picture, and nothing else.
    writing: Timing,
    /// The two instructions of each test that are a pixel's own, and nothing else.
    testing: Timing,
}

fn limits(gpu: &Gpu, flags: &Flags, image: &mut DeviceBuffer<Pixel>) -> Result<Limits> {
    let events = timing::events(&gpu.stream)?;
    let writing = events.timing(gpu.info.time, flags.common.repeat, || {
        // SAFETY: the image outlives the filling, which `events` waits for.
        Ok(unsafe { image.set_8_async(POISON, &gpu.stream) }?)
    });
    let tests = f64::from(flags.width) * f64::from(flags.height) * f64::from(flags.spheres);
    let rate = Fp32::measure(gpu, &events, flags.common.repeat)?;
    Ok(Limits {
        writing: writing.context("cannot time how long the picture takes to write")?,
        testing: rate.time(2.0 * tests),
    })
}

impl Limits {
    /// The longer of the two; of fewer tests nothing is left but the writing.
    fn of(&self, variant: Variant) -> (&'static str, Timing) {
        if variant == Variant::Culled || self.writing.median_ms > self.testing.median_ms {
            ("writing the picture", self.writing)
        } else {
            ("multiply-adds and comparisons", self.testing)
        }
    }
}

#[cfg(test)]
mod tests;
