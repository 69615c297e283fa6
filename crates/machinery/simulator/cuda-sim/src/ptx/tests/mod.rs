//! Tests of the PTX parser: compiler output, individual constructs, and errors.

mod compiled;
mod grammar;
mod hostile;
mod link;
mod refusals;

use super::ast::{Instruction, Module, Statement};
use super::parse;

const HEAD: &str = ".version 6.4\n.target sm_52\n.address_size 64\n";

/// Parses `text` after a three-line header, so that its first line is line 4.
fn module(text: &str) -> Module<'static> {
    let source = format!("{HEAD}{text}");
    let outcome = parse(source.leak());
    outcome.unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// Returns the statements of a kernel with this body, which is on line 4.
fn body(text: &str) -> Vec<Statement<'static>> {
    let mut module = module(&format!(".entry k() {{ {text} }}"));
    module.functions.remove(0).body.expect("a body was given")
}

/// Returns the instruction of a kernel whose body is a single instruction.
fn instruction(text: &str) -> Instruction<'static> {
    match &body(text)[..] {
        [Statement::Instruction(instruction)] => instruction.clone(),
        other => panic!("{other:?}"),
    }
}

/// Returns the error message for `text` after the three-line header.
fn refusal(text: &str) -> String {
    let source = format!("{HEAD}{text}");
    match parse(&source) {
        Ok(module) => panic!("{text} was read as {module:?}"),
        Err(error) => error.to_string(),
    }
}

/// Returns the rows of a table: on each line, a text and what is expected of it, separated by `=>`.
pub(crate) fn cases(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = table.trim_matches([' ', '\n']).split('\n');
    let columns = rows.map(|row| row.split_once("=>").expect("a row has two columns"));
    columns.map(|(text, expected)| (text.trim(), expected.trim()))
}

/// Returns all instructions of a function in order, including those in nested scopes.
fn flatten<'m>(statements: &'m [Statement<'m>]) -> Vec<&'m Instruction<'m>> {
    let mut list = Vec::new();
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) => list.push(instruction),
            Statement::Block(inner) => list.extend(flatten(inner)),
            _ => {}
        }
    }
    list
}
