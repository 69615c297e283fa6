//! The files that a Rust submission was compiled from. A submission must be a single file.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::lang::Text;

/// The compiler's names of the two source files.
pub const SOURCES: [&str; 2] = ["main.rs", "student.rs"];

/// The starts of messages about unreadable files.
const UNREADABLE: [&str; 3] = [
    "error: couldn't read ",
    "error[E0583]",
    "error: couldn't load ",
];

/// Returns the message for the student if the compiler read files other than [`SOURCES`] or environment
/// variables, according to the dependency list at `list`.
pub fn foreign_inputs(list: &Path) -> Result<Option<Text>> {
    let list = fs::read_to_string(list)?;
    let variable = |line: &str| Some(line.strip_prefix("# env-dep:")?.to_owned());
    if let Some(variable) = list.lines().find_map(variable) {
        let name = variable.split('=').next().unwrap_or_default();
        return Ok(Some(Text::from_fn(|lang| {
            localize!(
                lang,
                "It reads the environment variable `{}` at compile time: remove `env!` and \
                 `option_env!`.",
                "它在编译时读取了环境变量 `{}`：请去掉 `env!` 和 `option_env!`。";
                name
            )
        })));
    }
    let other = listed_files(&list).find(|file| !SOURCES.contains(&file.as_str()));
    Ok(other.map(|file| one_file(&format!(" (`{file}`)"))))
}

/// Returns the message for the student if a file could not be read. It does not reveal which files exist.
pub fn unreadable_input(messages: &str) -> Option<Text> {
    let is_unreadable = |line: &str| UNREADABLE.iter().any(|prefix| line.starts_with(prefix));
    messages.lines().any(is_unreadable).then(|| one_file(""))
}

fn one_file(which: &str) -> Text {
    Text::from_fn(|lang| {
        localize!(
            lang,
            "A submission is a single file, but this one includes another{}: remove `mod …;`, \
             `#[path]`, `include!`, `include_str!` and `include_bytes!`.",
            "答案只能是一个文件，而这个答案包含了另一个文件{}：请去掉 `mod …;`、`#[path]`、\
             `include!`、`include_str!` 和 `include_bytes!`。";
            which
        )
    })
}

/// Returns the files in a dependency list, which has one makefile rule without prerequisites per file.
fn listed_files(list: &str) -> impl Iterator<Item = String> {
    let rules = list.lines().filter(|line| !line.starts_with('#'));
    let files = rules.filter_map(|line| line.strip_suffix(':'));
    files.map(|file| file.replace("\\ ", " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the message for a dependency list of these files with additional lines.
    fn verdict(files: &[&str], more: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("answer.d");
        let rules = files.iter().map(|file| format!("{file}:\n"));
        let all = format!(
            "answer: {}\n\n{}{more}",
            files.join(" "),
            rules.collect::<String>()
        );
        fs::write(&path, all).expect("the file can be written");
        foreign_inputs(&path)
            .expect("the file can be read")
            .map(|message| message.en)
    }

    #[test]
    fn the_submissions_own_files_are_accepted() {
        assert_eq!(verdict(&SOURCES, ""), None);
    }

    #[test]
    fn foreign_files_are_named() {
        for (file, path) in [("/etc/passwd", "/etc/passwd"), ("/a\\ b.rs", "/a b.rs")] {
            let message = verdict(&["main.rs", "student.rs", file], "").expect("an error");
            assert!(message.contains(&format!("`{path}`")), "{message}");
        }
        assert!(verdict(&["main.rs", "student.rs", "../student.rs"], "").is_some());
    }

    #[test]
    fn environment_variables_are_named() {
        let message = verdict(&SOURCES, "\n# env-dep:HOME=/home/ann\n").expect("an error");
        assert!(
            message.contains("`HOME`") && !message.contains("ann"),
            "{message}"
        );
        assert!(verdict(&SOURCES, "\n# env-dep:HOME\n").is_some());
    }

    #[test]
    fn unreadable_files_are_not_named() {
        let message =
            "error: couldn't read `/root/x`: Permission denied (os error 13)\n --> a.rs:1:1";
        let message = unreadable_input(message).expect("an error").en;
        assert!(!message.contains("/root"), "{message}");
        assert!(unreadable_input("error[E0583]: file not found for module `x`").is_some());
        assert_eq!(unreadable_input("error[E0308]: mismatched types"), None);
    }
}
