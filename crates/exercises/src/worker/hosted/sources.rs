//! The files that a Rust submission was compiled from. A submission must be a single file.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::data::Text;

/// The compiler's names of the two source files.
pub const OWN: [&str; 2] = ["main.rs", "student.rs"];

/// The starts of messages about unreadable files.
const UNREAD: [&str; 3] = [
    "error: couldn't read ",
    "error[E0583]",
    "error: couldn't load ",
];

/// Returns the message for the student if the compiler read files other than [`OWN`] or environment
/// variables, according to the dependency list at `listed`.
pub fn others(listed: &Path) -> Result<Option<Text>> {
    let listed = fs::read_to_string(listed)?;
    let variable = |line: &str| Some(line.strip_prefix("# env-dep:")?.to_owned());
    if let Some(variable) = listed.lines().find_map(variable) {
        let name = variable.split('=').next().unwrap_or_default();
        return Ok(Some(Text::both(|lang| {
            say!(
                lang,
                "It reads `{}` from the environment while it is compiled: take out `env!` and `option_env!`.",
                "它在编译时读取了环境变量 `{}`：请去掉 `env!` 和 `option_env!`。";
                name
            )
        })));
    }
    let other = read(&listed).find(|file| !OWN.contains(&file.as_str()));
    Ok(other.map(|file| one_file(&format!(" (`{file}`)"))))
}

/// Returns the message for the student if a file could not be read. It does not reveal which files exist.
pub fn unread(messages: &str) -> Option<Text> {
    let says = |line: &str| UNREAD.iter().any(|begin| line.starts_with(begin));
    messages.lines().any(says).then(|| one_file(""))
}

fn one_file(which: &str) -> Text {
    Text::both(|lang| {
        say!(
            lang,
            "An answer is one file, and this one takes in another{}: take out `mod …;`, `#[path]`, `include!`, \
             `include_str!` and `include_bytes!`.",
            "答案只有一个文件，而这个答案引入了另一个文件{}：请去掉 `mod …;`、`#[path]`、`include!`、`include_str!` \
             和 `include_bytes!`。";
            which
        )
    })
}

/// Returns the files in a dependency list, which has one makefile rule without prerequisites per file.
fn read(listed: &str) -> impl Iterator<Item = String> {
    let rules = listed.lines().filter(|line| !line.starts_with('#'));
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
        fs::write(&path, all).expect("written");
        others(&path).expect("read").map(|said| said.en)
    }

    #[test]
    fn a_list_of_its_own_files_is_right() {
        assert_eq!(verdict(&OWN, ""), None);
    }

    #[test]
    fn another_file_is_named() {
        for (file, shown) in [("/etc/passwd", "/etc/passwd"), ("/a\\ b.rs", "/a b.rs")] {
            let said = verdict(&["main.rs", "student.rs", file], "").expect("refused");
            assert!(said.contains(&format!("`{shown}`")), "{said}");
        }
        assert!(verdict(&["main.rs", "student.rs", "../student.rs"], "").is_some());
    }

    #[test]
    fn a_variable_is_named() {
        let said = verdict(&OWN, "\n# env-dep:HOME=/home/ann\n").expect("refused");
        assert!(said.contains("`HOME`") && !said.contains("ann"), "{said}");
        assert!(verdict(&OWN, "\n# env-dep:HOME\n").is_some());
    }

    #[test]
    fn what_could_not_be_read_is_not_named() {
        let told = "error: couldn't read `/root/x`: Permission denied (os error 13)\n --> a.rs:1:1";
        let said = unread(told).expect("refused").en;
        assert!(!said.contains("/root"), "{said}");
        assert!(unread("error[E0583]: file not found for module `x`").is_some());
        assert_eq!(unread("error[E0308]: mismatched types"), None);
    }
}
