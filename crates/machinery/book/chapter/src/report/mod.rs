//! The results of a chapter's run, with the same figures in a table for readers and in a JSON record for
//! programs: the entries, which are the table's rows, and the output of `--profile`, `--check`, `--plot` and `--json`.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::io::{self, Write as _};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail};
use common::error::{describe, note};
use common::gpu::{Clock, GpuInfo};
use common::timing::{Measured, Timing};
use common::verify::Verdict;
use cuda_driver::{Checks, Finding, LaunchRecord};
use serde::{Serialize, Serializer};

use crate::flags::{CommonFlags, Detail};
use crate::lang::Lang;
use crate::number::milliseconds;
use crate::plot::{Figure, Variant};
use crate::profile::{self, ProfiledLaunch};
use crate::text::{or_dash, table};
use crate::{check, interrupt, rerun};

/// The version of the record's schema. It changes when a field is removed or changes its meaning, but not
/// when a field is added.
const SCHEMA: u32 = 1;

/// The results of one run of a chapter. As JSON:
///
/// ```json
/// {
///   "schema": 1,
///   "chapter": "raytrace-const",
///   "gpu": {
///     "name": "NVIDIA H200",         // measured on, or modelled
///     "compute_capability": "9.0",
///     "driver": "13.0",              // newest CUDA version the driver supports
///     "time": "measured"             // or "modelled": never a measurement
///   },
///   "inputs": { … },                 // the chapter's own flags
///   "baseline": "global",            // what "speedup" is relative to
///   "results": [
///     {
///       "variant": "constant",
///       …                            // the chapter's own figures, `Details`
///       "median_ms": 0.0241, "min_ms": 0.0240, "max_ms": 0.0243,   // of one launch
///       "samples": 20, "launches_per_sample": 250,
///       "speedup": 0.84,             // null where the baseline was not run, or one is wrong
///       "limit": { "name": "copy on the device", "median_ms": 0.0192, "share": 0.797 },
///                                    // what it was measured against, where it was
///       "verified": true,            // equals the CPU reference
///       "differing": 0,              // elements that do not
///       "counters": { … },           // by Nsight Compute's names; null on a GPU and for copies
///       "model": { … },              // where the modelled time comes from; null likewise
///       "lines": [ … ]               // counters of each source line, with --profile=lines
///     }
///   ],
///   "check": {                       // what checks found, with --check on the simulator
///     "checks": ["mem", "race"], "findings": [ … ]
///   },
///   "limits": [                      // what the hardware allows, where it was measured
///     { "name": "copy on the device", "results_before": 0, "median_ms": 0.0192, … }
///   ]                              // without times if it could not be measured
/// }
/// ```
///
/// `docs/records` has the schemas, this part and each chapter's own.
#[derive(Serialize)]
pub struct Report {
    schema: u32,
    chapter: &'static str,
    gpu: GpuInfo,
    inputs: Box<dyn erased_serde::Serialize>,
    baseline: &'static str,
    results: Vec<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<CheckResults>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<LimitRow>,
    #[serde(flatten)]
    extra: Option<Box<dyn Extra>>,
    /// The limit of the results that follow.
    #[serde(skip)]
    limit: Option<Limit>,
    /// The idea of each selected rung, printed under the table.
    #[serde(skip)]
    ideas: String,
    #[serde(skip)]
    flags: CommonFlags,
}

/// A chapter's additional output: fields at the end of its record, and tables printed before the table of
/// results.
pub trait Extra: erased_serde::Serialize {
    /// Returns the tables, as formatted by [`crate::text::table`].
    fn tables(&self, _: Lang) -> Vec<String> {
        Vec::new()
    }
}

erased_serde::serialize_trait_object!(Extra);

/// The findings of the checks, taken when they are first read.
#[derive(Debug)]
struct CheckResults {
    checks: Checks,
    findings: OnceLock<Vec<Finding>>,
}

impl CheckResults {
    fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(check::take_findings)
    }
}

impl Serialize for CheckResults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        check::Record::new(self.checks, self.findings()).serialize(serializer)
    }
}

/// A limit as a row of the table.
#[derive(Clone, Debug, Serialize)]
struct LimitRow {
    name: &'static str,
    /// Number of results before it: it is the limit of the results that follow.
    results_before: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    #[serde(flatten)]
    timing: Option<Timing>,
}

impl Report {
    /// Creates a report without results and turns on the counters and checks that `flags` ask for, so it must
    /// be created before the launches it reports. Speedups are relative to the variant named `baseline`.
    pub fn new(
        chapter: &'static str,
        gpu: &GpuInfo,
        flags: &CommonFlags,
        inputs: impl Serialize + 'static,
        baseline: &'static str,
    ) -> Self {
        cuda_driver::profile(flags.needs_counters());
        check::enable(flags.report.check, flags.lang());
        Report {
            schema: SCHEMA,
            chapter,
            gpu: gpu.clone(),
            inputs: Box::new(inputs),
            baseline,
            results: Vec::new(),
            check: flags
                .report
                .check
                .filter(|_| gpu.time == Clock::Modelled)
                .map(|checks| CheckResults {
                    checks,
                    findings: OnceLock::new(),
                }),
            limits: Vec::new(),
            extra: None,
            limit: None,
            ideas: String::new(),
            flags: flags.clone(),
        }
    }

    /// Adds a result. It is compared with the closest baseline before it, so that a report may contain
    /// several groups, each with its baseline first.
    pub fn add(&mut self, entry: Entry) {
        let verified = entry.is_correct();
        let limit = match entry.limit_source {
            LimitSource::Report => self.limit.clone(),
            LimitSource::Explicit(limit) => limit.inspect(|limit| self.add_limit_row(limit)),
        };
        let mut outcome = Outcome {
            bound: limit.and_then(|limit| limit.bound(&entry.measured.timing)),
            variant: entry.variant,
            details: entry.details,
            timing: entry.measured.timing,
            speedup: None,
            verified,
            differing: entry.verdict.differing,
            wrong: entry.verdict.wrong,
            launch: Launch {
                record: entry.measured.launch,
                detail: self.flags.report.profile,
            },
        };
        if entry.compared {
            outcome.speedup = self.speedup(&outcome);
        }
        self.results.push(outcome);
    }

    /// Adds a hardware limit. It gets a row in the table, and the results that follow it are related to it
    /// until another limit is added.
    pub fn limit(&mut self, limit: Limit) {
        self.add_limit_row(&limit);
        self.limit = Some(limit);
    }

    /// Sets the chapter's additional tables and record fields.
    pub fn extra(&mut self, extra: impl Extra + 'static) {
        self.extra = Some(Box::new(extra));
    }

    /// Sets the text on the idea of each rung.
    pub fn ideas(&mut self, ideas: String) {
        self.ideas = ideas;
    }

    /// Returns true if a variant's result differs from its reference.
    pub fn is_wrong(&self) -> bool {
        self.results.iter().any(|outcome| !outcome.verified)
    }

    /// Returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// Fails if a variant's result is wrong, naming the first one and its first differing elements, or if a
    /// check found an error, naming the first one.
    pub fn verdict(&self) -> Result<()> {
        let mut results = self.results.iter();
        match results.find_map(|outcome| Some((&outcome.variant, outcome.wrong.as_ref()?))) {
            None => check::verdict(self.check.as_ref().map_or(&[], CheckResults::findings)),
            Some((variant, wrong)) => bail!("{variant}: wrong result: {wrong}"),
        }
    }

    /// Adds a row for a limit, unless the last row already shows it.
    fn add_limit_row(&mut self, limit: &Limit) {
        let is_same = |row: &LimitRow| row.name == limit.name && row.timing == limit.timing;
        if !self.limits.last().is_some_and(is_same) {
            self.limits.push(LimitRow {
                name: limit.name,
                results_before: self.results.len(),
                variant: limit.variant.clone(),
                timing: limit.timing,
            });
        }
    }

    /// Returns how many times as fast as its baseline a result is.
    fn speedup(&self, result: &Outcome) -> Option<f64> {
        let before = self.results.iter().rev();
        let mut candidates = std::iter::once(result).chain(before);
        let baseline = candidates.find(|outcome| outcome.variant == self.baseline)?;
        let both = result.verified && baseline.verified;
        let speedup = baseline.timing.median_ms / result.timing.median_ms;
        (both && speedup.is_finite()).then_some(speedup)
    }
}

/// The result of one variant: its time, its launch record, and whether its output is correct.
pub struct Entry {
    pub(crate) variant: String,
    pub(crate) details: Box<dyn Details>,
    pub(super) measured: Measured,
    pub(super) verdict: Verdict,
    pub(super) compared: bool,
    pub(super) limit_source: LimitSource,
}

/// The limit that a result is compared with.
pub(super) enum LimitSource {
    /// The last limit added to the report.
    Report,
    /// A limit for this result only, or none.
    Explicit(Option<Limit>),
}

impl Entry {
    /// Creates the result of a variant, to be compared with the report's baseline and limit.
    pub fn new(variant: &str, measured: Measured, verdict: Verdict) -> Self {
        Entry {
            variant: variant.to_owned(),
            details: Box::new(()),
            measured,
            verdict,
            compared: true,
            limit_source: LimitSource::Report,
        }
    }

    /// Adds the chapter's own columns and fields, computed from the measurement.
    pub fn with<D: Details>(self, details: impl FnOnce(&Measured) -> D) -> Self {
        Entry {
            details: Box::new(details(&self.measured)),
            ..self
        }
    }

    /// Returns true if the output matches its reference.
    pub fn is_correct(&self) -> bool {
        self.verdict.wrong.is_none()
    }

    /// Excludes the result from the comparison with the baseline, because it does different work.
    pub fn separate(self) -> Self {
        Entry {
            compared: false,
            ..self
        }
    }

    /// Replaces the report's limit for this result with `limit`; `None` if its limit is unknown.
    pub fn limit(self, limit: Option<Limit>) -> Self {
        Entry {
            limit_source: LimitSource::Explicit(limit),
            ..self
        }
    }
}

/// The chapter's own columns of a result. All results of a chapter have the same type of details.
pub trait Details: erased_serde::Serialize + Any {
    /// Returns the column heads.
    fn columns(&self, lang: Lang) -> &'static [&'static str];

    /// Returns one cell per column.
    fn cells(&self) -> Vec<String>;

    /// Returns the input that the variant ran on, such as `128000 sums, pseudo_random`, if the report runs
    /// its variants on several inputs. Profiles show launches on the same input side by side.
    fn case(&self, _: Lang) -> String {
        String::new()
    }
}

erased_serde::serialize_trait_object!(Details);

/// No additional columns.
impl Details for () {
    fn columns(&self, _: Lang) -> &'static [&'static str] {
        &[]
    }

    fn cells(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A hardware limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The name of the measurement, such as `copy on the device`.
    pub name: &'static str,
    /// The variant that was the fastest, if several were measured, such as `packed, pedantic`.
    pub variant: Option<String>,
    /// The time that the hardware needs at least; `None` if it could not be measured.
    pub timing: Option<Timing>,
}

impl Limit {
    /// Creates a limit from its measurement. A limit that cannot be measured is unknown, which is noted on
    /// standard error; the results do not depend on it.
    pub fn new(name: &'static str, measured: Result<Timing>) -> Self {
        let unknown = |error| {
            note(format_args!(
                "the limit '{name}' is unknown: {}",
                describe(&error)
            ))
        };
        Limit {
            name,
            variant: None,
            timing: measured.map_err(unknown).ok(),
        }
    }

    /// Relates a result's time to the limit; `None` if the limit is unknown or the time is 0.
    pub(super) fn bound(&self, timing: &Timing) -> Option<Bound> {
        let median_ms = self.timing?.median_ms;
        let share = median_ms / timing.median_ms;
        share.is_finite().then_some(Bound {
            name: self.name,
            median_ms,
            share,
        })
    }
}

/// A result's relation to its limit.
#[derive(Debug, Serialize)]
pub(super) struct Bound {
    name: &'static str,
    median_ms: f64,
    /// The limit's time divided by the result's time: 1 means that the result reaches the limit.
    pub share: f64,
}

/// A result as stored in the report.
#[derive(Serialize)]
pub(super) struct Outcome {
    pub variant: String,
    #[serde(flatten)]
    pub details: Box<dyn Details>,
    #[serde(flatten)]
    pub timing: Timing,
    pub speedup: Option<f64>,
    #[serde(rename = "limit", skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    pub verified: bool,
    pub differing: usize,
    #[serde(skip)]
    pub wrong: Option<String>,
    #[serde(flatten)]
    pub launch: Launch,
}

/// The launch record of a result; `None` on a GPU and for copies.
#[derive(Debug)]
pub(super) struct Launch {
    pub record: Option<LaunchRecord>,
    pub detail: Option<Detail>,
}

impl Serialize for Launch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        profile::Record::new(self.record.as_ref(), self.detail).serialize(serializer)
    }
}

impl Report {
    /// Prints to standard output the table and the output of `--profile` and `--check`, or with `--json` the
    /// record. Then prints to standard error a note on modelled times, the ideas of the ladder's rungs, and
    /// `words`. With `--plot` it also saves the picture.
    ///
    /// # Errors
    ///
    /// Fails if standard output cannot be written to.
    pub fn print(&self, words: &str) -> Result<()> {
        let text = if self.flags.json {
            serde_json::to_string_pretty(self)?
        } else {
            let tables = self
                .extra
                .iter()
                .flat_map(|extra| extra.tables(self.lang()));
            let parts = tables
                .chain([self.table(), self.legend()])
                .chain(self.profile())
                .chain(self.checked());
            parts.collect::<Vec<_>>().join("\n\n")
        };
        let deferred = interrupt::defer();
        writeln!(io::stdout(), "{text}").context("cannot write the results")?;
        drop(deferred);
        if let Some(plot) = &self.flags.report.plot {
            let [svg, png] = plot.save(&self.figure())?;
            note(
                localize!(self.lang(), "\nThe plot: {}, {}", "\n图表：{}，{}"; svg.display(), png.display()),
            );
        }
        if self.gpu.time == Clock::Modelled {
            note(self.lang().pick(
                "\nModelled times are estimates; run on a GPU to measure.",
                "\n模型给出的时间只是估算；要测量，请在 GPU 上运行。",
            ));
        }
        for paragraph in [&self.ideas, words] {
            if !paragraph.is_empty() {
                note(format_args!("\n{paragraph}"));
            }
        }
        Ok(())
    }

    /// Returns the table, which is valid Markdown. Modelled times are deterministic, so only measured ones
    /// have a column for the spread of the samples.
    pub fn table(&self) -> String {
        let lang = self.lang();
        let timing: &[&str] = match self.gpu.time {
            Clock::Measured => lang.pick(
                &["ms, median", "fastest–slowest", "speedup"],
                &["ms，中位数", "最短–最长", "加速比"],
            ),
            Clock::Modelled => lang.pick(&["ms", "speedup"], &["ms", "加速比"]),
        };
        let bound: &[&str] = if self.limits.is_empty() {
            &[]
        } else {
            lang.pick(&["of limit"], &["达到极限的比例"])
        };
        let limit_variant: &[&str] = if self.has_limit_variants() {
            lang.pick(&["limit measured with"], &["极限的测量方式"])
        } else {
            &[]
        };
        let [first, last] = lang.pick([["variant"], ["check"]], [["变体"], ["验证"]]);
        let headers = [&first, self.columns(), timing, bound, limit_variant, &last].concat();
        let mut rows: Vec<Vec<String>> = self
            .results
            .iter()
            .map(|outcome| self.row(outcome))
            .collect();
        for limit in self.limits.iter().rev() {
            rows.insert(limit.results_before, self.limit_row(limit));
        }
        table(&headers, rows)
    }

    /// Returns the line below the table: the origin of the times and the baseline of the speedups.
    pub fn legend(&self) -> String {
        let gpu = &self.gpu;
        let lang = self.lang();
        let time = match gpu.time {
            Clock::Measured => lang.pick("measured", "测量值"),
            Clock::Modelled => lang.pick("modelled", "模型估算"),
        };
        localize!(
            lang,
            "Times: {}, {}. Speedup: relative to `{}`.",
            "时间：{}，{}。加速比：相对于 `{}`。";
            time, gpu.name, self.baseline
        )
    }

    /// Returns the language of the tables.
    fn lang(&self) -> Lang {
        self.flags.lang()
    }

    /// Returns the heads of the chapter's own columns.
    fn columns(&self) -> &'static [&'static str] {
        let first = self.results.first();
        first.map_or(&[], |outcome| outcome.details.columns(self.lang()))
    }

    fn row(&self, outcome: &Outcome) -> Vec<String> {
        let speedup = outcome.speedup.map(|speedup| format!("{speedup:.2}"));
        let share = outcome.bound.as_ref().map(|limit| percent(limit.share));
        let check = match outcome.verified {
            true => self.lang().pick("correct", "正确"),
            false => self.lang().pick("WRONG", "错误"),
        };
        let mut row = vec![outcome.variant.clone()];
        row.extend(outcome.details.cells());
        row.extend(self.times(&outcome.timing));
        row.push(or_dash(speedup));
        row.extend((!self.limits.is_empty()).then(|| or_dash(share)));
        row.extend(self.has_limit_variants().then(|| or_dash(None)));
        row.push(check.to_owned());
        row
    }

    fn limit_row(&self, limit: &LimitRow) -> Vec<String> {
        let dash = || or_dash(None);
        let mut row = vec![limit.name.to_owned()];
        row.extend(self.columns().iter().map(|_| dash()));
        match &limit.timing {
            Some(timing) => row.extend(self.times(timing)),
            None => row.extend(
                self.times(&Timing::once(0.0))
                    .iter()
                    .map(|_| self.lang().pick("unknown", "未知").to_owned()),
            ),
        }
        row.extend([dash(), or_dash(limit.timing.map(|_| percent(1.0)))]);
        row.extend(
            self.has_limit_variants()
                .then(|| or_dash(limit.variant.clone())),
        );
        row.push(self.lang().pick("limit", "极限").to_owned());
        row
    }

    /// Returns true if one of the limits was measured in several ways: then a column names the fastest.
    fn has_limit_variants(&self) -> bool {
        self.limits.iter().any(|limit| limit.variant.is_some())
    }

    fn times(&self, timing: &Timing) -> Vec<String> {
        let [median, min, max] = [timing.median_ms, timing.min_ms, timing.max_ms].map(milliseconds);
        match self.gpu.time {
            Clock::Measured => vec![median, format!("{min}–{max}")],
            Clock::Modelled => vec![median],
        }
    }

    /// Returns the output of `--profile`: the simulator's counters, or on a GPU the command that counts.
    fn profile(&self) -> Vec<String> {
        let Some(detail) = self.flags.report.profile else {
            return Vec::new();
        };
        if self.gpu.time == Clock::Measured {
            let command =
                rerun::ncu_command(detail, &rerun::profiling_command(std::env::args_os()));
            return vec![localize!(
                self.lang(),
                "To profile the program on this GPU, use Nsight Compute from the CUDA Toolkit:\n\n{}",
                "要在这个 GPU 上分析程序的性能，请使用 CUDA 工具包中的 Nsight Compute：\n\n{}";
                command
            )];
        }
        let launches = self.results.iter().filter_map(|outcome| {
            Some(ProfiledLaunch {
                case: outcome.details.case(self.lang()),
                variant: &outcome.variant,
                launch: outcome.launch.record.as_ref()?,
            })
        });
        let which = self.lang().pick("one launch each", "各启动一次");
        profile::text(which, &launches.collect::<Vec<_>>(), detail, self.lang())
    }

    /// Returns the output of `--check`: the findings, or on a GPU the commands that check.
    fn checked(&self) -> Vec<String> {
        match (&self.check, self.flags.report.check) {
            (Some(checked), _) => vec![check::section(
                checked.checks,
                checked.findings(),
                None,
                self.lang(),
            )],
            (None, Some(checks)) => {
                let commands = rerun::sanitizer_commands(
                    checks,
                    &rerun::profiling_command(std::env::args_os()),
                );
                vec![localize!(
                    self.lang(),
                    "To check the program on this GPU, use compute-sanitizer from the CUDA Toolkit:\n\n{}",
                    "要在这个 GPU 上检查程序，请使用 CUDA 工具包中的 compute-sanitizer：\n\n{}";
                    commands
                )]
            }
            (None, None) => Vec::new(),
        }
    }

    /// Returns the charts that `--plot` draws.
    fn figure(&self) -> Figure {
        let variants = self.results.iter().map(|outcome| {
            let launch = outcome.launch.record.as_ref();
            Variant {
                group: outcome.details.case(self.lang()),
                label: outcome.variant.clone(),
                milliseconds: outcome.timing.median_ms,
                tally: launch.and_then(|launch| Some(launch.profile.as_ref()?.total)),
                roofline: launch.map(|launch| launch.time.roofline),
            }
        });
        Figure {
            title: self.chapter.to_owned(),
            gpu: self.gpu.clone(),
            variants: variants.collect(),
        }
    }
}

/// Formats a fraction as an integer percentage.
fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}
