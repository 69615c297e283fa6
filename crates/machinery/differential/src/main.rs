//! Differential testing of the simulator: random kernels on a GPU and on the simulator, compared bit
//! for bit. What it found is in docs/results/differential.md.

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};
use differential::check::{Sides, Verdict};
use differential::forms::Forms;
use differential::generate;
use differential::kernel::Kernel;
use differential::load;
use differential::record::{self, Distances, Record};
use differential::table;
use differential::worker::{self, Answer, Task, Worker};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

#[derive(Parser)]
#[command(version, about)]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run kernels on the GPU, or on the simulator, and print a line for each
    Run {
        #[command(flatten)]
        series: Series,
        /// Write the lines to this file
        #[arg(long)]
        save: Option<PathBuf>,
        /// Threads of which the approximate answers are kept
        #[arg(long, default_value_t = record::KEPT)]
        threads: usize,
    },
    /// Compare two runs that were saved
    Compare {
        #[command(flatten)]
        series: Series,
        /// A run on the simulator
        simulator: PathBuf,
        /// A run on a GPU
        gpu: PathBuf,
    },
    /// Run kernels on the GPU and on the simulator side by side, and make small what differs
    Check {
        #[command(flatten)]
        series: Series,
        /// Write the GPU's lines to this file
        #[arg(long)]
        save: Option<PathBuf>,
        /// Write the PTX of what differs to this folder
        #[arg(long)]
        keep: Option<PathBuf>,
        /// Make so many kernels of either kind small at most: those that differ, and those that differ
        /// by the level of the GPU's assembler
        #[arg(long, default_value_t = 16)]
        shrink: u64,
        /// Begin no kernel after so many seconds
        #[arg(long, default_value_t = 86_400)]
        seconds: u64,
    },
    /// Print a kernel's PTX
    Show {
        #[command(flatten)]
        series: Series,
        /// Statements to leave out
        #[arg(long, value_delimiter = ',')]
        without: Vec<u32>,
    },
    /// Print a table of the forms that the kernels have
    Forms {
        #[command(flatten)]
        series: Series,
    },
    /// Load modules, and print a line for each: `loads`, or why it does not
    Load {
        /// Files of PTX
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    #[command(hide = true)]
    Worker,
}

#[derive(clap::Args, Clone)]
struct Series {
    /// Which series of kernels
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many kernels
    #[arg(long, default_value_t = 100)]
    kernels: u64,
    /// The first kernel's number
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Processes side by side
    #[arg(long, default_value_t = 1)]
    jobs: usize,
}

fn main() -> ExitCode {
    let done = match Flags::parse().command {
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
        } => check(&series, save.as_deref(), keep.as_deref(), shrink, seconds),
        Command::Show { series, without } => {
            let kernel = generate::kernel(&Forms::new(), series.seed, series.from);
            print!("{}", kernel.ptx(&without.into_iter().collect()));
            Ok(())
        }
        Command::Forms { series } => {
            let end = series.from.saturating_add(series.kernels);
            print!("{}", table::markdown(series.seed, series.from..end));
            Ok(())
        }
        Command::Load { files } => load_all(&files),
        Command::Worker => worker::serve(),
    };
    match done {
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
            whole: false,
        }
    }

    /// Calls `work` for every kernel, `jobs` at a time, each with a state of its own.
    fn each<S>(
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
                                .expect("no thread panics")
                                .get_or_insert(error);
                        }
                    }
                });
            }
        });
        match failed.into_inner().expect("no thread panics") {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

fn load_all(files: &[PathBuf]) -> Result<()> {
    for path in files {
        let refusal = load::refusal(path)?;
        let said = refusal.as_deref().unwrap_or("loads");
        println!("{}: {}", path.display(), said.replace('\n', " "));
    }
    Ok(())
}

fn run(series: &Series, save: Option<&Path>, threads: usize) -> Result<()> {
    let records = Mutex::new(BTreeMap::new());
    series.each(
        || Worker::new(None),
        |worker, kernel| {
            match worker.run(&series.task(kernel, threads))? {
                Answer::Ran { record, .. } => {
                    records
                        .lock()
                        .expect("no thread panics")
                        .insert(kernel, record);
                }
                Answer::Failed(why) => bail!("kernel {kernel}: {why}"),
            }
            Ok(())
        },
    )?;
    write(&records.into_inner().expect("no thread panics"), save)
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
    let (ours, theirs) = (read(simulator)?, read(gpu)?);
    let forms = Forms::new();
    let mut distances = Distances::default();
    let (mut compared, mut differing) = (0, 0);
    for (number, a) in &ours {
        let Some(b) = theirs.get(number) else {
            continue;
        };
        compared += 1;
        if a.hashes != b.hashes {
            differing += 1;
            let kernel = generate::kernel(&forms, series.seed, *number);
            println!("kernel {number}: {}", a.differing(b, &kernel).join(", "));
        }
        distances.add(a, b);
    }
    if compared == 0 {
        bail!("the two runs have no kernel in common");
    }
    report(compared, differing, &distances)
}

/// Says what was compared; an error where something differed.
fn report(compared: u64, differing: u64, distances: &Distances) -> Result<()> {
    println!(
        "{compared} kernels compared, {differing} differ; {} approximate answers compared, {} too far off",
        distances.compared,
        distances.beyond.len()
    );
    for text in distances.beyond.iter().take(20) {
        println!("  {text}");
    }
    for (form, distance) in &distances.largest {
        println!("  {form}: {distance}");
    }
    if differing > 0 || !distances.beyond.is_empty() {
        bail!("the two sides differ");
    }
    Ok(())
}

fn check(
    series: &Series,
    save: Option<&Path>,
    keep: Option<&Path>,
    shrink: u64,
    seconds: u64,
) -> Result<()> {
    let begin = Instant::now();
    let deadline = begin + Duration::from_secs(seconds);
    let all = Mutex::new((BTreeMap::new(), Distances::default()));
    let [compared, differing, by_assembler] = [(); 3].map(|()| AtomicU64::new(0));
    let forms = Forms::new();
    series.each(Sides::default, |sides, number| {
        if Instant::now() >= deadline {
            return Ok(());
        }
        let kernel: Kernel = generate::kernel(&forms, series.seed, number);
        let task = series.task(number, usize::MAX);
        let mut distances = Distances::default();
        let verdict = sides.compare(&task, &kernel, &mut distances)?;
        let done = compared.fetch_add(1, Relaxed) + 1;
        if done.is_multiple_of(500) {
            eprintln!("{done} kernels, {:.0} s", begin.elapsed().as_secs_f64());
        }
        let (mut text, assembler) = match verdict {
            Verdict::Equal(mut kept) => {
                kept.shorten(record::KEPT);
                let mut all = all.lock().expect("no thread panics");
                all.0.insert(number, kept);
                all.1.join(distances);
                return Ok(());
            }
            Verdict::Assembler(level, how) => {
                let text = format!("kernel {number}: equal at -O{level}, else: {how}\n");
                (text, Some(&by_assembler))
            }
            Verdict::Differs(how) => (format!("kernel {number}: {how}\n"), None),
        };
        let of_kind = assembler.unwrap_or(&differing).fetch_add(1, Relaxed);
        if of_kind < shrink && !text.contains("no end") && !text.contains("has ended") {
            text += &sides.shrink(&task, assembler.is_some(), &forms, keep, deadline)?;
        }
        print!("{text}");
        all.lock().expect("no thread panics").1.join(distances);
        Ok(())
    })?;
    let (records, distances) = all.into_inner().expect("no thread panics");
    if save.is_some() {
        write(&records, save)?;
    }
    println!("{:.0} s", begin.elapsed().as_secs_f64());
    println!(
        "{} kernels differ by the level of the GPU's assembler",
        by_assembler.into_inner()
    );
    report(compared.into_inner(), differing.into_inner(), &distances)
}
