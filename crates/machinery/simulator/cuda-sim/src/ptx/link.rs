//! The linker: merges PTX modules as text. `.extern` declarations are resolved to definitions in other
//! modules, and module-local names that clash are renamed.
//!
//! Source: PTX ISA section 11.6 (linking directives).

use super::ast::{Linkage, Module};
use super::lexer::{Token, TokenKind};
use super::{ParseError, grammar, lexer};
use std::collections::{HashMap, HashSet};

/// The reason why modules cannot be linked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// A module is not valid PTX.
    #[error("{module}: {error}")]
    Syntax { module: String, error: ParseError },
    /// Two modules define the same global name.
    #[error("error   : Multiple definition of '{name}' in '{second}', first defined in '{first}'")]
    DuplicateDefinition {
        name: String,
        first: String,
        second: String,
    },
    /// No module defines the names that these modules declare and use: module and name of each.
    #[error("{}", undefined_references(.0))]
    Undefined(Vec<(String, String)>),
}

/// Returns the lines of the driver's log about undefined names.
fn undefined_references(missing: &[(String, String)]) -> String {
    let lines = missing
        .iter()
        .map(|(module, name)| format!("error   : Undefined reference to '{name}' in '{module}'"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Fails if a text is not valid PTX or a name is defined twice: the checks of [`link`] that need not see all modules.
pub fn check_definitions(texts: &[(String, String)]) -> Result<(), LinkError> {
    definitions(&read_all(texts)?)?;
    Ok(())
}

fn read_all(texts: &[(String, String)]) -> Result<Vec<LinkUnit<'_>>, LinkError> {
    let units = texts.iter().map(|(name, text)| LinkUnit::read(name, text));
    units.collect()
}

/// Links PTX texts, each with a name for messages. A single text is returned unchanged, and no text gives a module
/// without names. `is_provided` returns true for functions that need no definition.
///
/// # Errors
/// Fails if a text is not valid PTX, a name is defined twice, or a variable or function is not defined.
pub fn link(
    texts: &[(String, String)],
    is_provided: impl Fn(&str) -> bool,
) -> Result<String, LinkError> {
    let units = read_all(texts)?;
    let defined = definitions(&units)?;
    let mut missing = undefined(&units, &defined);
    missing.retain(|(_, name)| !is_provided(name));
    if !missing.is_empty() {
        return Err(LinkError::Undefined(missing));
    }
    if let [single] = &units[..] {
        return Ok(single.text.to_owned());
    }
    let version = units.iter().map(|unit| unit.module.version).max();
    let target = units.iter().max_by_key(|unit| unit.module.target.sm);
    let (major, minor) = version.unwrap_or((5, 0));
    let target = target.map_or("sm_52", |unit| unit.module.target.name);
    let mut linker = Linker {
        units: &units,
        defined,
        files: 0,
        written: HashSet::new(),
        linked: format!(".version {major}.{minor}\n.target {target}\n.address_size 64\n"),
    };
    for number in 0..units.len() {
        linker.write_unit(number);
    }
    Ok(linker.linked)
}

/// One of the modules to link.
struct LinkUnit<'a> {
    name: &'a str,
    text: &'a str,
    tokens: Vec<Token<'a>>,
    module: Module<'a>,
}

/// A name at module scope.
struct GlobalName<'a> {
    name: &'a str,
    linkage: Linkage,
    /// True if the module defines the name and does not just declare it.
    is_defined: bool,
    is_variable: bool,
}

impl<'a> LinkUnit<'a> {
    fn read(name: &'a str, text: &'a str) -> Result<Self, LinkError> {
        let syntax = |error| LinkError::Syntax {
            module: name.to_owned(),
            error,
        };
        let text = text.trim_end_matches('\0');
        let tokens = lexer::tokens(text).map_err(syntax)?;
        let module = grammar::module(&tokens)
            .map_err(|rejection| syntax(rejection.locate(text, &tokens)))?;
        Ok(Self {
            name,
            text,
            tokens,
            module,
        })
    }

    fn names(&self) -> impl Iterator<Item = GlobalName<'a>> {
        let variables = self.module.variables.iter().map(|variable| GlobalName {
            name: variable.name,
            linkage: variable.linkage,
            // Dynamic shared memory needs no definition, and sized shared variables are placed even if they
            // are `.extern`.
            is_defined: variable.linkage != Linkage::Extern
                || variable.space == super::ast::StateSpace::Shared,
            is_variable: true,
        });
        let functions = self.module.functions.iter().map(|function| GlobalName {
            name: function.name,
            linkage: function.linkage,
            is_defined: function.body.is_some(),
            is_variable: false,
        });
        variables.chain(functions)
    }

    /// Returns true if the module uses a function that it declares.
    fn calls(&self, function: &str) -> bool {
        let uses = self.tokens.iter().filter(|token| token.text == function);
        // One is the declaration.
        uses.count() > 1
    }

    /// Returns true if a name is local to this module.
    fn is_local(&self, name: &str) -> bool {
        self.names()
            .any(|symbol| symbol.name == name && symbol.linkage == Linkage::Internal)
    }

    /// Returns the module-local names that also occur in another module.
    fn clashes(&self, units: &[LinkUnit]) -> HashSet<&'a str> {
        let local_names = self
            .names()
            .filter(|symbol| symbol.linkage == Linkage::Internal);
        let others = units.iter().filter(|other| !std::ptr::eq(*other, self));
        let others: HashSet<&str> = others
            .flat_map(|other| other.names().map(|symbol| symbol.name).collect::<Vec<_>>())
            .collect();
        local_names
            .map(|symbol| symbol.name)
            .filter(|name| others.contains(name))
            .collect()
    }

    /// Returns the function or variable that a statement at module scope declares; `None` for other statements.
    fn declared_name(&self, statement: &[Token<'a>]) -> Option<&'a str> {
        let mut words = statement
            .iter()
            .filter(|token| token.kind == TokenKind::Word);
        words
            .find(|token| self.names().any(|symbol| symbol.name == token.text))
            .map(|token| token.text)
    }
}

/// The linked module while it is written.
struct Linker<'u, 'a> {
    units: &'u [LinkUnit<'a>],
    /// The module that defines each global name.
    defined: HashMap<&'a str, usize>,
    /// The number of source files of the modules so far.
    files: u32,
    /// The global names that have been written.
    written: HashSet<String>,
    /// The text of the linked module so far.
    linked: String,
}

impl<'a> Linker<'_, 'a> {
    /// Appends the module to `linked`, except for its header, its debug sections, declarations of names that
    /// another module defines, and names that are in `written` already.
    fn write_unit(&mut self, number: usize) {
        let units = self.units;
        let unit = &units[number];
        let clashes = unit.clashes(units);
        for statement in statements(&unit.tokens) {
            let first = statement[0].text;
            if [".version", ".target", ".address_size", ".section"].contains(&first) {
                continue;
            }
            if let Some(name) = unit.declared_name(statement)
                && !unit.is_local(name)
            {
                let here = self.defined.get(name) == Some(&number);
                let elsewhere = self.defined.contains_key(name) && !here;
                // The linked module needs no prototype of a function that it defines.
                let is_prototype = here && is_prototype(statement);
                if elsewhere || is_prototype || !self.written.insert(name.to_owned()) {
                    continue;
                }
            }
            self.write_statement(statement, number, &clashes);
        }
        let last_file = unit.module.files.iter().map(|(file, _)| *file).max();
        self.files += last_file.map_or(0, |max_file| max_file + 1);
    }

    /// Appends a statement. Renumbers source files, because each module has its own file table.
    fn write_statement(&mut self, statement: &[Token<'a>], number: usize, clashes: &HashSet<&str>) {
        let unit = &self.units[number];
        let linked = &mut self.linked;
        let mut end = None;
        let mut before = "";
        for token in statement {
            // Keep comments and whitespace within the statement, because line breaks are significant. Drop
            // what is between statements.
            if let Some(end) = end {
                linked.push_str(&unit.text[end..token.start]);
            }
            let is_file = [".file", ".loc", "inlined_at"].contains(&before);
            match (token.kind, token.text.parse::<u32>()) {
                (TokenKind::Number, Ok(file)) if is_file => {
                    linked.push_str(&(file.saturating_add(self.files)).to_string());
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

/// Returns the module that defines each global name. A strong definition overrides weak ones; of several weak
/// definitions the first is used.
fn definitions<'a>(units: &[LinkUnit<'a>]) -> Result<HashMap<&'a str, usize>, LinkError> {
    let mut strong: HashMap<&str, usize> = HashMap::new();
    let mut weak: HashMap<&str, usize> = HashMap::new();
    for (number, unit) in units.iter().enumerate() {
        for symbol in unit.names().filter(|symbol| symbol.is_defined) {
            match symbol.linkage {
                Linkage::Internal => {}
                Linkage::Weak | Linkage::Common | Linkage::Extern => {
                    weak.entry(symbol.name).or_insert(number);
                }
                Linkage::Visible => {
                    if let Some(first) = strong.insert(symbol.name, number) {
                        return Err(LinkError::DuplicateDefinition {
                            name: symbol.name.to_owned(),
                            first: units[first].name.to_owned(),
                            second: unit.name.to_owned(),
                        });
                    }
                }
            }
        }
    }
    weak.extend(strong);
    Ok(weak)
}

/// Returns the names that modules declare and no module defines, functions first: module and name of each.
fn undefined<'a>(
    units: &[LinkUnit<'a>],
    defined: &HashMap<&'a str, usize>,
) -> Vec<(String, String)> {
    let of_kind = |is_variable: bool| {
        units.iter().flat_map(move |unit| {
            let missing = unit.names().filter(move |symbol| {
                symbol.is_variable == is_variable
                    && !symbol.is_defined
                    && !defined.contains_key(symbol.name)
                    && (is_variable || unit.calls(symbol.name))
            });
            missing.map(|symbol| (unit.name.to_owned(), symbol.name.to_owned()))
        })
    };
    of_kind(false).chain(of_kind(true)).collect()
}

/// Splits a valid module into its statements at module scope.
fn statements<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let mut list = Vec::new();
    let mut rest = tokens;
    while let [first, ..] = rest
        && first.kind != TokenKind::End
    {
        let (statement, after) = rest.split_at(length(rest));
        list.push(statement);
        rest = after;
    }
    list
}

/// Returns true if a statement at module scope declares a function without a body.
fn is_prototype(statement: &[Token]) -> bool {
    let mut tokens = statement.iter();
    let is_function = tokens.any(|token| [".func", ".entry"].contains(&token.text));
    is_function && statement.last().is_some_and(|last| last.text == ";")
}

/// Returns the number of tokens of the first statement, which ends at its line end, closing brace or `;`.
fn length(tokens: &[Token]) -> usize {
    let line = tokens[0].line;
    if [".version", ".target", ".address_size", ".file", ".loc"].contains(&tokens[0].text) {
        let rest = tokens.iter();
        let same_line = rest.take_while(|token| token.line == line && token.kind != TokenKind::End);
        return same_line.count();
    }
    let is_section = tokens[0].text == ".section";
    let mut has_body = is_section;
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match (token.kind, token.text) {
            (TokenKind::End, _) => return index,
            (TokenKind::Dotted, ".entry" | ".func") if depth == 0 => has_body = true,
            (TokenKind::Symbol('{' | '('), _) => depth += 1,
            (TokenKind::Symbol(')'), _) => depth = depth.saturating_sub(1),
            (TokenKind::Symbol('}'), _) => {
                depth = depth.saturating_sub(1);
                if depth == 0 && has_body {
                    return index + 1;
                }
            }
            (TokenKind::Symbol(';'), _) if depth == 0 => return index + 1,
            _ => {}
        }
    }
    tokens.len()
}
