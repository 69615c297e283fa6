//! Restrictions on a submission's use of the compiler: it may include the course's headers and no other file.
//! Otherwise the compiler's messages could reveal lines of other files, or whether they exist.
//!
//! This is the first of three defences: the compiler is also confined so that it cannot open other files, and
//! the list of files that it did open is checked afterwards. This one tells the student what to write
//! instead.

use chapter::lang::{Lang, Text};

use super::tokens::{Construct, Kind, Rejected, Token, tokens};
use super::{Failure, Stop};
use crate::data::Step;

/// Headers that submissions may include.
pub const HEADERS: [&str; 6] = [
    "cuda_device.h",
    "all_device.h",
    "async_copy.h",
    "tensor_core.h",
    "cooperative.h",
    "standard_c.h",
];

/// Headers of C that submissions may include.
const C_HEADERS: &str = "assert.h float.h inttypes.h limits.h math.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h \
                         cassert cfloat cinttypes climits cmath cstddef cstdint cstdio cstdlib cstring initializer_list";

/// Headers of CUDA that submissions may include: those whose device functions, types and constants all submissions
/// can use.
const CUDA_HEADERS: &str = "cuda.h cuda_runtime.h cuda_runtime_api.h builtin_types.h common_functions.h \
                            device_atomic_functions.h device_functions.h device_launch_parameters.h host_defines.h \
                            math_constants.h math_functions.h sm_20_atomic_functions.h sm_20_intrinsics.h \
                            sm_30_intrinsics.h sm_32_atomic_functions.h sm_32_intrinsics.h sm_35_atomic_functions.h \
                            sm_35_intrinsics.h sm_60_atomic_functions.h sm_61_intrinsics.h vector_functions.h \
                            vector_types.h";

/// Headers of CUDA's cooperative groups.
const GROUP_HEADERS: &str = "cooperative_groups.h cooperative_groups/memcpy_async.h cooperative_groups/reduce.h \
                             cooperative_groups/scan.h";

/// Headers of CUDA's asynchronous copies.
const PIPELINE_HEADERS: &str = "cuda_pipeline.h cuda_pipeline_primitives.h";

/// The headers of C and CUDA, each list with the course's header that replaces them.
const REPLACED: [(&str, &str); 4] = [
    (C_HEADERS, "standard_c.h"),
    (CUDA_HEADERS, "standard_c.h"),
    (GROUP_HEADERS, "cooperative.h"),
    (PIPELINE_HEADERS, "async_copy.h"),
];

/// Replaces lines that include a header of C or CUDA by an include of the course's header. Line numbers do not
/// change.
pub fn replace_headers(text: &str) -> String {
    let course_include = |line: &str| match replacement(line) {
        Some(header) => format!("#include \"{header}\""),
        None => line.to_owned(),
    };
    text.split('\n')
        .map(course_include)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the course's header that replaces the one that a line includes; `None` if the line contains anything else.
fn replacement(line: &str) -> Option<&'static str> {
    let rest = line.trim().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start();
    let (name, rest) = match rest.strip_prefix('<') {
        Some(rest) => rest.split_once('>')?,
        None => rest.strip_prefix('"')?.split_once('"')?,
    };
    let rest = rest.trim_start();
    let is_line_comment = rest.starts_with("//") && !rest.ends_with(['\\', '/']);
    let comment = rest.strip_prefix("/*");
    let end = comment.and_then(|rest| Some(rest.len() - rest.find("*/")?));
    let is_block_comment = end == Some(2);
    let ends = rest.is_empty() || is_line_comment || is_block_comment;
    let is_named = |names: &str| names.split(' ').any(|header| header == name);
    let replaced = REPLACED.iter().find(|(names, _)| is_named(names));
    replaced.filter(|_| ends).map(|(_, header)| *header)
}

/// Returns a text that may use all device functions, whether or not it includes their headers. The compiler's messages name
/// the same lines of `file_name`.
pub fn with_all_device_functions(file_name: &str, text: &str) -> String {
    format!("#include \"all_device.h\"\n#line 1 \"{file_name}\"\n{text}")
}

/// Preprocessor directives that submissions may use, in addition to `#include` and `#pragma`.
const DIRECTIVES: [&str; 10] = [
    "define", "undef", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif",
];

/// Permitted first words after `#pragma`: loop hints and control of warnings.
const PRAGMAS: &str = "unroll, nounroll, once, pack, region, endregion, STDC, nv_diag_suppress, nv_diag_default, \
                       nv_diagnostic, diag_suppress, clang loop, clang fp, clang diagnostic, GCC unroll, \
                       GCC diagnostic";

/// Words that test for or include files.
const FILE_WORDS: [&str; 5] = [
    "__has_include",
    "__has_include_next",
    "__has_embed",
    "__pragma",
    "__import__",
];

/// Assembler directives that include files.
const ASSEMBLER: [&str; 2] = [".incbin", ".include"];

/// The reason why a text is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Rejected(Construct),
    /// An include of a file other than the course's headers.
    Include,
    /// A preprocessor directive that is not permitted.
    Directive,
    /// `#pragma` or `_Pragma` with words that are not permitted.
    Pragma,
    /// One of [`FILE_WORDS`], `@`, or `import` of a file.
    Word,
    /// `##` in a text that uses `_Pragma`.
    Paste,
    /// An assembler directive that reads a file.
    Assembler,
}

/// Fails if the text uses a construct that is not permitted.
pub fn verdict(text: &str) -> Result<(), Stop> {
    let Some((line, refusal)) = first_refusal(text) else {
        return Ok(());
    };
    let source_line = text.lines().nth(line - 1).unwrap_or_default().trim();
    let message = Text::from_fn(|lang| {
        let explanation = explain(refusal, lang);
        // The list of headers is long.
        match explanation.split_once("\n\n") {
            Some((what, list)) => {
                let head = localize!(lang, "Line {}: {}", "第 {} 行：{}"; line, what);
                format!("{head}\n\n    {source_line}\n\n{list}")
            }
            None => {
                let head = localize!(lang, "Line {}: {}", "第 {} 行：{}"; line, explanation);
                format!("{head}\n\n    {source_line}")
            }
        }
    });
    Err(Stop::Failed(Failure::at_step(Step::Compile, message)))
}

fn explain(refusal: Refusal, lang: Lang) -> String {
    match refusal {
        Refusal::Rejected(Construct::Control(character)) => localize!(
            lang,
            "it contains a control character, {}, that editors do not show. Delete it and retype \
             the line.",
            "含有编辑器不显示的控制字符 {}。请删除它，重新输入这一行。";
            code_point(character)
        ),
        Refusal::Rejected(Construct::Foreign(character)) => localize!(
            lang,
            "it contains '{}' ({}) outside of comments and strings, which is not a CUDA C \
             character. Type the ASCII one: a space, a bracket, a semicolon.",
            "注释和字符串之外出现了“{}”（{}），它不是 CUDA C 的字符。请改用半角（ASCII）的空格、括号或分号。";
            character, code_point(character)
        ),
        Refusal::Rejected(Construct::Trigraph) => localize!(
            lang,
            "it contains `??` and a character, which compilers may read as a trigraph. Write a \
             single `?`.",
            "含有“??”加一个字符的写法，编译器可能把它当作三字符组（trigraph）。请只写一个 ?。"
        ),
        Refusal::Rejected(Construct::Raw) => localize!(
            lang,
            "it contains a raw string, R\"(…)\". Write a plain one: \"…\".",
            "含有原始字符串 R\"(…)\"。请写成普通字符串 \"…\"。"
        ),
        Refusal::Rejected(Construct::Backslash) => localize!(
            lang,
            "it contains a backslash that is neither at the end of a line nor in a string. \
             Delete it.",
            "含有一个既不在行末、也不在字符串中的反斜杠。请删除它。"
        ),
        Refusal::Include => explain_include(lang),
        Refusal::Directive => localize!(
            lang,
            "the only directives allowed are #include, #pragma, #{}.",
            "以 # 开头的行只能是 #include、#pragma、#{}。";
            DIRECTIVES.join(lang.pick(", #", "、#"))
        ),
        Refusal::Pragma => localize!(
            lang,
            "the only pragmas allowed are {}, also in _Pragma(\"…\").",
            "#pragma 只能是 {}，_Pragma(\"…\") 也是如此。";
            PRAGMAS.replace(", ", lang.pick(", ", "、"))
        ),
        Refusal::Word => localize!(
            lang,
            "this accesses another file, but a submission is a single file. Remove it.",
            "这里访问了其他文件，而答案只能是一个文件。请删去它。"
        ),
        Refusal::Paste => localize!(
            lang,
            "a submission with _Pragma must not contain `##`. Write `#pragma` on its own line.",
            "含有 _Pragma 的答案不能同时使用 ##。请把 #pragma 单独写成一行。"
        ),
        Refusal::Assembler => localize!(
            lang,
            "assembler code must not read files. Remove it.",
            "答案中的汇编不能读取文件。请删去它。"
        ),
    }
}

/// Lists the headers that a submission may include.
fn explain_include(lang: Lang) -> String {
    let separator = lang.pick(", ", "、");
    let list = |headers: &[&str]| {
        let names = headers.iter().flat_map(|names| names.split(' '));
        names
            .map(|name| format!("<{name}>"))
            .collect::<Vec<_>>()
            .join(separator)
    };
    localize!(
        lang,
        "a submission may not include this header.\n\nRemove the line: `min`, `max` and the mathematical functions need no \
         header, <cfloat> and <climits> have the limits of numbers, and <cuda_pipeline.h> has asynchronous copies. C++'s \
         standard library, `cuda::`, `cub::` and half precision are not available in this course. Permitted are, in quotes, the course's headers {}; of C, {}; and of CUDA, {}.",
        "答案不能包含这个头文件。\n\n请删去这一行：`min`、`max` 和数学函数不需要头文件，数值的上下限在 <cfloat> 和 \
         <climits> 中，异步复制在 <cuda_pipeline.h> 中。本课程不提供 C++ 标准库、`cuda::`、`cub::` 和半精度类型。可以包含的有：课程的头文件 {}（写在双引号之间）；\
         C 的 {}；CUDA 的 {}。";
        HEADERS[..5].join(separator),
        list(&[C_HEADERS]),
        list(&[CUDA_HEADERS, GROUP_HEADERS, PIPELINE_HEADERS])
    )
}

/// Formats a character's code point, such as `U+000B`.
fn code_point(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

/// Returns the first refused line and the reason.
fn first_refusal(text: &str) -> Option<(usize, Refusal)> {
    let tokens = match tokens(text) {
        Ok(tokens) => tokens,
        Err(Rejected { line, construct }) => return Some((line, Refusal::Rejected(construct))),
    };
    let pragma = tokens.iter().any(|token| token.text == "_Pragma");
    (0..tokens.len()).find_map(|at| {
        let refusal = refusal_at(&tokens[at..], pragma)?;
        Some((tokens[at].line, refusal))
    })
}

/// Returns the reason why the construct that starts at the first token is refused, if it is.
fn refusal_at(tokens: &[Token], pragma: bool) -> Option<Refusal> {
    let (token, rest) = tokens.split_first()?;
    match token.kind {
        Kind::Hash if token.first => directive(line(rest)),
        Kind::Hash if pragma && rest.first().is_some_and(|next| next.kind == Kind::Hash) => {
            Some(Refusal::Paste)
        }
        Kind::Word if token.text == "_Pragma" => match rest {
            [open, text, ..] if open.text == "(" && text.kind == Kind::Text => {
                let words: Vec<&str> = text.text.split_ascii_whitespace().collect();
                (!is_pragma(&words)).then_some(Refusal::Pragma)
            }
            _ => Some(Refusal::Pragma),
        },
        Kind::Word if token.text == "import" => {
            let is_file = |next: &Token| next.kind == Kind::Text || next.text == "<";
            rest.first().is_some_and(is_file).then_some(Refusal::Word)
        }
        Kind::Word => FILE_WORDS.contains(&&*token.text).then_some(Refusal::Word),
        Kind::Symbol => (token.text == "@").then_some(Refusal::Word),
        Kind::Text => {
            let is_in = |word: &&str| token.text.contains(*word);
            ASSEMBLER.iter().any(is_in).then_some(Refusal::Assembler)
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
fn directive(line: &[Token]) -> Option<Refusal> {
    // A lone `#` is a null directive.
    let (name, rest) = line.split_first()?;
    match &*name.text {
        "include" => (!is_course_header(rest)).then_some(Refusal::Include),
        "include_next" | "import" | "embed" => Some(Refusal::Include),
        "pragma" => {
            let words: Vec<&str> = rest.iter().map(|token| &*token.text).collect();
            (!is_pragma(&words)).then_some(Refusal::Pragma)
        }
        name => (!DIRECTIVES.contains(&name)).then_some(Refusal::Directive),
    }
}

fn is_course_header(rest: &[Token]) -> bool {
    let [file] = rest else {
        return false;
    };
    file.kind == Kind::Text && HEADERS.contains(&&*file.text)
}

fn is_pragma(words: &[&str]) -> bool {
    let mut allowed = PRAGMAS.split(", ");
    allowed.any(|allowed| words.starts_with(&allowed.split(' ').collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_headers_are_replaced_in_place() {
        let text = "#include <stdio.h>\r\n # include \"math.h\" // why\nint x;\n#include <vector>\n#include <stdio.h> /* printf */\n";
        let course_include = "#include \"standard_c.h\"";
        assert_eq!(
            replace_headers(text),
            format!(
                "{course_include}\n{course_include}\nint x;\n#include <vector>\n{course_include}\n"
            )
        );
        for (header, replacement) in [
            ("cooperative_groups/memcpy_async.h", "cooperative.h"),
            ("cuda_pipeline.h", "async_copy.h"),
            ("cuda_runtime.h", "standard_c.h"),
            ("math_constants.h", "standard_c.h"),
            ("cinttypes", "standard_c.h"),
            ("sm_30_intrinsics.h", "standard_c.h"),
        ] {
            let included = replace_headers(&format!("#include <{header}>"));
            assert_eq!(included, format!("#include \"{replacement}\""));
        }
        for other in [
            "#include <stdio.h> // a \\",
            "#include <stdio.h> int x;",
            "#include <stdio.h> /* why */ int x;",
            "#include <stdio.h> /* why",
            "#include <stdio.h> /*",
            "#include <../stdio.h>",
            "# if <stdio.h>",
            "#include <stdio.h> // ??/",
        ] {
            assert_eq!(replace_headers(other), other);
        }
    }

    #[test]
    fn course_headers_and_kernels_are_accepted() {
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
            "int import = 1; import++;",
        ] {
            assert_eq!(first_refusal(text), None, "{text}");
        }
    }

    #[test]
    fn other_files_are_refused_in_any_spelling() {
        for (text, refusal) in [
            ("#include <stdio.h>", Refusal::Include),
            ("#include \"/etc/passwd\"", Refusal::Include),
            ("#include \"../cuda_device.h\"", Refusal::Include),
            ("#include \"cuda_device.h\" \"x\"", Refusal::Include),
            ("#include u8\"cuda_device.h\"", Refusal::Include),
            ("#include NAME", Refusal::Include),
            ("#include_next \"cuda_device.h\"", Refusal::Include),
            ("#import \"cuda_device.h\"", Refusal::Include),
            ("#embed \"secret\"", Refusal::Include),
            ("%: include \"secret\"", Refusal::Include),
            ("#\\\ninclude \"secret\"", Refusal::Include),
            ("#inc\\  \nlude \"secret\"", Refusal::Include),
            ("# /* a\ncomment */ include \"secret\"", Refusal::Include),
            ("#if 0\n#include \"secret\"\n#endif", Refusal::Include),
            ("#define A /*\n*/ \\\n1\n#include A", Refusal::Include),
            ("int x; /*\n*/ #include \"secret\"", Refusal::Include),
            ("#__include_macros \"secret\"", Refusal::Directive),
            (
                "#include_alias(\"cuda_device.h\", \"secret\")",
                Refusal::Directive,
            ),
            ("#line 1 \"secret\"", Refusal::Directive),
            ("# 1 \"secret\" 3", Refusal::Directive),
            (
                "#warning x /*\n#include \"secret\"\n// */",
                Refusal::Directive,
            ),
            ("#ident \"secret\"", Refusal::Directive),
            ("#pragma GCC dependency \"secret\"", Refusal::Pragma),
            ("#pragma include_alias(\"a\", \"b\")", Refusal::Pragma),
            ("#pragma clang __debug crash", Refusal::Pragma),
            ("#pragma clang module import Foo", Refusal::Pragma),
            ("#pragma", Refusal::Pragma),
            ("_Pragma(\"clang __debug parser_crash\")", Refusal::Pragma),
            ("#define P(x) _Pragma(#x)", Refusal::Pragma),
            ("_Pra\\\ngma(L\"unroll\")", Refusal::Pragma),
            ("#define C(a, b) a##b\n_Pragma(\"unroll\")", Refusal::Paste),
            (
                "#define C(a, b) a%:%:b\n_Pragma(\"unroll\")",
                Refusal::Paste,
            ),
            ("#if __has_include(\"secret\")", Refusal::Word),
            ("#if __has_\\\ninclude(\"secret\")", Refusal::Word),
            ("#define H __has_embed", Refusal::Word),
            ("import \"x.h\";", Refusal::Word),
            ("@import Foo;", Refusal::Word),
            ("asm(\".incbin \\\"secret\\\"\");", Refusal::Assembler),
            (
                "#\u{b}include \"secret\"",
                Refusal::Rejected(Construct::Control('\u{b}')),
            ),
            (
                "R\"(\n#/* )\"\n#include \"secret\"",
                Refusal::Rejected(Construct::Raw),
            ),
        ] {
            let actual = first_refusal(text).map(|(_, refusal)| refusal);
            assert_eq!(actual, Some(refusal), "{text}");
        }
    }

    #[test]
    fn line_numbers_count_comments_and_continuations() {
        let (line, _) = first_refusal("/*\n*/ int \\\n x;\n#include <a>").expect("an error");
        assert_eq!(line, 4);
    }

    #[test]
    fn messages_end_with_a_full_stop_in_both_languages() {
        let whys = [
            Refusal::Rejected(Construct::Control('\0')),
            Refusal::Rejected(Construct::Foreign('；')),
            Refusal::Rejected(Construct::Trigraph),
            Refusal::Rejected(Construct::Raw),
            Refusal::Rejected(Construct::Backslash),
            Refusal::Include,
            Refusal::Directive,
            Refusal::Pragma,
            Refusal::Word,
            Refusal::Paste,
            Refusal::Assembler,
        ];
        for refusal in whys {
            let english = explain(refusal, Lang::En);
            let translate = explain(refusal, Lang::Zh);
            assert!(
                english.ends_with('.') && translate.ends_with('。'),
                "{english} {translate}"
            );
        }
    }
}
