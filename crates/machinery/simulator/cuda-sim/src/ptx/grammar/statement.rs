//! Function bodies. Source: PTX ISA sections 4.2 (statements), 5.4.6 (numbered registers) and 11.3 (control
//! flow directives).

use winnow::combinator::{cut_err, separated};
use winnow::prelude::*;

use super::constant::unsigned;
use super::directive::{location, pragma};
use super::{MAX_NESTING, TOO_DEEP, instruction, variable};
use crate::ptx::ast::{Linkage, SourceLocation, Statement, Variable};
use crate::ptx::rejection::{After, Parsed, Rejection};
use crate::ptx::take::{
    dotted, expect, peek, peek_dotted, skip, skip_dotted, skip_symbol, symbol, word,
};
use crate::ptx::token::{TokenKind, Tokens};

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
                let instruction = instruction::instruction(input, *location)?;
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
