//! The parser. Every rule is selected by the next token or two, so that no text is parsed twice, and the
//! nesting is limited, so that no text overflows the stack.

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

/// Maximum nesting of scopes, parentheses or braces.
const MAX_NESTING: u32 = 64;
const TOO_DEEP: &str = "nesting is limited to 64 levels";

/// Parses the tokens of a module.
pub(super) fn module<'s>(tokens: &[Token<'s>]) -> Result<Module<'s>, Rejection<'s>> {
    let mut input = TokenSlice::new(tokens);
    module::module(&mut input).map_err(|error| {
        error
            .into_inner()
            .unwrap_or_else(|_| Rejection::from_input(&input))
    })
}
