//! Times the chapters' kernels on the simulator, and the same computations as plain Rust loops. Serves
//! `scripts/speed`, which requests one run at a time so that other engines can run in between.
//!
//! `speed FOLDER` reads commands, one per line, and replies to each with a line of JSON:
//!
//!   names                         the names of all workloads
//!   load SCALE NAME               loads a workload; replies with its size and thread instructions
//!   write                         writes the loaded workload into FOLDER, for other engines
//!   simulator OBSERVE THREADS     seconds per launch, on THREADS threads
//!   plain                         seconds per run of the plain loop, on one thread
//!
//! SCALE is tiny, 1, 4 or 16; OBSERVE is nothing, sample or everything. Before a workload is timed in a
//! new configuration, its result is compared with the chapter's reference. Any error ends the program.

#[path = "../benches/workloads/mod.rs"]
mod workloads;

use std::collections::HashSet;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use launch_plan::kernels::{self, Parameter};
use launch_plan::{Argument, Element};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::{Value, json};
use workloads::{Counted, Machine, OUTPUT, POISON, Scale, Workload};

/// Minimum duration of a timed series of runs.
const MIN_DURATION: Duration = Duration::from_millis(50);

/// The values of OBSERVE: the part of a launch that is counted.
const OBSERVE: [(&str, Counted); 3] = [
    ("nothing", Counted::Nothing),
    ("sample", Counted::Sample),
    ("everything", Counted::Everything),
];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or("missing argument: the folder to write to")?;
    let mut loaded: Option<Loaded> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let reply = match command {
            "names" => json!(workloads::ALL.map(|(name, _)| name)),
            "load" => {
                // Frees the loaded workload first, so that only one is in memory.
                drop(loaded.take());
                let (scale, name) = rest
                    .split_once(' ')
                    .ok_or("load needs a scale and a name")?;
                let new = loaded.insert(Loaded::new(look_up(&Scale::ALL, scale)?, name)?);
                json!({ "size": new.workload.size(), "thread_instructions": new.thread_instructions })
            }
            _ => {
                let loaded = loaded.as_mut().ok_or("load a workload first")?;
                loaded.execute(command, rest, &folder)?
            }
        };
        println!("{reply}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Returns the value of `name` in `table`.
fn look_up<T: Copy>(table: &[(&str, T)], name: &str) -> Result<T> {
    let entry = table.iter().find(|(key, _)| *key == name);
    let (_, value) = entry.ok_or_else(|| format!("unknown name: {name}"))?;
    Ok(*value)
}

/// A workload with its inputs, in host memory and in the simulator's memory.
struct Loaded {
    name: String,
    workload: Box<dyn Workload>,
    machine: Machine,
    expected: Vec<u32>,
    thread_instructions: u64,
    /// The output of the plain loop.
    output: Vec<u32>,
    pools: Vec<Arc<ThreadPool>>,
    /// Configurations whose result has been compared with the reference.
    verified: HashSet<String>,
}

impl Loaded {
    fn new(scale: Scale, name: &str) -> Result<Loaded> {
        let workload = look_up(&workloads::ALL, name)?(scale);
        let expected = workload.expected();
        let mut machine = Machine::new(workload.as_ref(), expected.len());
        let mut pools = Vec::new();
        for threads in [1, 2] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
            pools.push(Arc::new(pool));
        }
        let record = machine.run(&pools[1], Counted::Nothing);
        machine.take_output();
        Ok(Loaded {
            name: name.to_owned(),
            thread_instructions: record.counters.thread_instructions,
            output: vec![POISON; expected.len()],
            workload,
            machine,
            expected,
            pools,
            verified: HashSet::new(),
        })
    }

    fn execute(&mut self, command: &str, rest: &str, folder: &Path) -> Result<Value> {
        Ok(match command {
            "write" => {
                self.write(folder)?;
                json!({})
            }
            "simulator" => {
                let (observe, threads) = rest
                    .split_once(' ')
                    .ok_or("simulator needs OBSERVE and THREADS")?;
                let observe = look_up(&OBSERVE, observe)?;
                let pool = match threads {
                    "1" => &self.pools[0],
                    "2" => &self.pools[1],
                    _ => return Err("THREADS must be 1 or 2".into()),
                };
                if self.verified.insert(rest.to_owned()) {
                    self.machine.run(pool, observe);
                    let output = self.machine.take_output();
                    self.compare(&output)?;
                }
                json!({ "seconds": seconds(|| drop(self.machine.run(pool, observe))) })
            }
            "plain" => {
                let (workload, output) = (&self.workload, &mut self.output);
                if self.verified.insert("plain".to_owned()) {
                    workload.plain(output);
                    self.compare(&self.output)?;
                }
                let (workload, output) = (&self.workload, &mut self.output);
                json!({ "seconds": seconds(|| workload.plain(output)) })
            }
            _ => return Err(format!("unknown command: {command}").into()),
        })
    }

    fn compare(&self, output: &[u32]) -> Result<()> {
        let mut pairs = output.iter().zip(&self.expected);
        match pairs.position(|(actual, expected)| actual != expected) {
            Some(word) => Err(format!("{}: wrong result in word {word}", self.name).into()),
            None => Ok(()),
        }
    }

    /// Writes `workload.json`, which describes the launch and names the files with the arrays, all of 4-byte
    /// elements. An array in constant memory is the last argument.
    fn write(&self, folder: &Path) -> Result<()> {
        let workload = &self.workload;
        let mut files = 0;
        let mut file = |bytes: &[u8]| -> Result<String> {
            let name = format!("{files}.bin");
            files += 1;
            std::fs::write(folder.join(&name), bytes)?;
            Ok(name)
        };
        let plan = workload.plan(self.expected.len());
        let [launch] = &plan.launches[..] else {
            return Err("a workload has one launch".into());
        };
        let mut array = |index: usize| -> Result<Value> {
            let buffer = &plan.buffers[index];
            let element = numpy_name(buffer.element);
            if index == OUTPUT {
                return Ok(json!({ "output": self.expected.len(), "element": element }));
            }
            let contents = buffer.initial.as_deref().unwrap_or_default();
            Ok(json!({ "input": file(contents)?, "element": element }))
        };
        let entries = kernels::entry_points(workload.ptx());
        let parameters = &kernels::find(&entries, &launch.kernel)?.parameters;
        let mut arguments = Vec::new();
        for (argument, parameter) in launch.arguments.iter().zip(parameters) {
            match argument {
                Argument::Buffer { index, .. } => arguments.push(array(*index)?),
                Argument::Number(value) => {
                    let is_long = *parameter == Parameter::Number("u64".to_owned());
                    let size = if is_long { "long" } else { "word" };
                    arguments.push(json!({ (size): value.to_integer() as u64 }));
                }
                Argument::Structure { bytes, pointers } => {
                    for (member, bytes) in bytes.chunks_exact(size_of::<u64>()).enumerate() {
                        let mut pointers = pointers.iter();
                        let pointer =
                            pointers.find(|(offset, _)| *offset == member * size_of::<u64>());
                        arguments.push(match pointer {
                            Some((_, index)) => array(*index)?,
                            None => json!({ "long": u64::from_le_bytes(bytes.try_into()?) }),
                        });
                    }
                }
            }
        }
        for (index, _) in plan
            .buffers
            .iter()
            .enumerate()
            .filter(|(_, buffer)| buffer.symbol)
        {
            arguments.push(array(index)?);
        }
        let bytes: Vec<u8> = self.expected.iter().flat_map(|x| x.to_le_bytes()).collect();
        let launch = json!({
            "kernel": launch.kernel,
            "grid": launch.grid,
            "block": launch.block,
            "arguments": arguments,
            "expected": file(&bytes)?,
        });
        std::fs::write(folder.join("work.json"), launch.to_string())?;
        Ok(())
    }
}

/// Returns NumPy's name of an element type.
fn numpy_name(element: Element) -> &'static str {
    match element {
        Element::F32 => "float32",
        Element::I32 => "int32",
        _ => "uint32",
    }
}

/// Returns the seconds per run, averaged over the runs that fit in [`MIN_DURATION`].
fn seconds(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    for runs in 1_u32.. {
        run();
        let elapsed = start.elapsed();
        if elapsed >= MIN_DURATION {
            return elapsed.as_secs_f64() / f64::from(runs);
        }
    }
    unreachable!("u32::MAX runs take longer than MIN_DURATION")
}
