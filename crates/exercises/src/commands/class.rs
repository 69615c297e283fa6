//! The commands for a class: `check --all --submissions` and `merge`.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};
use chapter::lang::Lang;

use super::check::selected;
use crate::class::{self, Class, Grading, Marks, Outcome, Protected, ResultFiles, Submissions};
use crate::course::Course;
use crate::files::display_path;
use crate::flags::{Check, GlobalFlags, Output};
use crate::grade::find_compiler;
use crate::output;
use crate::process::{Limits, on_gpu};
use crate::worker::JobSettings;

/// Grades all submissions or one shard of them. Exits with 0 if every submission was graded.
pub fn grade(
    course: &Course,
    flags: &GlobalFlags,
    check: &Check,
    submissions: &Path,
) -> Result<ExitCode> {
    let lang = Lang::current();
    let exercises = match (check.all, &check.names[..]) {
        (true, _) => course.exercises.iter().collect(),
        (false, []) => bail!(localize!(
            lang,
            "--submissions needs --all or the names of the exercises to grade",
            "--submissions 需要 --all 或要评分的练习名"
        )),
        (false, names) => selected(course, names, lang)?,
    };
    let clang = find_compiler(lang)?;
    let protected = Protected::Class(submissions);
    let files = files(&check.output, check.class.copies.as_deref(), protected)?;
    let marks = marks(&check.output, course, lang)?;
    let submissions = Submissions::open(submissions, exercises, lang)?;
    let jobs = jobs(check.class.jobs, on_gpu(), lang)?;
    raise_file_limit(jobs);
    if let Some(reason) = confine::support().reason() {
        warn_unconfined(reason, lang);
    }
    let grading = Grading {
        settings: JobSettings {
            seed: check.seed.unwrap_or_else(JobSettings::random_seed),
            lang,
            clang,
            limits: Limits::within(check.seconds),
        },
        shard: check.class.shard,
        jobs,
        marks,
    };
    // Compare submissions before any of them runs.
    let copies = files.copies().map(|_| class::copies(&submissions, lang));
    let copies = copies.transpose()?;
    let graded = class::grade(&submissions, &grading);
    let exit_code = report_results(
        flags,
        &graded,
        &check.output,
        grading.marks.as_ref(),
        &files,
    )?;
    if let Some((count, table)) = copies {
        files.write_copies(&table)?;
        if !flags.json {
            output::line(localize!(
                lang,
                "{} pairs of submissions resemble each other or the solution: review them yourself",
                "{} 对答案彼此相似，或与参考答案相似：请自行核对";
                count
            ))?;
        }
    }
    Ok(exit_code)
}

fn marks(output: &Output, course: &Course, lang: Lang) -> Result<Option<Marks>> {
    let path = output.marks.as_deref();
    path.map(|path| Marks::open(path, course, lang)).transpose()
}

/// Warns the teacher that this system cannot confine Rust submissions, which run with the teacher's rights.
fn warn_unconfined(reason: &str, lang: Lang) {
    let note = localize!(
        lang,
        "note: Rust submissions run here with your rights and only time and memory limits ({}). \
         For the risks and remedies see docs/pages/en/teaching.md, \"What an answer cannot do\".",
        "注意：在这台机器上，用 Rust 写的答案以你的权限运行，只有时间和内存限制（{}）。\
         风险和对策见 docs/pages/zh/teaching.md 的“答案做不到的事”一节。";
        reason
    );
    // Ignore write errors: a closed stderr is no reason not to grade.
    let _ = writeln!(io::stderr(), "{note}");
}

/// Validates the output files that the flags name.
fn files(output: &Output, copies: Option<&Path>, protected: Protected<'_>) -> Result<ResultFiles> {
    let named = [
        ("--out", output.out.as_deref()),
        ("--csv", output.csv.as_deref()),
        ("--copies", copies),
    ];
    ResultFiles::new(
        named,
        output.feedback.as_deref(),
        protected,
        Lang::current(),
    )
}

/// Raises the limit of open files, which is often about a thousand: each job needs several.
#[cfg(unix)]
fn raise_file_limit(jobs: usize) {
    // If the limit cannot be raised, submissions that get no file handle are reported as ungraded.
    let _ = rlimit::increase_nofile_limit(64 + 8 * jobs as u64);
}

#[cfg(not(unix))]
fn raise_file_limit(_jobs: usize) {}

/// Returns the number of submissions graded at a time: one per processor by default, one on a GPU.
fn jobs(requested: Option<u32>, on_gpu: bool, lang: Lang) -> Result<usize> {
    match (requested, on_gpu) {
        (Some(2..), true) => bail!(localize!(
            lang,
            "on a GPU submissions are graded one at a time because they are timed: omit --jobs; \
             with several GPUs use --shard and set a different CUDA_VISIBLE_DEVICES for each part",
            "在 GPU 上要计时，因此答案逐份评分：请去掉 --jobs；有多个 GPU 时，请用 --shard 分片，\
             并为每份设置不同的 CUDA_VISIBLE_DEVICES"
        )),
        (_, true) => Ok(1),
        (Some(jobs), false) => Ok(jobs as usize),
        (None, false) => Ok(thread::available_parallelism().map_or(1, usize::from)),
    }
}

/// Merges the records of all shards.
pub fn merge(
    course: &Course,
    flags: &GlobalFlags,
    records: &[PathBuf],
    output: &Output,
) -> Result<ExitCode> {
    let lang = Lang::current();
    let files = files(output, None, Protected::Records(records))?;
    let marks = marks(output, course, lang)?;
    let parts = records.iter().map(|path| read_record(path, course, lang));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let class = Class::merge(parts, course, lang)?;
    if let Some(marks) = &marks {
        marks.verify(&class, lang)?;
    }
    report_results(flags, &class, output, marks.as_ref(), &files)
}

/// The maximum size of a record in bytes; a class of a thousand students takes a tenth of it.
const MAX_RECORD_BYTES: u64 = 1 << 30;

/// Reads a record from a file.
fn read_record(path: &Path, course: &Course, lang: Lang) -> Result<Class> {
    let named = || display_path(path);
    let file = File::open(path).with_context(named)?;
    let mut text = String::new();
    let read = file.take(MAX_RECORD_BYTES).read_to_string(&mut text);
    read.with_context(named)?;
    let class = serde_json::from_str::<Class>(&text).map_err(anyhow::Error::from);
    let class = class.and_then(|class| class.validated(course, lang));
    class.map_err(|error| {
        anyhow!(localize!(
            lang,
            "{} is not a record of a class: {}",
            "{} 不是全班的评分记录：{}";
            named(), error
        ))
    })
}

/// Writes the results to the files that the flags name and prints a summary.
fn report_results(
    flags: &GlobalFlags,
    class: &Class,
    requested: &Output,
    marks: Option<&Marks>,
    files: &ResultFiles,
) -> Result<ExitCode> {
    let lang = Lang::current();
    let record = output::as_json(class)?;
    let columns = requested.columns.unwrap_or_default();
    let written = files.write(&record, &columns.table(class, marks)?);
    let written = written.and_then(|()| match &requested.feedback {
        Some(folder) => class::feedback(class, marks, folder, lang),
        None => Ok(()),
    });
    // Print the record if it cannot be written, so that an hour of grading is not lost to a full disk.
    if flags.json || written.is_err() {
        output::text(&record)?;
    } else {
        let students = match class.students.len() {
            1 => localize!(lang, "1 student", "1 名学生"),
            count => localize!(lang, "{} students", "{} 名学生"; count),
        };
        output::line(localize!(
            lang,
            "{}, {} submissions: {} passed, {} rejected, {} missing, {} ungraded (seed {})",
            "{}，{} 份答案：通过 {} 份，未通过 {} 份，缺交 {} 份，未能评分 {} 份（种子 {}）";
            students,
            class.results.len(),
            class.count(Outcome::Passed),
            class.count(Outcome::Rejected),
            class.count(Outcome::Missing),
            class.count(Outcome::Ungraded),
            class.seed
        ))?;
        output::line(class::screen(class, marks, lang))?;
    }
    written.context(class::unwritable_message())?;
    Ok(match class.count(Outcome::Ungraded) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(output::EXIT_NOT_GRADED),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submissions_are_graded_one_at_a_time_on_a_gpu() {
        assert_eq!(jobs(Some(3), false, Lang::En).unwrap(), 3);
        assert!(jobs(None, false, Lang::En).unwrap() >= 1);
        assert_eq!(jobs(None, true, Lang::En).unwrap(), 1);
        assert_eq!(jobs(Some(1), true, Lang::En).unwrap(), 1);
        let refused = jobs(Some(2), true, Lang::En).unwrap_err().to_string();
        assert!(refused.contains("--shard"), "{refused}");
    }
}
