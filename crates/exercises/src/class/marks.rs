//! What exercises are worth, and when they are due: a teacher's file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde::Deserialize;
use toml::value::Datetime;

use super::{Class, Outcome, time};
use crate::course;
use crate::data::Step;
use crate::folder::{read, shown};
use crate::lang::Lang;

/// What exercises are worth, and when they are due.
#[derive(Clone, Debug, PartialEq)]
pub struct Marks {
    usual: Worth,
    named: BTreeMap<&'static str, Worth>,
    /// What part of its points an answer has that was rejected at this step; none where it is not there.
    steps: BTreeMap<&'static str, f64>,
    /// What all points together are made to come to.
    total: Option<f64>,
}

/// What one exercise is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// Points of an answer that passes in time.
    pub points: f64,
    /// When it is due.
    pub deadline: Option<Deadline>,
}

/// When answers are due.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadline {
    /// Seconds since 1970.
    at: i64,
    /// What tells when an answer was handed in.
    pub by: By,
    /// What part of the points each day costs that has begun since.
    late: f64,
}

/// What tells when an answer was handed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// When its file was last changed.
    #[default]
    File,
    /// The last commit that changed it, in the student's repository.
    Commit,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default = "one")]
    points: f64,
    total: Option<f64>,
    deadline: Option<Datetime>,
    #[serde(default)]
    by: By,
    #[serde(default = "one")]
    late: f64,
    #[serde(default)]
    steps: BTreeMap<String, f64>,
    #[serde(default)]
    exercise: Vec<One>,
}

/// An exercise that is worth something else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    name: String,
    points: Option<f64>,
    deadline: Option<Datetime>,
}

fn one() -> f64 {
    1.0
}

impl Marks {
    /// Those in a file.
    ///
    /// # Errors
    ///
    /// Where it cannot be read: what is wrong with it, and in which line.
    pub fn open(path: &Path, lang: Lang) -> Result<Marks> {
        let text = read(path, &shown(path), lang)?;
        Marks::read(&text, lang).with_context(|| shown(path))
    }

    fn read(text: &str, lang: Lang) -> Result<Marks> {
        let written: Written = toml::from_str(text).map_err(|error| {
            let before = &text[..error.span().map_or(0, |span| span.start)];
            let line = before.matches('\n').count() + 1;
            anyhow!(say!(lang, "line {}: {}", "第 {} 行：{}"; line, error.message()))
        })?;
        let Written {
            points,
            total,
            deadline,
            by,
            late,
            steps,
            exercise,
        } = written;
        let is_part = |part: f64| (0.0..=1.0).contains(&part);
        ensure!(
            is_part(late) && steps.values().all(|&part| is_part(part)),
            say!(
                lang,
                "`late` and what [steps] names are parts of the points, from 0 to 1",
                "`late` 和 [steps] 中的数是分值的一部分，应在 0 到 1 之间"
            )
        );
        let due = |at: Option<Datetime>| {
            let at = at.map(|at| time::seconds(&at, lang)).transpose()?;
            anyhow::Ok(at.map(|at| Deadline { at, by, late }))
        };
        let usual = Worth {
            points,
            deadline: due(deadline)?,
        };
        let mut named = BTreeMap::new();
        for One {
            name,
            points,
            deadline,
        } in exercise
        {
            let Some(known) = course::find(&name) else {
                bail!(
                    say!(lang, "[[exercise]] there is no exercise '{}'", "[[exercise]] 没有名为“{}”的练习"; name)
                );
            };
            let worth = Worth {
                points: points.unwrap_or(usual.points),
                deadline: due(deadline)?.or_else(|| usual.deadline.clone()),
            };
            ensure!(
                named.insert(known.name, worth).is_none(),
                say!(lang, "[[exercise]] {} is there twice", "[[exercise]] {} 出现了两次"; known.name)
            );
        }
        let all = named
            .values()
            .chain([&usual])
            .map(|worth| worth.points)
            .chain(total);
        ensure!(
            all.into_iter()
                .all(|points| points >= 0.0 && points.is_finite()),
            say!(lang, "points are 0 or more", "分值不能为负")
        );
        let known = Step::ALL.map(Step::name);
        let step = |(name, part): (String, f64)| {
            let found = known.iter().find(|step| **step == name);
            let found = found.ok_or_else(|| {
                anyhow!(say!(
                    lang,
                    "[steps] there is no step {}; there are {}",
                    "[steps] 没有步骤 {}；步骤有 {}";
                    name, known.join(", ")
                ))
            });
            Ok((*found?, part))
        };
        let steps = steps.into_iter().map(step).collect::<Result<_>>()?;
        Ok(Marks {
            usual,
            named,
            steps,
            total,
        })
    }

    /// What an exercise is worth.
    pub fn of(&self, exercise: &str) -> &Worth {
        self.named.get(exercise).unwrap_or(&self.usual)
    }

    /// The points that exercises come to at most, after all of them have been scaled to the total.
    pub fn most(&self, class: &Class, exercise: &str) -> f64 {
        self.scale(class) * self.of(exercise).points
    }

    fn scale(&self, class: &Class) -> f64 {
        let all: f64 = class.exercises.iter().map(|it| self.of(it).points).sum();
        match self.total {
            Some(total) if all > 0.0 => total / all,
            _ => 1.0,
        }
    }

    /// The points of a result; none where it could not be graded.
    pub fn points(&self, class: &Class, result: &super::Result) -> Option<f64> {
        let part = match (result.outcome, result.step) {
            (Outcome::Ungraded, _) => return None,
            (Outcome::Passed, _) => 1.0,
            (Outcome::Rejected, Some(step)) => self.steps.get(step.name()).copied().unwrap_or(0.0),
            _ => 0.0,
        };
        let left = 1.0 - self.lost(result);
        Some(self.most(class, &result.exercise) * part * left)
    }

    /// What part of the points is lost for being late.
    pub fn lost(&self, result: &super::Result) -> f64 {
        let (Some(due), Some(at)) = (&self.of(&result.exercise).deadline, result.handed_in) else {
            return 0.0;
        };
        const DAY: i64 = 24 * 60 * 60;
        let days = (at - due.at).max(0) as u64;
        let begun = days.div_ceil(DAY as u64);
        (due.late * begun as f64).min(1.0)
    }

    /// Whether the record knows when answers were handed in that are due.
    ///
    /// # Errors
    ///
    /// Where it does not.
    pub fn fits(&self, class: &Class, lang: Lang) -> Result<()> {
        let graded =
            |it: &&super::Result| matches!(it.outcome, Outcome::Passed | Outcome::Rejected);
        let untimed = class.results.iter().filter(graded).find(|result| {
            result.handed_in.is_none() && self.of(&result.exercise).deadline.is_some()
        });
        match untimed {
            None => Ok(()),
            Some(result) => bail!(say!(
                lang,
                "--marks has a deadline, and the record does not say when {} of '{}' was handed in: grade with the \
                 same --marks, then merge",
                "--marks 中有截止时间，而记录里没有 {}（学生“{}”）的提交时间：评分时请用同样的 --marks，再合并";
                result.exercise, result.student
            )),
        }
    }
}

/// Points with two decimals at most.
pub fn written(points: f64) -> String {
    let text = format!("{points:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests;
