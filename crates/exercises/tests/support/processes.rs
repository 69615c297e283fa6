//! Processes on this machine, from Linux's `/proc`.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// A timeout that is long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the IDs and commands of the processes that have this path, or one below it, in their environment.
pub fn processes_using(folder: &Path) -> Vec<(u32, String)> {
    let path_bytes = folder.as_os_str().as_encoded_bytes();
    let numbers = fs::read_dir("/proc")
        .expect("procfs is available")
        .flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let uses = |number: &u32| {
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        environment
            .windows(path_bytes.len())
            .any(|part| part == path_bytes)
    };
    let with_command = |number| {
        let command = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        (number, String::from_utf8_lossy(&command).replace('\0', " "))
    };
    numbers.filter(uses).map(with_command).collect()
}

/// Waits until `poll` returns a value.
pub fn wait_for<T>(poll: impl Fn() -> Option<T>) -> T {
    let end = Instant::now() + TIMEOUT;
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(Instant::now() < end, "it does not come");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal, as `kill -TERM` does.
pub fn send(signal: &str, number: u32) {
    let command = format!("kill -{signal} {number}");
    let sent = std::process::Command::new("sh")
        .args(["-c", &command])
        .status();
    assert!(sent.expect("a shell is available").success(), "{command}");
}
