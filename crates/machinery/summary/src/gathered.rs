//! What a program told, put together.

use std::collections::BTreeMap;

use chapter::check;
use cuda_driver::{Finding, FindingKind, Severity, TimedLaunch};

use crate::kernels::{Kernel, Kernels};
use crate::wire::Told;

/// What a program has told so far.
#[derive(Debug, Default)]
pub struct Gathered {
    process: String,
    kernels: Kernels,
    measured: Kernels<TimedLaunch>,
    found: Vec<Finding>,
    faults: Vec<String>,
    not_loaded: Option<String>,
    wrong: Vec<String>,
    refused: Vec<(String, u64)>,
    not_simulated: Vec<String>,
    calls: BTreeMap<String, u64>,
}

/// What a program told, and what it comes to.
#[derive(Debug, Default)]
pub struct Summary {
    /// The program of its process, where it said so.
    pub process: String,
    pub kernels: Vec<Kernel>,
    /// The kernels whose launches were measured, on a GPU.
    pub measured: Vec<Kernel<TimedLaunch>>,
    pub findings: Vec<Finding>,
    pub faults: Vec<String>,
    /// Its library was not loaded, and why.
    pub not_loaded: Option<String>,
    /// Where a description was not met.
    pub wrong: Vec<String>,
    /// Why modules were refused, and how many for each reason.
    pub refused: Vec<(String, u64)>,
    /// Functions that were called and that the simulator does not do.
    pub not_simulated: Vec<String>,
    /// How often each function of the driver was called.
    pub calls: BTreeMap<String, u64>,
}

impl Gathered {
    /// Adds one thing that happened.
    pub fn add(&mut self, told: Told) {
        match told {
            Told::Begun => {}
            Told::Process(program) => self.process = program,
            Told::NotLoaded(why) => self.not_loaded = Some(why),
            Told::Launched(record, times) => self.kernels.add(*record, times),
            Told::Measured(launch) => self.measured.add(launch, 1),
            Told::Faulted(fault) => self.faults.push(fault),
            Told::Found(findings) => self.found.extend(findings),
            Told::Wrong(text) => self.wrong.push(text),
            Told::Refused(why) => match self.refused.iter_mut().find(|known| known.0 == why) {
                Some(known) => known.1 += 1,
                None => self.refused.push((why, 1)),
            },
            Told::NotSimulated(name) if self.not_simulated.contains(&name) => {}
            Told::NotSimulated(name) => self.not_simulated.push(name),
            // It tells of all that was called in its process before.
            Told::Called(calls) => self.calls.extend(calls),
        }
    }

    /// What it comes to. A leak is usually a call of `free` that is missing.
    pub fn summary(&self, free: &str) -> Summary {
        let mut found = self.found.clone();
        for finding in &mut found {
            if finding.kind == FindingKind::Leaked {
                finding.usually = format!("a {free} that is missing");
            }
        }
        Summary {
            process: self.process.clone(),
            kernels: self.kernels.finish(),
            measured: self.measured.finish(),
            findings: check::once(found),
            faults: self.faults.clone(),
            not_loaded: self.not_loaded.clone(),
            wrong: self.wrong.clone(),
            refused: self.refused.clone(),
            not_simulated: self.not_simulated.clone(),
            calls: self.calls.clone(),
        }
    }
}

impl FromIterator<Told> for Gathered {
    fn from_iter<T: IntoIterator<Item = Told>>(all: T) -> Self {
        let mut gathered = Gathered::default();
        all.into_iter().for_each(|told| gathered.add(told));
        gathered
    }
}

impl Summary {
    /// Whether a check found an error, or a result is not as it was to be.
    pub fn has_errors(&self) -> bool {
        let mut found = self.findings.iter();
        found.any(|finding| finding.severity == Severity::Error) || !self.wrong.is_empty()
    }

    /// Whether there is nothing to tell: the program had the device at hand, and did nothing with it.
    pub fn is_idle(&self) -> bool {
        let told = [&self.faults, &self.wrong, &self.not_simulated];
        self.kernels.is_empty()
            && self.measured.is_empty()
            && self.findings.is_empty()
            && self.refused.is_empty()
            && told.iter().all(|told| told.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_again_is_counted() {
        let refused = || Told::Refused("line 3".to_owned());
        let lacking = || Told::NotSimulated("cuIpcOpenMemHandle".to_owned());
        let called = |count| Told::Called(vec![("cuInit".to_owned(), count)]);
        let told = [
            refused(),
            refused(),
            lacking(),
            lacking(),
            called(1),
            called(4),
        ];
        let summary = told.into_iter().collect::<Gathered>().summary("cuMemFree");
        assert_eq!(summary.refused, [("line 3".to_owned(), 2)]);
        assert_eq!(summary.not_simulated, ["cuIpcOpenMemHandle"]);
        assert_eq!(summary.calls["cuInit"], 4);
        assert!(!summary.is_idle() && !summary.has_errors());
        let idle = [Told::Begun, called(1)].into_iter().collect::<Gathered>();
        assert!(idle.summary("cuMemFree").is_idle());
    }
}
