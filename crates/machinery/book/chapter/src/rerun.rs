//! Command lines that repeat the current run, or count and check the same on a GPU with NVIDIA's tools: Nsight
//! Compute and compute-sanitizer.
//!
//! Sources of their options: Nsight Compute's documentation, "Nsight Compute CLI"; Compute Sanitizer's, "Command Line
//! Options".

use std::ffi::{OsStr, OsString};

use cuda_driver::counters::{Agreement, METRICS, Metric};
use cuda_driver::{Check, Checks};

use crate::flags::Detail;

/// Returns a shell command that repeats the run of `words`, a program and its arguments, without the flags
/// for printing, and launches each kernel once.
pub(crate) fn profiling_command(words: impl IntoIterator<Item = OsString>) -> String {
    command(words, &["--repeat", "0"])
}

/// Returns a shell command that repeats the run of `words` without the flags for printing.
pub fn plain_command(words: impl IntoIterator<Item = OsString>) -> String {
    command(words, &[])
}

/// Quotes words for a shell.
pub fn quoted(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    let words = words.into_iter();
    let quoted = words.map(|word| quote_word(&word.as_ref().to_string_lossy()));
    quoted.collect::<Vec<_>>().join(" ")
}

fn command(words: impl IntoIterator<Item = OsString>, extra_flags: &[&str]) -> String {
    let words = words.into_iter();
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let mut before_dashes: Vec<String> = words.next().into_iter().collect();
    let mut after_dashes = Vec::new();
    while let Some(word) = words.next() {
        match word.split_once('=').map_or(word.as_str(), |(flag, _)| flag) {
            "--" => {
                after_dashes.push(word);
                after_dashes.extend(words.by_ref());
            }
            "--json" | "--profile" | "--check" => {}
            "--repeat" | "--plot" | "--sarif" | "--junit" | "--format" => {
                if !word.contains('=') {
                    words.next();
                }
            }
            _ => before_dashes.push(word),
        }
    }
    before_dashes.extend(extra_flags.iter().map(|&word| word.to_owned()));
    before_dashes.extend(after_dashes);
    quoted(before_dashes)
}

/// Quotes a word for a shell. (The only word that cannot be quoted contains a zero byte, which no argument
/// does.)
fn quote_word(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

/// Returns one command line per tool that checks the command `run`.
pub fn sanitizer_commands(checks: Checks, run: &str) -> String {
    let tools = checks.enabled().filter_map(|check| match check {
        Check::Memory if checks.leak => Some("memcheck --leak-check full"),
        Check::Memory => Some("memcheck"),
        Check::Init => Some("initcheck"),
        Check::Race => Some("racecheck --racecheck-report all"),
        Check::Sync => Some("synccheck"),
        Check::Leak if checks.memory => None,
        Check::Leak => Some("memcheck --leak-check full"),
        // compute-sanitizer has no tool for host accesses, for the order of streams, and for unused input.
        Check::Host | Check::Stream | Check::Unused => None,
    });
    let lines = tools.map(|tool| format!("compute-sanitizer --tool {tool} {run}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the command that profiles the command `run` at the GPU's current clock.
pub fn ncu_command(detail: Detail, run: &str) -> String {
    let options = match detail {
        Detail::Summary => {
            // The counters that only launches have come last.
            let (of_lines, of_launches): (Vec<&Metric>, Vec<&Metric>) = METRICS
                .iter()
                .filter(|metric| metric.agreement != Agreement::Custom)
                .partition(|metric| metric.counts_lines());
            let metrics = of_lines.into_iter().chain(of_launches);
            let names: Vec<&str> = metrics.map(|metric| metric.name).collect();
            format!("--metrics {}", names.join(","))
        }
        Detail::Lines => "--section SourceCounters --page source --print-source cuda,sass \
                          --import-source yes"
            .to_owned(),
    };
    format!("ncu {options} --clock-control none {run}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> String {
        profiling_command(words.iter().map(OsString::from))
    }

    #[test]
    fn only_output_flags_are_removed() {
        let words = [
            "target/debug/add-constant",
            "--profile=lines",
            "--check=mem",
            "pseudo_random",
            "--repeat",
            "7",
            "--plot",
            "picture",
            "--json",
            "--block=96",
        ];
        let expected = "target/debug/add-constant pseudo_random '--block=96' --repeat 0";
        assert_eq!(run(&words), expected);
        let words = [
            "program",
            "--plot=a",
            "--repeat=3",
            "--profile",
            "--sarif",
            "b",
            "1",
        ];
        assert_eq!(run(&words), "program 1 --repeat 0");
        assert_eq!(plain_command(words.map(OsString::from)), "program 1");
    }

    #[test]
    fn arguments_after_two_dashes_are_preserved() {
        let words = ["program", "--json", "--", "--json", "--repeat"];
        assert_eq!(run(&words), "program --repeat 0 -- --json --repeat");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["/my programs/a", "--out", "it's $HOME.png", "", "*"];
        let command_line = run(&words);
        let split = shlex::split(&command_line).unwrap();
        assert_eq!(split[..5], words);
        assert_eq!(split[5..], ["--repeat", "0"]);
        assert!(
            command_line.starts_with("'/my programs/a' --out "),
            "{command_line}"
        );
    }

    #[test]
    fn a_trailing_flag_without_value_is_removed() {
        assert_eq!(run(&["program", "--plot"]), "program --repeat 0");
        assert_eq!(run(&[]), "--repeat 0");
    }

    #[test]
    fn each_check_is_a_tool_of_its_own() {
        let run = "add --n 5 --repeat 0";
        let of = |checks: &str| sanitizer_commands(checks.parse().unwrap(), run);
        assert_eq!(
            of("sync"),
            format!("compute-sanitizer --tool synccheck {run}")
        );
        assert_eq!(
            of("leak"),
            format!("compute-sanitizer --tool memcheck --leak-check full {run}")
        );
        assert_eq!(of("all").lines().count(), 4);
        assert_eq!(of("mem,race").lines().count(), 2);
    }

    #[test]
    fn the_command_lists_every_metric_of_nsight_compute() {
        let command = ncu_command(Detail::Summary, "program --repeat 0");
        let names = command.strip_prefix("ncu --metrics ").unwrap();
        let names: Vec<&str> = names.split(' ').next().unwrap().split(',').collect();
        assert_eq!(names.len(), METRICS.len() - 1);
        assert!(!names.contains(&"warps_at_barriers"), "{command}");
        assert!(names.contains(&"idc__requests.sum"), "{command}");
        assert!(names.contains(&"lts__t_sectors_srcunit_tex_lookup_miss.sum"));
        assert!(command.ends_with(" --clock-control none program --repeat 0"));
    }

    #[test]
    fn lines_have_a_different_ncu_command() {
        let command = ncu_command(Detail::Lines, "program");
        assert!(command.contains("--page source"), "{command}");
        assert!(!command.contains("--metrics"), "{command}");
    }
}
