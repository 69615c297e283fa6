//! Tokens to a tree. Which rule applies is seen from the next token or two, so that no text is
//! read twice; and whatever may nest is counted, so that no text exhausts the stack.

mod constant;
mod directive;
mod function;
mod initializer;
mod instruction;
mod literal;
mod module;
mod operand;
mod statement;
mod variable;

use winnow::error::ParserError;
use winnow::stream::TokenSlice;

use super::ast::Module;
use super::rejection::Rejection;
use super::token::Token;

/// How many scopes, brackets or braces may stand inside one another.
const DEEPEST: u32 = 64;
const TOO_DEEP: &str = "this is nested more than 64 deep";

/// The module these tokens spell.
pub(super) fn module<'s>(tokens: &[Token<'s>]) -> Result<Module<'s>, Rejection<'s>> {
    let mut input = TokenSlice::new(tokens);
    module::module(&mut input).map_err(|error| {
        error
            .into_inner()
            .unwrap_or_else(|_| Rejection::from_input(&input))
    })
}
