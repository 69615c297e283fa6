//! Lowering of warpgroup matrix multiplication. Source: PTX ISA, section "Asynchronous warpgroup level matrix
//! instructions" (`wgmma`).

use super::FunctionLowering;
use super::operands::display_name;
use crate::exec::tensor::Multiplicand;
use crate::exec::tensor::warpgroup::{self, Form, MAX_COLUMNS};
use crate::isa::Class;
use crate::isa::check_event::CheckEvent;
use crate::lower::error::LoadError;
use crate::lower::register::Register;
use crate::ptx::ast::{Immediate, Instruction, Operand, Type};

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
        let columns = shape.strip_prefix("m64n");
        let columns = columns.and_then(|rest| rest.strip_suffix(k));
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
            defs.push(self.destination(&part, Type::F32)?);
        }
        let mut uses = defs.clone();
        if shared {
            uses.push(self.source(a, Type::B64)?);
        } else {
            for part in self.vector_elements(a, 4)? {
                uses.push(self.source(&part, Type::B32)?);
            }
        }
        uses.push(self.source(second, Type::B64)?);
        if matches!(accumulates, Operand::Immediate(_)) {
            self.is_second(accumulates, [0, 1])?;
        }
        uses.push(self.source(accumulates, Type::Pred)?);
        self.push(
            warpgroup::handler(self.cpu, multiplicand),
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
