//! Classification of registers: over the lanes of a chunk, a register is uniform, grows by a known step from lane to
//! lane, or varies.
//!
//! The classes matter most for addresses: an access whose address grows by the size of the access loads or stores whole
//! vectors. The classes hold for the active lanes of a chunk that reach a use together.

use cuda_sim::exec::compiled::{Function, Instruction};
use cuda_sim::isa::Memory;
use cuda_sim::isa::operation::Operation;
use cuda_sim::ptx::ast::Type;

/// The values of a register over the lanes of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// One value.
    Uniform,
    /// The value of the first lane plus this step times the lane's number.
    Linear(i64),
    /// One value per lane.
    Varying,
}

impl Class {
    fn of_step(step: i64) -> Class {
        match step {
            0 => Class::Uniform,
            step => Class::Linear(step),
        }
    }

    /// Returns the step; `None` if the values have none.
    pub fn step(self) -> Option<i64> {
        match self {
            Class::Uniform => Some(0),
            Class::Linear(step) => Some(step),
            Class::Varying => None,
        }
    }
}

/// The dimensions of blocks, as far as they matter.
#[derive(Clone, Copy)]
struct Dimensions {
    /// True if only x has several threads.
    is_row: bool,
    /// True if the threads of a chunk differ in x only.
    has_whole_chunks: bool,
}

/// Returns the class of each register of a function in blocks of these dimensions, for chunks of `chunk` lanes.
pub fn classify(function: &Function, block: [u32; 3], chunk: usize) -> Vec<Class> {
    // Rows of a block that divide into chunks.
    let block = Dimensions {
        is_row: block[1] == 1 && block[2] == 1,
        has_whole_chunks: block[0].is_multiple_of(chunk as u32),
    };
    // Registers without a class have no definition yet. An uninitialized register may differ from lane to lane.
    let mut classes: Vec<Option<Class>> = function
        .registers
        .iter()
        .map(|register| match (register.literal, register.definitions) {
            (Some(_), _) => Some(Class::Uniform),
            (None, 0) => Some(Class::Varying),
            _ => None,
        })
        .collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for part in &function.blocks {
            let mut guard = None;
            for inst in &function.instructions[part.first..part.end] {
                if let Some(Operation::Guard { .. }) = inst.operation {
                    guard = inst.uses.first().copied();
                    continue;
                }
                let Some(mut class) = result(function, inst, &classes, block, part.divergent)
                else {
                    continue;
                };
                if inst.predicated {
                    let guard = guard.and_then(|guard| classes[guard as usize]);
                    class = match guard {
                        None => continue,
                        Some(Class::Uniform) => class,
                        Some(_) => Class::Varying,
                    };
                }
                for &def in &inst.defs {
                    let several = function.registers[def as usize].definitions > 1;
                    let class = match part.divergent && (several || part.in_loop) {
                        true => Class::Varying,
                        false => class,
                    };
                    let entry = &mut classes[def as usize];
                    let joined = match *entry {
                        None => class,
                        Some(before) if before == class => class,
                        Some(_) => Class::Varying,
                    };
                    changed |= entry.replace(joined) != Some(joined);
                }
            }
        }
    }
    classes
        .into_iter()
        .map(|class| class.unwrap_or(Class::Varying))
        .collect()
}

/// Returns the class of an instruction's results; `None` while the class of a source is not known.
fn result(
    function: &Function,
    inst: &Instruction,
    classes: &[Option<Class>],
    block: Dimensions,
    divergent: bool,
) -> Option<Class> {
    let Some(operation) = inst.operation else {
        let is_uniform = |&def: &u32| function.registers[def as usize].uniform;
        return Some(match inst.defs.iter().all(is_uniform) && !divergent {
            true => Class::Uniform,
            false => Class::Varying,
        });
    };
    let mut sources = Vec::with_capacity(inst.uses.len());
    for &used in &inst.uses {
        sources.push(classes[used as usize]?);
    }
    let literal = |n: usize| function.registers[inst.uses[n] as usize].literal;
    Some(transfer(
        operation, &sources, literal, block, divergent, inst,
    ))
}

/// Returns the class of an operation's results.
fn transfer(
    operation: Operation,
    sources: &[Class],
    literal: impl Fn(usize) -> Option<u64>,
    block: Dimensions,
    divergent: bool,
    inst: &Instruction,
) -> Class {
    let steps: Option<Vec<i64>> = sources.iter().map(|class| class.step()).collect();
    let all_uniform = sources.iter().all(|&class| class == Class::Uniform);
    let by_uniformity = match all_uniform {
        true => Class::Uniform,
        false => Class::Varying,
    };
    let linear = |step: Option<i64>| step.map_or(by_uniformity, Class::of_step);
    // The product of a linear and a constant factor.
    let product = |bits: u32| {
        let steps = steps.as_ref()?;
        match (steps[0], steps[1], literal(0), literal(1)) {
            (0, 0, _, _) => Some(0),
            (step, 0, _, Some(factor)) | (0, step, Some(factor), _) => {
                step.checked_mul(signed(factor, bits))
            }
            _ => None,
        }
    };
    let is_integer = |ty: Type| !ty.is_float();
    match operation {
        Operation::Add(ty) if is_integer(ty) => {
            linear(steps.and_then(|steps| steps[0].checked_add(steps[1])))
        }
        Operation::Subtract(ty) if is_integer(ty) => {
            linear(steps.and_then(|steps| steps[0].checked_sub(steps[1])))
        }
        Operation::Multiply(ty) if is_integer(ty) => linear(product(ty.bytes() * 8)),
        Operation::MultiplyAdd(ty) => {
            let addend = steps.as_ref().map(|steps| steps[2]);
            let sum = product(ty.bytes() * 8).zip(addend);
            linear(sum.and_then(|(product, addend)| product.checked_add(addend)))
        }
        Operation::MultiplyWide(ty) => match ty {
            Type::S32 => linear(product(32)),
            _ => linear(product(64)),
        },
        Operation::MultiplyAddWide(ty) => {
            let bits = if ty == Type::S32 { 32 } else { 64 };
            let addend = steps.as_ref().map(|steps| steps[2]);
            let sum = product(bits).zip(addend);
            linear(sum.and_then(|(product, addend)| product.checked_add(addend)))
        }
        Operation::ShiftLeft(ty) => {
            let bits = ty.bytes() * 8;
            let by = literal(1).filter(|&by| by < u64::from(bits));
            let step = steps.as_ref().filter(|steps| steps[1] == 0);
            linear(
                step.zip(by)
                    .and_then(|(steps, by)| steps[0].checked_mul(1 << by)),
            )
        }
        Operation::Copy | Operation::AddImmediate => sources[0],
        Operation::Resize { to, from } => match (to.bytes(), from.bytes()) {
            (8, 8) | (4, 4) | (4, 8) | (8, 4) => sources[0],
            _ => by_uniformity,
        },
        Operation::Thread(axis) => match (axis, block.is_row || block.has_whole_chunks) {
            (_, false) => Class::Varying,
            (0, true) => Class::Linear(1),
            (_, true) => Class::Uniform,
        },
        Operation::Lane => Class::Linear(1),
        Operation::Block(_) | Operation::Parameter(_) | Operation::ConstantBank(_) => {
            Class::Uniform
        }
        Operation::Load(load) => match load.memory {
            // The same address may be in local memory, which differs from lane to lane.
            Memory::Local | Memory::Generic => Class::Varying,
            Memory::Constant => by_uniformity,
            Memory::Global | Memory::Shared if !divergent => by_uniformity,
            // Lanes may leave a divergent loop after different iterations, which loaded different values.
            Memory::Global | Memory::Shared => Class::Varying,
        },
        _ => {
            debug_assert!(inst.operation.is_some());
            by_uniformity
        }
    }
}

/// Returns the lowest `bits` bits as a signed number.
fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits;
    (value << unused) as i64 >> unused
}

/// Facts about the registers of a function that do not depend on the chunk.
pub struct Facts {
    /// For each register, whether the payload of a NaN in it can be observed.
    pub observed_nans: Vec<bool>,
    /// For each register, whether its class holds only if no extension to 64 bits has wrapped around within the chunk.
    pub assumed: Vec<bool>,
}

impl Facts {
    pub fn of(function: &Function) -> Facts {
        Facts {
            observed_nans: observed_nans(function),
            assumed: assumed(function),
        }
    }
}

/// Returns, for each register, whether it depends on an extension to 64 bits. The code that executes the extension checks
/// that it does not wrap around; others must check the register.
fn assumed(function: &Function) -> Vec<bool> {
    let mut assumed = vec![false; function.registers.len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for inst in &function.instructions {
            let extends = match inst.operation {
                Some(Operation::MultiplyWide(_) | Operation::MultiplyAddWide(_)) => true,
                Some(Operation::Resize { to, from }) => to.bytes() == 8 && from.bytes() == 4,
                _ => false,
            };
            if extends || inst.uses.iter().any(|&used| assumed[used as usize]) {
                for &def in &inst.defs {
                    changed |= !std::mem::replace(&mut assumed[def as usize], true);
                }
            }
        }
    }
    assumed
}

/// Returns, for each register, whether the payload of a NaN in it can be observed. Single-precision arithmetic makes
/// every NaN the same one, so a result that only arithmetic reads can keep the CPU's.
fn observed_nans(function: &Function) -> Vec<bool> {
    let mut observed = vec![false; function.registers.len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for inst in &function.instructions {
            let observes = match inst.operation {
                Some(operation) => match operation {
                    Operation::Add(Type::F32)
                    | Operation::Subtract(Type::F32)
                    | Operation::Multiply(Type::F32)
                    | Operation::FusedMultiplyAdd(Type::F32)
                    | Operation::Divide(Type::F32)
                    | Operation::Reciprocal(Type::F32)
                    | Operation::SquareRoot(Type::F32)
                    | Operation::ReciprocalSquareRoot
                    | Operation::SpecialFunction(_)
                    | Operation::Minimum(Type::F32)
                    | Operation::Maximum(Type::F32)
                    | Operation::Negate(Type::F32)
                    | Operation::Absolute(Type::F32)
                    | Operation::Round(_)
                    | Operation::Truncate {
                        from: Type::F32, ..
                    }
                    | Operation::Compare { ty: Type::F32, .. } => false,
                    Operation::Copy | Operation::Select => {
                        inst.defs.iter().any(|&def| observed[def as usize])
                    }
                    _ => true,
                },
                None => true,
            };
            for &used in inst.uses.iter().filter(|_| observes) {
                changed |= !std::mem::replace(&mut observed[used as usize], true);
            }
        }
    }
    observed
}
