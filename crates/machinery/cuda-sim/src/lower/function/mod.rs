//! A function's statements to drafts, and drafts to code.

mod access;
mod accesses;
mod addresses;
mod async_copy;
mod atomics;
mod calls;
mod control;
mod drafts;
mod emit;
mod images;
pub mod instructions;
mod mbarrier;
mod names;
mod operands;
mod policy;
mod signature;
mod special;
mod statements;
mod sync;
mod tensor;
mod warpgroup;

pub use signature::{Signatures, signatures};

use super::draft::{BlockId, Draft};
use super::error::LoadError;
use super::layout::Layout;
use super::limits;
use super::register::{Register, RegisterInfo};
use crate::device::DeviceSpec;
use crate::exec::cpu::Cpu;
use crate::exec::function::CallSite;
use crate::exec::sm::Program;
use crate::isa::checked::Array;
use crate::ptx::ast;
use crate::ptx::ast::SourceLocation;
use names::Scope;
use signature::Signature;
use std::collections::{HashMap, HashSet};

/// A function being lowered.
pub struct Lowering<'m, 'a> {
    program: &'m mut Program,
    layout: &'m Layout,
    function: &'m ast::Function<'a>,
    /// The module's `.version` and `.target`.
    version: (u32, u32),
    target: ast::Target<'a>,
    cpu: Cpu,
    /// The innermost is the last: the reader allows no deeper nesting than 64.
    scopes: Vec<Scope<'a>>,
    registers: Vec<RegisterInfo>,
    literals: HashMap<(u8, u64), Register>,
    carry: Option<Register>,
    drafts: Vec<Draft>,
    /// First draft of each block that has been begun.
    starts: Vec<(BlockId, usize)>,
    labels: HashMap<&'a str, BlockId>,
    defined: HashSet<&'a str>,
    /// Labels that something branches to: the others, as debug information has them, begin no
    /// block.
    targets: HashSet<&'a str>,
    next_block: usize,
    /// The block where returns meet, in a device function.
    end: Option<BlockId>,
    local_bytes: u32,
    /// Results of the function that are registers, and where in local memory its caller finds them.
    results: Vec<(Register, u32)>,
    /// It declares vectors of registers.
    has_vectors: bool,
    param_bytes: u32,
    sites: Vec<CallSite>,
    /// Of the module's functions, and of the function's own `.callprototype`s.
    declared: &'m Signatures<'a>,
    prototypes: HashMap<&'a str, Signature>,
    tables: HashMap<&'a str, Vec<&'a str>>,
    /// Ways out of its `brx.idx` instructions so far.
    branch_targets: usize,
    calls: Vec<usize>,
    calls_pointers: bool,
    ordered: bool,
    /// Has volatile or ordered loads or stores of device memory.
    volatile: bool,
    /// Reads the clock.
    reads_clock: bool,
    /// Has products of warpgroups.
    has_products: bool,
    /// Where atomics on device memory put the old value: if it is read, order shows.
    old_values: HashSet<Register>,
    /// Registers that get the address of an array in shared memory.
    arrays: HashMap<Register, Array>,
    line: u32,
    location: Option<SourceLocation>,
    /// The next draft is the first of its PTX instruction.
    begins: bool,
}

/// Lowers one function with a body and appends its code to the program.
pub fn lower<'a>(
    program: &mut Program,
    module: &ast::Module<'a>,
    declared: &Signatures<'a>,
    layout: &Layout,
    function: &ast::Function<'a>,
    device: &DeviceSpec,
    cpu: Cpu,
) -> Result<(), LoadError> {
    let mut lowering = Lowering {
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
        drafts: Vec::new(),
        starts: Vec::new(),
        labels: HashMap::new(),
        defined: HashSet::new(),
        targets: HashSet::new(),
        next_block: 0,
        end: None,
        local_bytes: 0,
        results: Vec::new(),
        has_vectors: false,
        param_bytes: 0,
        sites: Vec::new(),
        declared,
        prototypes: HashMap::new(),
        tables: HashMap::new(),
        branch_targets: 0,
        calls: Vec::new(),
        calls_pointers: false,
        ordered: false,
        volatile: false,
        reads_clock: false,
        has_products: false,
        old_values: HashSet::new(),
        arrays: HashMap::new(),
        line: function.line,
        location: None,
        begins: false,
    };
    lowering.targets = statements::targets(function.body.iter().flatten());
    lowering.has_products = function
        .body
        .as_ref()
        .is_some_and(|body| statements::have(body, "wgmma"));
    lowering.begin_block_here();
    lowering.formals(device)?;
    if !function.entry {
        lowering.end = Some(lowering.new_block());
    }
    for statement in function.body.iter().flatten() {
        lowering.statement(statement)?;
    }
    lowering.within_limits()?;
    lowering.finish()
}

impl Lowering<'_, '_> {
    fn error(&self, message: impl Into<String>) -> LoadError {
        LoadError::invalid(self.line, message)
    }

    /// Refuses control flow that takes too long to follow.
    fn within_limits(&self) -> Result<(), LoadError> {
        let line = self.function.line;
        let blocks = self.next_block;
        if blocks > limits::BLOCKS {
            let message = format!(
                "the function has {blocks} basic blocks, {} are allowed: make several functions of it",
                limits::BLOCKS
            );
            return Err(LoadError::invalid(line, message));
        }
        Ok(())
    }
}
