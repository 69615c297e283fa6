//! Grades a class, or one shard of it, several submissions at a time.

use std::sync::{Mutex, PoisonError};
use std::thread;

use chapter::progress;

use super::reference_times::ReferenceTimesCache;
use super::submissions::display_name;
use super::{Class, Marks, Outcome, Shard, StudentResult, Submissions, time};
use crate::error::format_error;
use crate::exercise::Exercise;
use crate::lang::tr;
use crate::record::Record;
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
    exercise: &'static Exercise,
    text: anyhow::Result<Option<String>>,
    handed_in: anyhow::Result<Option<i64>>,
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
    let count = part.len();
    let reference_times = ReferenceTimesCache::new(
        part.iter().map(|submission| submission.exercise),
        &grading.settings,
    );
    let bar = progress::task(tr("grading", "评分"), count as u64);
    let next = Mutex::new(part.into_iter().enumerate());
    let results = Mutex::new(Vec::with_capacity(count));
    let work = || {
        loop {
            let taken = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, submission)) = taken else {
                return;
            };
            let result = grade_submission(submission, grading, &reference_times);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((number, result));
            bar.advance(1);
        }
    };
    thread::scope(|scope| {
        for _ in 1..grading.jobs.min(count) {
            // If the system is out of threads, the threads that exist do all the work.
            let started = thread::Builder::new().spawn_scoped(scope, work);
            if started.is_err() {
                break;
            }
        }
        work();
    });
    drop(bar);
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    Class {
        seed: grading.settings.seed,
        shard: grading.shard.filter(|shard| shard.of > 1),
        exercises: submissions
            .exercises
            .iter()
            .map(|exercise| exercise.name.to_owned())
            .collect(),
        students: submissions.students.clone(),
        results: results.into_iter().map(|(_, result)| result).collect(),
    }
}

/// Grades one submission.
fn grade_submission(
    submission: Submission,
    grading: &Grading,
    reference_times: &ReferenceTimesCache,
) -> StudentResult {
    let Submission {
        student,
        exercise,
        text,
        handed_in,
    } = submission;
    let (handed_in, text) = match (handed_in, text) {
        (_, Ok(None)) => (None, Ok(None)),
        (Ok(handed_in), text) => (handed_in, text),
        (Err(error), _) => (None, Err(error)),
    };
    let graded = grade_text(student, exercise, text, grading, reference_times);
    let (outcome, record) = match graded {
        Ok(Some(record)) if record.passed => (Outcome::Passed, Ok(record)),
        Ok(Some(record)) => (Outcome::Rejected, Ok(record)),
        Ok(None) => (Outcome::Missing, Err(String::new())),
        Err(error) => (
            Outcome::Ungraded,
            Err(format_error(&error, grading.settings.lang)),
        ),
    };
    let result = StudentResult {
        student: student.to_owned(),
        exercise: exercise.name.to_owned(),
        outcome,
        step: None,
        size: Vec::new(),
        message: String::new(),
        targets: Vec::new(),
        time: None,
        handed_in,
    };
    match record {
        Ok(record) => StudentResult {
            step: record.step,
            size: record.size,
            message: record.message,
            targets: record.targets,
            time: record.time,
            ..result
        },
        Err(message) => StudentResult { message, ..result },
    }
}

/// Returns the time at which a submission was handed in, if its exercise has a deadline.
fn handed_in(
    submissions: &Submissions,
    student: &str,
    exercise: &Exercise,
    grading: &Grading,
) -> anyhow::Result<Option<i64>> {
    let marks = grading.marks.as_ref();
    let due = marks.and_then(|marks| marks.worth(exercise.name).deadline.as_ref());
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

fn grade_text(
    student: &str,
    exercise: &'static Exercise,
    text: anyhow::Result<Option<String>>,
    grading: &Grading,
    reference_times: &ReferenceTimesCache,
) -> anyhow::Result<Option<Record>> {
    let Some(text) = text? else {
        return Ok(None);
    };
    let job = Job {
        reference_times: reference_times.get(exercise),
        ..Job::new(
            exercise,
            display_name(student, exercise),
            text,
            &grading.settings,
        )
    };
    Ok(Some(Record::new(
        exercise,
        supervise(job)?,
        grading.settings.lang,
    )))
}
