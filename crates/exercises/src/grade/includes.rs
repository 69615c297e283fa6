//! Restrictions on a submission's use of the compiler: it may include the course's headers and no other file.
//! Otherwise the compiler's messages could reveal lines of other files, or whether they exist.
//!
//! This is the first of three defences: the compiler is also confined so that it cannot open other files, and
//! the list of files that it did open is checked afterwards. This one tells the student what to write
//! instead.

use super::tokens::{Kind, Odd, Token, What, tokens};
use super::{Failure, Stop};
use crate::data::{Step, Text};
use crate::lang::Lang;

/// Headers that submissions may include.
pub const HEADERS: [&str; 5] = [
    "cuda_device.h",
    "async_copy.h",
    "tensor_core.h",
    "cooperative.h",
    "standard_c.h",
];

/// Standard headers that submissions may include; the course's own header replaces them.
const STANDARD: [&str; 14] = [
    "stdio.h",
    "stdint.h",
    "math.h",
    "assert.h",
    "stddef.h",
    "stdlib.h",
    "limits.h",
    "float.h",
    "string.h",
    "cstdio",
    "cstdint",
    "cmath",
    "cassert",
    "cuda_runtime.h",
];

/// Replaces lines that include a standard header by an include of the course's header. Line numbers do not
/// change.
pub fn with_ours(text: &str) -> String {
    let ours = |line: &str| match is_standard(line) {
        true => "#include \"standard_c.h\"".to_owned(),
        false => line.to_owned(),
    };
    text.split('\n').map(ours).collect::<Vec<_>>().join("\n")
}

/// Returns true if a line includes a standard header and contains nothing else.
fn is_standard(line: &str) -> bool {
    let named = || {
        let rest = line.trim().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("include")?.trim_start();
        let (name, rest) = match rest.strip_prefix('<') {
            Some(rest) => rest.split_once('>')?,
            None => rest.strip_prefix('"')?.split_once('"')?,
        };
        let rest = rest.trim_start();
        let ends = rest.is_empty() || rest.starts_with("//") && !rest.ends_with(['\\', '/']);
        ends.then_some(name)
    };
    named().is_some_and(|name| STANDARD.contains(&name))
}

/// Preprocessor directives that submissions may use, in addition to `#include` and `#pragma`.
const DIRECTIVES: [&str; 10] = [
    "define", "undef", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif",
];

/// Permitted first words after `#pragma`: loop hints and control of warnings.
const PRAGMAS: [&[&str]; 16] = [
    &["unroll"],
    &["nounroll"],
    &["once"],
    &["pack"],
    &["region"],
    &["endregion"],
    &["STDC"],
    &["nv_diag_suppress"],
    &["nv_diag_default"],
    &["nv_diagnostic"],
    &["diag_suppress"],
    &["clang", "loop"],
    &["clang", "fp"],
    &["clang", "diagnostic"],
    &["GCC", "unroll"],
    &["GCC", "diagnostic"],
];

/// Words that test for or include files.
const WORDS: [&str; 6] = [
    "__has_include",
    "__has_include_next",
    "__has_embed",
    "__pragma",
    "import",
    "__import__",
];

/// Assembler directives that include files.
const ASSEMBLER: [&str; 2] = [".incbin", ".include"];

/// The reason why a text is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Odd(What),
    /// An include of a file other than the course's headers.
    Include,
    /// A preprocessor directive that is not permitted.
    Directive,
    /// `#pragma` or `_Pragma` with words that are not permitted.
    Pragma,
    /// One of [`WORDS`], or `@`.
    Word,
    /// `##` in a text that uses `_Pragma`.
    Paste,
    /// An assembler directive that reads a file.
    Assembler,
}

/// Fails if the text uses a construct that is not permitted.
pub fn verdict(text: &str) -> Result<(), Stop> {
    let Some((line, why)) = refused(text) else {
        return Ok(());
    };
    let shown = text.lines().nth(line - 1).unwrap_or_default().trim();
    let message = Text::both(|lang| {
        let head = say!(lang, "Line {}: {}", "第 {} 行：{}"; line, in_words(why, lang));
        format!("{head}\n\n    {shown}")
    });
    Err(Stop::Failed(Failure::at(Step::Compile, message)))
}

fn in_words(why: Why, lang: Lang) -> String {
    match why {
        Why::Odd(What::Control(character)) => say!(
            lang,
            "it has a control character, {}, which no editor shows. Delete it, and type the line again.",
            "含有编辑器不显示的控制字符 {}。请删除它，重新输入这一行。";
            number(character)
        ),
        Why::Odd(What::Foreign(character)) => say!(
            lang,
            "it has '{}' ({}) outside of comments and strings, which is no character of CUDA C. Type the \
             ASCII one: a blank, a bracket, a semicolon.",
            "注释和字符串之外出现了“{}”（{}），它不是 CUDA C 的字符。请改用半角（ASCII）的空格、括号或分号。";
            character, number(character)
        ),
        Why::Odd(What::Trigraph) => lang
            .pick(
                "it has `??` and a sign, which compilers may take for another sign. Write one `?`.",
                "含有“??”加一个符号的写法，编译器可能把它当作另一个符号。请只写一个 ?。",
            )
            .to_owned(),
        Why::Odd(What::Raw) => lang
            .pick(
                "it has a raw string, R\"(…)\". Write a plain one: \"…\".",
                "含有原始字符串 R\"(…)\"。请写成普通字符串 \"…\"。",
            )
            .to_owned(),
        Why::Odd(What::Backslash) => lang
            .pick(
                "it has a backslash that is not at the end of a line and not in a string. Delete it.",
                "含有一个既不在行末、也不在字符串中的反斜杠。请删除它。",
            )
            .to_owned(),
        Why::Include => say!(
            lang,
            "an answer may include {}, by this name between quotes, what it takes of C as <stdio.h>, <math.h>, \
             <stdint.h>, <assert.h>, and no other file.",
            "答案只能包含 {}（写在双引号之间），以及 C 的 <stdio.h>、<math.h>、<stdint.h>、<assert.h>，不能包含其他文件。";
            HEADERS[..3].join(", ")
        ),
        Why::Directive => say!(
            lang,
            "of lines with `#` an answer may have #include, #pragma, #{}.",
            "以 # 开头的行只能是 #include、#pragma、#{}。";
            DIRECTIVES.join(lang.pick(", #", "、#"))
        ),
        Why::Pragma => say!(
            lang,
            "of pragmas an answer may have {}, and _Pragma(\"…\") with one of these.",
            "#pragma 只能是 {}，_Pragma(\"…\") 也是如此。";
            PRAGMAS.map(|words| words.join(" ")).join(lang.pick(", ", "、"))
        ),
        Why::Word => lang
            .pick(
                "this asks for another file, and an answer is one file. Leave it out.",
                "这里在请求其他文件，而答案只有一个文件。请删去它。",
            )
            .to_owned(),
        Why::Paste => lang
            .pick(
                "an answer with _Pragma may not have `##` as well. Write `#pragma` on a line of its own.",
                "含有 _Pragma 的答案不能同时使用 ##。请把 #pragma 单独写成一行。",
            )
            .to_owned(),
        Why::Assembler => lang
            .pick(
                "assembler in an answer reads no files. Leave it out.",
                "答案中的汇编不能读取文件。请删去它。",
            )
            .to_owned(),
    }
}

/// Formats a character's code point, such as `U+000B`.
fn number(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

/// Returns the first refused line and the reason.
fn refused(text: &str) -> Option<(usize, Why)> {
    let tokens = match tokens(text) {
        Ok(tokens) => tokens,
        Err(Odd { line, what }) => return Some((line, Why::Odd(what))),
    };
    let pragma = tokens.iter().any(|token| token.text == "_Pragma");
    (0..tokens.len()).find_map(|at| {
        let why = at_token(&tokens[at..], pragma)?;
        Some((tokens[at].line, why))
    })
}

/// Returns the reason why the construct that starts at the first token is refused, if it is.
fn at_token(tokens: &[Token], pragma: bool) -> Option<Why> {
    let (token, rest) = tokens.split_first()?;
    match token.kind {
        Kind::Hash if token.first => directive(line(rest)),
        Kind::Hash if pragma && rest.first().is_some_and(|next| next.kind == Kind::Hash) => {
            Some(Why::Paste)
        }
        Kind::Word if token.text == "_Pragma" => match rest {
            [open, text, ..] if open.text == "(" && text.kind == Kind::Text => {
                let words: Vec<&str> = text.text.split_ascii_whitespace().collect();
                (!is_pragma(&words)).then_some(Why::Pragma)
            }
            _ => Some(Why::Pragma),
        },
        Kind::Word => WORDS.contains(&&*token.text).then_some(Why::Word),
        Kind::Symbol => (token.text == "@").then_some(Why::Word),
        Kind::Text => {
            let is_in = |word: &&str| token.text.contains(*word);
            ASSEMBLER.iter().any(is_in).then_some(Why::Assembler)
        }
        Kind::Hash | Kind::Character | Kind::End => None,
    }
}

/// Returns the tokens up to the end of the line.
fn line<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let end = tokens.iter().position(|token| token.kind == Kind::End);
    &tokens[..end.unwrap_or(tokens.len())]
}

/// Returns the reason why a directive is refused, given the tokens after the `#`.
fn directive(line: &[Token]) -> Option<Why> {
    // A lone `#` is a null directive.
    let (name, rest) = line.split_first()?;
    match &*name.text {
        "include" => (!is_ours(rest)).then_some(Why::Include),
        "include_next" | "import" | "embed" => Some(Why::Include),
        "pragma" => {
            let words: Vec<&str> = rest.iter().map(|token| &*token.text).collect();
            (!is_pragma(&words)).then_some(Why::Pragma)
        }
        name => (!DIRECTIVES.contains(&name)).then_some(Why::Directive),
    }
}

fn is_ours(rest: &[Token]) -> bool {
    let [file] = rest else {
        return false;
    };
    file.kind == Kind::Text && HEADERS.contains(&&*file.text)
}

fn is_pragma(words: &[&str]) -> bool {
    PRAGMAS.iter().any(|allowed| words.starts_with(allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_c_become_ours_and_no_line_moves() {
        let text =
            "#include <stdio.h>\r\n # include \"math.h\" // why\nint x;\n#include <vector>\n";
        let ours = "#include \"standard_c.h\"";
        assert_eq!(
            with_ours(text),
            format!("{ours}\n{ours}\nint x;\n#include <vector>\n")
        );
        for other in [
            "#include <stdio.h> // a \\",
            "#include <stdio.h> int x;",
            "#include <../stdio.h>",
            "# if <stdio.h>",
            "#include <stdio.h> // ??/",
        ] {
            assert_eq!(with_ours(other), other);
        }
    }

    #[test]
    fn our_headers_may_be_included_and_a_kernel_be_written() {
        for text in [
            "#include \"cuda_device.h\"\r\n",
            "  #  include   \"async_copy.h\"  // why\nint x;",
            "#include\"tensor_core.h\"\n#\n",
            "/* a */ # /* b */ include /* c */ \"cuda_device.h\"",
            "#define include 3\n#define f(x) #x g##x\n#pragma unroll\nint included;",
            "#if defined(A) && \\\n B > 1'000\n#elif C\n#else\n#endif\n#undef A",
            "// #include <stdio.h>\n/*\n#include <stdio.h>\n*/ \"#include\"",
            "#pragma unroll 4\n_Pragma(\"unroll\") for (;;) {}\n#pragma GCC diagnostic push",
            "int 线程 = 0; // 每个线程处理一个元素；多余的线程什么也不做",
            "asm(\"mov.u32 %0, %%tid.x; // #1\" : \"=r\"(x)); char c = '\"', d = '\\\\', e = '#';",
            "a = b ? c : d ?: e; // ?!",
        ] {
            assert_eq!(refused(text), None, "{text}");
        }
    }

    #[test]
    fn other_files_are_refused_however_they_are_asked_for() {
        for (text, why) in [
            ("#include <stdio.h>", Why::Include),
            ("#include \"/etc/passwd\"", Why::Include),
            ("#include \"../cuda_device.h\"", Why::Include),
            ("#include \"cuda_device.h\" \"x\"", Why::Include),
            ("#include u8\"cuda_device.h\"", Why::Include),
            ("#include NAME", Why::Include),
            ("#include_next \"cuda_device.h\"", Why::Include),
            ("#import \"cuda_device.h\"", Why::Include),
            ("#embed \"secret\"", Why::Include),
            ("%: include \"secret\"", Why::Include),
            ("#\\\ninclude \"secret\"", Why::Include),
            ("#inc\\  \nlude \"secret\"", Why::Include),
            ("# /* a\ncomment */ include \"secret\"", Why::Include),
            ("#if 0\n#include \"secret\"\n#endif", Why::Include),
            ("#define A /*\n*/ \\\n1\n#include A", Why::Include),
            ("int x; /*\n*/ #include \"secret\"", Why::Include),
            ("#__include_macros \"secret\"", Why::Directive),
            (
                "#include_alias(\"cuda_device.h\", \"secret\")",
                Why::Directive,
            ),
            ("#line 1 \"secret\"", Why::Directive),
            ("# 1 \"secret\" 3", Why::Directive),
            ("#warning x /*\n#include \"secret\"\n// */", Why::Directive),
            ("#ident \"secret\"", Why::Directive),
            ("#pragma GCC dependency \"secret\"", Why::Pragma),
            ("#pragma include_alias(\"a\", \"b\")", Why::Pragma),
            ("#pragma clang __debug crash", Why::Pragma),
            ("#pragma clang module import Foo", Why::Pragma),
            ("#pragma", Why::Pragma),
            ("_Pragma(\"clang __debug parser_crash\")", Why::Pragma),
            ("#define P(x) _Pragma(#x)", Why::Pragma),
            ("_Pra\\\ngma(L\"unroll\")", Why::Pragma),
            ("#define C(a, b) a##b\n_Pragma(\"unroll\")", Why::Paste),
            ("#define C(a, b) a%:%:b\n_Pragma(\"unroll\")", Why::Paste),
            ("#if __has_include(\"secret\")", Why::Word),
            ("#if __has_\\\ninclude(\"secret\")", Why::Word),
            ("#define H __has_embed", Why::Word),
            ("import \"x.h\";", Why::Word),
            ("@import Foo;", Why::Word),
            ("asm(\".incbin \\\"secret\\\"\");", Why::Assembler),
            ("#\u{b}include \"secret\"", Why::Odd(What::Control('\u{b}'))),
            ("R\"(\n#/* )\"\n#include \"secret\"", Why::Odd(What::Raw)),
        ] {
            let found = refused(text).map(|(_, why)| why);
            assert_eq!(found, Some(why), "{text}");
        }
    }

    #[test]
    fn the_line_is_that_of_the_text() {
        let (line, _) = refused("/*\n*/ int \\\n x;\n#include <a>").expect("refused");
        assert_eq!(line, 4);
    }

    #[test]
    fn messages_say_what_to_write_in_both_languages() {
        let whys = [
            Why::Odd(What::Control('\0')),
            Why::Odd(What::Foreign('；')),
            Why::Odd(What::Trigraph),
            Why::Odd(What::Raw),
            Why::Odd(What::Backslash),
            Why::Include,
            Why::Directive,
            Why::Pragma,
            Why::Word,
            Why::Paste,
            Why::Assembler,
        ];
        for why in whys {
            let english = in_words(why, Lang::En);
            let chinese = in_words(why, Lang::Zh);
            assert!(
                english.ends_with('.') && chinese.ends_with('。'),
                "{english} {chinese}"
            );
        }
    }
}
