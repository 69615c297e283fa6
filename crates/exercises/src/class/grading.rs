//! Grades a class, or one shard of it, several submissions at a time. The class's folder has one folder per student; the
//! modelled times of the course's own files are measured once per class instead of once per submission.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::{fs, thread};

use anyhow::{Context as _, Error, Result, bail, ensure};
use chapter::lang::{Lang, tr};
use chapter::progress;

use super::{Class, Marks, Outcome, Shard, StudentResult, marks};
use crate::course::{Exercise, Side};
use crate::error::format_error;
use crate::files::{display_path, read_text};
use crate::grade::ReferenceCosts;
use crate::process::on_gpu;
use crate::text::in_a_line;
use crate::worker::{Job, JobSettings, supervise};

/// Settings for grading a class.
#[derive(Clone, Debug)]
pub struct Grading {
    /// The settings that all jobs share.
    pub settings: JobSettings,
    /// The shard to grade; `None` grades the whole class.
    pub shard: Option<Shard>,
    /// The number of submissions graded at a time.
    pub jobs: usize,
    /// Points and deadlines, if a marks file was given.
    pub marks: Option<Marks>,
}

/// A student's submission as it was read.
struct Submission<'a> {
    student: &'a str,
    exercise: &'a Exercise,
    text: Result<Option<String>>,
    handed_in: Result<Option<i64>>,
}

/// Grades the submissions of the shard. A submission that cannot be graded does not stop the others. All
/// submissions are read before the first one runs, so that none of them can change another.
pub fn grade(submissions: &Submissions, grading: &Grading) -> Class {
    let part = submissions
        .iter()
        .enumerate()
        .filter(|(number, _)| grading.shard.is_none_or(|shard| shard.contains(*number)));
    let part: Vec<Submission> = part
        .map(|(_, (student, exercise))| Submission {
            student,
            exercise,
            text: submissions.read(student, exercise, grading.settings.lang),
            handed_in: handed_in(submissions, student, exercise, grading),
        })
        .collect();
    let references = ReferenceCache::new(
        part.iter().map(|submission| submission.exercise),
        &grading.settings,
    );
    let bar = progress::task(tr("grading", "评分"), part.len() as u64);
    let next = AtomicUsize::new(0);
    let (to, results) = channel();
    let work = |to: Sender<(usize, StudentResult)>| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(submission) = part.get(number) else {
                return;
            };
            let result = grade_submission(submission, grading, &references);
            // The receiver outlives the threads.
            let _ = to.send((number, result));
            bar.advance(1);
        }
    };
    thread::scope(|scope| {
        for _ in 1..grading.jobs.min(part.len()) {
            let (work, to) = (&work, to.clone());
            // If the system is out of threads, the threads that exist do all the work.
            let started = thread::Builder::new().spawn_scoped(scope, move || work(to));
            if started.is_err() {
                break;
            }
        }
        work(to);
    });
    drop(bar);
    let mut results: Vec<(usize, StudentResult)> = results.into_iter().collect();
    results.sort_by_key(|(number, _)| *number);
    Class {
        seed: grading.settings.seed,
        shard: grading.shard.filter(|shard| shard.of > 1),
        exercises: submissions
            .exercises
            .iter()
            .map(|exercise| exercise.name().to_owned())
            .collect(),
        students: submissions.students.clone(),
        results: results.into_iter().map(|(_, result)| result).collect(),
    }
}

/// Grades one submission.
fn grade_submission(
    submission: &Submission,
    grading: &Grading,
    references: &ReferenceCache,
) -> StudentResult {
    let Submission {
        student, exercise, ..
    } = *submission;
    let lang = grading.settings.lang;
    let result = StudentResult::missing(student, exercise.name());
    let failed = |error: &Error| Err(format_error(error, lang));
    let (handed_in, graded) = match (&submission.text, &submission.handed_in) {
        (Ok(None), _) => return result,
        (_, Err(error)) => (None, failed(error)),
        (Err(error), Ok(handed_in)) => (*handed_in, failed(error)),
        (Ok(Some(text)), Ok(handed_in)) => {
            let name = display_name(student, exercise);
            let job = Job {
                reference: references.get(exercise),
                ..Job::new(exercise, name, text.clone(), &grading.settings)
            };
            let graded = supervise(job).map_err(|error| format_error(&error, lang));
            (*handed_in, graded)
        }
    };
    let result = StudentResult {
        handed_in,
        ..result
    };
    match graded {
        Ok(record) => result.graded(record),
        Err(message) => StudentResult {
            outcome: Outcome::Ungraded,
            message,
            ..result
        },
    }
}

/// Returns the time at which a submission was handed in, if its exercise has a deadline.
fn handed_in(
    submissions: &Submissions,
    student: &str,
    exercise: &Exercise,
    grading: &Grading,
) -> Result<Option<i64>> {
    let marks = grading.marks.as_ref();
    let due = marks.and_then(|marks| marks.worth(exercise.name()).deadline.as_ref());
    let Some(deadline) = due else {
        return Ok(None);
    };
    let folder = submissions.student_folder(student);
    marks::handed_in(
        &folder,
        &exercise.file(),
        deadline.source,
        grading.settings.lang,
    )
}

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
fn display_name(student: &str, exercise: &Exercise) -> String {
    in_a_line(&format!("{student}/{}", exercise.file())).into_owned()
}

/// The minimum number of submissions to an exercise for which a separate job pays off.
const MIN_SUBMISSIONS: usize = 4;

/// The reference costs of all exercises with many submissions, each measured on first use.
struct ReferenceCache<'a> {
    costs: BTreeMap<&'a str, OnceLock<Option<ReferenceCosts>>>,
    settings: &'a JobSettings,
}

impl<'a> ReferenceCache<'a> {
    /// Prepares the reference costs for submissions to these exercises.
    fn new(
        submissions: impl Iterator<Item = &'a Exercise>,
        settings: &'a JobSettings,
    ) -> ReferenceCache<'a> {
        let mut counts = BTreeMap::new();
        for exercise in submissions {
            *counts.entry(exercise.name()).or_insert(0) += 1;
        }
        // On a GPU each submission is timed in the same run as the start file and the solution.
        counts.retain(|_, count| *count >= MIN_SUBMISSIONS && !on_gpu());
        let costs = counts.into_keys().map(|name| (name, OnceLock::new()));
        let costs = costs.collect();
        ReferenceCache { costs, settings }
    }

    /// Returns the reference costs of an exercise, measured by a job that grades only the solution. Returns
    /// `None` if each submission has to measure them itself, for example because that job failed; grading the
    /// submission then reports the error.
    fn get(&self, exercise: &Exercise) -> Option<ReferenceCosts> {
        let Side::Kernel(_) = exercise.side() else {
            return None;
        };
        let costs = self.costs.get(exercise.name())?.get_or_init(|| {
            let (file_name, text) = (exercise.file(), exercise.solution().to_owned());
            let record = supervise(Job::new(exercise, file_name, text, self.settings)).ok()?;
            Some(ReferenceCosts {
                start_ms: record.time?.start_ms,
                solution: record.costs?,
            })
        });
        costs.clone()
    }
}
