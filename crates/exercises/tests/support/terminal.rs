//! The program in a pseudoterminal.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::Program;

/// A timeout that is long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A program that runs in a pseudoterminal.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    screen: Receiver<String>,
    keyboard: Box<dyn Write + Send>,
    /// The output since the last text that was waited for.
    output: String,
    _terminal: Box<dyn MasterPty + Send>,
}

impl Program {
    /// Starts the program with arguments in a terminal with this many rows and columns.
    pub fn in_terminal(&self, arguments: &str, rows: u16, cols: u16) -> Terminal {
        let mut size = PtySize::default();
        (size.rows, size.cols) = (rows, cols);
        let pair = native_pty_system().openpty(size).expect("a terminal opens");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_exercises"));
        command.cwd(self.home());
        command.args(arguments.split_whitespace());
        command.args(["--dir", "answers"]);
        command.env("TERM", "xterm");
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        if let Some(folder) = &self.temporary {
            command.env("TMPDIR", folder);
        }
        let child = pair.slave.spawn_command(command);
        let master = pair.master;
        let mut reader = master.try_clone_reader().expect("terminal output");
        let (to, screen) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            let mut remaining = Vec::new();
            // When the program has ended, reading fails on Linux and returns nothing elsewhere.
            while let Ok(length @ 1..) = reader.read(&mut bytes) {
                remaining.extend_from_slice(&bytes[..length]);
                // A character may be split between two reads.
                let whole = match str::from_utf8(&remaining) {
                    Ok(text) => text.len(),
                    Err(error) => error.valid_up_to(),
                };
                let text = remaining.drain(..whole).collect();
                let text = String::from_utf8(text).expect("UTF-8 output");
                if to.send(text).is_err() {
                    return;
                }
            }
        });
        Terminal {
            child: child.expect("the program starts"),
            screen,
            keyboard: master.take_writer().expect("the terminal accepts input"),
            output: String::new(),
            _terminal: master,
        }
    }
}

impl Terminal {
    /// Waits until `text` is shown, then discards the output up to here.
    pub fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + TIMEOUT;
        while !self.output.contains(text) {
            let remaining = end.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(remaining) {
                Ok(text_read) => self.output.push_str(&text_read),
                Err(error) => panic!("{error}: no '{text}' in:\n{}", self.output),
            }
        }
        self.output.clear();
    }

    /// Sends key presses.
    pub fn press(&mut self, keys: &str) {
        self.keyboard
            .write_all(keys.as_bytes())
            .expect("the terminal accepts input");
    }

    /// Sends key presses and waits until `text` is shown.
    pub fn press_until(&mut self, keys: &str, text: &str) {
        self.press(keys);
        self.wait_for(text);
    }

    /// Quits and asserts that the program succeeds. Returns the output since the last wait.
    pub fn quit(mut self) -> String {
        self.press("q");
        let (code, output) = self.end();
        assert_eq!(code, 0, "{output}");
        output
    }

    /// Returns the process ID.
    pub fn id(&self) -> u32 {
        self.child.process_id().expect("the program can be run")
    }

    /// Waits for the end. Returns the exit code and the output since the last wait.
    pub fn end(mut self) -> (u32, String) {
        let end = Instant::now() + TIMEOUT;
        loop {
            let remaining = end.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(remaining) {
                Ok(text_read) => self.output.push_str(&text_read),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("the program does not exit:\n{}", self.output)
                }
            }
        }
        let status = self.child.wait().expect("the program exits");
        (status.exit_code(), self.output)
    }
}
