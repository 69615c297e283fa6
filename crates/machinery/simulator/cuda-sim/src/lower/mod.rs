//! Lowers PTX to a program that the interpreter runs.
//!
//! Lowering works as a small compiler: it places variables (`layout`), translates each function into a linear
//! IR of [`ir::IrInst`]s with virtual registers (`function`), builds the control-flow graph and its
//! post-dominators (`cfg`), runs data-flow analyses (`analysis`), assigns virtual registers to the rows of a
//! frame by linear scan (`register_allocation`), and emits one handler per instruction (`function::emit`). PTX
//! is not in SSA form: a virtual register may have several definitions, and every analysis allows for that.

mod analysis;
mod call_graph;
mod catalogue;
mod cfg;
mod error;
mod function;
mod ir;
mod layout;
mod operations;
mod regions;
mod register_allocation;

pub use catalogue::{InstructionForm, catalogue};
use error::limits;
pub use error::{LoadError, NotInPtx};
pub use operations::{STAYS_INTERPRETED, of_registers};

use std::collections::HashMap;

use crate::device::DeviceSpec;
use crate::exec::cpu::Cpu;
use crate::exec::instrument::counting;
use crate::exec::sm::Program;
use crate::isa::Listing;
use crate::memory::global::{CallSite, Global};
use crate::ptx::{self, ast};
use function::ModuleContext;
use layout::{Layout, Symbol};

/// Parses, validates and lowers a module, and allocates its variables in device memory.
///
/// # Errors
/// Returns the problem and its PTX line; everything allocated until then is freed.
pub fn load(text: &str, device: &DeviceSpec, global: &mut Global) -> Result<Program, LoadError> {
    let mut module = ptx::parse(text).map_err(LoadError::Syntax)?;
    check_header(&module)?;
    resolve_array_elements(&mut module)?;
    // The newest simulated GPU stands for all newer ones, so it accepts any target. A user who selects an older GPU
    // wants its limits enforced.
    if module.target.sm > device.max_target_sm && !device.is_newest() {
        return Err(LoadError::WrongTarget {
            target: module.target.name.to_owned(),
            device: device.models.to_owned(),
            sm: device.max_target_sm,
        });
    }
    let layout = layout::place(&module, device, global)?;
    let allocations = layout.allocations.clone();
    lower(&module, layout, device).inspect_err(|_| {
        for address in allocations {
            // `layout::place` has just allocated `address`, so freeing it cannot fail.
            let _ = global.free(address);
        }
    })
}

/// The last minor version of each major version of PTX from 1 to 8 (PTX ISA, release notes).
const LAST_MINOR_VERSIONS: [u32; 8] = [5, 3, 2, 3, 2, 5, 8, 8];

/// The PTX versions that introduced targets: the first that an H200's driver accepts (580.159.04), and for newer
/// GPUs those of the PTX ISA's release notes.
const TARGET_VERSIONS: [(u32, (u32, u32)); 31] = [
    (10, (1, 0)),
    (11, (1, 0)),
    (12, (1, 2)),
    (13, (1, 2)),
    (20, (2, 0)),
    (21, (2, 0)),
    (30, (3, 0)),
    (32, (4, 0)),
    (35, (3, 0)),
    (37, (4, 1)),
    (50, (4, 0)),
    (52, (4, 1)),
    (53, (4, 2)),
    (60, (5, 0)),
    (61, (5, 0)),
    (62, (5, 0)),
    (70, (5, 1)),
    (72, (6, 1)),
    (75, (6, 3)),
    (80, (7, 0)),
    (86, (7, 1)),
    (87, (7, 4)),
    (88, (7, 3)),
    (89, (7, 8)),
    (90, (7, 8)),
    (100, (8, 6)),
    (101, (8, 6)),
    (103, (8, 8)),
    (110, (9, 0)),
    (120, (8, 7)),
    (121, (8, 8)),
];

/// Fails if the module's PTX version or its target does not exist, or if the version lacks the target. Minor versions
/// later than 9.0 are accepted: only the instructions of a module matter.
fn check_header(module: &ast::Module) -> Result<(), LoadError> {
    let version @ (major, minor) = module.version;
    let last_minor = match major {
        1..=8 => LAST_MINOR_VERSIONS[major as usize - 1],
        9 => u32::MAX,
        _ => return Err(LoadError::UnsupportedVersion(version)),
    };
    if minor > last_minor {
        return Err(LoadError::UnsupportedVersion(version));
    }
    let target = module.target.name.to_owned();
    let mut targets = TARGET_VERSIONS.iter();
    match targets.find(|(sm, _)| *sm == module.target.sm) {
        None => Err(LoadError::UnsupportedTarget(target)),
        Some(&(_, first)) if version < first => Err(LoadError::OldVersion {
            target,
            version: first,
        }),
        Some(_) => Ok(()),
    }
}

/// Parses a module, which may call functions of others, and checks its header and its instructions' names.
///
/// # Errors
/// As [`load`].
pub fn check(text: &str) -> Result<(), LoadError> {
    let module = ptx::parse(text).map_err(LoadError::Syntax)?;
    check_header(&module)?;
    let functions = module.functions.iter();
    functions
        .filter_map(|function| function.body.as_deref())
        .try_for_each(check_mnemonics)
}

/// Fails if an instruction has a name that PTX does not have.
fn check_mnemonics(body: &[ast::Statement]) -> Result<(), LoadError> {
    body.iter().try_for_each(|statement| match statement {
        ast::Statement::Block(body) => check_mnemonics(body),
        ast::Statement::Instruction(instruction)
            if !function::instructions::is_mnemonic(instruction.mnemonic) =>
        {
            Err(LoadError::UnknownInstruction {
                line: instruction.line,
                instruction: instruction.mnemonic.to_owned(),
                required_sm: None,
                not_in_ptx: Some(NotInPtx {
                    mnemonic: instruction.mnemonic.to_owned(),
                    undeclared: Vec::new(),
                }),
            })
        }
        _ => Ok(()),
    })
}

/// Returns the oldest PTX version that has all of a module's instructions, at least the module's own; `None` if the
/// text cannot be parsed.
pub fn required_version(text: &str) -> Option<(u32, u32)> {
    fn of_body(body: &[ast::Statement]) -> (u32, u32) {
        let versions = body.iter().map(|statement| match statement {
            ast::Statement::Instruction(instruction) => {
                function::instructions::find(instruction.mnemonic, &instruction.modifiers)
                    .map_or((0, 0), |entry| {
                        entry.requirements_of(&instruction.modifiers).version
                    })
            }
            ast::Statement::Block(body) => of_body(body),
            _ => (0, 0),
        });
        versions.max().unwrap_or_default()
    }
    let module = ptx::parse(text).ok()?;
    let bodies = module
        .functions
        .iter()
        .filter_map(|function| function.body.as_deref());
    bodies.map(of_body).chain([module.version]).max()
}

/// An instruction that the target of its module lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingInstruction {
    /// The mnemonic with its modifiers.
    pub name: String,
    /// The target that has it, such as `sm_90a`.
    pub target: String,
    /// The place in the source, if it is known.
    pub location: Option<CallSite>,
}

/// Returns the first instruction that a module's target lacks; `None` if there is none or the text cannot be parsed.
pub fn missing_instruction(text: &str) -> Option<MissingInstruction> {
    fn of_body(module: &ast::Module, body: &[ast::Statement]) -> Option<MissingInstruction> {
        body.iter().find_map(|statement| match statement {
            ast::Statement::Block(body) => of_body(module, body),
            ast::Statement::Instruction(instruction) => {
                let entry =
                    function::instructions::find(instruction.mnemonic, &instruction.modifiers)?;
                let (target, _) = entry.missing_target(&instruction.modifiers, module.target)?;
                let location = instruction.location.and_then(|location| {
                    let file = files(module).remove(&location.file)?;
                    let line = location.line;
                    Some(CallSite { file, line })
                });
                Some(MissingInstruction {
                    name: function::operands::display_name(instruction),
                    target,
                    location,
                })
            }
            _ => None,
        })
    }
    let module = ptx::parse(text).ok()?;
    let mut bodies = module.functions.iter();
    bodies.find_map(|function| of_body(&module, function.body.as_deref()?))
}

/// Returns the source file names by their PTX numbers, without the `./` that clang puts before files of the
/// current directory.
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
        references: layout.references.clone(),
        allocations: layout.allocations.clone(),
        ..Program::default()
    };
    program
        .listing
        .shared_names
        .clone_from(&layout.shared_names);
    program.listing.ptx_target = module.target.sm;
    let cpu = Cpu::detect();
    let context = ModuleContext {
        ast: module,
        layout: &layout,
        signatures: function::signatures(module)?,
        device,
        cpu,
    };
    let defined = module.functions.iter();
    for function in defined.filter(|function| function.body.is_some()) {
        function::lower(&mut program, &context, function)?;
    }
    let resources = call_graph::resources(&program);
    let kernels = module.functions.iter().filter(|function| function.entry);
    for function in kernels.filter(|kernel| kernel.body.is_some()) {
        let Some(&Symbol::Function(number)) = layout.symbols.get(function.name) else {
            continue;
        };
        let kernel = call_graph::kernel(&layout, function, number, &resources[number], device)?;
        program.listing.kernels.push(kernel);
    }
    counting::make_copies(&mut program.code, cpu);
    Ok(program)
}

/// The visible arrays by name, with the element size in bytes if the array has one dimension.
type Arrays<'a> = HashMap<&'a str, Option<u64>>;

/// Instructions that take an array element as an address value; all others access memory.
const ADDRESS_VALUE_INSTRUCTIONS: [&str; 2] = ["mov", "cvta"];

/// Rewrites all array elements as operands (`table[2]`, `table[%r1+2]`) as addresses. PTX ISA section 6.4.2: `mov` takes the
/// address of the element; an instruction that accesses memory accesses the element.
///
/// # Errors
/// Fails if the array is not declared or does not have exactly one dimension.
fn resolve_array_elements(module: &mut ast::Module) -> Result<(), LoadError> {
    let mut outer = Arrays::new();
    outer.extend(module.variables.iter().map(array_entry));
    for function in &mut module.functions {
        let ast::Function { params, body, .. } = function;
        let mut arrays = outer.clone();
        arrays.extend(params.iter().map(array_entry));
        if let Some(body) = body {
            resolve_in_block(body, &arrays)?;
        }
    }
    Ok(())
}

fn array_entry<'a>(variable: &ast::Variable<'a>) -> (&'a str, Option<u64>) {
    let element = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
    (
        variable.name,
        (variable.dims.len() == 1 && !variable.is_range).then_some(element),
    )
}

fn resolve_in_block<'a>(
    block: &mut [ast::Statement<'a>],
    outer: &Arrays<'a>,
) -> Result<(), LoadError> {
    if !has_array_elements(block) {
        return Ok(());
    }
    let mut arrays = outer.clone();
    for statement in block {
        match statement {
            ast::Statement::Variable(variable) => {
                arrays.extend([array_entry(variable)]);
            }
            ast::Statement::Block(inner) => resolve_in_block(inner, &arrays)?,
            ast::Statement::Instruction(instruction) => {
                resolve_in_instruction(instruction, &arrays)?
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns true if the block contains an array-element operand. Few modules do, so this avoids cloning scopes.
fn has_array_elements(block: &[ast::Statement]) -> bool {
    block.iter().any(|statement| match statement {
        ast::Statement::Block(inner) => has_array_elements(inner),
        ast::Statement::Instruction(instruction) => {
            let mut operands = instruction.operands.iter();
            operands.any(|operand| matches!(operand, ast::Operand::ArrayElement { .. }))
        }
        _ => false,
    })
}

fn resolve_in_instruction<'a>(
    instruction: &mut ast::Instruction<'a>,
    arrays: &Arrays<'a>,
) -> Result<(), LoadError> {
    let is_value = ADDRESS_VALUE_INSTRUCTIONS.contains(&instruction.mnemonic);
    let line = instruction.line;
    for operand in &mut instruction.operands {
        let &mut ast::Operand::ArrayElement {
            array,
            register,
            index,
        } = operand
        else {
            continue;
        };
        let Some(&Some(element)) = arrays.get(array) else {
            let message = format!("`{array}` is not a one-dimensional array");
            return Err(LoadError::invalid(line, message));
        };
        let offset = index.wrapping_mul(element as i64);
        *operand = match register {
            None if is_value => ast::Operand::Name {
                name: array,
                offset,
            },
            None => ast::Operand::Address {
                base: ast::AddressBase::Name(array),
                offset,
            },
            Some(register) => ast::Operand::Address {
                base: ast::AddressBase::Indexed {
                    array,
                    register,
                    element_bytes: element,
                },
                offset,
            },
        };
    }
    Ok(())
}
