//! The `statement` command, which prints an exercise's task, its prerequisites and further reading.

use std::process::ExitCode;

use anyhow::Result;

use super::Course;
use crate::course;
use crate::output;
use crate::report::statement;

/// Prints the statement of the named exercise or of the next one.
pub fn run(course: &Course, name: Option<&str>) -> Result<ExitCode> {
    let lang = course.lang;
    let exercise = course.named(name)?;
    if course.json {
        let data = exercise.data()?;
        let needs = data.needs.iter().filter_map(|name| course::find(name));
        let needs: Vec<&str> = needs.map(|before| before.name).collect();
        let record = serde_json::json!({
            "exercise": exercise.name,
            "title": data.title.of(lang),
            "chapter": data.chapter,
            "needs": needs,
            "file": course.folder.shown(exercise),
            "statement": exercise.statement(lang),
        });
        output::json(&record)?;
        return Ok(ExitCode::SUCCESS);
    }
    let progress = course.folder.progress(lang)?;
    output::line(statement(exercise, &progress, lang))?;
    let file = course.folder.shown(exercise);
    output::line(say!(lang, "\nEdit    {}", "\n编辑    {}"; file))?;
    Ok(ExitCode::SUCCESS)
}
