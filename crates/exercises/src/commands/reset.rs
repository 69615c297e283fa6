//! The `reset` command, which restores a start file.

use std::process::ExitCode;

use anyhow::Result;

use super::Course;
use crate::folder::shown;
use crate::output;

/// Restores the start file and prints the name under which the student's text was saved.
pub fn run(course: &Course, name: &str) -> Result<ExitCode> {
    let lang = course.lang;
    let exercise = course.named(Some(name))?;
    // Read the progress first, so that an unreadable progress file is reported before any file changes.
    course.folder.progress(lang)?;
    let kept = course.folder.reset(exercise)?;
    course.folder.change(lang, |progress| {
        progress.set(exercise, false);
        progress.hints.remove(exercise.name);
    })?;

    let file = course.folder.shown(exercise);
    let kept = kept.map(|kept| shown(&kept));
    if course.json {
        let record = serde_json::json!({
            "exercise": exercise.name, "file": file, "kept": kept,
        });
        output::json(&record)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::line(match kept {
        Some(kept) => say!(
            lang,
            "{} is as it was at the beginning; your text is in {}.",
            "{} 已恢复为初始内容；你写的内容保存在 {}。";
            file, kept
        ),
        None => say!(
            lang,
            "{} is as it was at the beginning.",
            "{} 已是初始内容。";
            file
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}
