//! Submission times, from the files or from git.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use anyhow::{Context as _, Result, bail};
use toml::value::{Datetime, Offset};

use super::marks::TimeSource;
use crate::lang::Lang;

/// Converts a time with an offset from UTC to seconds since 1970.
///
/// # Errors
///
/// Fails if the date, the time or the offset is missing.
pub fn seconds(time: &Datetime, lang: Lang) -> Result<i64> {
    let (Some(date), Some(clock), Some(offset)) = (time.date, time.time, time.offset) else {
        bail!(localize!(
            lang,
            "the deadline {} is incomplete: write a date, a time and the offset from UTC, for \
             example 2026-10-12T23:59:00+08:00",
            "截止时间 {} 不完整：请写出日期、时间和与 UTC 的时差，例如 2026-10-12T23:59:00+08:00";
            time
        ));
    };
    let minutes = match offset {
        Offset::Z => 0,
        Offset::Custom { minutes } => i64::from(minutes),
    };
    let days = days(date.year.into(), date.month.into(), date.day.into());
    let hours = 24 * days + i64::from(clock.hour);
    let second = clock.second.unwrap_or(0);
    Ok((60 * hours + i64::from(clock.minute) - minutes) * 60 + i64::from(second))
}

/// Returns the number of days from 1970-01-01 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Count years from March, so that the leap day is the last day of a year.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// Returns the time at which a student's file was handed in, in seconds since 1970; `None` if there is no
/// such file.
///
/// # Errors
///
/// Fails if the time cannot be determined.
pub fn handed_in(folder: &Path, file: &str, source: TimeSource, lang: Lang) -> Result<Option<i64>> {
    let Ok(metadata) = fs::symlink_metadata(folder.join(file)) else {
        return Ok(None);
    };
    match source {
        TimeSource::File => {
            let changed = metadata.modified().context(file.to_owned())?;
            let seconds = changed
                .duration_since(UNIX_EPOCH)
                .map_or(0, |time| time.as_secs());
            Ok(Some(i64::try_from(seconds)?))
        }
        TimeSource::Commit => commit_time(folder, file, lang).map(Some),
    }
}

/// Returns the time of the last commit that changed a file. Runs `git` on a bare clone, because the
/// configuration of the student's repository could name programs for `git` to run; a clone has the default
/// configuration.
fn commit_time(folder: &Path, file: &str, lang: Lang) -> Result<i64> {
    let unknown = |reason: String| {
        localize!(
            lang,
            "cannot determine when {} was committed: {}; the student's folder must be a clone of a \
             repository that contains the file's current version",
            "无法确定 {} 的提交时间：{}；学生的文件夹应为代码库的克隆，且其中包含该文件的当前版本";
            file, reason.trim()
        )
    };
    let clone_folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments)
            .stdin(Stdio::null())
            .env("GIT_TERMINAL_PROMPT", "0");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            git.env_remove(name);
        }
        let output = git.output().context("git")?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => bail!(unknown(
                String::from_utf8_lossy(&output.stderr).into_owned()
            )),
        }
    };
    if !folder.join(".git").is_dir() {
        bail!(unknown(
            lang.pick("there is no .git", "没有 .git").to_owned()
        ));
    }
    let (from, to) = (folder.join(".git"), clone_folder.path().join("copy.git"));
    let (Some(from), Some(to)) = (from.to_str(), to.to_str()) else {
        bail!(unknown(
            lang.pick("its path is not valid UTF-8", "路径不是有效的 UTF-8")
                .to_owned()
        ));
    };
    git(&["clone", "--quiet", "--bare", "--no-local", "--", from, to])?;
    let log_arguments = [
        "--git-dir",
        to,
        "log",
        "-1",
        "--format=%ct",
        "HEAD",
        "--",
        file,
    ];
    let time = git(&log_arguments)?;
    let time = time.trim().parse::<i64>();
    let time = time.map_err(|_| {
        anyhow::anyhow!(unknown(
            lang.pick("no commit contains it", "没有包含它的提交")
                .to_owned()
        ))
    })?;
    // The commit's time counts only if the graded file has the committed content.
    let committed = git(&["--git-dir", to, "show", &format!("HEAD:{file}")])?;
    let current = fs::read(folder.join(file))?;
    match committed == String::from_utf8_lossy(&current) {
        true => Ok(time),
        false => bail!(unknown(
            lang.pick("it was changed after the commit", "提交之后又有改动")
                .to_owned()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T08:00:00+08:00", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-10-12T23:59:00+08:00", 1_791_820_740),
            ("2024-12-31T23:59:59-05:00", 1_735_707_599),
        ] {
            let time: Datetime = text.parse().unwrap();
            assert_eq!(seconds(&time, Lang::En).unwrap(), expected, "{text}");
        }
    }
}
