//! Lowering of video instructions, whose operands are parts of registers. Source: PTX ISA, sections "Scalar Video
//! Instructions" and "SIMD Video Instructions".

use super::FunctionLowering;
use super::operands::display_name;
use crate::exec::ops::Form;
use crate::exec::ops::video::{
    self, MultiplyAddForm, Part, ScalarForm, ScalarOperation, SecondaryOperation, VideoForm,
    VideoOperation,
};
use crate::exec::sm::Handler;
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::ptx::ast::{Instruction, Operand, Type};

const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// An operand of a video instruction.
struct Selected<'a> {
    register: Operand<'a>,
    selector: Option<&'a str>,
    negated: bool,
}

impl<'a> Selected<'a> {
    fn of(operand: &Operand<'a>) -> Selected<'a> {
        let (register, selector, negated) = match *operand {
            Operand::Selected {
                name,
                negated,
                selector,
            } => (Operand::Name { name, offset: 0 }, Some(selector), negated),
            Operand::Negated(name) => (Operand::Name { name, offset: 0 }, None, true),
            ref other => (other.clone(), None, false),
        };
        Selected {
            register,
            selector,
            negated,
        }
    }
}

/// Takes the types of the result, of a and of b; `vset` has none for its result.
fn signs(form: &Form, has_result: bool) -> Option<[bool; 3]> {
    let sign = || {
        let ty = form.ty_among(&[Type::U32, Type::S32]);
        ty.map(Type::is_signed).ok()
    };
    let result = match has_result {
        true => sign()?,
        false => false,
    };
    Some([result, sign()?, sign()?])
}

/// Returns the elements that the digits of a selector such as `h10` or `b3210` name, lowest element first.
fn element_list(selector: &str, kind: char, elements: usize) -> Option<[u8; 4]> {
    let digits = selector.strip_prefix(kind)?;
    if digits.len() != elements {
        return None;
    }
    let mut list = [0; 4];
    for (element, digit) in list.iter_mut().zip(digits.bytes().rev()) {
        *element = digit - b'0';
    }
    let limit = 2 * elements as u8;
    list.iter().all(|&element| element < limit).then_some(list)
}

/// Returns the mask of elements that a selector such as `h1` or `b20` names, in descending order.
fn element_mask(selector: &str, kind: char, elements: usize) -> Option<u32> {
    let digits = selector.strip_prefix(kind)?.as_bytes();
    let is_descending = digits.windows(2).all(|pair| pair[0] > pair[1]);
    let in_range = |digit: &u8| usize::from(digit - b'0') < elements;
    (is_descending && digits.iter().all(in_range)).then(|| {
        digits
            .iter()
            .fold(0, |mask, digit| mask | 1 << (digit - b'0'))
    })
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers a SIMD video instruction, such as `vadd4.u32.u32.u32.sat d, a, b, c`.
    pub fn simd_video(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (name, elements) = (instruction.mnemonic).split_at(instruction.mnemonic.len() - 1);
        let elements = if elements == "4" { 4 } else { 2 };
        let kind = if elements == 4 { 'b' } else { 'h' };
        let form = Form::new(&instruction.modifiers, instruction.operands.len());
        let comparison = form.one_of(&COMPARISONS);
        let [saturates, accumulates] = ["sat", "add"].map(|modifier| form.has(modifier));
        let (Some(operation), Some(signed), Ok(()), false) = (
            VideoOperation::of(name, comparison),
            signs(&form, name != "vset"),
            form.end(),
            saturates && (name == "vset" || accumulates),
        ) else {
            return Err(self.unknown(instruction));
        };
        let operands = self.video_operands(instruction, 4)?;
        let mut mask = (1 << elements) - 1;
        if let Some(selector) = operands[0].selector {
            mask = element_mask(selector, kind, elements)
                .ok_or_else(|| self.no_selector(instruction, selector))?;
        }
        let mut selected = VideoForm::default_selections(elements as u32);
        for (selection, operand) in selected.iter_mut().zip(&operands[1..]) {
            if let Some(selector) = operand.selector {
                *selection = element_list(selector, kind, elements)
                    .ok_or_else(|| self.no_selector(instruction, selector))?;
            }
        }
        let form = VideoForm {
            operation,
            elements: elements as u32,
            signed,
            saturates,
            accumulates,
            mask,
            selected,
        };
        self.push_video(video::simd, &operands, form.packed())
    }

    /// Lowers a scalar video instruction other than `vmad`, such as `vsub.s32.u32.s32.sat.max d, a.b0, b.h1, c`.
    pub fn scalar_video(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let name = instruction.mnemonic;
        let form = Form::new(&instruction.modifiers, instruction.operands.len());
        let comparison = form.one_of(&COMPARISONS);
        let saturates = form.has("sat");
        let secondary = match form.one_of(&["add", "min", "max"]) {
            None => SecondaryOperation::None,
            Some("add") => SecondaryOperation::Add,
            Some("min") => SecondaryOperation::Min,
            Some(_) => SecondaryOperation::Max,
        };
        let mode = form.one_of(&["clamp", "wrap"]);
        let operation = match name {
            "vshl" => Some(ScalarOperation::ShiftLeft),
            "vshr" => Some(ScalarOperation::ShiftRight),
            _ => VideoOperation::of(name, comparison).map(ScalarOperation::Common),
        };
        let is_shift = name == "vshl" || name == "vshr";
        let (Some(operation), Some(signed), Ok(()), true) = (
            operation,
            signs(&form, name != "vset"),
            form.end(),
            mode.is_some() == is_shift && !(saturates && name == "vset"),
        ) else {
            return Err(self.unknown(instruction));
        };
        if is_shift && signed[2] {
            return Err(self.unknown(instruction));
        }
        let has_selector = matches!(instruction.operands.first(), Some(Operand::Selected { .. }));
        let is_secondary = secondary != SecondaryOperation::None;
        if is_secondary && has_selector {
            return Err(self.error(format!(
                "`{}`: a secondary operation cannot be combined with a part of the destination",
                display_name(instruction)
            )));
        }
        let count = if is_secondary || has_selector { 4 } else { 3 };
        let operands = self.video_operands(instruction, count)?;
        let mut parts = [Part::Word; 3];
        for (part, operand) in parts.iter_mut().zip(&operands) {
            *part = self.part(instruction, operand.selector)?;
        }
        let form = ScalarForm {
            operation,
            signed,
            parts,
            saturates,
            secondary,
            wraps: mode == Some("wrap"),
        };
        self.push_video(video::scalar, &operands, form.packed())
    }

    /// Lowers `vmad`, such as `vmad.s32.s32.u32.sat.shr7 d, a.h0, -b.b1, c`.
    pub fn video_multiply_add(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = Form::new(&instruction.modifiers, instruction.operands.len());
        let [saturates, plus_one] = ["sat", "po"].map(|modifier| form.has(modifier));
        let scale = match form.one_of(&["shr7", "shr15"]) {
            None => 0,
            Some("shr7") => 7,
            Some(_) => 15,
        };
        let (Some([_, a_signed, b_signed]), Ok(())) = (signs(&form, true), form.end()) else {
            return Err(self.unknown(instruction));
        };
        let mut operands = self.video_operands(instruction, 4)?;
        let negated = [1, 2, 3].map(|index| std::mem::take(&mut operands[index].negated));
        let negates_product = negated[0] != negated[1];
        if plus_one && negated.contains(&true) || negates_product && negated[2] {
            return Err(self.error(format!(
                "`{}`: only the product or the third source can be negated, and none with `.po`",
                display_name(instruction)
            )));
        }
        let [a, b] = [&operands[1], &operands[2]].map(|operand| operand.selector);
        let parts = [self.part(instruction, a)?, self.part(instruction, b)?];
        let form = MultiplyAddForm {
            signed: [a_signed, b_signed],
            parts,
            negates_product,
            negates_addend: negated[2],
            plus_one,
            scale,
            saturates,
        };
        self.push_video(video::multiply_add, &operands, form.packed())
    }

    /// Returns the operands of a video instruction. The last one, c, is a literal 0 if it is not written.
    fn video_operands(
        &self,
        instruction: &Instruction<'a>,
        count: usize,
    ) -> Result<Vec<Selected<'a>>, LoadError> {
        if instruction.operands.len() != count {
            return Err(self.operand_count_error(instruction, count));
        }
        let mut operands: Vec<_> = instruction.operands.iter().map(Selected::of).collect();
        let last = operands.get(3).and_then(|operand| operand.selector);
        if let Some(selector) = last {
            return Err(self.no_selector(instruction, selector));
        }
        operands.resize_with(4, || {
            Selected::of(&Operand::Immediate(crate::ptx::ast::Immediate::Int(0)))
        });
        Ok(operands)
    }

    /// Returns the part of a register that a selector of a scalar instruction names.
    fn part(&self, instruction: &Instruction, selector: Option<&str>) -> Result<Part, LoadError> {
        match selector {
            None => Ok(Part::Word),
            Some(selector) => {
                Part::named(selector).ok_or_else(|| self.no_selector(instruction, selector))
            }
        }
    }

    fn no_selector(&self, instruction: &Instruction, selector: &str) -> LoadError {
        self.error(format!(
            "`{}`: `.{selector}` is not a selector of this operand",
            display_name(instruction)
        ))
    }

    fn push_video(
        &mut self,
        handler: Handler,
        operands: &[Selected<'a>],
        form: u64,
    ) -> Result<(), LoadError> {
        if operands.iter().any(|operand| operand.negated) {
            return Err(self.error("only `vmad` negates registers"));
        }
        let Some((to, from)) = operands.split_first() else {
            return Ok(());
        };
        let to = self.destination(&to.register, Type::B32)?;
        let mut uses = Vec::new();
        for operand in from {
            uses.push(self.source(&operand.register, Type::B32)?);
        }
        self.push(handler, Class::Integer, &[to], &uses);
        self.last().imm = form;
        Ok(())
    }
}
