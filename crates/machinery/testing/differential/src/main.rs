//! Differential testing of the simulator: runs random kernels on a GPU and on the simulator, and compares
//! the results bit for bit. docs/results/differential.md has the findings.

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};
use cuda_sim::device::DeviceSpec;
use cuda_sim::memory::global::Global;
use differential::check::{Backends, Verdict};
use differential::forms::{self, Forms};
use differential::generate;
use differential::kernel::Kernel;
use differential::record::{self, Distances, Record};
use differential::worker::{self, Reply, Task, Worker};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Device memory for the variables of a module.
const MEMORY_BYTES: u64 = 1 << 36;

#[derive(Parser)]
#[command(version, about)]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run kernels on the GPU or on the simulator, and print one line per kernel
    Run {
        #[command(flatten)]
        series: Series,
        /// Write the lines to this file
        #[arg(long)]
        save: Option<PathBuf>,
        /// Number of threads whose approximate results are saved
        #[arg(long, default_value_t = record::SAVED_THREADS)]
        threads: usize,
    },
    /// Compare two saved runs
    Compare {
        #[command(flatten)]
        series: Series,
        /// Saved run on the simulator
        simulator: PathBuf,
        /// Saved run on a GPU
        gpu: PathBuf,
    },
    /// Run kernels on both the GPU and the simulator, and shrink kernels that differ
    Check {
        #[command(flatten)]
        series: Series,
        /// Write the GPU's lines to this file
        #[arg(long)]
        save: Option<PathBuf>,
        /// Write the PTX of kernels that differ to this folder
        #[arg(long)]
        keep: Option<PathBuf>,
        /// Maximum number of kernels to shrink per kind: those that differ, and those that differ
        /// only with optimizations of the GPU's assembler
        #[arg(long, default_value_t = 16)]
        shrink: u64,
        /// Start no kernel after this many seconds
        #[arg(long, default_value_t = 86_400)]
        seconds: u64,
        /// Compare the simulator's compiled code with its interpreter; needs no GPU
        #[arg(long)]
        compiled: bool,
    },
    /// Print a kernel's PTX
    Show {
        #[command(flatten)]
        series: Series,
        /// Statements to leave out
        #[arg(long, value_delimiter = ',')]
        without: Vec<u32>,
    },
    /// Print a table of the instruction forms that the kernels contain
    Forms {
        #[command(flatten)]
        series: Series,
    },
    /// Load modules, and print for each `loads` or the reason that it does not load
    Load {
        /// PTX files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    #[command(hide = true)]
    Worker,
}

#[derive(clap::Args, Clone)]
struct Series {
    /// Seed of the series of kernels
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of kernels
    #[arg(long, default_value_t = 100)]
    kernels: u64,
    /// Number of the first kernel
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Number of worker processes
    #[arg(long, default_value_t = 1)]
    jobs: usize,
}

fn main() -> ExitCode {
    let result = match Flags::parse().command {
        Command::Run {
            series,
            save,
            threads,
        } => run(&series, save.as_deref(), threads),
        Command::Compare {
            series,
            simulator,
            gpu,
        } => compare(&series, &simulator, &gpu),
        Command::Check {
            series,
            save,
            keep,
            shrink,
            seconds,
            compiled,
        } => {
            let backends = match compiled {
                true => Backends::of_simulator,
                false => Backends::default,
            };
            check(
                &series,
                save.as_deref(),
                keep.as_deref(),
                shrink,
                seconds,
                backends,
            )
        }
        Command::Show { series, without } => {
            let kernel = generate::kernel(&Forms::new(), series.seed, series.from);
            print!("{}", kernel.ptx(&without.into_iter().collect()));
            Ok(())
        }
        Command::Forms { series } => {
            let end = series.from.saturating_add(series.kernels);
            print!("{}", forms::markdown(series.seed, series.from..end));
            Ok(())
        }
        Command::Load { files } => load_all(&files),
        Command::Worker => {
            sim_compiler::install();
            worker::serve()
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

impl Series {
    fn task(&self, kernel: u64, threads: usize) -> Task {
        Task {
            seed: self.seed,
            kernel,
            removed: BTreeSet::new(),
            level: None,
            threads,
            all_words: false,
        }
    }

    /// Calls `work` for every kernel, on `jobs` threads, each with its own state from `start`.
    fn for_each_kernel<S>(
        &self,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, u64) -> Result<()> + Sync,
    ) -> Result<()> {
        let next = AtomicU64::new(self.from);
        let end = self.from + self.kernels;
        let failed = Mutex::new(None);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    let mut state = start();
                    loop {
                        let kernel = next.fetch_add(1, Relaxed);
                        if kernel >= end {
                            break;
                        }
                        if let Err(error) = work(&mut state, kernel) {
                            next.store(end, Relaxed);
                            failed
                                .lock()
                                .expect("a thread panicked")
                                .get_or_insert(error);
                        }
                    }
                });
            }
        });
        match failed.into_inner().expect("a thread panicked") {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Returns the reason that the simulator rejects the module in a file, or `None` if the module loads.
fn load_error(path: &Path) -> Result<Option<String>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut global = Global::new(MEMORY_BYTES);
    let loaded = cuda_sim::lower::load(&text, &DeviceSpec::h200(), &mut global);
    Ok(loaded.err().map(|error| error.to_string()))
}

fn load_all(files: &[PathBuf]) -> Result<()> {
    for path in files {
        let load_error = load_error(path)?;
        let outcome = load_error.as_deref().unwrap_or("loads");
        println!("{}: {}", path.display(), outcome.replace('\n', " "));
    }
    Ok(())
}

fn run(series: &Series, save: Option<&Path>, threads: usize) -> Result<()> {
    let records = Mutex::new(BTreeMap::new());
    series.for_each_kernel(
        || Worker::new(None),
        |worker, kernel| {
            match worker.run(&series.task(kernel, threads))? {
                Reply::Ran { record, .. } => {
                    records
                        .lock()
                        .expect("a thread panicked")
                        .insert(kernel, record);
                }
                Reply::Failed(reason) => bail!("kernel {kernel}: {reason}"),
            }
            Ok(())
        },
    )?;
    write(&records.into_inner().expect("a thread panicked"), save)
}

/// Writes records as lines, to a file or to standard output.
fn write(records: &BTreeMap<u64, Record>, save: Option<&Path>) -> Result<()> {
    let mut text = String::new();
    for record in records.values() {
        text += &serde_json::to_string(record)?;
        text.push('\n');
    }
    match save {
        Some(path) => {
            std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
        }
        None => Ok(std::io::stdout().lock().write_all(text.as_bytes())?),
    }
}

fn read(path: &Path) -> Result<BTreeMap<u64, Record>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.lines()
        .enumerate()
        .map(|(line, text)| {
            let record: Record = serde_json::from_str(text)
                .with_context(|| format!("{}, line {}", path.display(), line + 1))?;
            Ok((record.kernel, record))
        })
        .collect()
}

fn compare(series: &Series, simulator: &Path, gpu: &Path) -> Result<()> {
    let (simulator, gpu) = (read(simulator)?, read(gpu)?);
    let forms = Forms::new();
    let mut distances = Distances::default();
    let (mut compared, mut differing) = (0, 0);
    for (number, a) in &simulator {
        let Some(b) = gpu.get(number) else {
            continue;
        };
        compared += 1;
        if a.hashes != b.hashes {
            differing += 1;
            let kernel = generate::kernel(&forms, series.seed, *number);
            println!(
                "kernel {number}: {}",
                a.differing_slots(b, &kernel).join(", ")
            );
        }
        distances.add(a, b);
    }
    if compared == 0 {
        bail!("the two runs have no kernel in common");
    }
    report(compared, differing, &distances)
}

/// Prints a summary of the comparison. Fails if anything differs.
fn report(compared: u64, differing: u64, distances: &Distances) -> Result<()> {
    println!(
        "{compared} kernels compared, {differing} differ; {} approximate results compared, {} out of bounds",
        distances.compared,
        distances.violations.len()
    );
    for text in distances.violations.iter().take(20) {
        println!("  {text}");
    }
    for (form, distance) in &distances.largest {
        println!("  {form}: {distance}");
    }
    if differing > 0 || !distances.violations.is_empty() {
        bail!("the two backends differ");
    }
    Ok(())
}

fn check(
    series: &Series,
    save: Option<&Path>,
    keep: Option<&Path>,
    shrink: u64,
    seconds: u64,
    backends: fn() -> Backends,
) -> Result<()> {
    let start = Instant::now();
    if let Some(folder) = keep {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let deadline = start + Duration::from_secs(seconds);
    let all = Mutex::new((BTreeMap::new(), Distances::default()));
    let [compared, differing, by_assembler] = [(); 3].map(|()| AtomicU64::new(0));
    let forms = Forms::new();
    series.for_each_kernel(backends, |backends, number| {
        if Instant::now() >= deadline {
            return Ok(());
        }
        let kernel: Kernel = generate::kernel(&forms, series.seed, number);
        let task = series.task(number, usize::MAX);
        let mut distances = Distances::default();
        let verdict = backends.compare(&task, &kernel, &mut distances)?;
        let finished = compared.fetch_add(1, Relaxed) + 1;
        if finished.is_multiple_of(500) {
            eprintln!("{finished} kernels, {:.0} s", start.elapsed().as_secs_f64());
        }
        let (mut text, assembler) = match verdict {
            Verdict::Equal(mut record) => {
                record.truncate(record::SAVED_THREADS);
                let mut all = all.lock().expect("a thread panicked");
                all.0.insert(number, record);
                all.1.merge(distances);
                return Ok(());
            }
            Verdict::AssemblerLevel(level, description) => {
                let text =
                    format!("kernel {number}: equal at -O{level}, but by default: {description}\n");
                (text, Some(&by_assembler))
            }
            Verdict::Different(description) => (format!("kernel {number}: {description}\n"), None),
        };
        let shrunk = assembler.unwrap_or(&differing).fetch_add(1, Relaxed);
        if shrunk < shrink && !text.contains("timed out") && !text.contains("has exited") {
            text += &backends.shrink(&task, assembler.is_some(), &forms, keep, deadline)?;
        }
        print!("{text}");
        all.lock().expect("a thread panicked").1.merge(distances);
        Ok(())
    })?;
    let (records, distances) = all.into_inner().expect("a thread panicked");
    if save.is_some() {
        write(&records, save)?;
    }
    println!("{:.0} s", start.elapsed().as_secs_f64());
    println!(
        "{} kernels differ by the level of the GPU's assembler",
        by_assembler.into_inner()
    );
    report(compared.into_inner(), differing.into_inner(), &distances)
}
