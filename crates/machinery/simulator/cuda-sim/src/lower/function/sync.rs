//! Lowering of warp-level instructions: `shfl`, `vote`, `match`, `redux`, `activemask`, `elect`. Source: PTX
//! ISA sections 9.7.9.6 and 9.7.13.

use super::FunctionLowering;
use super::operands::form_of;
use crate::exec::ops::Form;
use crate::exec::sync;
use crate::exec::sync::{Redux, Shuffle, Vote};
use crate::isa::Class;
use crate::isa::check_event::{CheckEvent, ShuffleExchange, WarpSync};
use crate::lower::error::LoadError;
use crate::lower::ir::Register;
use crate::ptx::ast::{Instruction, Operand, Type};

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `activemask`.
    pub fn active_mask(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, _) = self.form_and_sync(instruction);
        let [to] = &instruction.operands[..] else {
            return Err(self.operand_count_error(instruction, 1));
        };
        if form.ty() != Ok(Type::B32) {
            return Err(self.unknown(instruction));
        }
        let to = self.destination(to, Type::B32)?;
        self.push(sync::active_mask, Class::Integer, &[to], &[]);
        self.check_all_consumed(&form, instruction)
    }

    /// Lowers `match`.
    pub fn find_match(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, _) = self.form_and_sync(instruction);
        let all = form.one_of(&["any", "all"]) == Some("all");
        let Ok(ty @ (Type::B32 | Type::B64)) = form.ty() else {
            return Err(self.unknown(instruction));
        };
        let [to, value, members] = &instruction.operands[..] else {
            return Err(self.operand_count_error(instruction, 3));
        };
        let (to, flag) = self.pair(to, Type::B32)?;
        let value = self.source(value, ty)?;
        let members = self.source(members, Type::B32)?;
        self.push(
            sync::find_match,
            Class::Integer,
            &[to, flag],
            &[value, members],
        );
        self.mark_warp_sync(3);
        self.last().arg0 = u32::from(all);
        self.last().arg1 = u32::from(ty == Type::B64);
        self.check_all_consumed(&form, instruction)
    }

    /// Lowers `elect`.
    pub fn elect(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, _) = self.form_and_sync(instruction);
        let [to, members] = &instruction.operands[..] else {
            return Err(self.operand_count_error(instruction, 2));
        };
        let (to, flag) = self.pair(to, Type::B32)?;
        let members = self.source(members, Type::B32)?;
        self.push(sync::elect, Class::Integer, &[to, flag], &[members]);
        self.mark_warp_sync(2);
        self.check_all_consumed(&form, instruction)
    }

    /// Returns the instruction's form and whether it has the modifier `.sync`.
    fn form_and_sync(&self, instruction: &Instruction<'a>) -> (Form<'a>, bool) {
        let form = form_of(instruction);
        let has_sync = form.has("sync");
        (form, has_sync)
    }

    /// Fails if a modifier of the form was not consumed.
    fn check_all_consumed(&self, form: &Form, instruction: &Instruction) -> Result<(), LoadError> {
        form.end().map_err(|_| self.unknown(instruction))
    }

    /// Marks the instruction just appended as a synchronization of the lanes in operand `members`.
    fn mark_warp_sync(&mut self, members: usize) {
        self.last().sync_event = CheckEvent::WarpSync(WarpSync {
            members,
            any_instruction: false,
            shuffle: None,
        });
    }

    pub fn operand_count_error(&self, instruction: &Instruction, expected: usize) -> LoadError {
        self.error(format!(
            "`{}` takes {expected} operands",
            super::operands::display_name(instruction)
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
        let (form, has_sync) = self.form_and_sync(instruction);
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
        let expected = 4 + usize::from(has_sync);
        let operands = &instruction.operands[..];
        if operands.len() != expected {
            return Err(self.operand_count_error(instruction, expected));
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
                self.push(sync::running_lanes, Class::Integer, &[running], &[]);
                running
            }
        };
        let uses = [value, lane, clamp, members];
        self.push(sync::shuffle, Class::Integer, &[to, flag], &uses);
        if has_sync {
            self.mark_warp_sync(5);
            if let CheckEvent::WarpSync(warp_sync) = &mut self.last().sync_event {
                warp_sync.shuffle = Some(ShuffleExchange {
                    indexed: matches!(kind, Shuffle::Butterfly | Shuffle::Index),
                    result_used: false,
                });
            }
        }
        self.last().arg0 = kind as u32;
        self.check_all_consumed(&form, instruction)
    }

    /// Lowers `vote`.
    pub fn vote(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, has_sync) = self.form_and_sync(instruction);
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
        let expected = 2 + usize::from(has_sync);
        let operands = &instruction.operands[..];
        if operands.len() != expected {
            return Err(self.operand_count_error(instruction, expected));
        }
        let to = self.destination(&operands[0], ty)?;
        let predicate = self.source(&operands[1], Type::Pred)?;
        let members = match operands.get(2) {
            Some(operand) => self.source(operand, Type::B32)?,
            None => self.literal(Type::B32, u64::from(u32::MAX)),
        };
        self.push(sync::vote, Class::Integer, &[to], &[predicate, members]);
        if has_sync {
            self.mark_warp_sync(2);
        }
        self.last().arg0 = kind as u32;
        self.last().imm = u64::from(!has_sync);
        self.check_all_consumed(&form, instruction)
    }

    /// Lowers `redux`.
    pub fn redux(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (form, _) = self.form_and_sync(instruction);
        let [abs, nan] = ["abs", "NaN"].map(|name| form.has(name));
        let name = form.one_of(&["add", "min", "max", "and", "or", "xor"]);
        let operation = match (name, form.ty()) {
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
        let is_float = matches!(operation, Redux::MinFloat | Redux::MaxFloat);
        if (abs || nan) && !is_float {
            return Err(self.unknown(instruction));
        }
        let [to, value, members] = &instruction.operands[..] else {
            return Err(self.operand_count_error(instruction, 3));
        };
        let to = self.destination(to, Type::B32)?;
        let value = self.source(value, Type::B32)?;
        let members = self.source(members, Type::B32)?;
        self.push(sync::reduce, Class::Integer, &[to], &[value, members]);
        self.mark_warp_sync(2);
        self.last().arg0 = operation as u32;
        self.last().imm = u64::from(abs) | u64::from(nan) << 1;
        self.check_all_consumed(&form, instruction)
    }
}
