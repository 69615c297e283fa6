//! A kernel launch with the launches of its threads (dynamic parallelism), until all of them are complete; and the launch of
//! one grid from start to finish: execution, counting, and the modelled time.
//!
//! A grid's submissions run after the grid: those of each block in order, each with everything that it submits, and then
//! the tail launches. `cudaDeviceSynchronize` runs the block's submissions earlier, on the thread of the block.

pub mod limits;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use limits::{count, max_threads, misfit};
use serde::{Deserialize, Serialize};

use crate::check::{AllocationAccesses, Finding};
use crate::device::DeviceSpec;
use crate::exec::profiler::trace::Traced;
use crate::exec::run::{self, Outcome};
use crate::exec::sm::launch_spec::{DeviceOperation, Submission, Submitter};
use crate::exec::sm::runtime::{LaunchSlot, LaunchSlots, error};
use crate::exec::sm::{Program, ProgramId};
use crate::exec::{Fault, LaunchSpec, Resources, launch_cache};
use crate::memory::footprint::DeviceTraffic;
use crate::memory::lock;
use crate::model::{self, FinishedLaunch, Modelled, Occupancy, estimate_time};
use crate::profile::collect::{self, LaunchCounts};
use crate::profile::{Counters, Counts, LaunchProfile};

pub use crate::exec::sm::Launch;

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

/// The report of a launch that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchReport {
    /// The record of the launch, or the fault that ended it: that of the lowest-numbered block that had one.
    pub result: Result<LaunchRecord, Fault>,
    /// The counts behind the record's counters. They are incomplete after a fault.
    pub counts: Counts,
    /// Each access, block by block, or only the costliest ones; empty unless requested, and after a fault.
    pub trace: Vec<Traced>,
    /// The kernel's `printf` output, block by block.
    pub printed: Vec<u8>,
    /// The findings of the checks, and accesses that a GPU does not detect, with and without checks.
    pub findings: Vec<Finding>,
    /// The device memory that the launch accessed, if the check of streams is on.
    pub accesses: Vec<AllocationAccesses>,
    /// The launches by the kernel's threads, and by theirs.
    pub descendants: Descendants,
}

/// The launches that a kernel has made, directly or through others. Their output and their findings are in the report of
/// the kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Descendants {
    /// The records in the order in which the launches started.
    pub records: Vec<LaunchRecord>,
    /// The modelled time from the end of the kernel until the last launch is complete. Launches of different blocks run at
    /// the same time, those of one block one after the other.
    pub milliseconds: f64,
    /// Number of threads by the error of the runtime API with which they have ended and that they have not fetched.
    pub unfetched_errors: BTreeMap<u32, u64>,
}

/// The record that the simulator emits for a completed launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// The counters that are always on.
    pub counters: Counters,
    /// The estimated time on the modelled GPU, and its bottleneck.
    pub time: Modelled,
    /// The profiler's counters; `None` if profiling was off. Boxed, because few launches have them and all are moved.
    pub profile: Option<Box<LaunchProfile>>,
    /// The kernel that launched this one; `None` if the host did.
    #[serde(default)]
    pub launched_by: Option<String>,
}

impl LaunchRecord {
    /// Adds another launch of the same kernel: counters and times are summed. Properties of a single launch,
    /// such as the grid, remain those of the first.
    pub fn add(&mut self, other: &LaunchRecord) {
        self.counters.add(&other.counters);
        self.time.add(&other.time);
        match (&mut self.profile, &other.profile) {
            (Some(sum), Some(part)) => sum.add(part),
            (sum, _) => *sum = None,
        }
    }
}

/// Runs one grid until it completes or faults. Returns its report, and what its threads have submitted.
fn run_grid(launch: &Launch) -> (LaunchReport, Vec<Submission>) {
    let Launch {
        program,
        spec,
        options,
        device,
        ..
    } = *launch;
    let listing = &program.listing;
    let kernel = &listing.kernels[launch.kernel];
    let (blocks, threads) = (spec.blocks(), spec.threads());
    let shared = kernel
        .shared_bytes_with(spec.dynamic_shared)
        .next_multiple_of(16);
    let occupancy = model::occupancy(device, kernel, threads, shared, blocks);
    let Outcome {
        fault,
        counted,
        traffic,
        trace,
        printed,
        submissions,
        findings,
        accesses,
    } = run::run(launch, occupancy.blocks);
    let counts = counted.counts();
    let result = match fault {
        Some(fault) => Err(fault),
        None => {
            let finished = FinishedLaunch {
                program: listing,
                device,
                counted: &counted,
                counts: &counts,
                traffic,
                occupancy,
                blocks,
                threads,
            };
            let record = LaunchRecord {
                kernel: kernel.name.clone(),
                grid: spec.grid,
                block: spec.block,
                counters: counts.counters(listing),
                time: modelled_time(program, launch.kernel, &finished),
                profile: options
                    .has_profile()
                    .then(|| Box::new(collect::profile(listing, &counted, &counts, traffic))),
                launched_by: None,
            };
            launch_cache::store_counted(program, counted);
            Ok(record)
        }
    };
    let report = LaunchReport {
        result,
        counts,
        trace,
        printed,
        findings,
        accesses,
        descendants: Descendants::default(),
    };
    (report, submissions)
}

/// The number of launches that each thread remembers.
const MAX_ENTRIES: usize = 8;

/// A launch: everything that its modelled time depends on, and the time.
struct Memo {
    program: ProgramId,
    kernel: usize,
    device: DeviceSpec,
    counted: LaunchCounts,
    traffic: DeviceTraffic,
    occupancy: Occupancy,
    blocks: u64,
    threads: u32,
    time: Modelled,
}

thread_local! {
    /// The most recent launch of each kernel on this thread, most recently used first.
    static MEMOS: RefCell<Vec<Memo>> = const { RefCell::new(Vec::new()) };
}

/// Returns the modelled time of a launch of a program's kernel. A launch with the same counters as an earlier
/// one has the same modelled time.
fn modelled_time(program: &Program, kernel: usize, launch: &FinishedLaunch) -> Modelled {
    let look_up = |memos: &RefCell<Vec<Memo>>| {
        let memos = &mut *memos.borrow_mut();
        let is_kernel = |memo: &Memo| memo.program == program.id && memo.kernel == kernel;
        if let Some(index) = memos.iter().position(is_kernel) {
            memos[..=index].rotate_right(1);
            let memo = &mut memos[0];
            if memo.matches(launch) {
                return memo.time.clone();
            }
            memo.counted.clone_from(launch.counted);
            memo.device.clone_from(launch.device);
            memo.traffic = launch.traffic;
            memo.occupancy = launch.occupancy;
            (memo.blocks, memo.threads) = (launch.blocks, launch.threads);
            memo.time = estimate_time(launch);
            return memo.time.clone();
        }
        let time = estimate_time(launch);
        memos.truncate(MAX_ENTRIES - 1);
        let memo = Memo {
            program: program.id,
            kernel,
            device: launch.device.clone(),
            counted: launch.counted.clone(),
            traffic: launch.traffic,
            occupancy: launch.occupancy,
            blocks: launch.blocks,
            threads: launch.threads,
            time: time.clone(),
        };
        memos.insert(0, memo);
        time
    };
    // When the thread exits, the memos are already destroyed.
    MEMOS
        .try_with(look_up)
        .unwrap_or_else(|_| estimate_time(launch))
}

impl Memo {
    fn matches(&self, launch: &FinishedLaunch) -> bool {
        (self.blocks, self.threads) == (launch.blocks, launch.threads)
            && self.traffic == launch.traffic
            && self.occupancy == launch.occupancy
            && self.counted == *launch.counted
            && self.device == *launch.device
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Occupancy, OccupancyLimit, Resource, ResourceTime, Roofline};
    use crate::profile::{LineProfile, Tally};

    fn launch(issue: f64, memory: f64, lines: &[u32]) -> LaunchRecord {
        let part = |resource, milliseconds| ResourceTime {
            resource,
            milliseconds,
        };
        let mut resources = vec![part(Resource::Issue, issue), part(Resource::Memory, memory)];
        resources.sort_by(|first, other| other.milliseconds.total_cmp(&first.milliseconds));
        let tally = Tally {
            instructions: 5,
            ..Tally::default()
        };
        let line = |&line: &u32| LineProfile {
            file: "a.cu".to_owned(),
            line,
            tally,
        };
        LaunchRecord {
            kernel: "add".to_owned(),
            grid: [1; 3],
            block: [32, 1, 1],
            counters: Counters {
                barriers: 2,
                ..Counters::default()
            },
            time: Modelled {
                gpu: "NVIDIA H200",
                milliseconds: issue.max(memory),
                binding: resources[0].resource,
                resources,
                occupancy: Occupancy {
                    blocks: 1,
                    warps: 1,
                    max_warps: 64,
                    limit: OccupancyLimit::Grid,
                },
                roofline: Roofline {
                    operations: 10.0,
                    bytes: 20.0,
                    peak_operations: 1.0,
                    peak_bandwidth: 1.0,
                },
            },
            profile: Some(Box::new(LaunchProfile {
                total: tally,
                lines: lines.iter().map(line).collect(),
                ..LaunchProfile::default()
            })),
            launched_by: None,
        }
    }

    #[test]
    fn counters_and_times_of_launches_add_up() {
        let mut sum = launch(3.0, 1.0, &[7, 9]);
        sum.add(&launch(1.0, 5.0, &[8, 9]));
        assert_eq!(sum.time.milliseconds, 8.0);
        assert_eq!(sum.time.binding, Resource::Memory);
        let resources = sum.time.resources.iter().map(|part| part.milliseconds);
        assert_eq!(resources.collect::<Vec<_>>(), [6.0, 4.0]);
        assert_eq!(sum.time.roofline.operations, 20.0);
        assert_eq!(sum.time.roofline.peak_operations, 1.0);
        assert_eq!(sum.counters.barriers, 4);
        let profile = sum.profile.as_ref().unwrap();
        assert_eq!(profile.total.instructions, 10);
        let lines = profile
            .lines
            .iter()
            .map(|line| (line.line, line.tally.instructions));
        assert_eq!(lines.collect::<Vec<_>>(), [(7, 5), (8, 5), (9, 10)]);
    }

    #[test]
    fn adding_an_uncounted_launch_drops_the_profile() {
        let mut sum = launch(3.0, 1.0, &[7]);
        let uncounted = LaunchRecord {
            profile: None,
            ..launch(1.0, 1.0, &[])
        };
        sum.add(&uncounted);
        assert_eq!(sum.profile, None);
        assert_eq!(sum.time.milliseconds, 4.0);
    }

    #[test]
    fn a_record_round_trips_through_json() {
        let launch = launch(3.0, 1.0, &[7, 9]);
        let text = serde_json::to_string(&launch).unwrap();
        assert_eq!(serde_json::from_str::<LaunchRecord>(&text).unwrap(), launch);
        let other = text.replace("NVIDIA H200", "NVIDIA Nothing");
        let error = serde_json::from_str::<LaunchRecord>(&other).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("NVIDIA Nothing cannot be modelled"),
            "{error}"
        );
    }
}
