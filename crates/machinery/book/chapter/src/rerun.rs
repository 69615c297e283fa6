//! The command line that repeats the current run under one of NVIDIA's tools.

use std::ffi::{OsStr, OsString};

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
            "--repeat" | "--plot" => {
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
        let words = ["program", "--plot=a", "--repeat=3", "--profile", "1"];
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
}
