//! The `hint` command, which shows one more hint each time.

use std::process::ExitCode;

use anyhow::Result;

use super::{Course, PROGRAM};
use crate::output;
use crate::report::WIDTH;
use crate::text::fitted;

/// Prints the hints shown before and the next one.
pub fn run(course: &Course, name: Option<&str>) -> Result<ExitCode> {
    let lang = course.lang;
    let exercise = course.named(name)?;
    let hints = &exercise.data()?.hints;
    let mut shown = 0;
    course.folder.change(lang, |progress| {
        shown = progress.one_more_hint(exercise, hints.len());
    })?;

    let texts = hints.iter().take(shown).map(|hint| hint.of(lang));
    if course.json {
        let record = serde_json::json!({
            "exercise": exercise.name,
            "hints": texts.collect::<Vec<_>>(),
            "of": hints.len(),
        });
        output::json(&record)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (number, text) in texts.enumerate() {
        let hint = format!("{}/{}  {text}\n", number + 1, hints.len());
        output::line(fitted(&hint, WIDTH) + "\n")?;
    }
    output::line(match shown < hints.len() {
        true => say!(
            lang,
            "One more: the same command again.",
            "还想要提示，请再运行一次同样的命令。"
        ),
        false => say!(
            lang,
            "There are no more. The answer:\n{} solution {} --give-up",
            "没有更多提示了。查看参考答案：\n{} solution {} --give-up";
            PROGRAM, exercise.name
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}
