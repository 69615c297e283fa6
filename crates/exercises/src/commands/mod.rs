//! The program's commands, one file each.

mod check;
mod class;
mod hint;
mod list;
mod new;
mod reset;
mod solution;
mod statement;
mod status;
mod test;
mod watch;

use std::fmt;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};

use crate::course::{self, EXERCISES};
use crate::exercise::Exercise;
use crate::flags::{Command, Flags, GlobalFlags};
use crate::lang::{Lang, tr};
use crate::worker;
use crate::workspace::{Workspace, display_path};

/// The command line that messages show when the user should run this program again.
pub const PROGRAM: Program = Program;

/// [`PROGRAM`], which displays as the command line plus `--course`, if one was given.
#[derive(Clone, Copy)]
pub struct Program;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cargo run -p exercises --")?;
        match course::custom::path() {
            Some(folder) => write!(f, " --course {}", display_path(folder)),
            None => Ok(()),
        }
    }
}

/// Exit code when a submission could not be graded: bad flags, unreadable files, no compiler.
pub const EXIT_NOT_GRADED: u8 = 2;

/// The context of every command that works in the student's folder.
pub struct Context {
    lang: Lang,
    json: bool,
    workspace: Workspace,
}

impl Context {
    fn open(flags: &GlobalFlags) -> Result<Context> {
        Ok(Context {
            lang: Lang::current(),
            json: flags.json,
            workspace: Workspace::open(flags.dir.as_deref())?,
        })
    }

    /// Returns the exercise with this name, or the next one if no name is given.
    fn exercise(&self, name: Option<&str>) -> Result<&'static Exercise> {
        let Some(name) = name else {
            return self.workspace.progress(self.lang)?.next().ok_or_else(|| {
                anyhow!(localize!(
                    self.lang,
                    "all exercises have passed: name one",
                    "所有练习都已通过：请指定一道"
                ))
            });
        };
        find(name, self.lang)
    }
}

/// Returns the exercise with this name.
fn find(name: &str, lang: Lang) -> Result<&'static Exercise> {
    course::find(name).ok_or_else(|| {
        anyhow!(localize!(
            lang,
            "there is no exercise '{}': `{} list` lists all, from {} to {}",
            "没有名为“{}”的练习：用 `{} list` 查看全部，从 {} 到 {}";
            name, PROGRAM, EXERCISES[0].name, EXERCISES[EXERCISES.len() - 1].name
        ))
    })
}

/// Runs the command given by the flags.
///
/// # Errors
///
/// Fails if the command cannot be carried out, which is not a verdict on any submission.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    if let Some(Command::Worker) = flags.command {
        return Ok(worker::run());
    }
    chapter::interrupt::install(tr("interrupted", "已中断"))
        .context(tr("the program cannot start", "程序无法启动"))?;
    let custom_course = flags.global.course.as_deref();
    if let Some(Command::New { name }) = &flags.command {
        return new::run(custom_course, name);
    }
    if let Some(folder) = custom_course {
        course::custom::open(folder, Lang::current())?;
    }
    if let Some(Command::Test { name }) = &flags.command {
        return test::run(name.as_deref(), Lang::current());
    }
    if let Some(Command::Check(check)) = &flags.command
        && let Some(submissions) = &check.class.submissions
    {
        return class::grade(&flags.global, check, submissions);
    }
    if let Some(Command::Merge { records, output }) = &flags.command {
        return class::merge(&flags.global, records, output);
    }
    let context = Context::open(&flags.global)?;
    match &flags.command {
        None => status::run(&context),
        Some(Command::List) => list::run(&context),
        Some(Command::Check(check)) => check::run(&context, check),
        Some(Command::Watch { name }) => watch::run(&context, name.as_deref()),
        Some(Command::Statement { name }) => statement::run(&context, name.as_deref()),
        Some(Command::Hint { name }) => hint::run(&context, name.as_deref()),
        Some(Command::Reset { name }) => reset::run(&context, name),
        Some(Command::Solution { name, give_up }) => solution::run(&context, name, *give_up),
        // Handled above, because they do not use the student's folder.
        Some(
            Command::Merge { .. } | Command::New { .. } | Command::Test { .. } | Command::Worker,
        ) => Ok(ExitCode::SUCCESS),
    }
}
