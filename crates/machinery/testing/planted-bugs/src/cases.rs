//! The cases: for each kernel of `kernels/bugs`, the host side of the bug and of its correct twin, which `cases.toml`
//! describes, and the source with the marks that name the lines a report must give.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

use launch_plan::plan::{self, Plan};
use launch_plan::{Limits, ResolvedPlan};
use serde::{Deserialize, Serialize};

/// A file of `kernels/bugs`.
#[derive(Debug)]
pub struct Source {
    /// The file name without folder and extension, for example `misaligned-float4`.
    pub name: &'static str,
    /// The path in the checkout, for example `kernels/bugs/misaligned-float4.cu`.
    pub file: &'static str,
    /// The CUDA C++ source.
    pub text: &'static str,
    /// The PTX compiled from `text`.
    pub ptx: &'static str,
}

impl Source {
    /// Returns the name of the kernel with the bug: the file's name with underscores.
    pub fn kernel(&self) -> String {
        let name = self.name.split('.').next().unwrap_or_default();
        name.replace('-', "_")
    }

    /// Returns the name of the correct kernel: the kernel itself if the bug is in the host code.
    pub fn twin(&self) -> String {
        let twin = format!("{}_right", self.kernel());
        if self.text.contains(&format!("void {twin}(")) {
            twin
        } else {
            self.kernel()
        }
    }
}

/// All sources, sorted by name.
pub const SOURCES: &[Source] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The check that has to find a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An out-of-bounds or misaligned access.
    Mem,
    /// A read of uninitialized memory.
    Init,
    /// A data race.
    Race,
    /// A barrier or another collective instruction that some threads never reach.
    Sync,
    /// Memory that is never freed.
    Leak,
    /// Host memory that the host uses while work in a stream still uses it.
    Host,
}

impl Kind {
    /// Returns true if the bug is in the host code: neither a report nor the PTX then has a line of a kernel.
    pub fn is_host_bug(self) -> bool {
        matches!(self, Kind::Leak | Kind::Host)
    }
}

impl FromStr for Kind {
    type Err = MarkError;

    fn from_str(word: &str) -> Result<Self, MarkError> {
        Ok(match word {
            "mem" => Kind::Mem,
            "init" => Kind::Init,
            "race" => Kind::Race,
            "sync" => Kind::Sync,
            "leak" => Kind::Leak,
            "host" => Kind::Host,
            _ => return Err(MarkError::UnknownKind(word.to_owned())),
        })
    }
}

/// The marks of a source. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// The kind of bug.
    pub kind: Kind,
    /// Lines that end in `// BUG: KIND`. A report names one of them.
    pub lines: Vec<usize>,
    /// Lines that end in `// with new_kind`: the other access of a data race.
    pub with: Vec<usize>,
}

/// An error in a source's marks.
#[derive(Debug, PartialEq, Eq)]
pub enum MarkError {
    /// No line is marked.
    Missing,
    /// A mark with an unknown kind.
    UnknownKind(String),
    /// Marks of two kinds.
    MixedKinds(Kind, Kind),
}

impl fmt::Display for MarkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MarkError::Missing => write!(f, "no line ends in `// BUG: KIND`"),
            MarkError::UnknownKind(word) => {
                write!(
                    f,
                    "`// BUG: {word}`: unknown kind; the kinds are mem, init, race, sync, leak and host"
                )
            }
            MarkError::MixedKinds(first, second) => {
                write!(
                    f,
                    "marks of two kinds, {first:?} and {second:?}; each file has one bug"
                )
            }
        }
    }
}

impl Error for MarkError {}

/// Parses the marks in a source's `text`.
///
/// # Errors
///
/// Fails if there is no mark, a mark with an unknown kind, or marks of several kinds.
fn parse_marks(text: &str) -> Result<Marks, MarkError> {
    let mut kind = None;
    let (mut lines, mut with) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((_, word)) = line.split_once("// BUG: ") {
            let new_kind = word.trim_end().parse()?;
            match kind {
                Some(previous) if previous != new_kind => {
                    return Err(MarkError::MixedKinds(previous, new_kind));
                }
                _ => kind = Some(new_kind),
            }
            lines.push(number);
        } else if line.trim_end().ends_with("// with this") {
            with.push(number);
        }
    }
    let kind = kind.ok_or(MarkError::Missing)?;
    Ok(Marks { kind, lines, with })
}

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
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn marks_are_counted_from_line_one() {
        let text = "a; // with this\nb; // BUG: race\r\nc;\nd; // BUG: race\n";
        let expected = Marks {
            kind: Kind::Race,
            lines: vec![2, 4],
            with: vec![1],
        };
        assert_eq!(parse_marks(text), Ok(expected));
    }

    #[test]
    fn missing_unknown_and_mixed_marks_are_rejected() {
        assert_eq!(parse_marks("a;\n"), Err(MarkError::Missing));
        let error = parse_marks("a; // BUG: speed\n").unwrap_err().to_string();
        assert!(error.contains("speed"), "{error}");
        let error = parse_marks("a; // BUG: mem\nb; // BUG: init\n");
        assert_eq!(error, Err(MarkError::MixedKinds(Kind::Mem, Kind::Init)));
    }

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
