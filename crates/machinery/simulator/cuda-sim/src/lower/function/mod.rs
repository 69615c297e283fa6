//! Lowering of one function: statements become linear IR (`builder` and one file per family of instructions),
//! and the IR becomes code (`emit`).

mod access_handlers;
mod addresses;
mod async_copy;
mod atomics;
mod builder;
mod cache_policy;
mod calls;
mod control;
mod emit;
pub mod instructions;
mod load_store;
mod mbarrier;
mod names;
mod operands;
mod signature;
mod special_registers;
mod statements;
mod sync;
mod tensor;
mod textures;
mod wgmma;

pub use signature::{Signatures, signatures};

use super::error::LoadError;
use super::ir::{BlockId, IrInst};
use super::layout::Layout;
use super::limits;
use super::register::{Register, RegisterInfo};
use crate::device::DeviceSpec;
use crate::exec::cpu::Cpu;
use crate::exec::sm::Program;
use crate::exec::warp::function::CallSite;
use crate::isa::check_event::SharedArray;
use crate::ptx::ast;
use crate::ptx::ast::SourceLocation;
use names::Scope;
use signature::Signature;
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
