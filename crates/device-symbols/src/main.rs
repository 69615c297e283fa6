//! Variables of a module: copies to and from a `__constant__` array, a `__device__` scalar and a
//! `__device__` pointer, and kernels that use them. From the note on memory, "Device memory", 4.4.
//!
//! The kernels are in `kernels/device-symbols.cu`; `steps.rs` times and verifies a copy.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chapter::launch;
use clap::Parser;
use common::module;
use common::verify::{POISON, compare, output, within_ulps};
use cust::prelude::*;
use device_symbols::steps::{from_symbol, launched, to_symbol};
use device_symbols::values::{self, LENGTH, STORED, VALUE};
use device_symbols::{Flags, Symbols, Variable};

/// The kernels, compiled to PTX.
const PTX: &str = include_str!(env!("DEVICE_SYMBOLS_PTX"));

fn main() -> ExitCode {
    chapter::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let chapter = flags.open()?;
    let stream = &chapter.gpu.stream;

    // Variables need no allocation: they exist as long as their module and are looked up by name.
    let module = module::load(ptx)?;
    let mut const_data = Variable::find(&module, "const_data")?;
    let mut dev_data = Variable::find(&module, "dev_data")?;
    let mut dev_pointer = Variable::find(&module, "dev_pointer")?;
    let (mut symbol, part) = flags.part_in(&module)?;

    // Copy to the array and back: `cudaMemcpyToSymbol`, `cudaMemcpyFromSymbol`.
    let data = values::constants();
    to_symbol(&chapter, "to const_data", &mut const_data, &data, 0)?;
    from_symbol(&chapter, "from const_data", &const_data, &data, 0)?;

    // Copy to the scalar and back.
    to_symbol(&chapter, "to dev_data", &mut dev_data, &[VALUE], 0)?;
    from_symbol(&chapter, "from dev_data", &dev_data, &[VALUE], 0)?;

    // Copy to the pointer: it holds the address of an allocation, which is filled as usual.
    let mut pointed = DeviceBuffer::from_slice(&values::pointed())
        .context("cannot allocate the pointer's target")?;
    let address = pointed.as_device_ptr().as_raw();
    to_symbol(&chapter, "to dev_pointer", &mut dev_pointer, &[address], 0)?;
    from_symbol(&chapter, "from dev_pointer", &dev_pointer, &[address], 0)?;

    // A kernel that reads all three variables, although none of them is an argument.
    let out = output::<f32>("the output of the kernel", flags.count as usize)?;
    let combine = module.get_function("combine")?;
    let (grid, block) = launch::grid_1d(&chapter.gpu.device, flags.count, flags.block)?;
    let measured = chapter.measure("combine", || {
        // SAFETY: the arguments match the parameters of `combine` in the .cu file, `out` has
        // `count` elements, and `dev_pointer` points to as many floats as `const_data` has.
        unsafe { launch!(combine<<<grid, block, 0, stream>>>(out.as_device_ptr(), flags.count)) }
    })?;
    let expected = values::combined(flags.count);
    let check = compare(&out.as_host_vec()?, &expected, within_ulps(0));
    chapter.add(launched("combine", measured, check, values::element_name));

    // A kernel that writes the scalar, and writes through the pointer.
    pointed.set_8(POISON)?;
    let store = module.get_function("store")?;
    let (grid, block) = launch::grid_1d(&chapter.gpu.device, LENGTH as u64, flags.block)?;
    let measured = chapter.measure("store", || {
        // SAFETY: the argument matches the parameter of `store` in the .cu file, and `dev_pointer`
        // points to as many floats as `const_data` has.
        unsafe { launch!(store<<<grid, block, 0, stream>>>(STORED)) }
    })?;
    let check = compare(&pointed.as_host_vec()?, &values::stored(), within_ulps(0));
    chapter.add(launched("store", measured, check, values::pointed_name));
    from_symbol(&chapter, "from dev_data, stored", &dev_data, &[STORED], 0)?;
    chapter.extra(Symbols::of(&const_data, &dev_data, &dev_pointer)?);

    // Copy to a part of a variable that starts at an offset: its bytes, inverted.
    let bytes = symbol.inverted(part)?;
    let [to, from] = ["to", "from"].map(|way| format!("{way} {}, part", flags.symbol));
    to_symbol(&chapter, &to, &mut symbol, &bytes, part.offset)?;
    from_symbol(&chapter, &from, &symbol, &bytes, part.offset)?;

    drop((out, pointed)); // frees the buffers
    flags.finish(&chapter)
}

#[cfg(test)]
mod tests;
