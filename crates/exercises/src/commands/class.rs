//! The commands for a class: `check --all --submissions` and `merge`.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};

use super::check::{drawn, selected};
use crate::class::{self, Class, Grading, Kept, Marks, Outcome, ResultFiles, Submissions};
use crate::compiler;
use crate::course::EXERCISES;
use crate::flags::{Check, Everywhere, Output};
use crate::folder::shown;
use crate::lang::Lang;
use crate::output;
use crate::worker::{self, Limits, Terms};

/// Grades all submissions or one shard of them. Exits with 0 if every submission was graded.
pub fn grade(flags: &Everywhere, check: &Check, submissions: &Path) -> Result<ExitCode> {
    let lang = Lang::chosen();
    let exercises = match (check.all, &check.names[..]) {
        (true, _) => EXERCISES.into_iter().collect(),
        (false, []) => bail!(say!(
            lang,
            "--submissions goes with --all, or with the names of the exercises to grade",
            "--submissions 应与 --all 或要评分的练习名一起使用"
        )),
        (false, names) => selected(names, lang)?,
    };
    let clang = compiler::find(lang)?;
    let kept = Kept::Class(submissions);
    let files = files(&check.output, check.class.copies.as_deref(), kept)?;
    let marks = marks(&check.output, lang)?;
    let submissions = Submissions::open(submissions, exercises, lang)?;
    let jobs = jobs(check.class.jobs, worker::on_gpu(), lang)?;
    more_handles(jobs);
    if let Some(why) = confine::kept().reason() {
        say_what_is_not_kept(why, lang);
    }
    let grading = Grading {
        terms: Terms {
            seed: check.seed.unwrap_or_else(drawn),
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
    let told = told(
        flags,
        &graded,
        &check.output,
        grading.marks.as_ref(),
        &files,
    )?;
    if let Some((many, table)) = copies {
        files.write_copies(&table)?;
        if !flags.json {
            output::line(say!(
                lang,
                "{} pairs of answers are like each other, or like the solution: look at them yourself",
                "{} 对答案彼此相似，或与参考答案相似：请自行查看";
                many
            ))?;
        }
    }
    Ok(told)
}

fn marks(output: &Output, lang: Lang) -> Result<Option<Marks>> {
    let path = output.marks.as_deref();
    path.map(|path| Marks::open(path, lang)).transpose()
}

/// Warns the teacher that this system cannot confine Rust submissions, which run with the teacher's rights.
fn say_what_is_not_kept(why: &str, lang: Lang) {
    let note = say!(
        lang,
        "note: answers in Rust run here as you, within limits of time and memory alone ({}). What that means, \
         and what to do: docs/pages/en/teaching.md, \"What an answer cannot do\".",
        "注意：在这台机器上，用 Rust 写的答案以你的身份运行，只有时间和内存限制（{}）。这意味着什么、该怎么办，\
         见 docs/pages/zh/teaching.md 的“答案做不到的事”一节。";
        why
    );
    // Ignore write errors: a closed stderr is no reason not to grade.
    let _ = writeln!(io::stderr(), "{note}");
}

/// Validates the output files that the flags name.
fn files(output: &Output, copies: Option<&Path>, kept: Kept<'_>) -> Result<ResultFiles> {
    let named = [
        ("--out", output.out.as_deref()),
        ("--csv", output.csv.as_deref()),
        ("--copies", copies),
    ];
    ResultFiles::new(named, output.feedback.as_deref(), kept, Lang::chosen())
}

/// Raises the limit of open files, which is often about a thousand: each job needs several.
#[cfg(unix)]
fn more_handles(jobs: usize) {
    // If the limit cannot be raised, submissions that get no file handle are reported as ungraded.
    let _ = rlimit::increase_nofile_limit(64 + 8 * jobs as u64);
}

#[cfg(not(unix))]
fn more_handles(_jobs: usize) {}

/// Returns the number of submissions graded at a time: one per processor by default, one on a GPU.
fn jobs(asked: Option<u32>, on_gpu: bool, lang: Lang) -> Result<usize> {
    match (asked, on_gpu) {
        (Some(2..), true) => bail!(say!(
            lang,
            "on a GPU answers are graded one at a time, for they are timed: leave out --jobs; for several \
             GPUs there is --shard, with another CUDA_VISIBLE_DEVICES for each part",
            "在 GPU 上要计时，因此答案逐份评分：请去掉 --jobs；有多个 GPU 时，请用 --shard 分片，\
             并为每份设置不同的 CUDA_VISIBLE_DEVICES"
        )),
        (_, true) => Ok(1),
        (Some(jobs), false) => Ok(jobs as usize),
        (None, false) => Ok(thread::available_parallelism().map_or(1, usize::from)),
    }
}

/// Merges the records of all shards.
pub fn merge(flags: &Everywhere, records: &[PathBuf], output: &Output) -> Result<ExitCode> {
    let lang = Lang::chosen();
    let files = files(output, None, Kept::Records(records))?;
    let marks = marks(output, lang)?;
    let parts = records.iter().map(|path| read(path, lang));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let class = Class::merged(parts, lang)?;
    if let Some(marks) = &marks {
        marks.fits(&class, lang)?;
    }
    told(flags, &class, output, marks.as_ref(), &files)
}

/// The maximum size of a record in bytes; a class of a thousand students takes a tenth of it.
const LONGEST: u64 = 1 << 30;

/// Reads a record from a file.
fn read(path: &Path, lang: Lang) -> Result<Class> {
    let named = || shown(path);
    let file = File::open(path).with_context(named)?;
    let mut text = String::new();
    let read = file.take(LONGEST).read_to_string(&mut text);
    read.with_context(named)?;
    let class = serde_json::from_str::<Class>(&text).map_err(anyhow::Error::from);
    let checked = class.and_then(|class| class.checked(lang));
    checked.map_err(|error| {
        anyhow!(say!(
            lang,
            "{} is no record of a class: {}",
            "{} 不是全班的评分记录：{}";
            named(), error
        ))
    })
}

/// Writes the results to the files that the flags name and prints a summary.
fn told(
    flags: &Everywhere,
    class: &Class,
    asked: &Output,
    marks: Option<&Marks>,
    files: &ResultFiles,
) -> Result<ExitCode> {
    let lang = Lang::chosen();
    let record = output::as_json(class)?;
    let columns = asked.columns.unwrap_or_default();
    let written = files.write(&record, &columns.table(class, marks)?);
    let written = written.and_then(|()| match &asked.feedback {
        Some(folder) => class::feedback(class, marks, folder, lang),
        None => Ok(()),
    });
    // Print the record if it cannot be written, so that an hour of grading is not lost to a full disk.
    if flags.json || written.is_err() {
        output::text(&record)?;
    } else {
        let students = match class.students.len() {
            1 => say!(lang, "1 student", "1 名学生"),
            many => say!(lang, "{} students", "{} 名学生"; many),
        };
        output::line(say!(
            lang,
            "{}, {} answers: {} passed, {} rejected, {} missing, {} ungraded (seed {})",
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
    written.context(class::printed_instead())?;
    Ok(match class.count(Outcome::Ungraded) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(super::CANNOT),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobodys_time_is_taken_while_others_are_graded() {
        assert_eq!(jobs(Some(3), false, Lang::En).unwrap(), 3);
        assert!(jobs(None, false, Lang::En).unwrap() >= 1);
        assert_eq!(jobs(None, true, Lang::En).unwrap(), 1);
        assert_eq!(jobs(Some(1), true, Lang::En).unwrap(), 1);
        let refused = jobs(Some(2), true, Lang::En).unwrap_err().to_string();
        assert!(refused.contains("--shard"), "{refused}");
    }
}
