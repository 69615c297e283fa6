//! Messages to students in both languages, through the program: each kind of error has its own message, with
//! the correct line and a limited length.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use exercises::text::columns;
use libtest_mimic::{Arguments, Failed};
use support::submissions::folder;
use support::{Program, Run, blocks, find, with_clang};

/// An error: the exercise, the submission, and parts of the message in English and Chinese.
struct Case {
    name: &'static str,
    exercise: &'static str,
    submission: Submission,
    en: &'static [&'static str],
    zh: &'static [&'static str],
}

/// A submission with the error.
enum Submission {
    /// A file in the exercise's folder.
    File(&'static str),
    /// The start file.
    Start,
    /// The solution with one text replaced by another.
    Changed(&'static str, &'static str),
    /// The result of a function.
    Text(fn() -> String),
}

/// Lists cases as `name: exercise, submission; en [parts]; zh [parts];`.
macro_rules! cases {
    ($($name:literal: $exercise:literal, $submission:expr; en $en:tt; zh $zh:tt;)*) => {
        &[$(Case {
            name: $name,
            exercise: $exercise,
            submission: $submission,
            en: &$en,
            zh: &$zh,
        }),*]
    };
}

use Submission::{Changed, File, Start, Text};

const CASES: &[Case] = cases! {
    "one parameter more": "02", Changed("int count)", "int count, int extra)");
        en [
            "has parameters that differ from the launch",
            "`fade` has 4 parameters but is launched with 3.",
            "fade(float *samples, float gain, int count)",
        ];
        zh ["参数与启动时不一致", "`fade` 有 4 个参数，而启动时给出 3 个。"];
    "sizes in tiles": "17", Start;
        en ["at size M = 96, N = 128, P = 64", "yours: "];
        zh ["规模 M = 96, N = 128, P = 64", "期望："];
    "a prediction": "05", File("wrong/bytes-only.cu");
        en ["`one_further`: you predicted 4, which is wrong.", "5 of 6 correct."];
        zh ["`one_further`：你的预测是 4，不对。", "6 个中有 5 个正确。"];
    "elements left unwritten": "04", Start;
        en ["leaves elements unwritten, at size", "never written, the first at ["];
        zh ["有元素没有写入，规模", "从未写入"];
    "words behind a row": "09", File("wrong/into-the-padding.cu");
        en ["15 words of 4 bytes behind the end of row 0 of `part` were overwritten"];
        zh ["`part` 第 0 行的行末之后有 15 个字"];
    "an undeclared function": "02", Changed("samples[i] * gain", "swap(samples[i]) * gain");
        en [
            "does not compile",
            "`swap` is not available in this course. Use instead: a third variable.",
        ];
        zh ["编译未通过", "本课程没有 `swap`。可以改用：借助第三个变量交换。"];
    "a header that is not provided": "02",
        Changed("#include \"cuda_device.h\"", "#include <type_traits>");
        en ["C++'s standard library", "<math_constants.h>", "<cuda_pipeline_primitives.h>."];
        zh ["不提供 C++ 标准库", "<math_constants.h>"];
    "an undeclared type": "02", Changed("int i", "int32 i");
        en ["does not compile", "`int32` is not declared."];
        zh ["编译未通过", "`int32` 没有声明。"];
    "a slice of a volume": "11", File("wrong/unpadded-slice.cu");
        en ["(slice ", "columns along x, rows along y"];
        zh ["；列沿 x 方向，行沿 y 方向"];
    "a race on a line that all blocks execute": "07", File("lines/remainder-by-all.cu");
        en ["writes, at line 24", "24 |         out[count - 1] = clip(in[count - 1], level);"];
        zh ["写入，位于第 24 行", "数据竞争"];
    "a race of two branches": "12", File("lines/two-branches.cu");
        en ["14 |         sums[column] += sum;", "or a sum without `atomicAdd`"];
        zh ["求和没有使用 `atomicAdd`"];
    "a float4 beyond the end": "07", File("lines/no-remainder.cu");
        en ["at line 16", "16 |     float4 v = ((const float4 *)in)[i];"];
        zh ["位于第 16 行", "非法地址：从 ", "在位于 "];
    "an access past the end": "02", Start;
        en [
            "was stopped",
            "right past the end of",
            "no `if (i < n)` that excludes threads past the end",
        ];
        zh ["被中止", "紧接在位于 ", "末尾之后", "没有用 `if (i < n)` 排除末尾之后的线程"];
    "one thread too many": "02", File("wrong/less-or-equal.cu");
        en ["`<=` instead of `<`"];
        zh ["该写 `<` 的地方写成了 `<=`"];
    "a panic": "03", Text(|| blocks("", "", "(count + block - 1) / block"));
        en ["`blocks(4294967295, 128)` panicked: attempt to add with overflow"];
        zh ["`blocks(4294967295, 128)` 发生 panic：attempt to add with overflow"];
    "banks": "20", Start;
        en [
            "yours: 32 wavefronts, 1 920 times    meant: 1 wavefront, 1 920 times",
            "bank 0        8        16       24        0        8        16       24",
            "+128 1------- -------- -------- --------",
        ];
        zh ["你的：32 个波前，1 920 次", "期望：1 个波前，1 920 次", "存储体 0"];
    // The last line of this kernel reads shared memory too, without bank conflicts.
    "an atomic that is a loop of loads": "21", File("wrong/atomics.cu");
        en [
            "The costliest access of line 14",
            "yours: 1 wavefront, 20 000 times",
            "+0 *------- -------- -------- -------- 01234567 89abcdef ghijklmn opqrstuv",
        ];
        zh ["第 14 行代价最大的一次访问", "你的：1 个波前，20 000 次"];
};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut tests = Vec::new();
    for case in CASES {
        for lang in ["en", "zh"] {
            let name = format!("{}, in {lang}", case.name);
            tests.push(with_clang(name, move || check_message(case, lang)));
        }
    }
    tests.extend([
        with_clang("an endless loop is reported with its line", endless),
        with_clang("C headers are accepted", headers),
        with_clang("an access is drawn to an SVG file", drawn),
        with_clang("lines are printed with counters", lines),
        with_clang("alternatives are shown after passing", after),
    ]);
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Writes the submission to an exercise and returns its path.
fn file(program: &Program, exercise: &str, submission: &Submission) -> Result<PathBuf, Failed> {
    let exercise = find(exercise).ok_or("no such exercise")?;
    let write_file = |text: &str| program.write(&format!("other.{}", exercise.extension()), text);
    Ok(match submission {
        File(name) => folder(exercise).join(name),
        Start => write_file(exercise.start()),
        Changed(from, to) => {
            assert!(exercise.solution().contains(from), "no '{from}'");
            write_file(&exercise.solution().replacen(from, to, 1))
        }
        Text(text) => write_file(&text()),
    })
}

fn check(program: &Program, exercise: &str, file: &Path, more_flags: &str) -> Run {
    let file = file.to_str().expect("a path in UTF-8");
    let flags = ["check", exercise, "--seed", "1", "--file", file];
    let more_flags: Vec<&str> = more_flags.split_whitespace().collect();
    program.run(&[&flags[..], &more_flags].concat())
}

fn check_message(case: &Case, lang: &str) -> Result<(), Failed> {
    let program = Program::new();
    let file = file(&program, case.exercise, &case.submission)?;
    let run = check(&program, case.exercise, &file, &format!("--lang {lang}"));
    let parts = if lang == "en" { case.en } else { case.zh };
    // Compare words, because line breaks depend on the preceding text.
    let joined = Run {
        stdout: run.stdout.split_whitespace().collect::<Vec<_>>().join(" "),
        ..run
    };
    let joined_zh = joined.stdout.replace(' ', "");
    for part in parts {
        let words = part.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_found =
            joined.stdout.contains(&words) || joined_zh.contains(&words.replace(' ', ""));
        assert!(is_found && joined.code == 1, "no '{part}' in {joined:#?}");
    }
    Ok(())
}

fn endless() -> Result<(), Failed> {
    let program = Program::new();
    let loops = "for (volatile int j = 0; j >= 0; j = 1) {}\n    if (i < n)";
    let text = find("01").ok_or("")?.solution();
    let text = text.replace("if (i < n)", loops);
    let line = text.lines().position(|line| line.contains("volatile"));
    let line = 1 + line.ok_or("")?;
    let file = program.write("other.cu", text);
    // The limit of a launch is half of the time limit, long enough for any machine to reach the loop.
    let run = check(&program, "01", &file, "--lang zh");
    run.assert_has(
        1,
        &["没有终止", &format!("位于第 {line} 行"), "volatile int j"],
    );
    Ok(())
}

fn headers() -> Result<(), Failed> {
    let program = Program::new();
    let text = find("02").ok_or("")?.solution();
    let text = text.replace(
        "#include \"cuda_device.h\"",
        "#include <stdio.h>\n#include <math.h>\n#include <stdint.h>\n#include <assert.h>\n",
    );
    let text = text.replace("int i", "assert(count < INT_MAX); int32_t i");
    let file = program.write("other.cu", text);
    check(&program, "02", &file, "").assert_has(0, &["✓ 02-tail"]);
    Ok(())
}

fn drawn() -> Result<(), Failed> {
    let program = Program::new();
    let start = program.write("other.cu", find("20").ok_or("")?.start());
    let svg = program.home().join("access.svg");
    let flags = format!("--lang zh --draw {}", svg.display());
    check(&program, "20", &start, &flags).assert_has(1, &["你的：32 个波前"]);
    let drawing = fs::read_to_string(&svg)?;
    for part in ["<svg ", "你的，第 ", "期望：1 个波前", "存储体"] {
        assert!(drawing.contains(part), "no '{part}' in {drawing}");
    }
    // For a passing submission there is nothing to draw.
    fs::remove_file(&svg)?;
    let right = program.write("other.cu", find("20").ok_or("")?.solution());
    let run = check(&program, "20", &right, &format!("--draw {}", svg.display()));
    run.assert_has(0, &["no counter missed its target"]);
    assert!(!svg.exists());
    let start = program.write("other.cu", find("20").ok_or("")?.start());
    let nowhere = program.home().join("missing").join("access.svg");
    let flags = format!("--draw {}", nowhere.display());
    let run = check(&program, "20", &start, &flags);
    run.assert_has(2, &["cannot write", "misses a target"]);
    Ok(())
}

fn lines() -> Result<(), Failed> {
    let program = Program::new();
    let start = program.write("other.cu", find("12").ok_or("")?.start());
    let run = check(&program, "12", &start, "--lines");
    run.assert_has(
        1,
        &[
            "`column_sums` is bound by",
            "share",
            "sect.",
            "other.cu",
            "> ",
        ],
    );
    let run = check(&program, "12", &start, "--lines --lang zh");
    run.assert_has(1, &["`column_sums` 的瓶颈是", "占比", "扇区", "other.cu"]);
    let wide = run.stdout.lines().find(|line| columns(line) > 80);
    assert!(wide.is_none(), "{wide:?}");
    Ok(())
}

fn after() -> Result<(), Failed> {
    let program = Program::new();
    let right = program.write("other.cu", find("19").ok_or("")?.solution());
    let en = "The solution transposes the tile|yours|solution|time, ms";
    let zh = "参考答案在共享内存里转置分块|你的|参考答案|用时（毫秒）";
    for (lang, parts) in [("en", en), ("zh", zh)] {
        let parts: Vec<_> = parts.split('|').collect();
        let run = check(&program, "19", &right, &format!("--lang {lang}"));
        run.assert_has(0, &parts);
        let wide = run.stdout.lines().find(|line| columns(line) > 80);
        assert!(wide.is_none(), "{wide:?}");
    }
    Ok(())
}
