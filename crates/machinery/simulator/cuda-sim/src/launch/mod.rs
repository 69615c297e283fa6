//! A kernel launch with the launches of its threads (dynamic parallelism), until all of them are complete.
//!
//! A grid's submissions run after the grid: those of each block in order, each with everything that it submits, and then
//! the tail launches. `cudaDeviceSynchronize` runs the block's submissions earlier, on the thread of the block.

mod grid;
pub mod limits;

pub use crate::exec::sm::Launch;
pub use grid::{Descendants, LaunchRecord, LaunchReport};

use crate::exec::sm::runtime::{MAX_DEPTH, error};
use crate::exec::sm::submissions::{DeviceOperation, Submission, Submitter};
use crate::exec::{Fault, LaunchSpec, Resources};
use crate::isa::Kernel;
use crate::memory::lock;
use grid::run_grid;
use limits::{count, max_threads, misfit};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

/// Runs a kernel, and all that its threads submit, until everything is complete or a grid faults.
pub fn launch(launch: &Launch) -> LaunchReport {
    launch_at(launch, 0)
}

/// Implements [`launch`] for a grid at a nesting depth.
fn launch_at(launch: &Launch, depth: u32) -> LaunchReport {
    if launch.resources.runtime.is_none() {
        return run_grid(launch).0;
    }
    let nested = Nested::new(launch, depth);
    let (mut report, tails) = nested.run(launch);
    let mut family = Family::default();
    let mut tails = VecDeque::from(tails);
    while report.result.is_ok()
        && let Some(tail) = tails.pop_front()
    {
        let result = match &tail.operation {
            DeviceOperation::Launch(kernel, spec) => {
                nested.start();
                let (mut child, its_tails) = nested.run(&nested.child(*kernel, spec));
                its_tails
                    .into_iter()
                    .rev()
                    .for_each(|tail| tails.push_front(tail));
                name_launcher(&mut child, nested.kernel());
                family.add(child)
            }
            _ => nested.run_operation(&tail.operation, &mut family),
        };
        if let Err(fault) = result {
            report.result = Err(fault);
        }
    }
    let milliseconds = family.milliseconds;
    family.add_to(&mut report);
    report.descendants.milliseconds += milliseconds;
    report
}

/// Marks a launch as one of another kernel.
fn name_launcher(report: &mut LaunchReport, kernel: &Kernel) {
    if let Ok(record) = &mut report.result {
        record.launched_by = Some(kernel.name.clone());
    }
}

/// A grid, as its threads see it when they submit work.
struct Nested<'a> {
    launch: Launch<'a>,
    /// The resources of the launches of its threads.
    resources: Resources,
    depth: u32,
    /// The launches that threads have waited for, by block.
    awaited: Mutex<BTreeMap<u64, Family>>,
}

/// Launches of threads of a grid, and all of theirs, in order.
#[derive(Default)]
struct Family {
    records: Vec<LaunchRecord>,
    printed: Vec<u8>,
    milliseconds: f64,
    /// The other parts of the reports.
    reports: Vec<LaunchReport>,
}

impl Family {
    /// Adds a launch that has run. Fails with its fault.
    fn add(&mut self, mut report: LaunchReport) -> Result<(), Fault> {
        self.printed.append(&mut report.printed);
        let fault = match &report.result {
            Ok(record) => {
                self.milliseconds += record.time.milliseconds + report.descendants.milliseconds;
                self.records.push(record.clone());
                None
            }
            Err(fault) => Some(fault.clone()),
        };
        self.records.append(&mut report.descendants.records);
        self.reports.push(report);
        fault.map_or(Ok(()), Err)
    }

    /// Adds the launches to the report of the grid that has made them, without their time.
    fn add_to(self, report: &mut LaunchReport) {
        report.descendants.records.extend(self.records);
        report.printed.extend(self.printed);
        for child in self.reports {
            report.findings.extend(child.findings);
            report.accesses.extend(child.accesses);
        }
    }
}

impl<'a> Nested<'a> {
    fn new(launch: &Launch<'a>, depth: u32) -> Nested<'a> {
        let resources = Resources {
            grid_barrier: None,
            ..launch.resources.clone()
        };
        Nested {
            launch: *launch,
            resources,
            depth,
            awaited: Mutex::default(),
        }
    }

    /// Returns the kernel that makes the launches.
    fn kernel(&self) -> &Kernel {
        &self.launch.program.listing.kernels[self.launch.kernel]
    }

    /// Returns a launch by a thread of the grid.
    fn child<'b>(&'b self, kernel: usize, spec: &'b LaunchSpec) -> Launch<'b> {
        Launch {
            kernel,
            spec,
            resources: &self.resources,
            submitter: None,
            ..self.launch
        }
    }

    /// Counts a submission as started.
    fn start(&self) {
        if let Some(runtime) = &self.resources.runtime {
            runtime.start_pending();
        }
    }

    /// Runs a grid at this depth and its submissions. Returns its report, and the tail launches, which have not run.
    fn run(&self, launch: &Launch) -> (LaunchReport, Vec<Submission>) {
        let nested = Nested::new(launch, self.depth);
        let launch = Launch {
            submitter: Some(&nested),
            ..*launch
        };
        let (mut report, submissions) = run_grid(&launch);
        let mut families = std::mem::take(&mut *lock(&nested.awaited));
        let mut tails = Vec::new();
        for submission in submissions {
            if submission.is_tail {
                tails.push(submission);
            } else if report.result.is_ok() {
                let family = families.entry(submission.block).or_default();
                if let Err(fault) = nested.run_submission(&submission, family) {
                    report.result = Err(fault);
                }
            }
        }
        let times = families.values().map(|family| family.milliseconds);
        report.descendants.milliseconds = times.fold(0.0, f64::max);
        for family in families.into_values() {
            family.add_to(&mut report);
        }
        (report, tails)
    }

    /// Runs a submission, and adds it to its family.
    fn run_submission(&self, submission: &Submission, family: &mut Family) -> Result<(), Fault> {
        let DeviceOperation::Launch(kernel, spec) = &submission.operation else {
            return self.run_operation(&submission.operation, family);
        };
        self.start();
        let mut report = launch_at(&self.child(*kernel, spec), self.depth + 1);
        name_launcher(&mut report, self.kernel());
        family.add(report)
    }

    /// Runs a copy or fill. Memory that was freed since the submission is left alone.
    fn run_operation(&self, operation: &DeviceOperation, family: &mut Family) -> Result<(), Fault> {
        self.start();
        let global = self.launch.global;
        let moved = match *operation {
            DeviceOperation::Copy { to, from, bytes } => {
                let hosts = (global.host(to, bytes), global.host(from, bytes));
                if let (Some(to_host), Some(from_host)) = hosts {
                    // SAFETY: `Global::host` returned pointers to `bytes` valid bytes, and no grid that accesses them
                    // without a data race of the program runs.
                    unsafe { from_host.copy_to(to_host, bytes as usize) };
                    global.copy_initialization(to, from, std::iter::once((to, from, bytes)));
                }
                2 * bytes
            }
            DeviceOperation::Fill {
                address,
                value,
                bytes,
            } => {
                if let Some(host) = global.host(address, bytes) {
                    // SAFETY: as above.
                    unsafe { host.write_bytes(value, bytes as usize) };
                    global.mark_initialized(address, std::iter::once((address, bytes)));
                }
                bytes
            }
            DeviceOperation::Launch(..) => 0,
        };
        family.milliseconds += moved as f64 / self.launch.device.memory_bandwidth * 1e3;
        Ok(())
    }
}

impl Submitter for Nested<'_> {
    fn check(&self, kernel: usize, spec: &LaunchSpec) -> Result<(), u32> {
        if self.depth >= MAX_DEPTH {
            return Err(error::LAUNCH_MAX_DEPTH_EXCEEDED);
        }
        let device = self.launch.device;
        let runtime = self.resources.runtime.as_ref();
        let dynamic = runtime.and_then(|runtime| runtime.max_dynamic_shared.get(&kernel));
        let kernel = &self.launch.program.listing.kernels[kernel];
        if misfit(device, kernel, dynamic.copied(), spec).is_some() {
            return Err(error::INVALID_CONFIGURATION);
        }
        match count(spec.block) > max_threads(device, kernel).into() {
            true => Err(error::LAUNCH_OUT_OF_RESOURCES),
            false => Ok(()),
        }
    }

    fn run(&self, block: u64, submissions: Vec<Submission>) -> Result<Vec<u8>, Fault> {
        let mut family = lock(&self.awaited).remove(&block).unwrap_or_default();
        let mut submissions = submissions.iter();
        let result =
            submissions.try_for_each(|submission| self.run_submission(submission, &mut family));
        let printed = std::mem::take(&mut family.printed);
        lock(&self.awaited).insert(block, family);
        result.map(|()| printed)
    }
}
