//! What the program does, one file a command.

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
use crate::flags::{Command, Everywhere, Flags};
use crate::folder::{Folder, shown};
use crate::lang::{Lang, tr};
use crate::worker;

/// How the program is called, for those who are to call it again.
pub const PROGRAM: Program = Program;

/// That, with the course that is chosen.
#[derive(Clone, Copy)]
pub struct Program;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cargo run -p exercises --")?;
        match course::folder::path() {
            Some(folder) => write!(f, " --course {}", shown(folder)),
            None => Ok(()),
        }
    }
}

/// The exit code where nothing can be said of an answer: flags, files, a compiler that is missing.
pub const CANNOT: u8 = 2;

/// What every command is given.
pub struct Course {
    lang: Lang,
    json: bool,
    folder: Folder,
}

impl Course {
    fn open(flags: &Everywhere) -> Result<Course> {
        Ok(Course {
            lang: Lang::chosen(),
            json: flags.json,
            folder: Folder::open(flags.dir.as_deref())?,
        })
    }

    /// The exercise of this name; the next one where none is named.
    fn named(&self, name: Option<&str>) -> Result<&'static Exercise> {
        let Some(name) = name else {
            return self.folder.progress(self.lang)?.next().ok_or_else(|| {
                anyhow!(say!(
                    self.lang,
                    "all exercises have passed: name one",
                    "所有练习都已通过：请指定一道"
                ))
            });
        };
        find(name, self.lang)
    }
}

/// The exercise of this name.
fn find(name: &str, lang: Lang) -> Result<&'static Exercise> {
    course::find(name).ok_or_else(|| {
        anyhow!(say!(
            lang,
            "there is no exercise '{}': `{} list` has them all, from {} to {}",
            "没有名为“{}”的练习：用 `{} list` 查看全部，从 {} 到 {}";
            name, PROGRAM, EXERCISES[0].name, EXERCISES[EXERCISES.len() - 1].name
        ))
    })
}

/// Does what the flags say.
///
/// # Errors
///
/// Where it cannot be done, which says nothing of any answer.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    if let Some(Command::Worker) = flags.command {
        return Ok(worker::work());
    }
    chapter::interrupt::install(tr("interrupted", "已中断"))
        .context(tr("the program cannot start", "程序无法启动"))?;
    let own = flags.everywhere.course.as_deref();
    if let Some(Command::New { name }) = &flags.command {
        return new::run(own, name);
    }
    if let Some(folder) = own {
        course::folder::choose(folder, Lang::chosen())?;
    }
    if let Some(Command::Test { name }) = &flags.command {
        return test::run(name.as_deref(), Lang::chosen());
    }
    if let Some(Command::Check(check)) = &flags.command
        && let Some(submissions) = &check.class.submissions
    {
        return class::grade(&flags.everywhere, check, submissions);
    }
    if let Some(Command::Merge { records, output }) = &flags.command {
        return class::merge(&flags.everywhere, records, output);
    }
    let course = Course::open(&flags.everywhere)?;
    match &flags.command {
        None => status::run(&course),
        Some(Command::List) => list::run(&course),
        Some(Command::Check(check)) => check::run(&course, check),
        Some(Command::Watch { name }) => watch::run(&course, name.as_deref()),
        Some(Command::Statement { name }) => statement::run(&course, name.as_deref()),
        Some(Command::Hint { name }) => hint::run(&course, name.as_deref()),
        Some(Command::Reset { name }) => reset::run(&course, name),
        Some(Command::Solution { name, give_up }) => solution::run(&course, name, *give_up),
        // Done above: none has to do with a student's folder.
        Some(
            Command::Merge { .. } | Command::New { .. } | Command::Test { .. } | Command::Worker,
        ) => Ok(ExitCode::SUCCESS),
    }
}
