//! A run from beginning to end.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use chapter::{file, interrupt};
use common::Gpu;
use common::error::note;
use common::gpu::GpuInfo;
use launch_plan::comment;

use crate::compile::{Compiler, Goal};
use crate::described::Description;
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
    let described = description(flags)?;
    if described.is_none() && !cfg!(unix) {
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
    let compiled = compiler.compile(
        &flags.files,
        match described {
            Some(_) => Goal::Ptx,
            None => Goal::Library,
        },
    );
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
        described: described.as_deref(),
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

/// The file with a description of launches, which says what is wrong in it before anything is compiled; none
/// for a program.
fn description(flags: &Flags) -> Result<Option<PathBuf>> {
    let file = match (&flags.plan, &flags.files[..]) {
        (Some(plan), [_]) => plan,
        (Some(_), _) => bail!("--plan launches the kernels of one .cu file"),
        (None, [file]) if is_described(file) => file,
        (None, _) if !flags.set.is_empty() => {
            bail!("--set changes a number of a description, and there is none")
        }
        (None, _) => return Ok(None),
    };
    ensure!(
        flags.arguments.is_empty(),
        "a kernel that is launched by its description takes no arguments after --; --set NAME=VALUE \
         changes a number of the description"
    );
    Description::open(file, &flags.set)?.ready()?;
    Ok(Some(file.clone()))
}

/// Whether a file has a description of launches, and no program.
fn is_described(file: &Path) -> bool {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let has_main = text.match_indices("main").any(|(at, word)| {
        let before = text[..at].chars().next_back();
        let is_part = before.is_some_and(|it| it.is_alphanumeric() || it == '_');
        !is_part && text[at + word.len()..].trim_start().starts_with('(')
    });
    !has_main && !matches!(comment::find(&text), Ok(None))
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
