//! Worker processes that run kernels. Each has one backend, reads one task per line and replies with one line.
//! A kernel that faults ends only its own process.

use crate::device::Device;
use crate::forms::Forms;
use crate::generate;
use crate::record::Record;
use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time limit for a task. No correct kernel takes this long.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// A kernel to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    pub seed: u64,
    pub kernel: u64,
    #[serde(default)]
    pub removed: BTreeSet<u32>,
    /// The assembler's optimization level; `None` for its default.
    #[serde(default)]
    pub level: Option<u8>,
    /// The number of threads whose approximate results are returned.
    pub threads: usize,
    /// True to return every word of the output.
    #[serde(default)]
    pub all_words: bool,
}

/// The worker's reply to a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Reply {
    Ran {
        record: Record,
        /// The output if it was requested, otherwise empty.
        words: Vec<u64>,
    },
    Failed(String),
}

/// Serves tasks from standard input until end of file.
///
/// # Errors
/// Fails if there is no GPU, or a pipe breaks.
pub fn serve() -> Result<()> {
    let device = Device::open()?;
    let forms = Forms::new();
    for line in std::io::stdin().lock().lines() {
        let task: Task = serde_json::from_str(&line?).context("invalid task")?;
        let kernel = generate::kernel(&forms, task.seed, task.kernel);
        let output = device.run(&kernel, &task.removed, task.seed, task.level);
        let reply = match &output {
            Ok(output) => Reply::Ran {
                record: Record::new(&kernel, output, task.threads),
                words: if task.all_words {
                    output.words.clone()
                } else {
                    Vec::new()
                },
            },
            Err(error) => Reply::Failed(format!("{error:#}")),
        };
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{}", serde_json::to_string(&reply)?)?;
        stdout.flush()?;
        if output.is_err() {
            // The context may be unusable: another process takes over.
            std::process::exit(1);
        }
    }
    Ok(())
}

/// A process that serves tasks. It is started on first use, and again after it has exited.
pub struct Worker {
    backend: Option<&'static str>,
    running: Option<Running>,
}

struct Running {
    child: Child,
    tasks: ChildStdin,
    replies: Receiver<String>,
}

impl Worker {
    /// Creates a worker with the backend `gpu` or `sim`, or for `None` with the default one.
    pub fn new(backend: Option<&'static str>) -> Worker {
        Worker {
            backend,
            running: None,
        }
    }

    /// Runs a task.
    ///
    /// # Errors
    /// Fails if no process can be started.
    pub fn run(&mut self, task: &Task) -> Result<Reply> {
        let running = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(start(self.backend)?),
        };
        let reply = request(running, task);
        if !matches!(reply, Ok(Reply::Ran { .. })) {
            self.stop();
        }
        reply
    }

    fn stop(&mut self) {
        if let Some(Running {
            mut child, tasks, ..
        }) = self.running.take()
        {
            drop(tasks);
            // The process may hang in a kernel that does not end. If it has already exited, killing it does
            // no harm.
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
    let executable = std::env::current_exe().context("cannot find this program's executable")?;
    let mut command = Command::new(executable);
    command
        .arg("worker")
        // Kernels are generated for targets up to this device's compute capability.
        .env("CUDA_SIM_DEVICE", "h200")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if let Some(backend) = backend {
        command.env("CUDA_BACKEND", backend);
    }
    let mut child = command.spawn().context("cannot start a worker process")?;
    let (Some(tasks), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        bail!("the worker process has no pipes");
    };
    let (sender, replies) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(Running {
        child,
        tasks,
        replies,
    })
}

fn request(running: &mut Running, task: &Task) -> Result<Reply> {
    const EXITED: &str = "the worker process has exited";
    if writeln!(running.tasks, "{}", serde_json::to_string(task)?).is_err() {
        return Ok(Reply::Failed(EXITED.to_owned()));
    }
    match running.replies.recv_timeout(TIME_LIMIT) {
        Ok(line) => Ok(serde_json::from_str(&line)?),
        Err(RecvTimeoutError::Timeout) => Ok(Reply::Failed(format!(
            "timed out after {} s",
            TIME_LIMIT.as_secs()
        ))),
        Err(RecvTimeoutError::Disconnected) => Ok(Reply::Failed(EXITED.to_owned())),
    }
}
