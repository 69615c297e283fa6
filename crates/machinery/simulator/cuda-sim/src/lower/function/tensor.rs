//! Lowering of tensor-core instructions and their loads and stores. Source: PTX ISA sections 9.7.14.5 (`mma`),
//! 9.7.14.5.15 (`ldmatrix`), 9.7.14.5.16 (`stmatrix`) and "Asynchronous warpgroup level matrix instructions"
//! (`wgmma`); and of SIMD video instructions (9.7.17).

use super::FunctionLowering;
use super::memory::{AccessSpace, ResolvedAddress};
use super::operands::{display_name, elements};
use crate::exec::sm::Handler;
use crate::exec::tensor::warpgroup::{Form, MAX_COLUMNS};
use crate::exec::tensor::{
    self, Accumulator, Byte, ByteShape, DoubleShape, Multiplicand, SHAPES, warpgroup,
};
use crate::isa::check_event::CheckEvent;
use crate::isa::{Access, AccessKind, Class, Element, LoadedValue, Memory, Update};
use crate::lower::error::LoadError;
use crate::lower::ir::Register;
use crate::memory::SHARED_WINDOW;
use crate::ptx::ast::{Immediate, Instruction, Operand, Type};

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `mma.sync.aligned.m16n8kK.row.col.D.A.B.C`.
    pub fn mma(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (shape, [d, a, b, c], clamps) = match instruction.modifiers[..] {
            ["sync", "aligned", shape, "row", "col", d, a, b, c] => (shape, [d, a, b, c], false),
            [
                "sync",
                "aligned",
                shape,
                "row",
                "col",
                "satfinite",
                d,
                a,
                b,
                c,
            ] => (shape, [d, a, b, c], true),
            _ => return Err(self.unknown(instruction)),
        };
        if let (Some(left), Some(right)) = (byte_type(a), byte_type(b)) {
            return self.mma_8bit(instruction, shape, (left, right, clamps), [d, c]);
        }
        if clamps {
            return Err(self.unknown(instruction));
        }
        if [d, a, b, c] == ["f64"; 4] {
            return self.mma_f64(instruction, shape);
        }
        let multiplicand = match a {
            "tf32" => Multiplicand::Tf32,
            "f16" => Multiplicand::F16,
            "bf16" => Multiplicand::Bf16,
            _ => return Err(self.unknown(instruction)),
        };
        let (accumulator, ty) = match d {
            "f32" => (Accumulator::F32, Type::F32),
            "f16" => (Accumulator::F16, Type::B32),
            _ => return Err(self.unknown(instruction)),
        };
        let k = match shape {
            "m16n8k4" => 4,
            "m16n8k8" => 8,
            "m16n8k16" => 16,
            _ => return Err(self.unknown(instruction)),
        };
        let form = tensor::ProductShape {
            k,
            multiplicand,
            accumulator,
        };
        let index = SHAPES.iter().position(|shape| *shape == form);
        let (Some(index), true) = (index, a == b && d == c) else {
            return Err(self.unknown(instruction));
        };
        let handler = tensor::handler(self.module.cpu, index);
        self.push_mma(instruction, handler, form.registers(), [ty, Type::B32])?;
        self.last().flops = form.operations();
        Ok(())
    }

    /// Lowers an `mma` of doubles.
    fn mma_f64(&mut self, instruction: &Instruction<'a>, shape: &str) -> Result<(), LoadError> {
        let (rows, k) = match shape {
            "m8n8k4" => (8, 4),
            "m16n8k4" => (16, 4),
            "m16n8k8" => (16, 8),
            "m16n8k16" => (16, 16),
            _ => return Err(self.unknown(instruction)),
        };
        let form = DoubleShape { rows, k };
        let types = [Type::F64; 2];
        self.push_mma(instruction, tensor::doubles, form.registers(), types)?;
        self.last().arg0 = form.packed();
        self.last().flops = 2 * rows * 8 * k / 32;
        Ok(())
    }

    /// Lowers an `mma` of 8-bit elements. Accumulator and result must have the same type.
    fn mma_8bit(
        &mut self,
        instruction: &Instruction<'a>,
        shape: &str,
        (left, right, clamps): (Byte, Byte, bool),
        [d, c]: [&str; 2],
    ) -> Result<(), LoadError> {
        let (rows, k) = match shape {
            "m8n8k16" => (8, 16),
            "m16n8k16" => (16, 16),
            "m16n8k32" => (16, 32),
            _ => return Err(self.unknown(instruction)),
        };
        let form = ByteShape {
            rows,
            k,
            left,
            right,
            clamps,
        };
        let (handler, ty): (Handler, _) = match (form.is_integer(), d) {
            (Some(true), "s32") => (tensor::integers, Type::B32),
            (Some(false), "f32") if rows == 16 && !clamps => (tensor::floats, Type::F32),
            _ => return Err(self.unknown(instruction)),
        };
        if d != c {
            return Err(self.unknown(instruction));
        }
        self.push_mma(instruction, handler, form.registers(), [ty, Type::B32])?;
        self.last().arg0 = form.packed();
        if ty == Type::F32 {
            self.last().flops = 2 * rows * 8 * k / 32;
        }
        Ok(())
    }

    /// Appends an `mma`. `types` are those of the registers of the result and accumulator, and of the multiplicands.
    fn push_mma(
        &mut self,
        instruction: &Instruction<'a>,
        handler: Handler,
        [results, first, second]: [usize; 3],
        [ty, multiplicand]: [Type; 2],
    ) -> Result<(), LoadError> {
        let [d, a, b, c] = &instruction.operands[..] else {
            return Err(self.error(format!("`{}` takes 4 operands", display_name(instruction))));
        };
        let mut defs = Vec::new();
        for part in self.vector_elements(d, results)? {
            defs.push(self.destination(part, ty)?);
        }
        let mut uses = Vec::new();
        for (operand, count, ty) in [
            (a, first, multiplicand),
            (b, second, multiplicand),
            (c, results, ty),
        ] {
            for part in self.vector_elements(operand, count)? {
                uses.push(self.source(part, ty)?);
            }
        }
        self.push(handler, Class::Tensor, &defs, &uses);
        self.last().has_operand_list = true;
        Ok(())
    }

    /// Lowers `ldmatrix.sync.aligned.m8n8.xN{.trans}{.shared}.b16`.
    pub fn ldmatrix(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (count, transposed, space) = self.matrix_form(instruction)?;
        let [to, from] = &instruction.operands[..] else {
            return Err(self.error("`ldmatrix` takes registers and an address"));
        };
        let ResolvedAddress::Register(row, offset) = self.resolve_address(from, space)? else {
            return Err(self.error("`ldmatrix` loads from shared memory"));
        };
        // Rebase generic addresses to shared offsets. An address outside the shared window then lies beyond
        // its end and faults.
        let offset = match space {
            AccessSpace::Generic => offset.wrapping_sub_unsigned(SHARED_WINDOW),
            _ => offset,
        };
        let mut defs: Vec<Register> = Vec::new();
        for part in self.vector_elements(to, count)? {
            defs.push(self.destination(part, Type::B32)?);
        }
        self.push(tensor::load_matrices, Class::Shared, &defs, &[row]);
        self.last().arg0 = tensor::packed_matrices(count, transposed);
        self.set_matrix_access(AccessKind::MatrixLoad, count, offset);
        Ok(())
    }

    /// Lowers `stmatrix.sync.aligned.m8n8.xN{.trans}{.shared}.b16`.
    pub fn stmatrix(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (count, transposed, space) = self.matrix_form(instruction)?;
        let [to, from] = &instruction.operands[..] else {
            return Err(self.error("`stmatrix` takes an address and registers"));
        };
        let (row, offset) = self.shared_address(to, space)?;
        let mut uses: Vec<Register> = vec![row];
        for part in self.vector_elements(from, count)? {
            uses.push(self.source(part, Type::B32)?);
        }
        self.push(tensor::store_matrices, Class::Shared, &[], &uses);
        self.last().arg0 = tensor::packed_matrices(count, transposed);
        self.set_matrix_access(AccessKind::MatrixStore, count, offset);
        Ok(())
    }

    /// Returns the number of matrices of `ldmatrix` or `stmatrix`, true if they are transposed, and the state space.
    /// Shape and count may stand in either order.
    fn matrix_form(
        &self,
        instruction: &Instruction<'a>,
    ) -> Result<(usize, bool, AccessSpace), LoadError> {
        let (count, modifiers) = match &instruction.modifiers[..] {
            ["sync", "aligned", "m8n8", count, rest @ ..]
            | ["sync", "aligned", count, "m8n8", rest @ ..] => (count, rest),
            _ => return Err(self.unknown(instruction)),
        };
        let (transposed, modifiers) = match modifiers {
            ["trans", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let space = match modifiers {
            ["shared" | "shared::cta", "b16"] => AccessSpace::Shared,
            ["b16"] => AccessSpace::Generic,
            _ => return Err(self.unknown(instruction)),
        };
        let count = match *count {
            "x1" => 1,
            "x2" => 2,
            "x4" => 4,
            _ => return Err(self.unknown(instruction)),
        };
        Ok((count, transposed, space))
    }

    /// Sets the access of the `ldmatrix` or `stmatrix` just appended.
    fn set_matrix_access(&mut self, kind: AccessKind, count: usize, offset: i64) {
        let inst = self.last();
        inst.imm = offset as u64;
        inst.access = Some(Access {
            memory: Memory::Shared,
            kind,
            bytes: 4 * count as u32,
            element: Element::WORD,
            // The address follows the destinations.
            address: inst.defs.len(),
            ordered: None,
            loaded: LoadedValue::default(),
            update: Update::default(),
        });
    }

    /// Returns the `count` registers of a vector operand; a single register may be written without braces.
    pub fn vector_elements<'o>(
        &self,
        operand: &'o Operand<'a>,
        count: usize,
    ) -> Result<&'o [Operand<'a>], LoadError> {
        let elements = elements(operand);
        if elements.len() != count {
            return Err(self.error(format!(
                "expected a vector of {count} registers, found {}",
                elements.len()
            )));
        }
        Ok(elements)
    }
}

/// Returns the 8-bit element type that a modifier names.
fn byte_type(name: &str) -> Option<Byte> {
    match name {
        "s8" => Some(Byte::S8),
        "u8" => Some(Byte::U8),
        "e4m3" => Some(Byte::E4m3),
        "e5m2" => Some(Byte::E5m2),
        _ => None,
    }
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `wgmma.fence`, `wgmma.commit_group` and `wgmma.wait_group`.
    pub fn wgmma_sync(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        match (&instruction.modifiers[..], &instruction.operands[..]) {
            (["fence", "sync", "aligned"], []) => {
                self.push(warpgroup::fence, Class::Control, &[], &[]);
            }
            (["commit_group", "sync", "aligned"], []) => {
                self.push(warpgroup::commit, Class::Control, &[], &[]);
            }
            (["wait_group", "sync", "aligned"], [Operand::Immediate(Immediate::Int(groups))])
                if let Ok(groups) = u32::try_from(*groups) =>
            {
                self.push(warpgroup::wait, Class::Control, &[], &[]);
                self.last().arg0 = groups;
                self.last().sync_event = CheckEvent::WgmmaWait;
            }
            (["wait_group", "sync", "aligned"], _) => {
                return Err(self.error("`wgmma.wait_group` takes a literal number of groups"));
            }
            ([_, "sync", "aligned"], _) => {
                let display_name = display_name(instruction);
                return Err(self.error(format!("`{display_name}` takes no operands")));
            }
            _ => return Err(self.unknown(instruction)),
        }
        Ok(())
    }

    /// Lowers `wgmma.mma_async.sync.aligned.m64nNkK.f32.A.B`.
    pub fn wgmma_mma_async(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (shape, ty) = match instruction.modifiers[..] {
            ["mma_async", "sync", "aligned", shape, "f32", a, b] if a == b => (shape, a),
            _ => return Err(self.unknown(instruction)),
        };
        let (multiplicand, k) = match ty {
            "tf32" => (Multiplicand::Tf32, "k8"),
            "f16" => (Multiplicand::F16, "k16"),
            "bf16" => (Multiplicand::Bf16, "k16"),
            _ => return Err(self.unknown(instruction)),
        };
        let columns = shape
            .strip_prefix("m64n")
            .and_then(|rest| rest.strip_suffix(k));
        let n8_tiles = match columns.map(str::parse::<usize>) {
            Some(Ok(columns)) if (8..=MAX_COLUMNS).contains(&columns) && columns % 8 == 0 => {
                columns / 8
            }
            _ => {
                return Err(self.error(format!(
                    "`wgmma` of {ty} has the shapes m64nN{k}, with N a multiple of 8 up to {MAX_COLUMNS}, but not `{shape}`"
                )));
            }
        };
        let [d, a, second, accumulates, scales @ ..] = &instruction.operands[..] else {
            return Err(self.wrong_operands(instruction));
        };
        let shared = !matches!(a, Operand::Vector(_));
        let (signs, transposed) = match (scales, multiplicand, shared) {
            ([a, b], Multiplicand::Tf32, _) => ([a, b], [None, None]),
            ([a, b, second], Multiplicand::F16 | Multiplicand::Bf16, false) => {
                ([a, b], [None, Some(second)])
            }
            ([a, b, first, second], Multiplicand::F16 | Multiplicand::Bf16, true) => {
                ([a, b], [Some(first), Some(second)])
            }
            _ => return Err(self.wrong_operands(instruction)),
        };
        let is_minus = |operand: &Operand<'a>| self.is_second(operand, [1, -1]);
        let is_transposed = |operand: Option<&Operand<'a>>| match operand {
            Some(operand) => self.is_second(operand, [0, 1]),
            None => Ok(false),
        };
        let form = Form {
            column_groups: n8_tiles,
            shared,
            // Two negations cancel out.
            negated: is_minus(signs[0])? != is_minus(signs[1])?,
            transposed: [is_transposed(transposed[0])?, is_transposed(transposed[1])?],
        };
        let mut defs: Vec<Register> = Vec::new();
        for part in self.vector_elements(d, 4 * n8_tiles)? {
            defs.push(self.destination(part, Type::F32)?);
        }
        let mut uses = defs.clone();
        if shared {
            uses.push(self.source(a, Type::B64)?);
        } else {
            for part in self.vector_elements(a, 4)? {
                uses.push(self.source(part, Type::B32)?);
            }
        }
        uses.push(self.source(second, Type::B64)?);
        if matches!(accumulates, Operand::Immediate(_)) {
            self.is_second(accumulates, [0, 1])?;
        }
        uses.push(self.source(accumulates, Type::Pred)?);
        self.push(
            warpgroup::handler(self.module.cpu, multiplicand),
            Class::Warpgroup,
            &defs,
            &uses,
        );
        let inst = self.last();
        // The accumulator is updated in place: results and accumulator inputs are the same registers.
        inst.operands = uses;
        inst.sync_event = CheckEvent::Wgmma;
        inst.has_operand_list = true;
        inst.arg0 = form.packed();
        inst.n8_tiles = n8_tiles as u32;
        inst.flops = form.operations(multiplicand);
        Ok(())
    }

    /// Returns true if the literal is the second of two permitted values, false if it is the first.
    fn is_second(
        &self,
        operand: &Operand<'a>,
        [first, second]: [i64; 2],
    ) -> Result<bool, LoadError> {
        match operand {
            Operand::Immediate(Immediate::Int(value)) if *value == first => Ok(false),
            Operand::Immediate(Immediate::Int(value)) if *value == second => Ok(true),
            _ => Err(self.error(format!(
                "the operands after the matrices of a `wgmma` must be literals: here {first} or {second}"
            ))),
        }
    }

    fn wrong_operands(&self, instruction: &Instruction) -> LoadError {
        let display_name = display_name(instruction);
        self.error(format!(
            "`{display_name}` takes the result, two matrices, a predicate, two signs and, for 16-bit elements, a \
             transposition flag per matrix in shared memory"
        ))
    }
}
