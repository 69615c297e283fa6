//! Feedback files: one Markdown file per student with the result of each submission.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use chapter::file::check_writable;

use super::marks::format_points;
use super::{Class, Marks, Outcome, Protected, columns};
use crate::files::{display_path, write_whole};
use crate::lang::Lang;
use crate::text::{in_a_line, visible};

/// Creates the feedback folder if needed. This runs before grading so that problems are reported early.
///
/// # Errors
///
/// Fails if the path is not a folder, lies inside the class's folder, or cannot be written to.
pub fn prepare_folder(folder: &Path, protected: Protected<'_>, lang: Lang) -> Result<()> {
    let context = || format!("--feedback {}", display_path(folder));
    fs::create_dir_all(folder).with_context(context)?;
    check_writable(folder)
        .map_err(anyhow::Error::from)
        .with_context(context)?;
    if let Protected::Class(class) = protected {
        let (folder, class) = (fs::canonicalize(folder)?, fs::canonicalize(class)?);
        ensure!(
            !folder.starts_with(class),
            localize!(
                lang,
                "{} is inside the class's folder, which contains the submissions: choose a path \
                 outside it",
                "{} 位于全班的文件夹内，其中是学生的答案：请换到该文件夹之外";
                context()
            )
        );
    }
    Ok(())
}

/// Writes one file per student: `ann.md`, and so on.
///
/// # Errors
///
/// Fails if a file cannot be written.
pub fn feedback(class: &Class, marks: Option<&Marks>, folder: &Path, lang: Lang) -> Result<()> {
    for student in &class.students {
        let text = student_feedback(class, marks, student, lang);
        write_whole(&folder.join(format!("{student}.md")), &text)?;
    }
    Ok(())
}

fn student_feedback(class: &Class, marks: Option<&Marks>, student: &str, lang: Lang) -> String {
    let results: Vec<_> = class
        .results
        .iter()
        .filter(|result| result.student == *student)
        .collect();
    let passed = results
        .iter()
        .filter(|result| result.outcome == Outcome::Passed)
        .count();
    let mut text = format!("# {}\n\n", in_a_line(student));
    text += &localize!(
        lang,
        "{} of {} exercises passed",
        "共 {1} 道练习，通过 {0} 道";
        passed, class.exercises.len()
    );
    if let Some(marks) = marks {
        let points = results
            .iter()
            .filter_map(|result| marks.points(class, result))
            .sum();
        let maximum = class
            .exercises
            .iter()
            .map(|exercise| marks.max_points(class, exercise))
            .sum();
        text += &localize!(lang, ", {} of {} points", "，得 {} 分（满分 {}）"; format_points(points), format_points(maximum));
    }
    text += &localize!(
        lang,
        ". To reproduce the sizes and inputs, run `check NAME --seed {0}`.\n\n",
        "。运行 `check NAME --seed {0}` 可以重现同样的规模和输入。\n\n";
        class.seed
    );
    let head = lang.pick(["exercise", "result", "points"], ["练习", "结果", "得分"]);
    let columns = if marks.is_some() { 3 } else { 2 };
    let row = |cells: &[String]| format!("| {} |\n", cells[..columns].join(" | "));
    text += &row(&head.map(str::to_owned));
    text += &row(&["---", "---", "---:"].map(str::to_owned));
    for result in &results {
        let points = marks.map(|marks| {
            let points = marks
                .points(class, result)
                .map_or("?".to_owned(), format_points);
            match marks.late_penalty(result) > 0.0 {
                true => localize!(lang, "{} (late)", "{}（迟交）"; points),
                false => points,
            }
        });
        let label = columns::label(result, lang).to_owned();
        text += &row(&[result.exercise.clone(), label, points.unwrap_or_default()]);
    }
    for result in results {
        if !result.message.is_empty() {
            let message = visible(&result.message);
            let fence = fence(&message);
            text += &format!(
                "\n## {}\n\n{fence}text\n{}\n{fence}\n",
                result.exercise,
                message.trim_end()
            );
        }
    }
    text
}

/// Returns a Markdown fence that is longer than any run of backticks in the text.
fn fence(text: &str) -> String {
    let runs = text.split(|character| character != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_longer_than_backtick_runs_inside() {
        assert_eq!(fence("a `b` c"), "```");
        assert_eq!(fence("````"), "`````");
    }
}
