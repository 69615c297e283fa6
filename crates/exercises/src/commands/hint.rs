//! The `hint` command, which shows one more hint each time.

use std::process::ExitCode;

use anyhow::Result;

use super::Context;
use crate::output;
use crate::text::{WIDTH, fit};

/// Prints the hints shown before and the next one.
pub fn run(context: &Context, name: Option<&str>) -> Result<ExitCode> {
    let lang = context.lang;
    let exercise = context.exercise(name)?;
    let hints = &exercise.data().hints;
    let mut revealed = 0;
    context.workspace.change(lang, |progress| {
        revealed = progress.reveal_hint(exercise, hints.len());
    })?;

    let texts = hints.iter().take(revealed).map(|hint| hint.get(lang));
    if context.json {
        let record = serde_json::json!({
            "exercise": exercise.name(),
            "hints": texts.collect::<Vec<_>>(),
            "of": hints.len(),
        });
        output::json(&record)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (number, text) in texts.enumerate() {
        let hint = format!("{}/{}  {text}\n", number + 1, hints.len());
        output::line(fit(&hint, WIDTH) + "\n")?;
    }
    output::line(match revealed < hints.len() {
        true => localize!(
            lang,
            "For another hint, run the same command again.",
            "还想要提示，请再运行一次同样的命令。"
        ),
        false => localize!(
            lang,
            "There are no more hints. To see the solution:\n{} solution {} --give-up",
            "没有更多提示了。查看参考答案：\n{} solution {} --give-up";
            context.course.command_line(), exercise.name()
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}
