//! What an answer may include: the course's own headers. Any other file is none of its business, and the
//! compiler's messages would show its lines.

use super::{Failure, Stop};
use crate::data::Step;
use crate::lang::Lang;

/// Headers that answers may include.
const HEADERS: [&str; 3] = ["cuda_device.h", "async_copy.h", "tensor_core.h"];

/// Directives that have the compiler read another file.
const DIRECTIVES: [&str; 4] = ["include", "include_next", "import", "embed"];

/// Refuses a text that includes anything else.
///
/// Where a comment or a string only looks like a directive, it is refused as well: to tell them apart
/// takes a compiler, and to be taken in costs more than to be told to change a comment.
pub fn verdict(text: &str, lang: Lang) -> Result<(), Stop> {
    match foreign(text) {
        None => Ok(()),
        Some(found) => Err(Stop::Failed(Failure::at(
            Step::Compile,
            say!(
                lang,
                "An answer may include {}, by this name between quotes, and no other file. This one has:\
                 \n\n    {}",
                "答案只能包含 {}（写在双引号之间），不能包含其他文件。此答案中有：\n\n    {}";
                HEADERS.join(", "), found
            ),
        ))),
    }
}

/// The first directive that is not one of those that are allowed.
fn foreign(text: &str) -> Option<String> {
    let text = spliced(text);
    // `%:` and `??=` are other ways to write `#`.
    let text = text.replace("%:", "#").replace("??=", "#");
    let mut rest = text.as_str();
    while let Some(at) = rest.find('#') {
        rest = &rest[at + 1..];
        let directive = without_blanks(rest);
        let end = directive.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let (name, value) = directive.split_at(end.unwrap_or(directive.len()));
        let value = value.lines().next().unwrap_or_default();
        if DIRECTIVES.contains(&name) && !is_ours(name, value) {
            return Some(format!("#{name}{}", value.trim_end()));
        }
    }
    None
}

fn is_ours(name: &str, value: &str) -> bool {
    let quoted = HEADERS.map(|header| format!("\"{header}\""));
    let value = value.trim();
    let value = value.split_once("//").map_or(value, |(value, _)| value);
    name == "include" && quoted.iter().any(|header| header == value.trim())
}

/// Lines that end in a backslash, joined to the next as the compiler does it.
fn spliced(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        match line.trim_end().strip_suffix('\\') {
            Some(begun) => joined.push_str(begun),
            None => {
                joined.push_str(line);
                joined.push('\n');
            }
        }
    }
    joined
}

/// What follows blanks and comments.
fn without_blanks(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        match rest
            .strip_prefix("/*")
            .map(|comment| comment.split_once("*/"))
        {
            Some(Some((_, after))) => rest = after,
            Some(None) | None => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_headers_may_be_included() {
        for text in [
            "#include \"cuda_device.h\"\n",
            "  #  include   \"async_copy.h\"  // why\nint x;",
            "#include\"tensor_core.h\"",
            "#define include 3\n#pragma unroll\nint included;",
        ] {
            assert_eq!(foreign(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_else_however_it_is_written() {
        for text in [
            "#include <stdio.h>",
            "#include \"/etc/passwd\"",
            "#include \"../cuda_device.h\"",
            "#include NAME",
            "#include_next \"cuda_device.h\"",
            "#import \"cuda_device.h\"",
            "#embed \"secret\"",
            "int x; %: include \"secret\"",
            "??=include \"secret\"",
            "#\\\ninclude \"secret\"",
            "#inc\\  \nlude \"secret\"",
            "# /* a\ncomment */ include \"secret\"",
            "#/**/include \"secret\"",
            "#include /* \"cuda_device.h\" */ \"secret\"",
            "/* */ #include \"secret\"",
        ] {
            assert!(foreign(text).is_some(), "{text}");
        }
    }
}
