//! The `solution` command, which prints the course's solution.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::Context;
use crate::output;

/// Prints the solution if the student has passed or gives up.
pub fn run(context: &Context, name: &str, give_up: bool) -> Result<ExitCode> {
    let lang = context.lang;
    let exercise = context.exercise(Some(name))?;
    if !give_up && !context.workspace.progress(lang)?.has_passed(exercise) {
        bail!(localize!(
            lang,
            "your submission to {0} has not passed yet: run `{1} hint {0}` for a hint, or use \
             --give-up to see the solution anyway",
            "你对 {0} 的答案还没有通过：可以用 `{1} hint {0}` 获取提示，或者用 --give-up 直接查看参考答案";
            exercise.name(), context.course.command_line()
        ));
    }
    if context.json {
        let record = serde_json::json!({
            "exercise": exercise.name(), "solution": exercise.solution(),
        });
        output::json(&record)?;
    } else {
        output::text(exercise.solution())?;
    }
    Ok(ExitCode::SUCCESS)
}
