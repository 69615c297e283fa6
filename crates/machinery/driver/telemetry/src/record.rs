//! The JSON record of a program's run, with the same content as the report.

use chapter::flags::Detail;
use chapter::{check, profile};
use common::gpu::{Clock, GpuInfo};
use cuda_driver::{CallSite, Checks, Reason, TimedLaunch};
use serde::Serialize;

use crate::failures::{FailedCall, Level};
use crate::problems::Problem;
use crate::summary::Summary;

/// The version of the record's schema, `docs/records/cuda-run.schema.json`. It changes if a field is removed or
/// changes its meaning, but not if a field is added.
const SCHEMA: u32 = 1;

/// A run of a program.
#[derive(Serialize)]
pub struct Record<'a> {
    schema: u32,
    #[serde(flatten)]
    run: &'a Run,
    /// The GPU, or `None` if a program was not run because there is none of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu: Option<&'a GpuInfo>,
    kernels: Vec<KernelRow<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    measured: Vec<MeasuredRow<'a>>,
    faults: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<check::Record>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    wrong: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    library_calls: Vec<LibraryRow<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    not_simulated: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_calls: Vec<FailedCallRow<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranges: Vec<RangeRow<'a>>,
    /// The list that all machine-readable formats contain.
    problems: &'a [Problem],
}

/// A run of a program: the command line and how it ended.
#[derive(Debug, Serialize)]
pub struct Run {
    pub program: Vec<String>,
    pub arguments: Vec<String>,
    /// The program's exit status, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// The reason for which the program did not exit by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// The total of all launches of a kernel.
#[derive(Serialize)]
struct KernelRow<'a> {
    kernel: &'a str,
    launches: u64,
    /// Number of launches that kernels made.
    #[serde(skip_serializing_if = "is_zero")]
    by_kernels: u64,
    /// True if the grids or blocks of the launches differ. Those in `launch` are the first's.
    varied: bool,
    #[serde(flatten)]
    all: profile::Record<'a>,
}

/// Returns true for 0.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The total of all launches of a kernel on a GPU.
#[derive(Serialize)]
struct MeasuredRow<'a> {
    launches: u64,
    varied: bool,
    #[serde(flatten)]
    all: &'a TimedLaunch,
}

/// The calls of a library's function, which are not simulated.
#[derive(Serialize)]
struct LibraryRow<'a> {
    function: &'a str,
    calls: u64,
    estimated_ms: f64,
}

/// The total of all NVTX ranges of one name in one domain.
#[derive(Serialize)]
struct RangeRow<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<&'a str>,
    count: u64,
    milliseconds: f64,
    /// Launches are only counted on the simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    launches: Option<u64>,
}

/// The calls of one function that failed at one place with one error.
#[derive(Serialize)]
struct FailedCallRow<'a> {
    severity: Level,
    function: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    error: &'a str,
    meaning: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a Reason>,
    /// The name and the sentence of the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason_kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a CallSite>,
    calls: u64,
    ignored: u64,
    expected: bool,
}

impl<'a> FailedCallRow<'a> {
    fn new(call: &'a FailedCall) -> Self {
        FailedCallRow {
            severity: call.level(),
            function: &call.function,
            kernel: call.kernel.as_deref(),
            error: &call.error,
            meaning: &call.meaning,
            reason: call.reason.as_ref(),
            reason_kind: call.reason.as_ref().map(Reason::kind),
            reason_text: call.reason.as_ref().map(Reason::to_string),
            location: call.location.as_ref(),
            calls: call.calls,
            ignored: call.ignored,
            expected: call.expected,
        }
    }
}

impl<'a> Record<'a> {
    pub fn new(
        run: &'a Run,
        gpu: Option<&'a GpuInfo>,
        (profile, checks): (Option<Detail>, Option<Checks>),
        summary: &'a Summary,
        problems: &'a [Problem],
    ) -> Self {
        let kernels = summary.kernels.iter().map(|kernel| KernelRow {
            kernel: &kernel.name,
            launches: kernel.launches,
            by_kernels: kernel.by_kernels,
            varied: kernel.varied,
            all: profile::Record::new(Some(&kernel.total), profile),
        });
        let measured = summary.measured.iter().map(|kernel| MeasuredRow {
            launches: kernel.launches,
            varied: kernel.varied,
            all: &kernel.total,
        });
        let modelled = gpu.is_some_and(|gpu| gpu.time == Clock::Modelled);
        let ranges = summary.ranges.iter().map(|range| RangeRow {
            name: &range.name,
            domain: range.domain.as_deref(),
            count: range.count,
            milliseconds: range.milliseconds,
            launches: modelled.then_some(range.launches),
        });
        Record {
            schema: SCHEMA,
            run,
            gpu,
            kernels: kernels.collect(),
            measured: measured.collect(),
            faults: summary
                .faults
                .iter()
                .map(|fault| fault.text.as_str())
                .collect(),
            check: checks.map(|checks| check::Record::new(checks, &summary.findings)),
            wrong: &summary.mismatches,
            refused: summary
                .rejected_modules
                .iter()
                .map(|(reason, _)| reason.as_str())
                .collect(),
            library_calls: summary
                .library_calls
                .iter()
                .map(|(function, calls)| LibraryRow {
                    function,
                    calls: calls.count,
                    estimated_ms: calls.milliseconds,
                })
                .collect(),
            not_simulated: &summary.not_simulated,
            failed_calls: summary
                .failed_calls
                .iter()
                .map(FailedCallRow::new)
                .collect(),
            ranges: ranges.collect(),
            problems,
        }
    }
}
