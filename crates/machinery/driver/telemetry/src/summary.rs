//! The final report of a program, aggregated from its events.

use std::collections::{BTreeMap, HashMap};

use chapter::check;
use cuda_driver::names::{short, with_parameters};
use cuda_driver::{Cause, Finding, FindingKind, LaunchRecord, Severity, TimedLaunch};

use crate::failures::{FailedCall, Fault};
use crate::wire::{Event, RangeTotal};

/// The events of a program so far.
#[derive(Debug, Default)]
pub struct EventLog {
    program: String,
    kernels: Kernels,
    measured: Kernels<TimedLaunch>,
    findings: Vec<Finding>,
    faults: Vec<Fault>,
    load_error: Option<String>,
    mismatches: Vec<String>,
    rejected_modules: Vec<(String, u64)>,
    library_calls: BTreeMap<String, LibraryCalls>,
    not_simulated: Vec<String>,
    failed_calls: Vec<FailedCall>,
    calls: BTreeMap<String, u64>,
    ranges: Vec<RangeTotal>,
}

/// The final report of a program.
#[derive(Debug, Default)]
pub struct Summary {
    /// The program of the process, or empty if it is unknown.
    pub program: String,
    pub kernels: Vec<Kernel>,
    /// Kernels whose launches were measured on a GPU.
    pub measured: Vec<Kernel<TimedLaunch>>,
    pub findings: Vec<Finding>,
    pub faults: Vec<Fault>,
    /// The reason for which the program's library was not loaded.
    pub load_error: Option<String>,
    /// Buffers that differ from their description.
    pub mismatches: Vec<String>,
    /// Reasons for which modules were rejected, with the number of modules.
    pub rejected_modules: Vec<(String, u64)>,
    /// The calls of each function of a library.
    pub library_calls: BTreeMap<String, LibraryCalls>,
    /// Called functions that the simulator does not implement.
    pub not_simulated: Vec<String>,
    pub failed_calls: Vec<FailedCall>,
    /// The number of calls of each driver function.
    pub calls: BTreeMap<String, u64>,
    /// NVTX ranges, in the order in which they first ended.
    pub ranges: Vec<RangeTotal>,
}

/// The calls of a library's function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LibraryCalls {
    pub count: u64,
    /// The estimated total time.
    pub milliseconds: f64,
}

impl EventLog {
    /// Adds an event.
    pub fn add(&mut self, event: Event) {
        match event {
            Event::Started => {}
            Event::Process(program) => self.program = program,
            Event::NotLoaded(reason) => self.load_error = Some(reason),
            Event::Launched(record, times) => self.kernels.add(*record, times),
            Event::Measured(launch) => self.measured.add(launch, 1),
            Event::Faulted(fault) => self.faults.push(*fault),
            Event::Findings(findings) => self.findings.extend(findings),
            Event::Mismatch(text) => self.mismatches.push(text),
            Event::ModuleRejected(reason) => match self
                .rejected_modules
                .iter_mut()
                .find(|entry| entry.0 == reason)
            {
                Some(entry) => entry.1 += 1,
                None => self.rejected_modules.push((reason, 1)),
            },
            Event::LibraryCalled(function, seconds) => {
                let calls = self.library_calls.entry(function).or_default();
                calls.count += 1;
                calls.milliseconds += seconds * 1e3;
            }
            Event::NotSimulated(name) if self.not_simulated.contains(&name) => {}
            Event::NotSimulated(name) => self.not_simulated.push(name),
            // Each event contains the numbers so far.
            Event::CallFailed(call) => {
                match self
                    .failed_calls
                    .iter_mut()
                    .find(|known| known.is_same(&call))
                {
                    Some(known) => *known = call,
                    None => self.failed_calls.push(call),
                }
            }
            // Each event contains all calls of its process so far.
            Event::ApiCalls(calls) => self.calls.extend(calls),
            Event::Ranges(ranges) => self.ranges = ranges,
        }
    }

    /// Forgives all ignored errors, because the program itself has failed: it may have noticed them.
    pub fn forgive(&mut self) {
        self.failed_calls
            .iter_mut()
            .for_each(|call| call.ignored = 0);
    }

    /// Creates the report. `free` is the function that the usual cause of a leak fails to call.
    pub fn summary(&self, free: &str) -> Summary {
        let mut findings = self.findings.clone();
        if !self.rejected_modules.is_empty() {
            // The kernels that could not be loaded would have read the input and written the results.
            findings.retain(|finding| {
                !matches!(
                    finding.kind,
                    FindingKind::UnwrittenResult | FindingKind::UnusedInput
                )
            });
        }
        for finding in &mut findings {
            if finding.kind == FindingKind::Leaked {
                finding.likely_cause = Some(Cause::MissingCall(free.to_owned()));
            }
        }
        Summary {
            program: self.program.clone(),
            kernels: self.kernels.finish(),
            measured: self.measured.finish(),
            findings: check::deduplicated(findings),
            faults: self.faults.clone(),
            load_error: self.load_error.clone(),
            mismatches: self.mismatches.clone(),
            rejected_modules: self.rejected_modules.clone(),
            library_calls: self.library_calls.clone(),
            not_simulated: self.not_simulated.clone(),
            failed_calls: self.failed_calls.clone(),
            calls: self.calls.clone(),
            ranges: self.ranges.clone(),
        }
    }
}

impl FromIterator<Event> for EventLog {
    fn from_iter<T: IntoIterator<Item = Event>>(events: T) -> Self {
        let mut log = EventLog::default();
        events.into_iter().for_each(|event| log.add(event));
        log
    }
}

impl Summary {
    /// Returns true if a check found an error or did not see all of the program, or if a result is wrong.
    /// `checked` is true if checks were requested.
    pub fn has_errors(&self, checked: bool) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.severity == Severity::Error)
            || !self.mismatches.is_empty()
            || checked && self.incomplete().is_some()
    }

    /// Returns the reason for which the checks did not see all of the program, if there is one: a fault that is
    /// not a finding, such as a failed assertion, or a rejected module.
    pub fn incomplete(&self) -> Option<String> {
        let count = |count: u64, [one, several]: [&str; 2]| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {several}")),
        };
        let findings = self.findings.iter().filter(|finding| finding.stops());
        let found: u64 = findings.map(|finding| finding.count).sum();
        let faults = (self.faults.len() as u64).saturating_sub(found);
        let rejected = self.rejected_modules.iter().map(|(_, count)| count).sum();
        let parts = [
            count(faults, ["launch failed", "launches failed"]),
            count(rejected, ["module was rejected", "modules were rejected"]),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{}; the reason is printed above.", parts.join(", ")))
    }

    /// Returns the failed calls to report. Those whose errors the program noticed may still explain a finding, a fault
    /// or an incorrect result.
    pub fn listed_failures(&self, api: Api) -> impl Iterator<Item = &FailedCall> {
        let is_wrong = self.has_errors(true) || !self.faults.is_empty();
        self.failed_calls.iter().filter(move |call| match api {
            Api::None => false,
            Api::Ignored => call.ignored > 0 || (is_wrong && !call.expected),
            Api::All => true,
        })
    }

    /// Returns the number of failed calls whose errors the program ignored.
    pub fn ignored_calls(&self) -> u64 {
        self.failed_calls.iter().map(|call| call.ignored).sum()
    }

    /// Returns true if the run fails although the program succeeded. `checked` is true if checks were requested.
    pub fn fails(&self, checked: bool, api: Api) -> bool {
        self.has_errors(checked) || checked && api != Api::None && self.ignored_calls() > 0
    }

    /// Returns true if there is nothing to report, because the program did not use the device.
    pub fn is_idle(&self) -> bool {
        let lists = [&self.mismatches, &self.not_simulated];
        self.kernels.is_empty()
            && self.measured.is_empty()
            && self.findings.is_empty()
            && self.faults.is_empty()
            && self.library_calls.is_empty()
            && self.rejected_modules.is_empty()
            && self.ignored_calls() == 0
            && lists.iter().all(|list| list.is_empty())
    }
}

/// The failed calls to report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Api {
    None,
    /// Only calls whose errors the program ignored.
    #[default]
    Ignored,
    All,
}

/// A record of one launch, or of several launches of one kernel.
pub trait Launch: Clone {
    /// The kernel's name.
    fn kernel(&mut self) -> &mut String;
    /// Returns the blocks of the grid and the threads of a block.
    fn shape(&self) -> [[u32; 3]; 2];
    /// Adds another launch. The shape is kept.
    fn add(&mut self, other: &Self);
    /// Returns the total time in milliseconds.
    fn milliseconds(&self) -> f64;
    /// Returns true if a kernel made the launch.
    fn is_by_kernel(&self) -> bool;
}

impl Launch for LaunchRecord {
    fn kernel(&mut self) -> &mut String {
        &mut self.kernel
    }

    fn shape(&self) -> [[u32; 3]; 2] {
        [self.grid, self.block]
    }

    fn add(&mut self, other: &Self) {
        LaunchRecord::add(self, other);
    }

    fn milliseconds(&self) -> f64 {
        self.time.milliseconds
    }

    fn is_by_kernel(&self) -> bool {
        self.launched_by.is_some()
    }
}

impl Launch for TimedLaunch {
    fn kernel(&mut self) -> &mut String {
        &mut self.kernel
    }

    fn shape(&self) -> [[u32; 3]; 2] {
        [self.grid, self.block]
    }

    fn add(&mut self, other: &Self) {
        self.milliseconds += other.milliseconds;
    }

    fn milliseconds(&self) -> f64 {
        self.milliseconds
    }

    fn is_by_kernel(&self) -> bool {
        false
    }
}

/// A kernel and the total of its launches.
#[derive(Clone, Debug)]
pub struct Kernel<L = LaunchRecord> {
    /// The name in the source, such as `add<float>`.
    pub name: String,
    /// The name in the PTX, which distinguishes overloads.
    symbol: String,
    /// Number of launches.
    pub launches: u64,
    /// Number of these launches that kernels made.
    pub by_kernels: u64,
    /// True if the grid or the block of a launch differs from the first launch's.
    pub varied: bool,
    /// The sum of all launches. Its kernel is [`Self::name`]; its grid and block are those of the first launch.
    pub total: L,
}

/// The kernels of a program in the order of their first launches.
#[derive(Debug)]
pub struct Kernels<L = LaunchRecord> {
    entries: Vec<Kernel<L>>,
    /// Index of each kernel by symbol. A map, because a program may have thousands of kernels.
    indices: HashMap<String, usize>,
}

impl<L> Default for Kernels<L> {
    fn default() -> Self {
        Kernels {
            entries: Vec::new(),
            indices: HashMap::new(),
        }
    }
}

impl<L: Launch> Kernels<L> {
    /// Adds `times` identical launches.
    pub fn add(&mut self, mut launch: L, times: u64) {
        if times == 0 {
            return;
        }
        let symbol = launch.kernel().clone();
        if let Some(&index) = self.indices.get(&symbol) {
            let kernel = &mut self.entries[index];
            kernel.launches += times;
            kernel.by_kernels += if launch.is_by_kernel() { times } else { 0 };
            kernel.varied |= kernel.total.shape() != launch.shape();
            // Added one by one, because a product would be rounded differently from the sum.
            for _ in 0..times {
                kernel.total.add(&launch);
            }
            return;
        }
        let remaining = launch.clone();
        let by_kernels = launch.is_by_kernel().into();
        let name = short(&symbol);
        launch.kernel().clone_from(&name);
        self.indices.insert(symbol.clone(), self.entries.len());
        self.entries.push(Kernel {
            total: launch,
            name,
            symbol,
            launches: 1,
            by_kernels,
            varied: false,
        });
        self.add(remaining, times - 1);
    }

    /// Returns all kernels. Overloads get their parameters in their names.
    pub fn finish(&self) -> Vec<Kernel<L>> {
        let mut named: HashMap<&str, usize> = HashMap::new();
        for kernel in &self.entries {
            *named.entry(&kernel.name).or_default() += 1;
        }
        let mut kernels = self.entries.clone();
        for kernel in &mut kernels {
            if named[kernel.name.as_str()] > 1 {
                kernel.name = with_parameters(&kernel.symbol);
                kernel.total.kernel().clone_from(&kernel.name);
            }
        }
        kernels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_events_are_counted() {
        let rejected = || Event::ModuleRejected("line 3".to_owned());
        let not_simulated = || Event::NotSimulated("cuMulticastCreate".to_owned());
        let library_called = |seconds| Event::LibraryCalled("cublasSgemm".to_owned(), seconds);
        let api_calls = |count| Event::ApiCalls(vec![("cuInit".to_owned(), count)]);
        let events = [
            rejected(),
            rejected(),
            not_simulated(),
            not_simulated(),
            library_called(2e-6),
            library_called(3e-6),
            api_calls(1),
            api_calls(4),
        ];
        let summary = events
            .into_iter()
            .collect::<EventLog>()
            .summary("cuMemFree");
        assert_eq!(summary.rejected_modules, [("line 3".to_owned(), 2)]);
        assert_eq!(summary.not_simulated, ["cuMulticastCreate"]);
        assert_eq!(summary.calls["cuInit"], 4);
        let LibraryCalls {
            count,
            milliseconds,
        } = summary.library_calls["cublasSgemm"];
        assert!(count == 2 && (milliseconds - 5e-3).abs() < 1e-12);
        assert!(!summary.is_idle() && !summary.has_errors(false));
        let idle = [Event::Started, api_calls(1)]
            .into_iter()
            .collect::<EventLog>();
        assert!(idle.summary("cuMemFree").is_idle());
    }
}
