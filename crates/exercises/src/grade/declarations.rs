//! Declarations of variables that the host cannot find by their names in the source.

use super::tokens::{Kind, tokens};

/// The reason why the host cannot find a variable that a submission declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// A word of its declaration that gives it internal linkage.
    Word(&'static str),
    /// The declaration is in a namespace.
    Namespace,
}

/// The words that declare variables in device memory.
const SPACES: [&str; 3] = ["__constant__", "__device__", "__managed__"];

/// The words that give a variable internal linkage. In C++ constants have it too.
const INTERNAL: [&str; 3] = ["static", "constexpr", "const"];

/// Returns the reason why the host cannot find a variable, from its declaration; `None` if it is not declared, or in a
/// way that does not hide it.
pub fn hidden_variable(text: &str, name: &str) -> Option<Hidden> {
    let tokens = tokens(text).ok()?;
    // The words of the declaration, and for each open brace whether it is that of a namespace.
    let mut words: Vec<&str> = Vec::new();
    let mut scopes: Vec<bool> = Vec::new();
    for token in &tokens {
        match (token.kind, &*token.text) {
            (Kind::Symbol, "{") => scopes.push(words.contains(&"namespace")),
            (Kind::Symbol, "}") => _ = scopes.pop(),
            // The words before a function's parameters do not belong to these.
            (Kind::Symbol, ";" | "(") => {}
            (Kind::Word, word) if word == name && SPACES.iter().any(|it| words.contains(it)) => {
                let internal = INTERNAL.into_iter().find(|word| words.contains(word));
                return match scopes.contains(&true) {
                    true => Some(Hidden::Namespace),
                    false => internal.map(Hidden::Word),
                };
            }
            (Kind::Word, word) => {
                words.push(word);
                continue;
            }
            _ => continue,
        }
        words.clear();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_that_hide_a_variable_are_found() {
        let hidden = |text: &str| hidden_variable(text, "settings");
        for (text, expected) in [
            (
                "static __constant__ Settings settings;",
                Hidden::Word("static"),
            ),
            (
                "__constant__ const Settings settings = {1};",
                Hidden::Word("const"),
            ),
            (
                "int f() { return 1; }\nstatic __device__ int settings;",
                Hidden::Word("static"),
            ),
            (
                "namespace {\n__constant__ Settings settings;\n}",
                Hidden::Namespace,
            ),
            (
                "namespace a { int f() { return 1; } __device__ int settings[2]; }",
                Hidden::Namespace,
            ),
        ] {
            assert_eq!(hidden(text), Some(expected), "{text}");
        }
        for text in [
            "__constant__ Settings settings;",
            "static int x; extern \"C\" { __constant__ Settings settings; }",
            "namespace a { int x; } __constant__ Settings settings;",
            "static int settings; // static __constant__ int settings;",
            "static __constant__ int other;",
            "__device__ int f(const Settings settings); __constant__ Settings settings;",
        ] {
            assert_eq!(hidden(text), None, "{text}");
        }
    }
}
