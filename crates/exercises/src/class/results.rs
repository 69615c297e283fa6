//! The output files of a class, validated before grading and written after it: the record, the tables, and one Markdown
//! file of feedback per student.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use chapter::file::{check_writable, folder_of};
use chapter::lang::{Lang, tr};

use super::marks::format_points;
use super::{Class, Marks, tables};
use crate::files::{display_path, write_whole};
use crate::text::{in_a_line, visible};

/// Inputs that results must not overwrite.
#[derive(Clone, Copy, Debug)]
pub enum Protected<'a> {
    /// The class's folder with all its files.
    Class(&'a Path),
    /// The records that are merged.
    Records(&'a [PathBuf]),
}

/// The files that results are written to.
#[derive(Clone, Debug)]
pub struct ResultFiles {
    out: Option<PathBuf>,
    csv: Option<PathBuf>,
    copies: Option<PathBuf>,
}

impl ResultFiles {
    /// Validates the files named by `--out`, `--csv` and `--copies`, and the folder named by `--feedback`.
    /// They are written only after all the work is done, so every problem is reported now.
    ///
    /// # Errors
    ///
    /// Fails if a file is not a regular file, is an input, or cannot be written, or if two flags name the
    /// same file.
    pub fn new(
        named: [(&str, Option<&Path>); 3],
        feedback: Option<&Path>,
        protected: Protected<'_>,
        lang: Lang,
    ) -> Result<ResultFiles> {
        let mut paths: Vec<(&str, PathBuf)> = Vec::new();
        for (flag, path) in named {
            let Some(path) = path else { continue };
            let named = format!("{flag} {}", display_path(path));
            let path = writable_path(&named, path, lang)?;
            check_protected(&named, &path, protected, lang)?;
            if let Some((other, _)) = paths.iter().find(|(_, other_path)| *other_path == path) {
                bail!(localize!(
                    lang,
                    "{} and {} name the same file: use different files",
                    "{} 和 {} 是同一个文件：请使用不同的文件";
                    other, flag
                ));
            }
            paths.push((flag, path));
        }
        if let Some(folder) = feedback {
            prepare_folder(folder, protected, lang)?;
        }
        let [out, csv, copies] = named.map(|(_, path)| path.map(Path::to_owned));
        Ok(ResultFiles { out, csv, copies })
    }

    /// Returns the file for pairs of similar submissions.
    pub fn copies(&self) -> Option<&Path> {
        self.copies.as_deref()
    }

    /// Writes the table of similar submissions.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn write_copies(&self, table: &str) -> Result<()> {
        write_if_named(&self.copies, table)
    }

    /// Writes the record and the table, replacing files created in the meantime. A failure to write one does
    /// not prevent the other from being written.
    ///
    /// # Errors
    ///
    /// Fails if either cannot be written.
    pub fn write(&self, record: &str, table: &str) -> Result<()> {
        let result = write_if_named(&self.out, record);
        write_if_named(&self.csv, table).and(result)
    }
}

fn write_if_named(path: &Option<PathBuf>, text: &str) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    write_whole(path, text)
}

/// Returns the file's canonical path, after checking that it can be written.
fn writable_path(named: &str, path: &Path, lang: Lang) -> Result<PathBuf> {
    let folder = folder_of(path);
    ensure!(
        folder.is_dir(),
        localize!(
            lang,
            "{}: the folder {} does not exist; create it first or choose another",
            "{}：文件夹 {} 不存在；请先创建，或换一个文件夹";
            named, display_path(folder)
        )
    );
    let is_file = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.is_file(),
        Err(error) if error.kind() == ErrorKind::NotFound => names_a_file(path),
        Err(error) => return Err(error).with_context(|| named.to_owned()),
    };
    ensure!(
        is_file,
        localize!(
            lang,
            "{} is not a regular file; results are not written to folders, devices or links: \
             choose another name",
            "{} 不是普通文件；结果不会写入文件夹、设备或链接，请换一个名字";
            named
        )
    );
    check_writable(folder).map_err(|io_error| {
        anyhow!(localize!(
            lang,
            "{}: cannot write to {}: {}",
            "{}：无法写入 {}：{}";
            named, display_path(folder), io_error
        ))
    })?;
    canonical_path(path).with_context(|| named.to_owned())
}

/// Returns true if the path can name a new file; `results/` names a folder.
fn names_a_file(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let last = bytes.last().copied().map(char::from);
    let last = last.is_some_and(|last| !std::path::is_separator(last));
    last && matches!(path.components().next_back(), Some(Component::Normal(_)))
}

/// Returns the path without symbolic links, so that two spellings of one file compare equal.
fn canonical_path(path: &Path) -> std::io::Result<PathBuf> {
    if path.exists() {
        return fs::canonicalize(path);
    }
    let folder = fs::canonicalize(folder_of(path))?;
    Ok(folder.join(path.file_name().unwrap_or_default()))
}

fn check_protected(named: &str, path: &Path, protected: Protected<'_>, lang: Lang) -> Result<()> {
    match protected {
        Protected::Class(folder) => {
            let class = fs::canonicalize(folder).with_context(|| display_path(folder))?;
            ensure!(
                !path.starts_with(class),
                localize!(
                    lang,
                    "{} is inside the class's folder {}, which contains the submissions: choose a \
                     path outside it",
                    "{} 位于全班的文件夹 {} 内，其中是学生的答案：请换到该文件夹之外";
                    named, display_path(folder)
                )
            );
        }
        Protected::Records(records) => {
            let is_same =
                |record: &&PathBuf| fs::canonicalize(record).is_ok_and(|record| record == path);
            if records.iter().any(|record| is_same(&record)) {
                bail!(localize!(
                    lang,
                    "{} is one of the records to merge: choose another name",
                    "{} 是要合并的记录之一：请换一个名字";
                    named
                ));
            }
        }
    }
    Ok(())
}

/// Returns the error context for a record that is printed because it cannot be written.
pub fn unwritable_message() -> &'static str {
    tr(
        "the results could not be written, so they are printed instead",
        "结果无法写入文件，因此改为直接输出",
    )
}

/// Creates the feedback folder if needed. This runs before grading so that problems are reported early.
///
/// # Errors
///
/// Fails if the path is not a folder, lies inside the class's folder, or cannot be written to.
fn prepare_folder(folder: &Path, protected: Protected<'_>, lang: Lang) -> Result<()> {
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
    let results = class.results_of(student);
    let mut text = format!("# {}\n\n", in_a_line(student));
    text += &localize!(
        lang,
        "{} of {} exercises passed",
        "共 {1} 道练习，通过 {0} 道";
        tables::passed(&results), class.exercises.len()
    );
    if let Some(marks) = marks {
        let points = tables::total(class, marks, &results);
        let maxima = class.exercises.iter();
        let maximum = maxima
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
        let label = tables::label(result, lang).to_owned();
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
