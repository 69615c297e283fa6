//! A class's folder, which has one folder per student.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::course::Exercise;
use crate::files::{display_path, read_text};
use crate::lang::Lang;
use crate::text::in_a_line;

/// The students' submissions.
#[derive(Clone)]
pub struct Submissions<'a> {
    folder: PathBuf,
    /// The students' names, which are the names of their folders, sorted.
    pub students: Vec<String>,
    /// The exercises to grade, in order.
    pub exercises: Vec<&'a Exercise>,
}

impl<'a> Submissions<'a> {
    /// Opens a class's folder; each folder in it belongs to one student.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be read, has no folders in it, or has one whose name is not valid UTF-8.
    pub fn open(
        folder: &Path,
        exercises: Vec<&'a Exercise>,
        lang: Lang,
    ) -> Result<Submissions<'a>> {
        let named = || display_path(folder);
        let mut students = Vec::new();
        for entry in fs::read_dir(folder).with_context(named)? {
            let entry = entry.with_context(named)?;
            // Do not follow symbolic links: their targets are not submissions.
            if !entry.file_type()?.is_dir() {
                continue;
            }
            let name = entry.file_name().into_string().map_err(|name| {
                anyhow::anyhow!(localize!(
                    lang,
                    "{}: the name of the folder {:?} is not valid UTF-8",
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
            localize!(
                lang,
                "{} has no folders: create one for each student and put the submissions in it",
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

    /// Returns all possible submissions, ordered by student, then by exercise.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a Exercise)> {
        self.students.iter().flat_map(|student| {
            let student = student.as_str();
            let exercises = self.exercises.iter();
            exercises.map(move |&exercise| (student, exercise))
        })
    }

    /// Returns the path of a student's folder.
    pub fn student_folder(&self, student: &str) -> PathBuf {
        self.folder.join(student)
    }

    /// Reads a student's submission; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if it is not a regular file or cannot be read.
    pub fn read(&self, student: &str, exercise: &Exercise, lang: Lang) -> Result<Option<String>> {
        let path = self.folder.join(student).join(exercise.file());
        let named = display_name(student, exercise);
        // Do not follow symbolic links, which could point to any file of this machine.
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => read_text(&path, &named, lang).map(Some),
            Ok(_) => bail!(localize!(lang, "{} is not a regular file", "{} 不是普通文件"; named)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context(named),
        }
    }
}

/// Returns the name of a submission's file for messages. It is relative to the class's folder, because
/// records must not contain paths of this machine.
pub fn display_name(student: &str, exercise: &Exercise) -> String {
    in_a_line(&format!("{student}/{}", exercise.file())).into_owned()
}
