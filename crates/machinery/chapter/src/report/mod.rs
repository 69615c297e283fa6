//! What a chapter's run came to, for a reader and for a program: the same figures in a table and
//! in a JSON record.

mod entry;
mod show;
pub mod table;
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
use entry::{Against, Outcome};

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
    check: Option<Checked>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<LimitRow>,
    #[serde(flatten)]
    extra: Option<Box<dyn Extra>>,
    /// What the next results are measured against.
    #[serde(skip)]
    limit: Option<Limit>,
    /// What each rung of the ladder adds, for under the table.
    #[serde(skip)]
    ideas: String,
    #[serde(skip)]
    flags: CommonFlags,
}

/// What a chapter tells beside its results: fields at the end of its record, and tables before
/// that of the results.
pub trait Extra: erased_serde::Serialize {
    /// The tables, as [`table::table`] makes them.
    fn tables(&self) -> Vec<String> {
        Vec::new()
    }
}

erased_serde::serialize_trait_object!(Extra);

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

/// What the hardware allows, in a row of its own.
#[derive(Clone, Debug, Serialize)]
struct LimitRow {
    name: &'static str,
    /// How many results came before it: it is the limit of those after them.
    results_before: usize,
    #[serde(flatten)]
    timing: Timing,
}

impl Report {
    /// A report without results. Speeds will be relative to the variant named `baseline`. From
    /// here on launches are counted, if `flags` want that: a report comes before the launches
    /// that it is about.
    pub fn new(
        chapter: &'static str,
        gpu: &GpuInfo,
        flags: &CommonFlags,
        inputs: impl Serialize + 'static,
        baseline: &'static str,
    ) -> Self {
        cuda_driver::profile(flags.counts());
        check::begin(flags.check);
        Report {
            schema: SCHEMA,
            chapter,
            gpu: gpu.clone(),
            inputs: Box::new(inputs),
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
            extra: None,
            limit: None,
            ideas: String::new(),
            flags: flags.clone(),
        }
    }

    /// Adds a result. It is compared with the last baseline before it, so that a report may have
    /// several groups, each with its baseline first.
    pub fn add(&mut self, entry: Entry) {
        let verified = entry.is_right();
        let limit = match entry.against {
            Against::Last => self.limit.clone(),
            Against::Own(limit) => limit.inspect(|limit| self.list(limit)),
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
                detail: self.flags.profile,
            },
        };
        if entry.compared {
            outcome.speedup = self.speedup(&outcome);
        }
        self.results.push(outcome);
    }

    /// Adds what the hardware allows: it has a row of its own, and the results from here on, until
    /// there is another limit, say how near they come to it.
    pub fn limit(&mut self, limit: Limit) {
        if self.limit.as_ref() != Some(&limit) {
            self.list(&limit);
            self.limit = Some(limit);
        }
    }

    /// Sets what the chapter tells beside its results.
    pub fn beside(&mut self, extra: impl Extra + 'static) {
        self.extra = Some(Box::new(extra));
    }

    /// Sets what each rung of the ladder adds.
    pub fn ideas(&mut self, ideas: String) {
        self.ideas = ideas;
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

    fn list(&mut self, limit: &Limit) {
        self.limits.push(LimitRow {
            name: limit.name,
            results_before: self.results.len(),
            timing: limit.timing,
        });
    }

    /// How many times as fast as its baseline a result is.
    fn speedup(&self, result: &Outcome) -> Option<f64> {
        let before = self.results.iter().rev();
        let mut candidates = std::iter::once(result).chain(before);
        let baseline = candidates.find(|outcome| outcome.variant == self.baseline)?;
        let both = result.verified && baseline.verified;
        let speedup = baseline.timing.median_ms / result.timing.median_ms;
        (both && speedup.is_finite()).then_some(speedup)
    }
}
