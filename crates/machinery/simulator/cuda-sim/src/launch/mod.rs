//! A kernel launch with the launches of its threads (dynamic parallelism), until all of them are complete.
//!
//! A grid's submissions run after the grid: those of each block in order, each with everything that it submits, and then
//! the tail launches. `cudaDeviceSynchronize` runs the block's submissions earlier, on the thread of the block.

mod grid;
pub mod limits;

pub use crate::exec::sm::Launch;
pub use grid::{Descendants, LaunchRecord, LaunchReport};

use crate::exec::sm::runtime::{LaunchSlot, LaunchSlots, error};
use crate::exec::sm::submissions::{DeviceOperation, Submission, Submitter};
use crate::exec::{Fault, LaunchSpec, Resources};
use crate::memory::lock;
use grid::run_grid;
use limits::{count, max_threads, misfit};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

/// Runs a kernel, and all that its threads submit, until everything is complete or a grid faults.
pub fn launch(launch: &Launch) -> LaunchReport {
    let Some(runtime) = &launch.resources.runtime else {
        return run_grid(launch).0;
    };
    let tree = Tree::new(launch);
    let mut report = tree.run(tree.start(launch, Level::default(), None));
    report.descendants.unfetched_errors = runtime.take_unfetched();
    report
}

/// The maximum nesting depth of a grid whose threads wait for the launches of their block; the grid that the host
/// launches has depth 0. Each level takes a part of a host thread's stack.
const MAX_SYNC_DEPTH: u32 = 24;

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

/// The position of a grid among those that have started each other.
#[derive(Clone, Copy, Default)]
struct Level {
    depth: u32,
    /// The launch slots that the grid, those that have started it, and the submissions that wait next to them hold.
    held_slots: u64,
}

/// A grid that has run and whose submissions run now.
struct Frame {
    level: Level,
    /// The wave whose submissions run now, and the number of slots that they still hold.
    wave: Option<u64>,
    wave_slots: u64,
    report: LaunchReport,
    /// The submission that has started the grid; `None` for the first grid. It holds a launch slot.
    started_by: Option<Submission>,
    /// The submissions that have not started, except for tail launches.
    children: VecDeque<Submission>,
    tails: VecDeque<Submission>,
    /// The submissions that have run, by block.
    families: BTreeMap<u64, Family>,
    /// The tail launches that have run.
    tail_family: Family,
}

impl Frame {
    /// Returns the next submission to run; `None` if all are complete, only a parent's tail launches remain, or one has
    /// faulted.
    fn next(&mut self) -> Option<Submission> {
        if self.report.result.is_err() {
            return None;
        }
        let child = self.children.pop_front();
        child.or_else(|| match self.is_tail() {
            // The tail launches of a tail launch run next to it, so that a chain of them does not nest.
            true => None,
            false => self.tails.pop_front(),
        })
    }

    /// Returns the level of the grid that a submission starts, which [`Frame::next`] has returned.
    fn child_level(&mut self, submission: &Submission) -> Level {
        let slot = &submission.slot;
        if slot.wave.is_none() {
            self.wave_slots = 0;
        } else if slot.wave != self.wave {
            let of_wave = self.children.iter().map(|child| &child.slot);
            let of_wave = of_wave.take_while(|other| other.wave == slot.wave);
            self.wave_slots = of_wave.filter(|other| other.is_held()).count() as u64;
        } else if slot.is_held() {
            self.wave_slots -= 1;
        }
        self.wave = slot.wave;
        Level {
            depth: self.level.depth + 1,
            held_slots: self.level.held_slots + 1 + self.wave_slots + self.tails.len() as u64,
        }
    }

    fn is_tail(&self) -> bool {
        (self.started_by.as_ref()).is_some_and(|submission| submission.is_tail)
    }

    /// Returns the family that a submission belongs to.
    fn family(&mut self, submission: &Submission) -> &mut Family {
        match submission.is_tail {
            true => &mut self.tail_family,
            false => self.families.entry(submission.block).or_default(),
        }
    }

    /// Adds a grid that a submission has started and that is complete, with the tail launches that remain.
    fn add(&mut self, submission: &Submission, report: LaunchReport, tails: VecDeque<Submission>) {
        if let Err(fault) = self.family(submission).add(report) {
            self.report.result = Err(fault);
        }
        for tail in tails.into_iter().rev() {
            self.tails.push_front(tail);
        }
    }

    /// Returns the report of the grid and all that it has started, its submission, and the tail launches that have not
    /// run.
    fn finish(mut self) -> (LaunchReport, Option<Submission>, VecDeque<Submission>) {
        let times = self.families.values().map(|family| family.milliseconds);
        let milliseconds = times.fold(0.0, f64::max) + self.tail_family.milliseconds;
        self.report.descendants.milliseconds = milliseconds;
        for family in self.families.into_values() {
            family.add_to(&mut self.report);
        }
        self.tail_family.add_to(&mut self.report);
        (self.report, self.started_by, self.tails)
    }
}

/// A launch and the grids that it starts.
struct Tree<'a> {
    launch: Launch<'a>,
    /// The resources of the launches by kernels.
    resources: Resources,
}

impl<'a> Tree<'a> {
    fn new(launch: &Launch<'a>) -> Tree<'a> {
        Tree {
            launch: *launch,
            resources: Resources {
                grid_barrier: None,
                ..launch.resources.clone()
            },
        }
    }

    /// Runs the submissions of a grid, and theirs, until all are complete. Returns the report of the grid.
    fn run(&self, first: Frame) -> LaunchReport {
        // An explicit stack, because grids may nest as deep as there are launch slots.
        let mut parents: Vec<Frame> = Vec::new();
        let mut frame = first;
        loop {
            if let Some(submission) = frame.next() {
                match self.run_submission(&submission, &mut frame) {
                    None => {}
                    Some(child) => {
                        let child = Frame {
                            started_by: Some(submission),
                            ..child
                        };
                        parents.push(std::mem::replace(&mut frame, child));
                    }
                }
                continue;
            }
            let Some(mut parent) = parents.pop() else {
                return frame.finish().0;
            };
            let (report, submission, tails) = frame.finish();
            if let Some(submission) = submission {
                parent.add(&submission, report, tails);
                submission.slot.release();
            }
            frame = parent;
        }
    }

    /// Runs a submission of a grid. Returns the grid that it has started, whose submissions have not run.
    fn run_submission(&self, submission: &Submission, parent: &mut Frame) -> Option<Frame> {
        let level = parent.child_level(submission);
        match &submission.operation {
            DeviceOperation::Launch(kernel, spec) => {
                Some(self.start_child(*kernel, spec, submission, level))
            }
            operation => {
                parent.family(submission).milliseconds += self.run_operation(operation);
                submission.slot.release();
                None
            }
        }
    }

    /// Runs a grid that a thread has launched.
    fn start_child(
        &self,
        kernel: usize,
        spec: &LaunchSpec,
        submission: &Submission,
        level: Level,
    ) -> Frame {
        let launch = Launch {
            kernel,
            spec,
            resources: &self.resources,
            ..self.launch
        };
        self.start(&launch, level, Some(submission.launcher))
    }

    /// Runs a grid that the host or a kernel has launched. Its submissions have not run, except for those that threads
    /// have waited for.
    fn start(&self, launch: &Launch, level: Level, launcher: Option<usize>) -> Frame {
        let runtime = self.resources.runtime.as_ref();
        let max_slots = runtime.map_or(0, |runtime| runtime.max_slots);
        let nested = Nested {
            tree: self,
            level,
            slots: LaunchSlots::new(max_slots.saturating_sub(level.held_slots)),
            awaited: Mutex::default(),
        };
        let launch = Launch {
            submitter: Some(&nested),
            ..*launch
        };
        let (mut report, submissions) = run_grid(&launch);
        if let (Ok(record), Some(launcher)) = (&mut report.result, launcher) {
            let kernels = &self.launch.program.listing.kernels;
            record.launched_by = Some(kernels[launcher].name.clone());
        }
        let (tails, children) = submissions
            .into_iter()
            .partition(|submission| submission.is_tail);
        Frame {
            level,
            wave: None,
            wave_slots: 0,
            report,
            started_by: None,
            children,
            tails,
            families: std::mem::take(&mut *lock(&nested.awaited)),
            tail_family: Family::default(),
        }
    }

    /// Runs a copy or fill. Memory that was freed since the submission is left alone. Returns its modelled time in
    /// milliseconds.
    fn run_operation(&self, operation: &DeviceOperation) -> f64 {
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
                    // SAFETY: `Global::host` returned a pointer to `bytes` valid bytes, and no grid that accesses them
                    // without a data race of the program runs.
                    unsafe { host.write_bytes(value, bytes as usize) };
                    global.mark_initialized(address, std::iter::once((address, bytes)));
                }
                bytes
            }
            DeviceOperation::Launch(..) => 0,
        };
        moved as f64 / self.launch.device.memory_bandwidth * 1e3
    }
}

/// A running grid, as its threads see it when they submit work.
struct Nested<'a> {
    tree: &'a Tree<'a>,
    level: Level,
    slots: Arc<LaunchSlots>,
    /// The submissions that threads have waited for, by block.
    awaited: Mutex<BTreeMap<u64, Family>>,
}

impl Submitter for Nested<'_> {
    fn check(&self, kernel: usize, spec: &LaunchSpec) -> Result<(), u32> {
        let device = self.tree.launch.device;
        let runtime = self.tree.resources.runtime.as_ref();
        let dynamic = runtime.and_then(|runtime| runtime.max_dynamic_shared.get(&kernel));
        let kernel = &self.tree.launch.program.listing.kernels[kernel];
        if misfit(device, kernel, dynamic.copied(), spec).is_some() {
            return Err(error::INVALID_CONFIGURATION);
        }
        match count(spec.block) > max_threads(device, kernel).into() {
            true => Err(error::LAUNCH_OUT_OF_RESOURCES),
            false => Ok(()),
        }
    }

    fn take_slot(&self, wave: u64, is_tail: bool) -> Option<Arc<LaunchSlot>> {
        self.slots.take(wave, is_tail)
    }

    fn can_wait(&self) -> bool {
        self.level.depth < MAX_SYNC_DEPTH
    }

    fn run(&self, block: u64, submissions: Vec<Submission>) -> Result<Vec<u8>, Fault> {
        let mut family = lock(&self.awaited).remove(&block).unwrap_or_default();
        let tree = Tree::new(&self.tree.launch);
        let is_held = |submission: &&Submission| submission.slot.is_held();
        let mut waiting = submissions.iter().filter(is_held).count() as u64;
        let mut submissions = submissions.iter();
        let result = submissions.try_for_each(|submission| {
            waiting -= u64::from(submission.slot.is_held());
            let level = Level {
                depth: self.level.depth + 1,
                held_slots: self.level.held_slots + 1 + waiting,
            };
            let result = match &submission.operation {
                DeviceOperation::Launch(kernel, spec) => {
                    let child = tree.start_child(*kernel, spec, submission, level);
                    family.add(tree.run(child))
                }
                operation => {
                    family.milliseconds += tree.run_operation(operation);
                    Ok(())
                }
            };
            submission.slot.release();
            result
        });
        let printed = std::mem::take(&mut family.printed);
        lock(&self.awaited).insert(block, family);
        result.map(|()| printed)
    }
}
