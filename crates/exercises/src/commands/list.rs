//! The `list` command, which lists all exercises.

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use super::Context;
use crate::data::Kind;
use crate::lang::Lang;
use crate::output;
use crate::text::pad_right;

/// The JSON record of an exercise.
#[derive(Serialize)]
struct Row<'a> {
    exercise: &'a str,
    title: String,
    chapter: String,
    kind: Kind,
    passed: bool,
    file: String,
}

/// Prints all exercises and marks those that have passed and the next one.
pub fn run(context: &Context) -> Result<ExitCode> {
    let lang = context.lang;
    let progress = context.workspace.progress(lang)?;
    let mut rows = Vec::new();
    for exercise in &context.course.exercises {
        let data = exercise.data();
        rows.push(Row {
            exercise: exercise.name(),
            title: data.title.get(lang).to_owned(),
            chapter: data.chapter.clone(),
            kind: data.kind,
            passed: progress.has_passed(exercise),
            file: context.workspace.display_path(exercise),
        });
    }
    if context.json {
        output::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let next = progress
        .next(context.course)
        .map(|exercise| exercise.name());
    let longest = rows.iter().map(|row| row.exercise.len()).max().unwrap_or(0);
    let mut chapter = "";
    for row in &rows {
        let mark = match row {
            row if row.passed => "✓",
            row if Some(row.exercise) == next => "→",
            _ => " ",
        };
        if row.chapter != chapter {
            chapter = &row.chapter;
            output::line(chapter)?;
        }
        output::line(format!(
            "  {mark} {}  {}  {}",
            pad_right(row.exercise, longest),
            pad_right(kind_label(row.kind, lang), lang.pick(8, 12)),
            row.title
        ))?;
    }
    output::line(localize!(
        lang,
        "\n{} of {} exercises passed.",
        "\n共 {1} 道练习，已通过 {0} 道。";
        progress.passed_count(context.course), context.course.exercises.len()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a one-word label for a kind of exercise.
fn kind_label(kind: Kind, lang: Lang) -> &'static str {
    match kind {
        Kind::Complete => lang.pick("complete", "补全"),
        Kind::Bug => lang.pick("bug", "找错"),
        Kind::Coalesce => lang.pick("coalesce", "合并访问"),
        Kind::Banks => lang.pick("banks", "存储体冲突"),
        Kind::Constant => lang.pick("constant", "常量内存"),
        Kind::Choose => lang.pick("choose", "选择内存"),
        Kind::Events => lang.pick("events", "事件计时"),
        Kind::Predict => lang.pick("predict", "预测"),
        Kind::Limit => lang.pick("limit", "逼近极限"),
    }
}
