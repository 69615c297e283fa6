//! The command by which Nsight Compute, NVIDIA's profiler, counts the same on a GPU.
//!
//! Source of its options: Nsight Compute's documentation, "Nsight Compute CLI".

use std::ffi::OsString;

use cuda_driver::counters::{Agreement, METRICS};

use super::L2_MISSES;
use crate::flags::Detail;

/// The command that profiles a run like the one `words`, a program and its arguments, started:
/// each kernel launched once, at the clock it has.
pub fn command(detail: Detail, words: impl IntoIterator<Item = OsString>) -> String {
    let options = match detail {
        Detail::Summary => {
            let its = |agreement| agreement != Agreement::Ours;
            let metrics = METRICS.iter().filter(|metric| its(metric.agreement));
            let names = metrics.map(|metric| metric.name);
            let names: Vec<&str> = names.chain([L2_MISSES.name]).collect();
            format!("--metrics {}", names.join(","))
        }
        Detail::Lines => "--section SourceCounters --page source --print-source cuda,sass \
                          --import-source yes"
            .to_owned(),
    };
    let run: Vec<String> = once(words).iter().map(|word| quoted(word)).collect();
    format!("ncu {options} --clock-control none {}", run.join(" "))
}

/// The same words without what decides how results are printed and how often kernels are
/// launched, which is once.
fn once(words: impl IntoIterator<Item = OsString>) -> Vec<String> {
    let words = words.into_iter();
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let mut kept: Vec<String> = words.next().into_iter().collect();
    let mut behind = Vec::new();
    while let Some(word) = words.next() {
        match word.split_once('=').map_or(word.as_str(), |(flag, _)| flag) {
            "--" => {
                behind.push(word);
                behind.extend(words.by_ref());
            }
            "--json" | "--profile" => {}
            "--repeat" | "--plot" => {
                if !word.contains('=') {
                    words.next();
                }
            }
            _ => kept.push(word),
        }
    }
    kept.extend(["--repeat".to_owned(), "0".to_owned()]);
    kept.extend(behind);
    kept
}

/// A word as a shell takes it. (The one word that cannot be quoted has a zero byte in it, which
/// no argument has.)
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> String {
        let command = command(Detail::Summary, words.iter().map(OsString::from));
        let (_, run) = command.split_once(" --clock-control none ").unwrap();
        run.to_owned()
    }

    #[test]
    fn it_names_every_metric_that_nsight_compute_has() {
        let command = command(Detail::Summary, ["program".into()]);
        let names = command.strip_prefix("ncu --metrics ").unwrap();
        let names: Vec<&str> = names.split(' ').next().unwrap().split(',').collect();
        assert_eq!(names.len(), METRICS.len());
        assert!(!names.contains(&"warps_at_barriers"), "{command}");
        assert!(names.contains(&"idc__requests.sum"), "{command}");
        assert!(names.contains(&"lts__t_sectors_srcunit_tex_lookup_miss.sum"));
        assert!(command.ends_with(" --clock-control none program --repeat 0"));
    }

    #[test]
    fn lines_are_another_command() {
        let command = command(Detail::Lines, ["program".into()]);
        assert!(command.contains("--page source"), "{command}");
        assert!(!command.contains("--metrics"), "{command}");
    }

    #[test]
    fn flags_of_printing_go_and_all_others_stay() {
        let words = [
            "target/debug/add-constant",
            "--profile=lines",
            "pseudo_random",
            "--repeat",
            "7",
            "--plot",
            "picture",
            "--json",
            "--block=96",
        ];
        let wanted = "target/debug/add-constant pseudo_random '--block=96' --repeat 0";
        assert_eq!(run(&words), wanted);
        let words = ["program", "--plot=a", "--repeat=3", "--profile", "1"];
        assert_eq!(run(&words), "program 1 --repeat 0");
    }

    #[test]
    fn what_is_behind_two_dashes_is_no_flag() {
        let words = ["program", "--json", "--", "--json", "--repeat"];
        assert_eq!(run(&words), "program --repeat 0 -- --json --repeat");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["/my programs/a", "--out", "it's $HOME.png", "", "*"];
        let shown = run(&words);
        let back = shlex::split(&shown).unwrap();
        assert_eq!(back[..5], words);
        assert_eq!(back[5..], ["--repeat", "0"]);
        assert!(shown.starts_with("'/my programs/a' --out "), "{shown}");
    }

    #[test]
    fn a_flag_without_its_value_ends_the_words() {
        assert_eq!(run(&["program", "--plot"]), "program --repeat 0");
        assert_eq!(run(&[]), "--repeat 0");
    }
}
