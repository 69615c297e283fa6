//! An answer in Rust: a program is compiled around it, and does the job.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use anyhow::{Context as _, Result, anyhow, bail};

use super::job::{Job, Message};
use super::supervise::SIGNALLED;
use super::{Done, say};
use crate::data::Step;
use crate::grade::{Failure, Verdict};
use crate::lang::Lang;

/// The compiler that this program was compiled with, which alone reads its libraries.
const RUSTC: &str = env!("EXERCISES_RUSTC");

/// Compiles the answer with the exercise's `main.rs` around it, and hands the job on.
pub fn run(job: &Job, main: &str) -> Result<Done> {
    let size = Vec::new();
    let step = Step::Compile;
    say(&job.token, Message::At { step, size });
    let program = match compile(job, main)? {
        Ok(program) => program,
        Err(message) => {
            let mut verdict = Verdict::new(job.seed);
            verdict.failure = Some(Failure::at(Step::Compile, message));
            return Ok(Done::Verdict(verdict));
        }
    };
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .spawn()
        .context(job.lang.pick("the answer does not start", "答案无法启动"))?;
    let stdin = child.stdin.take();
    let mut stdin = stdin.context("a program without input")?;
    // Its input stays open until it has ended, as this one's does.
    let _ = writeln!(stdin, "{}", serde_json::to_string(job)?).and_then(|()| stdin.flush());
    let status = child.wait()?;
    let code = match status.code() {
        // A code that says a signal is one of its own making.
        Some(code) => code.min(SIGNALLED),
        None => SIGNALLED + ended_by(status),
    };
    Ok(Done::Elsewhere(code))
}

#[cfg(unix)]
fn ended_by(status: std::process::ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0)
}

#[cfg(not(unix))]
fn ended_by(_status: std::process::ExitStatus) -> i32 {
    0
}

/// The program, or why it does not compile.
fn compile(job: &Job, main: &str) -> Result<Result<PathBuf, String>> {
    let folder = job.scratch.as_ref().context("no folder for the program")?;
    fs::write(folder.join("main.rs"), main)?;
    fs::write(folder.join("student.rs"), &job.text)?;
    let library = library(job.lang)?;
    let program = folder.join(format!("answer{}", env::consts::EXE_SUFFIX));
    let shown = |file: &str, as_what: &str| format!("{}={as_what}", folder.join(file).display());
    let paths = [shown("student.rs", &job.shown), shown("main.rs", "main.rs")];
    let mut rustc = rustc(folder, &library);
    rustc
        .args(paths.map(|path| format!("--remap-path-prefix={path}")))
        .arg(folder.join("main.rs"))
        .arg("-o")
        .arg(&program);
    let output = output(rustc, job.lang)?;
    if output.status.success() {
        return Ok(Ok(program));
    }
    fits(folder, &library, job.lang)?;
    let mut message = String::from_utf8_lossy(&output.stderr).into_owned();
    if message.trim().is_empty() {
        message = output.status.to_string();
    }
    Ok(Err(say!(
        job.lang,
        "rustc does not compile it. Begin with its first error: line, column, and what it points at.\n\n{}",
        "rustc 未能编译通过。请从第一条错误看起：行号、列号，以及它所指的位置。\n\n{}";
        message.trim_end()
    )))
}

/// The compiler, told of this program's library and of what that one depends on.
fn rustc(folder: &Path, library: &Path) -> Command {
    let moved = Path::new(RUSTC).is_absolute() && !Path::new(RUSTC).exists();
    let mut rustc = Command::new(if moved { "rustc" } else { RUSTC });
    let dependencies = library.parent().unwrap_or(Path::new("."));
    rustc
        .current_dir(folder)
        .args(["--edition=2024", "--crate-name=answer", "--color=never"])
        .args(["-Cdebuginfo=0", "-Cstrip=debuginfo", "-Ccodegen-units=1"])
        .arg(format!("-Ldependency={}", dependencies.display()))
        .arg(format!("--extern=exercises={}", library.display()))
        .stdin(Stdio::null());
    rustc
}

fn output(mut rustc: Command, lang: Lang) -> Result<Output> {
    let program = rustc.get_program().to_string_lossy().into_owned();
    rustc
        .output()
        .with_context(|| say!(lang, "cannot run {}", "无法运行 {}"; program))
}

/// Whether any program compiles with the library: where none does, it is not the answer's fault.
///
/// # Errors
///
/// Where the library, what it depends on and the compiler are not of one build.
fn fits(folder: &Path, library: &Path, lang: Lang) -> Result<()> {
    let nothing = folder.join("nothing.rs");
    fs::write(&nothing, "pub use exercises as _;")?;
    let mut rustc = rustc(folder, library);
    rustc
        .args(["--crate-type=lib", "--emit=metadata"])
        .arg(nothing);
    let output = output(rustc, lang)?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    bail!(say!(
        lang,
        "an answer in Rust is compiled against {}, and that no longer fits what lies beside it: build the \
         course again with cargo ({})",
        "用 Rust 写的答案要与 {} 一起编译，而它与旁边的文件已不一致：请用 cargo 重新构建课程（{}）";
        library.display(), message.lines().next().unwrap_or_default()
    ))
}

/// The library of this program, as cargo has it beside the program: of several the newest, which is the
/// one that was last linked to it.
fn library(lang: Lang) -> Result<PathBuf> {
    let program = env::current_exe()?;
    let folder = program.parent().unwrap_or(Path::new("."));
    // A test's own program is in `deps` already.
    let places = [folder.join("deps"), folder.to_owned()];
    let files = places.iter().filter_map(|place| fs::read_dir(place).ok());
    let libraries = files.flatten().flatten().filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        let is_it = name.starts_with("libexercises-") && name.ends_with(".rlib");
        let changed = entry.metadata().and_then(|it| it.modified());
        is_it.then(|| (changed.unwrap_or(SystemTime::UNIX_EPOCH), entry.path()))
    });
    libraries
        .max()
        .map(|(_, path)| path)
        .ok_or_else(|| {
            anyhow!(say!(
                lang,
                "an answer in Rust is compiled against libexercises-….rlib, which cargo leaves in {}, and \
                 it is not there: build the course again with cargo",
                "用 Rust 写的答案要与 libexercises-….rlib 一起编译；cargo 会把它放在 {}，但那里没有：\
                 请用 cargo 重新构建课程";
                places[0].display()
            ))
        })
}
