//! The host's available memory, from which tests choose inputs that are too large.

use std::fs;

/// Returns the bytes of available memory as reported by Linux.
pub fn available_memory() -> u64 {
    let memory = fs::read_to_string("/proc/meminfo").expect("cannot read /proc/meminfo");
    let line = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes = kilobytes.and_then(|number| number.parse::<u64>().ok());
    kilobytes.expect("MemAvailable is a number") * 1024
}
