//! PTX text to a tree: nothing here knows what an instruction does.
//!
//! The text becomes tokens ([`lexer`]), the tokens a tree ([`grammar`]). Both take time and
//! memory in proportion to the text, and neither trusts it: whatever the bytes, the answer is a
//! tree or a [`ParseError`].

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

/// Reads a PTX module. Names in the tree borrow from `source`.
///
/// Zero bytes at the end are ignored, as C strings bring them along. Debug sections are skipped;
/// `.loc` lines are kept with the instructions they describe.
///
/// # Errors
///
/// The first place where the text stops being PTX, or uses a part of PTX that the simulator does
/// not offer (textures, aliases, 32-bit addresses).
pub fn parse(source: &str) -> Result<ast::Module<'_>, ParseError> {
    let source = source.trim_end_matches('\0');
    let tokens = lexer::tokens(source)?;
    grammar::module(&tokens).map_err(|fault| fault.locate(source, &tokens))
}
