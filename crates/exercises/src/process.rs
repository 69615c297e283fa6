//! The processes that compile and run submissions: their resource limits, their output, and how they ended.

use std::io::BufRead;
use std::process::ExitStatus;
use std::time::Duration;

use chapter::lang::Lang;
use confine::Rules;
use serde::{Deserialize, Serialize};
use untrusted::signal;

/// Returns true if `CUDA_BACKEND=gpu` selects a GPU for grading.
pub fn on_gpu() -> bool {
    std::env::var_os("CUDA_BACKEND").is_some_and(|backend| backend == "gpu")
}

/// The maximum file size: the program around a Rust submission, including the objects that it is linked from.
const FILE: u64 = 512 << 20;

/// The resource limits of grading a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The wall-clock limit of a launch, in seconds.
    pub launch_seconds: u64,
    /// The CPU time limit of the worker and of each compiler, in seconds.
    pub cpu_seconds: u64,
    /// The wall-clock limit of the whole grading, in seconds.
    pub seconds: u64,
    /// The memory limit of the worker and of each compiler, in bytes.
    pub memory: u64,
}

impl Limits {
    /// Derives the limits from the total time in seconds. The course's own submissions take less than one
    /// second on an idle machine.
    pub fn within(seconds: u64) -> Limits {
        Limits {
            launch_seconds: (seconds / 2).clamp(1, 5),
            cpu_seconds: (seconds / 2).clamp(1, 30),
            seconds,
            memory: 4 << 30,
        }
    }

    /// Converts the limits to rules of a process, to which permitted files are to be added.
    pub fn rules(&self) -> Rules {
        Rules {
            cpu_seconds: self.cpu_seconds,
            // On a GPU, leave memory unlimited: NVIDIA's driver reserves hundreds of gigabytes of address
            // space.
            memory: (!on_gpu()).then_some(self.memory),
            file: FILE,
            ..Rules::default()
        }
    }

    /// Returns the wall-clock limit of the whole grading.
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

/// The maximum length of a line in bytes; the rest is dropped. A line with a verdict is far shorter.
const MAX_LINE: usize = 1 << 20;

/// The maximum amount of the submission's output that is recorded, in bytes.
const MAX_PRINTED: usize = 2000;

/// A line of a process's output.
#[derive(Debug)]
pub enum OutputLine<M> {
    /// A message of the process itself.
    Message(M),
    /// A line printed by the submission, including its line break.
    Printed(String),
}

/// Parses the process's own messages; `None` for other lines.
type Parser<M> = Box<dyn Fn(&[u8]) -> Option<M> + Send>;

/// An iterator over the lines of a process's output.
pub struct Lines<R, M> {
    from: R,
    parse: Parser<M>,
    printed: usize,
}

impl<R: BufRead, M> Lines<R, M> {
    /// Reads the output of a process whose own messages `parse` recognizes.
    pub fn new(from: R, parse: impl Fn(&[u8]) -> Option<M> + Send + 'static) -> Self {
        Lines {
            from,
            parse: Box::new(parse),
            printed: 0,
        }
    }

    /// Returns the next line without its line break, cut to [`MAX_LINE`] bytes.
    fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            let part = self.from.fill_buf().ok()?;
            if part.is_empty() {
                return None;
            }
            let end = part.iter().position(|&byte| byte == b'\n');
            let length = end.unwrap_or(part.len());
            let remaining = MAX_LINE - line.len();
            line.extend_from_slice(&part[..length.min(remaining)]);
            self.from.consume(length + usize::from(end.is_some()));
            if end.is_some() {
                return Some(line);
            }
        }
    }
}

impl<R: BufRead, M> Iterator for Lines<R, M> {
    type Item = OutputLine<M>;

    fn next(&mut self) -> Option<OutputLine<M>> {
        loop {
            let line = self.line()?;
            if let Some(message) = (self.parse)(&line) {
                return Some(OutputLine::Message(message));
            }
            if !line.is_empty() && self.printed < MAX_PRINTED {
                let text = String::from_utf8_lossy(&line);
                let recorded: String = text.chars().take(MAX_PRINTED - self.printed).collect();
                self.printed += line.len();
                return Some(OutputLine::Printed(format!("{recorded}\n")));
            }
        }
    }
}

/// Explains the end of a process.
pub fn explain_status(status: ExitStatus, limits: &Limits, lang: Lang) -> String {
    match signal(status) {
        Some(signal) if signal == SIGXCPU => localize!(
            lang,
            "It was killed after {} seconds of CPU time. Look for an endless loop.",
            "用去 {} 秒 CPU 时间后被终止。请检查是否有无限循环。";
            limits.cpu_seconds
        ),
        Some(signal) if signal == SIGABRT => localize!(
            lang,
            "It was killed because it needed more than {} GB of memory. Check the lengths of its \
             arrays.",
            "需要的内存超过 {} GB，被终止。请检查各数组的长度。";
            limits.memory >> 30
        ),
        Some(signal) => localize!(
            lang,
            "It crashed (signal {}), or the system killed it, for example because memory ran out.",
            "它崩溃了（信号 {}），或者被系统终止，例如因为内存耗尽。";
            signal
        ),
        None => localize!(
            lang,
            "It exited ({}) before it was graded: a submission must not end the program.",
            "评分尚未完成它就退出了（{}）：答案不可以结束程序。";
            code(status, lang)
        ),
    }
}

/// Explains that another process killed a process of the grading.
pub fn explain_outside(status: ExitStatus, lang: Lang) -> String {
    localize!(
        lang,
        "the grading process was killed from outside ({}), for example because memory ran out: grade again",
        "评分进程被外部终止（{}），例如因为内存耗尽：请重新评分";
        status
    )
}

/// Returns true if a signal ended the process.
pub fn is_signal(status: ExitStatus) -> bool {
    signal(status).is_some()
}

/// Formats the exit code.
fn code(status: ExitStatus, lang: Lang) -> String {
    match (status.code(), lang) {
        (Some(code), Lang::Zh) => format!("退出码 {code}"),
        _ => status.to_string(),
    }
}

/// `SIGXCPU`
const SIGXCPU: i32 = 24;
/// `SIGABRT`, with which a Rust program ends when an allocation fails.
const SIGABRT: i32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_recorded_up_to_a_limit() {
        let read_lines =
            |text: &str| -> Vec<OutputLine<()>> { Lines::new(text.as_bytes(), |_| None).collect() };
        let lines = read_lines(&"x".repeat(3 * MAX_LINE).repeat(2));
        assert!(lines.is_empty(), "no line ends");
        let long_output = "0123456789\n".repeat(10_000);
        let printed_length: usize = read_lines(&long_output)
            .into_iter()
            .map(|line| match line {
                OutputLine::Printed(text) => text.len(),
                OutputLine::Message(()) => 0,
            })
            .sum();
        assert!(
            (MAX_PRINTED..2 * MAX_PRINTED).contains(&printed_length),
            "{printed_length}"
        );
    }
}
