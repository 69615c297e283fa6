//! The results of a chapter's run, with the same figures in a table for readers and in a JSON record for
//! programs.

mod entry;
mod show;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use anyhow::{Result, bail};
use common::gpu::{Clock, GpuInfo};
use common::timing::Timing;
use cuda_driver::{Checks, Finding};
use serde::{Serialize, Serializer};

pub use entry::{Details, Entry, Limit};

use crate::check;
use crate::flags::CommonFlags;
use crate::lang::Lang;
use entry::{LimitSource, Outcome};

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
///   ]
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
    /// Returns the tables, as formatted by [`crate::table::table`].
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
    #[serde(flatten)]
    timing: Timing,
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
            launch: entry::Launch {
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
        if self.limit.as_ref() != Some(&limit) {
            self.add_limit_row(&limit);
            self.limit = Some(limit);
        }
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

    fn add_limit_row(&mut self, limit: &Limit) {
        self.limits.push(LimitRow {
            name: limit.name,
            results_before: self.results.len(),
            timing: limit.timing,
        });
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
