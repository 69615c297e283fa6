//! The launch of one grid from start to finish: execution, counting, and the modelled time.

use crate::check::{AllocationAccesses, Finding};
use crate::device::DeviceSpec;
use crate::exec::profiler::trace::Traced;
use crate::exec::run::{self, Outcome};
use crate::exec::sm::submissions::Submission;
use crate::exec::sm::{Launch, Program, ProgramId};
use crate::exec::{Fault, launch_cache};
use crate::memory::footprint::DeviceTraffic;
use crate::model::{self, FinishedLaunch, Modelled, Occupancy, estimate_time};
use crate::profile::collect::{self, LaunchCounts};
use crate::profile::{Counters, Counts, LaunchProfile};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;

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
pub fn run_grid(launch: &Launch) -> (LaunchReport, Vec<Submission>) {
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
