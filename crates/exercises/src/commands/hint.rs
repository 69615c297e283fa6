//! `hint`: one more each time.

use std::process::ExitCode;

use anyhow::Result;

use super::{Course, PROGRAM};

/// Prints the hints that were shown before, and one more.
pub fn run(course: &Course, name: Option<&str>) -> Result<ExitCode> {
    let lang = course.lang;
    let exercise = course.named(name)?;
    let hints = &exercise.data()?.hints;
    let mut progress = course.folder.progress(lang)?;
    let shown = progress.hints.entry(exercise.name.to_owned()).or_default();
    *shown = (*shown + 1).min(hints.len());
    let shown = *shown;
    course.folder.keep(&progress)?;

    let texts = hints.iter().take(shown).map(|hint| hint.of(lang));
    if course.json {
        let record = serde_json::json!({
            "exercise": exercise.name,
            "hints": texts.collect::<Vec<_>>(),
            "of": hints.len(),
        });
        println!("{}", serde_json::to_string_pretty(&record)?);
        return Ok(ExitCode::SUCCESS);
    }
    for (number, text) in texts.enumerate() {
        println!("{}/{}  {text}\n", number + 1, hints.len());
    }
    println!(
        "{}",
        match shown < hints.len() {
            true => say!(
                lang,
                "One more: the same command again.",
                "还想要提示，请再运行一次同样的命令。"
            ),
            false => say!(
                lang,
                "There are no more. The answer: {} solution {} --give-up",
                "没有更多提示了。查看参考答案：{} solution {} --give-up";
                PROGRAM, exercise.name
            ),
        }
    );
    Ok(ExitCode::SUCCESS)
}
