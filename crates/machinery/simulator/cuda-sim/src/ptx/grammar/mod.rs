//! The grammar: modules, functions, debugging directives and, in the submodules, everything inside of functions. Source: PTX
//! ISA sections 11.1 (`.version`, `.target`, `.address_size`), 11.2 (`.entry`, `.func`), 11.4 (performance directives,
//! `.pragma`), 11.5 (debugging directives) and 11.6 (linking directives).
//!
//! Every rule is selected by the next token or two, so that no text is parsed twice, and the nesting is
//! limited, so that no text overflows the stack.

mod constant;
mod statement;
mod variable;

use winnow::combinator::{cut_err, separated};
use winnow::error::ParserError;
use winnow::prelude::*;
use winnow::stream::TokenSlice;

use super::ast::{Alias, Function, Linkage, Module, SourceLocation, Target};
use super::lexer::{Token, TokenKind, Tokens};
use super::parser::{
    self, After, Parsed, Rejection, at_symbol, dotted, expect, number, peek, peek_dotted, skip,
    skip_dotted, skip_symbol, symbol, word,
};
use constant::unsigned;

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

/// Parses `.file 1 "kernels/k.cu", 1700000000, 1234`. The time stamp and the size are ignored.
pub(super) fn file<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, (u32, String)> {
    dotted(input)?;
    let index = unsigned(input)?;
    let path = cut_err(parser::text).parse_next(input)?;
    while skip_symbol(input, ',') {
        cut_err(number).parse_next(input)?;
    }
    Ok((index, unescape(path)))
}

/// Reverses the escapes of LLVM's assembly writer: `\\`, `\"` and octal bytes such as `\303`.
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

/// Parses `.loc 1 5 3`, optionally followed by `, function_name …, inlined_at 1 20 9`. The result is the
/// location of the inlined code; the location of its caller is ignored.
pub(super) fn location<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, SourceLocation> {
    dotted(input)?;
    let file_line_column = file_line_column(input)?;
    while skip_symbol(input, ',') {
        let attribute = *input;
        match cut_err(word).parse_next(input)? {
            "function_name" => {
                cut_err(word).parse_next(input)?;
                if skip_symbol(input, '+') {
                    unsigned(input)?;
                }
            }
            "inlined_at" => drop(self::file_line_column(input)?),
            _ => return Rejection::demand(&attribute, "`function_name` or `inlined_at`"),
        }
    }
    Ok(file_line_column)
}

/// Parses a file index, a line and a column.
fn file_line_column<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, SourceLocation> {
    Ok(SourceLocation {
        file: unsigned(input)?,
        line: unsigned(input)?,
        column: unsigned(input)?,
    })
}

/// Skips `.section .debug_abbrev { … }`.
pub(super) fn section<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    dotted(input)?;
    let Ok(name) = dotted(input) else {
        return Rejection::demand(input, "the name of the section");
    };
    expect('{')
        .context(After("the section", name))
        .parse_next(input)?;
    let mut open = 1_usize;
    while open > 0 {
        match peek(input).kind {
            TokenKind::Symbol('{') => open += 1,
            TokenKind::Symbol('}') => open -= 1,
            TokenKind::End => {
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

/// Parses `.attribute(.managed, .unified(1, 2))`, and returns true if it contains `.managed`.
pub(super) fn attribute<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, bool> {
    dotted(input)?;
    let mut is_managed = false;
    let start = *input;
    expect('(')
        .context(After("the directive", ".attribute"))
        .parse_next(input)?;
    let mut open = 1_usize;
    while open > 0 {
        match peek(input).kind {
            TokenKind::Symbol('(') => open += 1,
            TokenKind::Symbol(')') => open -= 1,
            TokenKind::Symbol(',') | TokenKind::Number => {}
            TokenKind::Dotted if peek(input).text == ".managed" => is_managed = true,
            TokenKind::Dotted if peek(input).text == ".unified" => {}
            TokenKind::End => return Rejection::refuse(&start, "this is not closed"),
            _ => return Rejection::demand(input, "`.managed` or `.unified(…)`"),
        }
        skip(input);
    }
    Ok(is_managed)
}

/// Skips `.pragma "nounroll", …;`, which is a hint to the assembler.
pub(super) fn pragma<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    dotted(input)?;
    separated::<_, _, (), _, _, _, _>(1.., cut_err(parser::text), symbol(',')).parse_next(input)?;
    expect(';')
        .context(After("the strings of", ".pragma"))
        .void()
        .parse_next(input)
}
