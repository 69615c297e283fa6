//! From PTX to a program that is ready to run: variables placed, registers numbered, control flow laid
//! out, and for each instruction the handler that runs it.

mod analysis;
mod catalogue;
mod draft;
mod error;
mod frame;
mod function;
mod graph;
mod items;
mod layout;
mod limits;
mod liveness;
mod mentions;
mod reach;
mod register;

pub use catalogue::{Known, catalogue};
pub use error::LoadError;

use std::collections::HashMap;

use crate::device::DeviceSpec;
use crate::exec::cpu::Cpu;
use crate::exec::observed;
use crate::exec::sm::Program;
use crate::isa::Listing;
use crate::memory::global::Global;
use crate::ptx::{self, ast};
use layout::{Layout, Symbol};

/// Reads, checks and lays out a module, and places its variables in device memory.
///
/// # Errors
/// What is wrong and on which line; nothing stays allocated then.
pub fn load(text: &str, device: &DeviceSpec, global: &mut Global) -> Result<Program, LoadError> {
    let mut module = ptx::parse(text).map_err(LoadError::Syntax)?;
    items::resolve(&mut module)?;
    // What counts is the instructions: no version is refused for its number. Nor is a target by the newest
    // GPU, which stands for all that are newer; who chose an older one wants to know what that does.
    if module.target.sm > device.accepts && !device.is_newest() {
        return Err(LoadError::WrongTarget {
            target: module.target.name.to_owned(),
            device: device.models.to_owned(),
            sm: device.accepts,
        });
    }
    let layout = layout::place(&module, device, global)?;
    let allocations = layout.allocations.clone();
    lower(&module, layout, device).inspect_err(|_| {
        for address in allocations {
            // Allocated just above, so freeing can not fail.
            let _ = global.free(address);
        }
    })
}

/// The sources' names by number. clang calls a file of the current folder `./a.cu`.
fn files(module: &ast::Module) -> HashMap<u32, String> {
    let short = |name: &String| name.strip_prefix("./").unwrap_or(name).to_owned();
    let files = module.files.iter();
    files.map(|(number, name)| (*number, short(name))).collect()
}

fn lower(module: &ast::Module, layout: Layout, device: &DeviceSpec) -> Result<Program, LoadError> {
    let mut program = Program {
        listing: Listing::new(files(module)),
        constants: layout.constants,
        variables: layout.visible.clone(),
        allocations: layout.allocations.clone(),
        ..Program::default()
    };
    let (major, minor) = module.version;
    program.listing.ptx_version = major.saturating_mul(10).saturating_add(minor);
    let cpu = Cpu::detect();
    let declared = function::signatures(module)?;
    let defined = module.functions.iter();
    for function in defined.filter(|function| function.body.is_some()) {
        function::lower(
            &mut program,
            module,
            &declared,
            &layout,
            function,
            device,
            cpu,
        )?;
    }
    let reached = reach::reached(&program);
    let kernels = module.functions.iter().filter(|function| function.entry);
    for function in kernels.filter(|kernel| kernel.body.is_some()) {
        let Some(&Symbol::Function(number)) = layout.symbols.get(function.name) else {
            continue;
        };
        let kernel = reach::kernel(&layout, function, number, &reached[number], device)?;
        program.listing.kernels.push(kernel);
    }
    observed::make_copies(&mut program.code, cpu);
    Ok(program)
}
