//! The JSON record.

use chapter::flags::Detail;
use chapter::{check, profile};
use common::gpu::GpuInfo;
use cuda_driver::{Checks, TimedLaunch};
use serde::Serialize;

use crate::Summary;

/// The number of the record's schema, `docs/records/cuda-run.schema.json`. It changes when a field goes or
/// means something else, and stays when one is added.
const SCHEMA: u32 = 1;

/// A run of a program.
#[derive(Serialize)]
pub struct Record<'a> {
    schema: u32,
    #[serde(flatten)]
    run: &'a Run,
    gpu: &'a GpuInfo,
    kernels: Vec<KernelRow<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    measured: Vec<MeasuredRow<'a>>,
    faults: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<check::Record>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    wrong: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    not_simulated: &'a [String],
}

/// What was run, and how it ended.
#[derive(Debug, Serialize)]
pub struct Run {
    pub program: Vec<String>,
    pub arguments: Vec<String>,
    /// The program's exit status, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// Why it did not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// All launches of a kernel.
#[derive(Serialize)]
struct KernelRow<'a> {
    kernel: &'a str,
    launches: u64,
    /// Whether grids or blocks of its launches differ; those of `launch` are the first's.
    varied: bool,
    #[serde(flatten)]
    all: profile::Record<'a>,
}

/// All launches of a kernel on a GPU.
#[derive(Serialize)]
struct MeasuredRow<'a> {
    launches: u64,
    varied: bool,
    #[serde(flatten)]
    all: &'a TimedLaunch,
}

impl<'a> Record<'a> {
    pub fn new(
        run: &'a Run,
        gpu: &'a GpuInfo,
        (profile, checks): (Option<Detail>, Option<Checks>),
        summary: &'a Summary,
    ) -> Self {
        let kernels = summary.kernels.iter().map(|kernel| KernelRow {
            kernel: &kernel.name,
            launches: kernel.launches,
            varied: kernel.varied,
            all: profile::Record::new(Some(&kernel.all), profile),
        });
        let measured = summary.measured.iter().map(|kernel| MeasuredRow {
            launches: kernel.launches,
            varied: kernel.varied,
            all: &kernel.all,
        });
        Record {
            schema: SCHEMA,
            run,
            gpu,
            kernels: kernels.collect(),
            measured: measured.collect(),
            faults: &summary.faults,
            check: checks.map(|checks| check::Record::new(checks, &summary.findings)),
            wrong: &summary.wrong,
            refused: summary
                .refused
                .iter()
                .map(|(why, _)| why.as_str())
                .collect(),
            not_simulated: &summary.not_simulated,
        }
    }
}
