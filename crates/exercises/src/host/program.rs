//! The running program around a Rust submission, and the exchange of requests and replies with it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use answers::protocol::{Outcome, READY, REPLY, Reply, Request};
use anyhow::{Context as _, Result, anyhow, bail};
use chapter::lang::{Lang, Text};
use confine::Rules;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{Bench, Case, Output};
use crate::process::{Limits, Lines, OutputLine, explain_outside, explain_status, on_gpu};

/// The capacity of the channel of output lines; a full channel blocks the program.
const CHANNEL_CAPACITY: usize = 16;

/// The time that the program has to exit after its input closes.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The interval at which the number of the program's threads is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The maximum number of the program's threads. No limit of the system counts those of one process.
const MAX_THREADS: usize = 256;

/// Environment variables passed to the program: those that Windows needs to start it, and those for the simulator or the
/// GPU.
const VARIABLES: [&str; 7] = [
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "CUDA_BACKEND",
    "CUDA_SIM_DEVICE",
    "CUDA_SIM_TIME_LIMIT",
    "RAYON_NUM_THREADS",
];

/// Additional variables by which NVIDIA's driver is found.
const GPU_VARIABLES: [&str; 2] = ["PATH", "LD_LIBRARY_PATH"];

/// The grader's side of an exercise in which the student writes Rust.
pub trait HostExercise: Sync {
    /// Sends requests about a case to the student's program and returns its replies with their references.
    ///
    /// # Errors
    ///
    /// Fails with [`NoReply`] if the program did not reply, and with CUDA's errors.
    fn run(&self, bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>>;
}

/// The program did not reply as required; contains the explanation for the student.
#[derive(Debug, Error)]
#[error("{}", .0.en)]
pub struct NoReply(pub Text);

/// A running student's program, killed when this value is dropped.
pub struct Program {
    /// The PTX of the exercise's kernel, for requests; empty if there is none.
    pub ptx: String,
    child: Child,
    stdin: Option<ChildStdin>,
    output_lines: Receiver<OutputLine<Vec<u8>>>,
    /// The number of requests sent.
    request_count: u32,
    limits: Limits,
    lang: Lang,
}

impl Program {
    /// Starts the program `name` in `folder`, within limits, with access only to its own file and the system's
    /// libraries. It gives up that access, too, before the student's code runs, except on a GPU. Its working directory
    /// is `folder`.
    ///
    /// # Errors
    ///
    /// Fails if the program does not start, which is not the student's fault.
    pub fn start(
        folder: &Path,
        name: &str,
        ptx: String,
        limits: Limits,
        lang: Lang,
    ) -> Result<Program> {
        let mut rules = Rules {
            execute: confine::system_libraries(),
            ..limits.rules()
        };
        let mut variables = VARIABLES.to_vec();
        if on_gpu() {
            allow_gpu(&mut rules);
            variables.extend(GPU_VARIABLES);
        }
        let spawn = || {
            // Relative, so that its arguments do not tell the path.
            let mut command = rules.command(Path::new(".").join(name))?;
            command.env_clear().current_dir(folder);
            for variable in variables {
                command.envs(env::var_os(variable).map(|value| (variable, value)));
            }
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
        };
        let context = || lang.pick("the submission cannot be started", "答案无法启动");
        let mut child = spawn().with_context(context)?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("a program without output")?;
        let (to, output_lines) = sync_channel(CHANNEL_CAPACITY);
        let mut program = Program {
            ptx,
            child,
            stdin,
            output_lines,
            request_count: 0,
            limits,
            lang,
        };
        let read = move || {
            for line in replies(BufReader::new(stdout)) {
                if to.send(line).is_err() {
                    break;
                }
            }
        };
        thread::Builder::new().spawn(read).with_context(context)?;
        match program.reply(None)? {
            Some(line) if line == READY.as_bytes() => Ok(program),
            _ => {
                let status = program.child.wait()?;
                Err(anyhow!("{status}").context(context()))
            }
        }
    }

    /// Sends a request and returns the reply, which `fits` must accept.
    ///
    /// # Errors
    ///
    /// Fails with [`NoReply`] if there is no valid reply.
    pub fn request<Q: Serialize, R: DeserializeOwned>(
        &mut self,
        data: Q,
        fits: impl FnOnce(&R) -> bool,
    ) -> Result<R> {
        self.request_count += 1;
        let number = self.request_count;
        let request_line = serde_json::to_string(&Request { number, data })?;
        if let Some(stdin) = &mut self.stdin {
            // Ignore write errors: a program that has exited is detected by the end of its output.
            let _ = writeln!(stdin, "{request_line}").and_then(|()| stdin.flush());
        }
        let Some(line) = self.reply(None)? else {
            return Err(NoReply(self.describe_exit()?).into());
        };
        let reply: Option<Reply<R>> = serde_json::from_slice(&line).ok();
        let data = match reply {
            Some(reply) if reply.number != number => return Err(extra_reply().into()),
            None => return Err(invalid_reply().into()),
            Some(reply) => match reply.outcome {
                Outcome::Data(data) => data,
                Outcome::Error(error) => {
                    let message = |lang: Lang| {
                        let hint = match error.contains("NotReady") {
                            true => lang.pick(
                                " The GPU has not reached it yet: wait for the event or the stream \
                                 first (`synchronize`).",
                                "GPU 还没有执行到那里：请先等待该事件或流（`synchronize`）。",
                            ),
                            false => "",
                        };
                        localize!(lang, "It failed to run: {}.{}", "运行失败：{}。{}"; error, hint)
                    };
                    return Err(NoReply(Text::from_fn(message)).into());
                }
                Outcome::Panic { message, call } => {
                    let explanation = |lang| match call.as_str() {
                        "" => localize!(lang, "It panicked: {}", "程序发生 panic：{}"; message),
                        call => localize!(
                            lang,
                            "`{}` panicked: {}",
                            "`{}` 发生 panic：{}";
                            call, message
                        ),
                    };
                    return Err(NoReply(Text::from_fn(explanation)).into());
                }
            },
        };
        match fits(&data) {
            true => Ok(data),
            false => Err(invalid_reply().into()),
        }
    }

    /// Closes the program's input and checks that it sends nothing more.
    pub fn end(mut self) -> Result<(), NoReply> {
        drop(self.stdin.take());
        match self.reply(Some(Instant::now() + EXIT_TIMEOUT)) {
            Ok(Some(_)) => Err(extra_reply()),
            Err(error) => error.downcast::<NoReply>().map_or(Ok(()), Err),
            Ok(None) => Ok(()),
        }
    }

    /// Returns the next reply without its prefix, and prints the other lines before it. Returns `None` if the
    /// output ends or the deadline passes.
    ///
    /// # Errors
    ///
    /// Fails with [`NoReply`] if the program has too many threads.
    fn reply(&mut self, deadline: Option<Instant>) -> Result<Option<Vec<u8>>> {
        let mut next_check = Instant::now();
        loop {
            let now = Instant::now();
            if now >= next_check {
                next_check = now + POLL_INTERVAL;
                if thread_count(&self.child) > MAX_THREADS {
                    self.child.kill()?;
                    return Err(too_many_threads().into());
                }
                if deadline.is_some_and(|deadline| now >= deadline) {
                    return Ok(None);
                }
            }
            match self.output_lines.recv_timeout(POLL_INTERVAL) {
                Ok(OutputLine::Message(line)) => return Ok(Some(line)),
                Ok(OutputLine::Printed(text)) => {
                    let mut stdout = std::io::stdout().lock();
                    stdout.write_all(text.as_bytes())?;
                    stdout.flush()?;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Explains how the program ended.
    ///
    /// # Errors
    ///
    /// Fails if another process killed it.
    fn describe_exit(&mut self) -> Result<Text> {
        let status = self.child.wait()?;
        if untrusted::is_from_outside(status) {
            bail!(explain_outside(status, self.lang));
        }
        Ok(Text::from_fn(|lang| {
            explain_status(status, &self.limits, lang)
        }))
    }
}

/// Returns the number of a process's threads, on systems that list them in `/proc`.
fn thread_count(child: &Child) -> usize {
    fs::read_dir(format!("/proc/{}/task", child.id())).map_or(0, Iterator::count)
}

/// Reads the output of the program, whose replies are returned without their prefix.
fn replies<R: BufRead>(from: R) -> Lines<R, Vec<u8>> {
    Lines::new(from, |line| {
        Some(line.strip_prefix(REPLY.as_bytes())?.to_owned())
    })
}

/// Adds what NVIDIA's driver needs: its devices, `/proc` and `/sys`. On a GPU a program can therefore see
/// other processes and exhaust the GPU's memory and time.
fn allow_gpu(rules: &mut Rules) {
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
        .filter(|folder| folder.is_absolute())
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

fn invalid_reply() -> NoReply {
    NoReply(text!(
        "The replies are not what your functions return. Lines that begin with `{}` are \
         reserved for the course: do not print them.",
        "从你的答案收到的回复不是其函数的返回值。以 `{}` 开头的行只供课程使用：\
         请不要打印这样的行。";
        REPLY.trim_end()
    ))
}

fn too_many_threads() -> NoReply {
    NoReply(text!(
        "It was killed because it started more than {} threads. Start none, or a few.",
        "启动的线程超过 {} 个，被终止。请不要启动线程，或者只启动少量线程。";
        MAX_THREADS
    ))
}

fn extra_reply() -> NoReply {
    NoReply(text!(
        "Your submission sent more replies than requested. Lines that begin with `{}` are \
         reserved for the course: do not print them.",
        "你的答案发送的回复多于请求。以 `{}` 开头的行只供课程使用：请不要打印这样的行。";
        REPLY.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_distinguished_from_output() {
        let text = "hello\n @reply 1\n\n@reply {}\n@repl\n@reply half";
        let lines: Vec<_> = replies(text.as_bytes()).collect();
        assert!(matches!(&lines[0], OutputLine::Printed(text) if text == "hello\n"));
        assert!(matches!(&lines[1], OutputLine::Printed(text) if text == " @reply 1\n"));
        assert!(matches!(&lines[2], OutputLine::Message(line) if line == b"{}"));
        assert!(matches!(&lines[3], OutputLine::Printed(text) if text == "@repl\n"));
        assert_eq!(lines.len(), 4, "an unterminated line is ignored");
    }
}
