//! The grammar: modules, functions and, in the submodules, everything inside of them. Source: PTX ISA sections
//! 11.1 (`.version`, `.target`, `.address_size`), 11.2 (`.entry`, `.func`), 11.4 (performance directives) and
//! 11.6 (linking directives).
//!
//! Every rule is selected by the next token or two, so that no text is parsed twice, and the nesting is
//! limited, so that no text overflows the stack.

mod constant;
mod directive;
mod statement;
mod variable;

use winnow::combinator::cut_err;
use winnow::error::ParserError;
use winnow::prelude::*;
use winnow::stream::TokenSlice;

use super::ast::{Alias, Function, Linkage, Module, Target};
use super::lexer::{Token, TokenKind, Tokens};
use super::parser::{
    After, Parsed, Rejection, at_symbol, dotted, expect, number, peek, peek_dotted, skip,
    skip_dotted, skip_symbol, word,
};
use constant::unsigned;
use directive::{attribute, file, location, pragma, section};

/// Maximum nesting of scopes, parentheses or braces.
const MAX_NESTING: u32 = 64;
const TOO_DEEP: &str = "nesting is limited to 64 levels";

/// Parses the tokens of a module.
pub(super) fn module<'s>(tokens: &[Token<'s>]) -> Result<Module<'s>, Rejection<'s>> {
    let mut input = TokenSlice::new(tokens);
    module_scope(&mut input).map_err(|error| {
        error
            .into_inner()
            .unwrap_or_else(|_| Rejection::from_input(&input))
    })
}

/// Parses the whole module: its header, then its declarations and directives.
fn module_scope<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Module<'s>> {
    let mut module = Module {
        version: version(input)?,
        target: target(input)?,
        files: Vec::new(),
        variables: Vec::new(),
        functions: Vec::new(),
        aliases: Vec::new(),
    };
    address_size(input)?;
    while peek(input).kind != TokenKind::End {
        match peek_dotted(input) {
            Some("file") => module.files.push(file(input)?),
            Some("loc") => drop(location(input)?),
            Some("section") => section(input)?,
            Some("pragma") => pragma(input)?,
            Some("alias") => module.aliases.push(alias(input)?),
            Some(_) => declaration(input, &mut module)?,
            None => return Rejection::demand(input, "a variable, a function or a directive"),
        }
    }
    Ok(module)
}

/// Parses `.version 6.4`.
fn version<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, (u32, u32)> {
    if !skip_dotted(input, "version") {
        return Rejection::demand(input, "`.version` at the start of the module");
    }
    let start = *input;
    let text = cut_err(number).parse_next(input)?;
    let halves = text
        .split_once('.')
        .map(|(major, minor)| (major.parse(), minor.parse()));
    match halves {
        Some((Ok(major), Ok(minor))) => Ok((major, minor)),
        _ => Rejection::refuse(&start, "a PTX version has the form 6.4"),
    }
}

/// Parses `.target sm_90a, debug`.
fn target<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Target<'s>> {
    if !skip_dotted(input, "target") {
        return Rejection::demand(input, "`.target` after `.version`");
    }
    let start = *input;
    let name = cut_err(word).parse_next(input)?;
    let number = name.strip_prefix("sm_").unwrap_or_default();
    let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
    let Ok(sm) = digits.parse() else {
        return Rejection::refuse(&start, "a target has the form sm_52 or sm_90a");
    };
    while skip_symbol(input, ',') {
        cut_err(word)
            .context(After("the comma of", ".target"))
            .parse_next(input)?;
    }
    Ok(Target { sm, name })
}

/// Parses `.address_size 64`. If it is missing, 64 is assumed, the only size that current PTX supports.
fn address_size<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    if skip_dotted(input, "address_size") {
        let start = *input;
        if unsigned(input)? != 64 {
            return Rejection::refuse(&start, "only 64-bit addresses are supported");
        }
    }
    Ok(())
}

/// Parses `.alias name, function;`.
fn alias<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Alias<'s>> {
    let line = peek(input).line;
    dotted(input)?;
    let name = cut_err(word).parse_next(input)?;
    expect(',')
        .context(After("the alias", name))
        .parse_next(input)?;
    let function = cut_err(word).parse_next(input)?;
    expect(';')
        .context(After("the function", function))
        .parse_next(input)?;
    Ok(Alias {
        name,
        function,
        line,
    })
}

/// Parses a variable or a function with its linkage.
fn declaration<'s>(input: &mut Tokens<'_, 's>, module: &mut Module<'s>) -> Parsed<'s, ()> {
    let linkage = match peek_dotted(input) {
        Some("visible") => Linkage::Visible,
        Some("extern") => Linkage::Extern,
        Some("weak") => Linkage::Weak,
        Some("common") => Linkage::Common,
        _ => Linkage::Internal,
    };
    if linkage != Linkage::Internal {
        dotted(input)?;
    }
    match peek_dotted(input) {
        Some("entry" | "func") => module.functions.push(function(input, linkage)?),
        Some(name) if variable::is_space(name) || name == "tex" => {
            variable::declaration(input, linkage, &mut module.variables)?;
        }
        _ => return Rejection::demand(input, "a variable, a function or a directive"),
    }
    Ok(())
}

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
        required_cluster: None,
        explicit_cluster: false,
        max_cluster_rank: None,
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
/// registers per thread and clusters are recorded.
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
            "reqnctapercluster" => function.required_cluster = Some(extent(input)?),
            "minnctapersm" => function.min_blocks_per_sm = Some(unsigned(input)?),
            "maxnreg" => function.max_registers = Some(unsigned(input)?),
            "maxclusterrank" => function.max_cluster_rank = Some(unsigned(input)?),
            "maxnctapersm" | "abi_preserve" | "abi_preserve_control" => {
                unsigned(input)?;
            }
            "explicitcluster" => function.explicit_cluster = true,
            "blocksareclusters" => {}
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
