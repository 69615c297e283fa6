//! A course: a folder with one folder per exercise. The built-in course is embedded in the program; a teacher's
//! course is read from its folder when the program starts. Both are loaded in the same way.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use chapter::file;
use chapter::lang::Lang;
use kernel_build::Tree;
use serde::{Deserialize, Serialize};

use crate::data::{self, Data};
use crate::declarative::DeclarativeHost;
use crate::files::{display_path, read_course_text};
use crate::host::{Host, HostExercise};
use crate::host_sides::{self, HostSide};
use crate::text::in_a_line;

/// The files of the built-in course: the name of each exercise, and the names and contents of its files.
const BUILT_IN: &[(&str, &[(&str, &str)])] = include!(concat!(env!("OUT_DIR"), "/course.rs"));

/// The path of the built-in course's folder in the checkout.
const BUILT_IN_PATH: &str = "kernels/exercises";

/// A course.
pub struct Course {
    /// The exercises, in order.
    pub exercises: Vec<Exercise>,
    /// The folder of a teacher's course; `None` for the built-in one.
    folder: Option<PathBuf>,
}

/// An exercise: its texts, its data and its host side.
pub struct Exercise {
    files: ExerciseFiles,
    data: Data,
    side: Side,
}

/// The texts of an exercise, as sent to the process that grades a submission. That process opens no file of
/// the course, so no submission can read one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExerciseFiles {
    name: String,
    /// The path of the course's folder, for messages.
    course: String,
    /// The contents of `exercise.toml`.
    toml: String,
    /// The contents of `statement.en.md` and `statement.zh.md`.
    statement: [String; 2],
    start: String,
    solution: String,
    /// The contents of `main.rs` and `kernel.cu`, if the student writes the host side in Rust. `kernel.cu` is
    /// empty if no kernel is launched.
    program: Option<[String; 2]>,
}

impl ExerciseFiles {
    /// Returns the exercise's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The side of a program that a student writes.
pub enum Side {
    /// The kernel, in a `.cu` file; the course provides the host side, or `exercise.toml` describes the launches
    /// (`None`).
    Kernel(Option<&'static (dyn Host + Sync)>),
    /// The host side, in a `.rs` file; the exercise's `main.rs` is compiled around it and replies to requests of
    /// the grader's host side.
    Host(&'static dyn HostExercise),
}

impl Course {
    /// Loads the built-in course.
    ///
    /// # Errors
    ///
    /// Fails if a file of the course is invalid.
    pub fn built_in() -> Result<Course> {
        let names = BUILT_IN.iter().map(|&(name, _)| name.to_owned()).collect();
        let read = |name: &str, file: &str| {
            let exercise = BUILT_IN.iter().find(|&&(other, _)| other == name);
            let mut files = exercise.into_iter().flat_map(|(_, files)| files.iter());
            let text = files.find(|&&(other, _)| other == file);
            Ok(text.map(|&(_, text)| text.to_owned()))
        };
        let loader = Loader {
            folder: Path::new(BUILT_IN_PATH),
            read: &read,
            // The tests resolve every description, which takes longer than loading it.
            resolves: false,
            lang: Lang::En,
        };
        Ok(Course {
            exercises: loader.load(names)?,
            folder: None,
        })
    }

    /// Loads a teacher's course from its folder.
    ///
    /// # Errors
    ///
    /// Fails if the course is invalid; the error names the file, the line and the fix.
    pub fn open(folder: &Path, lang: Lang) -> Result<Course> {
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
                "{} has no folders and therefore no exercises: create one with `{} new 01-my-exercise`",
                "{} 中没有文件夹，也就没有练习：用 `{} new 01-my-exercise` 新建一道";
                display_path(folder), command_line(folder)
            )
        );
        let read = |name: &str, file: &str| {
            let path = folder.join(name).join(file);
            match read_course_text(folder, &path, lang) {
                Ok(text) => Ok(Some(text)),
                Err(error) if is_missing(&error) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let loader = Loader {
            folder,
            read: &read,
            resolves: true,
            lang,
        };
        Ok(Course {
            exercises: loader.load(names)?,
            folder: Some(with_folder_name(folder)),
        })
    }

    /// Returns the folder of a teacher's course; `None` for the built-in one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the path of an exercise's folder.
    ///
    /// # Errors
    ///
    /// Fails for an exercise of the built-in course if the checkout is missing.
    pub fn folder_of(&self, exercise: &Exercise) -> Result<PathBuf> {
        let course = match &self.folder {
            Some(folder) => folder.clone(),
            None => tree()?.root().join(BUILT_IN_PATH),
        };
        Ok(course.join(exercise.name()))
    }

    /// Returns the exercise with this number, name, or both.
    pub fn find(&self, name: &str) -> Option<&Exercise> {
        let mut all = self.exercises.iter();
        all.find(|exercise| exercise.matches(name))
    }

    /// Returns the command line that messages show when the user should run this program again, with `--course`
    /// for a teacher's course.
    pub fn command_line(&self) -> String {
        match &self.folder {
            Some(folder) => command_line(folder),
            None => file::command(PROGRAM),
        }
    }
}

/// The name of this program.
const PROGRAM: &str = "exercises";

/// Returns the command line of a teacher's course.
pub fn command_line(course: &Path) -> String {
    let program = file::command(PROGRAM);
    format!("{program} --course {}", display_path(course))
}

/// Opens the files of the installation or the checkout that this program belongs to.
///
/// # Errors
///
/// Fails if they are missing.
pub fn tree() -> Result<Tree> {
    Ok(Tree::at(file::root())?)
}

impl Exercise {
    /// Creates an exercise from its texts.
    ///
    /// # Errors
    ///
    /// Fails if `exercise.toml` is invalid; the error names the file, the line and the fix.
    pub fn new(files: ExerciseFiles) -> Result<Exercise> {
        let file = format!("{}/{}/exercise.toml", files.course, files.name);
        let is_kernel = files.program.is_none();
        let data = data::parse(&file, &files.toml, is_kernel)?;
        let side = match (data.host.as_deref(), is_kernel) {
            (None, true) if data.is_declarative() => Side::Kernel(None),
            (None, _) => bail!(
                "{file}: [[buffer]], [[output]] and [[launch]] are missing: they describe the launches and \
                 outputs, see kernels/exercises/README.md"
            ),
            (Some(host), _) => match (host_sides::find(host), is_kernel) {
                (Some(HostSide::Kernels(host)), true) => Side::Kernel(Some(host)),
                (Some(HostSide::Program(host)), false) => Side::Host(host),
                _ => bail!("{file}: there is no host side '{host}' for this kind of submission"),
            },
        };
        Ok(Exercise { files, data, side })
    }

    /// Returns the number and the name, as in `01-first-thread`.
    pub fn name(&self) -> &str {
        &self.files.name
    }

    /// Returns the exercise's texts.
    pub fn files(&self) -> &ExerciseFiles {
        &self.files
    }

    /// Returns the data in `exercise.toml`.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Returns the side of the program that the student writes.
    pub fn side(&self) -> &Side {
        &self.side
    }

    /// Returns the statement in a language.
    pub fn statement(&self, lang: Lang) -> &str {
        let [en, zh] = &self.files.statement;
        lang.pick(en, zh)
    }

    /// Returns the start file.
    pub fn start(&self) -> &str {
        &self.files.start
    }

    /// Returns the course's solution.
    pub fn solution(&self) -> &str {
        &self.files.solution
    }

    /// Returns the program around a submission that is a host side, and its kernel, which is empty if there is
    /// none; `None` if the submission is a kernel.
    pub fn program(&self) -> Option<[&str; 2]> {
        self.files
            .program
            .as_ref()
            .map(|program| program.each_ref().map(String::as_str))
    }

    /// Returns the path of the exercise's folder, for messages.
    pub fn folder(&self) -> String {
        format!("{}/{}", self.files.course, self.files.name)
    }

    /// Creates the host side that `exercise.toml` describes.
    pub fn declarative_host(&self) -> DeclarativeHost<'_> {
        DeclarativeHost::new(&self.data, &self.files.toml)
    }

    /// Returns the name of the file that the student edits, such as `01-first-thread.cu`.
    pub fn file(&self) -> String {
        format!("{}.{}", self.name(), self.extension())
    }

    /// Returns the extension of that file, `cu` or `rs`.
    pub fn extension(&self) -> &'static str {
        match self.side {
            Side::Kernel(_) => "cu",
            Side::Host(_) => "rs",
        }
    }

    /// Returns true if `text` is this exercise's number, name, or both.
    pub fn matches(&self, text: &str) -> bool {
        let (number, name) = self.name().split_once('-').unwrap_or(("", self.name()));
        let is_number = text.parse::<u32>().is_ok() && number.parse::<u32>() == text.parse();
        is_number || text == name || text == self.name() || text == self.file()
    }
}

/// A function that reads a file of an exercise, both given by name. It returns `None` if there is no such file.
type ReadFile<'a> = dyn Fn(&str, &str) -> Result<Option<String>> + 'a;

/// Loads exercises from a course's folder.
struct Loader<'a> {
    /// The folder's path.
    folder: &'a Path,
    read: &'a ReadFile<'a>,
    /// True if descriptions of launches are resolved at the sizes of the tests, so that every error is reported
    /// now.
    resolves: bool,
    lang: Lang,
}

impl Loader<'_> {
    /// Loads the exercises with these names.
    fn load(&self, names: BTreeSet<String>) -> Result<Vec<Exercise>> {
        let mut numbers: BTreeSet<u32> = BTreeSet::new();
        let mut exercises = Vec::new();
        for name in names {
            let folder = || display_path(&self.folder.join(&name));
            let number = parse_name(&name, self.lang).with_context(folder)?;
            ensure!(
                numbers.insert(number),
                localize!(
                    self.lang,
                    "{}: two exercises have the number {}: choose another number",
                    "{}：有两道练习的编号都是 {}：请换一个编号";
                    folder(), number
                )
            );
            let exercise = Exercise::new(self.read_files(&name)?)?;
            if self.resolves && matches!(exercise.side, Side::Kernel(None)) {
                let resolved = exercise.declarative_host().verify();
                resolved.with_context(|| format!("{}/exercise.toml", exercise.folder()))?;
            }
            exercises.push(exercise);
        }
        Ok(exercises)
    }

    /// Reads the files of an exercise.
    fn read_files(&self, name: &str) -> Result<ExerciseFiles> {
        let read = |file: &str| (self.read)(name, file);
        let needed = |file: &str| {
            read(file)?.ok_or_else(|| {
                anyhow!(localize!(
                    self.lang,
                    "{} is missing: an exercise has exercise.toml, statement.en.md or statement.zh.md, start.cu \
                     and solution.cu",
                    "缺少 {}：一道练习有 exercise.toml、statement.en.md 或 statement.zh.md、start.cu 和 solution.cu";
                    display_path(&self.folder.join(name).join(file))
                ))
            })
        };
        let [english, chinese] = ["statement.en.md", "statement.zh.md"];
        let statement = match (read(english)?, read(chinese)?) {
            (Some(english), Some(chinese)) => [english, chinese],
            (Some(only), None) | (None, Some(only)) => [only.clone(), only],
            (None, None) => [needed(english)?, String::new()],
        };
        let program = match read("main.rs")? {
            Some(main) => Some([main, read("kernel.cu")?.unwrap_or_default()]),
            None => None,
        };
        let [start, solution] = match program {
            Some(_) => ["start.rs", "solution.rs"],
            None => ["start.cu", "solution.cu"],
        };
        Ok(ExerciseFiles {
            name: name.to_owned(),
            course: display_path(self.folder),
            toml: needed("exercise.toml")?,
            statement,
            start: needed(start)?,
            solution: needed(solution)?,
            program,
        })
    }
}

fn is_missing(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == ErrorKind::NotFound)
}

/// Returns the path in a form that ends with the folder's name, which `.` and `..` do not.
fn with_folder_name(folder: &Path) -> PathBuf {
    match folder.file_name() {
        Some(_) => folder.to_owned(),
        None => fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()),
    }
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

    #[test]
    fn every_description_of_the_course_resolves() {
        let mut count = 0;
        for exercise in Course::built_in().unwrap().exercises {
            if let Side::Kernel(_) = exercise.side()
                && exercise.data().is_declarative()
            {
                let verified = exercise.declarative_host().verify();
                verified.unwrap_or_else(|error| panic!("{}: {error:#}", exercise.name()));
                count += 1;
            }
        }
        assert!(count >= 15, "{count}");
    }
}
