//! Cases of the driver API and a GPU's answers.
//!
//! The C programs in `programs` print one line for each case, `PROGRAM GROUP CASE: ANSWER`. `scripts/driver-answers`
//! records the lines of a GPU in `records`; the tests compile the programs again, run them on the simulator, and
//! compare. An answer that begins with `~` depends on the card or on the run and is not compared.

use std::collections::{HashMap, HashSet};
use std::fmt;

/// Marks an answer that depends on the card or on the run.
const VARYING: char = '~';

/// The answers of one or several programs, in the order of their output.
#[derive(Debug, Default)]
pub struct Answers {
    lines: Vec<(String, String)>,
}

impl Answers {
    /// Parses lines of the form `PROGRAM GROUP CASE: ANSWER`. Lines that begin with `#` are comments.
    pub fn parse(text: &str) -> Self {
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| {
                let (key, answer) = line.split_once(": ").unwrap_or((line, ""));
                (key.to_owned(), answer.to_owned())
            });
        Self {
            lines: lines.collect(),
        }
    }

    /// Returns the number of cases. The last line of a group, which reports its end, is not a case.
    pub fn cases(&self) -> usize {
        let ends = self.lines.iter().filter(|(key, _)| key.ends_with(" end"));
        self.lines.len() - ends.count()
    }

    /// Returns the answers of one program.
    pub fn of_program(&self, program: &str) -> Self {
        let of_program = |(key, _): &&(String, String)| key.split(' ').next() == Some(program);
        Self {
            lines: self.lines.iter().filter(of_program).cloned().collect(),
        }
    }

    /// Returns the keys that occur more than once.
    pub fn duplicates(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let keys = self.lines.iter().map(|(key, _)| key.as_str());
        keys.filter(|key| !seen.insert(*key)).collect()
    }

    /// Returns the differences between the simulator's answers and those of a GPU, in the order of the GPU's
    /// answers, then the simulator's further ones.
    pub fn differences(&self, gpu: &Self) -> Vec<Difference> {
        let by_key =
            |answers: &Self| -> HashMap<String, String> { answers.lines.iter().cloned().collect() };
        let (simulated, recorded) = (by_key(self), by_key(gpu));
        let in_record = gpu.lines.iter().map(|(key, answer)| Difference {
            key: key.clone(),
            simulator: simulated.get(key).cloned(),
            gpu: Some(answer.clone()),
        });
        let further = self
            .lines
            .iter()
            .filter(|(key, _)| !recorded.contains_key(key));
        let further = further.map(|(key, answer)| Difference {
            key: key.clone(),
            simulator: Some(answer.clone()),
            gpu: None,
        });
        in_record
            .chain(further)
            .filter(|difference| !difference.is_equal())
            .collect()
    }
}

/// A case whose answer differs between the simulator and a GPU.
#[derive(Debug)]
pub struct Difference {
    key: String,
    /// The simulator's answer, or `None` if its program did not print the case.
    simulator: Option<String>,
    /// The GPU's answer, or `None` if the record lacks the case.
    gpu: Option<String>,
}

impl Difference {
    /// Returns true if the answers are equal, or both depend on the card or on the run.
    fn is_equal(&self) -> bool {
        match (&self.simulator, &self.gpu) {
            (Some(simulator), Some(gpu)) => {
                simulator == gpu || (simulator.starts_with(VARYING) && gpu.starts_with(VARYING))
            }
            _ => false,
        }
    }
}

/// Differences that are known: `PROGRAM: REASON`, `PROGRAM GROUP: REASON` or `PROGRAM GROUP CASE: REASON`. All
/// answers of that program, group or case may differ.
#[derive(Debug, Default)]
pub struct KnownDifferences {
    names: Vec<String>,
}

impl KnownDifferences {
    /// Parses one known difference per line. Lines that begin with `#` are comments.
    pub fn parse(text: &str) -> Self {
        let lines = Answers::parse(text).lines;
        Self {
            names: lines.into_iter().map(|(name, _)| name).collect(),
        }
    }

    /// Returns the differences that are not known, and the known ones that do not occur any more.
    pub fn check<'a>(&self, found: &'a [Difference]) -> (Vec<&'a Difference>, Vec<&str>) {
        let covers = |name: &str, difference: &Difference| {
            let rest = difference.key.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let is_unknown = |found: &&Difference| !self.names.iter().any(|name| covers(name, found));
        let unknown = found.iter().filter(is_unknown).collect();
        let is_stale = |name: &&str| !found.iter().any(|difference| covers(name, difference));
        let names = self.names.iter().map(String::as_str);
        (unknown, names.filter(is_stale).collect())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |answer: &Option<String>| answer.as_deref().unwrap_or("missing").to_owned();
        let (simulator, gpu) = (text(&self.simulator), text(&self.gpu));
        write!(f, "{}: simulator {simulator}, GPU {gpu}", self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, KnownDifferences};

    fn report(simulated: &str, recorded: &str) -> Vec<String> {
        let differences = Answers::parse(simulated).differences(&Answers::parse(recorded));
        differences.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn equal_and_varying_answers_are_not_reported() {
        let simulated = "events recording query: CUDA_SUCCESS\nlimits limits stack: ~1024\n";
        let recorded =
            "# NVIDIA H200\nlimits limits stack: ~2048\nevents recording query: CUDA_SUCCESS\n";
        assert!(report(simulated, recorded).is_empty());
    }

    #[test]
    fn different_missing_and_further_answers_are_reported() {
        let simulated = "a b one: 1\na b three: 3\na b four: ~4\n";
        let recorded = "a b one: 2: and more\na b two: 2\na b four: 4\n";
        let expected = [
            "a b one: simulator 1, GPU 2: and more",
            "a b two: simulator missing, GPU 2",
            "a b four: simulator ~4, GPU 4",
            "a b three: simulator 3, GPU missing",
        ];
        assert_eq!(report(simulated, recorded), expected);
    }

    #[test]
    fn known_differences_are_accepted_and_stale_ones_reported() {
        let simulated = Answers::parse("a b one: 1\na b two: 1\na bc one: 1\nd e one: 1\n");
        let recorded = Answers::parse("a b one: 2\na b two: 2\na bc one: 2\nd e one: 1\n");
        let differences = simulated.differences(&recorded);
        let known = KnownDifferences::parse("# Reasons\na b: not simulated\nd e one: mended\n");
        let (unknown, stale) = known.check(&differences);
        let unknown: Vec<String> = unknown.iter().map(ToString::to_string).collect();
        assert_eq!(unknown, ["a bc one: simulator 1, GPU 2"]);
        assert_eq!(stale, ["d e one"]);
    }

    #[test]
    fn group_ends_are_not_cases() {
        let answers = Answers::parse("a b one: 1\na b end: complete\na c one: 1\n");
        assert_eq!(answers.cases(), 2);
        assert_eq!(answers.of_program("a").cases(), 2);
        assert!(answers.duplicates().is_empty());
    }
}
