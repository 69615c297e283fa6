//! Tensor cores and what feeds them. Source: PTX ISA, sections 9.7.14.5 (`mma`) and 9.7.14.5.15
//! (`ldmatrix`).

use super::Lowering;
use super::access::{At, Place};
use super::operands::written;
use crate::exec::tensor::{Accumulator, Multiplicand, SHAPES};
use crate::exec::{matrix, tensor};
use crate::isa::{Access, AccessKind, Class, Memory, Update};
use crate::lower::error::LoadError;
use crate::lower::register::Register;
use crate::ptx::ast::{Instruction, Operand, Type};

impl<'a> Lowering<'_, 'a> {
    /// `mma.sync.aligned.m16n8kK.row.col.D.A.B.C`
    pub fn multiply_matrices(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let &["sync", "aligned", shape, "row", "col", d, a, b, c] = &instruction.modifiers[..]
        else {
            return Err(self.unknown(instruction));
        };
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
        let deep = match shape {
            "m16n8k4" => 4,
            "m16n8k8" => 8,
            "m16n8k16" => 16,
            _ => return Err(self.unknown(instruction)),
        };
        let form = tensor::ProductShape {
            deep,
            multiplicand,
            accumulator,
        };
        let number = SHAPES.iter().position(|known| *known == form);
        let (Some(number), true) = (number, a == b && d == c) else {
            return Err(self.unknown(instruction));
        };
        let [d, a, b, c] = &instruction.operands[..] else {
            return Err(self.error(format!("`{}` takes 4 operands", written(instruction))));
        };
        let [results, first, second] = form.registers();
        let mut defs = Vec::new();
        for part in self.parts(d, results)? {
            defs.push(self.destination(&part, ty)?);
        }
        let mut uses = Vec::new();
        for (operand, count, ty) in [
            (a, first, Type::B32),
            (b, second, Type::B32),
            (c, results, ty),
        ] {
            for part in self.parts(operand, count)? {
                uses.push(self.source(&part, ty)?);
            }
        }
        let run = tensor::handler(self.cpu, number);
        self.draft(run, Class::Tensor, &defs, &uses);
        let draft = self.last();
        draft.listed = true;
        draft.operations = form.operations();
        Ok(())
    }

    /// `ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16`
    pub fn load_matrices(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let ["sync", "aligned", "m8n8", count, modifiers @ ..] = &instruction.modifiers[..] else {
            return Err(self.unknown(instruction));
        };
        let transposed = match modifiers {
            ["shared" | "shared::cta", "b16"] => false,
            ["trans", "shared" | "shared::cta", "b16"] => true,
            _ => return Err(self.unknown(instruction)),
        };
        let matrices = match *count {
            "x1" => 1,
            "x2" => 2,
            "x4" => 4,
            _ => return Err(self.unknown(instruction)),
        };
        let [to, from] = &instruction.operands[..] else {
            return Err(self.error("`ldmatrix` takes registers and an address"));
        };
        let Place::Register(row, offset) = self.place(from, At::Shared)? else {
            return Err(self.error("`ldmatrix` loads from shared memory"));
        };
        let mut defs: Vec<Register> = Vec::new();
        for part in self.parts(to, matrices)? {
            defs.push(self.destination(&part, Type::B32)?);
        }
        self.draft(matrix::load, Class::Shared, &defs, &[row]);
        let draft = self.last();
        draft.x = matrix::packed(matrices, transposed);
        draft.imm = offset as u64;
        draft.access = Some(Access {
            memory: Memory::Shared,
            kind: AccessKind::MatrixLoad,
            bytes: 4 * matrices as u32,
            address: matrices,
            ordered: None,
            update: Update::default(),
        });
        Ok(())
    }

    /// A vector's registers, as many as there have to be; one may stand without braces.
    fn parts(&self, operand: &Operand<'a>, count: usize) -> Result<Vec<Operand<'a>>, LoadError> {
        let parts = match operand {
            Operand::Vector(parts) => parts.clone(),
            single => vec![single.clone()],
        };
        if parts.len() != count {
            return Err(self.error(format!(
                "a vector of {} registers stands where the instruction wants {count}",
                parts.len()
            )));
        }
        Ok(parts)
    }
}
