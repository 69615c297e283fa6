//! `reset`: the start file again.

use std::process::ExitCode;

use anyhow::Result;

use super::Course;
use crate::folder::shown;

/// Puts it back, and says where the student's text is now.
pub fn run(course: &Course, name: &str) -> Result<ExitCode> {
    let lang = course.lang;
    let exercise = course.named(Some(name))?;
    let mut progress = course.folder.progress(lang)?;
    let kept = course.folder.reset(exercise)?;
    progress.set(exercise, false);
    progress.hints.remove(exercise.name);
    course.folder.keep(&progress)?;

    let file = course.folder.shown(exercise);
    let kept = kept.map(|kept| shown(&kept));
    if course.json {
        let record = serde_json::json!({
            "exercise": exercise.name, "file": file, "kept": kept,
        });
        println!("{}", serde_json::to_string_pretty(&record)?);
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "{}",
        match kept {
            Some(kept) => say!(
                lang,
                "{} is as it was at the beginning; your text is in {}.",
                "{} 已恢复为初始内容；你写的内容保存在 {}。";
                file, kept
            ),
            None => say!(
                lang,
                "{} is there again.",
                "{} 已重新生成。";
                file
            ),
        }
    );
    Ok(ExitCode::SUCCESS)
}
