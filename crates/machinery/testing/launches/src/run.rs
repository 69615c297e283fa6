//! Executes launches with cust.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use cuda_driver::counters::METRICS;
use cust::context::Context;
use cust::memory::{CopyDestination as _, DeviceBuffer};
use cust::module::{Module, ModuleJitOption};
use cust::prelude::{Stream, StreamFlags};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::plan::{self, Argument, Launch};

/// The record of a launch.
#[derive(Debug, Serialize)]
struct Outcome<'a> {
    label: &'a str,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    /// A hash of each buffer's contents, in the order of the arguments.
    results: Vec<String>,
    /// The simulator's counters; empty on a GPU.
    counters: BTreeMap<&'static str, u64>,
}

/// Runs the launches in a file, or only those with the label `only`, and prints their records.
///
/// # Errors
///
/// Fails if the file is not a valid plan, a launch refers to a missing file or kernel, or a CUDA call fails.
pub fn run_all(path: &Path, only: Option<&str>) -> Result<()> {
    let mut launches = plan::read(path)?;
    launches.retain(|launch| only.is_none_or(|name| launch.label == name));
    ensure!(
        !launches.is_empty(),
        "no launch to run in {}",
        path.display()
    );
    let directory = path.parent().unwrap_or(Path::new(""));
    let _context: Context = cust::quick_init().context("cannot open the GPU")?;
    cuda_driver::profile(true);
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    for launch in &launches {
        let outcome =
            run_launch(launch, directory, &stream).with_context(|| launch.label.clone())?;
        println!("{}", serde_json::to_string(&outcome)?);
    }
    Ok(())
}

fn run_launch<'a>(launch: &'a Launch, directory: &Path, stream: &Stream) -> Result<Outcome<'a>> {
    let path = directory.join(&launch.ptx);
    let ptx =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    // Lets Nsight Compute report source lines.
    let options = [ModuleJitOption::GenerateLineInfo(true)];
    let module = Module::from_ptx(ptx, &options).context("cannot load the module")?;
    let function = module
        .get_function(&launch.kernel)
        .with_context(|| format!("{} has no kernel {}", path.display(), launch.kernel))?;

    let mut buffers = Vec::new();
    let mut values: Vec<u64> = Vec::new();
    for argument in &launch.arguments {
        values.push(match argument {
            Argument::Buffer(buffer) => {
                let buffer = DeviceBuffer::from_slice(&buffer.initial_bytes())
                    .context("cannot allocate memory on the GPU")?;
                buffers.push(buffer);
                buffers
                    .last()
                    .map_or(0, |buffer| buffer.as_device_ptr().as_raw())
            }
            Argument::Word(word) => u64::from(*word),
            Argument::Long(long) => *long,
            Argument::Float(float) => u64::from(float.to_bits()),
        });
    }
    let argument_pointers: Vec<*mut c_void> =
        values.iter_mut().map(|v| (&raw mut *v).cast()).collect();
    let [grid, block] = [launch.grid, launch.block].map(|[x, y, z]| (x, y, z));
    let recorder = cuda_driver::record_launches();
    // SAFETY: each pointer refers to eight bytes, of which a 32-bit parameter reads the first four. An invalid
    // access by the kernel can only affect device memory, and the driver ends such a launch.
    unsafe { stream.launch(&function, grid, block, launch.shared, &argument_pointers) }
        .context("cannot launch the kernel")?;
    stream.synchronize().context("the kernel failed")?;

    let mut results = Vec::new();
    for buffer in buffers {
        let mut bytes = vec![0; buffer.len()];
        buffer.copy_to(&mut bytes)?;
        let hash = Sha256::digest(&bytes);
        results.push(hash[..8].iter().map(|byte| format!("{byte:02x}")).collect());
    }
    let profile = recorder.last().and_then(|record| record.profile);
    let counters = profile.map(|profile| {
        let of_lines = METRICS.iter().filter(|metric| metric.counts_lines());
        let figures = of_lines.map(|metric| (metric.name, metric.value(&profile.total)));
        figures.collect()
    });
    Ok(Outcome {
        label: &launch.label,
        kernel: &launch.kernel,
        grid: launch.grid,
        block: launch.block,
        results,
        counters: counters.unwrap_or_default(),
    })
}
