//! Function bodies: statements, instructions and operands. Source: PTX ISA sections 4.2 (statements), 5.4.6
//! (numbered registers), 6.4 (operands), 9.3 (predicated execution) and 11.3 (control flow directives).

use winnow::combinator::{cut_err, repeat, separated};
use winnow::prelude::*;

use super::constant::{ConstantValue, addend, constant, unsigned};
use super::{MAX_NESTING, TOO_DEEP, constant, location, pragma, variable};
use crate::ptx::ast::{
    AddressBase, Guard, Instruction, Linkage, Operand, SourceLocation, Statement, Variable,
};
use crate::ptx::lexer::{TokenKind, Tokens};
use crate::ptx::parser::{
    After, Parsed, Rejection, at_symbol, dotted, expect, peek, peek_dotted, skip, skip_dotted,
    skip_symbol, symbol, word,
};

/// Parses a function's body, including its braces.
pub(super) fn body<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Vec<Statement<'s>>> {
    scope(input, &mut None, MAX_NESTING)
}

/// Parses a scope, including its braces. `location` is the current `.loc`, which persists after the scope;
/// `levels` is the permitted nesting.
fn scope<'s>(
    input: &mut Tokens<'_, 's>,
    location: &mut Option<SourceLocation>,
    levels: u32,
) -> Parsed<'s, Vec<Statement<'s>>> {
    let Some(levels) = levels.checked_sub(1) else {
        return Rejection::refuse(input, TOO_DEEP);
    };
    expect('{').parse_next(input)?;
    let mut statements = Vec::new();
    loop {
        match peek(input).kind {
            TokenKind::Symbol('}') => {
                skip(input);
                return Ok(statements);
            }
            TokenKind::Symbol('{') => {
                statements.push(Statement::Block(scope(input, location, levels)?))
            }
            TokenKind::Dotted => directive(input, location, &mut statements)?,
            TokenKind::Word if is_label(input) => statements.push(label(input)?),
            TokenKind::Word | TokenKind::Symbol('@') => {
                let instruction = instruction(input, *location)?;
                statements.push(Statement::Instruction(instruction));
            }
            _ => return Rejection::demand(input, "a statement or `}`"),
        }
    }
}

/// Returns true if the next word is a label.
fn is_label(input: &Tokens<'_, '_>) -> bool {
    input
        .get(1)
        .is_some_and(|next| next.kind == TokenKind::Symbol(':'))
}

fn directive<'s>(
    input: &mut Tokens<'_, 's>,
    location: &mut Option<SourceLocation>,
    statements: &mut Vec<Statement<'s>>,
) -> Parsed<'s, ()> {
    match peek_dotted(input) {
        Some("loc") => *location = Some(self::location(input)?),
        Some("pragma") => pragma(input)?,
        Some("reg") => registers(input, statements)?,
        Some(name) if variable::is_space(name) => {
            let mut variables = Vec::new();
            variable::declaration(input, Linkage::Internal, &mut variables)?;
            statements.extend(variables.into_iter().map(Statement::Variable));
        }
        _ => return Rejection::demand(input, "a statement or `}`"),
    }
    Ok(())
}

/// Parses `.reg .b32 %r<10>, x;`.
fn registers<'s>(
    input: &mut Tokens<'_, 's>,
    statements: &mut Vec<Statement<'s>>,
) -> Parsed<'s, ()> {
    dotted(input)?;
    let (ty, vector) = variable::register_type(input)?;
    loop {
        let name = cut_err(word).parse_next(input)?;
        let mut count = None;
        if skip_symbol(input, '<') {
            count = Some(unsigned(input)?);
            expect('>')
                .context(After("the number of registers", name))
                .parse_next(input)?;
        }
        statements.push(Statement::Register {
            name,
            count,
            ty,
            vector,
        });
        if !skip_symbol(input, ',') {
            return expect(';')
                .context(After("the register", name))
                .void()
                .parse_next(input);
        }
    }
}

/// Parses `name:` and a `.branchtargets`, `.calltargets` or `.callprototype` that follows it.
fn label<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Statement<'s>> {
    let name = word(input)?;
    expect(':').parse_next(input)?;
    let statement = if skip_dotted(input, "branchtargets") {
        Statement::BranchTargets {
            name,
            labels: names(input)?,
        }
    } else if skip_dotted(input, "calltargets") {
        Statement::CallTargets {
            name,
            functions: names(input)?,
        }
    } else if skip_dotted(input, "callprototype") {
        let (returns, params) = prototype(input)?;
        Statement::CallPrototype {
            name,
            returns,
            params,
        }
    } else {
        return Ok(Statement::Label(name));
    };
    expect(';')
        .context(After("the declaration of", name))
        .parse_next(input)?;
    Ok(statement)
}

fn names<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Vec<&'s str>> {
    separated(1.., cut_err(word), symbol(',')).parse_next(input)
}

/// Parses `(.param .b32 _) _ (.param .b64 _)` into results and parameters.
fn prototype<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, (Vec<Variable<'s>>, Vec<Variable<'s>>)> {
    let returns = variable::formals(input)?;
    cut_err(word).parse_next(input)?;
    let params = variable::formals(input)?;
    loop {
        match peek_dotted(input) {
            Some("noreturn") => drop(dotted(input)?),
            Some("abi_preserve" | "abi_preserve_control") => {
                dotted(input)?;
                unsigned(input)?;
            }
            _ => return Ok((returns, params)),
        }
    }
}

/// Parses an instruction such as `@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];`.
pub(super) fn instruction<'s>(
    input: &mut Tokens<'_, 's>,
    location: Option<SourceLocation>,
) -> Parsed<'s, Instruction<'s>> {
    let guard = guard(input)?;
    let line = peek(input).line;
    let mnemonic = mnemonic(input)?;
    let modifiers = repeat(0.., dotted).parse_next(input)?;
    let operand = if mnemonic == "call" {
        call_operand
    } else {
        operand
    };
    let operands = if starts_operand(input) {
        separated(1.., cut_err(operand), symbol(',')).parse_next(input)?
    } else {
        Vec::new()
    };
    expect(';')
        .context(After("the operands of", mnemonic))
        .parse_next(input)?;
    Ok(Instruction {
        guard,
        mnemonic,
        modifiers,
        operands,
        line,
        location,
    })
}

/// Parses a guard, `@%p1` or `@!%p1`, if there is one.
fn guard<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Option<Guard<'s>>> {
    if !skip_symbol(input, '@') {
        return Ok(None);
    }
    let negated = skip_symbol(input, '!');
    let register = cut_err(word).parse_next(input)?;
    Ok(Some(Guard { register, negated }))
}

fn mnemonic<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, &'s str> {
    let next = peek(input);
    if next.kind == TokenKind::Word
        && next
            .text
            .starts_with(|first: char| first.is_ascii_lowercase())
    {
        word(input)
    } else {
        Rejection::demand(input, "an instruction")
    }
}

/// Returns true if an operand can start here.
fn starts_operand(input: &Tokens<'_, '_>) -> bool {
    constant::starts(input)
        || matches!(
            peek(input).kind,
            TokenKind::Word | TokenKind::Symbol('[' | '{')
        )
}

/// Parses any operand except for the lists of a call.
pub(super) fn operand<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Operand<'s>> {
    match peek(input).kind {
        TokenKind::Symbol('[') => address(input),
        TokenKind::Symbol('{') => Ok(Operand::Vector(enclosed(input, '{', '}')?)),
        TokenKind::Symbol('!')
            if input
                .get(1)
                .is_some_and(|next| next.kind == TokenKind::Word) =>
        {
            skip(input);
            Ok(Operand::Not(word(input)?))
        }
        _ => {
            let first = scalar(input)?;
            if at_symbol(input, '|') {
                pair(input, first)
            } else {
                Ok(first)
            }
        }
    }
}

/// Parses an operand of `call`, in which parentheses enclose results or arguments instead of a constant
/// expression.
fn call_operand<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Operand<'s>> {
    if at_symbol(input, '(') {
        Ok(Operand::List(enclosed(input, '(', ')')?))
    } else {
        operand(input)
    }
}

fn enclosed<'s>(
    input: &mut Tokens<'_, 's>,
    open: char,
    close: char,
) -> Parsed<'s, Vec<Operand<'s>>> {
    expect(open).parse_next(input)?;
    if skip_symbol(input, close) {
        return Ok(Vec::new());
    }
    let scalars = separated(1.., cut_err(scalar), symbol(',')).parse_next(input)?;
    expect(close).parse_next(input)?;
    Ok(scalars)
}

/// Parses `%r1`, `table+4`, `table[2]`, `-5` or `_`.
fn scalar<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Operand<'s>> {
    if at_negated(input) {
        skip(input);
        let name = word(input)?;
        return selected(input, name, true);
    }
    if constant::starts(input) {
        return Ok(Operand::Immediate(constant(input)?.immediate()));
    }
    match word(input) {
        Ok("_") => Ok(Operand::Sink),
        Ok(array) if at_symbol(input, '[') => array_element(input, array),
        Ok(name) => selected(input, name, false),
        Err(_) => Rejection::demand(input, "an operand"),
    }
}

/// Parses the `[2]`, `[%r1]` or `[%r1+2]` after the name of an array.
fn array_element<'s>(input: &mut Tokens<'_, 's>, array: &'s str) -> Parsed<'s, Operand<'s>> {
    expect('[').parse_next(input)?;
    let start = *input;
    let (register, index) = if constant::starts(input) {
        let ConstantValue::Int { bits, .. } = constant(input)? else {
            return Rejection::refuse(&start, "an array index must be an integer");
        };
        (None, bits.cast_signed())
    } else {
        match word(input) {
            Ok(register) => (Some(register), addend(input)?),
            Err(_) => {
                return Rejection::refuse(
                    &start,
                    "an array index is a constant, a register, or a register plus a constant",
                );
            }
        }
    };
    expect(']').parse_next(input)?;
    Ok(Operand::ArrayElement {
        array,
        register,
        index,
    })
}

/// Returns true if the next token is a minus sign before a register, as in `vmad`.
fn at_negated(input: &Tokens<'_, '_>) -> bool {
    at_symbol(input, '-')
        && input
            .get(1)
            .is_some_and(|next| next.kind == TokenKind::Word && next.text != "WARP_SZ")
}

/// Returns true for the selectors of video instructions: `b0`, `h1`, `h32`, `b7654`.
fn is_selector(name: &str) -> bool {
    let is_list = |digits: &str, last: u8| {
        !digits.is_empty() && digits.bytes().all(|digit| (b'0'..=last).contains(&digit))
    };
    match name.split_at_checked(1) {
        Some(("b", digits)) => digits.len() <= 4 && is_list(digits, b'7'),
        Some(("h", digits)) => digits.len() <= 2 && is_list(digits, b'3'),
        _ => false,
    }
}

/// Parses the selector after the register of a video instruction, if there is one.
fn selected<'s>(
    input: &mut Tokens<'_, 's>,
    name: &'s str,
    negated: bool,
) -> Parsed<'s, Operand<'s>> {
    match peek_dotted(input) {
        Some(selector) if is_selector(selector) => {
            skip(input);
            Ok(Operand::Selected {
                name,
                negated,
                selector,
            })
        }
        _ if negated => Ok(Operand::Negated(name)),
        _ => Ok(Operand::Name {
            name,
            offset: addend(input)?,
        }),
    }
}

/// Parses the remainder of `%p1|%p2`. Either name may be `_`.
fn pair<'s>(input: &mut Tokens<'_, 's>, first: Operand<'s>) -> Parsed<'s, Operand<'s>> {
    let first = match first {
        Operand::Name { name, offset: 0 } => name,
        Operand::Sink => "_",
        _ => return Rejection::demand(input, "`,` or `;`"),
    };
    expect('|').parse_next(input)?;
    Ok(Operand::Pair(first, cut_err(word).parse_next(input)?))
}

/// Parses `[%rd1+8]`, `[table]` or `[1024]`.
fn address<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Operand<'s>> {
    expect('[').parse_next(input)?;
    let start = *input;
    let (base, offset) = if constant::starts(input) {
        let ConstantValue::Int { bits, .. } = constant(input)? else {
            return Rejection::refuse(&start, "an address must be an integer");
        };
        (AddressBase::Absolute, bits.cast_signed())
    } else {
        match word(input) {
            Ok(name) => (AddressBase::Name(name), addend(input)?),
            Err(_) => return Rejection::demand(input, "an address"),
        }
    };
    if at_symbol(input, ',') {
        return texel(input, base, offset);
    }
    expect(']').parse_next(input)?;
    Ok(Operand::Address { base, offset })
}

/// Parses the coordinates of a texture or surface after its name: `, {%f1, %f2}]`, or a single one without
/// braces.
fn texel<'s>(
    input: &mut Tokens<'_, 's>,
    base: AddressBase<'s>,
    offset: i64,
) -> Parsed<'s, Operand<'s>> {
    let AddressBase::Name(image) = base else {
        return Rejection::refuse(
            input,
            "texture coordinates must follow the texture's handle",
        );
    };
    if offset != 0 {
        return Rejection::refuse(input, "a texture handle cannot have an offset");
    }
    expect(',').parse_next(input)?;
    let coordinates = match at_symbol(input, '{') {
        true => enclosed(input, '{', '}')?,
        false => vec![scalar(input)?],
    };
    if at_symbol(input, ',') {
        return Rejection::refuse(
            input,
            "separate samplers and tensor coordinates are not supported",
        );
    }
    expect(']').parse_next(input)?;
    Ok(Operand::TextureCoordinates { image, coordinates })
}
