//! The cases: for each kernel of `kernels/bugs` what the host does, for the mistake and its twin.

mod host;
mod init;
mod leak;
mod mem;
mod race;
mod sync;

use serde::Serialize;

use crate::plan::Plan;
use crate::source::{Kind, Marks, SOURCES, Source, marks};

/// A mistake and its correct twin.
#[derive(Debug)]
pub struct Case {
    /// The kernel's file.
    pub source: &'static Source,
    /// What is marked there.
    pub marks: Marks,
    /// The host side of the mistake.
    pub wrong: Plan,
    /// That of the twin.
    pub right: Plan,
}

/// What `--list` says of a case.
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
    /// The kernel with the mistake: the case's name with underscores.
    pub fn kernel(&self) -> String {
        let name = self.source.name.split('.').next().unwrap_or_default();
        name.replace('-', "_")
    }

    /// The correct kernel: the same one where the mistake is the host's.
    pub fn twin(&self) -> String {
        let twin = format!("{}_right", self.kernel());
        if self.source.text.contains(&format!("void {twin}(")) {
            twin
        } else {
            self.kernel()
        }
    }

    /// What `--list` says of it.
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

/// A mistake in a kernel: the host does the same for the twin.
fn same(name: &'static str, plan: Plan) -> (&'static str, Plan, Plan) {
    (name, plan.clone(), plan)
}

/// All cases, by kind.
///
/// # Panics
///
/// Where the list and `kernels/bugs` differ or a source's marks are wrong: a test sees to it that
/// they are not.
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
        for (name, wrong, right) in list {
            let Some(source) = SOURCES.iter().find(|source| source.name == name) else {
                panic!("kernels/bugs has no {name}.cu");
            };
            let marks = marks(source.text).unwrap_or_else(|why| panic!("{}: {why}", source.file));
            assert_eq!(marks.kind, kind, "{} is in the wrong list", source.file);
            cases.push(Case {
                source,
                marks,
                wrong,
                right,
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
    fn there_are_enough_of_each_kind() {
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

    /// What the compiler takes away nobody can find.
    #[test]
    fn marked_lines_are_in_the_ptx() {
        for case in all().iter().filter(|case| !case.marks.kind.is_of_host()) {
            for line in case.marks.lines.iter().chain(&case.marks.with) {
                let place = format!("\t.loc\t1 {line} ");
                let found = case.source.ptx.contains(&place);
                assert!(found, "{}:{line} is not", case.source.file);
            }
        }
    }
}
