//! The step `time`. The host sides are timed on whatever device there is, a GPU or the simulator. With
//! `CUDA_BACKEND=gpu`, every solution must also pass on the GPU by results and time.
//!
//! The tests need clang too; without clang or a GPU they are ignored with a reason.

mod support;

use std::path::Path;
use std::process::ExitCode;

use chapter::lang::Lang;
use common::{Gpu, module};
use exercises::course::{Exercise, Side};
use exercises::data::Time;
use exercises::grade::Timed;
use exercises::host::{Bench, Case, Host};
use exercises::process::on_gpu;
use kernel_build::{Clang, Tree};
use libtest_mimic::{Arguments, Failed, Trial};
use support::{EXERCISES, Program, missing_clang, unless, with_clang};

const CRATE_DIR: &str = env!("CARGO_MANIFEST_DIR");

/// The reason why the tests for a GPU are ignored.
const NO_GPU: &str = "needs a GPU: CUDA_BACKEND=gpu cargo test -p exercises --test time";

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Run one test at a time, because concurrent tests would distort the times.
    if on_gpu() {
        arguments.test_threads = Some(1);
    }
    let no_gpu = (!on_gpu()).then_some(NO_GPU);
    let missing = missing_clang().or(no_gpu);
    let mut tests = Vec::new();
    for exercise in EXERCISES.iter() {
        let solution = format!("{}: solution, on a GPU", exercise.name());
        tests.push(unless(missing, solution, || passes(exercise)));
        let time = exercise.data().time.as_ref();
        if let (Some(time), Side::Kernel(_)) = (time, exercise.side()) {
            let start = format!("{}: start, on a GPU", exercise.name());
            tests.push(unless(missing, start, || check_start(exercise)));
            tests.push(with_clang(
                format!("{}: the exercise is timed", exercise.name()),
                || check_timed(exercise),
            ));
            tests.push(Trial::test(
                format!("{}: the statement gives the time limit", exercise.name()),
                || check_statement(exercise, time),
            ));
        }
    }
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Checks that an exercise's host side launches something that is timed.
fn check_timed(exercise: &Exercise) -> Result<(), Failed> {
    let declared = exercise.declarative_host();
    let host: &dyn Host = match exercise.side() {
        Side::Kernel(Some(host)) => *host,
        _ => &declared,
    };
    let tree = Tree::find(Path::new(CRATE_DIR))?;
    let compiled = Clang::find()?.compile_text(&tree, "solution.cu", exercise.solution(), None)?;
    let gpu = Gpu::open()?;
    let bench = Bench::new(module::load(&compiled.ptx)?, gpu);
    let size = exercise.data().sizes.tests.last().ok_or("no sizes")?;
    let case = Case {
        size: size.clone(),
        seed: 1,
    };
    let milliseconds = bench.milliseconds(host, &case, 1)?;
    assert!(milliseconds > 0.0, "{milliseconds}");
    Ok(())
}

/// Checks that a statement gives the time limit in both languages.
fn check_statement(exercise: &Exercise, time: &Time) -> Result<(), Failed> {
    for (lang, required) in [(Lang::En, "times"), (Lang::Zh, "倍")] {
        let text = exercise.statement(lang);
        let required = format!("{} {required}", time.at_most);
        let has_limit = text.contains("CUDA_BACKEND=gpu") && text.contains(&required);
        assert!(has_limit, "not '{required}' on a GPU in:\n{text}");
    }
    Ok(())
}

fn on_a_gpu(exercise: &Exercise, text: &str) -> (i32, serde_json::Value) {
    let program = Program::new().with_env("CUDA_BACKEND", "gpu");
    let file = program.write(&exercise.file(), text);
    program.grade(exercise.name(), &file)
}

fn passes(exercise: &Exercise) -> Result<(), Failed> {
    let (code, record) = on_a_gpu(exercise, exercise.solution());
    let required = exercise.data().time.is_some();
    match (code, record["time"].is_object()) {
        (0, timed) if timed == required => Ok(()),
        _ => Err(format!("exit code {code}: {record:#}").into()),
    }
}

/// Checks that the start file takes as long as the same file does as the reference, and is judged by that
/// time. On an H200 all start files are too slow; on another GPU some may pass.
fn check_start(exercise: &Exercise) -> Result<(), Failed> {
    let (code, record) = on_a_gpu(exercise, exercise.start());
    let time = serde_json::from_value::<Timed>(record["time"].clone())?;
    let is_close = (0.8..1.25)
        .contains(&(time.submission_ms / time.start_ms.ok_or("no time of the start file")?));
    let step = (!time.reached).then_some("time");
    match (code, record["step"].as_str()) {
        (0 | 1, at) if at == step && is_close && (code == 0) == time.reached => Ok(()),
        _ => Err(format!("exit code {code}: {record:#}").into()),
    }
}
