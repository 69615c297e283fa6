//! The JSON record of a class's results.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use anyhow::{bail, ensure};
use chapter::lang::{Lang, tr};
use serde::{Deserialize, Serialize};

use crate::course::Course;
use crate::data::Step;
use crate::grade::{Counted, Record, Timed};
use crate::text::in_a_line;

/// The results of a class or of one shard. The record does not contain the time or the machine, so the same
/// submissions and seed produce the same record, except for times measured on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// The seed of random sizes and inputs, the same for all students.
    pub seed: u64,
    /// The shard; `None` for a whole class.
    pub shard: Option<Shard>,
    /// Names of the graded exercises, in order.
    pub exercises: Vec<String>,
    /// Names of all students of all shards, in order.
    pub students: Vec<String>,
    /// The results, ordered by student, then by exercise.
    pub results: Vec<StudentResult>,
}

/// The result of one submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudentResult {
    /// The student's name.
    pub student: String,
    /// The exercise's name.
    pub exercise: String,
    pub outcome: Outcome,
    /// The step at which the submission was rejected.
    pub step: Option<Step>,
    /// The size at which it was rejected, x first.
    pub size: Vec<u32>,
    /// The reason why it was rejected or could not be graded.
    pub message: String,
    /// The counters with targets, if grading got that far.
    pub targets: Vec<Counted>,
    /// The measured time, if the exercise requires one and grading got that far.
    pub time: Option<Timed>,
    /// The submission time in seconds since 1970, if the exercise has a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_in: Option<i64>,
}

/// The outcome of grading one submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The submission passed.
    Passed,
    /// The submission was rejected.
    Rejected,
    /// There is no submission.
    Missing,
    /// The submission could not be graded: its file is unreadable, or grading failed for a reason outside the
    /// submission.
    Ungraded,
}

impl Class {
    /// Merges the records of all shards into one, identical to the record of grading the whole class in one
    /// run.
    ///
    /// # Errors
    ///
    /// Fails if the records do not belong to one run, or if shards are missing or duplicated.
    pub fn merge(parts: Vec<Class>, course: &Course, lang: Lang) -> anyhow::Result<Class> {
        let mut parts = parts.into_iter();
        let Some(mut whole) = parts.next() else {
            bail!(localize!(lang, "no record", "没有记录"));
        };
        let shard_count = |part: &Class| part.shard.map_or(1, |shard| shard.of);
        let count = shard_count(&whole);
        let mut seen = vec![whole.shard];
        for part in parts {
            ensure!(
                (part.seed, shard_count(&part)) == (whole.seed, count)
                    && part.students == whole.students
                    && part.exercises == whole.exercises,
                localize!(
                    lang,
                    "these records are not parts of one run: their seeds, students, exercises or \
                     numbers of parts differ",
                    "这些记录不属于同一次评分：种子、学生、练习或分片数不一致"
                )
            );
            ensure!(
                !seen.contains(&part.shard),
                localize!(lang, "part {} is listed twice", "第 {} 份出现了两次"; display_shard(part.shard))
            );
            seen.push(part.shard);
            whole.results.extend(part.results);
        }
        ensure!(
            seen.len() == count as usize,
            localize!(
                lang,
                "only {} of {} parts are given: all are needed",
                "共 {1} 份，只有 {0} 份：需要全部";
                seen.len(), count
            )
        );
        whole.shard = None;
        whole.sort_results();
        whole.validated(course, lang)
    }

    /// Returns the record unchanged if a grading run can have produced it: students are unique and sorted,
    /// and there is exactly one result for each submission of the shard.
    ///
    /// # Errors
    ///
    /// Fails with the first inconsistency otherwise.
    pub fn validated(self, course: &Course, lang: Lang) -> anyhow::Result<Class> {
        let mut course = course.exercises.iter();
        let in_order = |name: &String| course.any(|exercise| exercise.name() == name);
        ensure!(
            !self.exercises.is_empty() && self.exercises.iter().all(in_order),
            localize!(
                lang,
                "its exercises are not those of this course, or are out of order",
                "其中的练习与本课程不一致，或顺序不对"
            )
        );
        if let Some(pair) = self.students.windows(2).find(|pair| pair[0] >= pair[1]) {
            bail!(localize!(
                lang,
                "the student '{}' is listed twice or out of order",
                "学生“{}”重复出现，或顺序不对";
                in_a_line(&pair[1])
            ));
        }
        let part = self.shard.unwrap_or(Shard { index: 1, of: 1 });
        ensure!(
            (1..=part.of).contains(&part.index),
            localize!(lang, "there is no part {}", "没有第 {} 份"; part)
        );
        let all = self.students.iter().flat_map(|student| {
            let exercises = self.exercises.iter();
            exercises.map(move |exercise| (student, exercise))
        });
        let expected = all.enumerate().filter(|(number, _)| part.contains(*number));
        let mut expected = expected.map(|(_, submission)| submission);
        let mut results = self.results.iter();
        loop {
            match (expected.next(), results.next()) {
                (None, None) => break,
                (expected, Some(result))
                    if expected == Some((&result.student, &result.exercise)) =>
                {
                    result.validate(lang)?;
                }
                (_, Some(result)) => bail!(localize!(
                    lang,
                    "the result for {} of '{}' does not belong here: the student or exercise is \
                     not listed, it belongs to another part, or an earlier result is missing or \
                     duplicated",
                    "{}（学生“{}”）的结果不该在这里：名单中没有这名学生或这道练习，或属于另一份，或前面有缺失或重复";
                    in_a_line(&result.exercise), in_a_line(&result.student)
                )),
                (Some((student, exercise)), None) => bail!(localize!(
                    lang,
                    "the result for {} of '{}' is missing",
                    "缺少 {}（学生“{}”）的结果";
                    exercise, in_a_line(student)
                )),
            }
        }
        Ok(self)
    }

    fn sort_results(&mut self) {
        let ranks = |names: &[String]| -> BTreeMap<String, usize> {
            names.iter().cloned().zip(0..).collect()
        };
        let (students, exercises) = (ranks(&self.students), ranks(&self.exercises));
        self.results.sort_by_key(|result| {
            (
                students.get(&result.student).copied(),
                exercises.get(&result.exercise).copied(),
            )
        });
    }

    /// Returns a student's result for an exercise; `None` if it belongs to another shard.
    pub fn result(&self, student: &str, exercise: &str) -> Option<&StudentResult> {
        let mut all = self.results.iter();
        all.find(|result| result.student == student && result.exercise == exercise)
    }

    /// Returns the number of submissions with an outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        let matching = self
            .results
            .iter()
            .filter(|result| result.outcome == outcome);
        matching.count()
    }
}

impl StudentResult {
    /// Creates the result of a student without a submission.
    pub fn missing(student: &str, exercise: &str) -> StudentResult {
        StudentResult {
            student: student.to_owned(),
            exercise: exercise.to_owned(),
            outcome: Outcome::Missing,
            step: None,
            size: Vec::new(),
            message: String::new(),
            targets: Vec::new(),
            time: None,
            handed_in: None,
        }
    }

    /// Sets the outcome to what the grader recorded.
    pub fn graded(self, record: Record) -> StudentResult {
        StudentResult {
            outcome: match record.passed {
                true => Outcome::Passed,
                false => Outcome::Rejected,
            },
            step: record.step,
            size: record.size,
            message: record.message,
            targets: record.targets,
            time: record.time,
            ..self
        }
    }

    /// Checks that the step is consistent with the outcome.
    fn validate(&self, lang: Lang) -> anyhow::Result<()> {
        ensure!(
            (self.outcome == Outcome::Rejected) == self.step.is_some(),
            localize!(
                lang,
                "the result for {} of '{}' has an outcome that does not match its step",
                "{}（学生“{}”）的结果与所在步骤不符";
                in_a_line(&self.exercise), in_a_line(&self.student)
            )
        );
        Ok(())
    }
}

fn display_shard(shard: Option<Shard>) -> String {
    shard.map_or("1/1".to_owned(), |shard| shard.to_string())
}

/// Shard `index` of `of`, counted from 1: `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The shard's number, from 1.
    pub index: u32,
    /// The number of shards.
    pub of: u32,
}

impl Shard {
    /// Returns true if the shard contains the submission with this number, counted from 0 over the whole
    /// class. Submissions are dealt out round-robin, so that each shard gets some of every exercise.
    pub fn contains(self, number: usize) -> bool {
        number % self.of as usize == self.index as usize - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index @ 1.., of)) if index <= of => Ok(Shard { index, of }),
            _ => Err(tr(
                "write it as K/N, with K from 1 to N, like 2/4",
                "请写成 K/N，K 从 1 到 N，例如 2/4",
            )
            .to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
pub mod sample {
    use super::*;

    /// Returns a result with empty optional fields.
    pub fn result(
        student: &str,
        exercise: &str,
        outcome: Outcome,
        step: Option<Step>,
    ) -> StudentResult {
        StudentResult {
            outcome,
            step,
            ..StudentResult::missing(student, exercise)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course() -> Course {
        Course::built_in().unwrap()
    }

    /// Returns the record of a shard of a class with two students who pass everything.
    fn part(index: u32, of: u32) -> Class {
        let students = ["ann", "bob"].map(str::to_owned).to_vec();
        let exercises: Vec<String> = course()
            .exercises
            .iter()
            .map(|exercise| exercise.name().to_owned())
            .collect();
        let all = students.iter().flat_map(|student| {
            exercises
                .iter()
                .map(move |exercise| sample::result(student, exercise, Outcome::Passed, None))
        });
        let shard = Shard { index, of };
        let results = all
            .enumerate()
            .filter(|(number, _)| shard.contains(*number));
        Class {
            seed: 3,
            shard: (of > 1).then_some(shard),
            results: results.map(|(_, result)| result).collect(),
            students,
            exercises,
        }
    }

    #[test]
    fn shards_merge_in_any_order() {
        let whole = part(1, 1);
        for of in [2, 3, 4, 7] {
            let mut parts: Vec<Class> = (1..=of).map(|index| part(index, of)).collect();
            parts.reverse();
            assert_eq!(
                Class::merge(parts, &course(), Lang::En).unwrap(),
                whole,
                "{of} parts"
            );
        }
        assert_eq!(
            Class::merge(vec![part(1, 1)], &course(), Lang::En).unwrap(),
            whole
        );
    }

    #[test]
    fn incomplete_or_mixed_shards_are_rejected() {
        let error = |parts| {
            Class::merge(parts, &course(), Lang::En)
                .unwrap_err()
                .to_string()
        };
        assert!(error(vec![]).contains("no record"));
        assert!(error(vec![part(1, 2)]).contains("1 of 2 parts"));
        assert!(error(vec![part(1, 2), part(1, 2)]).contains("part 1/2 is listed twice"));
        assert!(error(vec![part(1, 2), part(2, 3)]).contains("not parts of one run"));
        let mut other = part(2, 2);
        other.seed = 4;
        assert!(error(vec![part(1, 2), other]).contains("seed"));
        let mut short = part(2, 2);
        short.results.pop();
        assert!(error(vec![part(1, 2), short]).contains("of 'bob' is missing"));
    }

    /// Returns the error for a record changed by `change`.
    fn error_after(change: impl FnOnce(&mut Class)) -> String {
        let mut class = part(1, 2);
        change(&mut class);
        class
            .validated(&course(), Lang::En)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn inconsistent_records_are_rejected() {
        assert!(part(2, 3).validated(&course(), Lang::En).is_ok());
        let error = error_after(|class| class.exercises[0] = "01-other".to_owned());
        assert!(error.contains("exercises are not those"), "{error}");
        let error = error_after(|class| class.students[1] = "ann".to_owned());
        assert!(error.contains("'ann' is listed twice"), "{error}");
        let error = error_after(|class| class.results[0].student = "eve".to_owned());
        assert!(error.contains("'eve' does not belong here"), "{error}");
        let error = error_after(|class| class.results[0].exercise = "30-more".to_owned());
        assert!(
            error.contains("30-more of 'ann' does not belong here"),
            "{error}"
        );
        let error = error_after(|class| class.results.insert(0, class.results[0].clone()));
        assert!(error.contains("does not belong here"), "{error}");
        let error = error_after(|class| class.results[0].outcome = Outcome::Rejected);
        assert!(error.contains("does not match its step"), "{error}");
        for (index, of) in [(0, 2), (3, 2), (0, 0), (1, 0)] {
            let error = error_after(|class| class.shard = Some(Shard { index, of }));
            assert!(error.contains("there is no part"), "{error}");
        }
    }

    #[test]
    fn every_submission_is_in_exactly_one_shard() {
        let parts: Vec<Shard> = (1..=4).map(|k| format!("{k}/4").parse().unwrap()).collect();
        for number in 0..50 {
            let count = parts.iter().filter(|part| part.contains(number)).count();
            assert_eq!(count, 1, "{number}");
        }
        assert!("1/1".parse::<Shard>().unwrap().contains(3));
    }

    #[test]
    fn invalid_shards_are_rejected() {
        for text in [
            "", "1", "0/4", "5/4", "1/0", "-1/4", "a/b", "1/4/2", "1.0/2",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
