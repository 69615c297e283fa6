//! Spheres in global memory, in constant memory, and in constant memory at indices that the
//! compiler knows: CUDA by Example, chapter 6, "Constant memory and events".
//!
//! The kernels are in `kernels/raytrace-const.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::report::{Report, note};
use common::verify::{POISON, compare};
use common::{launch, memory, module, timing};
use cust::prelude::*;
use raytrace_const::flags::{Flags, Variant};
use raytrace_const::picture::{Destination, Picture, Pixel};
use raytrace_const::scene::{self, ConstantBank};
use raytrace_const::{limits, reference};

/// The kernels, as PTX.
const PTX: &str = include_str!(env!("RAYTRACE_CONST_PTX"));

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let out = Destination::new(&flags.out)?;
    limits::spheres_fit(flags)?;

    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    let (grid, block) = launch::grid_2d(
        &gpu.device,
        flags.width.into(),
        flags.height.into(),
        flags.block,
    )?;
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

    // `__constant__` memory is not allocated: it is a symbol of the module.
    let module = module::load(ptx)?;
    let mut constant_spheres = module::symbol::<ConstantBank>(&module, c"constant_spheres")?;

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

    for &variant in flags.variant.variants() {
        // Copy to the symbol, in the layout that the kernel reads.
        match variant {
            Variant::Global => {}
            Variant::Constant => {
                constant_spheres.copy_from(&ConstantBank::packed(&spheres))?;
            }
            Variant::Unrolled => {
                constant_spheres.copy_from(&ConstantBank::aligned(&spheres))?;
            }
        }
        image.set_8(POISON)?;

        // Launch between two events, as often as a good sample takes.
        let kernel = module.get_function(variant.kernel())?;
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
            // SAFETY: as above; the spheres are in the symbol, which holds at least `count`.
            Variant::Constant | Variant::Unrolled => unsafe {
                launch!(kernel<<<grid, block, 0, stream>>>(
                    count, image.as_device_ptr(), width, height
                ))
            },
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
        report.add(variant.name(), (), timing, &verdict);
        if report.is_wrong() {
            break; // the file will show the wrong picture
        }
    }

    out.save(&drawn)?;
    report.print()?;
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

#[cfg(test)]
mod tests;
