//! A vector times a factor. Follows: name the note and its section here.
//!
//! The kernel is in `kernels/new-chapter.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chapter::{Entry, launch};
use clap::Parser;
use common::verify::{compare, output, within_ulps};
use common::module;
use cust::prelude::*;
use new_chapter::{Flags, reference};

const PTX: &str = include_str!(env!("NEW_CHAPTER_PTX"));

fn main() -> ExitCode {
    chapter::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let chapter = flags.open()?;
    let stream = &chapter.gpu.stream;
    let (count, factor) = (flags.count, flags.factor);
    let host_x = reference::vector(count);
    let expected = reference::scaled(&host_x, factor);

    // Allocate, and copy the operand to the GPU.
    let x = DeviceBuffer::from_slice(&host_x).context("cannot copy the vector")?;
    let y = output::<f32>("the result", host_x.len())?;

    // Launch as often as one timing sample needs.
    let module = module::load(ptx)?;
    let scale = module.get_function("scale")?;
    let (grid, block) = launch::grid_1d(&chapter.gpu.device, count, flags.block)?;
    let measured = chapter.measure("scale", || {
        // SAFETY: the arguments match the parameters of `scale` in the .cu file; each vector has
        // `count` elements.
        unsafe {
            launch!(scale<<<grid, block, 0, stream>>>(
                x.as_device_ptr(), factor, y.as_device_ptr(), count
            ))
        }
    })?;

    // Copy back and compare bit by bit: IEEE multiplication has one correct result.
    let check = compare(&y.as_host_vec()?, &expected, within_ulps(0));
    let verdict = check.verdict(|index| format!("element {index}"));
    chapter.add(Entry::new("scale", measured, verdict));
    chapter.finish("")
}

#[cfg(test)]
mod tests;
