//! The output without a command: the student's progress and the next exercise.

use std::process::ExitCode;

use anyhow::Result;

use super::{Course, PROGRAM, list};
use crate::compiler;
use crate::course::EXERCISES;
use crate::output;

/// Prints the student's progress, the next exercise's statement and the commands to continue with.
pub fn run(course: &Course) -> Result<ExitCode> {
    let lang = course.lang;
    if course.json {
        return list::run(course);
    }
    let progress = course.folder.progress(lang)?;
    output::line(say!(
        lang,
        "{} of {} exercises passed.\n",
        "共 {1} 道练习，已通过 {0} 道。\n";
        progress.count(), EXERCISES.len()
    ))?;
    let Some(next) = progress.next() else {
        output::line(say!(
            lang,
            "That was all of them. Well done!",
            "全部完成，祝贺！"
        ))?;
        return Ok(ExitCode::SUCCESS);
    };
    let statement = crate::report::statement(next, &progress, lang);
    output::line(format!("{statement}\n"))?;
    output::line(say!(
        lang,
        "Edit    {0}\nCheck   {1} check {2}\nHint    {1} hint {2}",
        "编辑    {0}\n评分    {1} check {2}\n提示    {1} hint {2}";
        course.folder.shown(next), PROGRAM, next.name
    ))?;
    // Look for the compiler now, so that a missing one is reported before the student starts writing.
    let clang = compiler::find(lang)?;
    output::line(say!(lang, "Compiled with {}.", "用 {} 编译。"; clang.name()))?;
    Ok(ExitCode::SUCCESS)
}
