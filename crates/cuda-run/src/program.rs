//! A run of a program that nobody here has compiled: it loads the driver's library by its name, and finds the
//! simulator.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, bail};
use chapter::{file, rerun};
use common::error::note;
use common::gpu::{Clock, GpuInfo};
use summary::text::Order;
use summary::{Gathered, Summary, log, wire};

use crate::flags::Flags;
use crate::library::{self, Folder};
use crate::outside::until_it_ends;
use crate::run::{choose_device, open, require_folders, shown, tell, verdict};

/// Runs the program and tells what its kernels did. Returns its exit status.
///
/// # Errors
///
/// Where it cannot be run.
pub fn run(flags: &Flags) -> Result<i32> {
    if !cfg!(target_os = "linux") {
        bail!(
            "any program runs with `cuda-run --` on Linux alone, where LD_LIBRARY_PATH says which libcuda.so.1 is \
             found first"
        );
    }
    require_folders(flags)?;
    choose_device(flags);
    if std::env::var_os("CUDA_BACKEND").is_none_or(|backend| backend.is_empty()) {
        // SAFETY: no other thread has been started.
        unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    }
    let asked = asked_to_end()?;
    let gpu = open()?;
    if !flags.show.quiet {
        note(&gpu);
    }
    let simulated = gpu.time == Clock::Modelled;
    if !simulated {
        note(
            "CUDA_BACKEND=gpu: the program runs on NVIDIA's driver, which tells nothing of its kernels",
        );
    }
    let flags = &with_checks(flags);
    let folder = Folder::new()?;
    let mut command = command(flags)?;
    if simulated {
        simulate(&mut command, &folder, flags)?;
    }
    let child = command.spawn().with_context(|| {
        format!(
            "cannot start {}",
            Path::new(command.get_program()).display()
        )
    })?;
    let end = until_it_ends(child, flags.time_limit, || asked.load(Ordering::Relaxed))?;
    let processes = Processes::read(&folder)?;
    if let Some(file) = &flags.log {
        processes.log(file)?;
    }
    let all = processes.together();
    tell(flags, &gpu, (&end, &all), &processes.text(flags, &gpu))?;
    Ok(verdict(&end, &all))
}

/// The flags, with the checks that the environment asks for where they say nothing of them.
fn with_checks(flags: &Flags) -> Flags {
    let mut flags = flags.clone();
    let asked = std::env::var("CUDA_SIM_CHECK").ok();
    flags.show.check = flags.show.check.or_else(|| asked?.parse().ok());
    flags
}

/// Ctrl-C is the program's own affair, which hears of it as well; this one waits for it. A request to end is
/// handed on: whether there was one.
fn asked_to_end() -> Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use signal_hook::flag::register;

        let heard = Arc::default();
        let signals = [(SIGINT, &heard), (SIGTERM, &asked), (SIGHUP, &asked)];
        for (signal, flag) in signals {
            register(signal, Arc::clone(flag)).context("cannot handle Ctrl-C")?;
        }
    }
    Ok(asked)
}

/// The program as it would run by itself.
fn command(flags: &Flags) -> Result<Command> {
    let (program, arguments) = flags
        .arguments
        .split_first()
        .context("no program is named")?;
    let mut command = Command::new(program);
    command.args(arguments);
    if flags.show.json_to_stdout() {
        command.stdout(Stdio::from(io::stderr()));
    }
    Ok(command)
}

/// Has it find the simulator, and the simulator tell what happens.
fn simulate(command: &mut Command, folder: &Folder, flags: &Flags) -> Result<()> {
    command.env(library::PATHS, folder.paths()?);
    command.env("CUDA_RUN_TOLD", folder.told()?);
    // tinygrad looks in the first, and in the system's folders, and nowhere else; Triton links to what it finds in
    // the second, and has its PTX assembled by the third, as Mojo by the fourth. Who has set one has a reason.
    for (name, value) in [
        ("CUDA_PATH", folder.libraries()?),
        ("TRITON_LIBCUDA_PATH", folder.libraries()?),
        ("TRITON_PTXAS_PATH", folder.assembler()?),
        ("MODULAR_NVPTX_COMPILER_PATH", folder.assembler()?),
    ] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    match flags.show.counts() {
        true => command.env("CUDA_SIM_PROFILE", "summary"),
        false => command.env_remove("CUDA_SIM_PROFILE"),
    };
    if let Some(checks) = flags.show.check {
        command.env("CUDA_SIM_CHECK", checks.to_string());
    }
    Ok(())
}

/// What the processes of a program told, those that had something to tell.
struct Processes {
    all: Vec<(u32, Summary)>,
    together: Gathered,
    /// Whether any has switched the simulator on.
    any: bool,
}

impl Processes {
    fn read(folder: &Folder) -> Result<Self> {
        let entries = fs::read_dir(folder.told()?).context("cannot read what the program told")?;
        let ids = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut ids: Vec<u32> = ids.collect();
        ids.sort_unstable();
        let mut all = Vec::new();
        let mut together = Gathered::default();
        for &id in &ids {
            let file = File::open(folder.told()?.join(id.to_string()))
                .context("cannot read what the program told")?;
            let alone = wire::read(&file).inspect(|told| together.add(told.clone()));
            let summary = alone.collect::<Gathered>().summary("cuMemFree");
            all.push((id, summary));
        }
        Ok(Processes {
            all,
            together,
            any: !ids.is_empty(),
        })
    }

    fn together(&self) -> Summary {
        self.together.summary("cuMemFree")
    }

    /// The summary of each process by itself.
    fn text(&self, flags: &Flags, gpu: &GpuInfo) -> String {
        let shown = shown(flags, Order::Time, rerun::quoted(&flags.arguments));
        if gpu.time == Clock::Measured {
            return Summary::default().text(&shown, gpu);
        }
        if !self.any {
            return "No process of the program has loaded libcuda.so.1 and started CUDA."
                .to_owned();
        }
        let busy: Vec<_> = self
            .all
            .iter()
            .filter(|(_, summary)| !summary.is_idle())
            .collect();
        match &busy[..] {
            [] => self.together().text(&shown, gpu),
            [(_, one)] => one.text(&shown, gpu),
            several => {
                let texts = several.iter().map(|(id, summary)| {
                    format!("{}:\n\n{}", called(*id, summary), summary.text(&shown, gpu))
                });
                texts.collect::<Vec<_>>().join("\n\n")
            }
        }
    }

    /// Writes the log.
    fn log(&self, to: &Path) -> Result<()> {
        let texts = self
            .all
            .iter()
            .map(|(id, summary)| log::text(&called(*id, summary), summary));
        let text: String = texts.collect();
        file::write(to, |to| to.write_all(text.as_bytes())).context("cannot write the log")?;
        Ok(())
    }
}

fn called(id: u32, summary: &Summary) -> String {
    format!("process {id}, {}", summary.process)
}
