//! Runs the launch plans listed in a file one after the other, each with a module and buffers of its own.
//!
//!     cargo run -p launch-plan -- plans.json
//!
//! The file is a JSON list. Each entry has a label, the file with the PTX relative to the list's directory, and a
//! launch plan: `{"label": …, "ptx": …, "plan": {"buffer": […], "launch": […]}}`. `scripts/held-out` writes such a
//! file. For each plan the program prints one line of JSON: a hash of each buffer's final contents, and on the
//! simulator the last launch's counters under Nsight Compute's names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use cuda_driver::counters::METRICS;
use cust::prelude::{Stream, StreamFlags};
use launch_plan::devices::DriverModule;
use launch_plan::plan::{Text, json_to_toml};
use launch_plan::{Execution, ResolvedPlan};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Runs the launch plans listed in a file, on the GPU or the simulator.
#[derive(Debug, Parser)]
struct Flags {
    /// The file: a JSON list of plans, each with a label and the file of its kernels
    plan: PathBuf,
    /// Run only the plans with this label
    #[arg(long, value_name = "LABEL")]
    only: Option<String>,
}

/// An entry of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// A unique label.
    label: String,
    /// The file with the kernel's PTX, relative to the list's directory.
    ptx: PathBuf,
    plan: serde_json::Value,
}

/// The record of a plan with one launch.
#[derive(Debug, Serialize)]
struct Outcome<'a> {
    label: &'a str,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    /// A hash of each buffer's contents.
    results: Vec<String>,
    /// The simulator's counters; empty on a GPU.
    counters: BTreeMap<&'static str, u64>,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    common::error::exit(run_all(&flags.plan, flags.only.as_deref()))
}

/// Runs the plans in a file, or only those with the label `only`, and prints their records.
fn run_all(path: &Path, only: Option<&str>) -> Result<()> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the plan {}", path.display()))?;
    let entries: Vec<Entry> = serde_json::from_str(&text)
        .with_context(|| format!("{} is not a list of launches", path.display()))?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut plans = Vec::new();
    for entry in &entries {
        if only.is_none_or(|name| entry.label == name) {
            let plan = resolve(entry, directory).with_context(|| entry.label.clone())?;
            plans.push((entry, plan));
        }
    }
    ensure!(!plans.is_empty(), "no launch to run in {}", path.display());
    let _context = cust::quick_init().context("cannot open the GPU")?;
    cuda_driver::profile(true);
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    for (entry, plan) in &plans {
        let outcome = run(entry, plan, directory, &stream).with_context(|| entry.label.clone())?;
        println!("{}", serde_json::to_string(&outcome)?);
    }
    Ok(())
}

fn resolve(entry: &Entry, directory: &Path) -> Result<ResolvedPlan> {
    let text = json_to_toml(&entry.plan.to_string())?;
    let text = Text {
        text: &text,
        lines_before: 0,
    };
    let plan = ResolvedPlan::read(&text, directory, &[])?;
    ensure!(plan.launches.len() == 1, "a plan of a list has one launch");
    Ok(plan)
}

fn run<'a>(
    entry: &'a Entry,
    plan: &'a ResolvedPlan,
    directory: &Path,
    stream: &Stream,
) -> Result<Outcome<'a>> {
    let path = directory.join(&entry.ptx);
    let ptx =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut execution = Execution::new(plan, DriverModule::load(&ptx, stream)?)?;
    let recorder = cuda_driver::record_launches();
    execution.run(plan)?;
    let mut results = Vec::new();
    for (index, buffer) in plan.buffers.iter().enumerate() {
        let hash = Sha256::digest(execution.read(index, buffer)?);
        results.push(hash[..8].iter().map(|byte| format!("{byte:02x}")).collect());
    }
    let profile = recorder.last().and_then(|record| record.profile);
    let counters = profile.map(|profile| {
        let of_lines = METRICS.iter().filter(|metric| metric.counts_lines());
        let figures = of_lines.map(|metric| (metric.name, metric.value(&profile.total)));
        figures.collect()
    });
    let launch = &plan.launches[0];
    Ok(Outcome {
        label: &entry.label,
        kernel: &launch.kernel,
        grid: launch.grid,
        block: launch.block,
        results,
        counters: counters.unwrap_or_default(),
    })
}
