//! Lowering of one function: statements become linear IR (one file per family of instructions), and the IR
//! becomes code (`emit`).

mod addresses;
mod async_copy;
mod calls;
mod control;
mod emit;
pub mod instructions;
mod memory;
mod names;
mod operands;
mod statements;
mod sync;
mod tensor;
mod textures;

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

/// The state of lowering one function.
pub struct FunctionLowering<'m, 'a> {
    program: &'m mut Program,
    layout: &'m Layout,
    function: &'m ast::Function<'a>,
    /// The module's `.version`.
    version: (u32, u32),
    /// The module's `.target`.
    target: ast::Target<'a>,
    cpu: Cpu,
    /// The open scopes, innermost last. The parser limits their nesting to 64.
    scopes: Vec<Scope<'a>>,
    registers: Vec<RegisterInfo>,
    literals: HashMap<(u8, u64), Register>,
    carry: Option<Register>,
    insts: Vec<IrInst>,
    /// The index of the first IR instruction of each block that has been started.
    starts: Vec<(BlockId, usize)>,
    labels: HashMap<&'a str, BlockId>,
    defined_labels: HashSet<&'a str>,
    /// Labels that are branched to. Others, as debug information defines them, do not start a block.
    targets: HashSet<&'a str>,
    next_block: usize,
    /// In a device function, the block where all returns reconverge.
    return_block: Option<BlockId>,
    local_bytes: u32,
    /// The results that are registers, with the offsets in local memory from which the caller reads them.
    results: Vec<(Register, u32)>,
    /// True if the function declares vectors of registers.
    has_vectors: bool,
    param_bytes: u32,
    call_sites: Vec<CallSite>,
    /// The signatures of the module's functions.
    signatures: &'m Signatures<'a>,
    /// The function's `.callprototype` declarations.
    prototypes: HashMap<&'a str, Signature>,
    branch_tables: HashMap<&'a str, Vec<&'a str>>,
    /// The number of targets of all `brx.idx` instructions so far.
    branch_targets: usize,
    callees: Vec<usize>,
    calls_pointers: bool,
    ordered: bool,
    /// True if the function has volatile or ordered loads or stores of device memory.
    volatile: bool,
    /// True if the function reads a clock register.
    reads_clock: bool,
    /// True if the function contains `wgmma` instructions.
    has_wgmma: bool,
    /// The result registers of atomics on device memory. If one is read, the result depends on the order of
    /// the blocks.
    old_values: HashSet<Register>,
    /// Registers that receive the address of an array in shared memory.
    arrays: HashMap<Register, SharedArray>,
    line: u32,
    location: Option<SourceLocation>,
    /// True if the next IR instruction is the first of its PTX instruction.
    starts_ptx_inst: bool,
}

/// Lowers a function that has a body and appends its code to the program.
pub fn lower<'a>(
    program: &mut Program,
    module: &ast::Module<'a>,
    signatures: &Signatures<'a>,
    layout: &Layout,
    function: &ast::Function<'a>,
    device: &DeviceSpec,
    cpu: Cpu,
) -> Result<(), LoadError> {
    let mut lowering = FunctionLowering {
        program,
        layout,
        function,
        version: module.version,
        target: module.target,
        cpu,
        scopes: vec![Scope::default()],
        registers: Vec::new(),
        literals: HashMap::new(),
        carry: None,
        insts: Vec::new(),
        starts: Vec::new(),
        labels: HashMap::new(),
        defined_labels: HashSet::new(),
        targets: HashSet::new(),
        next_block: 0,
        return_block: None,
        local_bytes: 0,
        results: Vec::new(),
        has_vectors: false,
        param_bytes: 0,
        call_sites: Vec::new(),
        signatures,
        prototypes: HashMap::new(),
        branch_tables: HashMap::new(),
        branch_targets: 0,
        callees: Vec::new(),
        calls_pointers: false,
        ordered: false,
        volatile: false,
        reads_clock: false,
        has_wgmma: false,
        old_values: HashSet::new(),
        arrays: HashMap::new(),
        line: function.line,
        location: None,
        starts_ptx_inst: false,
    };
    lowering.targets = statements::targets(function.body.iter().flatten());
    lowering.has_wgmma = function
        .body
        .as_ref()
        .is_some_and(|body| statements::contains_mnemonic(body, "wgmma"));
    lowering.start_new_block();
    lowering.declare_formals(device)?;
    if !function.entry {
        lowering.return_block = Some(lowering.new_block());
    }
    for statement in function.body.iter().flatten() {
        lowering.statement(statement)?;
    }
    lowering.check_limits()?;
    lowering.finish()
}

impl FunctionLowering<'_, '_> {
    fn error(&self, message: impl Into<String>) -> LoadError {
        LoadError::invalid(self.line, message)
    }

    /// Fails if the control flow is too large to analyze.
    fn check_limits(&self) -> Result<(), LoadError> {
        let line = self.function.line;
        let blocks = self.next_block;
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
            starts_ptx_inst: std::mem::take(&mut self.starts_ptx_inst),
            ptx_line: self.line,
            location: self.location,
        });
    }

    /// Returns the instruction just appended, so that further fields can be set.
    pub fn last(&mut self) -> &mut IrInst {
        let last = self.insts.len() - 1;
        &mut self.insts[last]
    }

    fn new_block(&mut self) -> BlockId {
        self.next_block += 1;
        BlockId(self.next_block - 1)
    }

    fn start_block(&mut self, block: BlockId) {
        self.starts.push((block, self.insts.len()));
    }

    fn start_new_block(&mut self) {
        let block = self.new_block();
        self.start_block(block);
    }

    pub fn label(&mut self, name: &'a str) -> BlockId {
        match self.labels.get(name) {
            Some(&block) => block,
            None => {
                let block = self.new_block();
                self.labels.insert(name, block);
                block
            }
        }
    }
}
