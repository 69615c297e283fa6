//! The teacher's marks file: points and deadlines of the exercises.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde::Deserialize;
use toml::value::Datetime;

use super::{Class, Outcome, time};
use crate::course::Course;
use crate::data::Step;
use crate::files::{display_path, read_text};
use crate::lang::Lang;

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
        let MarksFile {
            points,
            total,
            deadline,
            by,
            late,
            steps,
            exercise,
        } = file;
        let is_part = |part: f64| (0.0..=1.0).contains(&part);
        ensure!(
            is_part(late) && steps.values().all(|&part| is_part(part)),
            localize!(
                lang,
                "`late` and the values in [steps] are shares of the points and must be from 0 to 1",
                "`late` 和 [steps] 中的值是分值的比例，应在 0 到 1 之间"
            )
        );
        let parse_deadline = |at: Option<Datetime>| {
            let at = at.map(|at| time::seconds(&at, lang)).transpose()?;
            anyhow::Ok(at.map(|at| Deadline {
                at,
                source: by,
                late,
            }))
        };
        let default = Worth {
            points,
            deadline: parse_deadline(deadline)?,
        };
        let mut named = BTreeMap::new();
        for ExerciseMarks {
            name,
            points,
            deadline,
        } in exercise
        {
            let Some(exercise) = course.find(&name) else {
                bail!(
                    localize!(lang, "[[exercise]] there is no exercise '{}'", "[[exercise]] 没有名为“{}”的练习"; name)
                );
            };
            let worth = Worth {
                points: points.unwrap_or(default.points),
                deadline: parse_deadline(deadline)?.or_else(|| default.deadline.clone()),
            };
            ensure!(
                named.insert(exercise.name().to_owned(), worth).is_none(),
                localize!(lang, "[[exercise]] {} is listed twice", "[[exercise]] {} 出现了两次"; exercise.name())
            );
        }
        let all = named
            .values()
            .chain([&default])
            .map(|worth| worth.points)
            .chain(total);
        ensure!(
            all.into_iter()
                .all(|points| points >= 0.0 && points.is_finite()),
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
        let steps = steps.into_iter().map(parse_step).collect::<Result<_>>()?;
        Ok(Marks {
            default,
            named,
            steps,
            total,
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
        let all: f64 = class
            .exercises
            .iter()
            .map(|exercise| self.worth(exercise).points)
            .sum();
        match self.total {
            Some(total) if all > 0.0 => total / all,
            _ => 1.0,
        }
    }

    /// Returns the points of a result; `None` if the submission could not be graded.
    pub fn points(&self, class: &Class, result: &super::StudentResult) -> Option<f64> {
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
    pub fn late_penalty(&self, result: &super::StudentResult) -> f64 {
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
        let graded = |result: &&super::StudentResult| {
            matches!(result.outcome, Outcome::Passed | Outcome::Rejected)
        };
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

#[cfg(test)]
mod tests;
