//! The command line that repeats the current run under one of NVIDIA's tools.

use std::ffi::{OsStr, OsString};

/// Returns a shell command that repeats the run of `words`, a program and its arguments, without the flags
/// for printing, and launches each kernel once.
pub(crate) fn once(words: impl IntoIterator<Item = OsString>) -> String {
    command(words, &["--repeat", "0"])
}

/// Returns a shell command that repeats the run of `words` without the flags for printing.
pub fn again(words: impl IntoIterator<Item = OsString>) -> String {
    command(words, &[])
}

/// Quotes words for a shell.
pub fn quoted(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    let words = words.into_iter();
    let quoted = words.map(|word| word_quoted(&word.as_ref().to_string_lossy()));
    quoted.collect::<Vec<_>>().join(" ")
}

fn command(words: impl IntoIterator<Item = OsString>, with: &[&str]) -> String {
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
            "--json" | "--profile" | "--check" => {}
            "--repeat" | "--plot" => {
                if !word.contains('=') {
                    words.next();
                }
            }
            _ => kept.push(word),
        }
    }
    kept.extend(with.iter().map(|&word| word.to_owned()));
    kept.extend(behind);
    quoted(kept)
}

/// Quotes a word for a shell. (The only word that cannot be quoted contains a zero byte, which no argument
/// does.)
fn word_quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> String {
        once(words.iter().map(OsString::from))
    }

    #[test]
    fn flags_of_printing_go_and_all_others_stay() {
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
        let wanted = "target/debug/add-constant pseudo_random '--block=96' --repeat 0";
        assert_eq!(run(&words), wanted);
        let words = ["program", "--plot=a", "--repeat=3", "--profile", "1"];
        assert_eq!(run(&words), "program 1 --repeat 0");
        assert_eq!(again(words.map(OsString::from)), "program 1");
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
