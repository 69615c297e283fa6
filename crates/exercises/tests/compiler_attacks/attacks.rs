//! The attacks: each text is placed before the correct submission to the first exercise.

/// Parts of messages for texts that are rejected before or by the compiler.
const INCLUDES_FORBIDDEN: &str = "a submission may not include this header";
const DIRECTIVE_FORBIDDEN: &str = "the only directives allowed are";
const PRAGMA_FORBIDDEN: &str = "the only pragmas allowed are";
const READS_FILE: &str = "accesses another file";
const CONTROL_CHARACTER: &str = "control character";
const COMPILER_ERROR: &str = "cannot compile it";
const COMPILER_KILLED: &str = "cannot finish compiling it";

/// Lists attacks as `name: text => a part of the message;`.
macro_rules! attacks {
    ($($name:literal: $text:literal => $message:expr;)*) => { &[$(($name, $text, $message)),*] };
}

/// Attacks with a part of their message. `SOLUTION` is a file of the course and `SECRET` a file of the
/// grader; no message may contain the text of either.
pub const ATTACKS: &[(&str, &str, &str)] = attacks! {
    // Files read with `#include`.
    "a system file": "#include \"SECRET\"" => INCLUDES_FORBIDDEN;
    "a solution": "#include \"SOLUTION\"" => INCLUDES_FORBIDDEN;
    "NUL before include": "#\0include \"SOLUTION\"" => CONTROL_CHARACTER;
    "a splice and a carriage return": "#inc\\\rlude \"SOLUTION\"" => CONTROL_CHARACTER;
    "a splice and CRLF": "#inc\\\r\nlude \"SECRET\"" => INCLUDES_FORBIDDEN;
    "a splice, a space and NUL": "#inc\\ \0\nlude \"SECRET\"" => CONTROL_CHARACTER;
    "a splice, a space and VT": "#inc\\ \t\u{b}\nlude \"SECRET\"" => CONTROL_CHARACTER;
    "VT and FF before include": "#\u{b}\u{c}include \"SECRET\"" => CONTROL_CHARACTER;
    "a trigraph's splice": "#inc??/\nlude \"SECRET\"" => "write a single `?`";
    "a trigraph's hash": "??=include \"SECRET\"" => "write a single `?`";
    "a digraph": "%:include \"SECRET\"" => INCLUDES_FORBIDDEN;
    "a digraph over two lines": "%\\\n:include \"SECRET\"" => INCLUDES_FORBIDDEN;
    "a universal character name": "#\\u0069nclude \"SECRET\"" => "backslash";
    "a comment with a spliced start": "#/\\\n* x */include \"SECRET\"" => INCLUDES_FORBIDDEN;
    "a comment continued by a splice": "#/*\\\n*/include \"SECRET\"" => INCLUDES_FORBIDDEN;
    "a comment with a lone carriage return": "#/\\\r* x */include \"SECRET\"" => CONTROL_CHARACTER;
    "a comment that ends after a carriage return":
        "#/* x *\\\r/include \"SECRET\"" => CONTROL_CHARACTER;
    "a comment with a spliced end": "/* *\\\n/\n#include \"SECRET\"" => "backslash";
    "a comment with a doubly spliced end": "/* *\\\n\\\n/ // */ #include \"SECRET\"" => "backslash";
    "after a comment of two lines": "int a; /*\n*/ #include \"SECRET\"" => INCLUDES_FORBIDDEN;
    "after a raw string": "R\"(\n#/* )\"\n#include \"SECRET\"" => "raw string";
    "after half a character": "int b; // don't\n'\n#include \"SECRET\"" => INCLUDES_FORBIDDEN;
    "after digits with a quote": "int c = 1'0; /* ' */\n#include \"SECRET\"" => INCLUDES_FORBIDDEN;
    "after a digit of another script":
        "#if 0\n1²'a /* '\n#endif\n#include \"SECRET\" // */" => "U+00B2";
    "after a full-width space": "\u{3000}#include \"SECRET\"" => "U+3000";
    "after a warning that opens a comment":
        "#warning /*\n#include \"SECRET\"\n// */" => DIRECTIVE_FORBIDDEN;
    "after an error that opens a comment":
        "#error /*\n#include \"SECRET\"\n// */" => DIRECTIVE_FORBIDDEN;
    "in a disabled conditional": "#if 0\n#include \"SECRET\"\n#endif" => INCLUDES_FORBIDDEN;
    "a name in a macro": "#define F \"SECRET\"\n#include F" => INCLUDES_FORBIDDEN;
    "a header in angle brackets": "#include <cuda_device.h>" => INCLUDES_FORBIDDEN;
    "a system header": "#include <unistd.h>" => INCLUDES_FORBIDDEN;
    "a course header by another path":
        "#include \"exercises/../cuda_device.h\"" => INCLUDES_FORBIDDEN;
    "include_next": "#include_next \"cuda_device.h\"" => INCLUDES_FORBIDDEN;
    "import with a hash": "#import \"SECRET\"" => INCLUDES_FORBIDDEN;
    "import in angle brackets, spliced": "#im\\\nport <SECRET>" => INCLUDES_FORBIDDEN;
    "a file's macros": "#__include_macros \"SECRET\"" => DIRECTIVE_FORBIDDEN;
    "a header alias": "#include_alias(\"cuda_device.h\",\"SECRET\")" => DIRECTIVE_FORBIDDEN;
    "a header alias by a pragma":
        "#pragma include_alias(\"cuda_device.h\",\"SECRET\")" => PRAGMA_FORBIDDEN;
    "the device as a file": "#include \"/dev/stdin\"" => INCLUDES_FORBIDDEN;
    "the submission itself": "#include \"-\"" => INCLUDES_FORBIDDEN;
    // Files read with `#embed` or by the assembler.
    "embed": "const char s[] = {\n#embed \"SECRET\"\n};" => INCLUDES_FORBIDDEN;
    "embed behind NUL": "const char s[] = {\n#\0embed \"SECRET\"\n};" => CONTROL_CHARACTER;
    "embed behind a carriage return": "#emb\\\red \"SECRET\"" => CONTROL_CHARACTER;
    "embed with a limit": "const char s[] = {\n%:embed <SECRET> limit(4)\n};" => INCLUDES_FORBIDDEN;
    "incbin": "asm(\".incbin \\\"SECRET\\\"\");" => "assembler";
    "an assembler include": "asm(\".include \\\"SECRET\\\"\");" => "assembler";
    // Probes for files.
    "has_include": "#if __has_include(\"SECRET\")\n#define A\n#endif" => READS_FILE;
    "has_include spliced": "#if __has_\\\ninclude(\"SECRET\")\n#define A\n#endif" => READS_FILE;
    "has_include of nothing": "#if !__has_include(\"/no/such\")\n#define A\n#endif" => READS_FILE;
    "has_include pasted":
        "#define C(a, b) a##b\n#if C(__has_, include)(\"SECRET\")\n#endif" => COMPILER_ERROR;
    "has_include_next": "#if __has_include_next(\"SECRET\")\n#endif" => READS_FILE;
    "has_embed": "#if __has_embed(\"SECRET\")\n#endif" => READS_FILE;
    "has_embed pasted":
        "#define C(a, b) a##b\n#if C(__has_em, bed)(\"SECRET\")\n#endif" => COMPILER_ERROR;
    "defined has_include in a macro":
        "#define H(x) __has_include(x)\n#if H(\"SECRET\")\n#endif" => READS_FILE;
    "a dependency": "#pragma GCC dependency \"SECRET\"" => PRAGMA_FORBIDDEN;
    "a dependency by _Pragma": "_Pragma(\"GCC dependency \\\"SECRET\\\"\")" => PRAGMA_FORBIDDEN;
    "a dependency through a macro":
        "#define P(x) _Pragma(#x)\nP(GCC dependency \"SECRET\")" => PRAGMA_FORBIDDEN;
    "a pasted operator":
        "#define C(a, b) a##b\nC(_Pra, gma)(\"GCC dependency \\\"SECRET\\\"\")" => COMPILER_ERROR;
    "a pasted operator next to another": "#define C(a, b) a##b\n_Pragma(\"unroll\")" => "`##`";
    "a wide-character operator": "_Pragma(L\"GCC dependency \\\"SECRET\\\"\")" => PRAGMA_FORBIDDEN;
    "another compiler's operator": "__pragma(message(\"x\"))" => READS_FILE;
    // Modules.
    "an Objective-C import": "@import Foo;" => READS_FILE;
    "a C++ import": "import \"SECRET\";" => READS_FILE;
    "a module import": "#pragma clang module import Foo" => PRAGMA_FORBIDDEN;
    "loading a module": "#pragma clang module load Foo" => PRAGMA_FORBIDDEN;
    "building a module": "#pragma clang module build Foo" => PRAGMA_FORBIDDEN;
    // Forged names and lines.
    "a line directive naming another file": "#line 1 \"SECRET\"" => DIRECTIVE_FORBIDDEN;
    "a line marker": "# 1 \"SECRET\" 1 3 4" => DIRECTIVE_FORBIDDEN;
    "an ident directive": "#ident \"SECRET\"" => DIRECTIVE_FORBIDDEN;
    "a message to the terminal": "#pragma message(\"\\x1b[2J\")" => PRAGMA_FORBIDDEN;
    "an escape in a comment": "// \x1b[2J" => CONTROL_CHARACTER;
    "a lone carriage return in a comment": "// fine\rint x;" => CONTROL_CHARACTER;
    "a Latin-1 control character": "// \u{9b}2J" => CONTROL_CHARACTER;
    // Crashes and endless work.
    "a parser crash": "#pragma clang __debug parser_crash" => PRAGMA_FORBIDDEN;
    "a parser crash by _Pragma": "_Pragma(\"clang __debug parser_crash\")" => PRAGMA_FORBIDDEN;
    "a stack overflow": "#pragma clang __debug overflow_stack" => PRAGMA_FORBIDDEN;
    // Either the step limit or the time limit ends it.
    "an endless constant expression":
        "constexpr int f(int n) { int s = 0; for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) s += i ^ j; \
         return s; }\nstatic_assert(f(1000000) == 0, \"\");"
        => "";
    "exponential templates":
        "template<int D, int I> struct F { static constexpr long v = F<D-1, 2*I>::v + F<D-1, 2*I+1>::v; };\n\
         template<int I> struct F<0, I> { static constexpr long v = I; };\n__device__ long q = F<28, 0>::v;"
        => COMPILER_KILLED;
    "nested templates":
        "template<int N> struct A { typename A<N-1>::template B<A<N-1>> x; \
         template<class T> struct B : A<N-1> { T t; T u; }; };\n\
         template<> struct A<0> { template<class T> struct B {}; };\nA<800> a;"
        => "";
    "a table of many megabytes":
        "struct Table { int first[1 << 24]; int last; };\n__device__ Table t = {{1}, 2};\n\
         __global__ void k(int *x) { *x = t.first[*x] + t.last; }"
        => COMPILER_KILLED;
    "exponential macros": "DOUBLED" => "";
    "deeply nested brackets": "BRACKETS" => COMPILER_ERROR;
    "a name that PTX cannot express":
        "__device__ int 个数;" => "Symbol name with unsupported characters";
};

/// Harmless texts that resemble attacks.
pub const HARMLESS: &[(&str, &str)] = &[
    (
        "an include in a comment",
        "// #include <stdio.h>\n/*\n#include <stdlib.h>\n*/",
    ),
    (
        "an include in a string",
        "__device__ const char *text = \"#include <stdio.h>\";",
    ),
    ("a spliced course header", "#inc\\\nlude \"cuda_device.h\""),
    (
        "a digraph with a course header",
        "%: /* a\n b */ include \"cuda_device.h\" // why",
    ),
    (
        "lines that end in CRLF",
        "#define A \\\r\n 1\r\n#if A > 1'000\r\n#endif\r\n",
    ),
    (
        "token pasting and stringizing",
        "#define C(a, b) a##b\n#define S(a) #a\n__device__ int C(one, two);",
    ),
    (
        "loop pragmas",
        "#pragma GCC diagnostic push\n__device__ void f(int *x) {\n#pragma unroll 4\nfor (int i = 0; i < 9; ++i) ++*x;\n\
         _Pragma(\"unroll\") for (int i = 0; i < 9; ++i) ++*x;\n}",
    ),
    // clang drops assembler outside functions from a kernel's code, so this has no effect.
    (
        "a kernel in assembler",
        "asm(\".visible .entry extra() { .reg .f32 %f<4000000000>; .shared .align 4 .b8 s[200000]; ret; }\");",
    ),
    (
        "assembler with a pasted .incbin",
        "asm(\".inc\" \"bin \\\"/etc/passwd\\\"\");\nasm(\".file 7 \\\"/etc/passwd\\\"\");",
    ),
    ("a hash alone", "#\n# // nothing\n"),
    (
        "Chinese comments and names",
        "// 越界的线程什么也不做；不要写 #include\n__device__ int f(int 个数) { return 个数; }",
    ),
    ("a byte order mark", "\u{feff}"),
];
