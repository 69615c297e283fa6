//! A function's statements to drafts, and drafts to code.

mod access;
mod addresses;
mod async_copy;
mod atomics;
mod calls;
mod control;
mod emit;
mod operands;
mod special;
mod sync;
mod tensor;

use super::draft::{BlockId, Draft, Flow};
use super::error::LoadError;
use super::layout::{Layout, bytes_of};
use super::register::{Register, RegisterInfo};
use super::{layout, limits};
use crate::device::DeviceSpec;
use crate::exec::code::{Handler, Run};
use crate::exec::cpu::Cpu;
use crate::exec::function::CallSite;
use crate::exec::program::Program;
use crate::isa::Class;
use crate::isa::checked::{Checked, Waiting};
use crate::ptx::ast;
use crate::ptx::ast::{Instruction, SourceLocation, StateSpace, Statement};
use std::collections::{HashMap, HashSet};

/// What is declared between two braces.
#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Named>,
    /// Members of its register ranges, by name.
    members: HashMap<&'a str, Register>,
}

/// What a name declared inside a function stands for.
#[derive(Debug, Clone, Copy)]
enum Named {
    Register(Register),
    /// `%r<5>`: the name is a prefix; the registers are made when first used.
    Range {
        count: u32,
        ty: ast::Type,
    },
    /// An offset into this function's local memory.
    Local(u32),
    /// An offset into shared memory.
    Shared(u64),
    /// An offset into the kernel's parameters.
    Param {
        offset: u32,
    },
}

/// A function being lowered.
struct Lowering<'m, 'a> {
    program: &'m mut Program,
    layout: &'m Layout,
    function: &'m ast::Function<'a>,
    /// The module's `.version` and `.target`.
    version: (u32, u32),
    sm: u32,
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
    /// Reads the clock.
    reads_clock: bool,
    /// Where atomics on device memory put the old value: if it is read, order shows.
    old_values: HashSet<Register>,
    line: u32,
    location: Option<SourceLocation>,
    /// The next draft is the first of its PTX instruction.
    begins: bool,
}

/// Sizes and alignments of a function's results and parameters, in order.
#[derive(Debug, Clone, Default)]
pub struct Signature {
    returns: Vec<(u32, u32)>,
    params: Vec<(u32, u32)>,
}

/// Those of a module's functions.
pub type Signatures<'a> = HashMap<&'a str, Signature>;

/// Of every function that the module defines or declares; nobody calls a kernel.
pub fn signatures<'a>(module: &ast::Module<'a>) -> Result<Signatures<'a>, LoadError> {
    module
        .functions
        .iter()
        .filter(|function| !function.entry)
        .map(|function| {
            let signature = Signature::of(&function.returns, &function.params)?;
            Ok((function.name, signature))
        })
        .collect()
}

impl Signature {
    /// Refuses what a thread's local memory can not hold: there a callee finds it.
    fn of(returns: &[ast::Variable], params: &[ast::Variable]) -> Result<Signature, LoadError> {
        let mut end = 0;
        let mut sizes = |variables: &[ast::Variable]| {
            variables
                .iter()
                .map(|variable| {
                    let align = variable.align.max(1);
                    end = u64::next_multiple_of(end, align.into()) + bytes_of(variable)?;
                    if end > limits::LOCAL_BYTES {
                        return Err(too_much_local(variable));
                    }
                    Ok((bytes_of(variable)? as u32, align))
                })
                .collect::<Result<Vec<_>, LoadError>>()
        };
        Ok(Signature {
            returns: sizes(returns)?,
            params: sizes(params)?,
        })
    }

    /// Where results and then parameters lie at the beginning of the callee's local memory.
    fn places(&self) -> (Vec<u32>, Vec<u32>, u32) {
        let mut end = 0u32;
        let mut place = |&(bytes, align): &(u32, u32)| {
            let offset = end.next_multiple_of(align);
            end = offset + bytes;
            offset
        };
        let returns = self.returns.iter().map(&mut place).collect();
        let params = self.params.iter().map(&mut place).collect();
        (returns, params, end)
    }
}

fn too_much_local(variable: &ast::Variable) -> LoadError {
    let message = format!(
        "`{}` makes local memory larger than the 512 KB a thread has",
        variable.name
    );
    LoadError::invalid(variable.line, message)
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
        sm: module.target.sm,
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
        param_bytes: 0,
        sites: Vec::new(),
        declared,
        prototypes: HashMap::new(),
        tables: HashMap::new(),
        branch_targets: 0,
        calls: Vec::new(),
        calls_pointers: false,
        ordered: false,
        reads_clock: false,
        old_values: HashSet::new(),
        line: function.line,
        location: None,
        begins: false,
    };
    lowering.formals(device)?;
    lowering.targets = targets(function.body.iter().flatten());
    lowering.begin_block_here();
    if !function.entry {
        lowering.end = Some(lowering.new_block());
    }
    for statement in function.body.iter().flatten() {
        lowering.statement(statement)?;
    }
    lowering.within_limits()?;
    lowering.finish()
}

/// The labels that these statements branch to.
fn targets<'s, 'a: 's>(statements: impl Iterator<Item = &'s Statement<'a>>) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) if instruction.mnemonic == "bra" => {
                let names = instruction
                    .operands
                    .iter()
                    .filter_map(|operand| match operand {
                        ast::Operand::Name { name, .. } => Some(*name),
                        _ => None,
                    });
                found.extend(names);
            }
            Statement::BranchTargets { labels, .. } => found.extend(labels),
            Statement::Block(inner) => found.extend(targets(inner.iter())),
            _ => {}
        }
    }
    found
}

impl<'m, 'a> Lowering<'m, 'a> {
    fn error(&self, message: impl Into<String>) -> LoadError {
        LoadError::invalid(self.line, message)
    }

    /// Refuses an instruction that the module's target or PTX version does not have, as an assembler
    /// does.
    fn needs(
        &self,
        instruction: &Instruction,
        sm: u32,
        version: (u32, u32),
    ) -> Result<(), LoadError> {
        let written = operands::written(instruction);
        if self.sm < sm {
            let own = self.sm;
            return Err(self.error(format!(
                "`{written}` needs `.target sm_{sm}` or newer, and the module's is sm_{own}"
            )));
        }
        if self.version < version {
            let ((major, minor), own) = (version, self.version);
            return Err(self.error(format!(
                "`{written}` needs `.version {major}.{minor}` or newer, and the module's is {}.{}",
                own.0, own.1
            )));
        }
        Ok(())
    }

    /// Parameters and results: of a kernel in the parameter space, of a device function at the
    /// beginning of its local memory.
    fn formals(&mut self, device: &DeviceSpec) -> Result<(), LoadError> {
        let function = self.function;
        for variable in function.returns.iter().chain(&function.params) {
            if variable.ty == ast::Type::Pred {
                return Err(self.error("a predicate can not be a parameter"));
            }
        }
        if function.entry {
            let params = layout::parameters(function, device)?;
            for (param, place) in function.params.iter().zip(params) {
                let offset = place.offset;
                self.declare(param.name, Named::Param { offset })?;
                self.param_bytes = offset + place.size;
            }
        } else {
            let signature = Signature::of(&function.returns, &function.params)?;
            let (returns, params, end) = signature.places();
            let variables = function.returns.iter().chain(&function.params);
            for (variable, offset) in variables.zip(returns.into_iter().chain(params)) {
                self.declare(variable.name, Named::Local(offset))?;
            }
            self.local_bytes = end;
        }
        Ok(())
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

    fn declare(&mut self, name: &'a str, named: Named) -> Result<(), LoadError> {
        if name == "_" {
            return Ok(());
        }
        match self
            .scopes
            .last_mut()
            .and_then(|scope| scope.names.insert(name, named))
        {
            None => Ok(()),
            Some(_) => Err(self.error(format!("`{name}` is declared twice"))),
        }
    }

    fn statement(&mut self, statement: &Statement<'a>) -> Result<(), LoadError> {
        match statement {
            Statement::Label(name) => {
                if !self.defined.insert(name) {
                    return Err(self.error(format!("label `{name}` is defined twice")));
                }
                if self.targets.contains(name) {
                    let block = self.label(name);
                    self.begin_block(block);
                }
            }
            Statement::Register {
                name,
                count: Some(count),
                ty,
            } => {
                self.declare(
                    name,
                    Named::Range {
                        count: *count,
                        ty: *ty,
                    },
                )?;
            }
            Statement::Register {
                name,
                count: None,
                ty,
            } => {
                let register = self.new_register(*ty)?;
                self.declare(name, Named::Register(register))?;
            }
            Statement::Variable(variable) => self.local_variable(variable)?,
            Statement::Instruction(instruction) => {
                self.line = instruction.line;
                self.location = instruction.location;
                self.begins = true;
                self.instruction(instruction)?;
            }
            Statement::Block(inner) => {
                self.scopes.push(Scope::default());
                for statement in inner {
                    self.statement(statement)?;
                }
                self.scopes.pop();
            }
            Statement::BranchTargets { name, labels } => {
                self.tables.insert(name, labels.clone());
            }
            Statement::CallTargets { .. } => {}
            Statement::CallPrototype {
                name,
                returns,
                params,
            } => {
                self.prototypes
                    .insert(name, Signature::of(returns, params)?);
            }
        }
        Ok(())
    }

    /// `.local` and call `.param` variables get their place here; `.shared` ones have theirs.
    fn local_variable(&mut self, variable: &ast::Variable<'a>) -> Result<(), LoadError> {
        match variable.space {
            StateSpace::Local | StateSpace::Param => {
                let bytes = bytes_of(variable)?;
                let offset =
                    u64::from(self.local_bytes).next_multiple_of(u64::from(variable.align.max(1)));
                let end = offset + bytes;
                if end > limits::LOCAL_BYTES {
                    return Err(too_much_local(variable));
                }
                self.local_bytes = end as u32;
                self.declare(variable.name, Named::Local(offset as u32))
            }
            StateSpace::Shared => {
                let key = (self.function.name.to_owned(), variable.name.to_owned());
                let offset = self.layout.function_shared.get(&key).copied().unwrap_or(0);
                self.declare(variable.name, Named::Shared(offset))
            }
            space => Err(self.error(format!(
                "a {space:?} variable can not be declared in a function"
            ))),
        }
    }

    fn instruction(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        match instruction.mnemonic {
            "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" => self.control(instruction),
            "call" => self.call(instruction),
            _ => self.guarded(instruction),
        }
    }

    /// An instruction that goes on to the next one, under its guard if it has one.
    fn guarded(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        // Barriers and warp-wide instructions may hold a warp up: their guard is a branch.
        let holds_up = matches!(
            instruction.mnemonic,
            "bar" | "barrier" | "shfl" | "vote" | "match" | "redux" | "elect" | "mma" | "ldmatrix"
        );
        let Some(guard) = instruction.guard else {
            return self.plain(instruction);
        };
        let predicate = self.predicate(guard.register)?;
        if holds_up {
            let skip = self.new_block();
            self.branch(predicate, !guard.negated, skip);
            self.plain(instruction)?;
            self.begin_block(skip);
            return Ok(());
        }
        let before = self.drafts.len();
        self.plain(instruction)?;
        // Lowering may have added instructions that prepare operands: they need no guard. The
        // last instruction is the one itself, or what moves its result where it belongs.
        let own = self.drafts.split_off(before);
        for mut draft in own {
            // A load or atomic may have only a result of our own, to be widened or dropped.
            let shows = !matches!(draft.class, Class::Integer | Class::Move)
                || draft.defs.is_empty()
                || draft.defs.iter().any(|&def| self.info(def).declared);
            if shows {
                self.draft(
                    crate::exec::control::guard,
                    Class::Control,
                    &[],
                    &[predicate],
                );
                if let Some(guard_draft) = self.drafts.last_mut() {
                    guard_draft.x = u32::from(guard.negated);
                }
                draft.partial = true;
            }
            self.drafts.push(draft);
        }
        Ok(())
    }

    fn plain(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        match instruction.mnemonic {
            "ld" | "ldu" => self.load(instruction),
            "st" => self.store(instruction),
            "atom" | "red" => self.atomic(instruction),
            "cp" => self.async_copy(instruction),
            "mma" => self.multiply_matrices(instruction),
            "ldmatrix" => self.load_matrices(instruction),
            "cvta" => self.cvta(instruction),
            "isspacep" => self.isspacep(instruction),
            "bar" | "barrier" => self.barrier(instruction),
            "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" => {
                self.warp_wide(instruction)
            }
            "membar" | "fence" => {
                self.effect(crate::exec::ordered::fence);
                self.last().orders = Checked::Fence;
                Ok(())
            }
            "prefetch" | "prefetchu" | "nanosleep" | "discard" | "applypriority" | "pmevent" => {
                self.effect(crate::exec::control::nothing);
                Ok(())
            }
            "mov" if self.moves_address(instruction) => self.move_address(instruction),
            _ => self.operation(instruction),
        }
    }

    /// Appends an instruction without operands that does the same for a warp and for a gang.
    fn effect(&mut self, run: Handler) {
        let run = Run {
            alone: run,
            together: Some(run),
            repeats: false,
        };
        self.draft_run(run, Class::Control, &[], &[]);
    }

    /// Appends an instruction that goes on to the next, and that gangs run warp by warp.
    fn draft(&mut self, run: Handler, class: Class, defs: &[Register], uses: &[Register]) {
        self.draft_run(run.into(), class, defs, uses);
    }

    /// Appends an instruction that goes on to the next.
    fn draft_run(&mut self, run: Run, class: Class, defs: &[Register], uses: &[Register]) {
        self.drafts.push(Draft {
            run,
            class,
            operands: defs.iter().chain(uses).copied().collect(),
            defs: defs.to_vec(),
            uses: uses.to_vec(),
            partial: false,
            timed: false,
            x: 0,
            y: 0,
            imm: 0,
            flow: Flow::Next,
            access: None,
            barrier: false,
            orders: Checked::Nothing,
            waiting: Waiting::No,
            listed: false,
            operations: 0,
            arithmetic: None,
            leads: std::mem::take(&mut self.begins),
            ptx_line: self.line,
            location: self.location,
        });
    }

    /// The draft just appended, to fill in the rest.
    fn last(&mut self) -> &mut Draft {
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
    }

    fn new_block(&mut self) -> BlockId {
        self.next_block += 1;
        BlockId(self.next_block - 1)
    }

    fn begin_block(&mut self, block: BlockId) {
        self.starts.push((block, self.drafts.len()));
    }

    fn begin_block_here(&mut self) {
        let block = self.new_block();
        self.begin_block(block);
    }

    fn label(&mut self, name: &'a str) -> BlockId {
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
