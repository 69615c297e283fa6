//! Lowering of warp-level instructions: `shfl`, `vote`, `match`, `redux`, `activemask`, `elect`. Source: PTX
//! ISA
//! sections 9.7.9.6 and 9.7.13.

use super::Lowering;
use super::operands::form_of;
use crate::exec::ops::Form;
use crate::exec::sync;
use crate::exec::sync::{Redux, Shuffle, Vote};
use crate::isa::Class;
use crate::isa::check_event::{Checked, Meeting, Shuffled};
use crate::lower::error::LoadError;
use crate::lower::register::Register;
use crate::ptx::ast::{Instruction, Operand, Type};

impl<'a> Lowering<'_, 'a> {
    /// Lowers `activemask`.
    pub fn active_mask(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, _) = self.synchronised(instruction);
        let [to] = &instruction.operands[..] else {
            return Err(self.count(instruction, 1));
        };
        if form.ty() != Ok(Type::B32) {
            return Err(self.unknown(instruction));
        }
        let to = self.destination(to, Type::B32)?;
        self.draft(sync::active_mask, Class::Integer, &[to], &[]);
        self.all_said(&form, instruction)
    }

    /// Lowers `match`.
    pub fn find_match(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, _) = self.synchronised(instruction);
        let all = form.one_of(&["any", "all"]) == Some("all");
        let Ok(ty @ (Type::B32 | Type::B64)) = form.ty() else {
            return Err(self.unknown(instruction));
        };
        let [to, value, members] = &instruction.operands[..] else {
            return Err(self.count(instruction, 3));
        };
        let (to, flag) = self.pair(to, Type::B32)?;
        let value = self.source(value, ty)?;
        let members = self.source(members, Type::B32)?;
        self.draft(
            sync::find_match,
            Class::Integer,
            &[to, flag],
            &[value, members],
        );
        self.meet(3);
        self.last().x = u32::from(all);
        self.last().y = u32::from(ty == Type::B64);
        self.all_said(&form, instruction)
    }

    /// Lowers `elect`.
    pub fn elect(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, _) = self.synchronised(instruction);
        let [to, members] = &instruction.operands[..] else {
            return Err(self.count(instruction, 2));
        };
        let (to, flag) = self.pair(to, Type::B32)?;
        let members = self.source(members, Type::B32)?;
        self.draft(sync::elect, Class::Integer, &[to, flag], &[members]);
        self.meet(2);
        self.all_said(&form, instruction)
    }

    /// Returns the instruction's form and whether it has the modifier `.sync`.
    fn synchronised(&self, instruction: &Instruction<'a>) -> (Form<'a>, bool) {
        let form = form_of(instruction);
        let synchronised = form.has("sync");
        (form, synchronised)
    }

    /// Fails if a modifier of the form was not consumed.
    fn all_said(&self, form: &Form, instruction: &Instruction) -> Result<(), LoadError> {
        form.end().map_err(|_| self.unknown(instruction))
    }

    /// Marks the instruction just appended as a synchronization of the lanes in operand `members`.
    fn meet(&mut self, members: usize) {
        self.last().orders = Checked::Warp(Meeting {
            members,
            anywhere: false,
            shuffle: None,
        });
    }

    fn count(&self, instruction: &Instruction, wanted: usize) -> LoadError {
        self.error(format!(
            "`{}` takes {wanted} operands",
            super::operands::written(instruction)
        ))
    }

    /// Returns the registers of `d|p`. The predicate may be omitted.
    fn pair(&mut self, operand: &Operand<'a>, ty: Type) -> Result<(Register, Register), LoadError> {
        match operand {
            Operand::Pair(to, flag) => {
                let name = |name| Operand::Name { name, offset: 0 };
                let to = self.destination(&name(to), ty)?;
                let flag = self.destination(&name(flag), Type::Pred)?;
                Ok((to, flag))
            }
            single => Ok((self.destination(single, ty)?, self.temporary(Type::Pred))),
        }
    }

    /// Lowers `shfl`.
    pub fn shuffle(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, synchronised) = self.synchronised(instruction);
        let kind = match form.one_of(&["up", "down", "bfly", "idx"]) {
            Some("up") => Shuffle::Up,
            Some("down") => Shuffle::Down,
            Some("bfly") => Shuffle::Butterfly,
            Some(_) => Shuffle::Index,
            None => return Err(self.unknown(instruction)),
        };
        if form.ty() != Ok(Type::B32) {
            return Err(self.unknown(instruction));
        }
        let wanted = 4 + usize::from(synchronised);
        let operands = &instruction.operands[..];
        if operands.len() != wanted {
            return Err(self.count(instruction, wanted));
        }
        let (to, flag) = self.pair(&operands[0], Type::B32)?;
        let value = self.source(&operands[1], Type::B32)?;
        let lane = self.source(&operands[2], Type::B32)?;
        let clamp = self.source(&operands[3], Type::B32)?;
        let members = match operands.get(4) {
            Some(operand) => self.source(operand, Type::B32)?,
            // The deprecated form without `.sync` applies to the active lanes.
            None => {
                let running = self.temporary(Type::B32);
                self.draft(sync::active_mask, Class::Integer, &[running], &[]);
                running
            }
        };
        let uses = [value, lane, clamp, members];
        self.draft(sync::shuffle, Class::Integer, &[to, flag], &uses);
        if synchronised {
            self.meet(5);
            if let Checked::Warp(meeting) = &mut self.last().orders {
                meeting.shuffle = Some(Shuffled {
                    by_number: matches!(kind, Shuffle::Butterfly | Shuffle::Index),
                    used: false,
                });
            }
        }
        self.last().x = kind as u32;
        self.all_said(&form, instruction)
    }

    /// Lowers `vote`.
    pub fn vote(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, synchronised) = self.synchronised(instruction);
        let (kind, ty) = match form.one_of(&["all", "any", "uni", "ballot"]) {
            Some("all") => (Vote::All, Type::Pred),
            Some("any") => (Vote::Any, Type::Pred),
            Some("uni") => (Vote::Uniform, Type::Pred),
            Some(_) => (Vote::Ballot, Type::B32),
            None => return Err(self.unknown(instruction)),
        };
        if form.ty() != Ok(ty) {
            return Err(self.unknown(instruction));
        }
        let wanted = 2 + usize::from(synchronised);
        let operands = &instruction.operands[..];
        if operands.len() != wanted {
            return Err(self.count(instruction, wanted));
        }
        let to = self.destination(&operands[0], ty)?;
        let predicate = self.source(&operands[1], Type::Pred)?;
        let members = match operands.get(2) {
            Some(operand) => self.source(operand, Type::B32)?,
            None => self.literal(Type::B32, u64::from(u32::MAX)),
        };
        self.draft(sync::vote, Class::Integer, &[to], &[predicate, members]);
        if synchronised {
            self.meet(2);
        }
        self.last().x = kind as u32;
        self.last().imm = u64::from(!synchronised);
        self.all_said(&form, instruction)
    }

    /// Lowers `redux`.
    pub fn redux(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, _) = self.synchronised(instruction);
        let [abs, nan] = ["abs", "NaN"].map(|name| form.has(name));
        let operation = form.one_of(&["add", "min", "max", "and", "or", "xor"]);
        let operation = match (operation, form.ty()) {
            (Some("add"), Ok(Type::U32 | Type::S32)) => Redux::Add,
            (Some("min"), Ok(Type::U32)) => Redux::MinUnsigned,
            (Some("max"), Ok(Type::U32)) => Redux::MaxUnsigned,
            (Some("min"), Ok(Type::S32)) => Redux::MinSigned,
            (Some("max"), Ok(Type::S32)) => Redux::MaxSigned,
            (Some("and"), Ok(Type::B32)) => Redux::And,
            (Some("or"), Ok(Type::B32)) => Redux::Or,
            (Some("xor"), Ok(Type::B32)) => Redux::Xor,
            (Some("min"), Ok(Type::F32)) => Redux::MinFloat,
            (Some("max"), Ok(Type::F32)) => Redux::MaxFloat,
            _ => return Err(self.unknown(instruction)),
        };
        let of_floats = matches!(operation, Redux::MinFloat | Redux::MaxFloat);
        if (abs || nan) && !of_floats {
            return Err(self.unknown(instruction));
        }
        let [to, value, members] = &instruction.operands[..] else {
            return Err(self.count(instruction, 3));
        };
        let to = self.destination(to, Type::B32)?;
        let value = self.source(value, Type::B32)?;
        let members = self.source(members, Type::B32)?;
        self.draft(sync::reduce, Class::Integer, &[to], &[value, members]);
        self.meet(2);
        self.last().x = operation as u32;
        self.last().imm = u64::from(abs) | u64::from(nan) << 1;
        self.all_said(&form, instruction)
    }
}
