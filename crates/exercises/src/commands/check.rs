//! `check`: answers are graded.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use super::Course;
use crate::course::EXERCISES;
use crate::exercise::Exercise;
use crate::flags::Check;
use crate::random::random;
use crate::record::Record;
use crate::worker::{Job, Limits, Terms, supervise};
use crate::{compiler, folder, report};

/// Grades one answer or all; 0 where all of these passed, 1 where not.
pub fn run(course: &Course, flags: &Check) -> Result<ExitCode> {
    if flags.output.out.is_some() || flags.output.csv.is_some() {
        bail!(say!(
            course.lang,
            "--out and --csv are for a class: they go with --submissions",
            "--out 和 --csv 用于全班评分：请与 --submissions 一起使用"
        ));
    }
    let terms = Terms {
        seed: flags.seed.unwrap_or_else(drawn),
        lang: course.lang,
        clang: compiler::find(course.lang)?,
        limits: Limits::within(flags.seconds),
    };
    let passed = match flags.all {
        true => all(course, &terms)?,
        false => one(course, flags, &terms)?,
    };
    Ok(match passed {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn one(course: &Course, flags: &Check, terms: &Terms) -> Result<bool> {
    let lang = course.lang;
    let exercise = course.named(flags.name.as_deref())?;
    let file = flags.file.clone();
    let own = file.is_none();
    let file = file.unwrap_or_else(|| course.folder.file(exercise));
    let record = grade(exercise, &file, terms)?;
    let mut progress = course.folder.progress(lang)?;
    if own {
        progress.set(exercise, record.passed);
        course.folder.keep(&progress)?;
    }
    if course.json {
        println!("{}", serde_json::to_string_pretty(&record)?);
    } else {
        print!("{}", report::whole(&record, flags.counters, lang));
        print!("{}", report::onward(exercise, &record, &progress, lang));
    }
    Ok(record.passed)
}

fn all(course: &Course, terms: &Terms) -> Result<bool> {
    let lang = course.lang;
    let mut progress = course.folder.progress(lang)?;
    let mut records = Vec::new();
    for exercise in &EXERCISES {
        let record = grade(exercise, &course.folder.file(exercise), terms)?;
        progress.set(exercise, record.passed);
        course.folder.keep(&progress)?;
        if !course.json {
            println!("{}", report::line(&record, lang));
        }
        records.push(record);
    }
    if course.json {
        println!("{}", serde_json::to_string_pretty(&records)?);
    } else {
        println!(
            "\n{}",
            say!(
                lang,
                "{} of {} exercises passed (seed {}).",
                "共 {1} 道练习，已通过 {0} 道（种子 {2}）。";
                progress.count(), EXERCISES.len(), terms.seed
            )
        );
    }
    Ok(records.iter().all(|record| record.passed))
}

/// Grades the answer in a file.
fn grade(exercise: &'static Exercise, file: &Path, terms: &Terms) -> Result<Record> {
    let text = folder::read(file, terms.lang)?;
    let job = Job::new(exercise, folder::shown(file), text, terms);
    Ok(Record::new(exercise, supervise(job)?))
}

/// A seed of a few digits, to be typed again.
pub fn drawn() -> u64 {
    random() % 1_000_000
}
