//! Module scope: PTX ISA sections 11.1 (`.version`, `.target`, `.address_size`), 11.5 (debugging
//! directives) and 11.6 (linking directives).

use winnow::combinator::{cut_err, separated};
use winnow::prelude::*;

use super::constant::unsigned;
use super::{function, variable};
use crate::ptx::ast::{Linkage, Location, Module, Target};
use crate::ptx::error::{After, Fault};
use crate::ptx::token;
use crate::ptx::token::{
    Kind, Parsed, Tokens, dotted, expect, number, peek, peek_dotted, skip, skip_dotted,
    skip_symbol, symbol, word,
};

pub(super) fn module<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Module<'s>> {
    let mut module = Module {
        version: version(input)?,
        target: target(input)?,
        files: Vec::new(),
        variables: Vec::new(),
        functions: Vec::new(),
    };
    address_size(input)?;
    while peek(input).kind != Kind::End {
        match peek_dotted(input) {
            Some("file") => module.files.push(file(input)?),
            Some("loc") => drop(location(input)?),
            Some("section") => section(input)?,
            Some("pragma") => pragma(input)?,
            Some("alias") => return Fault::refuse(input, "aliases of functions are not supported"),
            Some(_) => declaration(input, &mut module)?,
            None => return Fault::demand(input, "a variable, a function or a directive"),
        }
    }
    Ok(module)
}

/// `.version 6.4`
fn version<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, (u32, u32)> {
    if !skip_dotted(input, "version") {
        return Fault::demand(input, "`.version` at the start of the module");
    }
    let start = *input;
    let text = cut_err(number).parse_next(input)?;
    let halves = text
        .split_once('.')
        .map(|(major, minor)| (major.parse(), minor.parse()));
    match halves {
        Some((Ok(major), Ok(minor))) => Ok((major, minor)),
        _ => Fault::refuse(&start, "a version of PTX looks like 6.4"),
    }
}

/// `.target sm_90a, debug`
fn target<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Target<'s>> {
    if !skip_dotted(input, "target") {
        return Fault::demand(input, "`.target` after `.version`");
    }
    let start = *input;
    let name = cut_err(word).parse_next(input)?;
    let digits = name.strip_prefix("sm_").unwrap_or_default();
    let digits = digits.strip_suffix(['a', 'f']).unwrap_or(digits);
    let Ok(sm) = digits.parse() else {
        return Fault::refuse(&start, "a target looks like sm_52 or sm_90a");
    };
    while skip_symbol(input, ',') {
        cut_err(word)
            .context(After("the comma of", ".target"))
            .parse_next(input)?;
    }
    Ok(Target { sm, name })
}

/// `.address_size 64`. Where it is missing we take 64, the only size there still is.
fn address_size<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    if skip_dotted(input, "address_size") {
        let start = *input;
        if unsigned(input)? != 64 {
            return Fault::refuse(&start, "addresses have 64 bits");
        }
    }
    Ok(())
}

/// `.file 1 "kernels/k.cu", 1700000000, 1234`: the time stamp and the size are dropped.
fn file<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, (u32, String)> {
    dotted(input)?;
    let index = unsigned(input)?;
    let path = cut_err(token::text).parse_next(input)?;
    while skip_symbol(input, ',') {
        cut_err(number).parse_next(input)?;
    }
    Ok((index, unescape(path)))
}

/// Takes back the escapes of LLVM's assembly writer: `\\`, `\"` and bytes as `\303`.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return String::from_utf8_lossy(&bytes).into_owned(),
            [
                b'\\',
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                rest @ ..,
            ] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            [b'\\', quoted @ (b'\\' | b'"'), rest @ ..] => {
                bytes.push(*quoted);
                rest
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        }
    }
}

/// `.loc 1 5 3`, where `, function_name …, inlined_at 1 20 9` may follow: the place is that of the
/// inlined code, and its caller's is dropped.
pub(super) fn location<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Location> {
    dotted(input)?;
    let place = place(input)?;
    while skip_symbol(input, ',') {
        let attribute = *input;
        match cut_err(word).parse_next(input)? {
            "function_name" => {
                cut_err(word).parse_next(input)?;
                if skip_symbol(input, '+') {
                    unsigned(input)?;
                }
            }
            "inlined_at" => drop(self::place(input)?),
            _ => return Fault::demand(&attribute, "`function_name` or `inlined_at`"),
        }
    }
    Ok(place)
}

/// File, line and column.
fn place<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Location> {
    Ok(Location {
        file: unsigned(input)?,
        line: unsigned(input)?,
        column: unsigned(input)?,
    })
}

/// `.section .debug_abbrev { … }`, skipped.
fn section<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    dotted(input)?;
    let Ok(name) = dotted(input) else {
        return Fault::demand(input, "the name of the section");
    };
    expect('{')
        .context(After("the section", name))
        .parse_next(input)?;
    let mut open = 1_usize;
    while open > 0 {
        match peek(input).kind {
            Kind::Symbol('{') => open += 1,
            Kind::Symbol('}') => open -= 1,
            Kind::End => {
                return expect('}')
                    .context(After("the section", name))
                    .void()
                    .parse_next(input);
            }
            _ => {}
        }
        skip(input);
    }
    Ok(())
}

/// `.pragma "nounroll", …;`: advice to an assembler, skipped.
pub(super) fn pragma<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    dotted(input)?;
    separated::<_, _, (), _, _, _, _>(1.., cut_err(token::text), symbol(',')).parse_next(input)?;
    expect(';')
        .context(After("the strings of", ".pragma"))
        .void()
        .parse_next(input)
}

/// A variable or a function, with its linkage.
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
        Some("tex") => return Fault::refuse(input, variable::NO_TEXTURES),
        _ => return Fault::demand(input, "a variable, a function or a directive"),
    }
    Ok(())
}
