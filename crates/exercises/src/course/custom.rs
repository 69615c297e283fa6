//! A teacher's own course: a folder with one folder per exercise, read when the program starts.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::declarative::DeclarativeHost;
use crate::exercise::{Exercise, Side};
use crate::lang::Lang;
use crate::text::in_a_line;
use crate::workspace::{self, display_path};

/// The teacher's course, if one was opened; otherwise the built-in course is used.
static CUSTOM: OnceLock<(PathBuf, Vec<Exercise>)> = OnceLock::new();

/// The files of an exercise's folder.
pub const FILES: [&str; 5] = [
    "exercise.toml",
    "statement.en.md",
    "statement.zh.md",
    "start.cu",
    "solution.cu",
];

/// The texts of an exercise, as sent to the process that grades a submission. That process opens no file of
/// the course, so no submission can read one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExerciseFiles {
    name: String,
    /// The path of the course's folder, for messages.
    course: String,
    /// The contents of [`FILES`], in that order.
    texts: [String; FILES.len()],
}

impl ExerciseFiles {
    /// Copies the texts of an exercise.
    pub fn from_exercise(exercise: &Exercise) -> ExerciseFiles {
        let [english, chinese] = exercise.statement;
        let texts = [
            exercise.toml,
            english,
            chinese,
            exercise.start,
            exercise.solution,
        ];
        ExerciseFiles {
            name: exercise.name.to_owned(),
            course: exercise.course.to_owned(),
            texts: texts.map(str::to_owned),
        }
    }

    fn read(folder: &Path, name: &str, lang: Lang) -> Result<ExerciseFiles> {
        let exercise_folder = folder.join(name);
        let read = |file| match workspace::read_text(
            &exercise_folder.join(file),
            &display_path(&exercise_folder.join(file)),
            lang,
        ) {
            Ok(text) => Ok(Some(text)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        };
        let needed = |file| {
            read(file)?.ok_or_else(|| {
                anyhow!(localize!(
                    lang,
                    "{} is missing: an exercise has exercise.toml, statement.en.md or statement.zh.md, start.cu \
                     and solution.cu",
                    "缺少 {}：一道练习有 exercise.toml、statement.en.md 或 statement.zh.md、start.cu 和 solution.cu";
                    display_path(&exercise_folder.join(file))
                ))
            })
        };
        let [toml, english, chinese, start, solution] = FILES;
        let statements = match (read(english)?, read(chinese)?) {
            (Some(english), Some(chinese)) => [english, chinese],
            (Some(only), None) | (None, Some(only)) => [only.clone(), only],
            (None, None) => [needed(english)?, String::new()],
        };
        let [english, chinese] = statements;
        Ok(ExerciseFiles {
            name: name.to_owned(),
            course: display_path(folder),
            texts: [
                needed(toml)?,
                english,
                chinese,
                needed(start)?,
                needed(solution)?,
            ],
        })
    }

    /// Builds the exercise, leaking its texts: exercises live as long as the program.
    fn exercise(self) -> Exercise {
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let [toml, english, chinese, start, solution] = self.texts.map(leak);
        let host: &'static DeclarativeHost = Box::leak(Box::new(DeclarativeHost::new(toml)));
        let mut exercise = Exercise::new(
            leak(self.name),
            toml,
            [english, chinese],
            start,
            solution,
            Side::Kernel(host),
        );
        exercise.course = leak(self.course);
        exercise
    }
}

fn is_missing(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == ErrorKind::NotFound)
}

/// Returns the exercises of the teacher's course; `None` if the built-in course is used.
pub fn exercises() -> Option<&'static [Exercise]> {
    CUSTOM.get().map(|(_, exercises)| exercises.as_slice())
}

/// Returns the folder of the teacher's course; `None` if the built-in course is used.
pub fn path() -> Option<&'static Path> {
    CUSTOM.get().map(|(folder, _)| folder.as_path())
}

/// Opens the course in a folder and uses it for the rest of the program.
///
/// # Errors
///
/// Fails if the course is invalid; the error names the file, the line and the fix.
pub fn open(folder: &Path, lang: Lang) -> Result<()> {
    let exercises = read(folder, lang)?;
    // The course is opened only once per process.
    let _ = CUSTOM.set((with_folder_name(folder), exercises));
    Ok(())
}

/// Uses a course that consists of this exercise alone.
pub fn open_single(files: ExerciseFiles) {
    let _ = CUSTOM.set((PathBuf::from(&files.course), vec![files.exercise()]));
}

/// Returns the path in a form that ends with the folder's name, which `.` and `..` do not.
fn with_folder_name(folder: &Path) -> PathBuf {
    match folder.file_name() {
        Some(_) => folder.to_owned(),
        None => fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()),
    }
}

fn read(folder: &Path, lang: Lang) -> Result<Vec<Exercise>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("--course {}", display_path(folder)))?;
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !name.starts_with('.') {
            names.insert(name);
        }
    }
    ensure!(
        !names.is_empty(),
        localize!(
            lang,
            "{} has no folders and therefore no exercises: create one with `cargo run -p exercises \
             -- --course {} new 01-my-exercise`",
            "{} 中没有文件夹，也就没有练习：用 `cargo run -p exercises -- --course {} new 01-my-exercise` 新建一道";
            display_path(folder), display_path(folder)
        )
    );
    let mut numbers: BTreeSet<u32> = BTreeSet::new();
    let mut exercises = Vec::new();
    for name in names {
        let number = parse_name(&name, lang).with_context(|| display_path(&folder.join(&name)))?;
        ensure!(
            numbers.insert(number),
            localize!(
                lang,
                "{}: two exercises have the number {}: choose another number",
                "{}：有两道练习的编号都是 {}：请换一个编号";
                display_path(&folder.join(&name)), number
            )
        );
        let exercise = ExerciseFiles::read(folder, &name, lang)?.exercise();
        verify(&exercise)?;
        exercises.push(exercise);
    }
    Ok(exercises)
}

/// Checks that the exercise's data is consistent.
fn verify(exercise: &Exercise) -> Result<()> {
    let data = exercise.data()?;
    let file = || format!("{}/{}/exercise.toml", exercise.course, exercise.name);
    if !data.is_declarative() {
        bail!(
            "{}: [[buffer]], [[output]] and [[launch]] are missing: they describe the launches and \
             outputs, see kernels/exercises/README.md",
            file()
        );
    }
    DeclarativeHost::new(exercise.toml)
        .verify()
        .with_context(file)
}

/// Returns the number in an exercise's name, which is two or three digits, a hyphen, and lower-case letters,
/// digits and hyphens.
///
/// # Errors
///
/// Fails if the name has any other form.
pub fn parse_name(name: &str, lang: Lang) -> Result<u32> {
    let is_allowed = |character: char| {
        character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-'
    };
    let parts = name.split_once('-').filter(|(number, rest)| {
        (2..=3).contains(&number.len())
            && number.chars().all(|character| character.is_ascii_digit())
            && rest.starts_with(|character: char| character.is_ascii_lowercase())
            && rest.chars().all(is_allowed)
    });
    let number = parts.and_then(|(number, _)| number.parse().ok());
    number.ok_or_else(|| {
        anyhow!(localize!(
            lang,
            "'{}' is not a valid name: use two digits, a hyphen, and a name of lower-case letters, \
             digits and hyphens, for example 01-my-exercise",
            "“{}”不能作练习名：应为两位数字、连字符，再加由小写字母、数字和连字符组成的名字，例如 01-my-exercise";
            in_a_line(name)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_number_and_lower_case_letters() {
        for (name, number) in [("01-a", 1), ("30-warp-sums", 30), ("120-x2", 120)] {
            assert_eq!(parse_name(name, Lang::En).unwrap(), number, "{name}");
        }
        for name in [
            "", "01", "1-a", "a-1", "01-", "01-A", "01-a b", "01-../x", "0001-a", "01--a", "+1-a",
        ] {
            assert!(parse_name(name, Lang::En).is_err(), "{name}");
        }
    }
}
