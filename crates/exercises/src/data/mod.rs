//! The format of `exercise.toml`. Unknown fields are errors, so that misspelt names are noticed.

mod sizes;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, anyhow, ensure};
use chapter::lang::Text;
use launch_plan::Element;
use launch_plan::plan::{self, Number, Plan};
use serde::{Deserialize, Serialize};
use toml::Spanned;

pub use sizes::{Random, SizeRange, Sizes, element_count};

/// The data of an exercise, without its texts and code.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The crate of the chapter that the exercise belongs to; empty if there is none.
    #[serde(default)]
    pub chapter: String,
    /// The kind of exercise.
    pub kind: Kind,
    /// The step at which the start file is rejected.
    pub rejected_at: Step,
    /// The host side in Rust, by name, if data does not describe the launches.
    pub host: Option<String>,
    /// The title shown to students.
    pub title: Text,
    /// The exercises to do first, by name or number.
    #[serde(default)]
    pub needs: Vec<String>,
    /// An explanation of the solution and of alternatives, shown after a pass.
    pub after: Option<Text>,
    /// The sizes at which submissions run.
    pub sizes: Sizes,
    /// The permitted deviation of floats from the reference.
    pub tolerance: Tolerance,
    /// The targets of the counters at the graded size.
    #[serde(default, rename = "target")]
    pub targets: Vec<Target>,
    /// The minimum architecture, 80 for sm_80, if the exercise uses features that older GPUs lack.
    pub architecture: Option<u32>,
    /// The variables that must be in constant memory.
    #[serde(default)]
    pub constants: Vec<String>,
    /// The input whose tiles, one behind the other for each block, must be copied asynchronously before the tile before is
    /// used. The first number of a size is the number of tiles of each block.
    pub copied_ahead: Option<String>,
    /// The limit of the modelled time.
    #[serde(default)]
    pub modelled: Modelled,
    /// The limit of the time on a GPU, if the exercise has one.
    pub time: Option<Time>,
    /// The hints, shown one at a time.
    #[serde(rename = "hint")]
    pub hints: Vec<Text>,
    /// Named numbers for use in expressions. For this and the next two fields see
    /// `docs/records/launch-plan.md`.
    #[serde(default)]
    pub numbers: BTreeMap<String, Spanned<plan::Number>>,
    /// Buffers and variables.
    #[serde(default)]
    pub buffer: Vec<plan::Buffer>,
    /// The launches of the submission's kernels.
    #[serde(default)]
    pub launch: Vec<plan::Launch>,
    /// The buffers whose contents are compared with the reference.
    #[serde(default, rename = "output")]
    pub outputs: Vec<Output>,
    /// The variables that a submission may declare but need not.
    #[serde(default)]
    pub optional: Vec<String>,
}

/// The kind of an exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Complete the kernel.
    Complete,
    /// Find the bug.
    Bug,
    /// Make the memory accesses coalesced.
    Coalesce,
    /// Remove the bank conflicts.
    Banks,
    /// Make the accesses to constant memory uniform.
    Constant,
    /// Choose the memory space for given data.
    Choose,
    /// Time a kernel with events.
    Events,
    /// Predict a counter.
    Predict,
    /// Reach a share of the memory bandwidth limit.
    Limit,
}

/// The steps of grading, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// The submission compiles.
    Compile,
    /// The submission runs to completion and writes every element.
    Launch,
    /// The results are correct.
    Right,
    /// The checks report no finding.
    Checks,
    /// The counters reach their targets.
    Counters,
    /// The submission is fast enough.
    Time,
}

impl Step {
    /// All steps, in order.
    pub const ALL: [Step; 6] = [
        Step::Compile,
        Step::Launch,
        Step::Right,
        Step::Checks,
        Step::Counters,
        Step::Time,
    ];

    /// Returns the step's name in records.
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

/// The permitted deviation of a float from its reference. Integers must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// The maximum distance in units in the last place.
    pub ulps: Option<u32>,
    /// The maximum difference relative to the larger magnitude.
    pub relative: Option<f32>,
    /// With `relative`, the absolute difference that is always permitted.
    pub absolute: Option<f32>,
}

/// The limit of the time on a GPU, relative to the solution in the same run. It is never given in
/// milliseconds, which differ between GPUs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The size at which submissions are timed, large enough to occupy a GPU fully.
    pub size: Vec<u32>,
    /// The maximum ratio to the solution's time.
    pub at_most: f64,
}

/// The limit of the modelled time at the graded size, relative to the solution in the same run. The start
/// file's time is a second limit if its results are correct and it takes more than twice as long as the
/// solution.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modelled {
    /// The maximum ratio to the solution's modelled time.
    pub at_most: f64,
}

impl Default for Modelled {
    fn default() -> Self {
        Modelled { at_most: 2.0 }
    }
}

impl Data {
    /// Parses `exercise.toml`.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a valid `exercise.toml` or contradicts itself.
    pub fn parse(text: &str) -> Result<Data> {
        let data: Data = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let file = plan::Text {
                text,
                lines_before: 0,
            };
            anyhow!("line {}: {}", file.line(at), error.message())
        })?;
        data.validate()?;
        Ok(data)
    }

    /// Returns the launch plan that the data contains.
    pub fn plan(&self) -> Plan {
        Plan {
            numbers: self.numbers.clone(),
            buffer: self.buffer.clone(),
            launch: self.launch.clone(),
        }
    }

    /// Returns true if the data describes buffers and launches, so that no host side in Rust is needed.
    pub fn is_declarative(&self) -> bool {
        !self.outputs.is_empty() || !self.launch.is_empty() || !self.buffer.is_empty()
    }

    fn validate(&self) -> Result<()> {
        let timed = self.time.as_ref().map(|time| &time.size);
        self.sizes.validate(timed)?;
        ensure!(
            self.targets.is_empty() || self.sizes.graded.is_some(),
            "targets are measured at the size `graded`, which is missing"
        );
        ensure!(
            (2..=4).contains(&self.hints.len()),
            "two to four hints, not {}",
            self.hints.len()
        );
        if let Some(time) = &self.time {
            ensure!(
                time.at_most > 1.0 && time.at_most.is_finite(),
                "[time] at_most must be above 1: even the solution's time varies between runs"
            );
            ensure!(
                self.rejected_at == Step::Counters,
                "[time] the start file is timed too, so its results must be correct: rejected_at \
                 must be counters"
            );
        }
        ensure!(
            self.modelled.at_most >= 1.0 && self.modelled.at_most.is_finite(),
            "[modelled] at_most must be 1 or more: the solution takes exactly its own time"
        );
        self.tolerance.validate()?;
        kernel_build::Arch::from_sm(self.architecture).map_err(|_| {
            anyhow!("architecture must be a number such as 80, for sm_80, or newer")
        })?;
        if self.is_declarative() {
            self.validate_outputs()?;
        }
        if let Some(name) = &self.copied_ahead {
            ensure!(
                self.buffer
                    .iter()
                    .any(|buffer| buffer.name.get_ref() == name),
                "copied_ahead: there is no [[buffer]] named {name}"
            );
        }
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
            numbers
                .into_iter()
                .all(|number| number >= 0.0 && number.is_finite()),
            "[tolerance] must not be negative or NaN"
        );
        Ok(())
    }
}

/// Parses the `exercise.toml` named `file`, for an exercise whose submission is a kernel (`is_kernel`) or a
/// host side.
///
/// # Errors
///
/// Fails as [`Data::parse`] does, and if the size `graded` is missing for a kernel that is timed. The error
/// names the file.
pub fn parse(file: &str, text: &str, is_kernel: bool) -> Result<Data> {
    let parse = || {
        let data = Data::parse(text)?;
        // Prediction exercises launch nothing that could be counted or timed.
        let is_timed = is_kernel && data.kind != Kind::Predict;
        ensure!(
            data.sizes.graded.is_some() || !is_timed,
            "[sizes] `graded` is missing: every kernel's modelled time is compared with the solution's there"
        );
        Ok(data)
    };
    parse().with_context(|| file.to_owned())
}

/// A buffer whose contents are compared with the expected results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The buffer's name.
    pub buffer: String,
    /// The lengths of its dimensions, outermost first (rows, then columns); by default one dimension of
    /// `count` elements.
    #[serde(default)]
    pub shape: Vec<Number>,
    /// The label of each element, if the student predicts it. Expected values are not shown then.
    #[serde(default)]
    pub predicts: Vec<String>,
}

impl Data {
    fn validate_outputs(&self) -> Result<()> {
        ensure!(
            !self.outputs.is_empty(),
            "there is no [[output]]: name the buffer with the results, for example [[output]] \
             buffer = \"out\""
        );
        ensure!(
            !self.launch.is_empty() || self.kind == Kind::Predict,
            "there is no [[launch]]: it names the kernel and its arguments"
        );
        for (index, output) in self.outputs.iter().enumerate() {
            let name = &output.buffer;
            let buffer = self
                .buffer
                .iter()
                .find(|buffer| buffer.name.get_ref() == name);
            let Some(buffer) = buffer else {
                anyhow::bail!("[[output]] {name}: there is no [[buffer]] of this name");
            };
            let of = Element::named(buffer.element.get_ref());
            ensure!(
                matches!(of, Ok(Element::F32 | Element::I32 | Element::U32) | Err(_)),
                "[[output]] {name}: an output must be float, int or unsigned int"
            );
            ensure!(
                !self.outputs[..index]
                    .iter()
                    .any(|other| other.buffer == *name),
                "[[output]] {name} is listed twice"
            );
        }
        for name in &self.optional {
            let mut variables = self.buffer.iter().filter(|buffer| buffer.symbol);
            ensure!(
                variables.any(|buffer| buffer.name.get_ref() == name),
                "optional: there is no [[buffer]] {name} with symbol = true"
            );
        }
        let expected = self.buffer.iter().filter(|buffer| buffer.expect.is_some());
        for buffer in expected {
            let name = buffer.name.get_ref();
            ensure!(
                self.outputs.iter().any(|output| output.buffer == *name),
                "[[buffer]] {name} has `expect` but no [[output]]"
            );
        }
        let unsupported = self
            .buffer
            .iter()
            .find(|buffer| buffer.print.is_some() || buffer.tolerance.is_some());
        ensure!(
            unsupported.is_none(),
            "[[buffer]]: `print` and `tolerance` belong to cuda-run; here [tolerance] applies to \
             all floats"
        );
        Ok(())
    }
}

/// A bound on a counter or on a sum of counters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The counters, by Nsight Compute's names.
    pub counter: Option<Counters>,
    /// Instead of a counter, the minimum share of the bandwidth limit: the time of a copy of the required
    /// bytes divided by the kernels' time.
    pub share_of_limit: Option<f64>,
    /// The kernel whose launches are counted; `None` for all launches.
    pub kernel: Option<String>,
    /// The inclusive maximum.
    pub at_most: Option<u64>,
    /// The inclusive minimum.
    pub at_least: Option<u64>,
    /// The exact value.
    pub equals: Option<u64>,
    /// True if the counter depends on more than the size, so that it is not compared at small sizes and at those of other
    /// proportions.
    #[serde(default)]
    pub only_near_graded: bool,
    /// The derivation of the bound, shown if it is missed.
    pub say: Text,
}

/// One counter or a sum of several. An atomic operation reads and writes like a load and a store but has its
/// own counter, which a sum can include.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Counters {
    /// A single counter.
    One(String),
    /// The sum of several counters.
    Sum(Vec<String>),
}

impl Counters {
    /// Returns the counters' names.
    pub fn names(&self) -> &[String] {
        match self {
            Counters::One(name) => std::slice::from_ref(name),
            Counters::Sum(names) => names,
        }
    }
}

impl Target {
    fn validate(&self) -> Result<()> {
        let bounds = (self.at_most, self.at_least, self.equals);
        match (&self.counter, self.share_of_limit) {
            (Some(counters), None) => {
                let names = counters.names();
                ensure!(!names.is_empty(), "[[target]] counter is empty");
                for (index, name) in names.iter().enumerate() {
                    let metrics = cuda_driver::counters::METRICS;
                    ensure!(
                        metrics.iter().any(|metric| metric.name == name),
                        "[[target]] {name} is not a counter"
                    );
                    ensure!(
                        !names[..index].contains(name),
                        "[[target]] {name} is named twice, and would be counted twice"
                    );
                }
                let name = &names[0];
                ensure!(
                    matches!(
                        bounds,
                        (None, None, Some(_)) | (Some(_), _, None) | (_, Some(_), None)
                    ),
                    "[[target]] {name} takes at_most, at_least or both of them, or equals alone"
                );
                if let (Some(maximum), Some(minimum), _) = bounds {
                    ensure!(
                        minimum <= maximum,
                        "[[target]] {name}: at_least is above at_most"
                    );
                }
            }
            (None, Some(share)) => ensure!(
                bounds == (None, None, None)
                    && self.kernel.is_none()
                    && share > 0.0
                    && share <= 1.0,
                "[[target]] share_of_limit must be above 0 and at most 1, without other bounds"
            ),
            _ => anyhow::bail!("[[target]] takes `counter` or `share_of_limit`, one of them"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chapter::lang::Lang;

    const VALID: &str = r#"
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

    fn error_of(from: &str, to: &str) -> String {
        assert!(VALID.contains(from), "{from}");
        let result = Data::parse(&VALID.replace(from, to));
        format!("{:#}", result.expect_err(to))
    }

    #[test]
    fn the_time_limit_is_optional() {
        assert!(Data::parse(VALID).unwrap().time.is_none());
        let timed = "\"counters\"\ntime = { size = [1000], at_most = 1.5 }";
        let text = VALID.replace("\"right\"", timed);
        let time = Data::parse(&text).unwrap().time.unwrap();
        assert_eq!((time.size, time.at_most), (vec![1000], 1.5));
    }

    #[test]
    fn complete_data_is_parsed() {
        let data = Data::parse(VALID).unwrap();
        assert_eq!((data.rejected_at, data.targets.len()), (Step::Right, 1));
        assert_eq!(data.title.get(Lang::Zh), "一");
    }

    #[test]
    fn errors_name_the_invalid_part() {
        // Each line has a part of the valid data, its replacement, and a part of the error.
        let cases = r#"
ulps => ulp => ulp
"right" => "wrong" => wrong
kind = "complete" => kind = "hard" => hard
kind = "complete" => kind = "complete"\ncopied_ahead = "in" => no [[buffer]] named in
zh = "一" => cn = "一" => cn
graded = [100] => graded = [100]\nat_most = [50] => [100] is above `at_most`
graded = [100] => graded = [100]\nat_most = [500, 500] => at_most: there must be one
idc__requests.sum => idc__request.sum => idc__request.sum is not a counter
at_most = 3 =>  => or equals alone
at_most = 3 => at_most = 3\nequals = 3 => or equals alone
at_most = 3 => at_least = 3\nequals = 3 => or equals alone
at_most = 3 => at_most = 3\nat_least = 4 => above at_most
"idc__requests.sum" => ["idc__requests.sum", "none"] => none is not a counter
"idc__requests.sum" => ["idc__requests.sum", "idc__requests.sum"] => named twice
"idc__requests.sum" => [] => counter is empty
graded = [100] => graded = [100]\nbeyond = { from = [100], to = [200] } => greater than `graded`
graded = [100] => graded = [100]\nbeyond = { from = [300], to = [200] } => less than
[tolerance] => [modelled]\nat_most = 0.5\n[tolerance] => 1 or more
[tolerance] => [modelled]\nat_most = inf\n[tolerance] => 1 or more
at_most = 3 => share_of_limit = 0.5 => one of them
[[1], [31]] => [] => no tests
[[1], [31]] => [[1, 1]] => 1 numbers
"right" => "counters"\ntime = { size = [9] } => at_most
"right" => "counters"\ntime = { size = [9, 9], at_most = 1.5 } => 1 numbers
"right" => "counters"\ntime = { size = [9], at_most = 1.0 } => above 1
"right" => "counters"\ntime = { size = [9], at_most = nan } => above 1
"right" => "counters"\ntime = { size = [9], at_most = inf } => above 1
"right" => "checks"\ntime = { size = [9], at_most = 1.5 } => must be correct
[[1], [31]] => [[0]] => above 0
from = [2] => from = [20] => less than
from = [2] => from = [2, 2] => the same number of numbers
graded = [100] =>  => graded
ulps = 0 => ulps = 0\nrelative = 0.1 => one of them
ulps = 0 => ulps = 0\nabsolute = 0.1 => goes with
ulps = 0 => relative = -0.1 => negative
, { en = "b", zh = "乙" } =>  => two to four
"#;
        for case in cases.trim().lines() {
            let [from, to, part] = case.split(" => ").collect::<Vec<_>>()[..] else {
                panic!("not three parts: {case}");
            };
            let to = to.replace("\\n", "\n");
            let message = error_of(from, &to);
            assert!(message.contains(part), "{to}: {message}");
        }
    }

    #[test]
    fn several_counters_form_one_target() {
        let one = "\"idc__requests.sum\"\nat_most = 3";
        let sum = "[\"idc__requests.sum\", \"smsp__inst_executed.sum\"]\nat_most = 3\nat_least = 1";
        let data = Data::parse(&VALID.replace(one, sum)).unwrap();
        let counters = data.targets[0].counter.as_ref().unwrap();
        assert_eq!(counters.names().len(), 2);
        let bounds = (data.targets[0].at_least, data.targets[0].at_most);
        assert_eq!(bounds, (Some(1), Some(3)));
    }

    #[test]
    fn the_default_limit_is_twice_the_solutions_modelled_time() {
        assert_eq!(Data::parse(VALID).unwrap().modelled.at_most, 2.0);
        let text = VALID.replace("[tolerance]", "[modelled]\nat_most = 1.2\n[tolerance]");
        assert_eq!(Data::parse(&text).unwrap().modelled.at_most, 1.2);
    }

    #[test]
    fn every_kernel_except_predictions_needs_a_graded_size() {
        let target = VALID.find("[[target]]").unwrap();
        let ungraded = VALID[..target].replace("graded = [100]", "");
        assert!(parse("one/exercise.toml", &ungraded, false).is_ok());
        let missing = parse("one/exercise.toml", &ungraded, true).unwrap_err();
        let missing = format!("{missing:#}");
        let expected = "one/exercise.toml: [sizes] `graded`";
        assert!(missing.contains(expected), "{missing}");
        let predicts = ungraded.replace("\"complete\"", "\"predict\"");
        assert!(parse("one/exercise.toml", &predicts, true).is_ok());
    }

    #[test]
    fn a_share_excludes_other_bounds() {
        let share = VALID.replace("counter = \"idc__requests.sum\"", "share_of_limit = 0.5");
        assert!(Data::parse(&share).is_err());
        assert!(Data::parse(&share.replace("at_most = 3", "")).is_ok());
        let more = share.replace("at_most = 3", "").replace("0.5", "1.5");
        assert!(Data::parse(&more).is_err());
    }
}
