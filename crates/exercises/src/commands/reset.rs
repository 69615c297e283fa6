//! The `reset` command, which restores a start file.

use std::process::ExitCode;

use anyhow::Result;

use super::Context;
use crate::files::display_path;
use crate::output;

/// Restores the start file and prints the name under which the student's text was saved.
pub fn run(context: &Context, name: &str) -> Result<ExitCode> {
    let lang = context.lang;
    let exercise = context.exercise(Some(name))?;
    // Read the progress first, so that an unreadable progress file is reported before any file changes.
    context.workspace.progress(lang)?;
    let saved = context.workspace.reset(exercise)?;
    context.workspace.change(lang, |progress| {
        progress.set_passed(exercise, false);
        progress.hints.remove(exercise.name());
    })?;

    let file = context.workspace.display_path(exercise);
    let saved = saved.map(|saved| display_path(&saved));
    if context.json {
        let record = serde_json::json!({
            "exercise": exercise.name(), "file": file, "kept": saved,
        });
        output::json(&record)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::line(match saved {
        Some(saved) => localize!(
            lang,
            "{} is restored to the start file; your version is saved in {}.",
            "{} 已恢复为初始内容；你写的内容保存在 {}。";
            file, saved
        ),
        None => localize!(
            lang,
            "{} is the start file.",
            "{} 已是初始内容。";
            file
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}
