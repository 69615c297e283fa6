//! Status lines of a program that takes more than five seconds on the simulator: the running kernel, its completed blocks
//! and the estimated time left, or that no kernel is running. They are printed only if standard error is a terminal, at
//! growing intervals. A line that is redrawn would erase what the program prints.

use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::{Duration, Instant};

use common::error::note;
use cuda_driver::Progress;
use cuda_driver::names::short;

/// The run time at which the first line is printed. The next line follows after the same time again, and so on.
const FIRST: Duration = Duration::from_secs(5);

const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The duration of a launch from which on its blocks are shown. Programs with many shorter launches are better described
/// by the number of launches.
const MIN_LAUNCH: Duration = Duration::from_secs(1);

/// Prints the lines from a thread of its own.
pub fn start() {
    if !io::stderr().is_terminal() {
        return;
    }
    // Without a thread there are no lines, which is no error.
    let _ = thread::Builder::new().spawn(|| {
        let start = Instant::now();
        let (mut status, mut next) = (Status::new(start), FIRST);
        loop {
            thread::sleep(POLL_INTERVAL);
            let text = status.text(cuda_driver::progress(), Instant::now());
            if start.elapsed() >= next {
                note(format_args!("warpbook: {text}"));
                next *= 2;
            }
        }
    });
}

/// The state of the program, from its progress at several times.
struct Status {
    /// The number of the running launch, the time at which it was first seen, and its blocks that were done then.
    launch: Option<(u64, Instant, u64)>,
    /// The time at which a kernel was last seen running, or the start of the program.
    last_kernel: Instant,
}

impl Status {
    fn new(now: Instant) -> Status {
        Status {
            launch: None,
            last_kernel: now,
        }
    }

    /// Returns the line's text.
    fn text(&mut self, progress: Option<Progress>, now: Instant) -> String {
        let Some(progress) = progress else {
            self.launch = None;
            let seconds = now.duration_since(self.last_kernel).as_secs();
            return format!("no kernel has been running for {}", duration(seconds));
        };
        self.last_kernel = now;
        let (number, done, blocks) = (progress.launch, progress.blocks_done, progress.blocks);
        let kernel = short(&progress.kernel);
        let (since, first) = match self.launch {
            Some((known, since, first)) if known == number => (since, first),
            _ => {
                self.launch = Some((number, now, done));
                (now, done)
            }
        };
        let elapsed = now.duration_since(since);
        if elapsed < MIN_LAUNCH {
            return format!("{kernel} is running (launch {number})");
        }
        let percent = done * 100 / blocks.max(1);
        let blocks_text = format!("{kernel}: {done} of {blocks} blocks done ({percent} %)");
        let completed = done.saturating_sub(first);
        if completed == 0 {
            return format!("{blocks_text}, running for {}", duration(elapsed.as_secs()));
        }
        let left = elapsed.as_secs_f64() * (blocks - done) as f64 / completed as f64;
        format!("{blocks_text}, about {} left", duration(left.ceil() as u64))
    }
}

fn duration(seconds: u64) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(launch: u64, blocks_done: u64) -> Option<Progress> {
        Some(Progress {
            launch,
            kernel: "fill".to_owned(),
            blocks_done,
            blocks: 4096,
        })
    }

    #[test]
    fn a_long_launch_shows_its_blocks_and_the_time_left() {
        let start = Instant::now();
        let mut status = Status::new(start);
        let mut text =
            |done, seconds| status.text(progress(3, done), start + Duration::from_secs(seconds));
        assert_eq!(text(1024, 5), "fill is running (launch 3)");
        assert_eq!(
            text(1024, 7),
            "fill: 1024 of 4096 blocks done (25 %), running for 2s"
        );
        // 1024 blocks in ten seconds, 2048 are left.
        assert_eq!(
            text(2048, 15),
            "fill: 2048 of 4096 blocks done (50 %), about 20s left"
        );
    }

    #[test]
    fn short_launches_are_counted() {
        let start = Instant::now();
        let mut status = Status::new(start);
        for launch in [7, 9_000, 18_000] {
            let now = start + Duration::from_millis(launch);
            let expected = format!("fill is running (launch {launch})");
            assert_eq!(status.text(progress(launch, 1), now), expected);
        }
    }

    #[test]
    fn host_code_is_timed_from_the_last_kernel() {
        let start = Instant::now();
        let mut status = Status::new(start);
        let mut text =
            |progress, seconds| status.text(progress, start + Duration::from_secs(seconds));
        assert_eq!(text(None, 6), "no kernel has been running for 6s");
        text(progress(1, 0), 60);
        assert_eq!(text(None, 132), "no kernel has been running for 1m 12s");
    }
}
