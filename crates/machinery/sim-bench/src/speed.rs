//! Times the chapters' kernels on the simulator, and the same computations as plain Rust loops, for
//! `scripts/speed`, which asks for one run at a time so that others can have theirs in between.
//!
//! `speed FOLDER` reads commands, one a line, and answers each by a line of JSON:
//!
//!   names                         the names of all works
//!   load SCALE NAME               from now on this work: its size, its thread instructions
//!   write                         writes what is loaded into FOLDER, for other engines
//!   simulator OBSERVE THREADS     seconds a launch, on so many threads
//!   plain                         seconds of the plain loop, on one thread
//!
//! SCALE is tiny, 1, 4 or 16; OBSERVE nothing, sample or everything. Before a work is timed in a
//! new way its result is compared with the chapter's reference. Anything wrong ends the program.

#[path = "../benches/work/mod.rs"]
mod work;

use std::collections::HashSet;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cuda_sim::exec::Observe;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::{Value, json};
use work::{Argument, Buffer, Machine, POISON, Scale, Work};

/// A run is repeated until it has taken this long, and timed as a whole.
const LONG_ENOUGH: Duration = Duration::from_millis(50);

/// How much of a launch is counted.
const OBSERVE: [(&str, Observe); 3] = [
    ("nothing", Observe::Nothing),
    ("sample", Observe::Sample),
    ("everything", Observe::Everything),
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
    let folder = folder.ok_or("name the folder to write to")?;
    let mut loaded: Option<Loaded> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = match command {
            "names" => json!(work::ALL.map(|(name, _)| name)),
            "load" => {
                // Not both at once in memory.
                drop(loaded.take());
                let (scale, name) = rest.split_once(' ').ok_or("load what?")?;
                let now = loaded.insert(Loaded::new(find(&Scale::ALL, scale)?, name)?);
                json!({ "size": now.work.size(), "thread_instructions": now.thread_instructions })
            }
            _ => {
                let loaded = loaded.as_mut().ok_or("load a work first")?;
                loaded.answer(command, rest, &folder)?
            }
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// What `name` stands for.
fn find<T: Copy>(among: &[(&str, T)], name: &str) -> Result<T> {
    let found = among.iter().find(|(known, _)| *known == name);
    let (_, value) = found.ok_or_else(|| format!("there is no {name}"))?;
    Ok(*value)
}

/// A work with its inputs, here and in the simulator's memory.
struct Loaded {
    name: String,
    work: Box<dyn Work>,
    machine: Machine,
    expected: Vec<u32>,
    thread_instructions: u64,
    /// The plain loop's.
    output: Vec<u32>,
    pools: Vec<ThreadPool>,
    /// What has given the right result.
    right: HashSet<String>,
}

impl Loaded {
    fn new(scale: Scale, name: &str) -> Result<Loaded> {
        let work = find(&work::ALL, name)?(scale);
        let expected = work.expected();
        let machine = Machine::new(work.as_ref(), expected.len());
        let pools = [1, 2].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build());
        let pools = pools
            .into_iter()
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let report = machine.run(&pools[1], Observe::Nothing);
        machine.take_output();
        Ok(Loaded {
            name: name.to_owned(),
            thread_instructions: machine.thread_instructions(&report),
            output: vec![POISON; expected.len()],
            work,
            machine,
            expected,
            pools,
            right: HashSet::new(),
        })
    }

    fn answer(&mut self, command: &str, rest: &str, folder: &Path) -> Result<Value> {
        Ok(match command {
            "write" => {
                self.write(folder)?;
                json!({})
            }
            "simulator" => {
                let (observe, threads) = rest.split_once(' ').ok_or("how many threads?")?;
                let observe = find(&OBSERVE, observe)?;
                let pool = match threads {
                    "1" => &self.pools[0],
                    "2" => &self.pools[1],
                    _ => return Err("1 or 2 threads".into()),
                };
                let run = || drop(self.machine.run(pool, observe));
                if self.right.insert(rest.to_owned()) {
                    run();
                    self.compare(&self.machine.take_output())?;
                }
                json!({ "seconds": seconds(run) })
            }
            "plain" => {
                let (work, output) = (&self.work, &mut self.output);
                if self.right.insert("plain".to_owned()) {
                    work.plain(output);
                    self.compare(&self.output)?;
                }
                let (work, output) = (&self.work, &mut self.output);
                json!({ "seconds": seconds(|| work.plain(output)) })
            }
            _ => return Err(format!("there is no {command}").into()),
        })
    }

    fn compare(&self, output: &[u32]) -> Result<()> {
        let mut pairs = output.iter().zip(&self.expected);
        match pairs.position(|(got, want)| got != want) {
            Some(word) => Err(format!("{}: word {word} is wrong", self.name).into()),
            None => Ok(()),
        }
    }

    /// `work.json` says what a launch is, and names the files with arrays, all of 4-byte elements.
    /// An array of constant memory comes last among the arguments.
    fn write(&self, folder: &Path) -> Result<()> {
        let work = &self.work;
        let mut files = 0;
        let mut file = |bytes: &[u8]| -> Result<String> {
            let name = format!("{files}.bin");
            files += 1;
            std::fs::write(folder.join(&name), bytes)?;
            Ok(name)
        };
        let mut array = |buffer: Buffer| -> Result<Value> {
            let element = match buffer {
                Buffer::Floats(_) => "float32",
                Buffer::Ints(_) => "int32",
            };
            Ok(json!({ "input": file(&buffer.bytes())?, "element": element }))
        };
        let mut arguments = Vec::new();
        for argument in work.arguments() {
            arguments.push(match argument {
                Argument::Word(word) => json!({ "word": word }),
                Argument::Long(long) => json!({ "long": long }),
                Argument::Input(buffer) => array(buffer)?,
                Argument::Output => {
                    json!({ "output": self.expected.len(), "element": work.element() })
                }
            });
        }
        if let Some((_, buffer)) = work.symbol() {
            arguments.push(array(buffer)?);
        }
        let bytes: Vec<u8> = self.expected.iter().flat_map(|x| x.to_le_bytes()).collect();
        let launch = json!({
            "kernel": work.kernel(),
            "grid": work.shape()[0],
            "block": work.shape()[1],
            "arguments": arguments,
            "expected": file(&bytes)?,
        });
        std::fs::write(folder.join("work.json"), launch.to_string())?;
        Ok(())
    }
}

/// Seconds of a run, on average over as many as take [`LONG_ENOUGH`].
fn seconds(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    for runs in 1_u32.. {
        run();
        let elapsed = start.elapsed();
        if elapsed >= LONG_ENOUGH {
            return elapsed.as_secs_f64() / f64::from(runs);
        }
    }
    unreachable!("so many runs take longer")
}
