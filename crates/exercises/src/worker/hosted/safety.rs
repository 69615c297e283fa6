//! Restrictions on the text of a Rust submission, checked before it is compiled and on every system. On Linux the
//! program around it is confined as well; elsewhere this is what separates it from the rest of the computer.
//!
//! `forbid(unsafe_code)` alone is not enough: it permits some attributes and macros that contain machine code, and
//! rustc accepts, without `unsafe`, programs that read and write any memory. Three kinds of such programs are known, and
//! each needs a construct that no exercise needs, which is therefore refused:
//!
//! - A pointer to a function assumes that its arguments outlive each other ([rust-lang/rust#25860]): needs the type of
//!   a function pointer, `fn(…)` or `for<…> fn(…)`.
//! - A trait's object contradicts an implementation for all types ([rust-lang/rust#57893]): needs a trait of its own.
//! - The items of an iterator are assumed to outlive it ([rust-lang/rust#84366]): needs a bound by a lifetime, which
//!   `T: 'a`, `T: Any`, and a parameter of type `&'a T` are.
//!
//! Macros of its own are refused because they can assemble these constructs.
//!
//! [rust-lang/rust#25860]: https://github.com/rust-lang/rust/issues/25860
//! [rust-lang/rust#57893]: https://github.com/rust-lang/rust/issues/57893
//! [rust-lang/rust#84366]: https://github.com/rust-lang/rust/issues/84366

use std::iter;

use chapter::lang::{Lang, Text};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The reason why a construct is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// Code that the compiler does not check.
    Unchecked,
    /// Reading a file or a variable at compile time.
    Reader,
    /// The type of a function pointer.
    FunctionPointer,
    /// The definition of a trait.
    Trait,
    /// A lifetime that is named or used as a bound.
    Lifetime,
    /// The definition of a macro.
    Macro,
}

/// Words of unsafe code, machine code, and symbols that the linker sees.
const UNCHECKED: [&str; 10] = [
    "unsafe",
    "extern",
    "asm",
    "global_asm",
    "naked",
    "naked_asm",
    "no_mangle",
    "export_name",
    "link_section",
    "global_allocator",
];

/// Macros that read a file or a variable at compile time.
const READERS: [&str; 5] = [
    "include",
    "include_str",
    "include_bytes",
    "env",
    "option_env",
];

/// Words after which a lifetime is the label of a loop or block.
const JUMPS: [&str; 2] = ["break", "continue"];

/// Words that a label precedes, after a colon.
const LABELLED: [&str; 4] = ["loop", "while", "for", "{"];

/// Returns the message for the student if the text contains a construct that is refused.
///
/// # Errors
///
/// Fails, also with a message, if the text cannot be split into tokens. The compiler, too, normally rejects such a
/// text, with a better message.
pub fn refusal(text: &str) -> Result<Option<Text>, Text> {
    let unreadable = || {
        text!(
            "It cannot be read as Rust: check its brackets and quotes, and its first line.",
            "无法按 Rust 读取：请检查括号、引号和第一行。"
        )
    };
    // The compiler skips the first line, and in future versions a whole block, if it begins with these characters.
    let is_skipped = text.starts_with("#!") && !text.starts_with("#![");
    if is_skipped || text.trim_start().starts_with("---") {
        return Err(unreadable());
    }
    let stream: TokenStream = text.parse().map_err(|_| unreadable())?;
    let tokens = flatten(stream);
    let words: Vec<&str> = tokens.iter().map(|(word, _)| word.as_str()).collect();
    let first = (0..words.len()).find_map(|at| {
        let (before, rest) = words.split_at(at);
        Some((at, refusal_at(before, rest)?))
    });
    Ok(first.map(|(at, refusal)| {
        let (word, line) = &tokens[at];
        Text::from_fn(|lang| {
            let explanation = explain(refusal, lang);
            localize!(lang, "Line {}, `{}`: {}", "第 {} 行，`{}`：{}"; line, word, explanation)
        })
    }))
}

/// Returns the reason why the construct at the start of `rest` is refused, if it is.
fn refusal_at(before: &[&str], rest: &[&str]) -> Option<Refusal> {
    let last = before.last().copied().unwrap_or_default();
    match *rest {
        [word, ..] if UNCHECKED.contains(&word) => Some(Refusal::Unchecked),
        // A word with an underscore names nothing else, so that a renamed macro is found.
        [word, next, ..] if READERS.contains(&word) && (next == "!" || word.contains('_')) => {
            Some(Refusal::Reader)
        }
        // Without arguments there is nothing to assume.
        ["fn", "(", ")", ..] => None,
        ["fn", "(", ..] | ["for", "<", ..] => Some(Refusal::FunctionPointer),
        ["trait", ..] => Some(Refusal::Trait),
        ["macro_rules", ..] => Some(Refusal::Macro),
        ["Any", ..] => Some(Refusal::Lifetime),
        ["'static", "str" | "[", ..] if last == "&" => None,
        ["'_", ..] if ![":", "+"].contains(&last) => None,
        [label, ":", next, ..] if label.starts_with('\'') && LABELLED.contains(&next) => None,
        [label, ..] if label.starts_with('\'') => {
            (!JUMPS.contains(&last)).then_some(Refusal::Lifetime)
        }
        _ => None,
    }
}

fn explain(refusal: Refusal, lang: Lang) -> &'static str {
    match refusal {
        Refusal::Unchecked => lang.pick(
            "a submission is safe Rust, without machine code and without symbols for the linker. Remove it.",
            "答案只能是安全的 Rust，不能含有机器代码，也不能定义供链接器使用的符号。请删去它。",
        ),
        Refusal::Reader => lang.pick(
            "A submission is a single file and reads nothing while it is compiled. Remove it.",
            "答案只能是一个文件，编译时不能读取任何东西。请删去它。",
        ),
        Refusal::FunctionPointer => lang.pick(
            "a submission may not use function pointers, because some programs with function pointers get past the \
             compiler's checks of memory safety. Call the function itself, or pass a closure as `&dyn Fn(…)`.",
            "答案不能使用函数指针，因为有些用函数指针的程序能绕过编译器的内存安全检查。请直接调用函数，或者以 \
             `&dyn Fn(…)` 传递闭包。",
        ),
        Refusal::Trait => lang.pick(
            "a submission may not define traits, because some programs with traits get past the compiler's checks of \
             memory safety. Write functions instead.",
            "答案不能自定义 trait，因为有些用 trait 的程序能绕过编译器的内存安全检查。请改用函数。",
        ),
        Refusal::Lifetime => lang.pick(
            "a submission may not name lifetimes, nor use `Any`, which requires `'static`, because some programs with \
             named lifetimes get past the compiler's checks of memory safety. Omit the lifetime, as in `&[f32]` or \
             `Iter<'_, f32>`, or pass the reference as an argument instead of storing it.",
            "答案不能使用具名生命周期，也不能使用要求 `'static` 的 `Any`，因为有些用具名生命周期的程序能绕过编译器的内存\
             安全检查。请省略生命周期，例如 `&[f32]`、`Iter<'_, f32>`，或者把引用作为参数传递，而不要存起来。",
        ),
        Refusal::Macro => lang.pick(
            "a submission may not define macros, because they could hide code from the checks of memory safety. Write \
             a function instead.",
            "答案不能自定义宏，因为宏可能使一部分代码逃过内存安全检查。请改用函数。",
        ),
    }
}

/// Returns all tokens with their lines, including brackets. A lifetime is one token; a literal is an empty one.
fn flatten(stream: TokenStream) -> Vec<(String, usize)> {
    let mut tokens: Vec<(String, usize)> = Vec::new();
    // Deep nesting must not exhaust the stack.
    let mut open = vec![(stream.into_iter(), "")];
    while let Some((stream, close)) = open.last_mut() {
        let Some(token) = stream.next() else {
            let line = tokens.last().map_or(1, |&(_, line)| line);
            tokens.extend(iter::once(((*close).to_owned(), line)));
            open.pop();
            continue;
        };
        let line = token.span().start().line;
        let text = match token {
            TokenTree::Group(group) => {
                let (start, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                open.push((group.stream().into_iter(), close));
                start.to_owned()
            }
            TokenTree::Ident(name) => {
                let name = name.to_string();
                let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
                match tokens.last_mut() {
                    Some((quote, _)) if quote == "'" => {
                        quote.push_str(&name);
                        continue;
                    }
                    _ => name,
                }
            }
            TokenTree::Punct(punctuation) => punctuation.as_char().to_string(),
            TokenTree::Literal(_) => String::new(),
        };
        tokens.push((text, line));
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the refused word in a text with these items.
    fn refused(text: &str) -> Option<String> {
        let message = refusal(text).expect("readable Rust")?.en;
        let word = message.split('`').nth(1).unwrap_or_default();
        Some(word.to_owned())
    }

    #[test]
    fn ordinary_rust_is_accepted() {
        for text in [
            "#![allow(unused)]\n//! unsafe, extern, trait\npub fn f(count: u32) -> u32 { count }",
            "/* fn(u8) /* 'a */ */ fn f() { let s = \"unsafe fn(u8) 'a\"; let c = 'a'; let d = b'\\''; }",
            "fn f() { 'outer: loop { 'inner: for i in 0..3 { continue 'outer; } break 'outer; } }",
            "fn median<T: PartialOrd + Copy>(all: &[T], f: impl Fn() -> T) -> Option<T> { None }",
            "const NAMES: &[&'static str] = &[]; static N: &'static [u8] = &[];",
            "use std::env; fn f() { let include = 1; for (k, v) in env::vars() {} }",
            "struct Timer { total: f32 } impl Timer { fn add(&mut self) {} } impl Drop for Timer { fn drop(&mut self) {} }",
            "fn f(launch: &dyn Fn() -> u8, times: std::slice::Iter<'_, f32>) {}",
            "fn once(work: fn()) { work() }",
            "fn r#loop() { let x = 1.0e-5_f32; let s = r#\"'a unsafe\"#; let b = br\"\\\"; }",
        ] {
            assert_eq!(refused(text), None, "{text}");
        }
    }

    #[test]
    fn unchecked_code_and_gaps_in_the_checks_are_refused() {
        for (text, word) in [
            ("#[unsafe(naked)] fn f() {}", "unsafe"),
            ("fn f() { core::arch::naked_asm!(\"ret\") }", "naked_asm"),
            ("std::arch::global_asm!(\"\");", "global_asm"),
            ("use std::arch::asm as a;", "asm"),
            ("type F = extern \"C\" fn(u8);", "extern"),
            ("#[no_mangle] fn f() {}", "no_mangle"),
            ("#[r#export_name = \"write\"] fn f() {}", "export_name"),
            (
                "#[cfg_attr(all(), link_section = \"a\")] static N: u8 = 0;",
                "link_section",
            ),
            ("const A: &str = include!(\"a\");", "include"),
            ("const A: &str = r#include_str!(\"a\");", "include_str"),
            ("use std::include_bytes as bytes;", "include_bytes"),
            ("const A: &str = env ! (\"HOME\");", "env"),
            ("#[doc = option_env!(\"HOME\")] fn f() {}", "option_env"),
            ("fn f(g: fn(u8) -> u8) {}", "fn"),
            ("fn f() { let g: for<'x> fn(&'x u8) = h; }", "for"),
            ("fn f<'a>(x: &'a u8) {}", "'a"),
            ("fn f<'outer>(x: &'outer u8) {}", "'outer"),
            ("struct S<'a: 'static>(&'a u8);", "'a"),
            (
                "fn f<I: Iterator + 'static>(_: &I, x: I::Item) {}",
                "'static",
            ),
            ("fn f<I: Iterator>(_: &'static I, x: I::Item) {}", "'static"),
            ("fn f(x: &dyn Fn()) -> Box<dyn Fn() + '_> {}", "'_"),
            (
                "fn f<I: Iterator + std::any::Any>(_: &I, x: I::Item) {}",
                "Any",
            ),
            ("mod a { pub trait T { type O; } }", "trait"),
            ("macro_rules! m { ($f:tt) => { $f(u8) } }", "macro_rules"),
        ] {
            assert_eq!(refused(text).as_deref(), Some(word), "{text}");
        }
        let message = refusal("\n\n/* \n */ unsafe {}").unwrap().unwrap();
        assert!(message.en.starts_with("Line 4, `unsafe`: "), "{message:?}");
        assert!(message.zh.starts_with("第 4 行"), "{message:?}");
    }

    #[test]
    fn texts_that_the_compiler_may_read_otherwise_are_unreadable() {
        for text in [
            "fn f() {",
            "\"",
            "#!/* \nunsafe */",
            "\n---\n/*\n---\nunsafe\n//*/",
            "'ab'",
        ] {
            assert!(refusal(text).is_err(), "{text}");
        }
        // Deep nesting does not exhaust the stack.
        let deep = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(refusal(&deep), Ok(None));
    }
}
