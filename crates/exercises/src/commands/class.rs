//! `check --all --submissions` and `merge`: a class.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context as _, Result, anyhow};

use super::check::drawn;
use crate::class::{self, Class, Grading, Outcome, Submissions};
use crate::compiler;
use crate::files::write_whole;
use crate::flags::{Check, Everywhere, Output};
use crate::lang::Lang;
use crate::worker::{Limits, Terms};

/// Grades all answers, or a part of them; 0 where each has a verdict.
pub fn grade(flags: &Everywhere, check: &Check, submissions: &Path) -> Result<ExitCode> {
    let lang = Lang::chosen();
    let clang = compiler::find(lang)?;
    let submissions = Submissions::open(submissions, lang)?;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let grading = Grading {
        terms: Terms {
            seed: check.seed.unwrap_or_else(drawn),
            lang,
            clang,
            limits: Limits {
                // The others are graded beside it.
                threads: 1,
                ..Limits::within(check.seconds)
            },
        },
        shard: check.class.shard,
        jobs: check.class.jobs.map_or(processors, |jobs| jobs as usize),
    };
    told(flags, &class::grade(&submissions, &grading), &check.output)
}

/// Makes one record of those of all parts.
pub fn merge(flags: &Everywhere, records: &[PathBuf], output: &Output) -> Result<ExitCode> {
    let lang = Lang::chosen();
    let read = |path: &PathBuf| -> Result<Class> {
        let named = || path.display().to_string();
        let text = fs::read_to_string(path).with_context(named)?;
        serde_json::from_str(&text).map_err(|error| {
            anyhow!(say!(
                lang,
                "{} is no record of a class: {}",
                "{} 不是全班的评分记录：{}";
                named(), error
            ))
        })
    };
    let parts = records.iter().map(read).collect::<Result<Vec<_>>>()?;
    told(flags, &Class::merged(parts, lang)?, output)
}

/// Writes what came of it where the flags say, and says how many passed.
fn told(flags: &Everywhere, class: &Class, output: &Output) -> Result<ExitCode> {
    let lang = Lang::chosen();
    let record = format!("{}\n", serde_json::to_string_pretty(class)?);
    if let Some(path) = &output.out {
        write_whole(path, &record)?;
    }
    if let Some(path) = &output.csv {
        write_whole(path, &class::table(class)?)?;
    }
    if flags.json {
        print!("{record}");
    } else {
        println!(
            "{}",
            say!(
                lang,
                "{} students, {} answers: {} passed, {} rejected, {} missing, {} ungraded (seed {})",
                "{} 名学生，{} 份答案：通过 {} 份，未通过 {} 份，缺交 {} 份，未能评分 {} 份（种子 {}）";
                class.students.len(),
                class.results.len(),
                class.count(Outcome::Passed),
                class.count(Outcome::Rejected),
                class.count(Outcome::Missing),
                class.count(Outcome::Ungraded),
                class.seed
            )
        );
    }
    Ok(match class.count(Outcome::Ungraded) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(super::CANNOT),
    })
}
