//! A module made ready to run: variables placed, registers numbered, control flow laid out.

mod capability;
pub mod checked;
pub mod code;
pub mod common;
mod error;
pub(crate) mod flow;
pub mod function;
mod layout;
mod limits;
mod lower;
mod predicated;
mod reach;
mod registers;
mod repeated;
pub mod sites;
pub mod steps;
pub mod wide;

pub use error::LoadError;
pub use function::{Kernel, Param};

use crate::device::DeviceSpec;
use crate::exec::cpu::Cpu;
use crate::exec::fault::Source;
use crate::exec::ops::Class;
use crate::memory::global::Global;
use crate::ptx::{self, ast};
use checked::CheckedCode;
use code::Inst;
use function::{CallSite, Function};
use layout::Symbol;
use sites::Sites;
use std::collections::HashMap;
pub use steps::Step;

/// The newest PTX this reads.
const NEWEST: (u32, u32) = (9, 0);

/// A loaded module.
pub struct Program {
    pub code: Vec<Inst>,
    /// The same, counted as it runs.
    pub observed: Vec<Inst>,
    /// The same, as gangs of warps run it.
    pub together: Vec<Inst>,
    /// The same with its sites counted.
    pub observed_together: Vec<Inst>,
    /// What is counted in the observed code.
    pub sites: Sites,
    /// The same code once more, checked as it runs.
    pub checked: CheckedCode,
    /// Basic blocks, numbered as their `enter` instructions say.
    pub blocks: Vec<BlockInfo>,
    pub functions: Vec<Function>,
    pub kernels: Vec<Kernel>,
    pub tables: Vec<Vec<u32>>,
    /// Places in the frame of operands that are more than an instruction holds.
    pub operand_lists: Vec<Vec<u32>>,
    pub call_sites: Vec<CallSite>,
    /// Address and bytes of the constant bank in device memory.
    pub constants: Option<(u64, u64)>,
    variables: HashMap<String, (u64, u64)>,
    allocations: Vec<u64>,
    lines: Vec<LineInfo>,
    leaders: Vec<Leader>,
    files: HashMap<u32, String>,
}

/// Where an instruction comes from.
#[derive(Debug, Clone, Copy)]
struct LineInfo {
    ptx_line: u32,
    location: Option<ast::Location>,
}

/// What a basic block does each time it runs.
#[derive(Debug, Clone, Default)]
pub struct BlockInfo {
    /// Instructions of each class, as [`Class`] numbers them.
    pub classes: [u32; Class::COUNT],
    /// PTX instructions. Some take more than one of the simulator's: a special register is read
    /// first, a guard is a step of its own.
    pub ptx_instructions: u32,
    /// Floating-point operations of a thread.
    pub operations: u32,
    /// What has to wait for what in it.
    pub steps: Vec<Step>,
    /// The block whose visits say how often this one is issued, where its instructions are
    /// predicated instead of branched around.
    pub issued_by: Option<usize>,
}

/// A PTX instruction's place in the code.
#[derive(Debug, Clone, Copy)]
pub struct Leader {
    /// The first of those that it became.
    pub address: u32,
    /// Its basic block.
    pub block: u32,
    pub class: Class,
}

impl Program {
    /// Reads, checks and lays out a module, and places its variables in device memory.
    ///
    /// # Errors
    /// What is wrong and on which line; nothing stays allocated then.
    pub fn load(
        text: &str,
        device: &DeviceSpec,
        global: &mut Global,
    ) -> Result<Program, LoadError> {
        let module = ptx::parse(text).map_err(LoadError::Syntax)?;
        if module.version > NEWEST {
            return Err(LoadError::UnsupportedVersion(module.version, NEWEST));
        }
        if module.target.sm > device.accepts {
            return Err(LoadError::WrongTarget {
                target: module.target.name.to_owned(),
                device: device.models.to_owned(),
                sm: device.accepts,
            });
        }
        let layout = layout::place(&module, device, global)?;
        let allocations = layout.allocations.clone();
        Self::lower(&module, layout, device).inspect_err(|_| {
            for address in allocations {
                // Allocated just above, so freeing can not fail.
                let _ = global.free(address);
            }
        })
    }

    fn lower(
        module: &ast::Module,
        layout: layout::Layout,
        device: &DeviceSpec,
    ) -> Result<Program, LoadError> {
        let mut program = Program {
            code: Vec::new(),
            observed: Vec::new(),
            together: Vec::new(),
            observed_together: Vec::new(),
            sites: Sites::default(),
            checked: CheckedCode::default(),
            blocks: Vec::new(),
            functions: Vec::new(),
            kernels: Vec::new(),
            tables: Vec::new(),
            operand_lists: Vec::new(),
            call_sites: Vec::new(),
            constants: layout.constants,
            variables: layout.visible.clone(),
            allocations: layout.allocations.clone(),
            lines: Vec::new(),
            leaders: Vec::new(),
            files: module.files.iter().cloned().collect(),
        };
        let cpu = Cpu::detect();
        let declared = lower::signatures(module)?;
        for function in module
            .functions
            .iter()
            .filter(|function| function.body.is_some())
        {
            lower::function(
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
            program.kernels.push(kernel);
        }
        program.observed = program.sites.observed(&program.code, cpu);
        program.observed_together = program.sites.observed_together(&program.together, cpu);
        Ok(program)
    }

    /// The basic block whose visits say how often `block` is issued: itself, or the one that its
    /// predicated instructions stand among.
    pub fn issuer(&self, block: usize) -> usize {
        self.blocks[block].issued_by.unwrap_or(block)
    }

    /// Every PTX instruction, in order.
    pub fn instructions(&self) -> impl Iterator<Item = Leader> {
        self.leaders.iter().copied()
    }

    /// A kernel's index by name.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.name == name)
    }

    /// Device address and bytes of a module variable in global or constant memory.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        self.variables.get(name).copied()
    }

    /// What to free when the module goes.
    pub fn allocations(&self) -> &[u64] {
        &self.allocations
    }

    /// The source line of an instruction.
    pub fn source_of(&self, address: u32) -> Source {
        let Some(info) = self.lines.get(address as usize) else {
            return Source::default();
        };
        let file = info
            .location
            .and_then(|location| self.files.get(&location.file).cloned());
        Source {
            file,
            line: info.location.map_or(0, |location| location.line),
            ptx_line: info.ptx_line,
        }
    }
}
