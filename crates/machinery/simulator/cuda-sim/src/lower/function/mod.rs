//! Lowering of one function: statements become linear IR (one file per family of instructions), and the IR
//! becomes code (`emit`).

mod addresses;
mod async_copy;
mod bulk_copy;
mod calls;
mod control;
mod emit;
pub mod instructions;
mod memory;
mod names;
pub mod operands;
mod statements;
mod sync;
mod tensor;
mod textures;
mod video;

pub use calls::{Signatures, signatures};

use super::error::LoadError;
use super::ir::{BlockId, Flow, IrInst, Register, RegisterInfo};
use super::layout::Layout;
use super::limits;
use crate::device::DeviceSpec;
use crate::exec::cpu::Cpu;
use crate::exec::sm::{Handler, Handlers, Program};
use crate::exec::warp::window::CallSite;
use crate::isa::Class;
use crate::isa::check_event::{CheckEvent, CopyGroupOp, SharedArray};
use crate::ptx::ast;
use crate::ptx::ast::SourceLocation;
use calls::Signature;
use names::Scope;
use std::collections::{HashMap, HashSet};

/// The module that contains the functions, and the environment for which they are lowered.
pub struct ModuleContext<'m, 'a> {
    pub ast: &'m ast::Module<'a>,
    pub layout: &'m Layout,
    /// The signatures of the module's functions.
    pub signatures: Signatures<'a>,
    pub device: &'m DeviceSpec,
    pub cpu: Cpu,
}

impl ModuleContext<'_, '_> {
    /// Returns true if a function of the module is a kernel.
    pub fn is_kernel(&self, name: &str) -> bool {
        let mut functions = self.ast.functions.iter();
        functions.any(|function| function.name == name && function.entry)
    }
}

/// The state of lowering one function.
pub struct FunctionLowering<'m, 'a> {
    program: &'m mut Program,
    module: &'m ModuleContext<'m, 'a>,
    function: &'m ast::Function<'a>,
    names: Names<'a>,
    registers: Registers,
    insts: Vec<IrInst>,
    blocks: Blocks<'a>,
    stack: Stack,
    calls: Calls<'a>,
    effects: Effects,
    position: Position,
}

/// The names that are visible at the current statement.
struct Names<'a> {
    /// The open scopes, innermost last. The parser limits their nesting to 64.
    scopes: Vec<Scope<'a>>,
    /// True if the function declares vectors of registers.
    has_vectors: bool,
}

/// The virtual registers of a function.
#[derive(Default)]
struct Registers {
    /// The properties of each register, indexed by its number.
    infos: Vec<RegisterInfo>,
    /// The registers that hold constants, by class and value.
    literals: HashMap<(u8, u64), Register>,
    /// The carry flag of extended-precision arithmetic.
    carry: Option<Register>,
    /// Registers that receive the address of an array in shared memory.
    arrays: HashMap<Register, SharedArray>,
}

/// The basic blocks of a function and the branches between them.
#[derive(Default)]
struct Blocks<'a> {
    /// The index of the first IR instruction of each block that has been started.
    starts: Vec<(BlockId, usize)>,
    /// The blocks of labels that no enclosing scope defines.
    undefined_labels: HashMap<&'a str, BlockId>,
    /// Labels that are branched to. Others, as debug information defines them, do not start a block.
    targets: HashSet<&'a str>,
    /// The number of the next block.
    next: usize,
    /// In a device function, the block where all returns reconverge.
    return_block: Option<BlockId>,
    branch_tables: HashMap<&'a str, Vec<&'a str>>,
    /// The number of targets of all `brx.idx` instructions so far.
    branch_targets: usize,
}

/// The memory that a function needs for its parameters, results and variables.
#[derive(Default)]
struct Stack {
    local_bytes: u32,
    /// The end of the function's own results, parameters and variables in local memory.
    variables_end: u32,
    /// The results that are registers, with the offsets in local memory from which the caller reads them.
    results: Vec<(Register, u32)>,
    param_bytes: u32,
}

/// The calls that a function makes.
#[derive(Default)]
struct Calls<'a> {
    sites: Vec<CallSite>,
    callees: Vec<usize>,
    /// True if the function calls through pointers.
    through_pointers: bool,
    /// The function's `.callprototype` declarations.
    prototypes: HashMap<&'a str, Signature>,
}

/// Effects of a function that restrict how its warps and blocks may be executed.
#[derive(Default)]
struct Effects {
    /// True if the result depends on the order of the blocks.
    ordered: bool,
    /// True if the function has volatile or ordered loads or stores of device memory.
    volatile: bool,
    /// True if the function calls `malloc` or `free`.
    uses_heap: bool,
    /// True if the function reads a clock register.
    reads_clock: bool,
    /// True if the function contains `wgmma` instructions.
    has_wgmma: bool,
    /// The result registers of atomics on device memory. If one is read, the result depends on the order of
    /// the blocks.
    old_values: HashSet<Register>,
}

/// The PTX instruction that is being lowered.
struct Position {
    line: u32,
    location: Option<SourceLocation>,
    /// True if the next IR instruction is the first of its PTX instruction.
    starts_ptx_inst: bool,
}

/// Lowers a function that has a body and appends its code to the program.
pub fn lower<'a>(
    program: &mut Program,
    module: &ModuleContext<'_, 'a>,
    function: &ast::Function<'a>,
) -> Result<(), LoadError> {
    let body = function.body.as_deref().unwrap_or_default();
    let mut lowering = FunctionLowering {
        program,
        module,
        function,
        names: Names {
            scopes: vec![Scope::default()],
            has_vectors: false,
        },
        registers: Registers::default(),
        insts: Vec::new(),
        blocks: Blocks {
            targets: statements::targets(body.iter()),
            ..Blocks::default()
        },
        stack: Stack::default(),
        calls: Calls::default(),
        effects: Effects {
            has_wgmma: statements::contains_mnemonic(body, "wgmma"),
            ..Effects::default()
        },
        position: Position {
            line: function.line,
            location: None,
            starts_ptx_inst: false,
        },
    };
    lowering.start_new_block();
    lowering.declare_formals()?;
    if !function.entry {
        lowering.blocks.return_block = Some(lowering.new_block());
    }
    lowering.statements(body)?;
    lowering.check_limits()?;
    lowering.finish()
}

impl FunctionLowering<'_, '_> {
    fn error(&self, message: impl Into<String>) -> LoadError {
        LoadError::invalid(self.position.line, message)
    }

    /// Fails if the control flow is too large to analyze.
    fn check_limits(&self) -> Result<(), LoadError> {
        let line = self.function.line;
        let blocks = self.blocks.next;
        if blocks > limits::BLOCKS {
            let message = format!(
                "the function has {blocks} basic blocks, but at most {} are allowed: split it into several functions",
                limits::BLOCKS
            );
            return Err(LoadError::invalid(line, message));
        }
        Ok(())
    }
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Appends an instruction without operands whose handler works for warps and gangs alike.
    fn push_effect(&mut self, handler: Handler) {
        let handler = Handlers {
            warp: handler,
            gang: Some(handler),
            preserves_uniformity: false,
        };
        self.push_with_handlers(handler, Class::Control, &[], &[]);
    }

    /// Appends a fall-through instruction that a gang executes warp by warp.
    pub fn push(&mut self, handler: Handler, class: Class, defs: &[Register], uses: &[Register]) {
        self.push_with_handlers(handler.into(), class, defs, uses);
    }

    /// Appends a fall-through instruction.
    fn push_with_handlers(
        &mut self,
        handler: Handlers,
        class: Class,
        defs: &[Register],
        uses: &[Register],
    ) {
        self.insts.push(IrInst {
            handlers: handler,
            operation: None,
            class,
            operands: defs.iter().chain(uses).copied().collect(),
            defs: defs.to_vec(),
            uses: uses.to_vec(),
            predicated: false,
            arg1_is_remaining_count: false,
            arg0: 0,
            arg1: 0,
            imm: 0,
            flow: Flow::Next,
            access: None,
            barrier: false,
            sync_event: CheckEvent::None,
            copy_group_op: CopyGroupOp::None,
            has_operand_list: false,
            flops: 0,
            n8_tiles: 0,
            arithmetic: None,
            byte_flow: None,
            starts_ptx_inst: std::mem::take(&mut self.position.starts_ptx_inst),
            ptx_line: self.position.line,
            location: self.position.location,
        });
    }

    /// Returns the instruction just appended, so that further fields can be set.
    pub fn last(&mut self) -> &mut IrInst {
        let last = self.insts.len() - 1;
        &mut self.insts[last]
    }

    fn new_block(&mut self) -> BlockId {
        self.blocks.next += 1;
        BlockId(self.blocks.next - 1)
    }

    fn start_block(&mut self, block: BlockId) {
        self.blocks.starts.push((block, self.insts.len()));
    }

    fn start_new_block(&mut self) {
        let block = self.new_block();
        self.start_block(block);
    }

    /// Returns the block that starts at a label: the label of the innermost scope that defines the name.
    pub fn label(&mut self, name: &'a str) -> BlockId {
        let mut scopes = self.names.scopes.iter().rev();
        if let Some(block) = scopes.find_map(|scope| scope.labels.get(name).copied()) {
            return block;
        }
        match self.blocks.undefined_labels.get(name) {
            Some(&block) => block,
            None => {
                let block = self.new_block();
                self.blocks.undefined_labels.insert(name, block);
                block
            }
        }
    }
}
