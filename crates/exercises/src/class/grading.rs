//! Grades a class, or one shard of it, several submissions at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use anyhow::{Error, Result};
use chapter::progress;

use super::reference_times::ReferenceTimesCache;
use super::submissions::display_name;
use super::{Class, Marks, Outcome, Shard, StudentResult, Submissions, time};
use crate::course::Exercise;
use crate::error::format_error;
use crate::lang::tr;
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
    let reference_times = ReferenceTimesCache::new(
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
            let result = grade_submission(submission, grading, &reference_times);
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
    reference_times: &ReferenceTimesCache,
) -> StudentResult {
    let Submission {
        student, exercise, ..
    } = *submission;
    let lang = grading.settings.lang;
    let result = StudentResult {
        student: student.to_owned(),
        exercise: exercise.name().to_owned(),
        outcome: Outcome::Missing,
        step: None,
        size: Vec::new(),
        message: String::new(),
        targets: Vec::new(),
        time: None,
        handed_in: None,
    };
    let failed = |error: &Error| Err(format_error(error, lang));
    let (handed_in, graded) = match (&submission.text, &submission.handed_in) {
        (Ok(None), _) => return result,
        (_, Err(error)) => (None, failed(error)),
        (Err(error), Ok(handed_in)) => (*handed_in, failed(error)),
        (Ok(Some(text)), Ok(handed_in)) => {
            let name = display_name(student, exercise);
            let job = Job {
                reference_times: reference_times.get(exercise),
                ..Job::new(exercise, name, text.clone(), &grading.settings)
            };
            let graded = supervise(job).map_err(|error| format_error(&error, lang));
            (*handed_in, graded)
        }
    };
    match graded {
        Ok(record) => StudentResult {
            outcome: match record.passed {
                true => Outcome::Passed,
                false => Outcome::Rejected,
            },
            step: record.step,
            size: record.size,
            message: record.message,
            targets: record.targets,
            time: record.time,
            handed_in,
            ..result
        },
        Err(message) => StudentResult {
            outcome: Outcome::Ungraded,
            message,
            handed_in,
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
    time::handed_in(
        &folder,
        &exercise.file(),
        deadline.source,
        grading.settings.lang,
    )
}
