//! Compilation of Rust submissions.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail};
use confine::Rules;

use super::compiler::Compiler;
use super::libraries::{Libraries, gather};
use super::sources::{self, SOURCES};
use crate::lang::Text;
use crate::process::{explain_status, is_signal};
use crate::worker::job::Job;

/// The maximum length of the compiler's messages in bytes. The first error is what matters.
const MAX_MESSAGES: u64 = 20_000;

/// The folders in which Linux has compilers, linkers and their parts.
const TOOLS: [&str; 5] = [
    "/bin",
    "/usr/bin",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/include",
];

/// A compilation in a folder with everything that it needs.
struct Build<'a> {
    job: &'a Job,
    folder: &'a Path,
    compiler: Compiler,
    libraries: Libraries,
}

/// Compiles the program around a submission. Returns its path, or the message for the student.
pub fn compile(job: &Job, main: &str, folder: &Path) -> Result<Result<PathBuf, Text>> {
    let lang = job.lang;
    let build = Build {
        job,
        folder,
        compiler: Compiler::find(lang)?,
        libraries: gather(folder.join("libraries"), lang)?,
    };
    for (file, text) in SOURCES.iter().zip([main, &job.text]) {
        fs::write(folder.join(file), text)?;
    }
    let program = format!("answer{EXE_SUFFIX}");
    let mut rustc = build.rustc()?;
    rustc
        .arg(format!(
            "--remap-path-prefix={}={}",
            SOURCES[1], job.display_name
        ))
        .arg(format!("--emit=link={program},dep-info=answer.d"))
        .arg(SOURCES[0]);
    let (status, messages) = build.run(rustc)?;
    if status.success() {
        let foreign = sources::foreign_inputs(&folder.join("answer.d"))?;
        return Ok(match foreign {
            Some(message) => Err(message),
            None => Ok(folder.join(program)),
        });
    }
    build.verify_libraries()?;
    if let Some(message) = sources::unreadable_input(&messages) {
        return Ok(Err(message));
    }
    let messages = |lang| match messages.trim_end() {
        _ if is_signal(status) => explain_status(status, &job.limits, lang),
        "" => status.to_string(),
        messages => messages.to_owned(),
    };
    Ok(Err(Text::from_fn(|lang| {
        localize!(
            lang,
            "rustc cannot compile it. Start with the first error: line, column, and the code that \
             it points to.\n\n{}",
            "rustc 未能编译通过。请从第一条错误看起：行号、列号，以及它所指的位置。\n\n{}";
            messages(lang)
        )
    })))
}

impl Build<'_> {
    /// Builds rustc's command within limits. It may open the two source files, the libraries and the
    /// compilers' folders. Where the system cannot enforce that, the list of the files that it read is
    /// checked afterwards.
    fn rustc(&self) -> Result<Command> {
        let Build {
            job,
            folder,
            compiler,
            libraries,
        } = self;
        let tools = TOOLS.iter().map(PathBuf::from);
        let mut execute: Vec<PathBuf> = tools.chain(confine::system_libraries()).collect();
        execute.push(compiler.sysroot.clone());
        let rules = Rules {
            read: libraries.files.clone(),
            write: vec![folder.to_path_buf()],
            execute,
            processes: true,
            ..job.limits.rules()
        };
        let mut rustc = rules.command(&compiler.program)?;
        for variable in ["TMPDIR", "TMP", "TEMP"] {
            rustc.env(variable, folder);
        }
        rustc
            .current_dir(folder)
            .args(["--edition=2024", "--crate-name=answer", "--color=never"])
            .args(["-Cdebuginfo=0", "-Cstrip=debuginfo", "-Ccodegen-units=1"])
            .arg(format!("-Ldependency={}", libraries.folder.display()))
            .arg(format!("--extern=answers={}", libraries.answers.display()))
            .stdin(Stdio::null());
        Ok(rustc)
    }

    /// Runs the compiler. Returns its exit status and messages.
    fn run(&self, mut rustc: Command) -> Result<(ExitStatus, String)> {
        let program = self.compiler.program.display();
        let context = || localize!(self.job.lang, "cannot run {}", "无法运行 {}"; program);
        let child = rustc.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.with_context(context)?;
        let mut messages = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            let mut beginning = stderr.take(MAX_MESSAGES);
            beginning.read_to_end(&mut messages)?;
            io::copy(&mut beginning.into_inner(), &mut io::sink())?;
        }
        let status = child.wait()?;
        Ok((status, String::from_utf8_lossy(&messages).into_owned()))
    }

    /// Checks that any program compiles with the libraries; if none does, the submission is not at fault.
    ///
    /// # Errors
    ///
    /// Fails if the libraries and the compiler do not belong together.
    fn verify_libraries(&self) -> Result<()> {
        let lang = self.job.lang;
        fs::write(self.folder.join("nothing.rs"), "pub use answers as _;")?;
        let mut rustc = self.rustc()?;
        rustc.args(["--crate-type=lib", "--emit=metadata", "nothing.rs"]);
        let (status, messages) = self.run(rustc)?;
        if status.success() {
            return Ok(());
        }
        if let Some(reason) = self.compiler.too_old(lang)? {
            bail!(reason);
        }
        bail!(localize!(
            lang,
            "Rust submissions are compiled against {}, which no longer matches the libraries next \
             to it: rebuild the course with cargo ({})",
            "用 Rust 写的答案要与 {} 一起编译，而它与同一文件夹中的库已不一致：请用 cargo \
             重新构建课程（{}）";
            self.libraries.files[0].display(), messages.lines().next().unwrap_or_default()
        ))
    }
}
