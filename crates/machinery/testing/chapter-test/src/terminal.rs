//! A chapter's program in a terminal, where it shows progress and can be ended with Ctrl-C.

use std::io::{Read, Write};
use std::path::Path;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;

use crate::Chapter;
use crate::chapter::files;

/// A program that runs in its own pseudo-terminal.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    screen: Box<dyn Read + Send>,
    keyboard: Box<dyn Write + Send>,
    output: String,
    _terminal: Box<dyn MasterPty + Send>,
}

impl Chapter {
    /// Starts the program with `arguments` in a terminal of 24 lines and 80 columns.
    pub fn start_in_terminal(&self, folder: &Path, arguments: &str) -> Terminal {
        let size = PtySize::default();
        let pair = native_pty_system().openpty(size).expect("a terminal opens");
        let mut command = CommandBuilder::new(self.program());
        command.cwd(folder);
        command.args(arguments.split_whitespace());
        command.env("TERM", "xterm");
        for (name, value) in self.variables() {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command);
        let master = pair.master;
        Terminal {
            child: child.expect("the program starts"),
            screen: master.try_clone_reader().expect("the terminal shows"),
            keyboard: master.take_writer().expect("the terminal types"),
            output: String::new(),
            _terminal: master,
        }
    }

    /// Runs the program in a terminal, waits for the progress bar of `label` and presses Ctrl-C. Fails unless
    /// the program ends without leaving files. For `long`, see [`Chapter::run_until_progress`].
    pub fn exits_on_ctrl_c(&self, long: impl Fn(u32) -> String, label: &str) {
        let (_, folder, mut terminal) = self.run_until_progress(long, label);
        terminal.interrupt();
        let (code, printed) = terminal.end();
        assert_eq!(code, 130, "{printed}");
        assert!(printed.contains(" %, "), "{printed}");
        assert!(printed.trim_end().ends_with("interrupted"), "{printed}");
        assert!(!printed.contains('|'), "results:\n{printed}");
        assert!(files(folder.path()).is_empty(), "files were left behind");
    }

    /// Runs the program in a terminal until the progress bar of `label` appears, which takes over a second of
    /// work. The arguments are `long(1)`; if the computer finishes before that, `long(4)` and so on. Returns
    /// the arguments, the folder and the running program.
    pub fn run_until_progress(
        &self,
        long: impl Fn(u32) -> String,
        label: &str,
    ) -> (String, TempDir, Terminal) {
        let bar = format!("{label} [");
        let mut output = String::new();
        for times in [1, 4, 16, 64] {
            let arguments = long(times);
            let folder = tempfile::tempdir().expect("a temporary folder");
            let mut terminal = self.start_in_terminal(folder.path(), &arguments);
            if terminal.shows(&bar) {
                return (arguments, folder, terminal);
            }
            output = terminal.end().1;
        }
        panic!("ended without '{bar}' each time; the last printed:\n{output}");
    }
}

impl Terminal {
    /// Waits until the program has printed `text`, and fails if it ends before.
    pub fn wait_for(&mut self, text: &str) {
        if !self.shows(text) {
            let status = self.child.wait().expect("the program ends");
            panic!("ended ({status}) without '{text}':\n{}", self.output);
        }
    }

    /// Waits until the program has printed `text`; returns false if it ended before.
    fn shows(&mut self, text: &str) -> bool {
        while !self.output.contains(text) {
            if !self.read() {
                return false;
            }
        }
        true
    }

    /// Presses Ctrl-C.
    pub fn interrupt(&mut self) {
        self.keyboard
            .write_all(b"\x03")
            .expect("the terminal types");
    }

    /// Waits for the program to end; returns the exit code and everything it printed.
    pub fn end(mut self) -> (u32, String) {
        while self.read() {}
        let status = self.child.wait().expect("the program ends");
        (status.exit_code(), self.output)
    }

    /// Reads more output; returns false if the program has ended.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        // After the program has ended, reading fails on Linux and returns nothing elsewhere.
        let length = self.screen.read(&mut bytes).unwrap_or(0);
        self.output
            .push_str(&String::from_utf8_lossy(&bytes[..length]));
        length > 0
    }
}
