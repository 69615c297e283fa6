//! What `exercise.toml` may say. What it does not know is an error, so that a slip in a name is seen.

mod sizes;
mod target;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

pub use sizes::{Between, Random, Sizes};
pub use target::{Counters, Target};

use crate::lang::Lang;

/// An exercise, but for its texts and its code.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The chapter that it goes with, by the name of its crate.
    pub chapter: String,
    /// What sort of exercise it is.
    pub kind: Kind,
    /// The step at which the file that a student gets is rejected.
    pub rejected_at: Step,
    /// Its name for people.
    pub title: Text,
    /// Exercises that come before it, by name or number: what they teach is needed here.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What the solution does, and what else would have done, for who has passed.
    pub after: Option<Text>,
    /// At what sizes it is run.
    pub sizes: Sizes,
    /// How far a float may be from its reference.
    pub tolerance: Tolerance,
    /// What its counters have to come to, at the graded size.
    #[serde(default, rename = "target")]
    pub targets: Vec<Target>,
    /// Variables that have to be in constant memory.
    #[serde(default)]
    pub constants: Vec<String>,
    /// How long it may take by the simulator's model.
    #[serde(default)]
    pub modelled: Modelled,
    /// How long it may take on a GPU, where that is asked.
    pub time: Option<Time>,
    /// What to say to who asks for help, one after the other.
    #[serde(rename = "hint")]
    pub hints: Vec<Text>,
}

/// Sorts of exercises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Complete the kernel.
    Complete,
    /// Find the bug.
    Bug,
    /// Make its accesses coalesced.
    Coalesce,
    /// Remove its bank conflicts.
    Banks,
    /// Make its accesses of constant memory uniform.
    Constant,
    /// Choose the memory for given data.
    Choose,
    /// Time it with events.
    Events,
    /// Predict a counter.
    Predict,
    /// Reach a share of the limit.
    Limit,
}

/// The steps of grading, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// It compiles.
    Compile,
    /// It runs through, and writes everything.
    Launch,
    /// Its results are right.
    Right,
    /// No check finds a mistake.
    Checks,
    /// Its counters reach their targets.
    Counters,
    /// It is as fast as was asked.
    Time,
}

impl Step {
    /// Its name, as in records.
    pub fn name(self) -> &'static str {
        match self {
            Step::Compile => "compile",
            Step::Launch => "launch",
            Step::Right => "right",
            Step::Checks => "checks",
            Step::Counters => "counters",
            Step::Time => "time",
        }
    }
}

/// A text in both languages.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// In English.
    pub en: String,
    /// In Chinese.
    pub zh: String,
}

impl Text {
    /// The text in a language.
    pub fn of(&self, lang: Lang) -> &str {
        lang.pick(&self.en, &self.zh)
    }
}

/// How far a float may be from its reference. Whole numbers have to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// So many representable numbers.
    pub ulps: Option<u32>,
    /// Such a share of the greater of both.
    pub relative: Option<f32>,
    /// With `relative`: where it is nearer than this, it is right in any case.
    pub absolute: Option<f32>,
}

/// How long it may take on a GPU, beside the solution in the same run: never so many milliseconds,
/// which are another number on every GPU.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The size at which it is timed, large enough to keep a GPU busy.
    pub size: Vec<u32>,
    /// No more than so many times what the solution takes.
    pub at_most: f64,
}

/// How long a kernel may take by the simulator's model, at the graded size, beside the solution in the
/// same run. The start file's time, where it is right and more than twice the solution's, is never exceeded
/// either.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modelled {
    /// No more than so many times what the solution takes.
    pub at_most: f64,
}

impl Default for Modelled {
    fn default() -> Self {
        Modelled { at_most: 2.0 }
    }
}

impl Data {
    /// Reads `exercise.toml`.
    ///
    /// # Errors
    ///
    /// Where it is no such file, or contradicts itself.
    pub fn read(text: &str) -> Result<Data> {
        let data: Data = toml::from_str(text)?;
        data.validate()?;
        Ok(data)
    }

    fn validate(&self) -> Result<()> {
        let timed = self.time.as_ref().map(|time| &time.size);
        self.sizes.validate(timed)?;
        ensure!(
            self.targets.is_empty() || self.sizes.graded.is_some(),
            "targets are taken at the size `graded`, which is missing"
        );
        ensure!(
            (2..=4).contains(&self.hints.len()),
            "two to four hints, not {}",
            self.hints.len()
        );
        if let Some(time) = &self.time {
            ensure!(
                time.at_most > 1.0 && time.at_most.is_finite(),
                "[time] at_most is above 1: the solution itself never takes the same time twice"
            );
            ensure!(
                self.rejected_at == Step::Counters,
                "[time] the start file is timed as well, so it has to be right: rejected at counters"
            );
        }
        ensure!(
            self.modelled.at_most >= 1.0 && self.modelled.at_most.is_finite(),
            "[modelled] at_most is 1 or more: the solution itself takes as long as the solution"
        );
        self.tolerance.validate()?;
        self.targets.iter().try_for_each(Target::validate)
    }
}

impl Tolerance {
    fn validate(self) -> Result<()> {
        ensure!(
            self.ulps.is_some() != self.relative.is_some(),
            "[tolerance] takes `ulps` or `relative`, one of them"
        );
        ensure!(
            self.absolute.is_none() || self.relative.is_some(),
            "[tolerance] `absolute` goes with `relative`"
        );
        let numbers = self.relative.into_iter().chain(self.absolute);
        ensure!(
            numbers.into_iter().all(|it| it >= 0.0 && it.is_finite()),
            "[tolerance] is negative or no number"
        );
        Ok(())
    }
}

/// Reads the data of an exercise of the course, where the answer is a kernel or is none.
///
/// # Errors
///
/// As [`Data::read`], with the file's name, and where something is missing that every such exercise has.
pub fn of(name: &str, text: &str, is_kernel: bool) -> Result<Data> {
    let read = || {
        let data = Data::read(text)?;
        // Who predicts launches nothing that could be counted or timed.
        let is_timed = is_kernel && data.kind != Kind::Predict;
        ensure!(
            data.sizes.graded.is_some() || !is_timed,
            "[sizes] `graded` is missing: every kernel's modelled time is compared with the solution's there"
        );
        Ok(data)
    };
    read().with_context(|| format!("kernels/exercises/{name}/exercise.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
chapter = "vector-add"
kind = "complete"
rejected_at = "right"
title = { en = "One", zh = "一" }
hint = [{ en = "a", zh = "甲" }, { en = "b", zh = "乙" }]
[sizes]
tests = [[1], [31]]
random = { from = [2], to = [9], count = 3 }
graded = [100]
[tolerance]
ulps = 0
[[target]]
counter = "idc__requests.sum"
at_most = 3
say = { en = "c", zh = "丙" }
"#;

    fn error(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        let read = Data::read(&GOOD.replace(from, to));
        format!("{:#}", read.expect_err(to))
    }

    fn timed(rejected_at: &str, size: &str, at_most: &str) -> String {
        format!("\"{rejected_at}\"\ntime = {{ size = {size}, at_most = {at_most} }}")
    }

    #[test]
    fn a_time_is_asked_where_it_says_so() {
        assert!(Data::read(GOOD).unwrap().time.is_none());
        let text = GOOD.replace("\"right\"", &timed("counters", "[1000]", "1.5"));
        let time = Data::read(&text).unwrap().time.unwrap();
        assert_eq!((time.size, time.at_most), (vec![1000], 1.5));
    }

    #[test]
    fn what_is_complete_is_read() {
        let data = Data::read(GOOD).unwrap();
        assert_eq!((data.rejected_at, data.targets.len()), (Step::Right, 1));
        assert_eq!(data.title.of(Lang::Zh), "一");
    }

    #[test]
    fn slips_are_errors_that_name_them() {
        for (from, to, named) in [
            ("ulps", "ulp", "ulp"),
            ("\"right\"", "\"wrong\"", "wrong"),
            ("kind = \"complete\"", "kind = \"hard\"", "hard"),
            ("zh = \"一\"", "cn = \"一\"", "cn"),
            (
                "idc__requests.sum",
                "idc__request.sum",
                "idc__request.sum is no counter",
            ),
            ("at_most = 3", "", "or equals alone"),
            ("at_most = 3", "at_most = 3\nequals = 3", "or equals alone"),
            ("at_most = 3", "at_least = 3\nequals = 3", "or equals alone"),
            ("at_most = 3", "at_most = 3\nat_least = 4", "above at_most"),
            (
                "\"idc__requests.sum\"",
                "[\"idc__requests.sum\", \"none\"]",
                "none is no counter",
            ),
            (
                "\"idc__requests.sum\"",
                "[\"idc__requests.sum\", \"idc__requests.sum\"]",
                "named twice",
            ),
            ("\"idc__requests.sum\"", "[]", "names none"),
            (
                "graded = [100]",
                "graded = [100]\nbeyond = { from = [100], to = [200] }",
                "greater than `graded`",
            ),
            (
                "graded = [100]",
                "graded = [100]\nbeyond = { from = [300], to = [200] }",
                "less than",
            ),
            (
                "[tolerance]",
                "[modelled]\nat_most = 0.5\n[tolerance]",
                "1 or more",
            ),
            (
                "[tolerance]",
                "[modelled]\nat_most = inf\n[tolerance]",
                "1 or more",
            ),
            ("at_most = 3", "share_of_limit = 0.5", "one of them"),
            ("[[1], [31]]", "[]", "no tests"),
            ("[[1], [31]]", "[[1, 1]]", "1 numbers"),
            (
                "\"right\"",
                "\"counters\"\ntime = { size = [9] }",
                "at_most",
            ),
            (
                "\"right\"",
                &timed("counters", "[9, 9]", "1.5"),
                "1 numbers",
            ),
            ("\"right\"", &timed("counters", "[9]", "1.0"), "above 1"),
            ("\"right\"", &timed("counters", "[9]", "nan"), "above 1"),
            ("\"right\"", &timed("counters", "[9]", "inf"), "above 1"),
            (
                "\"right\"",
                &timed("checks", "[9]", "1.5"),
                "has to be right",
            ),
            ("[[1], [31]]", "[[0]]", "above 0"),
            ("from = [2]", "from = [20]", "less than"),
            ("from = [2]", "from = [2, 2]", "the same number of numbers"),
            ("graded = [100]", "", "graded"),
            ("ulps = 0", "ulps = 0\nrelative = 0.1", "one of them"),
            ("ulps = 0", "ulps = 0\nabsolute = 0.1", "goes with"),
            ("ulps = 0", "relative = -0.1", "negative"),
            (", { en = \"b\", zh = \"乙\" }", "", "two to four"),
        ] {
            let said = error(from, to);
            assert!(said.contains(named), "{to}: {said}");
        }
    }

    #[test]
    fn several_counters_are_one_target() {
        let one = "\"idc__requests.sum\"\nat_most = 3";
        let sum = "[\"idc__requests.sum\", \"smsp__inst_executed.sum\"]\nat_most = 3\nat_least = 1";
        let data = Data::read(&GOOD.replace(one, sum)).unwrap();
        let counters = data.targets[0].counter.as_ref().unwrap();
        assert_eq!(counters.names().len(), 2);
        let bounds = (data.targets[0].at_least, data.targets[0].at_most);
        assert_eq!(bounds, (Some(1), Some(3)));
    }

    #[test]
    fn twice_the_solutions_modelled_time_is_the_most_where_nothing_is_said() {
        assert_eq!(Data::read(GOOD).unwrap().modelled.at_most, 2.0);
        let text = GOOD.replace("[tolerance]", "[modelled]\nat_most = 1.2\n[tolerance]");
        assert_eq!(Data::read(&text).unwrap().modelled.at_most, 1.2);
    }

    #[test]
    fn every_kernel_is_timed_but_those_of_predictions() {
        let target = GOOD.find("[[target]]").unwrap();
        let ungraded = GOOD[..target].replace("graded = [100]", "");
        assert!(of("one", &ungraded, false).is_ok());
        let missing = format!("{:#}", of("one", &ungraded, true).unwrap_err());
        assert!(
            missing.contains("one/exercise.toml: [sizes] `graded`"),
            "{missing}"
        );
        let predicts = ungraded.replace("\"complete\"", "\"predict\"");
        assert!(of("one", &predicts, true).is_ok());
    }

    #[test]
    fn a_share_stands_alone() {
        let share = GOOD.replace("counter = \"idc__requests.sum\"", "share_of_limit = 0.5");
        assert!(Data::read(&share).is_err());
        assert!(Data::read(&share.replace("at_most = 3", "")).is_ok());
        let more = share.replace("at_most = 3", "").replace("0.5", "1.5");
        assert!(Data::read(&more).is_err());
    }
}
