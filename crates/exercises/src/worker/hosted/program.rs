//! The running program around a Rust submission, and the exchange of requests and replies with it.

use std::ffi::OsStr;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use answers::protocol::{Outcome, Question, REPLY, Reply};
use anyhow::{Context as _, Result};
use confine::Rules;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::data::Text;
use crate::lang::Lang;
use crate::worker::job::{Job, Limits};
use crate::worker::lines::{Lines, Said};
use crate::worker::supervise::ending;

/// The capacity of the channel of output lines; a full channel blocks the program.
const WAITING: usize = 16;

/// The time that the program has to exit after its input closes.
const END: Duration = Duration::from_secs(2);

/// Environment variables passed to the program for the simulator or the GPU, in addition to those that every
/// program needs.
/// needs.
const VARIABLES: [&str; 4] = [
    "CUDA_BACKEND",
    "CUDA_SIM_DEVICE",
    "CUDA_SIM_TIME_LIMIT",
    "RAYON_NUM_THREADS",
];

/// The program did not reply as required; contains the explanation for the student.
#[derive(Debug, Error)]
#[error("{}", .0.en)]
pub struct Unanswered(pub Text);

/// A running student's program, killed when this value is dropped.
pub struct Program {
    /// The PTX of the exercise's kernel, for requests; empty if there is none.
    pub ptx: String,
    child: Child,
    stdin: Option<ChildStdin>,
    said: Receiver<Said<Vec<u8>>>,
    /// The number of requests sent.
    asked: u32,
    limits: Limits,
}

impl Program {
    /// Starts the program within limits, with access only to its own file and the system's libraries.
    pub fn start(file: &Path, ptx: String, job: &Job) -> Result<Program> {
        let mut rules = Rules {
            execute: confine::system_libraries(),
            ..job.limits.rules()
        };
        if crate::worker::on_gpu() {
            for_gpu(&mut rules);
        }
        let starts = || {
            let mut command = rules.command(file)?;
            for variable in VARIABLES {
                command.envs(env::var_os(variable).map(|value| (variable, value)));
            }
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
        };
        let mut child = starts().with_context(|| {
            job.lang
                .pick("the answer does not start", "答案无法启动")
                .to_owned()
        })?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("a program without output")?;
        let (to, said) = sync_channel(WAITING);
        thread::Builder::new().spawn(move || {
            for line in Lines::replies(BufReader::new(stdout)) {
                if to.send(line).is_err() {
                    break;
                }
            }
        })?;
        Ok(Program {
            ptx,
            child,
            stdin,
            said,
            asked: 0,
            limits: job.limits,
        })
    }

    /// Sends a request and returns the reply, which `fits` must accept.
    ///
    /// # Errors
    ///
    /// Fails with [`Unanswered`] if there is no valid reply.
    pub fn ask<Q: Serialize, R: DeserializeOwned>(
        &mut self,
        asks: Q,
        fits: impl FnOnce(&R) -> bool,
    ) -> Result<R> {
        self.asked += 1;
        let number = self.asked;
        let question = serde_json::to_string(&Question { number, asks })?;
        if let Some(stdin) = &mut self.stdin {
            // Ignore write errors: a program that has exited is detected by the end of its output.
            let _ = writeln!(stdin, "{question}").and_then(|()| stdin.flush());
        }
        let Some(line) = self.reply(None)? else {
            return Err(Unanswered(self.ended()?).into());
        };
        let reply: Option<Reply<R>> = serde_json::from_slice(&line).ok();
        let data = match reply {
            Some(reply) if reply.number != number => return Err(twice().into()),
            None => return Err(garbled().into()),
            Some(reply) => match reply.outcome {
                Outcome::Data(data) => data,
                Outcome::Error(why) => {
                    let said = |lang: Lang| {
                        let early = match why.contains("NotReady") {
                            true => lang.pick(
                                " The GPU has not come that far yet: wait for the event or the stream first \
                                 (`synchronize`).",
                                "GPU 还没有执行到那里：请先等待该事件或流（`synchronize`）。",
                            ),
                            false => "",
                        };
                        say!(lang, "It does not run: {}.{}", "运行失败：{}。{}"; why, early)
                    };
                    return Err(Unanswered(Text::both(said)).into());
                }
                Outcome::Panic { why, call } => {
                    let said = |lang| match call.as_str() {
                        "" => say!(lang, "It panicked: {}", "程序发生 panic：{}"; why),
                        call => say!(
                            lang,
                            "`{}` panicked: {}",
                            "`{}` 发生 panic：{}";
                            call, why
                        ),
                    };
                    return Err(Unanswered(Text::both(said)).into());
                }
            },
        };
        match fits(&data) {
            true => Ok(data),
            false => Err(garbled().into()),
        }
    }

    /// Closes the program's input and checks that it sends nothing more.
    pub fn end(mut self) -> Result<(), Unanswered> {
        drop(self.stdin.take());
        match self.reply(Some(Instant::now() + END)) {
            Ok(Some(_)) => Err(twice()),
            _ => Ok(()),
        }
    }

    /// Returns the next reply without its prefix, and prints the other lines before it. Returns `None` if the
    /// output ends or the deadline passes.
    fn reply(&self, until: Option<Instant>) -> Result<Option<Vec<u8>>> {
        loop {
            let said = match until {
                None => self.said.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    self.said.recv_timeout(left)
                }
            };
            match said {
                Ok(Said::Message(line)) => return Ok(Some(line)),
                Ok(Said::Printed(text)) => {
                    let mut stdout = std::io::stdout().lock();
                    stdout.write_all(text.as_bytes())?;
                    stdout.flush()?;
                }
                Err(_) => return Ok(None),
            }
        }
    }

    /// Explains how the program ended.
    fn ended(&mut self) -> Result<Text> {
        let status = self.child.wait()?;
        Ok(Text::both(|lang| ending(status, &self.limits, lang)))
    }
}

/// Adds what NVIDIA's driver needs: its devices, `/proc` and `/sys`. On a GPU a program can therefore see
/// other processes and exhaust the GPU's memory and time.
fn for_gpu(rules: &mut Rules) {
    let devices = fs::read_dir("/dev").into_iter().flatten().flatten();
    let is_gpu = |name: &OsStr| name.to_string_lossy().starts_with("nvidia");
    let devices = devices.filter(|entry| is_gpu(&entry.file_name()));
    rules.devices = devices.map(|entry| entry.path()).collect();
    rules.read.extend(["/proc", "/sys"].map(PathBuf::from));
    rules.execute.extend(library_folders());
}

/// Returns the additional folders in which the loader finds the driver's library.
fn library_folders() -> Vec<PathBuf> {
    let path = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path)
        .filter(|it| it.is_absolute())
        .collect();
    folders.extend(["/usr/local/nvidia", "/usr/local/cuda"].map(PathBuf::from));
    folders
}

impl Drop for Program {
    fn drop(&mut self) {
        // Ignore the error for a program that has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn garbled() -> Unanswered {
    Unanswered(Text::both(|lang| {
        say!(
            lang,
            "What came back from your answer is not what its functions return. Lines that begin with `{}` are \
             the course's own: print others.",
            "从你的答案得到的内容不是其函数的返回值。以 `{}` 开头的行只供课程使用：请不要打印这样的行。";
            REPLY.trim_end()
        )
    }))
}

fn twice() -> Unanswered {
    Unanswered(Text::both(|lang| {
        say!(
            lang,
            "More came back from your answer than was asked. Lines that begin with `{}` are the course's own: \
             print others.",
            "从你的答案得到的内容多于所询问的内容。以 `{}` 开头的行只供课程使用：请不要打印这样的行。";
            REPLY.trim_end()
        )
    }))
}
