//! The cases: for each kernel of `kernels/bugs`, the host side of the bug and of its correct twin.

mod host;
mod init;
mod leak;
mod mem;
mod race;
mod sync;

use serde::Serialize;

use crate::plan::Plan;
use crate::source::{Kind, Marks, SOURCES, Source, parse_marks};

/// A planted bug and its correct twin.
#[derive(Debug)]
pub struct Case {
    /// The kernel's file.
    pub source: &'static Source,
    /// The marks in that file.
    pub marks: Marks,
    /// The host side of the bug.
    pub buggy: Plan,
    /// The host side of the twin.
    pub correct: Plan,
}

/// An entry of the list that `--list` prints.
#[derive(Debug, Serialize)]
pub struct Entry {
    name: &'static str,
    file: &'static str,
    #[serde(flatten)]
    marks: Marks,
    kernel: String,
    twin: String,
}

impl Case {
    /// Returns the name of the kernel with the bug: the case's name with underscores.
    pub fn kernel(&self) -> String {
        let name = self.source.name.split('.').next().unwrap_or_default();
        name.replace('-', "_")
    }

    /// Returns the name of the correct kernel: the kernel itself if the bug is in the host code.
    pub fn twin(&self) -> String {
        let twin = format!("{}_right", self.kernel());
        if self.source.text.contains(&format!("void {twin}(")) {
            twin
        } else {
            self.kernel()
        }
    }

    /// Returns the case's entry for `--list`.
    pub fn entry(&self) -> Entry {
        Entry {
            name: self.source.name,
            file: self.source.file,
            marks: self.marks.clone(),
            kernel: self.kernel(),
            twin: self.twin(),
        }
    }
}

/// Describes a bug in a kernel: the host side is the same for the twin.
fn same_plan(name: &'static str, plan: Plan) -> (&'static str, Plan, Plan) {
    (name, plan.clone(), plan)
}

/// Returns all cases, grouped by kind.
///
/// # Panics
///
/// Panics if the list and `kernels/bugs` differ, or if a source's marks are invalid. A test checks that
/// neither is the case.
pub fn all() -> Vec<Case> {
    let lists = [
        (Kind::Mem, mem::cases()),
        (Kind::Init, init::cases()),
        (Kind::Race, race::cases()),
        (Kind::Sync, sync::cases()),
        (Kind::Leak, leak::cases()),
        (Kind::Host, host::cases()),
    ];
    let mut cases = Vec::new();
    for (kind, list) in lists {
        for (name, buggy, correct) in list {
            let Some(source) = SOURCES.iter().find(|source| source.name == name) else {
                panic!("kernels/bugs has no {name}.cu");
            };
            let marks =
                parse_marks(source.text).unwrap_or_else(|error| panic!("{}: {error}", source.file));
            assert_eq!(marks.kind, kind, "{} is in the wrong list", source.file);
            cases.push(Case {
                source,
                marks,
                buggy,
                correct,
            });
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kernel_has_one_case() {
        let cases = all();
        let named: BTreeSet<&str> = cases.iter().map(|case| case.source.name).collect();
        assert_eq!(named.len(), cases.len());
        let sources: BTreeSet<&str> = SOURCES.iter().map(|source| source.name).collect();
        assert_eq!(named, sources);
    }

    #[test]
    fn each_kind_has_enough_cases() {
        let cases = all();
        let count = |kind| cases.iter().filter(|case| case.marks.kind == kind).count();
        assert!(count(Kind::Mem) >= 14);
        assert!(count(Kind::Init) >= 8);
        assert!(count(Kind::Race) >= 12);
        assert!(count(Kind::Sync) >= 6);
        assert!(count(Kind::Leak) >= 2);
        assert!(count(Kind::Host) >= 1);
    }

    #[test]
    fn kernels_and_twins_are_in_the_ptx() {
        for case in all() {
            for kernel in [case.kernel(), case.twin()] {
                let entry = format!(".entry {kernel}(");
                assert!(case.source.ptx.contains(&entry), "{}", case.source.file);
            }
        }
    }

    /// No tool can report a line for which the compiler emitted no code.
    #[test]
    fn marked_lines_are_in_the_ptx() {
        for case in all().iter().filter(|case| !case.marks.kind.is_host_bug()) {
            for line in case.marks.lines.iter().chain(&case.marks.with) {
                let loc = format!("\t.loc\t1 {line} ");
                let is_present = case.source.ptx.contains(&loc);
                assert!(is_present, "{}:{line} has no code", case.source.file);
            }
        }
    }
}
