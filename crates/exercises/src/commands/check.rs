//! The `check` command, which grades submissions.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Error, Result, bail};
use chapter::lang::Lang;

use super::Context;
use crate::course::{Course, Exercise};
use crate::flags::Check;
use crate::grade::{self, Record};
use crate::output::{self, EXIT_NOT_GRADED, print_error};
use crate::process::Limits;
use crate::worker::{Job, JobSettings, supervise};
use crate::workspace::Progress;
use crate::{files, picture, report};

/// Grades one submission or all. Exits with 0 if all passed, 1 if one was rejected, 2 if one could not be
/// graded.
pub fn run(context: &Context, flags: &Check) -> Result<ExitCode> {
    if flags.output.is_any() {
        bail!(localize!(
            context.lang,
            "--out, --csv, --marks and --feedback apply to a class: use them with --submissions",
            "--out、--csv、--marks 和 --feedback 用于全班评分：请与 --submissions 一起使用"
        ));
    }
    let settings = JobSettings {
        seed: flags.seed.unwrap_or_else(JobSettings::random_seed),
        lang: context.lang,
        clang: grade::find_compiler(context.lang)?,
        limits: Limits::within(flags.seconds),
    };
    match &flags.names[..] {
        _ if flags.all => {
            let all: Vec<_> = context.course.exercises.iter().collect();
            check_all(context, &all, &settings)
        }
        [] | [_] => check_one(context, flags, &settings),
        _ if flags.file.is_some() => bail!(localize!(
            context.lang,
            "--file is a single submission: name one exercise with it",
            "--file 是一份答案：请只指定一道练习"
        )),
        names => check_all(
            context,
            &selected(context.course, names, context.lang)?,
            &settings,
        ),
    }
}

/// Returns the exercises with these names, each once, in course order.
///
/// # Errors
///
/// Fails if a name matches no exercise.
pub fn selected<'a>(course: &'a Course, names: &[String], lang: Lang) -> Result<Vec<&'a Exercise>> {
    let named = names.iter().map(|name| super::find(course, name, lang));
    let named = named.collect::<Result<Vec<_>>>()?;
    let is_named = |exercise: &&Exercise| named.iter().any(|other| other.name() == exercise.name());
    Ok(course.exercises.iter().filter(is_named).collect())
}

fn exit_code(passed: bool) -> ExitCode {
    match passed {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn check_one(context: &Context, flags: &Check, settings: &JobSettings) -> Result<ExitCode> {
    let lang = context.lang;
    let exercise = context.exercise(flags.names.first().map(String::as_str))?;
    let file = flags.file.clone();
    let is_default_file = file.is_none();
    let file = file.unwrap_or_else(|| context.workspace.file(exercise));
    let record = grade_file(exercise, &file, settings, flags.lines)?;
    let progress = match is_default_file {
        true => save_verdict(context, exercise, record.passed),
        false => context.workspace.progress(lang),
    };
    // Print the verdict first, even if the progress or the drawing cannot be saved.
    if context.json {
        output::json(&record)?;
    } else {
        output::text(&report::full_report(
            exercise,
            &record,
            flags.counters,
            lang,
        ))?;
    }
    if let Some(to) = &flags.draw {
        draw(exercise, &record, to, lang)?;
    }
    match progress {
        Ok(progress) if !context.json => {
            output::text(&report::next_step(
                context.course,
                exercise,
                &record,
                &progress,
                lang,
            ))?;
        }
        Err(error) if is_default_file => print_error(&error),
        _ => {}
    }
    Ok(exit_code(record.passed))
}

/// Draws the access that made a counter miss its target into an SVG file, if there is one.
fn draw(exercise: &Exercise, record: &Record, to: &Path, lang: Lang) -> Result<()> {
    let Some(picture) = &record.picture else {
        print_error(&anyhow::anyhow!(localize!(
            lang,
            "{} was not written: no counter missed its target, so there is nothing to draw",
            "没有写入 {}：所有计数器都已达标，没有需要画的图";
            files::display_path(to)
        )));
        return Ok(());
    };
    let counter = grade::counter_label(&picture.counter, lang);
    let title = localize!(lang, "{}: {}", "{}：{}"; exercise.name(), counter);
    files::write_whole(to, &picture::svg(picture, &title, lang))
}

fn check_all(
    context: &Context,
    exercises: &[&Exercise],
    settings: &JobSettings,
) -> Result<ExitCode> {
    let lang = context.lang;
    let mut records = Vec::new();
    let mut store_error = None;
    for &exercise in exercises {
        let record = match grade_file(exercise, &context.workspace.file(exercise), settings, false)
        {
            Ok(record) => record,
            // One exercise that cannot be graded must not stop the rest.
            Err(error) => {
                print_error(&error);
                continue;
            }
        };
        store_error = save_verdict(context, exercise, record.passed)
            .err()
            .or(store_error);
        if !context.json {
            output::line(report::summary(exercise, &record, lang))?;
        }
        records.push(record);
    }
    let passed = records.iter().filter(|record| record.passed).count();
    if context.json {
        output::json(&records)?;
    } else {
        output::line(localize!(
            lang,
            "\n{} of {} exercises passed (seed {}).",
            "\n共 {1} 道练习，已通过 {0} 道（种子 {2}）。";
            passed, exercises.len(), settings.seed
        ))?;
    }
    if let Some(error) = store_error {
        print_error(&error);
    }
    Ok(match records.len() == exercises.len() {
        true => exit_code(passed == records.len()),
        false => ExitCode::from(EXIT_NOT_GRADED),
    })
}

/// Saves the verdict in the student's progress.
fn save_verdict(context: &Context, exercise: &Exercise, passed: bool) -> Result<Progress> {
    let saved = context.workspace.change(context.lang, |progress| {
        progress.set_passed(exercise, passed)
    });
    saved.map_err(|error| store_failed(error, context.lang))
}

/// Adds context to the error of a failed save; the verdict stands.
pub fn store_failed(error: Error, lang: Lang) -> Error {
    error.context(lang.pick("cannot save your progress", "无法保存进度"))
}

/// Grades the submission in a file.
fn grade_file(
    exercise: &Exercise,
    file: &Path,
    settings: &JobSettings,
    lines: bool,
) -> Result<Record> {
    let path = files::display_path(file);
    let text = files::read_text(file, &path, settings.lang)?;
    let job = Job {
        lines,
        ..Job::new(exercise, path, text, settings)
    };
    supervise(job)
}
