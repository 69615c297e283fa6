//! Variables, formal parameters and initializers. Source: PTX ISA section 5.4.

use winnow::combinator::{cut_err, separated};
use winnow::prelude::*;

use super::constant::{ConstantValue, addend, constant, unsigned};
use super::{MAX_NESTING, TOO_DEEP, attribute, constant};
use crate::ptx::ast::{ImageReference, Initializer, Linkage, StateSpace, Type, Variable};
use crate::ptx::lexer::{TokenKind, Tokens};
use crate::ptx::parser::{
    After, Parsed, Rejection, at_symbol, dotted, expect, peek, peek_dotted, skip, skip_dotted,
    skip_symbol, symbol, word,
};

const NO_SAMPLERS: &str = "separate samplers (`texmode_independent`) are not supported";
const NOT_GLOBAL: &str =
    "texture and surface references are supported only as variables of the module in `.global`";
const NOT_PLAIN: &str =
    "arrays and initial values of texture and surface references are not supported";

/// The part of a declaration that precedes the names and applies to all of them.
#[derive(Clone, Copy)]
struct Specifiers {
    space: StateSpace,
    register: bool,
    managed: bool,
    linkage: Linkage,
    align: u32,
    ty: Type,
    reference: Option<ImageReference>,
    vector: u32,
}

/// The type of the handle that stands for a reference.
const HANDLE: Type = Type::B64;

/// Returns true if `.name` is a state space for variables.
pub(super) fn is_space(name: &str) -> bool {
    space(name).is_some()
}

fn space(name: &str) -> Option<StateSpace> {
    Some(match name {
        "const" => StateSpace::Const,
        "global" => StateSpace::Global,
        "local" => StateSpace::Local,
        "param" => StateSpace::Param,
        "shared" | "shared::cta" => StateSpace::Shared,
        _ => return None,
    })
}

/// Parses `.global .align 4 .f32 a[4] = {…}, b;` into one variable per name.
pub(super) fn declaration<'s>(
    input: &mut Tokens<'_, 's>,
    linkage: Linkage,
    variables: &mut Vec<Variable<'s>>,
) -> Parsed<'s, ()> {
    let specifiers = specifiers(input, linkage)?;
    loop {
        let mut variable = declarator(input, specifiers)?;
        let is_plain = variable.dims.is_empty() && !at_symbol(input, '<') && !at_symbol(input, '=');
        if specifiers.reference.is_some() && !is_plain {
            return Rejection::refuse(input, NOT_PLAIN);
        }
        if variable.dims.is_empty() && skip_symbol(input, '<') {
            range(input, &mut variable)?;
        } else if skip_symbol(input, '=') {
            initializer(input, &mut variable)?;
        }
        let name = variable.name;
        variables.push(variable);
        if !skip_symbol(input, ',') {
            return expect(';')
                .context(After("the variable", name))
                .void()
                .parse_next(input);
        }
    }
}

/// Maximum number of variables that one parameterized name declares.
const MAX_RANGE: u32 = 1 << 16;

/// Parses the `3>` of a parameterized name such as `p<3>`, which may be neither an array nor initialized (PTX
/// ISA section 5.4.6).
fn range<'s>(input: &mut Tokens<'_, 's>, variable: &mut Variable<'s>) -> Parsed<'s, ()> {
    let start = *input;
    let count = unsigned(input)?;
    expect('>')
        .context(After("the number of variables", variable.name))
        .parse_next(input)?;
    if count > MAX_RANGE {
        return Rejection::refuse(&start, "a parameterized name is limited to 65536 variables");
    }
    if at_symbol(input, '=') || at_symbol(input, '[') {
        return Rejection::refuse(
            input,
            "a parameterized name can be neither an array nor initialized",
        );
    }
    variable.dims = vec![count.into()];
    variable.is_range = true;
    Ok(())
}

/// Parses `(.param .b64 a, .reg .u32 b)`, or nothing.
pub(super) fn formals<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Vec<Variable<'s>>> {
    if !skip_symbol(input, '(') {
        return Ok(Vec::new());
    }
    if skip_symbol(input, ')') {
        return Ok(Vec::new());
    }
    let formals: Vec<_> = separated(1.., cut_err(formal), symbol(',')).parse_next(input)?;
    let last = formals.last().map_or("", |formal: &Variable| formal.name);
    expect(')')
        .context(After("the parameter", last))
        .parse_next(input)?;
    Ok(formals)
}

/// Parses `.param .u64 .ptr .global .align 8 a`.
fn formal<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Variable<'s>> {
    let specifiers = match peek_dotted(input) {
        Some("reg") => register_formal(input)?,
        Some("param") => specifiers(input, Linkage::Internal)?,
        _ => return Rejection::demand(input, "a parameter, `.param` or `.reg`"),
    };
    declarator(input, specifiers)
}

fn register_formal<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Specifiers> {
    dotted(input)?;
    let (ty, vector) = register_type(input)?;
    // A predicate has no size in memory but needs an alignment.
    let align = ty.bytes().max(1);
    if vector > 1 {
        return Rejection::refuse(input, "a register parameter cannot be a vector");
    }
    Ok(Specifiers {
        space: StateSpace::Param,
        register: true,
        managed: false,
        linkage: Linkage::Internal,
        align,
        ty,
        reference: None,
        vector: 1,
    })
}

/// Parses the type after `.reg` and its vector length.
pub(super) fn register_type<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, (Type, u32)> {
    let vector = match peek_dotted(input) {
        Some("v2") => skip_and(input, 2),
        Some("v4") => skip_and(input, 4),
        _ => 1,
    };
    match peek_dotted(input).and_then(Type::from_modifier) {
        Some(found) => Ok((skip_and(input, found), vector)),
        None => Rejection::demand(input, "the type of the register"),
    }
}

fn specifiers<'s>(input: &mut Tokens<'_, 's>, linkage: Linkage) -> Parsed<'s, Specifiers> {
    if skip_dotted(input, "tex") {
        return old_texture(input, linkage);
    }
    let Some(space) = peek_dotted(input).and_then(space) else {
        return Rejection::demand(input, "a state space");
    };
    skip(input);
    let (mut align, mut vector, mut managed) = (None, 1, false);
    let mut reference = None;
    let ty = loop {
        match peek_dotted(input) {
            Some("align") => align = Some(alignment(input)?),
            Some("v2") => vector = skip_and(input, 2),
            Some("v4") => vector = skip_and(input, 4),
            Some("texref" | "surfref") if space != StateSpace::Global => {
                return Rejection::refuse(input, NOT_GLOBAL);
            }
            Some("texref") => {
                reference = Some(ImageReference::Texture);
                break skip_and(input, HANDLE);
            }
            Some("surfref") => {
                reference = Some(ImageReference::Surface);
                break skip_and(input, HANDLE);
            }
            Some("samplerref") => return Rejection::refuse(input, NO_SAMPLERS),
            Some("attribute") => managed |= attribute(input)?,
            Some("pred") => {
                return Rejection::refuse(input, "predicates exist only in registers");
            }
            name => match name.and_then(Type::from_modifier) {
                Some(found) => break skip_and(input, found),
                None => return Rejection::demand(input, "the type of the variable"),
            },
        }
    };
    if skip_dotted(input, "ptr") {
        pointee(input)?;
    }
    let align = align.unwrap_or(ty.bytes() * vector);
    Ok(Specifiers {
        space,
        register: false,
        managed,
        linkage,
        align,
        ty,
        reference,
        vector,
    })
}

/// Parses the type of `.tex .u32 t`, as PTX 1.x declares the texture reference `.global .texref t`.
fn old_texture<'s>(input: &mut Tokens<'_, 's>, linkage: Linkage) -> Parsed<'s, Specifiers> {
    match peek_dotted(input).and_then(Type::from_modifier) {
        Some(_) => skip(input),
        None => return Rejection::demand(input, "the type of the variable"),
    }
    Ok(Specifiers {
        space: StateSpace::Global,
        register: false,
        managed: false,
        linkage,
        align: HANDLE.bytes(),
        ty: HANDLE,
        reference: Some(ImageReference::Texture),
        vector: 1,
    })
}

fn skip_and<T>(input: &mut Tokens<'_, '_>, value: T) -> T {
    skip(input);
    value
}

/// Skips `.global .align 4` after `.ptr`, which describes the target of a pointer parameter.
fn pointee<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ()> {
    if peek_dotted(input).is_some_and(is_space) {
        skip(input);
    }
    if peek_dotted(input) == Some("align") {
        alignment(input)?;
    }
    Ok(())
}

fn alignment<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, u32> {
    dotted(input)?;
    let start = *input;
    let align = unsigned(input)?;
    if align.is_power_of_two() {
        Ok(align)
    } else {
        Rejection::refuse(&start, "an alignment must be a power of two")
    }
}

/// Parses the name of a variable and its array dimensions.
fn declarator<'s>(input: &mut Tokens<'_, 's>, specifiers: Specifiers) -> Parsed<'s, Variable<'s>> {
    let line = peek(input).line;
    let name = cut_err(word).parse_next(input)?;
    let mut dims = Vec::new();
    while skip_symbol(input, '[') {
        let start = *input;
        let size = if !skip_symbol(input, ']') {
            let ConstantValue::Int { bits, unsigned } = constant::constant(input)? else {
                return Rejection::refuse(&start, "this must be an integer");
            };
            if !unsigned && bits.cast_signed() < 0 {
                return Rejection::refuse(&start, "an array cannot have a negative size");
            }
            expect(']')
                .context(After("the size of", name))
                .parse_next(input)?;
            bits
        } else if dims.is_empty() {
            0
        } else {
            return Rejection::refuse(&start, "only the first size of an array may be left out");
        };
        dims.push(size);
    }
    let Specifiers {
        space,
        register,
        managed,
        linkage,
        align,
        ty,
        reference,
        vector,
    } = specifiers;
    Ok(Variable {
        name,
        space,
        register,
        managed,
        linkage,
        align,
        ty,
        reference,
        vector,
        dims,
        is_range: false,
        init: Vec::new(),
        line,
    })
}

const INVALID_BYTE_MASK: &str = "the mask before an address must select one byte: 0xff, 0xff00, …";

/// Parses an initializer into `variable.init`, and sets the first dimension of the array if it was omitted.
pub(super) fn initializer<'s>(
    input: &mut Tokens<'_, 's>,
    variable: &mut Variable<'s>,
) -> Parsed<'s, ()> {
    if !at_symbol(input, '{') {
        variable.init.push(value(input)?);
        return Ok(());
    }
    let vector = u64::from(variable.vector);
    let rows = row_lengths(&variable.dims, vector);
    braces(input, &rows, &mut variable.init, MAX_NESTING)?;
    if let (Some(first @ 0), Some(&row)) = (variable.dims.first_mut(), rows.first()) {
        *first = (variable.init.len() as u64).div_ceil(row.max(1));
    }
    Ok(())
}

/// Returns the number of values in one row of each dimension: `[12, 4]` for `.v4` values in `[2][3]`.
fn row_lengths(dims: &[u64], vector: u64) -> Vec<u64> {
    let mut length = vector;
    let mut rows = vec![0; dims.len()];
    for (row, &size) in rows.iter_mut().zip(dims).rev() {
        *row = length;
        length = length.saturating_mul(size);
    }
    rows
}

/// Parses `{1, 2}` or `{{1, 2}, {3}}`. Only the last row may be incomplete: padding incomplete rows would let
/// a short text demand any amount of memory.
fn braces<'s>(
    input: &mut Tokens<'_, 's>,
    rows: &[u64],
    values: &mut Vec<Initializer<'s>>,
    levels: u32,
) -> Parsed<'s, ()> {
    let Some(levels) = levels.checked_sub(1) else {
        return Rejection::refuse(input, TOO_DEEP);
    };
    expect('{').parse_next(input)?;
    if skip_symbol(input, '}') {
        return Ok(());
    }
    loop {
        if at_symbol(input, '{') {
            let (row, before) = (*input, values.len());
            let [row_length, inner @ ..] = rows else {
                return Rejection::refuse(&row, "the array has fewer dimensions than this");
            };
            braces(input, inner, values, levels)?;
            let actual = (values.len() - before) as u64;
            if actual > *row_length {
                return Rejection::refuse(&row, "this row has more values than the array");
            }
            if actual < *row_length && at_symbol(input, ',') {
                return Rejection::refuse(&row, "only the last row may be incomplete");
            }
        } else {
            values.push(value(input)?);
        }
        if !skip_symbol(input, ',') {
            return expect('}').void().parse_next(input);
        }
    }
}

fn value<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, Initializer<'s>> {
    if !constant::starts(input) {
        return address(input, None);
    }
    let start = *input;
    let value = constant(input)?;
    if !skip_symbol(input, '(') {
        return Ok(Initializer::Value(value.immediate()));
    }
    let mask = match value {
        ConstantValue::Int { bits, .. } if is_byte(bits) => bits,
        _ => return Rejection::refuse(&start, INVALID_BYTE_MASK),
    };
    let address = address(input, Some(mask))?;
    expect(')').parse_next(input)?;
    Ok(address)
}

/// Returns true if the mask selects one byte of a 64-bit word.
fn is_byte(mask: u64) -> bool {
    (0..8).any(|byte| mask == 0xff << (8 * byte))
}

/// Parses `name+4` or `generic(name)+4`.
fn address<'s>(input: &mut Tokens<'_, 's>, mask: Option<u64>) -> Parsed<'s, Initializer<'s>> {
    if peek(input).kind != TokenKind::Word {
        return Rejection::demand(input, "a value");
    }
    let start = *input;
    let name = word(input)?;
    if !skip_symbol(input, '(') {
        return Ok(Initializer::Address {
            symbol: name,
            addend: addend(input)?,
            generic: false,
            mask,
        });
    }
    if name != "generic" {
        return Rejection::refuse(&start, "the only operator on addresses is `generic`");
    }
    let symbol = cut_err(word).parse_next(input)?;
    expect(')')
        .context(After("the variable", symbol))
        .parse_next(input)?;
    Ok(Initializer::Address {
        symbol,
        addend: addend(input)?,
        generic: true,
        mask,
    })
}
