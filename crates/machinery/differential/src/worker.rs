//! Processes that run kernels: one has one backend, reads what to run line by line and answers line
//! by line. A kernel that fails ends its process only.

use crate::forms::Forms;
use crate::generate;
use crate::machine::Machine;
use crate::record::Record;
use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Longer than any kernel takes.
const PATIENCE: Duration = Duration::from_secs(15);

/// What to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    pub seed: u64,
    pub kernel: u64,
    #[serde(default)]
    pub removed: BTreeSet<u32>,
    /// The assembler's level; its own where there is none.
    #[serde(default)]
    pub level: Option<u8>,
    /// Of how many threads the approximate answers are wanted.
    pub threads: usize,
    /// Every word is wanted.
    #[serde(default)]
    pub whole: bool,
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Answer {
    Ran {
        record: Record,
        /// Where it was asked for.
        words: Vec<u64>,
    },
    Failed(String),
}

/// Serves tasks from standard input until it ends.
///
/// # Errors
/// Where there is no GPU, or a pipe breaks.
pub fn serve() -> Result<()> {
    let machine = Machine::open()?;
    let forms = Forms::new();
    for line in std::io::stdin().lock().lines() {
        let task: Task = serde_json::from_str(&line?).context("this is no task")?;
        let kernel = generate::kernel(&forms, task.seed, task.kernel);
        let left = machine.run(&kernel, &task.removed, task.seed, task.level);
        let answer = match &left {
            Ok(left) => Answer::Ran {
                record: Record::of(&kernel, left, task.threads),
                words: if task.whole {
                    left.words.clone()
                } else {
                    Vec::new()
                },
            },
            Err(error) => Answer::Failed(format!("{error:#}")),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        out.flush()?;
        if left.is_err() {
            // The context may be dead: another process goes on.
            std::process::exit(1);
        }
    }
    Ok(())
}

/// A process that serves tasks, started when it is first needed and again when it has ended.
pub struct Worker {
    backend: Option<&'static str>,
    running: Option<Running>,
}

struct Running {
    child: Child,
    tasks: ChildStdin,
    answers: Receiver<String>,
}

impl Worker {
    /// With the backend `gpu` or `sim`, or the one that this process would choose.
    pub fn new(backend: Option<&'static str>) -> Worker {
        Worker {
            backend,
            running: None,
        }
    }

    /// Runs a task.
    ///
    /// # Errors
    /// Where no process can be started.
    pub fn run(&mut self, task: &Task) -> Result<Answer> {
        let running = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(start(self.backend)?),
        };
        let answer = ask(running, task);
        if !matches!(answer, Ok(Answer::Ran { .. })) {
            self.stop();
        }
        answer
    }

    fn stop(&mut self) {
        if let Some(Running {
            mut child, tasks, ..
        }) = self.running.take()
        {
            drop(tasks);
            // It may be stuck in a kernel that does not end; one that has ended is no loss.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
    }
}

fn start(backend: Option<&str>) -> Result<Running> {
    let own = std::env::current_exe().context("this program's own file is not to be found")?;
    let mut command = Command::new(own);
    command
        .arg("worker")
        // Kernels are made for up to its compute capability.
        .env("CUDA_SIM_DEVICE", "h200")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if let Some(backend) = backend {
        command.env("CUDA_BACKEND", backend);
    }
    let mut child = command.spawn().context("no process can be started")?;
    let (Some(tasks), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
        bail!("a process was started without pipes");
    };
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(Running {
        child,
        tasks,
        answers,
    })
}

fn ask(running: &mut Running, task: &Task) -> Result<Answer> {
    const ENDED: &str = "the process that runs kernels has ended";
    if writeln!(running.tasks, "{}", serde_json::to_string(task)?).is_err() {
        return Ok(Answer::Failed(ENDED.to_owned()));
    }
    match running.answers.recv_timeout(PATIENCE) {
        Ok(line) => Ok(serde_json::from_str(&line)?),
        Err(RecvTimeoutError::Timeout) => Ok(Answer::Failed(format!(
            "no end after {} s",
            PATIENCE.as_secs()
        ))),
        Err(RecvTimeoutError::Disconnected) => Ok(Answer::Failed(ENDED.to_owned())),
    }
}
