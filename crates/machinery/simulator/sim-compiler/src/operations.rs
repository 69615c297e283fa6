//! Operations on registers. Each is translated once for scalars and vectors where Cranelift's instructions are the same
//! for both; others are computed lane by lane.

use crate::classes::Class;
use crate::region::{Emitter, Values, scalar, trusted, vector};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{
    F32, F32X4, F64, F64X2, I8, I8X16, I16, I32, I32X4, I64, I64X2,
};
use cranelift_codegen::ir::{ConstantData, InstBuilder as _, Type as ClifType, Value};
use cuda_sim::exec::compiled::{Context, Helpers, Instruction};
use cuda_sim::isa::RegisterClass;
use cuda_sim::isa::operation::{Operation, Rounding};
use cuda_sim::ptx::ast::Type;
use std::mem::{offset_of, size_of};

/// The NaN of single-precision arithmetic.
const NAN32: u64 = 0x7fff_ffff;
/// The NaN of an invalid operation in double precision.
const NAN64: u64 = 0xfff8_0000_0000_0000;

// The bits of a comparison's relation: the orderings for which it is true.
const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
const UNORDERED: u8 = 8;

impl Emitter<'_, '_> {
    /// Emits an operation on registers. Returns its results, one per destination.
    pub fn operation(&mut self, operation: Operation, inst: &Instruction) -> Option<Vec<Values>> {
        match operation {
            Operation::Thread(axis) => return Some(vec![self.thread(usize::from(axis), inst)]),
            Operation::Lane => {
                let lane = self.chunk.lane;
                let lane = self.b.ins().ireduce(I32, lane);
                return Some(vec![Values::Linear(lane, 1)]);
            }
            Operation::Block(n) => {
                let offset = offset_of!(Context, block) + 4 * usize::from(n);
                return Some(vec![Values::Uniform(self.field(I32, offset))]);
            }
            Operation::Parameter(transfer) | Operation::ConstantBank(transfer) => {
                let base = match operation {
                    Operation::Parameter(_) => offset_of!(Context, parameters),
                    _ => offset_of!(Context, constants),
                };
                let base = self.field(I64, base);
                let mut values = Vec::new();
                for (n, &def) in inst.defs.iter().enumerate() {
                    let offset = inst.imm as i32 + (n as u32 * transfer.bytes) as i32;
                    let ty = scalar(self.class(def));
                    let value =
                        self.load_element(ty, transfer.bytes, transfer.signed, base, offset);
                    values.push(Values::Uniform(value));
                }
                return Some(values);
            }
            _ => {}
        }
        let sources: Vec<Values> = inst.uses.iter().map(|&used| self.values(used)).collect();
        if let Some(result) = self.linear(operation, inst, &sources) {
            return Some(vec![result]);
        }
        // A NaN whose payload cannot be observed need not be made canonical.
        let observed = inst.defs.first().is_none_or(|&def| self.is_observed(def));
        let uniform: Option<Vec<Value>> = sources
            .iter()
            .map(|values| match values {
                Values::Uniform(value) => Some(*value),
                _ => None,
            })
            .collect();
        if let Some(arguments) = uniform {
            let results = self.apply(operation, &arguments, inst.imm, observed)?;
            return Some(results.into_iter().map(Values::Uniform).collect());
        }
        let lanes: Vec<Vec<Value>> = inst
            .uses
            .iter()
            .zip(&sources)
            .map(|(&used, values)| self.lanes(self.class(used), values))
            .collect();
        let result = self.vectors(operation, inst, &lanes, &sources, observed);
        if let Some(lanes) = result {
            return Some(vec![Values::Lanes(lanes)]);
        }
        self.lane_by_lane(operation, inst, &lanes, observed)
    }

    /// Emits `%tid` along an axis.
    fn thread(&mut self, axis: usize, inst: &Instruction) -> Values {
        let row = self.field(
            I64,
            offset_of!(Context, thread) + axis * size_of::<*const u32>(),
        );
        let distance = self.b.ins().imul_imm_s(self.chunk.lane, 4);
        let address = self.b.ins().iadd(row, distance);
        match self.classes[inst.defs[0] as usize] {
            // The row has values for all lanes, active or not.
            Class::Uniform => Values::Uniform(self.b.ins().load(I32, trusted(), address, 0)),
            Class::Linear(step) => {
                Values::Linear(self.b.ins().load(I32, trusted(), address, 0), step)
            }
            Class::Varying => {
                let count = self.narrow_vectors();
                let load = |n| self.b.ins().load(I32X4, trusted(), address, 16 * n as i32);
                Values::Lanes((0..count).map(load).collect())
            }
        }
    }

    /// Emits an operation whose result grows linearly from lane to lane; `None` if it does not.
    fn linear(
        &mut self,
        operation: Operation,
        inst: &Instruction,
        sources: &[Values],
    ) -> Option<Values> {
        let def = *inst.defs.first()?;
        let Class::Linear(step) = self.classes[def as usize] else {
            // A register that has another definition may vary, although this one is linear.
            return None;
        };
        let mut bases = Vec::with_capacity(sources.len());
        let mut steps = Vec::with_capacity(sources.len());
        for values in sources {
            match values {
                Values::Uniform(value) => (bases.push(*value), steps.push(0)),
                Values::Linear(value, step) => (bases.push(*value), steps.push(*step)),
                Values::Lanes(_) => return None,
            };
        }
        let widens = |ty: Type| Some(ty.is_signed());
        let signed = match operation {
            Operation::MultiplyWide(ty) | Operation::MultiplyAddWide(ty) => widens(ty),
            Operation::Resize { to, from } if to.bytes() == 8 && from.bytes() == 4 => widens(from),
            _ => None,
        };
        if let Some(signed) = signed {
            // The result is linear unless the source wraps around within the chunk.
            let factors = if sources.len() == 1 { 1 } else { 2 };
            for n in 0..factors {
                if steps[n] != 0 {
                    let wide = match signed {
                        true => self.b.ins().sextend(I64, bases[n]),
                        false => self.b.ins().uextend(I64, bases[n]),
                    };
                    let last = steps[n].checked_mul(self.chunk_lanes as i64 - 1)?;
                    let last = self.b.ins().iadd_imm_s(wide, last);
                    let low = self.b.ins().ireduce(I32, last);
                    let back = match signed {
                        true => self.b.ins().sextend(I64, low),
                        false => self.b.ins().uextend(I64, low),
                    };
                    let is_exact = self.b.ins().icmp(IntCC::Equal, back, last);
                    self.require(is_exact);
                }
            }
        }
        let result = self.apply(operation, &bases, inst.imm, false)?;
        Some(Values::Linear(result[0], step))
    }

    /// Emits an operation on vectors; `None` if the operation has no vector form.
    fn vectors(
        &mut self,
        operation: Operation,
        inst: &Instruction,
        lanes: &[Vec<Value>],
        sources: &[Values],
        observed: bool,
    ) -> Option<Vec<Value>> {
        let def = *inst.defs.first()?;
        let wide = self.class(def) == RegisterClass::Wide;
        match operation {
            Operation::ShiftLeft(ty) | Operation::ShiftRight(ty) => {
                let Values::Uniform(by) = sources[1] else {
                    return None;
                };
                return self.each(lanes[0].len(), |e, n| {
                    e.shift(operation, ty, lanes[0][n], by)
                });
            }
            Operation::Select => {
                let masks = self.masks_for(self.class(def), &lanes[2]);
                return self.each(lanes[0].len(), |e, n| {
                    Some(e.b.ins().bitselect(masks[n], lanes[0][n], lanes[1][n]))
                });
            }
            Operation::Compare { ty, relation } => {
                let pairs = lanes[0].iter().zip(&lanes[1]);
                let masks: Vec<Value> = pairs
                    .map(|(&a, &b)| self.compare(ty, relation, a, b))
                    .collect();
                return Some(match ty.bytes() {
                    8 => self.narrowed(&masks),
                    _ => masks,
                });
            }
            Operation::MultiplyWide(ty) => {
                let [a, b] = [0, 1].map(|n| self.widened(&lanes[n], ty.is_signed()));
                return self.each(self.wide_vectors(), |e, n| Some(e.b.ins().imul(a[n], b[n])));
            }
            Operation::MultiplyAddWide(ty) => {
                let [a, b] = [0, 1].map(|n| self.widened(&lanes[n], ty.is_signed()));
                return self.each(self.wide_vectors(), |e, n| {
                    let product = e.b.ins().imul(a[n], b[n]);
                    Some(e.b.ins().iadd(product, lanes[2][n]))
                });
            }
            Operation::MultiplyHigh(ty) => {
                let [a, b] = [0, 1].map(|n| self.widened(&lanes[n], ty.is_signed()));
                let mut high = Vec::with_capacity(self.wide_vectors());
                for n in 0..self.wide_vectors() {
                    let product = self.b.ins().imul(a[n], b[n]);
                    high.push(self.b.ins().ushr_imm_s(product, 32));
                }
                return Some(self.narrowed(&high));
            }
            Operation::Resize { to, from } => {
                return match (to.bytes(), from.bytes()) {
                    (8, 4) => Some(self.widened(&lanes[0], from.is_signed())),
                    (4, 8) => Some(self.narrowed(&lanes[0])),
                    (8, 8) | (4, 4) => Some(lanes[0].clone()),
                    (1 | 2 | 4, 1 | 2 | 4) => self.each(self.narrow_vectors(), |e, n| {
                        Some(e.resize_word(to, from, lanes[0][n]))
                    }),
                    _ => None,
                };
            }
            Operation::Pack => {
                let [low, high] = [0, 1].map(|n| self.widened(&lanes[n], false));
                return self.each(self.wide_vectors(), |e, n| {
                    let high = e.b.ins().ishl_imm_s(high[n], 32);
                    Some(e.b.ins().bor(low[n], high))
                });
            }
            Operation::FromInteger {
                to: Type::F64,
                from: Type::S32,
            } => {
                return self.each(self.wide_vectors(), |e, n| {
                    let word = lanes[0][n / 2];
                    let word = match n % 2 {
                        0 => e.b.ins().swiden_low(word),
                        _ => e.b.ins().swiden_high(word),
                    };
                    let number = e.b.ins().fcvt_from_sint(F64X2, word);
                    Some(e.as_bits(number))
                });
            }
            Operation::ReciprocalSquareRoot => {
                return self.each(self.narrow_vectors(), |e, n| {
                    Some(e.reciprocal_root(lanes[0][n], observed))
                });
            }
            _ => {}
        }
        if !has_vector_form(operation) {
            return None;
        }
        let count = if wide {
            self.wide_vectors()
        } else {
            self.narrow_vectors()
        };
        if lanes.iter().any(|lanes| lanes.len() != count) {
            return None;
        }
        self.each(count, |e, n| {
            let arguments: Vec<Value> = lanes.iter().map(|lanes| lanes[n]).collect();
            Some(e.apply(operation, &arguments, inst.imm, observed)?[0])
        })
    }

    /// Collects the vectors that `emit` returns for each piece.
    fn each(
        &mut self,
        count: usize,
        mut emit: impl FnMut(&mut Self, usize) -> Option<Value>,
    ) -> Option<Vec<Value>> {
        (0..count).map(|n| emit(self, n)).collect()
    }

    /// Emits an operation for each lane by itself.
    fn lane_by_lane(
        &mut self,
        operation: Operation,
        inst: &Instruction,
        lanes: &[Vec<Value>],
        observed: bool,
    ) -> Option<Vec<Values>> {
        let mut results = vec![Vec::with_capacity(self.chunk_lanes); inst.defs.len()];
        for lane in 0..self.chunk_lanes {
            let mut arguments = Vec::with_capacity(lanes.len());
            for (&used, lanes) in inst.uses.iter().zip(lanes) {
                arguments.push(self.lane(self.class(used), lanes, lane));
            }
            let values = self.apply(operation, &arguments, inst.imm, observed)?;
            for (row, value) in results.iter_mut().zip(values) {
                row.push(value);
            }
        }
        let mut all = Vec::with_capacity(results.len());
        for (&def, values) in inst.defs.iter().zip(results) {
            all.push(Values::Lanes(self.collect(self.class(def), &values)));
        }
        Some(all)
    }

    /// Returns the value of one lane.
    pub fn lane(&mut self, class: RegisterClass, lanes: &[Value], lane: usize) -> Value {
        let per_vector = if class == RegisterClass::Wide { 2 } else { 4 };
        let (piece, index) = (lane / per_vector, (lane % per_vector) as u8);
        let value = self.b.ins().extractlane(lanes[piece], index);
        match class {
            RegisterClass::Predicate => {
                let bit = self.b.ins().band_imm_s(value, 1);
                self.b.ins().ireduce(I8, bit)
            }
            _ => value,
        }
    }

    /// Returns the vectors of a chunk's values.
    pub fn collect(&mut self, class: RegisterClass, values: &[Value]) -> Vec<Value> {
        let per_vector = if class == RegisterClass::Wide { 2 } else { 4 };
        values
            .chunks(per_vector)
            .map(|part| {
                let part: Vec<Value> = match class {
                    RegisterClass::Predicate => part
                        .iter()
                        .map(|&bit| {
                            let word = self.b.ins().uextend(I32, bit);
                            self.b.ins().ineg(word)
                        })
                        .collect(),
                    _ => part.to_vec(),
                };
                let mut vector = self.b.ins().splat(vector(class), part[0]);
                for (n, &value) in part.iter().enumerate().skip(1) {
                    vector = self.b.ins().insertlane(vector, value, n as u8);
                }
                vector
            })
            .collect()
    }

    /// Returns vectors of 32-bit lanes extended to 64 bits.
    fn widened(&mut self, lanes: &[Value], signed: bool) -> Vec<Value> {
        let mut wide = Vec::with_capacity(self.wide_vectors());
        for &value in lanes {
            match signed {
                true => {
                    wide.push(self.b.ins().swiden_low(value));
                    wide.push(self.b.ins().swiden_high(value));
                }
                false => {
                    wide.push(self.b.ins().uwiden_low(value));
                    wide.push(self.b.ins().uwiden_high(value));
                }
            }
        }
        wide
    }

    /// Returns the lower words of 64-bit lanes.
    fn narrowed(&mut self, lanes: &[Value]) -> Vec<Value> {
        const LOWER_WORDS: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
        let mask = self
            .b
            .func
            .dfg
            .immediates
            .push(ConstantData::from(&LOWER_WORDS[..]));
        lanes
            .chunks(2)
            .map(|pair| {
                let [low, high] = [0, 1].map(|n| self.cast(I8X16, pair[n]));
                let words = self.b.ins().shuffle(low, high, mask);
                self.cast(I32X4, words)
            })
            .collect()
    }

    /// Returns a constant of a type, in all lanes.
    fn constant_like(&mut self, like: Value, bits: u64) -> Value {
        let ty = self.b.func.dfg.value_type(like);
        let lane = self.constant(ty.lane_type(), bits);
        match ty.is_vector() {
            true => self.b.ins().splat(ty, lane),
            false => lane,
        }
    }

    /// Returns `a` where the condition is true, otherwise `b`. The condition is what a comparison returns.
    fn choose(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        match ty.is_vector() {
            true => {
                let condition = self.cast(ty, condition);
                self.b.ins().bitselect(condition, a, b)
            }
            false => self.b.ins().select(condition, a, b),
        }
    }

    /// Returns the comparison of two values, as a mask or a bit.
    fn compare(&mut self, ty: Type, relation: u8, a: Value, b: Value) -> Value {
        if ty.is_float() {
            let [a, b] = [a, b].map(|value| self.as_float(value));
            return self.compare_floats(relation, a, b);
        }
        let signed = ty.is_signed();
        let condition = match relation {
            EQUAL => IntCC::Equal,
            LESS if signed => IntCC::SignedLessThan,
            LESS => IntCC::UnsignedLessThan,
            GREATER if signed => IntCC::SignedGreaterThan,
            GREATER => IntCC::UnsignedGreaterThan,
            r if r == LESS | EQUAL && signed => IntCC::SignedLessThanOrEqual,
            r if r == LESS | EQUAL => IntCC::UnsignedLessThanOrEqual,
            r if r == GREATER | EQUAL && signed => IntCC::SignedGreaterThanOrEqual,
            r if r == GREATER | EQUAL => IntCC::UnsignedGreaterThanOrEqual,
            _ => IntCC::NotEqual,
        };
        self.compare_integers(condition, a, b)
    }

    fn compare_integers(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let signed = match condition {
            IntCC::UnsignedLessThan => IntCC::SignedLessThan,
            IntCC::UnsignedLessThanOrEqual => IntCC::SignedLessThanOrEqual,
            IntCC::UnsignedGreaterThan => IntCC::SignedGreaterThan,
            IntCC::UnsignedGreaterThanOrEqual => IntCC::SignedGreaterThanOrEqual,
            other => other,
        };
        if self.b.func.dfg.value_type(a) == I64X2 && signed != condition {
            // There are only signed comparisons of such vectors.
            let top = self.constant_like(a, 1 << 63);
            let [a, b] = [a, b].map(|value| self.b.ins().bxor(value, top));
            return self.b.ins().icmp(signed, a, b);
        }
        self.b.ins().icmp(condition, a, b)
    }

    /// Compares floats by the set of orderings that count as true.
    fn compare_floats(&mut self, relation: u8, a: Value, b: Value) -> Value {
        const BOTH: u8 = LESS | GREATER;
        let condition = match relation {
            EQUAL => FloatCC::Equal,
            r if r == BOTH || r == EQUAL | UNORDERED => {
                // Vectors have no such comparison.
                let less = self.b.ins().fcmp(FloatCC::LessThan, a, b);
                let greater = self.b.ins().fcmp(FloatCC::GreaterThan, a, b);
                let differ = self.b.ins().bor(less, greater);
                return match (r == BOTH, self.b.func.dfg.value_type(differ).is_vector()) {
                    (true, _) => differ,
                    (false, true) => self.b.ins().bnot(differ),
                    (false, false) => self.b.ins().bxor_imm_s(differ, 1),
                };
            }
            LESS => FloatCC::LessThan,
            r if r == LESS | EQUAL => FloatCC::LessThanOrEqual,
            GREATER => FloatCC::GreaterThan,
            r if r == GREATER | EQUAL => FloatCC::GreaterThanOrEqual,
            r if r == BOTH | UNORDERED => FloatCC::NotEqual,
            r if r == LESS | UNORDERED => FloatCC::UnorderedOrLessThan,
            r if r == LESS | EQUAL | UNORDERED => FloatCC::UnorderedOrLessThanOrEqual,
            r if r == GREATER | UNORDERED => FloatCC::UnorderedOrGreaterThan,
            r if r == GREATER | EQUAL | UNORDERED => FloatCC::UnorderedOrGreaterThanOrEqual,
            r if r == LESS | EQUAL | GREATER => FloatCC::Ordered,
            _ => FloatCC::Unordered,
        };
        self.b.ins().fcmp(condition, a, b)
    }

    /// Returns whether a float, given by its bits, is NaN.
    fn is_nan(&mut self, bits: Value) -> Value {
        let float = self.as_float(bits);
        self.b.ins().fcmp(FloatCC::Unordered, float, float)
    }

    /// Returns a single-precision result with its NaN made canonical.
    fn canonical(&mut self, bits: Value) -> Value {
        let nan = self.constant_like(bits, NAN32);
        let is_nan = self.is_nan(bits);
        self.choose(is_nan, nan, bits)
    }

    /// Returns a double-precision result. If it is NaN, returns the first of `operands` that is NaN, made quiet; if no
    /// operand is NaN, the NaN of an invalid operation.
    fn pass_nan(&mut self, operands: &[Value], result: Value) -> Value {
        let mut nan = self.constant_like(result, NAN64);
        let quiet = self.constant_like(result, 1 << 51);
        for &operand in operands.iter().rev() {
            let quieted = self.b.ins().bor(operand, quiet);
            let is_nan = self.is_nan(operand);
            nan = self.choose(is_nan, quieted, nan);
        }
        let is_nan = self.is_nan(result);
        self.choose(is_nan, nan, result)
    }

    /// Returns the bits of an arithmetic result. A NaN in single precision becomes canonical if it is observed; one in
    /// double precision is taken from the operands, in the order of `nan_order`.
    fn float_result(
        &mut self,
        ty: Type,
        result: Value,
        nan_order: &[Value],
        observed: bool,
    ) -> Value {
        let bits = self.as_bits(result);
        match ty {
            Type::F64 => self.pass_nan(nan_order, bits),
            _ if observed => self.canonical(bits),
            _ => bits,
        }
    }

    /// Emits an operation on scalars or, for operations with a vector form, on vectors.
    fn apply(
        &mut self,
        operation: Operation,
        arguments: &[Value],
        imm: u64,
        observed: bool,
    ) -> Option<Vec<Value>> {
        let a = *arguments.first()?;
        let b = arguments.get(1).copied().unwrap_or(a);
        let c = arguments.get(2).copied().unwrap_or(a);
        let one = match operation {
            Operation::Add(ty) if ty.is_float() => {
                let [x, y] = [a, b].map(|value| self.as_float(value));
                let sum = self.b.ins().fadd(x, y);
                self.float_result(ty, sum, &[b, a], observed)
            }
            Operation::Subtract(ty) if ty.is_float() => {
                let [x, y] = [a, b].map(|value| self.as_float(value));
                let difference = self.b.ins().fsub(x, y);
                self.float_result(ty, difference, &[b, a], observed)
            }
            Operation::Multiply(ty) if ty.is_float() => {
                let [x, y] = [a, b].map(|value| self.as_float(value));
                let product = self.b.ins().fmul(x, y);
                self.float_result(ty, product, &[b, a], observed)
            }
            Operation::FusedMultiplyAdd(ty) => {
                let [x, y, z] = [a, b, c].map(|value| self.as_float(value));
                let sum = self.b.ins().fma(x, y, z);
                self.float_result(ty, sum, &[b, c, a], observed)
            }
            Operation::Divide(ty) if ty.is_float() => {
                let [x, y] = [a, b].map(|value| self.as_float(value));
                let quotient = self.b.ins().fdiv(x, y);
                self.float_result(ty, quotient, &[a, b], observed)
            }
            Operation::Reciprocal(ty) => {
                let bits = match ty {
                    Type::F64 => 1f64.to_bits(),
                    _ => u64::from(1f32.to_bits()),
                };
                let one = self.constant_like(a, bits);
                let [one, x] = [one, a].map(|value| self.as_float(value));
                let quotient = self.b.ins().fdiv(one, x);
                self.float_result(ty, quotient, &[a], observed)
            }
            Operation::SquareRoot(ty) => {
                let x = self.as_float(a);
                let root = self.b.ins().sqrt(x);
                self.float_result(ty, root, &[a], observed)
            }
            Operation::ReciprocalSquareRoot => {
                let x = self.as_float(a);
                let x = self.b.ins().fpromote(F64, x);
                let root = self.b.ins().sqrt(x);
                let one = self.b.ins().f64const(1.0);
                let quotient = self.b.ins().fdiv(one, root);
                let result = self.b.ins().fdemote(F32, quotient);
                self.float_result(Type::F32, result, &[], observed)
            }
            Operation::SpecialFunction(function) => {
                let x = self.as_float(a);
                let address = Helpers::function(function) as usize;
                let result = self.call(address, &[x], Some(F32))[0];
                self.as_bits(result)
            }
            Operation::Minimum(ty) if ty.is_float() => self.extremum(ty, a, b, false),
            Operation::Maximum(ty) if ty.is_float() => self.extremum(ty, a, b, true),
            Operation::Negate(ty) if ty.is_float() => {
                let x = self.as_float(a);
                let result = self.b.ins().fneg(x);
                self.float_result(ty, result, &[a], observed)
            }
            Operation::Absolute(ty) if ty.is_float() => {
                let x = self.as_float(a);
                let result = self.b.ins().fabs(x);
                self.float_result(ty, result, &[a], observed)
            }
            Operation::Round(rounding) => {
                let x = self.as_float(a);
                let result = match rounding {
                    Rounding::Nearest => self.b.ins().nearest(x),
                    Rounding::Zero => self.b.ins().trunc(x),
                    Rounding::Down => self.b.ins().floor(x),
                    Rounding::Up => self.b.ins().ceil(x),
                };
                self.float_result(Type::F32, result, &[], observed)
            }
            Operation::Add(_) => self.b.ins().iadd(a, b),
            Operation::Subtract(_) => self.b.ins().isub(a, b),
            Operation::Multiply(_) => self.b.ins().imul(a, b),
            Operation::MultiplyAdd(_) => {
                let product = self.b.ins().imul(a, b);
                self.b.ins().iadd(product, c)
            }
            Operation::MultiplyWide(ty) => {
                let [a, b] = [a, b].map(|value| self.extended(value, ty.is_signed()));
                self.b.ins().imul(a, b)
            }
            Operation::MultiplyAddWide(ty) => {
                let [a, b] = [a, b].map(|value| self.extended(value, ty.is_signed()));
                let product = self.b.ins().imul(a, b);
                self.b.ins().iadd(product, c)
            }
            Operation::MultiplyHigh(ty) => {
                let [a, b] = [a, b].map(|value| self.extended(value, ty.is_signed()));
                let product = self.b.ins().imul(a, b);
                let high = self.b.ins().ushr_imm_s(product, 32);
                self.b.ins().ireduce(I32, high)
            }
            Operation::Divide(ty) => self.divide(ty, a, b, false),
            Operation::Remainder(ty) => self.divide(ty, a, b, true),
            Operation::Minimum(ty) => {
                let condition = match ty.is_signed() {
                    true => IntCC::SignedLessThan,
                    false => IntCC::UnsignedLessThan,
                };
                let less = self.compare_integers(condition, a, b);
                self.choose(less, a, b)
            }
            Operation::Maximum(ty) => {
                let condition = match ty.is_signed() {
                    true => IntCC::SignedGreaterThan,
                    false => IntCC::UnsignedGreaterThan,
                };
                let greater = self.compare_integers(condition, a, b);
                self.choose(greater, a, b)
            }
            Operation::Negate(_) => self.b.ins().ineg(a),
            Operation::Absolute(_) => {
                let zero = self.constant_like(a, 0);
                let negative = self.compare_integers(IntCC::SignedLessThan, a, zero);
                let opposite = self.b.ins().ineg(a);
                self.choose(negative, opposite, a)
            }
            Operation::And => self.b.ins().band(a, b),
            Operation::Or => self.b.ins().bor(a, b),
            Operation::Xor => self.b.ins().bxor(a, b),
            Operation::Not if self.b.func.dfg.value_type(a) == I8 => self.b.ins().bxor_imm_s(a, 1),
            Operation::Not => self.b.ins().bnot(a),
            Operation::ShiftLeft(ty) | Operation::ShiftRight(ty) => {
                return Some(vec![self.shift(operation, ty, a, b)?]);
            }
            Operation::FunnelShift { left, wrap } => {
                let low = self.b.ins().uextend(I64, a);
                let high = self.b.ins().uextend(I64, b);
                let high = self.b.ins().ishl_imm_s(high, 32);
                let pair = self.b.ins().bor(high, low);
                let by = match wrap {
                    true => self.b.ins().band_imm_s(c, 31),
                    false => {
                        let most = self.b.ins().iconst(I32, 32);
                        self.b.ins().umin(c, most)
                    }
                };
                let by = self.b.ins().uextend(I64, by);
                let shifted = match left {
                    true => {
                        let shifted = self.b.ins().ishl(pair, by);
                        self.b.ins().ushr_imm_s(shifted, 32)
                    }
                    false => self.b.ins().ushr(pair, by),
                };
                self.b.ins().ireduce(I32, shifted)
            }
            Operation::CountOnes(_) => {
                let count = self.b.ins().popcnt(a);
                self.as_word(count)
            }
            Operation::LeadingZeros(_) => {
                let count = self.b.ins().clz(a);
                self.as_word(count)
            }
            Operation::ReverseBits(_) => self.b.ins().bitrev(a),
            Operation::Compare { ty, relation } => self.compare(ty, relation, a, b),
            Operation::Select => self.choose(c, a, b),
            Operation::Copy => a,
            Operation::AddImmediate => {
                let imm = self.constant_like(a, imm);
                self.b.ins().iadd(a, imm)
            }
            Operation::Resize { to, from } => self.resize(to, from, a)?,
            Operation::FromInteger { to, from } => {
                let ty = self.b.func.dfg.value_type(a);
                let to: ClifType = match (to, ty.is_vector()) {
                    (Type::F32, false) => F32,
                    (Type::F32, true) if ty == I32X4 => F32X4,
                    (_, false) => F64,
                    _ => return None,
                };
                let result = match from.is_signed() {
                    true => self.b.ins().fcvt_from_sint(to, a),
                    false => self.b.ins().fcvt_from_uint(to, a),
                };
                self.as_bits(result)
            }
            Operation::Truncate { to, from } => self.truncate(to, from, a)?,
            Operation::Widen => {
                let x = self.as_float(a);
                let result = self.b.ins().fpromote(F64, x);
                self.as_bits(result)
            }
            Operation::Narrow => {
                let x = self.as_float(a);
                let result = self.b.ins().fdemote(F32, x);
                self.as_bits(result)
            }
            Operation::Pack => {
                let low = self.b.ins().uextend(I64, a);
                let high = self.b.ins().uextend(I64, b);
                let high = self.b.ins().ishl_imm_s(high, 32);
                self.b.ins().bor(low, high)
            }
            Operation::Unpack => {
                let low = self.b.ins().ireduce(I32, a);
                let high = self.b.ins().ushr_imm_s(a, 32);
                let high = self.b.ins().ireduce(I32, high);
                return Some(vec![low, high]);
            }
            _ => return None,
        };
        Some(vec![one])
    }

    /// Returns a count as 32 bits.
    fn as_word(&mut self, count: Value) -> Value {
        match self.b.func.dfg.value_type(count) == I64 {
            true => self.b.ins().ireduce(I32, count),
            false => count,
        }
    }

    fn extended(&mut self, value: Value, signed: bool) -> Value {
        match signed {
            true => self.b.ins().sextend(I64, value),
            false => self.b.ins().uextend(I64, value),
        }
    }

    /// Shifts by an amount that is a scalar. Amounts beyond the width are clamped to it.
    fn shift(&mut self, operation: Operation, ty: Type, a: Value, by: Value) -> Option<Value> {
        let bits = i64::from(ty.bytes() * 8);
        let within = self.b.ins().band_imm_s(by, bits - 1);
        Some(match operation {
            Operation::ShiftRight(ty) if ty.is_signed() => {
                let most = self.b.ins().iconst(I32, bits - 1);
                let by = self.b.ins().umin(by, most);
                self.b.ins().sshr(a, by)
            }
            _ => {
                let shifted = match operation {
                    Operation::ShiftLeft(_) => self.b.ins().ishl(a, within),
                    _ => self.b.ins().ushr(a, within),
                };
                let zero = self.constant_like(a, 0);
                let fits = self.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, by, bits);
                self.b.ins().select(fits, shifted, zero)
            }
        })
    }

    /// Divides integers as the hardware does. Division by zero gives all ones, as quotient and as remainder; the most
    /// negative number divided by -1 gives itself, with remainder 0.
    fn divide(&mut self, ty: Type, a: Value, b: Value, remainder: bool) -> Value {
        let word = self.b.func.dfg.value_type(a);
        let bits = word.bits();
        let is_zero = self.b.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let one = self.b.ins().iconst(word, 1);
        let ones = self.constant(word, u64::MAX);
        let mut divisor = self.b.ins().select(is_zero, one, b);
        if ty.is_signed() {
            let least = self.constant(word, 1 << (bits - 1));
            let is_least = self.b.ins().icmp(IntCC::Equal, a, least);
            let is_minus_one = self.b.ins().icmp(IntCC::Equal, b, ones);
            let overflows = self.b.ins().band(is_least, is_minus_one);
            divisor = self.b.ins().select(overflows, one, divisor);
        }
        let result = match (ty.is_signed(), remainder) {
            (true, false) => self.b.ins().sdiv(a, divisor),
            (true, true) => self.b.ins().srem(a, divisor),
            (false, false) => self.b.ins().udiv(a, divisor),
            (false, true) => self.b.ins().urem(a, divisor),
        };
        self.b.ins().select(is_zero, ones, result)
    }

    /// Converts between integers of 32 bits or less, in vectors or scalars.
    fn resize_word(&mut self, to: Type, from: Type, a: Value) -> Value {
        let mut value = a;
        if from.bytes() < 4 {
            let unused = i64::from(32 - from.bytes() * 8);
            value = match from.is_signed() {
                true => {
                    let up = self.b.ins().ishl_imm_s(value, unused);
                    self.b.ins().sshr_imm_s(up, unused)
                }
                false => {
                    let mask = self.constant_like(value, u64::from(u32::MAX) >> unused);
                    self.b.ins().band(value, mask)
                }
            };
        }
        if to.bytes() < 4 {
            let mask = self.constant_like(value, (1 << (to.bytes() * 8)) - 1);
            value = self.b.ins().band(value, mask);
        }
        value
    }

    /// Converts between integers.
    fn resize(&mut self, to: Type, from: Type, a: Value) -> Option<Value> {
        let ty = self.b.func.dfg.value_type(a);
        Some(match (to.bytes() == 8, from.bytes() == 8) {
            (false, false) => self.resize_word(to, from, a),
            (true, true) => a,
            (true, false) if ty == I32 => {
                let word = self.resize_word(Type::U32, from, a);
                self.extended(word, from.is_signed())
            }
            (false, true) if ty == I64 => {
                let word = self.b.ins().ireduce(I32, a);
                self.resize_word(to, Type::U32, word)
            }
            _ => return None,
        })
    }

    /// Rounds a float towards zero and clamps it to an integer type.
    fn truncate(&mut self, to: Type, from: Type, a: Value) -> Option<Value> {
        let vector = self.b.func.dfg.value_type(a).is_vector();
        let ty = match (to.bytes(), vector) {
            (4, true) if from == Type::F32 => I32X4,
            (_, true) => return None,
            (4, false) => I32,
            _ => I64,
        };
        let x = self.as_float(a);
        let result = match to.is_signed() {
            true => self.b.ins().fcvt_to_sint_sat(ty, x),
            false => self.b.ins().fcvt_to_uint_sat(ty, x),
        };
        // A NaN in single precision converts to 0 if the integer has 32 bits. Every other NaN converts to an integer of
        // which only the top bit is set.
        if to.bytes() == 4 && from == Type::F32 {
            return Some(result);
        }
        let of_nan = self.constant_like(result, 1 << (to.bytes() * 8 - 1));
        let is_nan = self.is_nan(a);
        Some(self.choose(is_nan, of_nan, result))
    }

    /// Computes `1 / sqrt(a)` of single-precision vectors in double precision, rounded.
    fn reciprocal_root(&mut self, a: Value, observed: bool) -> Value {
        const UPPER_HALF: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
        const LOWER_HALVES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
        let bytes = self.cast(I8X16, a);
        let mask = self
            .b
            .func
            .dfg
            .immediates
            .push(ConstantData::from(&UPPER_HALF[..]));
        let upper = self.b.ins().shuffle(bytes, bytes, mask);
        let one = self.b.ins().f64const(1.0);
        let one = self.b.ins().splat(F64X2, one);
        let [low, high] = [bytes, upper].map(|half| {
            let half = self.cast(F32X4, half);
            let half = self.b.ins().fvpromote_low(half);
            let root = self.b.ins().sqrt(half);
            let quotient = self.b.ins().fdiv(one, root);
            let narrow = self.b.ins().fvdemote(quotient);
            self.cast(I8X16, narrow)
        });
        let mask = self
            .b
            .func
            .dfg
            .immediates
            .push(ConstantData::from(&LOWER_HALVES[..]));
        let both = self.b.ins().shuffle(low, high, mask);
        let bits = self.cast(I32X4, both);
        match observed {
            true => self.canonical(bits),
            false => bits,
        }
    }

    /// Returns the smaller or larger of two floats. If one is NaN, the result is the other one; -0 is less than +0.
    fn extremum(&mut self, ty: Type, a: Value, b: Value, larger: bool) -> Value {
        let [x, y] = [a, b].map(|value| self.as_float(value));
        let (first, second) = match larger {
            true => (FloatCC::GreaterThan, FloatCC::LessThan),
            false => (FloatCC::LessThan, FloatCC::GreaterThan),
        };
        // Equal numbers differ at most in the sign of zero.
        let equal = match larger {
            true => self.b.ins().band(a, b),
            false => self.b.ins().bor(a, b),
        };
        let takes_b = self.b.ins().fcmp(second, x, y);
        let other = self.choose(takes_b, b, equal);
        let takes_a = self.b.ins().fcmp(first, x, y);
        let ordered = self.choose(takes_a, a, other);
        let [a_is_nan, b_is_nan] = [a, b].map(|value| self.is_nan(value));
        if ty == Type::F64 {
            let or_b = self.choose(a_is_nan, b, ordered);
            let number = self.choose(b_is_nan, a, or_b);
            let quiet = self.constant_like(b, 1 << 51);
            let quiet = self.b.ins().bor(b, quiet);
            let is_nan = self.is_nan(number);
            return self.choose(is_nan, quiet, number);
        }
        let [a, b] = [a, b].map(|value| self.canonical(value));
        let or_b = self.choose(a_is_nan, b, ordered);
        self.choose(b_is_nan, a, or_b)
    }

    /// Loads an element of `bytes` bytes as a value of type `ty`.
    pub fn load_element(
        &mut self,
        ty: ClifType,
        bytes: u32,
        signed: bool,
        base: Value,
        offset: i32,
    ) -> Value {
        let flags = crate::region::untrusted();
        let narrow = match bytes {
            1 => I8,
            2 => I16,
            _ => return self.b.ins().load(ty, flags, base, offset),
        };
        let value = self.b.ins().load(narrow, flags, base, offset);
        match signed {
            true => self.b.ins().sextend(ty, value),
            false => self.b.ins().uextend(ty, value),
        }
    }
}

/// Returns true for operations whose scalar translation also serves for vectors of the result's type.
fn has_vector_form(operation: Operation) -> bool {
    match operation {
        Operation::Add(_)
        | Operation::Subtract(_)
        | Operation::Multiply(_)
        | Operation::MultiplyAdd(_)
        | Operation::FusedMultiplyAdd(_)
        | Operation::Reciprocal(_)
        | Operation::SquareRoot(_)
        | Operation::Minimum(_)
        | Operation::Maximum(_)
        | Operation::Negate(_)
        | Operation::Absolute(_)
        | Operation::And
        | Operation::Or
        | Operation::Xor
        | Operation::Not
        | Operation::Copy
        | Operation::AddImmediate
        | Operation::Round(_) => true,
        Operation::Divide(ty) => ty.is_float(),
        Operation::FromInteger { to, from } => to == Type::F32 && from.bytes() == 4,
        Operation::Truncate { to, from } => to.bytes() == 4 && from == Type::F32,
        _ => false,
    }
}
