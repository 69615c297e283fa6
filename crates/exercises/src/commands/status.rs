//! The output without a command: the student's progress and the next exercise.

use std::process::ExitCode;

use anyhow::Result;

use super::{Context, list};
use crate::grade::find_compiler;
use crate::output;

/// Prints the student's progress, the next exercise's statement and the commands to continue with.
pub fn run(context: &Context) -> Result<ExitCode> {
    let lang = context.lang;
    if context.json {
        return list::run(context);
    }
    let progress = context.workspace.progress(lang)?;
    output::line(localize!(
        lang,
        "{} of {} exercises passed.\n",
        "共 {1} 道练习，已通过 {0} 道。\n";
        progress.passed_count(context.course), context.course.exercises.len()
    ))?;
    let Some(next) = progress.next(context.course) else {
        output::line(localize!(
            lang,
            "You have passed all exercises. Well done!",
            "全部完成，祝贺！"
        ))?;
        return Ok(ExitCode::SUCCESS);
    };
    let statement = crate::report::statement(context.course, next, &progress, lang);
    output::line(format!("{statement}\n"))?;
    output::line(localize!(
        lang,
        "Edit    {0}\nCheck   {1} check {2}\nHint    {1} hint {2}",
        "编辑    {0}\n评分    {1} check {2}\n提示    {1} hint {2}";
        context.workspace.display_path(next), context.course.command_line(), next.name()
    ))?;
    // Look for the compiler now, so that a missing one is reported before the student starts writing.
    let clang = find_compiler(lang)?;
    output::line(localize!(lang, "Compiled with {}.", "用 {} 编译。"; clang.name()))?;
    Ok(ExitCode::SUCCESS)
}
