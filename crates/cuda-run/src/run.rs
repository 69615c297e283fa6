//! A run from beginning to end.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result, bail};
use chapter::{file, interrupt};
use common::Gpu;
use common::error::note;
use common::gpu::GpuInfo;

use crate::compile::{Compiler, Goal};
use crate::flags::Flags;
use crate::missing;
use crate::outside::{Ended, Process};
use crate::record::Record;
use crate::summary::Summary;

/// The exit status where a check found an error in a program that says that all is well.
const MISTAKES: i32 = 1;

/// Compiles the program, runs it and tells what its kernels did. Returns its exit status.
///
/// # Errors
///
/// Where it cannot be compiled or run.
pub fn run(flags: &Flags) -> Result<i32> {
    let _tidy = interrupt::tidy();
    if !cfg!(unix) {
        bail!(
            "cuda-run loads programs as Linux and macOS do, and not as Windows does; use WSL there"
        );
    }
    if let Some(json) = flags
        .show
        .json
        .as_deref()
        .filter(|_| !flags.show.json_to_stdout())
    {
        file::require_folder(&format!("--json={}", json.display()), json)?;
    }
    choose_device(flags.device.as_deref());
    let gpu = open()?;
    if !flags.show.quiet {
        note(&gpu);
    }
    let compiler = Compiler::find(&flags.compile, gpu.compute_capability)?;
    let compiled = compiler.compile(&flags.files, Goal::Library);
    if interrupt::ending() {
        bail!("interrupted");
    }
    let compiled = compiled?;
    if !compiled.remarks.is_empty() {
        let _ = io::stderr().write_all(compiled.remarks.as_bytes());
    }
    let process = Process {
        flags,
        compiled: &compiled.file,
        gpu: &gpu,
    };
    let ended = process.run()?;
    let summary = Summary::read(&ended);
    if let Some(why) = &summary.not_loaded {
        return Err(missing::explained(&compiler, &flags.files, why));
    }
    tell(flags, &gpu, &ended, &summary)?;
    Ok(match ended.code() {
        0 if summary.has_errors() => MISTAKES,
        code => code,
    })
}

/// Tells what was counted.
fn tell(flags: &Flags, gpu: &GpuInfo, ended: &Ended, summary: &Summary) -> Result<()> {
    let show = &flags.show;
    if let Some(why) = ended.why() {
        note(format_args!("\n{why}"));
    }
    if let Some(json) = &show.json {
        let record = Record::new(flags, gpu, ended, summary);
        let text = serde_json::to_string_pretty(&record)? + "\n";
        match show.json_to_stdout() {
            true => io::stdout().write_all(text.as_bytes()),
            false => file::write(json, |to| to.write_all(text.as_bytes())),
        }
        .context("cannot write the record")?;
    } else if !show.quiet {
        note(format_args!("\n{}", summary.text(flags, gpu)));
    }
    if let Some(plot) = &show.plot {
        let [svg, png] = plot.save(&summary.figure(&process_name(flags), gpu))?;
        note(format_args!(
            "\nThe plot: {}, {}",
            svg.display(),
            png.display()
        ));
    }
    Ok(())
}

/// What the program is called: its first file without its ending.
pub fn process_name(flags: &Flags) -> String {
    let first = flags.files.first();
    first.map_or_else(String::new, |file| {
        file.with_extension("").display().to_string()
    })
}

/// The GPU, or the simulator in its place, which says so. It is closed again: the program opens it itself.
fn open() -> Result<GpuInfo> {
    Ok(Gpu::open()?.info)
}

/// Has the simulator model another GPU, here and in the program's process.
fn choose_device(name: Option<&str>) {
    if let Some(name) = name {
        // SAFETY: the thread that handles signals reads no variable, and no other has been started.
        unsafe { std::env::set_var("CUDA_SIM_DEVICE", name) };
    }
}
