//! Several PTX modules made one, as text: what one declares `.extern` and another defines becomes one thing, and
//! names that only one module knows stay apart.
//!
//! Source: PTX ISA section 11.6 (linking directives).

use super::ast::{Linkage, Module};
use super::token::{Token, TokenKind};
use super::{ParseError, grammar, lexer};
use std::collections::{HashMap, HashSet};

/// Why modules do not link.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// A module is no PTX.
    #[error("{module}: {error}")]
    Syntax { module: String, error: ParseError },
    /// Two modules define one name for all.
    #[error("`{name}` is defined in {first} and in {second}")]
    Twice {
        name: String,
        first: String,
        second: String,
    },
    /// A variable that no module defines.
    #[error("{module} takes `{name}` from another module, and none has it")]
    Nowhere { module: String, name: String },
    /// There is nothing to link.
    #[error("there is nothing to link")]
    Nothing,
}

/// Links PTX texts, each with a name for messages. A single one stays as it is.
///
/// # Errors
/// Texts that are no PTX, names that are defined twice, variables that are defined nowhere.
pub fn link(texts: &[(String, String)]) -> Result<String, LinkError> {
    let read = texts.iter().map(|(name, text)| Part::read(name, text));
    let parts = read.collect::<Result<Vec<_>, _>>()?;
    match &parts[..] {
        [] => return Err(LinkError::Nothing),
        [only] => return Ok(only.text.to_owned()),
        _ => {}
    }
    let defined = definitions(&parts)?;
    let version = parts.iter().map(|part| part.module.version).max();
    let target = parts.iter().max_by_key(|part| part.module.target.sm);
    let (major, minor) = version.unwrap_or_default();
    let target = target.map_or("sm_52", |part| part.module.target.name);
    let mut linked = format!(".version {major}.{minor}\n.target {target}\n.address_size 64\n");
    let (mut files, mut written) = (0, HashSet::new());
    for (number, part) in parts.iter().enumerate() {
        part.write(number, files, &parts, &defined, &mut written, &mut linked);
        let own = part.module.files.iter().map(|(file, _)| *file).max();
        files += own.map_or(0, |most| most + 1);
    }
    Ok(linked)
}

/// One of the modules.
struct Part<'a> {
    name: &'a str,
    text: &'a str,
    tokens: Vec<Token<'a>>,
    module: Module<'a>,
}

/// A name at the module's scope.
struct Named<'a> {
    name: &'a str,
    linkage: Linkage,
    /// It is here, and not only said to be somewhere.
    is_defined: bool,
    is_variable: bool,
}

impl<'a> Part<'a> {
    fn read(name: &'a str, text: &'a str) -> Result<Self, LinkError> {
        let syntax = |error| LinkError::Syntax {
            module: name.to_owned(),
            error,
        };
        let text = text.trim_end_matches('\0');
        let tokens = lexer::tokens(text).map_err(syntax)?;
        let module = grammar::module(&tokens);
        let module = module.map_err(|fault| syntax(fault.locate(text, &tokens)))?;
        Ok(Self {
            name,
            text,
            tokens,
            module,
        })
    }

    fn names(&self) -> impl Iterator<Item = Named<'a>> {
        let variables = self.module.variables.iter().map(|variable| Named {
            name: variable.name,
            linkage: variable.linkage,
            // What is sized at launch is everywhere, and what has a size is laid out though it is `.extern`.
            is_defined: variable.linkage != Linkage::Extern
                || variable.space == super::ast::StateSpace::Shared,
            is_variable: true,
        });
        let functions = self.module.functions.iter().map(|function| Named {
            name: function.name,
            linkage: function.linkage,
            is_defined: function.body.is_some(),
            is_variable: false,
        });
        variables.chain(functions)
    }

    /// Whether a name is this module's alone.
    fn is_own(&self, name: &str) -> bool {
        self.names()
            .any(|one| one.name == name && one.linkage == Linkage::Internal)
    }

    /// The module's names that another has too, and that are its own.
    fn clashes(&self, parts: &[Part]) -> HashSet<&'a str> {
        let own = self.names().filter(|one| one.linkage == Linkage::Internal);
        let others = parts.iter().filter(|other| !std::ptr::eq(*other, self));
        let others: HashSet<&str> = others
            .flat_map(|other| other.names().map(|one| one.name).collect::<Vec<_>>())
            .collect();
        own.map(|one| one.name)
            .filter(|name| others.contains(name))
            .collect()
    }

    /// Appends what is to stay of the module: not its head nor its debug sections, nothing that is declared here and
    /// defined elsewhere, and nothing for all that is `written` already.
    fn write(
        &self,
        number: usize,
        files: u32,
        parts: &[Part],
        defined: &HashMap<&str, usize>,
        written: &mut HashSet<String>,
        linked: &mut String,
    ) {
        let clashes = self.clashes(parts);
        for statement in statements(&self.tokens) {
            let first = statement[0].text;
            if [".version", ".target", ".address_size", ".section"].contains(&first) {
                continue;
            }
            if let Some(name) = self.declared_in(statement)
                && !self.is_own(name)
            {
                let here = defined.get(name) == Some(&number);
                let elsewhere = defined.contains_key(name) && !here;
                if elsewhere || !written.insert(name.to_owned()) {
                    continue;
                }
            }
            self.write_statement(statement, number, files, &clashes, linked);
        }
    }

    /// The name that a statement at the module's scope declares, if it is one of a function or a variable.
    fn declared_in(&self, statement: &[Token<'a>]) -> Option<&'a str> {
        let mut words = statement
            .iter()
            .filter(|token| token.kind == TokenKind::Word);
        words
            .find(|token| self.names().any(|one| one.name == token.text))
            .map(|token| token.text)
    }

    /// Appends a statement. Of the numbers of source files each module has its own.
    fn write_statement(
        &self,
        statement: &[Token<'a>],
        number: usize,
        files: u32,
        clashes: &HashSet<&str>,
        linked: &mut String,
    ) {
        let mut end = None;
        let mut before = "";
        for token in statement {
            // Comments and blanks stay, for they keep lines apart; what is between two statements goes.
            if let Some(end) = end {
                linked.push_str(&self.text[end..token.start]);
            }
            let is_file = [".file", ".loc", "inlined_at"].contains(&before);
            match (token.kind, token.text.parse::<u32>()) {
                (TokenKind::Number, Ok(file)) if is_file => {
                    linked.push_str(&(file.saturating_add(files)).to_string());
                }
                _ => linked.push_str(token.text),
            }
            if token.kind == TokenKind::Word && clashes.contains(token.text) {
                linked.push_str(&format!("$module{number}"));
            }
            end = Some(token.start + token.text.len());
            before = token.text;
        }
        linked.push('\n');
    }
}

/// Which part defines each name that is not one module's own. A weak definition gives way to any other, and of several
/// the first counts.
fn definitions<'a>(parts: &[Part<'a>]) -> Result<HashMap<&'a str, usize>, LinkError> {
    let mut strong: HashMap<&str, usize> = HashMap::new();
    let mut weak: HashMap<&str, usize> = HashMap::new();
    for (number, part) in parts.iter().enumerate() {
        for one in part.names().filter(|one| one.is_defined) {
            match one.linkage {
                Linkage::Internal => {}
                Linkage::Weak | Linkage::Common | Linkage::Extern => {
                    weak.entry(one.name).or_insert(number);
                }
                Linkage::Visible => {
                    if let Some(first) = strong.insert(one.name, number) {
                        return Err(LinkError::Twice {
                            name: one.name.to_owned(),
                            first: parts[first].name.to_owned(),
                            second: part.name.to_owned(),
                        });
                    }
                }
            }
        }
    }
    weak.extend(strong);
    let declared = |part: &'_ Part<'a>| part.names().collect::<Vec<_>>();
    for part in parts {
        for one in declared(part) {
            if one.is_variable && !one.is_defined && !weak.contains_key(one.name) {
                return Err(LinkError::Nowhere {
                    module: part.name.to_owned(),
                    name: one.name.to_owned(),
                });
            }
        }
    }
    Ok(weak)
}

/// The statements at a module's scope. A text that has been read consists of nothing else.
fn statements<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let mut found = Vec::new();
    let mut rest = tokens;
    while let [first, ..] = rest
        && first.kind != TokenKind::End
    {
        let (statement, after) = rest.split_at(length(rest));
        found.push(statement);
        rest = after;
    }
    found
}

/// How many tokens the statement has that begins here: to the end of its line, of its braces, or to its `;`.
fn length(tokens: &[Token]) -> usize {
    let line = tokens[0].line;
    if [".version", ".target", ".address_size", ".file", ".loc"].contains(&tokens[0].text) {
        let rest = tokens.iter();
        let same = rest.take_while(|token| token.line == line && token.kind != TokenKind::End);
        return same.count();
    }
    let is_section = tokens[0].text == ".section";
    let mut has_body = is_section;
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate() {
        match (token.kind, token.text) {
            (TokenKind::End, _) => return place,
            (TokenKind::Dotted, ".entry" | ".func") if depth == 0 => has_body = true,
            (TokenKind::Symbol('{' | '('), _) => depth += 1,
            (TokenKind::Symbol(')'), _) => depth = depth.saturating_sub(1),
            (TokenKind::Symbol('}'), _) => {
                depth = depth.saturating_sub(1);
                if depth == 0 && has_body {
                    return place + 1;
                }
            }
            (TokenKind::Symbol(';'), _) if depth == 0 => return place + 1,
            _ => {}
        }
    }
    tokens.len()
}
