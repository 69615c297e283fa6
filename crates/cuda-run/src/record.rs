//! The JSON record.

use chapter::check;
use chapter::profile;
use common::gpu::GpuInfo;
use serde::Serialize;

use crate::flags::Flags;
use crate::outside::Ended;
use crate::summary::Summary;

/// The number of the record's schema, `docs/records/cuda-run.schema.json`. It changes when a field goes or
/// means something else, and stays when one is added.
const SCHEMA: u32 = 1;

/// A run of a program.
#[derive(Serialize)]
pub struct Record<'a> {
    schema: u32,
    program: Vec<String>,
    arguments: Vec<String>,
    gpu: &'a GpuInfo,
    /// The program's exit status.
    status: i32,
    /// Why it did not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    kernels: Vec<KernelRow<'a>>,
    faults: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<check::Record>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    wrong: &'a [String],
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

impl<'a> Record<'a> {
    pub fn new(flags: &Flags, gpu: &'a GpuInfo, ended: &Ended, summary: &'a Summary) -> Self {
        let kernels = summary.kernels.iter().map(|kernel| KernelRow {
            kernel: &kernel.name,
            launches: kernel.launches,
            varied: kernel.varied,
            all: profile::Record::new(Some(&kernel.all), flags.show.profile),
        });
        let shown = |words: &[std::ffi::OsString]| {
            let words = words.iter().map(|word| word.to_string_lossy().into_owned());
            words.collect()
        };
        Record {
            schema: SCHEMA,
            program: flags
                .files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
            arguments: shown(&flags.arguments),
            gpu,
            status: ended.code(),
            ended: ended.why(),
            kernels: kernels.collect(),
            faults: &summary.faults,
            check: flags
                .show
                .check
                .map(|checks| check::Record::new(checks, &summary.findings)),
            wrong: &summary.wrong,
        }
    }
}
