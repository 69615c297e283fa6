//! Execution of a launch, one SM per host thread.

use super::fault::{Diagnosis, Fault, Sizes};
use super::profiler::trace::{self, Trace, Traced};
use super::sm::{Grid, Launch, Program};
use super::worker::run_blocks;
use super::{dispatch, launch_cache};
use crate::check::{self, Finding};
use crate::device::DeviceSpec;
use crate::memory::footprint::DeviceTraffic;
use crate::memory::global::Global;
use crate::profile::cache::MAX_LINES;
use crate::profile::collect::LaunchCounts;
use std::sync::Arc;

/// The results of a completed launch.
pub struct Outcome {
    pub counted: LaunchCounts,
    /// Traffic between device memory and the L2 cache.
    pub traffic: DeviceTraffic,
    /// Each access in block order, or only the costliest accesses, if the launch was traced.
    pub trace: Vec<Traced>,
    /// Output of `printf` in block order.
    pub printed: Vec<u8>,
    /// Findings of the checks, errors first.
    pub findings: Vec<Finding>,
}

/// Runs a kernel to its end on `device`, each SM of which holds `blocks_per_sm` of its blocks.
///
/// Results and counters do not depend on the distribution of blocks over host threads: blocks of a kernel with
/// order-dependent atomics run one after the other, and so do those of a launch with a random schedule.
///
/// # Errors
/// Returns the fault of the lowest-numbered block that had one.
pub fn run(
    program: &Arc<Program>,
    global: &Global,
    device: &DeviceSpec,
    launch: &Launch,
    blocks_per_sm: u32,
) -> Result<Outcome, Fault> {
    let mut grid = Grid::new(program, global, device, launch, blocks_per_sm);
    launch_cache::with(program, |cached| {
        grid.sample.reuse(std::mem::take(&mut cached.caches))
    });
    let grid = Arc::new(grid);
    let _guard = launch.watch.map(|watch| watch.show(grid.progress.clone()));
    let kernel = &program.listing.kernels[launch.kernel];
    let checks = grid.checks.as_ref();
    let serial = kernel.ordered
        || grid.schedule_seed.is_some()
        || checks.is_some_and(|checks| checks.is_serial());
    let results = if serial || grid.progress.blocks == 1 {
        vec![run_blocks(&grid, grid.resident, false)]
    } else {
        dispatch::run_all(launch.threads, &grid)
    };
    let fault = grid.take_fault();
    let mut all: Option<LaunchCounts> = None;
    let (mut printed, mut trace) = (Vec::new(), None::<Box<Trace>>);
    let mut findings = check::FindingSet::default();
    for part in results {
        match &mut all {
            Some(counted) => counted.add(&part.counted),
            None => all = Some(part.counted),
        }
        printed.extend(part.printed);
        match (&mut trace, part.trace) {
            (Some(all), Some(part)) => all.add(*part),
            (all, part) => *all = part,
        }
        findings.merge(part.findings);
    }
    let counted = all.unwrap_or_else(|| LaunchCounts::new(&program.listing));
    if fault.is_some() {
        findings.discard_after(grid.lowest_failed());
    } else {
        launch_cache::with(program, |cached| {
            cached.record_cost(&grid, counted.instructions());
            if launch_cache::is_cacheable(&grid) && grid.local_lines() < MAX_LINES / 2 {
                cached.caches = grid.sample.take_spare_caches();
            }
        });
    }
    let findings = match &grid.checks {
        Some(checks) => {
            let context = check::KernelContext {
                listing: &program.listing,
                kernel: grid.kernel_name(),
                dims: grid.dims,
            };
            checks.findings(findings, context, global, fault.is_none())
        }
        None => Vec::new(),
    };
    printed.sort_by_key(|(block, _)| *block);
    let printed = printed.into_iter().flat_map(|(_, text)| text).collect();
    if let Some(fault) = fault {
        let sizes = Sizes {
            shared: kernel.shared_bytes,
            dynamic: launch.dynamic_shared,
            local: grid.stack_bytes,
            params: kernel.param_bytes,
            constants: program.constants.map_or(0, |(_, bytes)| bytes),
        };
        let diagnosis = Diagnosis::of(&fault.kind, global, sizes).map(Box::new);
        return Err(Fault {
            printed,
            findings,
            diagnosis,
            ..fault
        });
    }
    Ok(Outcome {
        counted,
        traffic: grid.regions.traffic(device.l2_bytes.into()),
        trace: trace.map_or_else(Vec::new, |trace| trace::traced(&program.listing, *trace)),
        printed,
        findings,
    })
}
