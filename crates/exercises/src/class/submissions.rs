//! A folder with one folder a student.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::exercise::Exercise;
use crate::folder;
use crate::lang::Lang;
use crate::text::in_a_line;

/// What students handed in.
#[derive(Clone)]
pub struct Submissions {
    folder: PathBuf,
    /// The students: their folders' names, in order.
    pub students: Vec<String>,
    /// The exercises that are graded, in order.
    pub exercises: Vec<&'static Exercise>,
}

impl Submissions {
    /// Those in a folder: each folder in it is a student's.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, has no folders, or one whose name is no text.
    pub fn open(
        folder: &Path,
        exercises: Vec<&'static Exercise>,
        lang: Lang,
    ) -> Result<Submissions> {
        let named = || folder::shown(folder);
        let mut students = Vec::new();
        for entry in fs::read_dir(folder).with_context(named)? {
            let entry = entry.with_context(named)?;
            // What a link leads to is nobody's submission.
            if !entry.file_type()?.is_dir() {
                continue;
            }
            let name = entry.file_name().into_string().map_err(|name| {
                anyhow::anyhow!(say!(
                    lang,
                    "{}: the name of the folder {:?} is no text in UTF-8",
                    "{}：文件夹 {:?} 的名字不是 UTF-8 文本";
                    named(), name
                ))
            })?;
            if !name.starts_with('.') {
                students.push(name);
            }
        }
        ensure!(
            !students.is_empty(),
            say!(
                lang,
                "{} has no folders: make one for each student, with the answers in it",
                "{} 中没有文件夹：请为每名学生建一个文件夹，把答案放在里面";
                named()
            )
        );
        students.sort();
        let folder = folder.to_owned();
        Ok(Submissions {
            folder,
            students,
            exercises,
        })
    }

    /// All answers that could be there, in order: student by student, exercise by exercise.
    pub fn all(&self) -> impl Iterator<Item = (&str, &'static Exercise)> {
        self.students.iter().flat_map(|student| {
            let student = student.as_str();
            let exercises = self.exercises.iter();
            exercises.map(move |&exercise| (student, exercise))
        })
    }

    /// Where a student's folder is.
    pub fn of(&self, student: &str) -> PathBuf {
        self.folder.join(student)
    }

    /// A student's answer; `None` where there is none.
    ///
    /// # Errors
    ///
    /// Where it is no file, or one that cannot be read.
    pub fn answer(&self, student: &str, exercise: &Exercise, lang: Lang) -> Result<Option<String>> {
        let path = self.folder.join(student).join(exercise.file());
        let named = shown(student, exercise);
        // Not what a link leads to, which may be anything on this machine.
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_file() => folder::read(&path, &named, lang).map(Some),
            Ok(_) => bail!(say!(lang, "{} is no file", "{} 不是普通文件"; named)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context(named),
        }
    }
}

/// What an answer's file is called in messages: no path of this machine is in a record, and what the
/// class's folder is called neither.
pub fn shown(student: &str, exercise: &Exercise) -> String {
    in_a_line(&format!("{student}/{}", exercise.file())).into_owned()
}
