//! The `statement` command, which prints an exercise's task, its prerequisites and further reading.

use std::process::ExitCode;

use anyhow::Result;

use super::Context;
use crate::output;
use crate::report::statement;

/// Prints the statement of the named exercise or of the next one.
pub fn run(context: &Context, name: Option<&str>) -> Result<ExitCode> {
    let lang = context.lang;
    let exercise = context.exercise(name)?;
    if context.json {
        let data = exercise.data();
        let needs = data
            .needs
            .iter()
            .filter_map(|name| context.course.find(name));
        let needs: Vec<&str> = needs.map(|before| before.name()).collect();
        let record = serde_json::json!({
            "exercise": exercise.name(),
            "title": data.title.get(lang),
            "chapter": data.chapter,
            "needs": needs,
            "file": context.workspace.display_path(exercise),
            "statement": exercise.statement(lang),
        });
        output::json(&record)?;
        return Ok(ExitCode::SUCCESS);
    }
    let progress = context.workspace.progress(lang)?;
    output::line(statement(context.course, exercise, &progress, lang))?;
    let file = context.workspace.display_path(exercise);
    output::line(localize!(lang, "\nEdit    {}", "\n编辑    {}"; file))?;
    Ok(ExitCode::SUCCESS)
}
