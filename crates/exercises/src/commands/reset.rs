//! `reset`: the start file again.

use std::process::ExitCode;

use anyhow::Result;

use super::Course;
use crate::folder::shown;
use crate::output;

/// Puts it back, and says where the student's text is now.
pub fn run(course: &Course, name: &str) -> Result<ExitCode> {
    let lang = course.lang;
    let exercise = course.named(Some(name))?;
    // One that cannot be read is said to be so before a file is changed.
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
