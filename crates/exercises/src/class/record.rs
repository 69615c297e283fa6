//! What came of a class, as a file has it.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};
use serde::{Deserialize, Serialize};

use super::Shard;
use crate::course::EXERCISES;
use crate::data::Step;
use crate::grade::{Counted, Timed};
use crate::lang::Lang;

/// What came of a class, or of a part of it. It says nothing of when and where, so that the same answers
/// and the same seed make the same record; times that a GPU takes are never twice the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// What random sizes and inputs were drawn from: the same for everybody.
    pub seed: u64,
    /// Which part it is; of all of it there is none.
    pub shard: Option<Shard>,
    /// The course's exercises, in order.
    pub exercises: Vec<String>,
    /// All students, in order, of all parts.
    pub students: Vec<String>,
    /// What came of each answer, student by student, exercise by exercise.
    pub results: Vec<Result>,
}

/// What came of one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Result {
    /// Whose.
    pub student: String,
    /// To which exercise.
    pub exercise: String,
    /// What came of it.
    pub outcome: Outcome,
    /// The step at which it was rejected.
    pub step: Option<Step>,
    /// The size at which it was, x first.
    pub size: Vec<u32>,
    /// Why it was rejected, or could not be graded.
    pub message: String,
    /// The counters that have targets, as far as it came to them.
    pub targets: Vec<Counted>,
    /// Its time, where one is asked and it came to that.
    pub time: Option<Timed>,
}

/// What came of an answer, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It was rejected.
    Rejected,
    /// There is none.
    Missing,
    /// It could not be graded: the file cannot be read, or grading failed for no fault of the answer's.
    Ungraded,
}

impl Class {
    /// One record of those of all parts, the same as if all had been graded in one go.
    ///
    /// # Errors
    ///
    /// Where they are no parts of one whole, or not all of them.
    pub fn merged(parts: Vec<Class>, lang: Lang) -> anyhow::Result<Class> {
        let mut parts = parts.into_iter();
        let Some(mut whole) = parts.next() else {
            bail!(say!(lang, "no record", "没有记录"));
        };
        let of = |part: &Class| part.shard.map_or(1, |shard| shard.of);
        let count = of(&whole);
        let mut seen = vec![whole.shard];
        for part in parts {
            ensure!(
                (part.seed, of(&part)) == (whole.seed, count)
                    && part.students == whole.students
                    && part.exercises == whole.exercises,
                say!(
                    lang,
                    "these records are no parts of one whole: seed, students, exercises or the number of \
                     parts differ",
                    "这些记录不属于同一次评分：种子、学生、练习或分片数不一致"
                )
            );
            ensure!(
                !seen.contains(&part.shard),
                say!(lang, "part {} is there twice", "第 {} 份出现了两次"; shard(part.shard))
            );
            seen.push(part.shard);
            whole.results.extend(part.results);
        }
        ensure!(
            seen.len() == count as usize,
            say!(
                lang,
                "{} of {} parts are there: all are needed",
                "共 {1} 份，只有 {0} 份：需要全部";
                seen.len(), count
            )
        );
        whole.shard = None;
        whole.put_in_order();
        let all = whole.students.len() * whole.exercises.len();
        let twice = whole
            .results
            .windows(2)
            .any(|two| (&two[0].student, &two[0].exercise) == (&two[1].student, &two[1].exercise));
        ensure!(
            whole.results.len() == all && !twice,
            say!(lang, "the records are incomplete", "记录不完整")
        );
        Ok(whole)
    }

    fn put_in_order(&mut self) {
        let place = |names: &[String]| -> BTreeMap<String, usize> {
            names.iter().cloned().zip(0..).collect()
        };
        let (students, exercises) = (place(&self.students), place(&self.exercises));
        self.results.sort_by_key(|it| {
            (
                students.get(&it.student).copied(),
                exercises.get(&it.exercise).copied(),
            )
        });
    }

    /// How many answers of each outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        let those = self.results.iter().filter(|it| it.outcome == outcome);
        those.count()
    }

    /// The names of the course's exercises, in order.
    pub fn exercises() -> Vec<String> {
        EXERCISES.iter().map(|it| it.name.to_owned()).collect()
    }
}

fn shard(shard: Option<Shard>) -> String {
    shard.map_or("1/1".to_owned(), |shard| shard.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two students' answers to two exercises, those of a part.
    fn part(index: u32, of: u32) -> Class {
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let (students, exercises) = (names(["ann", "bob"]), names(["01-b", "02-a"]));
        let all = students.iter().flat_map(|student| {
            exercises.iter().map(move |exercise| Result {
                student: student.clone(),
                exercise: exercise.clone(),
                outcome: Outcome::Passed,
                step: None,
                size: Vec::new(),
                message: String::new(),
                targets: Vec::new(),
                time: None,
            })
        });
        let shard = Shard { index, of };
        let results = all.enumerate().filter(|(number, _)| shard.has(*number));
        Class {
            seed: 3,
            shard: (of > 1).then_some(shard),
            results: results.map(|(_, result)| result).collect(),
            students,
            exercises,
        }
    }

    #[test]
    fn parts_make_the_whole_in_any_order() {
        let whole = part(1, 1);
        for of in [2, 3, 4, 7] {
            let mut parts: Vec<Class> = (1..=of).map(|index| part(index, of)).collect();
            parts.reverse();
            assert_eq!(Class::merged(parts, Lang::En).unwrap(), whole, "{of} parts");
        }
        assert_eq!(Class::merged(vec![part(1, 1)], Lang::En).unwrap(), whole);
    }

    #[test]
    fn what_is_no_whole_is_refused() {
        let error = |parts| Class::merged(parts, Lang::En).unwrap_err().to_string();
        assert!(error(vec![]).contains("no record"));
        assert!(error(vec![part(1, 2)]).contains("1 of 2 parts"));
        assert!(error(vec![part(1, 2), part(1, 2)]).contains("part 1/2 is there twice"));
        assert!(error(vec![part(1, 2), part(2, 3)]).contains("no parts of one whole"));
        let mut other = part(2, 2);
        other.seed = 4;
        assert!(error(vec![part(1, 2), other]).contains("seed"));
        let mut short = part(2, 2);
        short.results.pop();
        assert!(error(vec![part(1, 2), short]).contains("incomplete"));
    }
}
