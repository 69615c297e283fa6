//! Feedback files: one Markdown file per student with the result of each submission.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use chapter::file::can_write_into;

use super::marks::written;
use super::{Class, Kept, Marks, Outcome, columns};
use crate::files::write_whole;
use crate::folder::shown;
use crate::lang::Lang;
use crate::text::{in_a_line, visible};

/// Creates the feedback folder if needed. This runs before grading so that problems are reported early.
///
/// # Errors
///
/// Fails if the path is not a folder, lies inside the class's folder, or cannot be written to.
pub fn prepared(folder: &Path, kept: Kept<'_>, lang: Lang) -> Result<()> {
    let named = || format!("--feedback {}", shown(folder));
    fs::create_dir_all(folder).with_context(named)?;
    can_write_into(folder)
        .map_err(anyhow::Error::from)
        .with_context(named)?;
    if let Kept::Class(class) = kept {
        let (folder, class) = (fs::canonicalize(folder)?, fs::canonicalize(class)?);
        ensure!(
            !folder.starts_with(class),
            say!(
                lang,
                "{} is in the class's folder, where the answers are: choose a place outside",
                "{} 在全班的文件夹里，那里放的是答案：请换到外面";
                named()
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
        let text = of_student(class, marks, student, lang);
        write_whole(&folder.join(format!("{student}.md")), &text)?;
    }
    Ok(())
}

fn of_student(class: &Class, marks: Option<&Marks>, student: &str, lang: Lang) -> String {
    let results: Vec<_> = class
        .results
        .iter()
        .filter(|it| it.student == *student)
        .collect();
    let passed = results
        .iter()
        .filter(|it| it.outcome == Outcome::Passed)
        .count();
    let mut text = format!("# {}\n\n", in_a_line(student));
    text += &say!(
        lang,
        "{} of {} exercises passed",
        "共 {1} 道练习，通过 {0} 道";
        passed, class.exercises.len()
    );
    if let Some(marks) = marks {
        let points = results
            .iter()
            .filter_map(|it| marks.points(class, it))
            .sum();
        let most = class.exercises.iter().map(|it| marks.most(class, it)).sum();
        text += &say!(lang, ", {} of {} points", "，得 {} 分（满分 {}）"; written(points), written(most));
    }
    text += &say!(
        lang,
        ". With `--seed {0}` sizes and inputs are the same again: `check NAME --seed {0}`.\n\n",
        "。加上 `--seed {0}` 可以重现同样的大小和输入：`check NAME --seed {0}`。\n\n";
        class.seed
    );
    let head = lang.pick(["exercise", "result", "points"], ["练习", "结果", "得分"]);
    let columns = if marks.is_some() { 3 } else { 2 };
    let row = |cells: &[String]| format!("| {} |\n", cells[..columns].join(" | "));
    text += &row(&head.map(str::to_owned));
    text += &row(&["---", "---", "---:"].map(str::to_owned));
    for result in &results {
        let points = marks.map(|marks| {
            let points = marks.points(class, result).map_or("?".to_owned(), written);
            match marks.lost(result) > 0.0 {
                true => say!(lang, "{} (late)", "{}（迟交）"; points),
                false => points,
            }
        });
        let word = columns::word(result, lang).to_owned();
        text += &row(&[result.exercise.clone(), word, points.unwrap_or_default()]);
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
    let runs = text.split(|letter| letter != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fence("a `b` c"), "```");
        assert_eq!(fence("````"), "`````");
    }
}
