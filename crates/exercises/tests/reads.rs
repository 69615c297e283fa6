//! Answers that ask the compiler for more than to compile them: to read files, to tell which there are, to
//! crash, or to work for ever. Each is rejected with a message; what only looks like one is judged as any
//! other.

mod support;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;

use confine::{Rules, system_libraries};
use kernel_build::{Clang, Tree};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use support::{Program, unless, with_clang, without_clang};

const HEAD: &str = "#include \"cuda_device.h\"\n";

/// The right answer to the first exercise.
const RIGHT: &str =
    "extern \"C\" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
";

/// What a message has where the text was refused before the compiler saw it.
const HEADERS: &str = "an answer may include cuda_device.h";
const DIRECTIVE: &str = "of lines with `#` an answer may have";
const PRAGMA: &str = "of pragmas an answer may have";
const ASKS: &str = "asks for another file";
const CONTROL: &str = "control character";
const COMPILER: &str = "does not compile it";
const ENDED: &str = "does not come to an end with it";

/// Answers, each with what its message has. `SOLUTION` is a file of the course's, `SECRET` one of the
/// grader's; the text of neither may be in any message.
const REJECTED: &[(&str, &str, &str)] = &[
    // Files by `#include`.
    ("a file of the system's", "#include \"SECRET\"", HEADERS),
    ("a solution", "#include \"SOLUTION\"", HEADERS),
    ("NUL before include", "#\0include \"SOLUTION\"", CONTROL),
    (
        "a splice and a carriage return",
        "#inc\\\rlude \"SOLUTION\"",
        CONTROL,
    ),
    ("a splice and CRLF", "#inc\\\r\nlude \"SECRET\"", HEADERS),
    (
        "a splice, a blank and NUL",
        "#inc\\ \0\nlude \"SECRET\"",
        CONTROL,
    ),
    (
        "a splice, a blank and VT",
        "#inc\\ \t\u{b}\nlude \"SECRET\"",
        CONTROL,
    ),
    (
        "VT and FF before include",
        "#\u{b}\u{c}include \"SECRET\"",
        CONTROL,
    ),
    (
        "a trigraph's splice",
        "#inc??/\nlude \"SECRET\"",
        "write one `?`",
    ),
    (
        "a trigraph's hash",
        "??=include \"SECRET\"",
        "write one `?`",
    ),
    ("a digraph", "%:include \"SECRET\"", HEADERS),
    (
        "a digraph over two lines",
        "%\\\n:include \"SECRET\"",
        HEADERS,
    ),
    (
        "a universal character name",
        "#\\u0069nclude \"SECRET\"",
        "backslash",
    ),
    (
        "a comment that begins spliced",
        "#/\\\n* x */include \"SECRET\"",
        HEADERS,
    ),
    (
        "a comment that goes on spliced",
        "#/*\\\n*/include \"SECRET\"",
        HEADERS,
    ),
    (
        "a comment with a lone carriage return",
        "#/\\\r* x */include \"SECRET\"",
        CONTROL,
    ),
    (
        "a comment that ends after a carriage return",
        "#/* x *\\\r/include \"SECRET\"",
        CONTROL,
    ),
    (
        "a comment that ends spliced",
        "/* *\\\n/\n#include \"SECRET\"",
        "backslash",
    ),
    (
        "a comment that ends spliced twice",
        "/* *\\\n\\\n/ // */ #include \"SECRET\"",
        "backslash",
    ),
    (
        "behind a comment of two lines",
        "int a; /*\n*/ #include \"SECRET\"",
        HEADERS,
    ),
    (
        "behind a raw string",
        "R\"(\n#/* )\"\n#include \"SECRET\"",
        "raw string",
    ),
    (
        "behind half a character",
        "int b; // don't\n'\n#include \"SECRET\"",
        HEADERS,
    ),
    (
        "behind digits with a quote",
        "int c = 1'0; /* ' */\n#include \"SECRET\"",
        HEADERS,
    ),
    (
        "behind a number of another script",
        "#if 0\n1²'a /* '\n#endif\n#include \"SECRET\" // */",
        "U+00B2",
    ),
    (
        "behind a full-width blank",
        "\u{3000}#include \"SECRET\"",
        "U+3000",
    ),
    (
        "behind a warning that opens a comment",
        "#warning /*\n#include \"SECRET\"\n// */",
        DIRECTIVE,
    ),
    (
        "behind an error that opens a comment",
        "#error /*\n#include \"SECRET\"\n// */",
        DIRECTIVE,
    ),
    (
        "where nothing is compiled",
        "#if 0\n#include \"SECRET\"\n#endif",
        HEADERS,
    ),
    (
        "a name in a macro",
        "#define F \"SECRET\"\n#include F",
        HEADERS,
    ),
    (
        "a header between brackets",
        "#include <cuda_device.h>",
        HEADERS,
    ),
    ("a header of the system's", "#include <stdio.h>", HEADERS),
    (
        "a header of ours by another way",
        "#include \"exercises/../cuda_device.h\"",
        HEADERS,
    ),
    (
        "the next header of the name",
        "#include_next \"cuda_device.h\"",
        HEADERS,
    ),
    ("import with a hash", "#import \"SECRET\"", HEADERS),
    (
        "import between brackets, spliced",
        "#im\\\nport <SECRET>",
        HEADERS,
    ),
    (
        "macros of a file",
        "#__include_macros \"SECRET\"",
        DIRECTIVE,
    ),
    (
        "another name for a header",
        "#include_alias(\"cuda_device.h\",\"SECRET\")",
        DIRECTIVE,
    ),
    (
        "another name by a pragma",
        "#pragma include_alias(\"cuda_device.h\",\"SECRET\")",
        PRAGMA,
    ),
    ("the device as a file", "#include \"/dev/stdin\"", HEADERS),
    ("the answer itself", "#include \"-\"", HEADERS),
    // Files by `#embed` and assembler.
    (
        "embed",
        "const char s[] = {\n#embed \"SECRET\"\n};",
        HEADERS,
    ),
    (
        "embed behind NUL",
        "const char s[] = {\n#\0embed \"SECRET\"\n};",
        CONTROL,
    ),
    (
        "embed behind a carriage return",
        "#emb\\\red \"SECRET\"",
        CONTROL,
    ),
    (
        "embed with a limit",
        "const char s[] = {\n%:embed <SECRET> limit(4)\n};",
        HEADERS,
    ),
    ("incbin", "asm(\".incbin \\\"SECRET\\\"\");", "assembler"),
    (
        "an include of the assembler's",
        "asm(\".include \\\"SECRET\\\"\");",
        "assembler",
    ),
    // Which files there are.
    (
        "has_include",
        "#if __has_include(\"SECRET\")\n#define A\n#endif",
        ASKS,
    ),
    (
        "has_include spliced",
        "#if __has_\\\ninclude(\"SECRET\")\n#define A\n#endif",
        ASKS,
    ),
    (
        "has_include of nothing",
        "#if !__has_include(\"/no/such\")\n#define A\n#endif",
        ASKS,
    ),
    (
        "has_include pasted",
        "#define C(a, b) a##b\n#if C(__has_, include)(\"SECRET\")\n#endif",
        COMPILER,
    ),
    (
        "has_include_next",
        "#if __has_include_next(\"SECRET\")\n#endif",
        ASKS,
    ),
    ("has_embed", "#if __has_embed(\"SECRET\")\n#endif", ASKS),
    (
        "has_embed pasted",
        "#define C(a, b) a##b\n#if C(__has_em, bed)(\"SECRET\")\n#endif",
        COMPILER,
    ),
    (
        "defined has_include in a macro",
        "#define H(x) __has_include(x)\n#if H(\"SECRET\")\n#endif",
        ASKS,
    ),
    ("a dependency", "#pragma GCC dependency \"SECRET\"", PRAGMA),
    (
        "a dependency by an operator",
        "_Pragma(\"GCC dependency \\\"SECRET\\\"\")",
        PRAGMA,
    ),
    (
        "a dependency through a macro",
        "#define P(x) _Pragma(#x)\nP(GCC dependency \"SECRET\")",
        PRAGMA,
    ),
    (
        "a pasted operator",
        "#define C(a, b) a##b\nC(_Pra, gma)(\"GCC dependency \\\"SECRET\\\"\")",
        COMPILER,
    ),
    (
        "a pasted operator beside another",
        "#define C(a, b) a##b\n_Pragma(\"unroll\")",
        "`##`",
    ),
    (
        "an operator of wide characters",
        "_Pragma(L\"GCC dependency \\\"SECRET\\\"\")",
        PRAGMA,
    ),
    (
        "an operator of another compiler",
        "__pragma(message(\"x\"))",
        ASKS,
    ),
    // Modules.
    ("import of Objective-C", "@import Foo;", ASKS),
    ("import of C++", "import \"SECRET\";", ASKS),
    (
        "import of a module",
        "#pragma clang module import Foo",
        PRAGMA,
    ),
    ("loading a module", "#pragma clang module load Foo", PRAGMA),
    (
        "building a module",
        "#pragma clang module build Foo",
        PRAGMA,
    ),
    // Names and lines of others.
    ("a line of another file", "#line 1 \"SECRET\"", DIRECTIVE),
    ("a mark of a line", "# 1 \"SECRET\" 1 3 4", DIRECTIVE),
    ("an identification", "#ident \"SECRET\"", DIRECTIVE),
    (
        "a message to the terminal",
        "#pragma message(\"\\x1b[2J\")",
        PRAGMA,
    ),
    ("an escape in a comment", "// \x1b[2J", CONTROL),
    (
        "a lone carriage return in a comment",
        "// fine\rint x;",
        CONTROL,
    ),
    ("a control character of Latin-1", "// \u{9b}2J", CONTROL),
    // Crashes and work without end.
    (
        "a crash of the parser",
        "#pragma clang __debug parser_crash",
        PRAGMA,
    ),
    (
        "a crash by an operator",
        "_Pragma(\"clang __debug parser_crash\")",
        PRAGMA,
    ),
    (
        "an overflow of the stack",
        "#pragma clang __debug overflow_stack",
        PRAGMA,
    ),
    (
        "a loop in a constant",
        "constexpr int f(int n) { int s = 0; for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) s += i ^ j; \
         return s; }\nstatic_assert(f(1000000) == 0, \"\");",
        // Ended after so many steps, or after so much time.
        "",
    ),
    (
        "templates that double",
        "template<int D, int I> struct F { static constexpr long v = F<D-1, 2*I>::v + F<D-1, 2*I+1>::v; };\n\
         template<int I> struct F<0, I> { static constexpr long v = I; };\n__device__ long q = F<28, 0>::v;",
        ENDED,
    ),
    (
        "templates that nest",
        "template<int N> struct A { typename A<N-1>::template B<A<N-1>> x; \
         template<class T> struct B : A<N-1> { T t; T u; }; };\n\
         template<> struct A<0> { template<class T> struct B {}; };\nA<800> a;",
        "",
    ),
    (
        "a table of many megabytes",
        "struct Table { int first[1 << 24]; int last; };\n__device__ Table t = {{1}, 2};\n\
         __global__ void k(int *x) { *x = t.first[*x] + t.last; }",
        ENDED,
    ),
    ("macros that double", "DOUBLED", ""),
    ("brackets without end", "BRACKETS", COMPILER),
    (
        "a name that PTX does not have",
        "__device__ int 个数;",
        "Symbol name with unsupported characters",
    ),
];

/// Answers that only look as if they asked for something.
const RIGHT_ONES: &[(&str, &str)] = &[
    (
        "an include in a comment",
        "// #include <stdio.h>\n/*\n#include <stdlib.h>\n*/",
    ),
    (
        "an include in a string",
        "__device__ const char *text = \"#include <stdio.h>\";",
    ),
    ("a spliced header of ours", "#inc\\\nlude \"cuda_device.h\""),
    (
        "a digraph and a header of ours",
        "%: /* a\n b */ include \"cuda_device.h\" // why",
    ),
    (
        "lines that end in CRLF",
        "#define A \\\r\n 1\r\n#if A > 1'000\r\n#endif\r\n",
    ),
    (
        "pasting and making strings",
        "#define C(a, b) a##b\n#define S(a) #a\n__device__ int C(one, two);",
    ),
    (
        "pragmas for loops",
        "#pragma GCC diagnostic push\n__device__ void f(int *x) {\n#pragma unroll 4\nfor (int i = 0; i < 9; ++i) ++*x;\n\
         _Pragma(\"unroll\") for (int i = 0; i < 9; ++i) ++*x;\n}",
    ),
    // clang leaves out of a kernel's code what stands outside of functions, so these do nothing.
    (
        "a kernel written in assembler",
        "asm(\".visible .entry extra() { .reg .f32 %f<4000000000>; .shared .align 4 .b8 s[200000]; ret; }\");",
    ),
    (
        "assembler that would read a file",
        "asm(\".inc\" \"bin \\\"/etc/passwd\\\"\");\nasm(\".file 7 \\\"/etc/passwd\\\"\");",
    ),
    ("a hash alone", "#\n# // nothing\n"),
    (
        "Chinese comments and names",
        "// 越界的线程什么也不做；不要写 #include\n__device__ int f(int 个数) { return 个数; }",
    ),
    ("a mark of the encoding", "\u{feff}"),
];

fn main() -> ExitCode {
    // One of the tests starts this program again, confined.
    if let Some(code) = confine::asked() {
        return code;
    }
    let arguments = Arguments::from_args();
    let mut tests: Vec<Trial> = REJECTED
        .iter()
        .map(|&(name, text, said)| with_clang(name, move || rejected(text, said)))
        .collect();
    let right = RIGHT_ONES.iter();
    tests.extend(
        right.map(|&(name, text)| with_clang(format!("right: {name}"), move || passes(text))),
    );
    tests.push(with_clang("right: odd names", odd_names));
    tests.push(with_clang("right: an external constant", external_constant));
    tests.push(unless(
        kept(),
        "the compiler itself opens no other file",
        no_other_file,
    ));
    #[cfg(unix)]
    tests.push(Trial::test(
        "a compiler that hangs while it is looked for",
        hangs,
    ));
    #[cfg(unix)]
    tests.push(with_clang("a compiler that is started by a script", script));
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// A temporary folder that is looked through afterwards.
fn program() -> Program {
    let program = Program::new();
    let temporary = program.home().join("temporary");
    fs::create_dir(&temporary).expect("made");
    program.with("TMPDIR", temporary)
}

/// Grades an answer to the first exercise; nothing may be left of it.
fn graded(program: &Program, name: &str, text: &str) -> Result<(i32, Value), Failed> {
    let file = program.write(name, text);
    let graded = program.graded_within("20", "01", &file);
    let left: Vec<_> = fs::read_dir(program.home().join("temporary"))?.collect();
    match left.is_empty() {
        true => Ok(graded),
        false => Err(format!("it left {left:?}").into()),
    }
}

fn rejected(text: &str, said: &str) -> Result<(), Failed> {
    let program = program();
    let secret = program.home().join("secret");
    fs::write(&secret, "rosebud\n")?;
    let solution = "kernels/exercises/solutions/01-first-thread.cu";
    let text = match text {
        "DOUBLED" => {
            let doubled = (1..40).map(|i| format!("#define M{i} M{0} M{0}\n", i - 1));
            format!("#define M0 ;\n{}M39", doubled.collect::<String>())
        }
        "BRACKETS" => format!("int a = {};", "(".repeat(100_000)),
        text => text
            .replace("SECRET", &secret.to_string_lossy())
            .replace("SOLUTION", solution),
    };
    let text = format!("{HEAD}{text}\n{RIGHT}");
    let (code, record) = graded(&program, "answer.cu", &text)?;
    let message = record["message"].as_str().unwrap_or_default();
    let expected =
        record["step"] == "compile" && message.to_lowercase().contains(&said.to_lowercase());
    let told = message.contains("rosebud") || message.contains("a * x[i] + y[i];\n}");
    match code == 1 && expected && !message.is_empty() && !told {
        true => Ok(()),
        false => Err(format!("exit code {code}, expected '{said}': {record:#}").into()),
    }
}

fn passes(text: &str) -> Result<(), Failed> {
    // A mark of the encoding can only be the first there is.
    let whole = format!("{text}{HEAD}{RIGHT}");
    let whole = match text.starts_with('\u{feff}') {
        true => whole,
        false => format!("{HEAD}{text}\n{RIGHT}"),
    };
    passed(graded(&program(), "answer.cu", &whole)?)
}

fn passed((code, record): (i32, Value)) -> Result<(), Failed> {
    match (code, record["passed"].as_bool()) {
        (0, Some(true)) => Ok(()),
        _ => Err(format!("exit code {code}: {record:#}").into()),
    }
}

/// Whatever a file is called, it is compiled, and the line of a mistake is shown.
fn odd_names() -> Result<(), Failed> {
    let mut names = vec![
        "with blanks.cu",
        "it's.cu",
        "%s %n.cu",
        "答案.cu",
        "#include.cu",
    ];
    if cfg!(unix) {
        names.extend(["a \"quote\".cu", "back\\slash\\n.cu", "new\nline.cu"]);
    }
    for name in names {
        let program = program();
        passed(graded(&program, name, &format!("{HEAD}{RIGHT}"))?)?;
        let wrong = RIGHT.replace("a * x[i]", "a * z[i]");
        let (_, record) = graded(&program, name, &format!("{HEAD}{wrong}"))?;
        let message = record["message"].as_str().unwrap_or_default();
        let shown = message.contains(":4:27: error: ") && !message.contains("answer.cu");
        assert!(shown, "{name:?}: {record:#}");
        let outside = RIGHT.replace("if (i < n) ", "");
        let (_, record) = graded(&program, name, &format!("{HEAD}{outside}"))?;
        let message = record["message"].as_str().unwrap_or_default();
        assert!(message.contains("line 4"), "{name:?}: {record:#}");
    }
    Ok(())
}

/// Why the compiler cannot be confined here.
fn kept() -> Option<&'static str> {
    static WHY: LazyLock<Option<String>> =
        LazyLock::new(|| confine::kept().reason().map(str::to_owned));
    without_clang().or(WHY.as_deref())
}

/// Without any look at its text, where the compiler is confined as it is for an answer.
fn no_other_file() -> Result<(), Failed> {
    let clang = Clang::find()?;
    let tree = Tree::find(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    let rules = Rules {
        read: clang.files(&tree, &["cuda_device.h"]),
        execute: system_libraries(),
        computing: 20,
        file: 1 << 20,
        ..Rules::default()
    };
    let solution = "kernels/exercises/solutions/01-first-thread.cu";
    for (file, opens) in [
        ("kernels/cuda_device.h", true),
        (solution, false),
        ("kernels/async_copy.h", false),
        ("/etc/passwd", false),
        ("/proc/self/environ", false),
    ] {
        let mut command = rules.command(clang.program())?;
        command
            .current_dir(tree.root())
            .args(["-x", "c", "-E", file]);
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let refused = said.contains("error: ") && said.contains(file);
        let as_expected = output.status.success() == opens && refused != opens;
        assert!(as_expected, "{file}: {output:?}");
        assert!(opens || output.stdout.len() < 1000, "{output:?}");
    }
    Ok(())
}

/// nvcc takes it for a definition, and so do we.
fn external_constant() -> Result<(), Failed> {
    let program = program();
    let solution = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../kernels/exercises/solutions")
        .join("13-settings.cu");
    let text = fs::read_to_string(solution)?;
    assert!(text.contains("\n__constant__ "), "{text}");
    let external = text.replace("\n__constant__ ", "\nextern \"C\" __constant__ ");
    let file = program.write("13.cu", external);
    passed(program.graded_within("60", "13", &file))
}

/// A script in the program's folder, which can be started.
#[cfg(unix)]
fn script_file(program: &Program, text: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let file = program.write("clang.sh", format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("made executable");
    file
}

#[cfg(unix)]
fn hangs() -> Result<(), Failed> {
    use std::time::Instant;
    let program = program();
    let later = program.home().join("later");
    let script = script_file(&program, &format!("sleep 14; touch '{}'", later.display()));
    let program = program.with("KERNEL_CLANG", script);
    let file = program.write("answer.cu", RIGHT);
    let begun = Instant::now();
    let run = program.run(&["check", "01", "--file", file.to_str().ok_or("UTF-8")?]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("did not end within 10 s"), "{run:?}");
    assert!(
        begun.elapsed().as_secs_f64() < 13.5,
        "{:?}",
        begun.elapsed()
    );
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert!(!later.exists(), "what the script started is still there");
    Ok(())
}

#[cfg(unix)]
fn script() -> Result<(), Failed> {
    let clang = Clang::find()?;
    let program = program();
    let script = script_file(
        &program,
        &format!("'{}' \"$@\"; exit $?", clang.program().display()),
    );
    let program = program.with("KERNEL_CLANG", script);
    passed(graded(&program, "answer.cu", &format!("{HEAD}{RIGHT}"))?)
}
