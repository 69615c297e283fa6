//! Kernels and functions. Source: PTX ISA sections 11.2 (`.entry`, `.func`) and 11.4 (performance directives).

use winnow::combinator::cut_err;
use winnow::prelude::*;

use super::constant::unsigned;
use super::directive::{attribute, pragma};
use super::{statement, variable};
use crate::ptx::ast::{Function, Linkage};
use crate::ptx::rejection::{Parsed, Rejection};
use crate::ptx::take::{at_symbol, dotted, peek, peek_dotted, skip, skip_symbol, word};
use crate::ptx::token::Tokens;

/// Parses a function from `.entry` or `.func` to the closing brace, or to the semicolon of a declaration.
pub(super) fn function<'s>(
    input: &mut Tokens<'_, 's>,
    linkage: Linkage,
) -> Parsed<'s, Function<'s>> {
    let line = peek(input).line;
    let entry = dotted(input)? == "entry";
    if peek_dotted(input) == Some("attribute") {
        attribute(input)?;
    }
    let returns = if entry {
        Vec::new()
    } else {
        variable::formals(input)?
    };
    let name = cut_err(word).parse_next(input)?;
    let params = variable::formals(input)?;
    let mut function = Function {
        name,
        entry,
        linkage,
        noreturn: false,
        returns,
        params,
        max_threads: None,
        required_threads: None,
        min_blocks_per_sm: None,
        max_registers: None,
        body: None,
        line,
    };
    directives(input, &mut function)?;
    if at_symbol(input, '{') {
        function.body = Some(statement::body(input)?);
    } else if !skip_symbol(input, ';') {
        return Rejection::demand(input, "the body of the function, or `;`");
    }
    Ok(function)
}

/// Parses the directives between the parameters and the body. Thread limits and limits that determine the
/// registers per thread are recorded; cluster directives are ignored, because the simulator has no clusters.
fn directives<'s>(input: &mut Tokens<'_, 's>, function: &mut Function<'s>) -> Parsed<'s, ()> {
    while let Some(name) = peek_dotted(input) {
        match name {
            "pragma" => {
                pragma(input)?;
                continue;
            }
            "attribute" => {
                attribute(input)?;
                continue;
            }
            _ => {}
        }
        let start = *input;
        skip(input);
        match name {
            "noreturn" => function.noreturn = true,
            "maxntid" => function.max_threads = Some(extent(input)?),
            "reqntid" => function.required_threads = Some(extent(input)?),
            "reqnctapercluster" => drop(extent(input)?),
            "minnctapersm" => function.min_blocks_per_sm = Some(unsigned(input)?),
            "maxnreg" => function.max_registers = Some(unsigned(input)?),
            "maxnctapersm" | "maxclusterrank" | "abi_preserve" | "abi_preserve_control" => {
                unsigned(input)?;
            }
            "explicitcluster" | "blocksareclusters" => {}
            _ => return Rejection::demand(&start, "the body of the function, or `;`"),
        }
    }
    Ok(())
}

/// Parses `256`, `16, 16` or `8, 8, 4`. Missing dimensions are 1.
fn extent<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, [u32; 3]> {
    let mut extent = [unsigned(input)?, 1, 1];
    for size in &mut extent[1..] {
        if skip_symbol(input, ',') {
            *size = unsigned(input)?;
        }
    }
    Ok(extent)
}
