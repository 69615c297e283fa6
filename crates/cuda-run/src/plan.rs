//! Kernels without a host program, launched by a launch plan.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use common::Gpu;
use common::error::note;
use cuda_driver::CallSite;
use launch_plan::contents::verify;
use launch_plan::devices::DriverModule;
use launch_plan::plan::{self, Text};
use launch_plan::{Execution, PlanError, ResolvedPlan};
use telemetry::wire::{Event, EventWriter};
use telemetry::{Level, Problem};

use crate::compile::SourceError;

/// A file with a launch plan.
pub struct PlanFile {
    /// The kernel's file, or a TOML or JSON file that contains only the plan.
    file: PathBuf,
    text: String,
    set: Vec<(String, String)>,
}

impl PlanFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or a `--set` is not of the form `NAME=VALUE`.
    pub fn open(file: &Path, set: &[String]) -> Result<Self> {
        let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let set = set.iter().map(|set| {
            let (name, value) = set
                .split_once('=')
                .with_context(|| format!("--set {set}: write NAME=VALUE"))?;
            Ok((name.to_owned(), value.to_owned()))
        });
        Ok(PlanFile {
            file: file.to_owned(),
            text: String::from_utf8_lossy(&text).into_owned(),
            set: set.collect::<Result<_>>()?,
        })
    }

    /// Resolves the plan.
    ///
    /// # Errors
    ///
    /// Fails if the plan is not valid, with the line of the error.
    pub fn resolve(&self) -> Result<ResolvedPlan> {
        let directory = self.file.parent().unwrap_or(Path::new(""));
        let extension = self.file.extension().and_then(OsStr::to_str);
        let whole_file = |text| Text {
            text,
            lines_before: 0,
        };
        let converted;
        let text = match extension {
            Some("toml") => Some(whole_file(&self.text)),
            Some("json") => {
                converted = plan::json_to_toml(&self.text);
                let toml = converted
                    .as_ref()
                    .map_err(|error| self.with_location(error))?;
                Some(whole_file(toml))
            }
            _ => plan::find(&self.text).map_err(|error| self.with_location(&error))?,
        };
        let text = text.ok_or_else(|| {
            anyhow!(
                "{} has no launch plan, a comment that begins with /* cuda-run",
                self.file.display()
            )
        })?;
        let plan = ResolvedPlan::read(&text, directory, &self.set);
        Ok(ResolvedPlan {
            file: Some(self.file.clone()),
            ..plan.map_err(|error| self.with_location(&error))?
        })
    }

    /// Adds the file and the line to an error: `add.cu:12: …`.
    fn with_location(&self, error: &PlanError) -> anyhow::Error {
        let file = self.file.display().to_string();
        let text = match error.line {
            0 => format!("{file}: {}", error.message),
            line => format!("{file}:{line}: {}", error.message),
        };
        let line = u32::try_from(error.line).unwrap_or(u32::MAX).max(1);
        let problem = Problem {
            location: Some(CallSite { file, line }),
            ..Problem::new("invalid-plan", "compile", Level::Error, &error.message)
        };
        let problems = vec![problem];
        SourceError { text, problems }.into()
    }
}

/// Launches the kernels of a PTX file and prints the requested buffers. Returns true if all results are as
/// expected.
///
/// # Errors
///
/// Fails if the plan does not match the kernels, or if a CUDA call fails.
pub fn run(plan_file: &PlanFile, ptx: &Path, writer: &EventWriter) -> Result<bool> {
    let plan = plan_file.resolve()?;
    let ptx = fs::read_to_string(ptx).context("cannot read the PTX")?;
    let gpu = Gpu::open()?;
    let mut execution = Execution::new(&plan, DriverModule::load(&ptx, &gpu.stream)?)?;
    writer.write(&Event::Started);
    execution.run(&plan)?;
    let mut all_correct = true;
    for (index, buffer) in plan.buffers.iter().enumerate() {
        let verification = verify(buffer, &execution.read(index, buffer)?);
        if let Some(printed) = verification.printed {
            println!("{printed}");
        }
        match verification.comparison {
            None => {}
            Some(Ok(equal)) => println!("{equal}"),
            Some(Err(mismatch)) => {
                note(format_args!("error: {mismatch}"));
                writer.write(&Event::Mismatch(mismatch));
                all_correct = false;
            }
        }
    }
    Ok(all_correct)
}
