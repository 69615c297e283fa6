//! The cases: for each kernel of `kernels/bugs`, the host side of the bug and of its correct twin. `cases.toml`
//! describes them.

use std::collections::BTreeMap;

use launch_plan::plan::{self, Plan};
use launch_plan::{Limits, ResolvedPlan};
use serde::{Deserialize, Serialize};

use crate::source::{Kind, Marks, SOURCES, Source, parse_marks};

const CASES: &str = include_str!("../cases.toml");

/// A planted bug and its correct twin.
#[derive(Debug)]
pub struct Case {
    /// The kernel's file.
    pub source: &'static Source,
    /// The marks in that file.
    pub marks: Marks,
    /// The host side of the bug.
    pub buggy: HostSide,
    /// The host side of the twin.
    pub correct: HostSide,
}

/// A program's host side: launches in sequence, in one context with one module.
#[derive(Clone, Debug)]
pub struct HostSide {
    pub plan: ResolvedPlan,
    /// The properties of buffers, by name.
    pub memory: BTreeMap<String, Memory>,
    /// The buffers that variables of the module point to, by the names of the variables.
    pub pointers: BTreeMap<String, String>,
    /// The buffer that is copied back to page-locked memory in the stream. No wait precedes the copy.
    pub read_back: Option<(String, ReadBack)>,
}

/// A property of a buffer for which there is no fill.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// In device memory, and freed before the first launch.
    Freed,
    /// In device memory, and never freed.
    Leaked,
    /// In pageable host memory.
    Host,
    /// The ranges of elements that the host writes, each from the first up to but excluding the second.
    Written(Vec<[usize; 2]>),
}

/// When the host reads the buffer that is copied back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBack {
    /// Without waiting for the stream.
    BeforeSync,
    /// After waiting for the stream.
    AfterSync,
}

/// The cases as written, by the kind of bug.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCases {
    mem: Vec<WrittenCase>,
    init: Vec<WrittenCase>,
    race: Vec<WrittenCase>,
    sync: Vec<WrittenCase>,
    leak: Vec<WrittenCase>,
    host: Vec<WrittenCase>,
}

/// A case as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    /// The name of the kernel's file.
    name: String,
    buffer: Vec<plan::Buffer>,
    launch: Vec<plan::Launch>,
    #[serde(default)]
    memory: BTreeMap<String, Memory>,
    #[serde(default)]
    bug: BTreeMap<String, Memory>,
    #[serde(default)]
    pointers: BTreeMap<String, String>,
    read_back: Option<String>,
    /// The plan of the twin, if it differs by more than the kernel.
    right: Option<Plan>,
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
    /// Creates a case.
    ///
    /// # Panics
    ///
    /// Panics if the case has no source or is not valid.
    fn new(kind: Kind, written: WrittenCase) -> Self {
        let name = written.name;
        let source = SOURCES.iter().find(|source| source.name == name);
        let source = source.unwrap_or_else(|| panic!("kernels/bugs has no {name}.cu"));
        let marks =
            parse_marks(source.text).unwrap_or_else(|error| panic!("{}: {error}", source.file));
        assert_eq!(marks.kind, kind, "{} is in the wrong list", source.file);
        let resolve = |plan: &Plan| {
            let plan = ResolvedPlan::within(plan, CASES, &[], 0, &Limits::none());
            plan.unwrap_or_else(|error| panic!("cases.toml: {name}: {error}"))
        };
        let buggy = HostSide {
            plan: resolve(&Plan {
                numbers: BTreeMap::new(),
                buffer: written.buffer,
                launch: written.launch,
            }),
            memory: [written.memory.clone(), written.bug]
                .into_iter()
                .flatten()
                .collect(),
            pointers: written.pointers,
            read_back: written
                .read_back
                .map(|buffer| (buffer, ReadBack::BeforeSync)),
        };
        let plan = written.right.as_ref().map(resolve);
        let mut correct = HostSide {
            plan: plan.unwrap_or_else(|| buggy.plan.clone()),
            memory: written.memory,
            pointers: buggy.pointers.clone(),
            read_back: buggy
                .read_back
                .clone()
                .map(|(buffer, _)| (buffer, ReadBack::AfterSync)),
        };
        for launch in &mut correct.plan.launches {
            if launch.kernel == source.kernel() {
                launch.kernel = source.twin();
            }
        }
        Case {
            source,
            marks,
            buggy,
            correct,
        }
    }

    /// Returns the case's entry for `--list`.
    pub fn entry(&self) -> Entry {
        Entry {
            name: self.source.name,
            file: self.source.file,
            marks: self.marks.clone(),
            kernel: self.source.kernel(),
            twin: self.source.twin(),
        }
    }
}

/// Returns all cases, grouped by kind.
///
/// # Panics
///
/// Panics if the list and `kernels/bugs` differ, or if a source's marks are invalid. A test checks that
/// neither is the case.
pub fn all() -> Vec<Case> {
    let cases: WrittenCases =
        toml::from_str(CASES).unwrap_or_else(|error| panic!("cases.toml: {error}"));
    let lists = [
        (Kind::Mem, cases.mem),
        (Kind::Init, cases.init),
        (Kind::Race, cases.race),
        (Kind::Sync, cases.sync),
        (Kind::Leak, cases.leak),
        (Kind::Host, cases.host),
    ];
    let cases = lists.into_iter().flat_map(|(kind, list)| {
        let cases = list.into_iter();
        cases.map(move |written| Case::new(kind, written))
    });
    cases.collect()
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
            for kernel in [case.source.kernel(), case.source.twin()] {
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
