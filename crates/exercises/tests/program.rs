//! The program's commands as a student types them, and their errors.

mod support;

use std::process::ExitCode;

use chapter::lang::Lang;
use exercises::text::columns;
use exercises::text::spell_out_links;
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;
use support::{EXERCISES, Program, find, parse, with_clang};

const FIRST: &str = "01-first-thread";

/// Builds a list of tests from functions; `$trial` creates each test.
macro_rules! tests {
    ($trial:path: $($name:ident),* $(,)?) => {
        vec![$($trial(stringify!($name).replace('_', " "), || {
            $name();
            Ok(())
        })),*]
    };
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut tests = tests![Trial::test:
        existing_submissions_are_not_overwritten,
        each_hint_command_shows_one_more_hint,
        reset_saves_the_previous_version,
        the_solution_needs_a_pass_or_give_up,
        list_supports_json,
        a_statement_is_shown_with_its_prerequisites,
        all_output_fits_a_terminal,
        compile_flags_are_written_for_editors,
        a_missing_clang_is_reported_before_a_submission_is_written,
        invalid_flags_are_rejected,
        a_folder_that_cannot_be_created_is_named,
        a_worker_without_a_job_is_silent,
    ];
    tests.extend(tests![with_clang:
        the_first_run_creates_the_folder_and_shows_the_first_exercise,
        chinese_is_selected_by_flag_or_locale,
        a_check_reports_errors_and_the_number_of_passes,
        equal_seeds_give_equal_records,
        errors_are_explained_in_chinese,
        a_pass_shows_the_solution,
        a_failed_grading_is_an_error_without_verdict,
        a_mismatched_library_is_an_error_without_verdict,
        an_unreadable_submission_is_an_error_without_verdict,
    ]);
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns a program whose student has solved the first exercise.
fn with_solution() -> Program {
    let program = Program::new();
    program.write("01-first-thread.cu", EXERCISES[0].solution());
    program
}

fn the_first_run_creates_the_folder_and_shows_the_first_exercise() {
    let program = Program::new();
    let all = format!("0 of {} exercises passed", EXERCISES.len());
    let file = format!("answers/{FIRST}.cu");
    let check = format!("check {FIRST}");
    let title = "# One thread, one element";
    program.expect("", 0, &[&all, title, &file, &check, "clang "]);
    for exercise in EXERCISES.iter() {
        let text = program.read(&format!("answers/{}", exercise.file()));
        assert_eq!(text, exercise.start());
    }
}

/// Splits a text into words, so that line breaks do not matter.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn a_statement_is_shown_with_its_prerequisites() {
    let program = with_solution();
    let tiles = find("17").expect("exercise 17");
    let run = program.expect(
        "statement 17",
        0,
        &[
            "Prerequisites: 08-pitch-in-elements, 16-missing-barrier",
            "chapter `matmul-tiled` (docs/pages/en/matmul-tiled.md) and",
            "code 4.5 (docs/pages/en/listings.md).",
            "The chapter's program: crates/matmul-tiled",
            "answers/17-tiles.cu",
        ],
    );
    let all = words(&run.stdout).join(" ");
    let folder = "kernels/exercises/17-tiles";
    let statement = spell_out_links(tiles.statement(Lang::En), folder, Lang::En);
    assert!(all.starts_with(&words(&statement).join(" ")), "{run:?}");
    let chinese = program.run_line("statement tiles --lang zh");
    chinese.assert_has(
        0,
        &["# 分块矩阵乘法", "先做：", "docs/pages/zh/matmul-tiled.md"],
    );
    program.expect_error("statement 99", &["'99'"]);
    // A prerequisite that has passed is marked.
    program.expect("statement 02", 0, &["Prerequisites: 01-first-thread\n"]);
    if support::missing_clang().is_none() {
        program.expect("check 01", 0, &["✓ 01-first-thread"]);
        program.expect("statement 02", 0, &["Prerequisites: 01-first-thread ✓"]);
    }
    let record = program.record("statement 02 --json --lang zh");
    assert_eq!(record["needs"][0], "01-first-thread");
    assert_eq!(record["statement"], EXERCISES[1].statement(Lang::Zh));
}

fn all_output_fits_a_terminal() {
    let program = Program::new();
    for lang in ["en", "zh"] {
        let mut commands = vec!["list".to_owned()];
        for exercise in EXERCISES.iter() {
            commands.push(format!("statement {}", exercise.name()));
            commands.push(format!("hint {}", exercise.name()));
        }
        for command in commands {
            let run = program.run_line(&format!("{command} --lang {lang}"));
            assert_eq!(run.code, 0, "{run:?}");
            let wide = run.stdout.lines().find(|line| columns(line) > 80);
            assert!(wide.is_none(), "{command} in {lang}: {wide:?}");
        }
    }
}

fn compile_flags_are_written_for_editors() {
    let program = Program::new();
    program.expect("list", 0, &[]);
    let read = || program.read("answers/compile_flags.txt");
    let flags = read();
    let headers = flags.lines().find_map(|flag| flag.strip_prefix("-I"));
    let headers = std::path::Path::new(headers.expect("a folder of headers"));
    assert!(headers.join("cuda_device.h").is_file(), "{flags}");
    assert!(flags.starts_with("-xcuda\n"), "{flags}");
    if let Ok(clang) = kernel_build::Clang::find() {
        let compiled = std::process::Command::new(clang.program())
            .args(flags.lines())
            .args(["-fsyntax-only", "-Werror"])
            .arg(program.file("02-tail.cu"))
            .output()
            .expect("clang starts");
        assert!(compiled.status.success(), "{compiled:?}");
    }
    // An edited file is preserved; a generated one is updated when the checkout has moved.
    program.write("compile_flags.txt", flags.replace("-I", "-I/gone"));
    program.expect("list", 0, &[]);
    assert_eq!(read(), flags);
    program.write("compile_flags.txt", "-DMINE\n");
    program.expect("list", 0, &[]);
    assert_eq!(read(), "-DMINE\n");
}

fn existing_submissions_are_not_overwritten() {
    let program = Program::new();
    program.write("01-first-thread.cu", "mine");
    program.expect("list", 0, &[FIRST]);
    assert_eq!(program.read("answers/01-first-thread.cu"), "mine");
}

fn chinese_is_selected_by_flag_or_locale() {
    let program = Program::new().with_env("LC_ALL", "zh_CN.UTF-8");
    program.expect("list", 0, &["道练习", "补全"]);
    program.expect("list --lang en", 0, &["exercises passed"]);
    let program = Program::new();
    program.expect("list --lang zh", 0, &["道练习"]);
    program.expect("--help --lang zh", 0, &["退出码", "选项", "参考答案"]);
    program.expect("--help", 0, &["Exit codes", "Options"]);
    program.expect("check 99 --lang zh", 2, &["错误：", "没有名为“99”的练习"]);
    let help = program.run_line("check --help --lang zh");
    let usage = "用法：exercises check [选项] [NAME]";
    help.assert_has(0, &[usage, "参数:", "不指定时为 60"]);
    assert!(!help.stdout.contains("Usage"), "{help:?}");
    let run = program.expect(
        "check --nope --lang zh",
        2,
        &["错误：没有参数“--nope”", "用法：", "--help"],
    );
    assert!(!run.stderr.contains("error"), "{run:?}");
}

fn a_check_reports_errors_and_the_number_of_passes() {
    let program = Program::new();
    let failed = [
        "✗ 01-first-thread",
        "got",
        "expected",
        "hint 01-first-thread",
    ];
    program.expect("check", 1, &failed);
    program.expect("check 1 --lang zh", 1, &["结果错误", "应为", "获取提示"]);
    program.write("01-first-thread.cu", EXERCISES[0].solution());
    program.expect("check first-thread", 0, &["✓ 01-first-thread", "25 000"]);
    program.expect("list", 0, &["✓ 01-first-thread"]);
    let all = format!("1 of {} exercises passed", EXERCISES.len());
    program.expect("list", 0, &[&all]);
    // A submission that no longer passes is no longer counted.
    program.write("01-first-thread.cu", EXERCISES[0].start());
    program.expect("check 01", 1, &["✗"]);
    program.expect("list", 0, &["→ 01-first-thread"]);
}

fn equal_seeds_give_equal_records() {
    let program = with_solution();
    let record = || parse(&program.expect("check 01 --json --seed 7", 0, &[]).stdout);
    let first = record();
    assert_eq!(first, record());
    assert_eq!(first["seed"], 7);
    assert_eq!(first["passed"], true);
    assert_eq!(first["targets"][0]["value"], 25_000.0);
    assert_eq!(first["step"], Value::Null);
}

fn each_hint_command_shows_one_more_hint() {
    let program = Program::new();
    let hints = &EXERCISES[0].data().hints;
    for shown in 1..=hints.len() + 1 {
        let run = program.run_line("hint 01");
        let shown = shown.min(hints.len());
        for (number, hint) in hints.iter().enumerate() {
            let shown_text = words(&run.stdout).join(" ").contains(&hint.en);
            assert_eq!(shown_text, number < shown, "{run:?}");
        }
        let last = run.stdout.contains("There are no more");
        assert_eq!(last, shown == hints.len(), "{run:?}");
    }
    let record = program.record("hint 01 --json --lang zh");
    assert_eq!(record["hints"][0], hints[0].zh.as_str());
}

fn reset_saves_the_previous_version() {
    let program = Program::new();
    program.write("01-first-thread.cu", "mine");
    program.expect("hint 01", 0, &["1/"]);
    program.expect("reset 01", 0, &["01-first-thread.cu.old"]);
    assert_eq!(
        program.read("answers/01-first-thread.cu"),
        EXERCISES[0].start()
    );
    assert_eq!(program.read("answers/01-first-thread.cu.old"), "mine");
    let run = program.run_line("hint 01");
    assert!(!run.stdout.contains("2/"), "{run:?}");
}

fn the_solution_needs_a_pass_or_give_up() {
    let program = with_solution();
    program.expect_error("solution 01", &["hint 01-first-thread", "--give-up"]);
    let run = program.expect("solution 01 --give-up", 0, &[]);
    assert_eq!(run.stdout, EXERCISES[0].solution());
}

fn a_pass_shows_the_solution() {
    let program = with_solution();
    program.expect("check 01", 0, &[]);
    let run = program.expect("solution 01", 0, &[]);
    assert_eq!(run.stdout, EXERCISES[0].solution());
}

/// Errors in Chinese: findings, faults, counters, a missing kernel.
fn errors_are_explained_in_chinese() {
    let program = Program::new();
    let right = EXERCISES[0].solution();
    let without_test = right.replace("if (i < n) ", "");
    let twice = right.replace(
        "    if (i < n)",
        "    volatile const float *again = x;\n    if (i < n) again[i] + again[i];\n    if (i < n)",
    );
    let racy = right.replace(
        "    if (i < n)",
        "    __shared__ float s[128];\n    s[threadIdx.x] = a;\n    if (s[127 - threadIdx.x] == 1e30f) return;\n    if (i < n)",
    );
    for (text, parts) in [
        (without_test, ["越界访问", "非法地址：", "可能的原因"]),
        (racy, ["数据竞争", "缺少 `__syncthreads()`", "碰巧"]),
        (
            right.replace("axpy", "other"),
            ["找不到核函数 `axpy`", "名字", "获取提示"],
        ),
        (
            twice,
            ["全局内存读取扇区数", "25 000 到 31 250", "结果正确"],
        ),
        (right.to_owned(), ["✓", "全局内存", "（模拟器：模拟 "]),
        (
            right.replace("float a", "flot a"),
            ["未能编译通过", "error:", "^"],
        ),
    ] {
        program.write("01-first-thread.cu", &text);
        let run = program.run_line("check 01 --lang zh");
        for part in parts {
            assert!(run.stdout.contains(part), "no '{part}' in {run:#?}\n{text}");
        }
    }
}

fn list_supports_json() {
    let program = Program::new();
    let rows = program.record("list --json");
    let rows = rows.as_array().expect("an array");
    assert_eq!(rows.len(), EXERCISES.len());
    assert_eq!(rows[0]["exercise"], FIRST);
    assert_eq!(rows[0]["passed"], false);
}

fn a_missing_clang_is_reported_before_a_submission_is_written() {
    let program = Program::new().with_env("KERNEL_CLANG", "/nowhere");
    for command in ["", "check", "check --all"] {
        program.expect(command, 2, &["error: no clang", "/nowhere", "Install it:"]);
    }
    program.expect("list", 0, &[FIRST]);
}

fn a_failed_grading_is_an_error_without_verdict() {
    let program = Program::new();
    program.expect_error("check 99", &["'99'", "list"]);
    program.expect_error("hint none", &["'none'"]);
    program.expect_error("reset 99", &["'99'"]);
    program.expect_error("solution 99", &["'99'"]);
    program.write("progress.json", "{ not json");
    program.expect_error("list", &["progress.json", "damaged"]);
    program.expect_error("hint 01", &["progress.json", "damaged"]);
}

fn a_mismatched_library_is_an_error_without_verdict() {
    let program = Program::new().without_dependencies();
    program.write("03-blocks.rs", "");
    program.expect_error(
        "check 03",
        &["libanswers-", "rebuild the course", "error[E"],
    );
}

fn an_unreadable_submission_is_an_error_without_verdict() {
    let program = Program::new();
    program.expect_error("check 01 --file /nowhere.cu", &["/nowhere.cu"]);
    program.write("01-first-thread.cu", [0xff, 0xfe, b'x']);
    program.expect_error("check 01", &["01-first-thread.cu", "UTF-8"]);
    program.write("01-first-thread.cu", " ".repeat(300 << 10));
    program.expect_error("check 01", &["01-first-thread.cu", "bytes"]);
    program.write("progress.json", "{ not json");
    program.expect_error("check", &["progress.json", "damaged"]);
}

fn invalid_flags_are_rejected() {
    let program = Program::new();
    for flags in [
        "--no-such-flag",
        "no-such-command",
        "list --lang fr",
        "check 01 --all",
        "check --file x.cu",
        "check 01 --seed many",
        "check 01 --seconds 0",
        "reset",
        "solution",
    ] {
        let run = program.run_line(flags);
        assert_eq!(run.code, 2, "{flags}: {run:?}");
        assert!(run.stderr.starts_with("error: "), "{flags}: {run:?}");
    }
}

fn a_folder_that_cannot_be_created_is_named() {
    let program = Program::new();
    let file = program.write("taken", "");
    let folder = file.join("below");
    program.expect("list --lang en", 0, &[]);
    let run = program.run_in(&["list"], &folder);
    run.assert_error(&["taken"]);
}

fn a_worker_without_a_job_is_silent() {
    let run = Program::new().run_line("worker");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
}
