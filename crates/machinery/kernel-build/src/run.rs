//! Running a program that may not come to an end, or say more than anybody reads.

use std::io::{self, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(unix)]
use process_wrap::std::{ChildWrapper, CommandWrap, ProcessGroup};

/// What it may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// On the clock.
    pub time: Duration,
    /// Bytes of its output.
    pub output: usize,
    /// Whether all that it starts is ended with it. Then an interrupt from the keyboard does not reach it.
    pub alone: bool,
}

/// So much of its messages is kept, in bytes.
const MESSAGES: usize = 64 << 10;

/// How often to look whether one that has closed its output has ended.
const LOOK: Duration = Duration::from_millis(1);

/// What a program said, and how it ended.
#[derive(Debug)]
pub struct Said {
    pub status: ExitStatus,
    pub output: String,
    pub messages: String,
}

/// Why there is nothing to read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    #[error("{0}")]
    NotStarted(io::Error),
    #[error("it did not end within {} s", .0.as_secs())]
    Late(Duration),
    #[error("its output has more than {0} bytes")]
    Long(usize),
}

/// Runs it with this input; it is ended where it goes beyond its bounds.
pub fn run(command: &mut Command, input: String, bounds: Bounds) -> Result<Said, Unread> {
    let mut running = Running::start(command, bounds.alone).map_err(Unread::NotStarted)?;
    let said = running.listen(input, bounds);
    if said.is_err() {
        running.end();
    }
    said
}

/// A program that runs.
#[cfg(unix)]
struct Running(Box<dyn ChildWrapper>);

#[cfg(not(unix))]
struct Running(std::process::Child);

/// Its input, output and messages.
type Pipes = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

impl Running {
    fn start(command: &mut Command, alone: bool) -> io::Result<Running> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Running::spawn(command, alone)
    }

    #[cfg(unix)]
    fn spawn(command: &mut Command, alone: bool) -> io::Result<Running> {
        if !alone {
            return Ok(Running(Box::new(command.spawn()?)));
        }
        let command = std::mem::replace(command, Command::new(""));
        let mut command = CommandWrap::from(command);
        command.wrap(ProcessGroup::leader());
        Ok(Running(command.spawn()?))
    }

    /// What it starts itself goes on where it is ended.
    #[cfg(not(unix))]
    fn spawn(command: &mut Command, _alone: bool) -> io::Result<Running> {
        Ok(Running(command.spawn()?))
    }

    #[cfg(unix)]
    fn pipes(&mut self) -> Pipes {
        let child = &mut self.0;
        let (input, output) = (child.stdin().take(), child.stdout().take());
        (input, output, child.stderr().take())
    }

    #[cfg(not(unix))]
    fn pipes(&mut self) -> Pipes {
        let child = &mut self.0;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        (input, output, child.stderr.take())
    }

    /// Ends it, and waits until it has ended.
    fn end(&mut self) {
        // One that has ended already needs no more.
        let _ = self.0.kill();
    }

    fn listen(&mut self, input: String, bounds: Bounds) -> Result<Said, Unread> {
        let until = Instant::now() + bounds.time;
        let (stdin, stdout, stderr) = self.pipes();
        if let Some(mut stdin) = stdin {
            // One that stops reading says why.
            thread::spawn(move || stdin.write_all(input.as_bytes()));
        }
        // Where it is ended, what it has started may keep them open: nobody waits for these threads.
        let output = stdout.map(|from| read(from, bounds.output, End::Stop));
        let messages = stderr.map(|from| read(from, MESSAGES, End::Drop));
        let output = text(output, until, bounds)?;
        if output.len() > bounds.output {
            return Err(Unread::Long(bounds.output));
        }
        let messages = text(messages, until, bounds)?;
        loop {
            match self.0.try_wait().map_err(Unread::NotStarted)? {
                Some(status) => {
                    return Ok(Said {
                        status,
                        output,
                        messages,
                    });
                }
                None if Instant::now() >= until => return Err(Unread::Late(bounds.time)),
                None => thread::sleep(LOOK),
            }
        }
    }
}

/// What to do with what is longer than is kept.
enum End {
    /// It is read no further.
    Stop,
    /// It is read, and dropped.
    Drop,
}

/// Reads up to one byte more than this length in a thread of its own.
fn read(mut from: impl Read + Send + 'static, most: usize, end: End) -> Receiver<Vec<u8>> {
    let (to, read) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before a failure is what there is.
        let _ = (&mut from).take(most as u64 + 1).read_to_end(&mut bytes);
        if let End::Drop = end {
            bytes.truncate(most);
            let _ = io::copy(&mut from, &mut io::sink());
        }
        // Nobody waits where it was ended.
        let _ = to.send(bytes);
    });
    read
}

/// What was read, once it has come to an end.
fn text(from: Option<Receiver<Vec<u8>>>, until: Instant, bounds: Bounds) -> Result<String, Unread> {
    let Some(from) = from else {
        return Ok(String::new());
    };
    let left = until.saturating_duration_since(Instant::now());
    match from.recv_timeout(left) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(RecvTimeoutError::Timeout) => Err(Unread::Late(bounds.time)),
        Err(RecvTimeoutError::Disconnected) => Ok(String::new()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        time: Duration::from_secs(20),
        output: 1000,
        alone: true,
    };

    fn shell(script: &str, bounds: Bounds) -> Result<Said, Unread> {
        run(
            Command::new("/bin/sh").args(["-c", script]),
            "input".to_owned(),
            bounds,
        )
    }

    #[test]
    fn what_a_program_says_is_read_to_its_end() {
        let said = shell("cat; echo why >&2; exit 3", BOUNDS).expect("it ends");
        assert_eq!(said.output, "input");
        assert_eq!(said.messages, "why\n");
        assert_eq!(said.status.code(), Some(3));
    }

    #[test]
    fn one_that_hangs_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("later");
        let bounds = Bounds {
            time: Duration::from_millis(300),
            ..BOUNDS
        };
        for script in [
            "sleep 2; : >",
            "exec >&- 2>&-; sleep 2; : >",
            "sleep 2 && : >",
        ] {
            let script = format!("({script} '{}')", file.display());
            let begun = Instant::now();
            let ended = shell(&script, bounds);
            assert!(matches!(ended, Err(Unread::Late(_))), "{ended:?}");
            assert!(begun.elapsed().as_secs_f64() < 1.5, "{script}");
        }
        thread::sleep(Duration::from_millis(2500));
        assert!(!file.exists());
    }

    #[test]
    fn long_output_is_refused_and_long_messages_are_cut() {
        let long = shell("while :; do echo more; done", BOUNDS);
        assert!(matches!(long, Err(Unread::Long(1000))), "{long:?}");
        let said = shell("printf %1000s; printf %200000s >&2", BOUNDS);
        let said = said.expect("as long as it may be");
        assert_eq!(said.output.len(), 1000);
        assert_eq!(said.messages.len(), MESSAGES);
    }
}
