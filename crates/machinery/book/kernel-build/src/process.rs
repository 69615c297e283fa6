//! Running a program that may hang or write too much output.

use std::io::{self, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(unix)]
use process_wrap::std::{ChildWrapper, CommandWrap, ProcessGroup};

/// The limits of a program.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Duration,
    /// Bytes of standard output.
    pub max_output: usize,
    /// True to put the program into its own process group and kill the group. An interrupt from the keyboard
    /// then does not reach it.
    pub kill_group: bool,
}

/// The number of bytes of standard error to keep.
const MAX_STDERR_BYTES: usize = 64 << 10;

/// The interval at which a program that has closed its output is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The output and the exit status of a program.
#[derive(Debug)]
pub struct ProcessOutput {
    pub status: ExitStatus,
    /// The standard output.
    pub stdout: String,
    /// The beginning of the standard error.
    pub stderr: String,
}

/// The reason for which a program has no output.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program could not be started.
    #[error("{0}")]
    NotStarted(io::Error),
    /// The time limit was exceeded.
    #[error("it did not exit within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The limit of the output was exceeded.
    #[error("its output exceeds {0} bytes")]
    OutputTooLong(usize),
}

/// Runs a program with this input, and kills it if it exceeds a limit.
pub fn run(
    command: &mut Command,
    input: String,
    limits: Limits,
) -> Result<ProcessOutput, RunError> {
    let mut running = Running::start(command, limits.kill_group).map_err(RunError::NotStarted)?;
    let output = running.communicate(input, limits);
    if output.is_err() {
        running.kill();
    }
    output
}

/// A running program.
#[cfg(unix)]
struct Running(Box<dyn ChildWrapper>);

#[cfg(not(unix))]
struct Running(std::process::Child);

/// The pipes to standard input, output and error.
type Pipes = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

impl Running {
    fn start(command: &mut Command, kill_group: bool) -> io::Result<Running> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Running::spawn(command, kill_group)
    }

    #[cfg(unix)]
    fn spawn(command: &mut Command, kill_group: bool) -> io::Result<Running> {
        if !kill_group {
            return Ok(Running(Box::new(command.spawn()?)));
        }
        let command = std::mem::replace(command, Command::new(""));
        let mut command = CommandWrap::from(command);
        command.wrap(ProcessGroup::leader());
        Ok(Running(command.spawn()?))
    }

    /// Process groups are not supported here, so the program's children survive it.
    #[cfg(not(unix))]
    fn spawn(command: &mut Command, _alone: bool) -> io::Result<Running> {
        Ok(Running(command.spawn()?))
    }

    #[cfg(unix)]
    fn pipes(&mut self) -> Pipes {
        let child = &mut self.0;
        let (input, stdout) = (child.stdin().take(), child.stdout().take());
        (input, stdout, child.stderr().take())
    }

    #[cfg(not(unix))]
    fn pipes(&mut self) -> Pipes {
        let child = &mut self.0;
        let (input, stdout) = (child.stdin.take(), child.stdout.take());
        (input, stdout, child.stderr.take())
    }

    /// Kills the program and waits for it.
    fn kill(&mut self) {
        // An error means that the program has already exited.
        let _ = self.0.kill();
    }

    fn communicate(&mut self, input: String, limits: Limits) -> Result<ProcessOutput, RunError> {
        let deadline = Instant::now() + limits.time;
        let (stdin, stdout, stderr) = self.pipes();
        if let Some(mut stdin) = stdin {
            // A write error means that the program stopped reading; its own message says why.
            let write = move || drop(stdin.write_all(input.as_bytes()));
            thread::Builder::new()
                .spawn(write)
                .map_err(RunError::NotStarted)?;
        }
        // The threads are never joined, because children of a killed program may keep the pipes open.
        let stdout =
            stdout.map(|stream| read_in_background(stream, limits.max_output, Overflow::Stop));
        let stdout = stdout.transpose().map_err(RunError::NotStarted)?;
        let stderr =
            stderr.map(|stream| read_in_background(stream, MAX_STDERR_BYTES, Overflow::Discard));
        let stderr = stderr.transpose().map_err(RunError::NotStarted)?;
        let stdout = receive(stdout, deadline, limits)?;
        if stdout.len() > limits.max_output {
            return Err(RunError::OutputTooLong(limits.max_output));
        }
        let stderr = receive(stderr, deadline, limits)?;
        loop {
            match self.0.try_wait().map_err(RunError::NotStarted)? {
                Some(status) => {
                    return Ok(ProcessOutput {
                        status,
                        stdout,
                        stderr,
                    });
                }
                None if Instant::now() >= deadline => return Err(RunError::TimedOut(limits.time)),
                None => thread::sleep(POLL_INTERVAL),
            }
        }
    }
}

/// The treatment of output beyond the limit.
enum Overflow {
    /// Stop reading.
    Stop,
    /// Read and discard it.
    Discard,
}

/// Reads up to `max_bytes` + 1 bytes in a background thread.
fn read_in_background(
    mut stream: impl Read + Send + 'static,
    max_bytes: usize,
    overflow: Overflow,
) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = channel();
    thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        // On a read error, the bytes read so far are kept.
        let _ = (&mut stream)
            .take(max_bytes as u64 + 1)
            .read_to_end(&mut bytes);
        if let Overflow::Discard = overflow {
            bytes.truncate(max_bytes);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        // The receiver no longer exists if the program was killed.
        let _ = sender.send(bytes);
    })?;
    Ok(receiver)
}

/// Waits for the output of a background thread until the deadline.
fn receive(
    stream: Option<Receiver<Vec<u8>>>,
    deadline: Instant,
    limits: Limits,
) -> Result<String, RunError> {
    let Some(stream) = stream else {
        return Ok(String::new());
    };
    let remaining = deadline.saturating_duration_since(Instant::now());
    match stream.recv_timeout(remaining) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(RecvTimeoutError::Timeout) => Err(RunError::TimedOut(limits.time)),
        Err(RecvTimeoutError::Disconnected) => Ok(String::new()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        time: Duration::from_secs(20),
        max_output: 1000,
        kill_group: true,
    };

    fn shell(script: &str, limits: Limits) -> Result<ProcessOutput, RunError> {
        run(
            Command::new("/bin/sh").args(["-c", script]),
            "input".to_owned(),
            limits,
        )
    }

    #[test]
    fn output_is_read_until_the_program_exits() {
        let output = shell("cat; echo why >&2; exit 3", LIMITS).expect("cannot run the shell");
        assert_eq!(output.stdout, "input");
        assert_eq!(output.stderr, "why\n");
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_hanging_program_is_killed_with_its_children() {
        let directory = tempfile::tempdir().expect("a temporary folder");
        let file = directory.path().join("later");
        let limits = Limits {
            time: Duration::from_millis(300),
            ..LIMITS
        };
        for script in [
            "sleep 2; : >",
            "exec >&- 2>&-; sleep 2; : >",
            "sleep 2 && : >",
        ] {
            let script = format!("({script} '{}')", file.display());
            let started = Instant::now();
            let result = shell(&script, limits);
            assert!(matches!(result, Err(RunError::TimedOut(_))), "{result:?}");
            assert!(started.elapsed().as_secs_f64() < 1.5, "{script}");
        }
        thread::sleep(Duration::from_millis(2500));
        assert!(!file.exists());
    }

    #[test]
    fn long_output_is_rejected_and_long_stderr_truncated() {
        let result = shell("while :; do echo more; done", LIMITS);
        assert!(
            matches!(result, Err(RunError::OutputTooLong(1000))),
            "{result:?}"
        );
        let output = shell("printf %1000s; printf %200000s >&2", LIMITS);
        let output = output.expect("as long as it may be");
        assert_eq!(output.stdout.len(), 1000);
        assert_eq!(output.stderr.len(), MAX_STDERR_BYTES);
    }
}
