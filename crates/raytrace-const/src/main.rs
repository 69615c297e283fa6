//! Spheres in global and in constant memory, timed with events. Follows the note on CUDA by
//! Example, chapter 6, "Constant memory and events".
//!
//! The kernels are in `kernels/raytrace-const.cu`; the ladder beyond the note is in `ladder.rs`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chapter::{Entry, launch};
use clap::Parser;
use common::module;
use common::verify::{POISON, compare, output};
use cust::prelude::*;
use raytrace_const::{ConstantBank, Flags, Picture, Pixel, Spheres, ladder, reference, scene};

const PTX: &str = include_str!(env!("RAYTRACE_CONST_PTX"));

fn main() -> ExitCode {
    chapter::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let chapter = flags.open()?;
    let stream = &chapter.gpu.stream;
    let (width, height, count) = (flags.width, flags.height, flags.spheres);
    let spheres = scene::random(flags);
    let expected = reference::render(&spheres, width, height);

    // Allocate the spheres, copied to global memory, and the image, which the kernels write.
    let global_spheres = DeviceBuffer::from_slice(&spheres).context("cannot copy the spheres")?;
    let mut image = output::<Pixel>("the image", expected.pixels.len())?;
    let mut picture = Picture::black(width, height);

    // `__constant__` memory needs no allocation: it is a symbol of the module.
    let module = module::load(ptx)?;
    let mut constant_spheres = module::symbol::<ConstantBank>(&module, c"constant_spheres")?;

    let start = Event::new(EventFlags::DEFAULT)?;
    let stop = Event::new(EventFlags::DEFAULT)?;
    let (grid, block) = launch::grid_2d(&chapter.gpu.device, width, height, flags.block)?;

    for variant in flags.variants().note_kernels() {
        // Copy to the symbol in the layout that the kernel reads.
        match variant.spheres {
            Spheres::Packed => constant_spheres.copy_from(&ConstantBank::packed(&spheres))?,
            Spheres::Aligned => constant_spheres.copy_from(&ConstantBank::aligned(&spheres))?,
            _ => {}
        }
        image.set_8(POISON)?;
        let kernel = module.get_function(variant.kernel)?;

        // Launch between two events, as often as one timing sample needs.
        let measured = chapter.sample(variant.kernel, |launches| {
            start.record(stream)?;
            for _ in 0..launches {
                // SAFETY: the arguments match the kernel's parameters in the .cu file: `count`
                // spheres in the buffer or the symbol, and `width * height` pixels.
                unsafe {
                    match variant.spheres {
                        Spheres::Global => launch!(kernel<<<grid, block, 0, stream>>>(
                            global_spheres.as_device_ptr(), count,
                            image.as_device_ptr(), width, height
                        )),
                        _ => launch!(kernel<<<grid, block, 0, stream>>>(
                            count, image.as_device_ptr(), width, height
                        )),
                    }
                }?;
            }
            stop.record(stream)?;
            stop.synchronize()?;
            Ok(stop.elapsed_time_f32(&start)?)
        })?;

        // Read back and compare bit by bit: kernel and reference round in the same places.
        image.copy_to(&mut picture.pixels)?;
        let check = compare(&picture.pixels, &expected.pixels, |a, b| a == b);
        let verdict = check.verdict(|index| picture.pixel_name(index));
        if !chapter.add(Entry::new(variant.name, measured, verdict)) {
            break; // the wrong picture is saved
        }
    }
    drop((global_spheres, image)); // frees the buffers
    ladder::run(flags, &chapter, &spheres, &expected, &mut picture)?;
    picture.save(&flags.out)?;
    flags.finish(&chapter)
}

#[cfg(test)]
mod tests;
