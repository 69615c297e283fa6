//! Variables of a module: to and from a `__constant__` array, a `__device__` scalar and a
//! `__device__` pointer, and kernels that use them. The note on memory, "Device memory", code 4.4.
//!
//! The kernels are in `kernels/device-symbols.cu`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::gpu::Gpu;
use common::report::note;
use common::verify::{POISON, compare, within_ulps};
use common::{launch, memory, module};
use cust::prelude::*;
use device_symbols::flags::Flags;
use device_symbols::steps::Steps;
use device_symbols::summary::{self, Record, Summary};
use device_symbols::values::{self, LENGTH, STORED, VALUE};
use device_symbols::variable::Variable;

/// The kernels, as PTX.
const PTX: &str = include_str!(env!("DEVICE_SYMBOLS_PTX"));

fn main() -> ExitCode {
    common::main(|| run(&Flags::parse(), PTX))
}

fn run(flags: &Flags, ptx: &str) -> Result<()> {
    let gpu = Gpu::open()?;
    note(&gpu.info);
    let stream = &gpu.stream;
    let (grid, block) = launch::grid_1d(&gpu.device, flags.count, flags.block)?;
    let (array_grid, _) = launch::grid_1d(&gpu.device, LENGTH as u64, flags.block)?;
    memory::require(&gpu, "what the kernel makes", flags.memory_need())?;

    // ANCHOR: find
    // Variables are not allocated: they are there as long as their module, and found by name.
    let module = module::load(ptx)?;
    let mut const_data = Variable::find(&module, "const_data")?;
    let mut dev_data = Variable::find(&module, "dev_data")?;
    let mut dev_pointer = Variable::find(&module, "dev_pointer")?;
    // ANCHOR_END: find
    let mut symbol = Variable::find(&module, &flags.symbol)?;
    let part = flags.part_of(symbol.bytes());
    symbol
        .require(part.offset, part.bytes)
        .context("--offset, --bytes")?;

    // To the array, and from it.
    let mut steps = Steps::new(&gpu, flags, part, "to const_data")?;
    let constants = values::constants();
    steps.to_symbol("to const_data", &mut const_data, &constants, 0)?;
    steps.from_symbol("from const_data", &const_data, &constants, 0)?;

    // To the scalar, and from it.
    steps.to_symbol("to dev_data", &mut dev_data, &[VALUE], 0)?;
    steps.from_symbol("from dev_data", &dev_data, &[VALUE], 0)?;

    // ANCHOR: pointer
    // To the pointer: the address of an allocation, whose floats are copied as any others.
    let mut pointed = DeviceBuffer::from_slice(&values::pointed())
        .context("cannot allocate what the pointer points to")?;
    let address = pointed.as_device_ptr().as_raw();
    steps.to_symbol("to dev_pointer", &mut dev_pointer, &[address], 0)?;
    steps.from_symbol("from dev_pointer", &dev_pointer, &[address], 0)?;
    // ANCHOR_END: pointer

    // A kernel that reads all three, though none is among its arguments.
    // SAFETY: it is filled with `POISON` before it is read.
    let mut out = unsafe { DeviceBuffer::<f32>::uninitialized(flags.count as usize) }
        .context("cannot allocate what the kernel makes")?;
    out.set_8(POISON)?;
    let combine = module.get_function("combine")?;
    steps.kernel(
        "combine",
        || {
            // SAFETY: the arguments are those of `combine` in the .cu file, `out` has `count`
            // elements, and `dev_pointer` points to as many floats as `const_data` has.
            unsafe {
                launch!(combine<<<grid, block, 0, stream>>>(out.as_device_ptr(), flags.count))
            }?;
            Ok(())
        },
        || {
            let expected = values::combined(flags.count);
            let check = compare(&out.as_host_vec()?, &expected, within_ulps(0));
            Ok(check.verdict(|index| format!("element {index}")))
        },
    )?;

    // A kernel that writes the scalar, and through the pointer.
    pointed.set_8(POISON)?;
    let store = module.get_function("store")?;
    steps.kernel(
        "store",
        || {
            // SAFETY: the argument is that of `store` in the .cu file, and `dev_pointer` points
            // to as many floats as `const_data` has.
            unsafe { launch!(store<<<array_grid, block, 0, stream>>>(STORED)) }?;
            Ok(())
        },
        || {
            let check = compare(&pointed.as_host_vec()?, &values::stored(), within_ulps(0));
            Ok(check.verdict(|index| format!("element {index} of what dev_pointer points to")))
        },
    )?;
    steps.from_symbol("from dev_data, stored", &dev_data, &[STORED], 0)?;
    let symbols = symbols(&const_data, &dev_data, &dev_pointer)?;

    // A part of a variable: its bytes from an offset on, inverted.
    let mut bytes = vec![0_u8; part.bytes as usize];
    symbol.copy_to(&mut bytes, part.offset)?;
    bytes.iter_mut().for_each(|byte| *byte = !*byte);
    let [to, from] = ["to", "from"].map(|way| format!("{way} {}, part", flags.symbol));
    steps.to_symbol(&to, &mut symbol, &bytes, part.offset)?;
    steps.from_symbol(&from, &symbol, &bytes, part.offset)?;

    let report = steps.report();
    let record = Record {
        report: &report,
        symbols: &symbols,
    };
    report.print_with(&record, &[summary::table(&symbols)])?;
    note(
        "\nA symbol is a name; its address is the device's, and the host has no such variable.\n\
         `dev_pointer` holds an address, 8 bytes; what is there was allocated and copied by \
         itself.\nKernels can only read `const_data`; the host writes it between launches.",
    );
    report.verdict()
}

/// What the three variables are, and what they hold.
fn symbols(array: &Variable, scalar: &Variable, pointer: &Variable) -> Result<[Summary; 3]> {
    let mut value = [0.0_f32];
    scalar.copy_to(&mut value, 0)?;
    let mut address = [0_u64];
    pointer.copy_to(&mut address, 0)?;
    Ok([
        Summary::new(array, "constant", format!("{LENGTH} floats")),
        Summary::new(scalar, "global", value[0].to_string()),
        Summary::new(pointer, "global", format!("{:#x}", address[0])),
    ])
}

#[cfg(test)]
mod tests;
