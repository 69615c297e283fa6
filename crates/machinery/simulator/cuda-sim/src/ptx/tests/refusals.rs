//! Tests of syntax errors: each is reported in one sentence with its location.

use super::{cases, refusal};
use crate::ptx::{Problem, parse};

#[test]
fn errors_have_a_line_a_column_and_a_quote() {
    let error = parse(".version 6.4\n.target sm_52\n.entry é").unwrap_err();
    assert_eq!((error.line, error.column, &error.found[..]), (3, 8, "é"));
    let error = parse(".version 6.4\n.target sm_52\n/* éé */ .entry ;").unwrap_err();
    assert_eq!((error.line, error.column, &error.found[..]), (3, 17, ";"));
    assert_eq!(error.problem, Problem::Expected("a name".to_owned()));
    let error = parse(".version 6.4\n.target sm_52\n.entry").unwrap_err();
    assert_eq!((error.line, error.column, &error.found[..]), (3, 7, ""));
}

#[test]
fn long_quotes_are_truncated() {
    let message = refusal(&format!(".global .u32 x = {};", "9".repeat(100)));
    let quote = format!("`{}…`", "9".repeat(40));
    let expected =
        format!("line 4, column 18: cannot read {quote}: the number does not fit into 64 bits");
    assert_eq!(message, expected);
}

#[test]
fn module_header_errors_are_located() {
    let cases = cases(
        r"
         => line 1, column 1: expected `.version` at the start of the module, found the end of the text
        .target sm_52 => line 1, column 1: expected `.version` at the start of the module, found `.target`
        .version 6 => line 1, column 10: cannot read `6`: a PTX version has the form 6.4
        .version x => line 1, column 10: expected a number, found `x`
        .version 6.4 .entry => line 1, column 14: expected `.target` after `.version`, found `.entry`
        .version 6.4 .target gfx900 => line 1, column 22: cannot read `gfx900`: a target has the form sm_52 or sm_90a
        .version 6.4 .target sm_52, => line 1, column 28: expected a name after the comma of `.target`, found the end of the text
        .version 6.4 .target sm_52 .address_size 32 => line 1, column 42: cannot read `32`: only 64-bit addresses are supported
    ",
    );
    for (text, message) in cases {
        assert_eq!(parse(text).unwrap_err().to_string(), message);
    }
}

/// Checks texts after the three-line header against their messages without "line 4, column".
fn check(table: &str) {
    for (text, message) in cases(table) {
        assert_eq!(refusal(text), format!("line 4, column {message}"), "{text}");
    }
}

#[test]
fn module_scope_errors_are_located() {
    check(
        r#"
        ret; => 1: expected a variable, a function or a directive, found `ret`
        } => 1: expected a variable, a function or a directive, found `}`
        .visible .reg .u32 x; => 10: expected a variable, a function or a directive, found `.reg`
        .alias f; => 9: expected `,` after the alias `f`, found `;`
        .file x => 7: expected a number, found `x`
        .file 4294967296 "a" => 7: cannot read `4294967296`: the number does not fit into 32 bits
        .file 1.5 "a" => 7: cannot read `1.5`: this must be an integer
        .file 1 k => 9: expected a string in double quotes, found `k`
        .file 1 "k => 9: cannot read `\"k`: this string is not closed on its line
        .loc 1 2 => 9: expected a number, found the end of the text
        .loc 1 2 3, inline => 13: expected `function_name` or `inlined_at`, found `inline`
        .section x {} => 10: expected the name of the section, found `x`
        .section .debug_x ; => 19: expected `{` after the section `debug_x`, found `;`
        .section .debug_x { { } => 24: expected `}` after the section `debug_x`, found the end of the text
        .pragma nounroll; => 9: expected a string in double quotes, found `nounroll`
        .pragma "nounroll" => 19: expected `;` after the strings of `.pragma`, found the end of the text
        /* a => 1: cannot read `/* a`: this comment is not closed
        ? => 1: cannot read `?`: no PTX token starts with this character
    "#,
    );
    for (text, quote) in [("\u{1}", r"\u{1}"), ("\0 .global", r"\0")] {
        let problem = "no PTX token starts with this character";
        let message = format!("line 4, column 1: cannot read `{quote}`: {problem}");
        assert_eq!(refusal(text), message);
    }
}

#[test]
fn variable_errors_are_located() {
    check(
        r"
        .tex t; => 6: expected the type of the variable, found `t`
        .global .texref t[2]; => 21: cannot read `;`: arrays and initial values of texture and surface references are not supported
        .global .surfref s = 1; => 20: cannot read `=`: arrays and initial values of texture and surface references are not supported
        .const .texref t; => 8: cannot read `.texref`: texture and surface references are supported only as variables of the module in `.global`
        .global .samplerref s; => 9: cannot read `.samplerref`: separate samplers (`texmode_independent`) are not supported
        .global .attribute(.mine) .u32 x; => 20: expected `.managed` or `.unified(…)`, found `.mine`
        .global .pred p; => 9: cannot read `.pred`: predicates exist only in registers
        .global x; => 9: expected the type of the variable, found `x`
        .global .b7 x; => 9: expected the type of the variable, found `.b7`
        .global .align 3 .b8 x; => 16: cannot read `3`: an alignment must be a power of two
        .global .align 0 .b8 x; => 16: cannot read `0`: an alignment must be a power of two
        .global .u32 5; => 14: expected a name, found `5`
        .global .u32 x => 15: expected `;` after the variable `x`, found the end of the text
        .global .u32 x[4; => 17: expected `]` after the size of `x`, found `;`
        .global .u32 x[-4]; => 16: cannot read `-`: an array cannot have a negative size
        .global .u32 x[1.5]; => 16: cannot read `1.5`: this must be an integer
        .global .u32 x[2][]; => 19: cannot read `]`: only the first size of an array may be left out
    ",
    );
}

#[test]
fn initializer_errors_are_located() {
    check(
        r"
        .global .u32 x = ; => 18: expected a value, found `;`
        .global .u32 x[2] = {1, }; => 25: expected a value, found `}`
        .global .u32 x[2] = {1 2}; => 24: expected `}`, found `2`
        .global .u32 x[2] = {{{1}}}; => 23: cannot read `{`: the array has fewer dimensions than this
        .global .u32 x[2][2] = {{1}, {2}}; => 25: cannot read `{`: only the last row may be incomplete
        .global .u32 x[2][2] = {{1, 2, 3}}; => 25: cannot read `{`: this row has more values than the array
        .global .u8 x = 0x7f(y); => 17: cannot read `0x7f`: the mask before an address must select one byte: 0xff, 0xff00, …
        .global .u64 x = mask(y); => 18: cannot read `mask`: the only operator on addresses is `generic`
        .global .u64 x = generic(5); => 26: expected a name, found `5`
        .global .u64 x = generic(y; => 27: expected `)` after the variable `y`, found `;`
        .global .u64 x = y+1.5; => 19: cannot read `+`: operators accept only integers
        .global .u64 x = 0f3F8; => 18: cannot read `0f3F8`: `0f` takes exactly 8 hexadecimal digits
        .global .u64 x = 0d3F800000; => 18: cannot read `0d3F800000`: `0d` takes exactly 16 hexadecimal digits
        .global .u64 x = 0xFFFF_0000; => 18: cannot read `0xFFFF_0000`: this is not a number
        .global .u64 x = 08; => 18: cannot read `08`: this is not a number
        .global .u64 x = 0x; => 18: cannot read `0x`: this is not a number
        .global .u64 x = 1.2.3; => 21: expected `;` after the variable `x`, found `.3`
        .global .u64 x = 1.2x; => 18: cannot read `1.2x`: this is not a number
        .global .u64 x = 1e999; => 18: cannot read `1e999`: the number does not fit into a double
        .global .u64 x = 1/0; => 19: cannot read `/`: division by zero
        .global .u64 x = 1%(2-2); => 19: cannot read `%`: division by zero
        .global .u64 x = 1<<64; => 19: cannot read `<`: shift by more than 63 bits
        .global .u64 x = 1>>-1; => 19: cannot read `>`: shift by more than 63 bits
        .global .u64 x = 1+0.5; => 19: cannot read `+`: operators accept only integers
        .global .u64 x = ~0.5; => 18: cannot read `~`: operators accept only integers
        .global .u64 x = (1; => 20: expected `)`, found `;`
        .global .u64 x = -; => 19: expected a number, found `;`
    ",
    );
}

#[test]
fn function_errors_are_located() {
    check(
        r"
        .entry (k) => 8: expected a name, found `(`
        .entry k(u32 a) {} => 10: expected a parameter, `.param` or `.reg`, found `u32`
        .entry k(.param .u32 a {} => 24: expected `)` after the parameter `a`, found `{`
        .entry k() ret; => 12: expected the body of the function, or `;`, found `ret`
        .entry k() .global .u32 x; => 12: expected the body of the function, or `;`, found `.global`
        .func f() .attribute {} => 22: expected `(` after the directive `.attribute`, found `{`
        .entry k() .maxntid {} => 21: expected a number, found `{`
        .func f(.reg .v2 .u32 a) {} => 23: cannot read `a`: a register parameter cannot be a vector
    ",
    );
}

#[test]
fn statement_errors_are_located() {
    check(
        r"
        .entry k() { => 13: expected a statement or `}`, found the end of the text
        .entry k() { 5 } => 14: expected a statement or `}`, found `5`
        .entry k() { .entry } => 14: expected a statement or `}`, found `.entry`
        .entry k() { .reg x; } => 19: expected the type of the register, found `x`
        .entry k() { .reg .u32 ; } => 24: expected a name, found `;`
        .entry k() { .reg .u32 x<4; } => 27: expected `>` after the number of registers `x`, found `;`
        .entry k() { .reg .u32 x<4294967296>; } => 26: cannot read `4294967296`: the number does not fit into 32 bits
        .entry k() { .reg .u32 x } => 26: expected `;` after the register `x`, found `}`
        .entry k() { t: .branchtargets ; } => 32: expected a name, found `;`
        .entry k() { t: .calltargets f } => 32: expected `;` after the declaration of `t`, found `}`
        .entry k() { t: .callprototype ; } => 32: expected a name, found `;`
    ",
    );
}

#[test]
fn instruction_errors_are_located() {
    check(
        r"
        .entry k() { add.s32 a, b, c } => 30: expected `;` after the operands of `add`, found `}`
        .entry k() { ret } => 18: expected `;` after the operands of `ret`, found `}`
        .entry k() { add a, ; } => 21: expected an operand, found `;`
        .entry k() { @5 ret; } => 15: expected a name, found `5`
        .entry k() { @p ; } => 17: expected an instruction, found `;`
        .entry k() { %r1 a; } => 14: expected an instruction, found `%r1`
        .entry k() { op {a, {b}}; } => 21: expected an operand, found `{`
        .entry k() { op {a; } => 19: expected `}`, found `;`
        .entry k() { op [; } => 18: expected an address, found `;`
        .entry k() { op [a; } => 19: expected `]`, found `;`
        .entry k() { op [1.5]; } => 18: cannot read `1.5`: an address must be an integer
        .entry k() { op [4, {a}]; } => 19: cannot read `,`: texture coordinates must follow the texture's handle
        .entry k() { op [t+4, {a}]; } => 21: cannot read `,`: a texture handle cannot have an offset
        .entry k() { op [t, s, {a}]; } => 22: cannot read `,`: separate samplers and tensor coordinates are not supported
        .entry k() { op [a+b]; } => 20: expected a number, found `b`
        .entry k() { op a|5; } => 19: expected a name, found `5`
        .entry k() { op a+4|b; } => 20: expected `,` or `;`, found `|`
        .entry k() { op (a); } => 18: expected a number, found `a`
        .entry k() { call (a; } => 21: expected `)`, found `;`
    ",
    );
}
