//! The PTX parser. It is purely syntactic: it does not know what instructions do.
//!
//! The text is split into tokens ([`lexer`]), and the tokens are parsed into a tree ([`grammar`]). Both run
//! in linear time and memory and do not trust their input: for any bytes, the result is a tree or a
//! [`ParseError`].

pub mod ast;
mod error;
mod grammar;
mod lexer;
mod link;
mod rejection;
mod take;
mod token;

#[cfg(test)]
mod tests;

pub use error::{ParseError, Problem};
pub use link::{LinkError, link};

/// Parses a PTX module. Names in the tree borrow from `source`.
///
/// Trailing zero bytes are ignored, because C strings include them. Debug sections are skipped; `.loc`
/// locations are attached to the instructions that follow them.
///
/// # Errors
///
/// Returns the first location where the text is not valid PTX, or uses a feature that the simulator does not
/// support (such as texture variables or 32-bit addresses).
pub fn parse(source: &str) -> Result<ast::Module<'_>, ParseError> {
    let source = source.trim_end_matches('\0');
    let tokens = lexer::tokens(source)?;
    grammar::module(&tokens).map_err(|fault| fault.locate(source, &tokens))
}
