//! The `check` command, which grades submissions.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Error, Result, bail};

use super::{CANNOT, Course};
use crate::course::EXERCISES;
use crate::exercise::Exercise;
use crate::flags::Check;
use crate::lang::Lang;
use crate::output::{self, complain};
use crate::progress::Progress;
use crate::random::random;
use crate::record::Record;
use crate::worker::{Job, Limits, Terms, supervise};
use crate::{compiler, files, folder, grade, picture, report};

/// Grades one submission or all. Exits with 0 if all passed, 1 if one was rejected, 2 if one could not be
/// graded.
pub fn run(course: &Course, flags: &Check) -> Result<ExitCode> {
    if flags.output.is_any() {
        bail!(say!(
            course.lang,
            "--out, --csv, --marks and --feedback are for a class: they go with --submissions",
            "--out、--csv、--marks 和 --feedback 用于全班评分：请与 --submissions 一起使用"
        ));
    }
    let terms = Terms {
        seed: flags.seed.unwrap_or_else(drawn),
        lang: course.lang,
        clang: compiler::find(course.lang)?,
        limits: Limits::within(flags.seconds),
    };
    match &flags.names[..] {
        _ if flags.all => all(course, &EXERCISES.into_iter().collect::<Vec<_>>(), &terms),
        [] | [_] => one(course, flags, &terms),
        _ if flags.file.is_some() => bail!(say!(
            course.lang,
            "--file is one answer: name one exercise with it",
            "--file 是一份答案：请只指定一道练习"
        )),
        names => all(course, &selected(names, course.lang)?, &terms),
    }
}

/// Returns the exercises with these names, each once, in course order.
///
/// # Errors
///
/// Fails if a name matches no exercise.
pub fn selected(names: &[String], lang: Lang) -> Result<Vec<&'static Exercise>> {
    let named = names.iter().map(|name| super::find(name, lang));
    let named = named.collect::<Result<Vec<_>>>()?;
    let is_named = |it: &&Exercise| named.iter().any(|named| named.name == it.name);
    Ok(EXERCISES.into_iter().filter(is_named).collect())
}

fn code(passed: bool) -> ExitCode {
    match passed {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn one(course: &Course, flags: &Check, terms: &Terms) -> Result<ExitCode> {
    let lang = course.lang;
    let exercise = course.named(flags.names.first().map(String::as_str))?;
    let file = flags.file.clone();
    let own = file.is_none();
    let file = file.unwrap_or_else(|| course.folder.file(exercise));
    let record = graded(exercise, &file, terms, flags.lines)?;
    let progress = match own {
        true => keep(course, exercise, record.passed),
        false => course.folder.progress(lang),
    };
    // Print the verdict first, even if the progress or the drawing cannot be saved.
    if course.json {
        output::json(&record)?;
    } else {
        output::text(&report::whole(&record, flags.counters, lang))?;
    }
    if let Some(to) = &flags.draw {
        draw(exercise, &record, to, lang)?;
    }
    match progress {
        Ok(progress) if !course.json => {
            output::text(&report::onward(exercise, &record, &progress, lang))?;
        }
        Err(error) if own => complain(&error),
        _ => {}
    }
    Ok(code(record.passed))
}

/// Draws the access that made a counter miss its target into an SVG file, if there is one.
fn draw(exercise: &Exercise, record: &Record, to: &Path, lang: Lang) -> Result<()> {
    let Some(picture) = &record.picture else {
        complain(&anyhow::anyhow!(say!(
            lang,
            "{} is not written: no counter missed its target, and only that is drawn",
            "没有写入 {}：没有计数器未达标，而只有未达标时才会画图";
            folder::shown(to)
        )));
        return Ok(());
    };
    let counter = grade::plain(&picture.counter, lang);
    let title = say!(lang, "{}: {}", "{}：{}"; exercise.name, counter);
    files::write_whole(to, &picture::svg(picture, &title, lang))
}

fn all(course: &Course, chosen: &[&'static Exercise], terms: &Terms) -> Result<ExitCode> {
    let lang = course.lang;
    let mut records = Vec::new();
    let mut unkept = None;
    for &exercise in chosen {
        let record = match graded(exercise, &course.folder.file(exercise), terms, false) {
            Ok(record) => record,
            // One exercise that cannot be graded must not stop the rest.
            Err(error) => {
                complain(&error);
                continue;
            }
        };
        unkept = keep(course, exercise, record.passed).err().or(unkept);
        if !course.json {
            output::line(report::line(&record, lang))?;
        }
        records.push(record);
    }
    let passed = records.iter().filter(|record| record.passed).count();
    if course.json {
        output::json(&records)?;
    } else {
        output::line(say!(
            lang,
            "\n{} of {} exercises passed (seed {}).",
            "\n共 {1} 道练习，已通过 {0} 道（种子 {2}）。";
            passed, chosen.len(), terms.seed
        ))?;
    }
    if let Some(error) = unkept {
        complain(&error);
    }
    Ok(match records.len() == chosen.len() {
        true => code(passed == records.len()),
        false => ExitCode::from(CANNOT),
    })
}

/// Saves the verdict in the student's progress.
fn keep(course: &Course, exercise: &Exercise, passed: bool) -> Result<Progress> {
    let kept = course
        .folder
        .change(course.lang, |progress| progress.set(exercise, passed));
    kept.map_err(|error| unkept(error, course.lang))
}

/// Adds context to the error of a failed save; the verdict stands.
pub fn unkept(error: Error, lang: Lang) -> Error {
    error.context(lang.pick("how far you are is not noted", "无法记录进度"))
}

/// Grades the submission in a file.
fn graded(exercise: &'static Exercise, file: &Path, terms: &Terms, lines: bool) -> Result<Record> {
    let shown = folder::shown(file);
    let text = folder::read(file, &shown, terms.lang)?;
    let job = Job {
        lines,
        ..Job::new(exercise, shown, text, terms)
    };
    Ok(Record::new(exercise, supervise(job)?, terms.lang))
}

/// Returns a random seed with few digits, so that it is easy to retype.
pub fn drawn() -> u64 {
    random() % 1_000_000
}
