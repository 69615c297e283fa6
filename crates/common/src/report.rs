//! The table and the JSON record: the same figures for a reader and for a program.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail};
use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};
use cuda_driver::{Checks, Finding, LaunchRecord};
use serde::{Serialize, Serializer};

use crate::check;
use crate::flags::{CommonFlags, Detail};
use crate::gpu::{Clock, GpuInfo};
use crate::interrupt;
use crate::number::milliseconds;
use crate::plot::{Figure, Variant};
use crate::profile::{self, Launched};
use crate::timing::Timing;
use crate::verify::Verdict;

/// The number of the record's schema. It changes when a field goes or means something else, and
/// stays when one is added.
const SCHEMA: u32 = 1;

/// One run of a chapter. As JSON:
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
///       …                            // the chapter's own figures, `D`
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
///   ]
/// }
/// ```
///
/// `docs/records` has the schemas, this part and each chapter's own.
#[derive(Debug, Serialize)]
pub struct Report<I, D = ()> {
    schema: u32,
    chapter: &'static str,
    gpu: GpuInfo,
    inputs: I,
    baseline: &'static str,
    results: Vec<Outcome<D>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Checked>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<Limit>,
    /// Which of them results are measured against.
    #[serde(skip)]
    limit: Option<usize>,
    #[serde(skip)]
    flags: CommonFlags,
}

/// What checks found, up to when that was first asked.
#[derive(Debug)]
struct Checked {
    checks: Checks,
    found: OnceLock<Vec<Finding>>,
}

impl Checked {
    fn found(&self) -> &[Finding] {
        self.found.get_or_init(check::found)
    }
}

impl Serialize for Checked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        check::Record::new(self.checks, self.found()).serialize(serializer)
    }
}

/// What the hardware allows.
#[derive(Clone, Debug, Serialize)]
struct Limit {
    name: &'static str,
    /// How many results came before it: it is the limit of those after them.
    results_before: usize,
    #[serde(flatten)]
    timing: Timing,
}

/// A result beside its limit.
#[derive(Debug, Serialize)]
struct Bound {
    name: &'static str,
    median_ms: f64,
    /// The limit's time as a part of the result's: 1 is all that the hardware gives.
    share: f64,
}

impl Limit {
    /// How near a result of this time comes; `None` where the time is 0.
    fn bound(&self, timing: &Timing) -> Option<Bound> {
        let median_ms = self.timing.median_ms;
        let share = median_ms / timing.median_ms;
        share.is_finite().then_some(Bound {
            name: self.name,
            median_ms,
            share,
        })
    }
}

/// What a chapter says of a variant beside its time and check.
pub trait Details: Serialize {
    /// The headers of its columns.
    const COLUMNS: &'static [&'static str];

    /// Its cells, one a column.
    fn cells(&self) -> Vec<String>;

    /// Of what the variant was run on, `128000 sums, pseudo_random`, where a report runs its
    /// variants on several; profiles show those of one case side by side.
    fn case(&self) -> String {
        String::new()
    }
}

/// Nothing more.
impl Details for () {
    const COLUMNS: &'static [&'static str] = &[];

    fn cells(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One variant's time and check.
#[derive(Debug, Serialize)]
struct Outcome<D> {
    variant: String,
    #[serde(flatten)]
    details: D,
    #[serde(flatten)]
    timing: Timing,
    speedup: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Bound>,
    verified: bool,
    differing: usize,
    #[serde(skip)]
    wrong: Option<String>,
    #[serde(flatten)]
    launch: Launch,
}

/// The launch that a result is of; none on a GPU, and where it is a copy.
#[derive(Debug)]
struct Launch {
    record: Option<LaunchRecord>,
    detail: Option<Detail>,
}

impl Serialize for Launch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        profile::Record::new(self.record.as_ref(), self.detail).serialize(serializer)
    }
}

impl<I: Serialize, D: Details> Report<I, D> {
    /// A report without results. Speeds will be relative to the variant named `baseline`. From
    /// here on launches are counted, if `flags` want that: a report comes before the launches
    /// that it is about.
    pub fn new(
        chapter: &'static str,
        gpu: &GpuInfo,
        flags: &CommonFlags,
        inputs: I,
        baseline: &'static str,
    ) -> Self {
        cuda_driver::profile(flags.counts());
        check::begin(flags.check);
        cuda_driver::take_last_launch();
        Report {
            schema: SCHEMA,
            chapter,
            gpu: gpu.clone(),
            inputs,
            baseline,
            results: Vec::new(),
            check: flags
                .check
                .filter(|_| gpu.time == Clock::Modelled)
                .map(|checks| Checked {
                    checks,
                    found: OnceLock::new(),
                }),
            limits: Vec::new(),
            limit: None,
            flags: flags.clone(),
        }
    }

    /// Adds a variant, with what the simulator counted in its last launch. It is compared with the
    /// last baseline before it, so that a report may have several groups, each with its baseline
    /// first.
    pub fn add(&mut self, variant: &str, details: D, timing: Timing, verdict: &Verdict) {
        self.add_apart(variant, details, timing, verdict);
        let speedup = self.speedup();
        if let Some(last) = self.results.last_mut() {
            last.speedup = speedup;
        }
    }

    /// Adds a variant that is compared with nothing: it does other work than the baseline.
    pub fn add_apart(&mut self, variant: &str, details: D, timing: Timing, verdict: &Verdict) {
        self.results.push(Outcome {
            variant: variant.to_owned(),
            details,
            limit: self.limit.and_then(|one| self.limits[one].bound(&timing)),
            timing,
            speedup: None,
            verified: verdict.wrong.is_none(),
            differing: verdict.differing,
            wrong: verdict.wrong.clone(),
            launch: Launch {
                record: cuda_driver::take_last_launch(),
                detail: self.flags.profile,
            },
        });
    }

    /// Adds what the hardware allows, measured before the variants that it is the limit of: those
    /// added from here on, until there is another. It has a row of its own, and they say how near
    /// they come.
    pub fn limit(&mut self, name: &'static str, timing: Timing) {
        // What was launched to measure it is no variant's.
        cuda_driver::take_last_launch();
        self.set_limit(name, timing);
    }

    fn set_limit(&mut self, name: &'static str, timing: Timing) {
        self.limit = Some(self.limits.len());
        self.limits.push(Limit {
            name,
            results_before: self.results.len(),
            timing,
        });
    }

    /// Adds a variant that the limit of the others is none for. It has one of its own, which
    /// others are not measured against, or none that is known.
    pub fn add_beside(
        &mut self,
        limit: Option<(&'static str, Timing)>,
        variant: &str,
        details: D,
        timing: Timing,
        verdict: &Verdict,
    ) {
        let others = self.limit.take();
        if let Some((name, timing)) = limit {
            self.set_limit(name, timing);
        }
        self.add(variant, details, timing, verdict);
        self.limit = others;
    }

    /// Adds what takes several launches, or copies as well: it is compared with no kernel, and has
    /// no counters of its own.
    pub fn add_whole(&mut self, variant: &str, details: D, timing: Timing, verdict: &Verdict) {
        cuda_driver::take_last_launch();
        self.add_apart(variant, details, timing, verdict);
    }

    /// How many times as fast the last result is as its baseline.
    fn speedup(&self) -> Option<f64> {
        let last = self.results.last()?;
        let mut before = self.results.iter().rev();
        let baseline = before.find(|outcome| outcome.variant == self.baseline)?;
        let both = last.verified && baseline.verified;
        let speedup = baseline.timing.median_ms / last.timing.median_ms;
        (both && speedup.is_finite()).then_some(speedup)
    }

    /// The table, which is Markdown too.
    pub fn table(&self) -> String {
        let speed = format!("speed, {} = 1", self.baseline);
        let timing = ["ms, median", "fastest–slowest", &speed];
        let bound: &[&str] = if self.limits.is_empty() {
            &[]
        } else {
            &["of the limit"]
        };
        let headers = [&["variant"], D::COLUMNS, &timing, bound, &["time", "check"]].concat();
        let mut rows: Vec<Vec<String>> = self.results.iter().map(|one| self.row(one)).collect();
        for limit in self.limits.iter().rev() {
            rows.insert(limit.results_before, self.limit_row(limit));
        }
        table(&headers, rows)
    }

    fn row(&self, outcome: &Outcome<D>) -> Vec<String> {
        let speedup = outcome.speedup.map(|speedup| format!("{speedup:.2}"));
        let share = outcome.limit.as_ref().map(|limit| percent(limit.share));
        let check = if outcome.verified { "right" } else { "WRONG" };
        let mut row = vec![outcome.variant.clone()];
        row.extend(outcome.details.cells());
        row.extend(self.times(&outcome.timing));
        row.push(or_dash(speedup));
        row.extend((!self.limits.is_empty()).then(|| or_dash(share)));
        row.extend([self.clock(), check.to_owned()]);
        row
    }

    fn limit_row(&self, limit: &Limit) -> Vec<String> {
        let nothing = || or_dash(None);
        let mut row = vec![format!("limit: {}", limit.name)];
        row.extend(D::COLUMNS.iter().map(|_| nothing()));
        row.extend(self.times(&limit.timing));
        row.extend([nothing(), percent(1.0), self.clock(), nothing()]);
        row
    }

    fn times(&self, timing: &Timing) -> [String; 2] {
        let [median, min, max] = [timing.median_ms, timing.min_ms, timing.max_ms].map(milliseconds);
        [median, format!("{min}–{max}")]
    }

    fn clock(&self) -> String {
        format!("{}, {}", self.gpu.time, self.gpu.name)
    }

    /// What `--profile` prints: the simulator's counters, or the command that counts on a GPU.
    fn profile(&self) -> Vec<String> {
        let Some(detail) = self.flags.profile else {
            return Vec::new();
        };
        if self.gpu.time == Clock::Measured {
            let command = profile::ncu_command(detail, std::env::args_os());
            return vec![format!(
                "Nsight Compute, which comes with the CUDA toolkit, counts on this GPU:\n\n{command}"
            )];
        }
        let launches = self.results.iter().filter_map(|outcome| {
            Some(Launched {
                case: outcome.details.case(),
                variant: &outcome.variant,
                launch: outcome.launch.record.as_ref()?,
            })
        });
        profile::text(&launches.collect::<Vec<_>>(), detail)
    }

    /// What `--check` prints: what was found, or the commands that look for it on a GPU.
    fn checked(&self) -> Vec<String> {
        match (&self.check, self.flags.check) {
            (Some(checked), _) => vec![check::section(checked.checks, checked.found())],
            (None, Some(checks)) => {
                let commands = check::commands(checks, std::env::args_os());
                vec![format!(
                    "compute-sanitizer, which comes with the CUDA toolkit, checks on this GPU:\n\n{commands}"
                )]
            }
            (None, None) => Vec::new(),
        }
    }

    /// What `--plot` draws.
    fn figure(&self) -> Figure {
        let variants = self.results.iter().map(|outcome| {
            let launch = outcome.launch.record.as_ref();
            Variant {
                group: outcome.details.case(),
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

    /// Prints to standard output: the table and what `--profile` adds, or with `--json` the
    /// record; then, to standard error, what modelled times are not. With `--plot` it saves the
    /// picture too.
    ///
    /// # Errors
    ///
    /// Where nothing can be written there.
    pub fn print(&self) -> Result<()> {
        self.print_with(self, &[])
    }

    /// The same with more in it: `record` holds this report, and `tables` come before its own.
    ///
    /// # Errors
    ///
    /// Where nothing can be written, or `record` cannot be written as JSON.
    pub fn print_with(&self, record: &impl Serialize, tables: &[String]) -> Result<()> {
        let text = if self.flags.json {
            serde_json::to_string_pretty(record)?
        } else {
            [tables, &[self.table()], &self.profile(), &self.checked()]
                .concat()
                .join("\n\n")
        };
        let whole = interrupt::hold();
        writeln!(io::stdout(), "{text}").context("cannot write the results")?;
        drop(whole);
        if let Some(plot) = &self.flags.plot {
            let [svg, png] = plot.save(&self.figure())?;
            note(format_args!(
                "\nThe plot: {}, {}",
                svg.display(),
                png.display()
            ));
        }
        if self.gpu.time == Clock::Modelled {
            note("\nThese times are a model's; run on a GPU to measure.");
        }
        Ok(())
    }

    /// Whether a variant's result differs from its reference.
    pub fn is_wrong(&self) -> bool {
        self.results.iter().any(|outcome| !outcome.verified)
    }

    /// What the run comes to.
    ///
    /// # Errors
    ///
    /// Names the first variant that is wrong, and its first differing elements; or the first error
    /// that a check found.
    pub fn verdict(&self) -> Result<()> {
        let mut results = self.results.iter();
        match results.find_map(|one| Some((&one.variant, one.wrong.as_ref()?))) {
            None => check::verdict(self.check.as_ref().map_or(&[], Checked::found)),
            Some((variant, wrong)) => bail!("{variant} is wrong: {wrong}"),
        }
    }
}

/// A part of a whole.
fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// Prints a line, or some, to standard error. That nobody reads it is no failure.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A cell of a table: a dash where there is nothing to say.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// A table in the style of [`Report::table`]. Columns of numbers are aligned to the right.
pub fn table(headers: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let is_number =
        |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit() || first == '–');
    let right = |index| rows.iter().filter_map(|row| row.get(index)).all(is_number);
    let right: Vec<bool> = (0..headers.len()).map(right).collect();
    aligned(headers, rows, |index| right[index])
}

/// A table whose columns are aligned to the right where `right` says so of their index.
pub(crate) fn aligned(
    headers: &[&str],
    rows: Vec<Vec<String>>,
    right: impl Fn(usize) -> bool,
) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(headers);
    for index in (0..headers.len()).filter(|&index| right(index)) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.add_rows(rows);
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Capability;
    use clap::Parser;
    use serde_json::{Value, json};

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        common: CommonFlags,
    }

    const RIGHT: Verdict = Verdict {
        differing: 0,
        wrong: None,
    };

    fn wrong() -> Verdict {
        Verdict {
            differing: 1,
            wrong: Some("element 1 is 2 and should be 1".to_owned()),
        }
    }

    fn timing(ms: f64) -> Timing {
        Timing {
            median_ms: ms,
            min_ms: ms,
            max_ms: ms,
            samples: 20,
            launches_per_sample: 250,
        }
    }

    fn report<D: Details>(time: Clock) -> Report<(), D> {
        let gpu = GpuInfo {
            name: "NVIDIA H200".to_owned(),
            compute_capability: Capability(9, 0),
            driver: "13.0".to_owned(),
            time,
        };
        let flags = Program::parse_from(["program"]).common;
        Report::new("chapter", &gpu, &flags, (), "global")
    }

    fn record<D: Details>(report: &Report<(), D>) -> Value {
        serde_json::to_value(report).unwrap()
    }

    #[derive(Serialize)]
    struct Rate {
        gb_per_s: f64,
    }

    impl Details for Rate {
        const COLUMNS: &'static [&'static str] = &["GB/s"];

        fn cells(&self) -> Vec<String> {
            vec![format!("{:.1}", self.gb_per_s)]
        }
    }

    #[test]
    fn speeds_are_relative_to_the_baseline() {
        let mut report = report(Clock::Measured);
        report.add("global", (), timing(3.0), &RIGHT);
        report.add("constant", (), timing(2.0), &RIGHT);
        let table = report.table();
        assert!(table.contains(" 1.00 "), "{table}");
        assert!(table.contains(" 1.50 "), "{table}");
        assert!(table.contains("measured, NVIDIA H200"), "{table}");
        assert!(report.verdict().is_ok());
    }

    #[test]
    fn each_group_has_its_own_baseline() {
        let mut report = report(Clock::Measured);
        for (variant, ms) in [
            ("global", 3.0),
            ("constant", 2.0),
            ("global", 8.0),
            ("constant", 2.0),
        ] {
            report.add(variant, (), timing(ms), &RIGHT);
        }
        let record = record(&report);
        let speedups: Vec<_> = (0..4)
            .map(|i| record["results"][i]["speedup"].clone())
            .collect();
        assert_eq!(speedups, [json!(1.0), json!(1.5), json!(1.0), json!(4.0)]);
    }

    #[test]
    fn details_are_columns_and_fields() {
        let mut report = report(Clock::Measured);
        report.add("global", Rate { gb_per_s: 12.25 }, timing(3.0), &RIGHT);
        assert!(report.table().contains("| GB/s |"), "{}", report.table());
        assert!(report.table().contains(" 12.2 "), "{}", report.table());
        assert_eq!(record(&report)["results"][0]["gb_per_s"], 12.25);
        assert_eq!(record(&report)["schema"], 1);
    }

    #[test]
    fn without_a_baseline_there_is_no_relative_speed() {
        let mut report = report(Clock::Modelled);
        report.add("constant", (), timing(2.0), &RIGHT);
        assert!(report.table().contains(" – "), "{}", report.table());
        assert!(record(&report)["results"][0]["speedup"].is_null());
        assert_eq!(record(&report)["gpu"]["time"], "modelled");
    }

    #[test]
    fn what_is_added_apart_is_compared_with_nothing() {
        let mut report = report(Clock::Measured);
        report.add("global", (), timing(3.0), &RIGHT);
        report.add_apart("copy", (), timing(2.0), &RIGHT);
        report.add("constant", (), timing(2.0), &RIGHT);
        assert!(record(&report)["results"][1]["speedup"].is_null());
        assert_eq!(record(&report)["results"][2]["speedup"], 1.5);
    }

    #[test]
    fn results_after_a_limit_say_how_near_they_come() {
        let mut report = report(Clock::Measured);
        report.add("global", (), timing(3.0), &RIGHT);
        assert!(!report.table().contains("of the limit"));
        report.limit("copy", timing(1.5));
        report.add("constant", (), timing(2.0), &RIGHT);
        report.limit("larger copy", timing(4.0));
        report.add("constant", (), timing(4.0), &RIGHT);
        report.add("constant", (), timing(0.0), &RIGHT);
        let table = report.table();
        let rows: Vec<_> = table.lines().skip(2).collect();
        let starts = [
            "global",
            "limit: copy",
            "constant",
            "limit: larger",
            "constant",
        ];
        for (row, start) in rows.iter().zip(starts) {
            assert!(row.starts_with(&format!("| {start}")), "{table}");
        }
        for (row, share) in rows
            .iter()
            .zip(["–", "100 %", "75 %", "100 %", "100 %", "–"])
        {
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            assert_eq!(cells[5], share, "{table}");
        }
        let record = record(&report);
        assert!(record["results"][0].get("limit").is_none());
        let limit = json!({ "name": "copy", "median_ms": 1.5, "share": 0.75 });
        assert_eq!(record["results"][1]["limit"], limit);
        assert_eq!(record["results"][2]["limit"]["name"], "larger copy");
        let limits = record["limits"].as_array().unwrap();
        let brief = limits.iter().map(|limit| {
            let [name, before, ms] = ["name", "results_before", "median_ms"].map(|key| &limit[key]);
            json!([name, before, ms])
        });
        let wanted = [json!(["copy", 1, 1.5]), json!(["larger copy", 2, 4.0])];
        assert!(brief.eq(wanted), "{limits:?}");
    }

    #[test]
    fn a_record_without_limits_does_not_name_them() {
        let mut report = report(Clock::Measured);
        report.add("global", (), timing(3.0), &RIGHT);
        assert!(record(&report).get("limits").is_none());
    }

    #[test]
    fn of_two_limits_in_a_row_the_last_counts() {
        let mut report = report(Clock::Measured);
        report.limit("arithmetic", timing(1.0));
        report.limit("library", timing(2.0));
        report.add("global", (), timing(4.0), &RIGHT);
        let table = report.table();
        let starts = table
            .lines()
            .skip(2)
            .map(|row| row.split('|').nth(1).map(str::trim));
        let wanted = ["limit: arithmetic", "limit: library", "global"];
        assert!(starts.eq(wanted.map(Some)), "{table}");
        let record = record(&report);
        assert_eq!(record["results"][0]["limit"]["share"], 0.5);
        assert_eq!(record["limits"][1]["results_before"], 0);
    }

    #[test]
    fn a_limit_of_its_own_holds_for_one_result() {
        let mut report = report(Clock::Measured);
        report.limit("multiply-adds", timing(1.5));
        report.add_beside(
            Some(("cuBLAS", timing(0.5))),
            "tensor",
            (),
            timing(1.0),
            &RIGHT,
        );
        report.add_beside(None, "tensor", (), timing(1.0), &RIGHT);
        report.add("global", (), timing(3.0), &RIGHT);
        let record = record(&report);
        let limit = |result: usize| record["results"][result].get("limit");
        assert_eq!(limit(0).unwrap()["name"], "cuBLAS");
        assert_eq!(limit(0).unwrap()["share"], 0.5);
        assert!(limit(1).is_none());
        assert_eq!(limit(2).unwrap()["name"], "multiply-adds");
        let table = report.table();
        let row = table.lines().nth(3).unwrap();
        assert!(row.starts_with("| limit: cuBLAS "), "{table}");
    }

    #[test]
    fn a_time_of_zero_gives_no_relative_speed() {
        let mut report = report(Clock::Modelled);
        report.add("global", (), timing(0.0), &RIGHT);
        assert!(record(&report)["results"][0]["speedup"].is_null());
    }

    #[test]
    fn a_failed_check_shows_in_table_record_and_verdict() {
        let mut report = report(Clock::Measured);
        report.add("global", (), timing(1.0), &RIGHT);
        assert!(!report.is_wrong());
        report.add("constant", (), timing(1.0), &wrong());
        assert!(report.is_wrong());
        assert!(report.table().contains("WRONG"));
        let result = &record(&report)["results"][1];
        assert_eq!(result["verified"], false);
        assert_eq!(result["differing"], 1);
        assert!(result["speedup"].is_null(), "a wrong result is not fast");
        assert_eq!(result["launches_per_sample"], 250);
        assert_eq!(
            report.verdict().unwrap_err().to_string(),
            "constant is wrong: element 1 is 2 and should be 1"
        );
    }

    #[test]
    fn nothing_is_compared_with_a_wrong_baseline() {
        let mut report = report(Clock::Measured);
        report.add("global", (), timing(1.0), &wrong());
        report.add("constant", (), timing(1.0), &RIGHT);
        assert!(record(&report)["results"][1]["speedup"].is_null());
    }

    #[test]
    fn columns_of_numbers_are_aligned_to_the_right() {
        let rows = [["a", "5"], ["long", "–"], ["b", "12.5"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let lines = table(&["name", "value"], rows);
        let wanted = [
            "| name | value |",
            "|------|-------|",
            "| a    |     5 |",
            "| long |     – |",
            "| b    |  12.5 |",
        ];
        assert_eq!(lines.lines().collect::<Vec<_>>(), wanted);
    }
}
