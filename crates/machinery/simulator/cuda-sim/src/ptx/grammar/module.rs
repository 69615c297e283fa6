//! Module scope. Source: PTX ISA sections 11.1 (`.version`, `.target`, `.address_size`) and 11.6 (linking
//! directives).

use winnow::combinator::cut_err;
use winnow::prelude::*;

use super::constant::unsigned;
use super::directive::{file, location, pragma, section};
use super::{function, variable};
use crate::ptx::ast::{Alias, Linkage, Module, Target};
use crate::ptx::rejection::{After, Parsed, Rejection};
use crate::ptx::take::{dotted, expect, number, peek, peek_dotted, skip_dotted, skip_symbol, word};
use crate::ptx::token::{TokenKind, Tokens};

pub(super) fn module<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Module<'s>> {
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
    let digits = name.strip_prefix("sm_").unwrap_or_default();
    let digits = digits.strip_suffix(['a', 'f']).unwrap_or(digits);
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
        Some("entry" | "func") => module.functions.push(function::function(input, linkage)?),
        Some(name) if variable::is_space(name) => {
            variable::declaration(input, linkage, &mut module.variables)?;
        }
        Some("tex") => return Rejection::refuse(input, variable::NO_TEXTURES),
        _ => return Rejection::demand(input, "a variable, a function or a directive"),
    }
    Ok(())
}
