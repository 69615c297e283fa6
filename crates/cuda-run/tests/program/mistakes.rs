//! Mistakes of other people's programs, each shown by a small program of our own: it must be reported at its line with its
//! cause, and the corrected program must have no findings.
//!
//! A program names the case and the public thread in its first lines, and the verdict if the report does not name the
//! cause. The comment `//~ PART | PART` at the end of a line has parts of what is reported for the line. Compiled with
//! `-DGOOD`, the program is correct. The page `docs/results/mistakes.md` lists the cases.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::support::Workspace;

/// The page with the table of all cases.
const PAGE: &str = "../../docs/results/mistakes.md";

/// A mistake.
struct Mistake {
    name: String,
    text: String,
}

impl Mistake {
    fn open(path: &Path) -> Mistake {
        let name = path.file_name().unwrap_or_default();
        Mistake {
            name: name.to_string_lossy().into_owned(),
            text: fs::read_to_string(path).expect("the program"),
        }
    }

    /// Returns the text of one of the first lines.
    fn header(&self, field: &str) -> Option<&str> {
        let start = format!("// {field}: ");
        let mut fields = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix(&start));
        fields.next()
    }

    /// Returns the line that is reported, and parts of the message; `None` for a mistake that no check finds.
    fn reported(&self) -> Option<(usize, Vec<&str>)> {
        let mut lines = (1..).zip(self.text.lines());
        let parts = lines.find_map(|(line, text)| Some((line, text.split_once("//~ ")?.1)));
        parts.map(|(line, parts)| (line, parts.split(" | ").collect()))
    }

    /// Returns the row of the page's table.
    fn row(&self) -> String {
        let thread = self.header("thread").expect("the thread");
        let name = thread.trim_start_matches("https://github.com/");
        let name = name.replace("/issues/", " #").replace("/pull/", " #");
        let (reported, verdict) = match self.reported() {
            Some((_, parts)) => (parts.join(" … "), "diagnosed"),
            None => ("no findings".to_owned(), "missed"),
        };
        let verdict = self.header("verdict").unwrap_or(verdict);
        let case = self.header("case").expect("the case");
        format!("| {case} | [{name}]({thread}) | {reported} | {verdict} |")
    }
}

/// Returns the programs.
pub fn programs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let entries = fs::read_dir(directory).expect("the programs").flatten();
    let mut programs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    programs.sort();
    programs
}

/// Checks the report on a mistake, and that the corrected program has none.
pub fn is_diagnosed(path: &Path) -> Result<(), Failed> {
    let mistake = Mistake::open(path);
    let workspace = Workspace::new();
    workspace.write(&mistake.name, &mistake.text);
    let run = workspace.run(&["--check", "-DGOOD", &mistake.name]);
    run.assert_exit(0, &["no findings"])?;
    let run = workspace.run(&["--check", &mistake.name]);
    let Some((line, parts)) = mistake.reported() else {
        return run.assert_exit(0, &["no findings"]);
    };
    run.assert_exit(1, &[])?;
    let place = format!("{}:{line}", mistake.name);
    let names_place = |line: &str| {
        let after = line.split_once(&place).map(|(_, after)| after);
        after.is_some_and(|after| after.is_empty() || after.starts_with(' '))
    };
    let is_report =
        |text: &str| text.lines().any(names_place) && parts.iter().all(|part| text.contains(part));
    if !run.stderr.split("\n\n").any(is_report) {
        return Err(format!("{place}: {parts:?}: {}", run.stderr).into());
    }
    Ok(())
}

/// Checks that the page lists the cases as the programs describe them.
pub fn page() -> Result<(), Failed> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = fs::read_to_string(page)?;
    let rows = programs()
        .into_iter()
        .map(|path| Mistake::open(&path).row());
    let missing: Vec<String> = rows
        .filter(|row| !page.lines().any(|line| line == row))
        .collect();
    if !missing.is_empty() {
        return Err(format!("{PAGE} lacks these rows:\n{}", missing.join("\n")).into());
    }
    Ok(())
}
