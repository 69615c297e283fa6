//! A run from beginning to end.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use chapter::{file, interrupt, rerun};
use common::Gpu;
use common::error::note;
use common::gpu::GpuInfo;
use launch_plan::comment;
use summary::record::{Record, Run};
use summary::text::Order;
use summary::{Gathered, Shown, Summary, wire};

use crate::compile::{Compiler, Goal};
use crate::described::Description;
use crate::flags::Flags;
use crate::missing;
use crate::outside::{End, Process};

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
    require_folders(flags)?;
    choose_device(flags);
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
    let summary = wire::read(&ended.told)
        .collect::<Gathered>()
        .summary("cudaFree");
    if let Some(why) = &summary.not_loaded {
        return Err(missing::explained(&compiler, &flags.files, why));
    }
    let again = rerun::again(std::env::args_os());
    let shown = shown(flags, Order::Launched, again);
    let text = summary.text(&shown, &gpu);
    tell(flags, &gpu, (&ended.end, &summary), &text)?;
    Ok(verdict(&ended.end, &summary))
}

/// The exit status of a program that has ended so.
pub fn verdict(end: &End, summary: &Summary) -> i32 {
    match end.code() {
        0 if summary.has_errors() => MISTAKES,
        code => code,
    }
}

/// What the summary shows.
pub fn shown(flags: &Flags, order: Order, again: String) -> Shown {
    Shown {
        profile: flags.show.profile,
        check: flags.show.check,
        order,
        again,
    }
}

/// Tells what was counted: `text` where no record is asked for.
pub fn tell(
    flags: &Flags,
    gpu: &GpuInfo,
    (ended, summary): (&End, &Summary),
    text: &str,
) -> Result<()> {
    let show = &flags.show;
    if let Some(why) = ended.why() {
        note(format_args!("\n{why}"));
    }
    if let Some(json) = &show.json {
        let run = run_of(flags, ended);
        let asked = (show.profile, show.check);
        let record = Record::new(&run, gpu, asked, summary);
        let text = serde_json::to_string_pretty(&record)? + "\n";
        match show.json_to_stdout() {
            true => io::stdout().write_all(text.as_bytes()),
            false => file::write(json, |to| to.write_all(text.as_bytes())),
        }
        .context("cannot write the record")?;
    } else if !show.quiet {
        note(format_args!("\n{text}"));
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

/// What was run, and how it ended.
fn run_of(flags: &Flags, ended: &End) -> Run {
    let files = flags.files.iter().map(|file| file.display().to_string());
    let words = flags.arguments.iter();
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let program = match flags.files.is_empty() {
        true => words.next().into_iter().collect(),
        false => files.collect(),
    };
    Run {
        program,
        arguments: words.collect(),
        status: Some(ended.code()),
        ended: ended.why(),
    }
}

/// What the program is called: its first file without its ending, or what is run.
pub fn process_name(flags: &Flags) -> String {
    match (flags.files.first(), flags.arguments.first()) {
        (Some(file), _) => file.with_extension("").display().to_string(),
        (None, Some(program)) => program.to_string_lossy().into_owned(),
        (None, None) => String::new(),
    }
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

/// Looks that what is to be written has a folder, before anything is run.
pub fn require_folders(flags: &Flags) -> Result<()> {
    if let Some(json) = flags
        .show
        .json
        .as_deref()
        .filter(|_| !flags.show.json_to_stdout())
    {
        file::require_folder(&format!("--json={}", json.display()), json)?;
    }
    if let Some(log) = &flags.log {
        file::require_folder(&format!("--log {}", log.display()), log)?;
    }
    Ok(())
}

/// The GPU, or the simulator in its place, which says so. It is closed again: the program opens it itself.
pub fn open() -> Result<GpuInfo> {
    Ok(Gpu::open()?.info)
}

/// Has the simulator model another GPU, or several, here and in the program's process.
pub fn choose_device(flags: &Flags) {
    let count = flags.devices.map(|count| count.to_string());
    for (variable, value) in [
        ("CUDA_SIM_DEVICE", flags.device.as_ref()),
        ("CUDA_SIM_DEVICES", count.as_ref()),
    ] {
        if let Some(value) = value {
            // SAFETY: the thread that handles signals reads no variable, and no other has been started.
            unsafe { std::env::set_var(variable, value) };
        }
    }
}
