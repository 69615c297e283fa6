//! The program's commands.

mod author;
mod check;
mod class;
mod student;
mod watch;

use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use chapter::lang::{Lang, tr};

use crate::course::{Course, Exercise};
use crate::flags::{Command, Flags, GlobalFlags};
use crate::worker;
use crate::workspace::Workspace;

/// The context of every command that works in the student's folder.
pub struct Context<'a> {
    course: &'a Course,
    lang: Lang,
    json: bool,
    workspace: Workspace,
}

impl<'a> Context<'a> {
    fn open(course: &'a Course, flags: &GlobalFlags) -> Result<Context<'a>> {
        Ok(Context {
            course,
            lang: Lang::current(),
            json: flags.json,
            workspace: Workspace::open(course, flags.dir.as_deref())?,
        })
    }

    /// Returns the exercise with this name, or the next one if no name is given.
    fn exercise(&self, name: Option<&str>) -> Result<&'a Exercise> {
        let Some(name) = name else {
            let progress = self.workspace.progress(self.lang)?;
            return progress.next(self.course).ok_or_else(|| {
                anyhow!(localize!(
                    self.lang,
                    "all exercises have passed: name one",
                    "所有练习都已通过：请指定一道"
                ))
            });
        };
        find(self.course, name, self.lang)
    }
}

/// Returns the exercise with this name.
fn find<'a>(course: &'a Course, name: &str, lang: Lang) -> Result<&'a Exercise> {
    course.find(name).ok_or_else(|| {
        let name_of = |exercise: Option<&'a Exercise>| exercise.map_or("", Exercise::name);
        anyhow!(localize!(
            lang,
            "there is no exercise '{}': `{} list` lists all, from {} to {}",
            "没有名为“{}”的练习：用 `{} list` 查看全部，从 {} 到 {}";
            name, course.command_line(), name_of(course.exercises.first()),
            name_of(course.exercises.last())
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
        return author::new(custom_course, name);
    }
    let course = &match custom_course {
        Some(folder) => Course::open(folder, Lang::current())?,
        None => Course::built_in()?,
    };
    if let Some(Command::Test { name }) = &flags.command {
        return author::test(course, name.as_deref(), Lang::current());
    }
    if let Some(Command::Check(check)) = &flags.command
        && let Some(submissions) = &check.class.submissions
    {
        return class::grade(course, &flags.global, check, submissions);
    }
    if let Some(Command::Merge { records, output }) = &flags.command {
        return class::merge(course, &flags.global, records, output);
    }
    let context = Context::open(course, &flags.global)?;
    match &flags.command {
        Some(Command::Check(check)) => return check::run(&context, check),
        Some(Command::Watch { name }) => return watch::run(&context, name.as_deref()),
        None => student::status(&context),
        Some(Command::List) => student::list(&context),
        Some(Command::Statement { name }) => student::statement(&context, name.as_deref()),
        Some(Command::Hint { name }) => student::hint(&context, name.as_deref()),
        Some(Command::Reset { name }) => student::reset(&context, name),
        Some(Command::Solution { name, give_up }) => student::solution(&context, name, *give_up),
        // Handled above, because they do not use the student's folder.
        Some(
            Command::Merge { .. } | Command::New { .. } | Command::Test { .. } | Command::Worker,
        ) => Ok(()),
    }?;
    Ok(ExitCode::SUCCESS)
}
