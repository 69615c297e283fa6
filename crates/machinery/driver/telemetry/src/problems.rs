//! The problems of a run: one list for all machine-readable formats, of findings, faults, failed calls and everything
//! else that the report states.

use cuda_driver::{CallSite, Cause, Check, Details, Finding, FindingKind, Severity, SourceLine};
use serde::Serialize;

use crate::failures::{FailedCall, Fault, Level};
use crate::summary::{Api, Summary};

/// A problem of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// The name of its rule, for example `out-of-bounds`.
    pub kind: String,
    /// The check that found it: `mem`, `init`, `race`, `sync`, `leak`, `host`, `stream` or `unused`; `compile`; `run`,
    /// which covers faults and the end of the program; `api`, `modules` or `results`.
    pub check: &'static str,
    pub severity: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<CallSite>,
    /// The column of the location, if the compiler reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Other lines that are part of the problem, such as the other access of a race.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// The text of the report, without the severity and the check. The first line states the problem.
    pub message: String,
    /// The kind of the likely cause of a finding, or of the reason for which a call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    pub count: u64,
}

/// A line that is part of a problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Related {
    #[serde(flatten)]
    pub location: CallSite,
    pub message: String,
}

/// A kind of problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub name: String,
    /// The problem in a few words.
    pub title: String,
    /// The consequences, the likely cause and the next step.
    pub help: String,
}

impl Rule {
    /// Returns all rules. Faults of other kinds than those listed are [`OTHER_FAULT`].
    pub fn all() -> Vec<Rule> {
        let kinds = FindingKind::ALL.iter().map(|&kind| Rule {
            name: kind.name().to_owned(),
            title: capitalized(kind.title()),
            help: finding_help(kind),
        });
        let others = OTHER_RULES.iter().map(|[name, title, help]| Rule {
            name: (*name).to_owned(),
            title: (*title).to_owned(),
            help: (*help).to_owned(),
        });
        kinds.chain(others).collect()
    }
}

/// The rule of faults without one of their own.
const OTHER_FAULT: &str = "fault";

/// The rules of problems that are not findings: names, titles and help.
const OTHER_RULES: [[&str; 3]; 15] = [
    [
        "compile-error",
        "Source that does not compile",
        "The program was not run. Start with the first error of the compiler: later ones may follow from it.",
    ],
    [
        "undefined-symbol",
        "Function or variable that is not defined",
        "The program was not run. Add the file that defines it, or the library with -l.",
    ],
    [
        "link-error",
        "Program that does not link",
        "The program was not run. The message is the linker's: a function may be defined twice, or a library missing.",
    ],
    [
        "invalid-plan",
        "Launch plan that is not valid",
        "The kernel was not run. docs/records/launch-plan.md describes what a launch plan may contain.",
    ],
    [
        "not-run",
        "Program that could not be run",
        "Nothing was run, and nothing was checked. The message states the reason.",
    ],
    [
        "assert",
        "Failed assertion in a kernel",
        "A GPU ends the kernel with cudaErrorAssert. Check the condition for the thread that the message names.",
    ],
    [
        "trap",
        "Kernel that stopped itself",
        "The kernel called __trap(), or a device function that is only declared. A GPU ends it with an error.",
    ],
    [
        "timeout",
        "Kernel that did not end",
        "The kernel exceeded its time limit. Check the loops at the lines where the threads are, and the flags or \
         counters that they wait for.",
    ],
    [
        "interrupted",
        "Kernel that was interrupted",
        "The kernel was running when the program was interrupted or reached its time limit. If it should have ended, \
         check the loops at the lines where the threads are.",
    ],
    [
        OTHER_FAULT,
        "Fault that ended a kernel",
        "A GPU ends the kernel with an error, and later calls fail too.",
    ],
    [
        "failed-call",
        "Failed call of the CUDA API",
        "A failed call does nothing. Check the result of every call, and cudaGetLastError() after every launch.",
    ],
    [
        "wrong-result",
        "Result that differs from the launch plan",
        "The kernel computed other values than its launch plan expects.",
    ],
    [
        "rejected-module",
        "Module that does not load",
        "The simulator cannot load the module's PTX, so its kernels were not run and not checked.",
    ],
    [
        "not-simulated",
        "Function that is not simulated",
        "The simulator does not implement this function of the driver, so the call failed.",
    ],
    [
        "program-stopped",
        "Program that did not exit by itself",
        "A signal or the time limit ended the program.",
    ],
];

fn finding_help(kind: FindingKind) -> String {
    let consequence = match kind.check() {
        Check::Memory => {
            "A GPU ends the kernel with an error such as cudaErrorIllegalAddress, or the access changes other data."
        }
        Check::Init => "The value is arbitrary on a GPU and may differ in every run.",
        Check::Race => {
            "The result depends on the order in which threads run, so it may differ in every run."
        }
        Check::Sync => "The behaviour is undefined: a GPU may deadlock or compute wrong results.",
        Check::Leak => "The memory stays allocated until the program ends.",
        Check::Host => {
            "The program and the GPU access the memory at the same time, so the values are arbitrary."
        }
        Check::Stream => {
            "The GPU may run both operations at the same time or in either order, so the values are arbitrary."
        }
        Check::Unused => "The transfer is unnecessary, or a kernel leaves part of its input out.",
    };
    let cause = kind.likely_cause();
    let cause = cause.map_or_else(String::new, |cause| format!(" Likely cause: {cause}."));
    let check = kind.check().name();
    format!("{consequence}{cause} `cuda-run --check={check}` reports it with its line.")
}

impl Summary {
    /// Returns the problems of a run, errors first. `checked` is true if checks were requested; `stopped` is the reason
    /// for which the program did not exit by itself, if it did not.
    pub fn problems(&self, checked: bool, api: Api, stopped: Option<&str>) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self.findings.iter().map(of_finding).collect();
        for fault in &self.faults {
            let is_finding = |found: &Finding| {
                let same = |finding: &Finding| finding.is_same_bug(found);
                fault.finding.as_ref().is_some_and(same)
            };
            if self.findings.iter().any(is_finding) {
                continue;
            }
            let problem = of_fault(fault);
            match problems.iter_mut().find(|known| known.is_same(&problem)) {
                Some(known) => known.count += 1,
                None => problems.push(problem),
            }
        }
        problems.extend(self.listed_failures(api).map(of_call));
        let wrong = self.mismatches.iter();
        problems
            .extend(wrong.map(|text| Problem::new("wrong-result", "results", Level::Error, text)));
        let level = if checked {
            Level::Error
        } else {
            Level::Warning
        };
        for (reason, count) in &self.rejected_modules {
            problems.push(Problem {
                count: *count,
                ..Problem::new(
                    "rejected-module",
                    "modules",
                    level,
                    &format!("rejected module: {reason}"),
                )
            });
        }
        for name in &self.not_simulated {
            let message = format!("{name} is not simulated");
            problems.push(Problem::new("not-simulated", "api", Level::Note, &message));
        }
        let stopped = stopped.into_iter();
        problems.extend(
            stopped.map(|reason| Problem::new("program-stopped", "run", Level::Error, reason)),
        );
        problems.sort_by_key(|problem| problem.severity);
        problems
    }
}

impl Problem {
    /// Creates a problem that occurred once, without a location.
    pub fn new(kind: &str, check: &'static str, severity: Level, message: &str) -> Problem {
        Problem {
            kind: kind.to_owned(),
            check,
            severity,
            kernel: None,
            location: None,
            column: None,
            related: Vec::new(),
            message: message.to_owned(),
            cause: None,
            count: 1,
        }
    }

    /// Returns true if both are the same, apart from the count.
    fn is_same(&self, other: &Problem) -> bool {
        (&self.kind, &self.location, &self.message)
            == (&other.kind, &other.location, &other.message)
    }

    /// Returns the first line of the message, which states the problem.
    pub fn headline(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

fn of_finding(finding: &Finding) -> Problem {
    let other = finding.other.as_ref().and_then(|other| {
        let access = match (other.atomic, other.write) {
            (true, _) => "an atomic update",
            (false, true) => "a write",
            (false, false) => "a read",
        };
        related(&other.source, format!("the other access, {access}"))
    });
    let elsewhere = finding.details.source();
    let elsewhere =
        elsewhere.and_then(|source| related(source, "a thread that does not arrive".to_owned()));
    let earlier = match &finding.details {
        Details::Streams(_, earlier, ..) => earlier.line().map(|line| Related {
            location: line.clone(),
            message: "the earlier operation".to_owned(),
        }),
        _ => None,
    };
    let allocated_at = match &finding.details {
        Details::Leak(allocation, _) => allocation.call.as_ref().map(|call| call.site.clone()),
        _ => None,
    };
    let kernel = Some(finding.kernel.clone()).filter(|kernel| !kernel.is_empty());
    Problem {
        kernel,
        location: location(&finding.source).or(allocated_at),
        related: other.into_iter().chain(elsewhere).chain(earlier).collect(),
        cause: finding.likely_cause.as_ref().map(Cause::kind),
        count: finding.count,
        ..Problem::new(
            finding.kind.name(),
            finding.check.name(),
            match finding.severity {
                Severity::Error => Level::Error,
                Severity::Warning => Level::Warning,
            },
            &dedented(&finding.to_string(), 2),
        )
    }
}

/// Converts a fault that is no finding, because no check covers it or its check was not requested.
fn of_fault(fault: &Fault) -> Problem {
    let has_rule = |kind: &str| OTHER_RULES.iter().any(|[name, ..]| *name == kind);
    let kind = match &fault.finding {
        Some(finding) => finding.kind.name(),
        None if has_rule(&fault.kind) => &fault.kind,
        None => OTHER_FAULT,
    };
    let stalls = fault.stalls.iter();
    let cause = fault
        .finding
        .as_ref()
        .and_then(|finding| finding.likely_cause.as_ref());
    Problem {
        kernel: fault.kernel.clone(),
        location: fault.source.as_ref().and_then(location),
        related: stalls
            .filter_map(|(source, text)| related(source, text.clone()))
            .collect(),
        cause: cause.map(Cause::kind),
        ..Problem::new(kind, "run", Level::Error, &dedented(&fault.text, 0))
    }
}

fn of_call(call: &FailedCall) -> Problem {
    Problem {
        kernel: call.kernel.clone(),
        location: call.location.clone(),
        cause: call.reason.as_ref().map(|reason| reason.kind()),
        count: call.calls,
        ..Problem::new(
            "failed-call",
            "api",
            call.level(),
            &dedented(&call.to_string(), 2),
        )
    }
}

/// Removes the first `prefixes` words that end with a colon, such as `error: mem: `, and the indentation of the other
/// lines.
fn dedented(text: &str, prefixes: usize) -> String {
    let text = text.splitn(prefixes + 1, ": ").last().unwrap_or_default();
    text.replace("\n  ", "\n")
}

fn location(source: &SourceLine) -> Option<CallSite> {
    let file = source.file.clone().filter(|_| source.line > 0)?;
    Some(CallSite {
        file,
        line: source.line,
    })
}

fn related(source: &SourceLine, message: String) -> Option<Related> {
    location(source).map(|location| Related { location, message })
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
