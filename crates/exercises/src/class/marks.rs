//! The teacher's marks file: points and deadlines of the exercises, and the times at which submissions were handed in,
//! from the files or from git.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use chapter::lang::Lang;
use serde::Deserialize;
use toml::value::{Datetime, Offset};

use super::{Class, Outcome, StudentResult};
use crate::course::Course;
use crate::data::Step;
use crate::files::{display_path, read_text};

/// Points and deadlines of the exercises.
#[derive(Clone, Debug, PartialEq)]
pub struct Marks {
    default: Worth,
    named: BTreeMap<String, Worth>,
    /// The share of the points for a submission rejected at a step; steps that are not listed earn nothing.
    steps: BTreeMap<&'static str, f64>,
    /// The total to which the points of all exercises are scaled.
    total: Option<f64>,
}

/// The points and the deadline of one exercise.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// Points for a submission that passes in time.
    pub points: f64,
    /// The deadline, if there is one.
    pub deadline: Option<Deadline>,
}

/// A deadline for submissions.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadline {
    /// Seconds since 1970.
    at: i64,
    /// The source of the submission time.
    pub source: TimeSource,
    /// The share of the points lost per day or part of a day after the deadline.
    late: f64,
}

/// The source of the submission time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeSource {
    /// The modification time of the submission's file.
    #[default]
    File,
    /// The time of the last commit that changed the file in the student's repository.
    Commit,
}

/// The marks file as TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarksFile {
    #[serde(default = "default_points")]
    points: f64,
    total: Option<f64>,
    deadline: Option<Datetime>,
    #[serde(default)]
    by: TimeSource,
    #[serde(default = "default_points")]
    late: f64,
    #[serde(default)]
    steps: BTreeMap<String, f64>,
    #[serde(default)]
    exercise: Vec<ExerciseMarks>,
}

/// An `[[exercise]]` table, which overrides the defaults for one exercise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExerciseMarks {
    name: String,
    points: Option<f64>,
    deadline: Option<Datetime>,
}

fn default_points() -> f64 {
    1.0
}

impl Marks {
    /// Reads a marks file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or is invalid; the error names the line.
    pub fn open(path: &Path, course: &Course, lang: Lang) -> Result<Marks> {
        let text = read_text(path, &display_path(path), lang)?;
        Marks::parse(&text, course, lang).with_context(|| display_path(path))
    }

    fn parse(text: &str, course: &Course, lang: Lang) -> Result<Marks> {
        let file: MarksFile = toml::from_str(text).map_err(|error| {
            let before = &text[..error.span().map_or(0, |span| span.start)];
            let line = before.matches('\n').count() + 1;
            anyhow!(localize!(lang, "line {}: {}", "第 {} 行：{}"; line, error.message()))
        })?;
        let is_part = |part: f64| (0.0..=1.0).contains(&part);
        ensure!(
            is_part(file.late) && file.steps.values().all(|&part| is_part(part)),
            localize!(
                lang,
                "`late` and the values in [steps] are shares of the points and must be from 0 to 1",
                "`late` 和 [steps] 中的值是分值的比例，应在 0 到 1 之间"
            )
        );
        let parse_deadline = |at: Option<Datetime>| {
            let at = at.map(|at| seconds(&at, lang)).transpose()?;
            let (source, late) = (file.by, file.late);
            anyhow::Ok(at.map(|at| Deadline { at, source, late }))
        };
        let default = Worth {
            points: file.points,
            deadline: parse_deadline(file.deadline)?,
        };
        let mut named = BTreeMap::new();
        for marks in file.exercise {
            let Some(exercise) = course.find(&marks.name) else {
                bail!(
                    localize!(lang, "[[exercise]] there is no exercise '{}'", "[[exercise]] 没有名为“{}”的练习"; marks.name)
                );
            };
            let deadline = parse_deadline(marks.deadline)?;
            let worth = Worth {
                points: marks.points.unwrap_or(default.points),
                deadline: deadline.or_else(|| default.deadline.clone()),
            };
            ensure!(
                named.insert(exercise.name().to_owned(), worth).is_none(),
                localize!(lang, "[[exercise]] {} is listed twice", "[[exercise]] {} 出现了两次"; exercise.name())
            );
        }
        let all = named.values().chain([&default]).map(|worth| worth.points);
        let is_valid = |points: f64| points >= 0.0 && points.is_finite();
        ensure!(
            all.chain(file.total).all(is_valid),
            localize!(lang, "points must be 0 or more", "分值不能为负")
        );
        let names = Step::ALL.map(Step::name);
        let parse_step = |(name, part): (String, f64)| {
            let step = names.iter().find(|step| **step == name);
            let step = step.ok_or_else(|| {
                anyhow!(localize!(
                    lang,
                    "[steps] there is no step {}; the steps are {}",
                    "[steps] 没有步骤 {}；步骤有 {}";
                    name, names.join(", ")
                ))
            });
            Ok((*step?, part))
        };
        let steps = file.steps.into_iter().map(parse_step);
        Ok(Marks {
            default,
            named,
            steps: steps.collect::<Result<_>>()?,
            total: file.total,
        })
    }

    /// Returns the points and the deadline of an exercise.
    pub fn worth(&self, exercise: &str) -> &Worth {
        self.named.get(exercise).unwrap_or(&self.default)
    }

    /// Returns the maximum points of an exercise, scaled so that all exercises add up to the total.
    pub fn max_points(&self, class: &Class, exercise: &str) -> f64 {
        self.scale(class) * self.worth(exercise).points
    }

    fn scale(&self, class: &Class) -> f64 {
        let all = class.exercises.iter();
        let all: f64 = all.map(|exercise| self.worth(exercise).points).sum();
        match self.total {
            Some(total) if all > 0.0 => total / all,
            _ => 1.0,
        }
    }

    /// Returns the points of a result; `None` if the submission could not be graded.
    pub fn points(&self, class: &Class, result: &StudentResult) -> Option<f64> {
        let part = match (result.outcome, result.step) {
            (Outcome::Ungraded, _) => return None,
            (Outcome::Passed, _) => 1.0,
            (Outcome::Rejected, Some(step)) => self.steps.get(step.name()).copied().unwrap_or(0.0),
            _ => 0.0,
        };
        let remaining = 1.0 - self.late_penalty(result);
        Some(self.max_points(class, &result.exercise) * part * remaining)
    }

    /// Returns the share of the points that is lost for late submission.
    pub fn late_penalty(&self, result: &StudentResult) -> f64 {
        let (Some(due), Some(at)) = (&self.worth(&result.exercise).deadline, result.handed_in)
        else {
            return 0.0;
        };
        const DAY: i64 = 24 * 60 * 60;
        let days = (at - due.at).max(0) as u64;
        let started_days = days.div_ceil(DAY as u64);
        (due.late * started_days as f64).min(1.0)
    }

    /// Checks that the record has the submission time of every graded exercise with a deadline.
    ///
    /// # Errors
    ///
    /// Fails if a submission time is missing.
    pub fn verify(&self, class: &Class, lang: Lang) -> Result<()> {
        let graded =
            |result: &&StudentResult| matches!(result.outcome, Outcome::Passed | Outcome::Rejected);
        let untimed = class.results.iter().filter(graded).find(|result| {
            result.handed_in.is_none() && self.worth(&result.exercise).deadline.is_some()
        });
        match untimed {
            None => Ok(()),
            Some(result) => bail!(localize!(
                lang,
                "--marks has a deadline, but the record does not contain the submission time of {} \
                 by '{}': grade with the same --marks, then merge",
                "--marks 中有截止时间，而记录里没有 {}（学生“{}”）的提交时间：评分时请用同样的 --marks，再合并";
                result.exercise, result.student
            )),
        }
    }
}

/// Formats points with at most two decimals.
pub fn format_points(points: f64) -> String {
    let text = format!("{points:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Converts a time with an offset from UTC to seconds since 1970.
///
/// # Errors
///
/// Fails if the date, the time or the offset is missing.
fn seconds(time: &Datetime, lang: Lang) -> Result<i64> {
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
    let unknown = |reason: &str| {
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
            false => bail!(unknown(&String::from_utf8_lossy(&output.stderr))),
        }
    };
    if !folder.join(".git").is_dir() {
        bail!(unknown(lang.pick("there is no .git", "没有 .git")));
    }
    let (from, to) = (folder.join(".git"), clone_folder.path().join("copy.git"));
    let (Some(from), Some(to)) = (from.to_str(), to.to_str()) else {
        let invalid = lang.pick("its path is not valid UTF-8", "路径不是有效的 UTF-8");
        bail!(unknown(invalid));
    };
    git(&["clone", "--quiet", "--bare", "--no-local", "--", from, to])?;
    let log = ["log", "-1", "--format=%ct", "HEAD", "--", file];
    let time = git(&[&["--git-dir", to], &log[..]].concat())?;
    let uncommitted = lang.pick("no commit contains it", "没有包含它的提交");
    let time = time.trim().parse::<i64>();
    let time = time.map_err(|_| anyhow!(unknown(uncommitted)))?;
    // The commit's time counts only if the graded file has the committed content.
    let committed = git(&["--git-dir", to, "show", &format!("HEAD:{file}")])?;
    let current = fs::read(folder.join(file))?;
    match committed == String::from_utf8_lossy(&current) {
        true => Ok(time),
        false => bail!(unknown(
            lang.pick("it was changed after the commit", "提交之后又有改动")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{record::sample, tables};
    use super::*;

    const FILE: &str = r#"
points = 2
total = 10
deadline = 2026-10-12T23:59:00+08:00
late = 0.25
steps = { counters = 0.5 }
[[exercise]]
name = "06"
points = 6
deadline = 2026-10-19T23:59:00+08:00
"#;

    fn class() -> Class {
        let exercises = ["01-first-thread", "02-tail", "06-fields"];
        tables::sample(&exercises, &["ann"], Vec::new())
    }

    fn points(exercise: &str, outcome: Outcome, step: Option<Step>, handed_in: i64) -> Option<f64> {
        let marks = Marks::parse(FILE, &Course::built_in().unwrap(), Lang::En).unwrap();
        let result = StudentResult {
            handed_in: Some(handed_in),
            ..sample::result("ann", exercise, outcome, step)
        };
        marks.points(&class(), &result)
    }

    /// The default deadline, in seconds since 1970.
    const DUE: i64 = 1_791_820_740;
    const DAY: i64 = 86_400;

    #[test]
    fn points_are_scaled_and_reduced_when_late() {
        use Outcome::{Missing, Passed, Rejected, Ungraded};
        let exercise = "01-first-thread";
        assert_eq!(points("06-fields", Passed, None, DUE + 7 * DAY), Some(6.0));
        for (outcome, step, late, expected) in [
            (Passed, None, 0, Some(2.0)),
            (Passed, None, 1, Some(1.5)),
            (Passed, None, DAY, Some(1.5)),
            (Passed, None, DAY + 1, Some(1.0)),
            (Passed, None, 90 * DAY, Some(0.0)),
            (Rejected, Some(Step::Counters), 0, Some(1.0)),
            (Rejected, Some(Step::Right), 0, Some(0.0)),
            (Missing, None, 0, Some(0.0)),
            (Ungraded, None, 0, None),
        ] {
            assert_eq!(points(exercise, outcome, step, DUE + late), expected);
        }
    }

    #[test]
    fn invalid_marks_are_reported() {
        let course = Course::built_in().unwrap();
        for (text, expected) in [
            ("point = 1", "line 1"),
            ("\npoints = \"many\"", "line 2"),
            ("points = -1", "0 or more"),
            ("late = 2", "from 0 to 1"),
            ("[steps]\ncounter = 0.5", "no step counter"),
            ("[[exercise]]\nname = \"99\"", "no exercise '99'"),
            (
                "[[exercise]]\nname = \"1\"\n[[exercise]]\nname = \"01\"",
                "01-first-thread is listed twice",
            ),
            ("deadline = 2026-10-12", "2026-10-12"),
            ("deadline = 2026-10-12T23:59:00", "+08:00"),
            ("by = \"mail\"", "line 1"),
        ] {
            let error = Marks::parse(text, &course, Lang::En).expect_err(text);
            let error = format!("{error:#}");
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn points_have_no_trailing_zeros() {
        for (points, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (10.0, "10"),
            (2.5, "2.5"),
            (1.0 / 3.0, "0.33"),
        ] {
            assert_eq!(format_points(points), text);
        }
    }

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
