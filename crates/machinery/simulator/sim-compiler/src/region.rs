//! A region's function: the loop over the chunks of a warp, the registers, and the control flow.

use crate::classes::{Class, Facts};
use crate::memory::{Access, MemoryValues};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::types::{F32X4, F64X2, I8, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{
    Block, ConstantData, Endianness, InstBuilder as _, MemFlagsData, Type, Value,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use cuda_sim::exec::compiled::{
    ABANDONED, Context, Function, Instruction, Region, helpers, offsets,
};
use cuda_sim::isa::RegisterClass;
use cuda_sim::isa::operation::Operation;
use std::collections::HashMap;
use std::mem::offset_of;

/// Number of lanes of a warp.
pub const LANES: usize = 32;

/// Number of loop iterations between two polls of the launch's time limit.
const POLL_INTERVAL: i64 = 1 << 14;

/// The value of an operand or a result.
#[derive(Clone)]
pub enum Values {
    /// One value for all lanes.
    Uniform(Value),
    /// The value of the chunk's first lane, and the step from lane to lane.
    Linear(Value, i64),
    /// The lanes in vectors. Those of a predicate are masks of 32-bit lanes.
    Lanes(Vec<Value>),
}

/// The lanes that a guarded instruction is restricted to.
#[derive(Clone)]
pub enum Guard {
    None,
    /// All lanes, if the value is true.
    Uniform(Value),
    /// The lanes of these masks.
    Lanes(Vec<Value>),
}

/// The emission of one region.
pub struct Emitter<'a, 'b> {
    pub b: &'a mut FunctionBuilder<'b>,
    pub function: &'a Function,
    region: &'a Region,
    pub classes: &'a [Class],
    facts: &'a Facts,
    variables: HashMap<u32, Vec<Variable>>,
    /// Number of lanes of a chunk.
    pub chunk_lanes: usize,
    pub context: Value,
    pub memory: MemoryValues,
    warp_mask: Value,
    pub chunk: ChunkValues,
    counters: Counters,
    /// The block that returns one more than the first lane of the current chunk: the interpreter executes the rest.
    bail: Block,
    abandon: Block,
}

/// Values that depend on the chunk.
pub struct ChunkValues {
    /// The number of the first lane, 64 bits.
    pub lane: Value,
    /// Mask of the active lanes, in the lowest bits.
    pub mask: Value,
    /// The number of the first active lane, within the chunk.
    pub first: Value,
    /// The frame, offset to the chunk's part of 32-bit and 64-bit rows and of predicates.
    narrow: Value,
    wide: Value,
    predicates: Value,
}

/// Counters of what the region executes.
struct Counters {
    /// For each block of the region, how often the current chunk has entered it.
    visits: Vec<Variable>,
    /// Loads and stores of device memory by guarded instructions, per thread.
    pub guarded: [Variable; 2],
    /// Their values when the current chunk started.
    guarded_before: [Variable; 2],
    /// Loop iterations until the next poll.
    fuel: Variable,
}

/// Emits the function of a region. Returns `None` if it contains something that cannot be translated.
pub fn emit(
    b: &mut FunctionBuilder,
    function: &Function,
    region: &Region,
    chunk_lanes: usize,
    classes: &[Class],
    facts: &Facts,
) -> Option<()> {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let context = b.block_params(entry)[0];
    let frame = b.ins().load(
        I64,
        trusted(),
        context,
        context_offset(offset_of!(Context, frame)),
    );
    let warp_mask = b.ins().load(
        I32,
        trusted(),
        context,
        context_offset(offset_of!(Context, mask)),
    );
    let visits = region.blocks.iter().map(|_| b.declare_var(I64)).collect();
    let counters = Counters {
        visits,
        guarded: [b.declare_var(I64), b.declare_var(I64)],
        guarded_before: [b.declare_var(I64), b.declare_var(I64)],
        fuel: b.declare_var(I64),
    };
    let number = b.declare_var(I64);
    let zero = b.ins().iconst(I64, 0);
    b.def_var(number, zero);
    let totals = counters.guarded.iter().chain(&counters.guarded_before);
    for &variable in counters.visits.iter().chain(totals) {
        b.def_var(variable, zero);
    }
    let fuel = b.ins().iconst(I64, POLL_INTERVAL);
    b.def_var(counters.fuel, fuel);
    let memory = MemoryValues::new(b, function, region, context, chunk_lanes, classes);
    let [head, run, next, done, bail, abandon] = [(); 6].map(|()| b.create_block());
    b.set_cold_block(bail);
    b.set_cold_block(abandon);
    b.ins().jump(head, &[]);

    // The head of the loop over chunks: skips those without active lanes.
    b.switch_to_block(head);
    let chunk = b.use_var(number);
    let lane = b.ins().imul_imm_s(chunk, chunk_lanes as i64);
    let mask = match chunk_lanes {
        LANES => warp_mask,
        lanes => {
            let shift = b.ins().ireduce(I32, lane);
            let bits = b.ins().ushr(warp_mask, shift);
            b.ins().band_imm_s(bits, all_lanes(lanes))
        }
    };
    b.ins().brif(mask, run, &[], next, &[]);

    b.switch_to_block(run);
    let first = b.ins().ctz(mask);
    let first = b.ins().uextend(I64, first);
    let narrow_bytes = b.ins().imul_imm_s(lane, 4);
    let wide_bytes = b.ins().imul_imm_s(lane, 8);
    let predicate_bytes = b.ins().ushr_imm_s(lane, 3);
    let chunk_values = ChunkValues {
        lane,
        mask,
        first,
        narrow: b.ins().iadd(frame, narrow_bytes),
        wide: b.ins().iadd(frame, wide_bytes),
        predicates: b.ins().iadd(frame, predicate_bytes),
    };
    let mut emitter = Emitter {
        b,
        function,
        region,
        classes,
        facts,
        variables: HashMap::new(),
        chunk_lanes,
        context,
        memory,
        warp_mask,
        chunk: chunk_values,
        counters,
        bail,
        abandon,
    };
    for n in 0..region.blocks.len() {
        let variable = emitter.counters.visits[n];
        let zero = emitter.b.ins().iconst(I64, 0);
        emitter.b.def_var(variable, zero);
    }
    for n in 0..2 {
        let total = emitter.b.use_var(emitter.counters.guarded[n]);
        emitter.b.def_var(emitter.counters.guarded_before[n], total);
    }
    for &register in &region.live_in {
        emitter.load_register(register);
    }
    let exit = emitter.b.create_block();
    emitter.blocks(exit)?;
    emitter.b.switch_to_block(exit);
    emitter.store_registers();
    emitter.b.ins().jump(next, &[]);

    // The next chunk.
    emitter.b.switch_to_block(next);
    let chunk = emitter.b.use_var(number);
    let following = emitter.b.ins().iadd_imm_s(chunk, 1);
    emitter.b.def_var(number, following);
    let more = emitter.b.ins().icmp_imm_s(
        IntCC::UnsignedLessThan,
        following,
        (LANES / chunk_lanes) as i64,
    );
    emitter.b.ins().brif(more, head, &[], done, &[]);

    emitter.b.switch_to_block(done);
    emitter.flush_counters();
    let complete = emitter.b.ins().iconst(I32, 0);
    emitter.b.ins().return_(&[complete]);

    emitter.b.switch_to_block(bail);
    for n in 0..2 {
        let total = emitter.b.use_var(emitter.counters.guarded_before[n]);
        let at = context_offset(offset_of!(Context, guarded) + 8 * n);
        emitter.b.ins().store(trusted(), total, context, at);
    }
    let chunk = emitter.b.use_var(number);
    let chunk = emitter.b.ins().ireduce(I32, chunk);
    let lane = emitter.b.ins().imul_imm_s(chunk, chunk_lanes as i64);
    let lane = emitter.b.ins().iadd_imm_s(lane, 1);
    emitter.b.ins().return_(&[lane]);

    emitter.b.switch_to_block(abandon);
    let abandoned = emitter.b.ins().iconst(I32, i64::from(ABANDONED));
    emitter.b.ins().return_(&[abandoned]);
    emitter.b.seal_all_blocks();
    Some(())
}

/// Returns the flags of accesses to the simulator's own data, which are valid and aligned.
pub fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// Returns the flags of accesses to the kernel's memory, which are valid but may be unaligned.
pub fn untrusted() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

pub fn context_offset(offset: usize) -> Offset32 {
    Offset32::new(offset as i32)
}

fn little_endian() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

impl Emitter<'_, '_> {
    /// Emits the region's blocks, which end at `exit`.
    fn blocks(&mut self, exit: Block) -> Option<()> {
        let blocks: HashMap<usize, (usize, Block)> = self
            .region
            .blocks
            .iter()
            .enumerate()
            .map(|(n, &block)| (block, (n, self.b.create_block())))
            .collect();
        let first = blocks[&self.region.blocks[0]].1;
        self.b.ins().jump(first, &[]);
        let (region, function) = (self.region, self.function);
        for (n, (part, range)) in region.ranges(function).enumerate() {
            self.b.switch_to_block(blocks[&region.blocks[n]].1);
            let visits = self.b.use_var(self.counters.visits[n]);
            let visits = self.b.ins().iadd_imm_s(visits, 1);
            self.b.def_var(self.counters.visits[n], visits);
            let instructions = &function.instructions[range];
            let mut guard = Guard::None;
            let mut branch = None;
            for inst in instructions {
                match inst.operation? {
                    Operation::Guard { unless } => guard = self.guard(inst.uses[0], unless),
                    Operation::Jump => {}
                    Operation::Branch { unless } => branch = Some((inst.uses[0], unless)),
                    _ => {
                        let guard = std::mem::replace(&mut guard, Guard::None);
                        self.instruction(inst, &guard)?;
                    }
                }
            }
            if self.region.end.is_some() {
                self.b.ins().jump(exit, &[]);
                continue;
            }
            let mut polls = Vec::new();
            let mut target = |emitter: &mut Self, successor: usize| match blocks.get(&successor) {
                // A jump back: the launch may end early.
                Some(&(to, block)) if to <= n => {
                    let poll = emitter.b.create_block();
                    polls.push((poll, block));
                    poll
                }
                Some(&(_, block)) => block,
                None => exit,
            };
            match (branch, &part.successors[..]) {
                (Some((predicate, unless)), &[not_taken, taken]) => {
                    let taken = target(self, taken);
                    let not_taken = target(self, not_taken);
                    let condition = self.condition(predicate);
                    let (if_true, if_false) = match unless {
                        true => (not_taken, taken),
                        false => (taken, not_taken),
                    };
                    self.b.ins().brif(condition, if_true, &[], if_false, &[]);
                }
                (_, &[next]) => {
                    let next = target(self, next);
                    self.b.ins().jump(next, &[]);
                }
                _ => return None,
            }
            for (start, to) in polls {
                self.poll(start, to);
            }
        }
        Some(())
    }

    /// Emits block `start`, which polls the launch's time limit from time to time and continues at `to`.
    fn poll(&mut self, start: Block, to: Block) {
        let [poll, refill] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(poll);
        self.b.set_cold_block(refill);
        self.b.switch_to_block(start);
        let fuel = self.b.use_var(self.counters.fuel);
        let fuel = self.b.ins().iadd_imm_s(fuel, -1);
        self.b.def_var(self.counters.fuel, fuel);
        self.b.ins().brif(fuel, to, &[], poll, &[]);
        self.b.switch_to_block(poll);
        let result = self.call(helpers().poll as usize, &[self.context], Some(I32));
        self.b.ins().brif(result[0], self.abandon, &[], refill, &[]);
        self.b.switch_to_block(refill);
        let fuel = self.b.ins().iconst(I64, POLL_INTERVAL);
        self.b.def_var(self.counters.fuel, fuel);
        self.b.ins().jump(to, &[]);
    }

    /// Calls a function of the simulator.
    pub fn call(
        &mut self,
        address: usize,
        arguments: &[Value],
        result: Option<Type>,
    ) -> Vec<Value> {
        use cranelift_codegen::ir::{AbiParam, Signature};
        let mut signature = Signature::new(crate::call_convention(self.b));
        for &argument in arguments {
            let ty = self.b.func.dfg.value_type(argument);
            signature.params.push(AbiParam::new(ty));
        }
        signature.returns.extend(result.map(AbiParam::new));
        let signature = self.b.import_signature(signature);
        let callee = self.b.ins().iconst(I64, address as i64);
        let call = self.b.ins().call_indirect(signature, callee, arguments);
        self.b.inst_results(call).to_vec()
    }

    /// Leaves the region if `valid` is false: the interpreter executes the rest.
    pub fn require(&mut self, valid: Value) {
        let go_on = self.b.create_block();
        self.b.ins().brif(valid, go_on, &[], self.bail, &[]);
        self.b.switch_to_block(go_on);
    }

    fn guard(&mut self, predicate: u32, unless: bool) -> Guard {
        match self.values(predicate) {
            Values::Lanes(masks) => Guard::Lanes(match unless {
                false => masks,
                true => masks
                    .into_iter()
                    .map(|mask| self.b.ins().bnot(mask))
                    .collect(),
            }),
            Values::Uniform(value) | Values::Linear(value, _) => Guard::Uniform(match unless {
                false => value,
                true => self.b.ins().bxor_imm_s(value, 1),
            }),
        }
    }

    /// Returns the value of a predicate that is uniform.
    fn condition(&mut self, predicate: u32) -> Value {
        match self.values(predicate) {
            Values::Uniform(value) | Values::Linear(value, _) => value,
            Values::Lanes(masks) => {
                let bits = self.bits(&masks);
                let first = self.b.ins().ireduce(I32, self.chunk.first);
                let bit = self.b.ins().ushr(bits, first);
                let bit = self.b.ins().band_imm_s(bit, 1);
                self.b.ins().ireduce(I8, bit)
            }
        }
    }

    /// Emits an instruction other than a guard or a branch.
    fn instruction(&mut self, inst: &Instruction, guard: &Guard) -> Option<()> {
        match inst.operation? {
            Operation::Load(transfer) => self.access(Access::new(inst, transfer, false), guard),
            Operation::Store(transfer) => self.access(Access::new(inst, transfer, true), guard),
            operation => {
                let results = self.operation(operation, inst)?;
                for (&def, result) in inst.defs.iter().zip(results) {
                    self.define(def, result, guard)?;
                }
                Some(())
            }
        }
    }

    pub fn class(&self, register: u32) -> RegisterClass {
        self.function.registers[register as usize].class
    }

    /// Returns true if the payload of a NaN in a register can be observed.
    pub fn is_observed(&self, register: u32) -> bool {
        self.facts.observed_nans[register as usize]
    }

    /// Returns the number of vectors of a register.
    pub fn vector_count(&self, register: u32) -> usize {
        self.vector_count_of(self.class(register))
    }

    /// Returns the number of vectors of a class of registers.
    pub fn vector_count_of(&self, class: RegisterClass) -> usize {
        match class {
            RegisterClass::Wide => self.wide_vectors(),
            RegisterClass::Narrow | RegisterClass::Predicate => self.narrow_vectors(),
        }
    }

    /// Returns the number of 128-bit vectors that hold 32-bit values of a chunk.
    pub fn narrow_vectors(&self) -> usize {
        self.chunk_lanes / 4
    }

    /// Returns the number of 128-bit vectors that hold 64-bit values of a chunk.
    pub fn wide_vectors(&self) -> usize {
        self.chunk_lanes / 2
    }

    fn variables(&mut self, register: u32) -> Vec<Variable> {
        if let Some(variables) = self.variables.get(&register) {
            return variables.clone();
        }
        let class = self.class(register);
        let (ty, count) = match self.classes[register as usize] {
            Class::Varying => (vector(class), self.vector_count(register)),
            Class::Uniform | Class::Linear(_) => (scalar(class), 1),
        };
        let variables: Vec<_> = (0..count).map(|_| self.b.declare_var(ty)).collect();
        self.variables.insert(register, variables.clone());
        variables
    }

    /// Returns the value of a register.
    pub fn values(&mut self, register: u32) -> Values {
        let row = self.function.registers[register as usize];
        if let Some(literal) = row.literal {
            let value = match row.class {
                RegisterClass::Predicate => self.b.ins().iconst(I8, (literal & 1) as i64),
                class => self.constant(scalar(class), literal),
            };
            return Values::Uniform(value);
        }
        let variables = self.variables(register);
        let mut values = Vec::with_capacity(variables.len());
        for variable in variables {
            values.push(self.b.use_var(variable));
        }
        match self.classes[register as usize] {
            Class::Uniform => Values::Uniform(values[0]),
            Class::Linear(step) => Values::Linear(values[0], step),
            Class::Varying => Values::Lanes(values),
        }
    }

    /// Returns an integer constant of a scalar type.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = if ty == I32 {
            i64::from(bits as u32)
        } else {
            bits as i64
        };
        self.b.ins().iconst(ty, bits)
    }

    /// Returns the lanes of a value as vectors.
    pub fn lanes(&mut self, class: RegisterClass, values: &Values) -> Vec<Value> {
        match (values, class) {
            (Values::Lanes(lanes), _) => lanes.clone(),
            (Values::Uniform(value) | Values::Linear(value, _), RegisterClass::Predicate) => {
                let word = self.b.ins().uextend(I32, *value);
                let mask = self.b.ins().ineg(word);
                let mask = self.b.ins().splat(I32X4, mask);
                vec![mask; self.narrow_vectors()]
            }
            (Values::Uniform(value), class) => {
                let value = self.b.ins().splat(vector(class), *value);
                vec![value; self.vector_count_of(class)]
            }
            (Values::Linear(value, step), class) => {
                let base = self.b.ins().splat(vector(class), *value);
                let count = self.vector_count_of(class);
                let mut lanes = Vec::with_capacity(count);
                for piece in 0..count {
                    let steps = self.steps(class, piece, *step);
                    lanes.push(self.b.ins().iadd(base, steps));
                }
                lanes
            }
        }
    }

    /// Returns a vector of the lanes' numbers times a step.
    fn steps(&mut self, class: RegisterClass, piece: usize, step: i64) -> Value {
        let mut bytes = Vec::with_capacity(16);
        match class {
            RegisterClass::Wide => {
                for lane in 0..2 {
                    let value = step.wrapping_mul((2 * piece + lane) as i64);
                    bytes.extend(value.to_le_bytes());
                }
            }
            RegisterClass::Narrow | RegisterClass::Predicate => {
                for lane in 0..4 {
                    let value = step.wrapping_mul((4 * piece + lane) as i64) as i32;
                    bytes.extend(value.to_le_bytes());
                }
            }
        }
        let constant = self.b.func.dfg.constants.insert(ConstantData::from(bytes));
        self.b.ins().vconst(vector(class), constant)
    }

    /// Returns the vectors of masks with all bits set in the lanes of a bit mask.
    pub fn masks(&mut self, bits: Value) -> Vec<Value> {
        let bits = self.b.ins().splat(I32X4, bits);
        (0..self.narrow_vectors())
            .map(|piece| {
                let mut bytes = Vec::with_capacity(16);
                for lane in 0..4 {
                    bytes.extend((1u32 << (4 * piece + lane)).to_le_bytes());
                }
                let constant = self.b.func.dfg.constants.insert(ConstantData::from(bytes));
                let lane_bits = self.b.ins().vconst(I32X4, constant);
                let set = self.b.ins().band(bits, lane_bits);
                self.b.ins().icmp(IntCC::Equal, set, lane_bits)
            })
            .collect()
    }

    /// Returns the bit mask of the lanes whose masks are set.
    pub fn bits(&mut self, masks: &[Value]) -> Value {
        let bits: Vec<Value> = masks
            .iter()
            .enumerate()
            .map(|(piece, &mask)| {
                let bits = self.b.ins().vhigh_bits(I32, mask);
                self.b.ins().ishl_imm_s(bits, 4 * piece as i64)
            })
            .collect();
        match self.any(&bits) {
            Some(all) => all,
            None => self.b.ins().iconst(I32, 0),
        }
    }

    /// Returns the bitwise OR of values; `None` if there are none.
    pub fn any(&mut self, values: &[Value]) -> Option<Value> {
        let values = values.iter().copied();
        values.reduce(|all, value| self.b.ins().bor(all, value))
    }

    /// Returns the bitwise AND of values; `None` if there are none.
    pub fn all(&mut self, values: &[Value]) -> Option<Value> {
        let values = values.iter().copied();
        values.reduce(|all, value| self.b.ins().band(all, value))
    }

    /// Returns masks of 32-bit lanes as masks for the vectors of a register class.
    pub fn masks_for(&mut self, class: RegisterClass, masks: &[Value]) -> Vec<Value> {
        match class {
            RegisterClass::Narrow | RegisterClass::Predicate => masks.to_vec(),
            RegisterClass::Wide => {
                let mut wide = Vec::with_capacity(self.wide_vectors());
                for &mask in masks {
                    wide.push(self.b.ins().swiden_low(mask));
                    wide.push(self.b.ins().swiden_high(mask));
                }
                wide
            }
        }
    }

    /// Sets a register to a value, in the lanes of a guard.
    pub fn define(&mut self, register: u32, value: Values, guard: &Guard) -> Option<()> {
        let class = self.class(register);
        let new = match (self.classes[register as usize], value) {
            (Class::Uniform, Values::Uniform(value)) => vec![value],
            (Class::Linear(step), Values::Linear(value, by)) if step == by => vec![value],
            (Class::Varying, value) => self.lanes(class, &value),
            _ => return None,
        };
        let variables = self.variables(register);
        let masks = match guard {
            Guard::Lanes(masks) => self.masks_for(class, masks),
            _ => Vec::new(),
        };
        for (n, (variable, value)) in variables.into_iter().zip(new).enumerate() {
            let value = match guard {
                Guard::None => value,
                Guard::Uniform(condition) => {
                    let old = self.b.use_var(variable);
                    self.b.ins().select(*condition, value, old)
                }
                Guard::Lanes(_) => {
                    let old = self.b.use_var(variable);
                    self.b.ins().bitselect(masks[n], value, old)
                }
            };
            self.b.def_var(variable, value);
        }
        Some(())
    }

    /// Loads a register from its row in the frame.
    fn load_register(&mut self, register: u32) {
        let row = self.function.registers[register as usize];
        let offset = row.offset as i32;
        let variables = self.variables(register);
        let (base, stride) = match row.class {
            RegisterClass::Narrow => (self.chunk.narrow, 4),
            RegisterClass::Wide => (self.chunk.wide, 8),
            RegisterClass::Predicate => {
                let bits = self.load_bits(offset);
                if self.classes[register as usize] == Class::Varying {
                    let masks = self.masks(bits);
                    for (variable, mask) in variables.into_iter().zip(masks) {
                        self.b.def_var(variable, mask);
                    }
                } else {
                    let first = self.b.ins().ireduce(I32, self.chunk.first);
                    let bit = self.b.ins().ushr(bits, first);
                    let bit = self.b.ins().band_imm_s(bit, 1);
                    let bit = self.b.ins().ireduce(I8, bit);
                    self.b.def_var(variables[0], bit);
                    if self.facts.assumed[register as usize] {
                        let none = self.b.ins().iconst(I32, 0);
                        let expected = self.b.ins().select(bit, self.chunk.mask, none);
                        let actual = self.b.ins().band(bits, self.chunk.mask);
                        let equal = self.b.ins().icmp(IntCC::Equal, actual, expected);
                        self.require(equal);
                    }
                }
                return;
            }
        };
        match self.classes[register as usize] {
            Class::Varying => {
                for (piece, variable) in variables.into_iter().enumerate() {
                    let at = offset + 16 * piece as i32;
                    let value = self.b.ins().load(vector(row.class), trusted(), base, at);
                    self.b.def_var(variable, value);
                }
            }
            class => {
                let ty = scalar(row.class);
                let distance = self.b.ins().imul_imm_s(self.chunk.first, stride);
                let address = self.b.ins().iadd(base, distance);
                let mut value = self.b.ins().load(ty, trusted(), address, offset);
                if let Class::Linear(step) = class {
                    // The value of the chunk's first lane, which may be inactive.
                    let first = match ty {
                        I32 => self.b.ins().ireduce(I32, self.chunk.first),
                        _ => self.chunk.first,
                    };
                    let step = self.constant(ty, step as u64);
                    let ahead = self.b.ins().imul(first, step);
                    value = self.b.ins().isub(value, ahead);
                }
                self.b.def_var(variables[0], value);
                if self.facts.assumed[register as usize] {
                    let values = match class {
                        Class::Linear(step) => Values::Linear(value, step),
                        _ => Values::Uniform(value),
                    };
                    self.require_row(row.class, &values, base, offset);
                }
            }
        }
    }

    /// Loads the chunk's part of a predicate.
    fn load_bits(&mut self, offset: i32) -> Value {
        let base = self.chunk.predicates;
        match self.chunk_lanes {
            8 => self.b.ins().uload8(I32, trusted(), base, offset),
            16 => self.b.ins().uload16(I32, trusted(), base, offset),
            _ => self.b.ins().load(I32, trusted(), base, offset),
        }
    }

    /// Leaves the region if the active lanes of a row have other values than these.
    fn require_row(&mut self, class: RegisterClass, values: &Values, base: Value, offset: i32) {
        let expected = self.lanes(class, values);
        let masks = self.masks(self.chunk.mask);
        let masks = self.masks_for(class, &masks);
        let mut differences = Vec::with_capacity(expected.len());
        for (piece, (expected, mask)) in expected.into_iter().zip(masks).enumerate() {
            let at = offset + 16 * piece as i32;
            let actual = self.b.ins().load(vector(class), trusted(), base, at);
            let difference = self.b.ins().bxor(actual, expected);
            differences.push(self.b.ins().band(difference, mask));
        }
        if let Some(differences) = self.any(&differences) {
            let differs = self.b.ins().vany_true(differences);
            let equal = self.b.ins().icmp_imm_s(IntCC::Equal, differs, 0);
            self.require(equal);
        }
    }

    /// Stores the registers that are read after the region, in the active lanes.
    fn store_registers(&mut self) {
        if self.region.live_out.is_empty() {
            return;
        }
        let [all, some, after] = [(); 3].map(|()| self.b.create_block());
        let is_full = self.is_full();
        self.b.ins().brif(is_full, all, &[], some, &[]);
        for (block, blends) in [(all, false), (some, true)] {
            self.b.switch_to_block(block);
            let masks = match blends {
                true => self.masks(self.chunk.mask),
                false => Vec::new(),
            };
            for n in 0..self.region.live_out.len() {
                self.store_register(self.region.live_out[n], blends.then_some(&masks[..]));
            }
            self.b.ins().jump(after, &[]);
        }
        self.b.switch_to_block(after);
    }

    /// Returns whether all lanes of the chunk are active.
    pub fn is_full(&mut self) -> Value {
        let all = all_lanes(self.chunk_lanes);
        self.b.ins().icmp_imm_s(IntCC::Equal, self.chunk.mask, all)
    }

    fn store_register(&mut self, register: u32, masks: Option<&[Value]>) {
        let row = self.function.registers[register as usize];
        let offset = row.offset as i32;
        let values = self.values(register);
        let lanes = self.lanes(row.class, &values);
        if row.class == RegisterClass::Predicate {
            let bits = self.bits(&lanes);
            let base = self.chunk.predicates;
            let bits = match masks {
                None => bits,
                Some(_) => {
                    let old = self.load_bits(offset);
                    self.b.ins().bitselect(self.chunk.mask, bits, old)
                }
            };
            match self.chunk_lanes {
                8 => self.b.ins().istore8(trusted(), bits, base, offset),
                16 => self.b.ins().istore16(trusted(), bits, base, offset),
                _ => self.b.ins().store(trusted(), bits, base, offset),
            };
            return;
        }
        let base = match row.class {
            RegisterClass::Wide => self.chunk.wide,
            _ => self.chunk.narrow,
        };
        let masks = masks.map(|masks| self.masks_for(row.class, masks));
        for (piece, value) in lanes.into_iter().enumerate() {
            let at = offset + 16 * piece as i32;
            let value = match &masks {
                None => value,
                Some(masks) => {
                    let old = self.b.ins().load(vector(row.class), trusted(), base, at);
                    self.b.ins().bitselect(masks[piece], value, old)
                }
            };
            self.b.ins().store(trusted(), value, base, at);
        }
    }

    /// Adds the lanes of a guarded access to the counters.
    pub fn count_guarded(&mut self, write: bool, bits: Value) {
        let variable = self.counters.guarded[usize::from(write)];
        let count = self.b.ins().popcnt(bits);
        let count = self.b.ins().uextend(I64, count);
        let sum = self.b.use_var(variable);
        let sum = self.b.ins().iadd(sum, count);
        self.b.def_var(variable, sum);
    }

    /// Adds what the region has executed to the simulator's counters.
    fn flush_counters(&mut self) {
        let threads = self.b.ins().popcnt(self.warp_mask);
        let threads = self.b.ins().uextend(I64, threads);
        let mut totals: [Option<Value>; 4] = [None; 4];
        let visits = self.b.ins().load(
            I64,
            trusted(),
            self.context,
            context_offset(offset_of!(Context, visits)),
        );
        let (region, function) = (self.region, self.function);
        for (n, (part, range)) in region.ranges(function).enumerate() {
            let count = self.b.use_var(self.counters.visits[n]);
            let mut accesses = [0; 3];
            for inst in &function.instructions[range] {
                let (of_device, reads) = crate::memory::counts(inst);
                if let (Some(write), false) = (of_device, inst.predicated) {
                    accesses[usize::from(write)] += 1;
                }
                accesses[2] += i64::from(reads && !inst.predicated);
            }
            for (total, accesses) in totals[..3].iter_mut().zip(accesses) {
                self.add_product(total, count, accesses);
            }
            // The interpreter has counted the entry into the first block.
            let entries = match n {
                0 if self.region.end.is_some() || !self.is_loop_header() => continue,
                0 => self.b.ins().iadd_imm_s(count, -1),
                _ => count,
            };
            self.add_product(&mut totals[3], entries, (part.end - part.first) as i64);
            let at = (part.number as usize * offsets::VISIT_BYTES) as i32;
            self.add_to(visits, at + offsets::VISIT_WARPS as i32, entries);
            let lanes = self.b.ins().imul(entries, threads);
            self.add_to(visits, at + offsets::VISIT_THREADS as i32, lanes);
        }
        let [loads, stores, reads, clock] = totals;
        let guarded = self.counters.guarded;
        let fields = [
            (loads, Some(guarded[0]), offset_of!(Context, loads)),
            (stores, Some(guarded[1]), offset_of!(Context, stores)),
            (reads, None, offset_of!(Context, reads)),
            (clock, None, offset_of!(Context, clock)),
        ];
        for (total, guarded, field) in fields {
            let has_guarded = guarded.is_some() && self.has_guarded_accesses();
            if total.is_none() && !has_guarded {
                continue;
            }
            let mut sum = self.b.ins().iconst(I64, 0);
            if let Some(total) = total {
                // Loads and stores count per thread, reads and the clock per warp.
                sum = match guarded {
                    Some(_) => self.b.ins().imul(total, threads),
                    None => total,
                };
            }
            if let Some(guarded) = guarded {
                let guarded = self.b.use_var(guarded);
                sum = self.b.ins().iadd(sum, guarded);
            }
            let target = self
                .b
                .ins()
                .load(I64, trusted(), self.context, context_offset(field));
            self.add_to(target, 0, sum);
        }
    }

    fn has_guarded_accesses(&self) -> bool {
        let mut insts = self.region.instructions(self.function);
        insts.any(|inst| inst.predicated && crate::memory::counts(inst).0.is_some())
    }

    /// Returns true if the region jumps back to its first block.
    fn is_loop_header(&self) -> bool {
        let first = self.region.blocks[0];
        let blocks = self.region.blocks.iter();
        blocks
            .flat_map(|&block| &self.function.blocks[block].successors)
            .any(|&successor| successor == first)
    }

    fn add_product(&mut self, total: &mut Option<Value>, count: Value, factor: i64) {
        if factor == 0 {
            return;
        }
        let product = self.b.ins().imul_imm_s(count, factor);
        *total = Some(match *total {
            None => product,
            Some(before) => self.b.ins().iadd(before, product),
        });
    }

    fn add_to(&mut self, address: Value, offset: i32, value: Value) {
        let before = self.b.ins().load(I64, trusted(), address, offset);
        let sum = self.b.ins().iadd(before, value);
        self.b.ins().store(trusted(), sum, address, offset);
    }

    /// Returns a field of the context.
    pub fn field(&mut self, ty: Type, offset: usize) -> Value {
        self.b
            .ins()
            .load(ty, trusted(), self.context, context_offset(offset))
    }

    /// Returns a value as floating-point numbers of its width.
    pub fn as_float(&mut self, value: Value) -> Value {
        use cranelift_codegen::ir::types::{F32, F64};
        let ty = match self.b.func.dfg.value_type(value) {
            I32 => F32,
            I64 => F64,
            I32X4 => F32X4,
            I64X2 => F64X2,
            _ => return value,
        };
        self.b.ins().bitcast(ty, little_endian(), value)
    }

    /// Returns the bits of floating-point numbers.
    pub fn as_bits(&mut self, value: Value) -> Value {
        use cranelift_codegen::ir::types::{F32, F64};
        let ty = match self.b.func.dfg.value_type(value) {
            F32 => I32,
            F64 => I64,
            F32X4 => I32X4,
            F64X2 => I64X2,
            _ => return value,
        };
        self.b.ins().bitcast(ty, little_endian(), value)
    }

    /// Returns a vector reinterpreted as another type of vector.
    pub fn cast(&mut self, ty: Type, value: Value) -> Value {
        match self.b.func.dfg.value_type(value) == ty {
            true => value,
            false => self.b.ins().bitcast(ty, little_endian(), value),
        }
    }
}

/// Returns the mask of all lanes of a chunk.
pub fn all_lanes(chunk_lanes: usize) -> i64 {
    i64::from((u32::MAX >> (LANES - chunk_lanes)) as i32)
}

/// Returns the type of one lane's value.
pub fn scalar(class: RegisterClass) -> Type {
    match class {
        RegisterClass::Predicate => I8,
        RegisterClass::Narrow => I32,
        RegisterClass::Wide => I64,
    }
}

/// Returns the type of a vector of values.
pub fn vector(class: RegisterClass) -> Type {
    match class {
        RegisterClass::Predicate | RegisterClass::Narrow => I32X4,
        RegisterClass::Wide => I64X2,
    }
}
