//! A launch from beginning to end: run, counted, and put to a modelled time.

mod memo;
mod record;

pub use crate::exec::sm::Launch;
pub use record::LaunchRecord;

use crate::check::Finding;
use crate::device::DeviceSpec;
use crate::exec::run::{self, Outcome};
use crate::exec::sm::Program;
use crate::exec::trace::Traced;
use crate::exec::{Fault, ProfileMode, launch_cache};
use crate::memory::global::Global;
use crate::model::{self, Modelled};
use crate::profile::{Counts, LaunchProfile, collect};
use std::sync::Arc;

/// What a launch did.
pub struct Report {
    pub counts: Counts,
    /// Modelled, on the device the simulator stands for.
    pub time: Modelled,
    /// What was counted line by line, if that was asked for.
    pub profile: Option<LaunchProfile>,
    /// Each access, block by block, or the costliest ones, if that was asked for.
    pub trace: Vec<Traced>,
    /// What the kernel printed, block by block.
    pub printed: Vec<u8>,
    /// What checks found, errors first.
    pub findings: Vec<Finding>,
}

/// Runs a kernel to its end.
///
/// # Errors
/// The fault of the lowest-numbered block that had one.
pub fn launch(
    program: &Arc<Program>,
    global: &Global,
    device: &DeviceSpec,
    launch: &Launch,
) -> Result<Report, Fault> {
    let listing = &program.listing;
    let kernel = &listing.kernels[launch.kernel];
    let blocks = launch.grid.iter().map(|&n| u64::from(n)).product();
    let threads = launch.block.iter().product();
    let shared = kernel
        .shared_with(launch.dynamic_shared)
        .next_multiple_of(16);
    let occupancy = model::occupancy(device, kernel, threads, shared, blocks);
    let Outcome {
        counted,
        traffic,
        trace,
        printed,
        findings,
    } = run::run(program, global, device, launch, occupancy.blocks)?;
    let counts = counted.counts();
    let finished = model::FinishedLaunch {
        program: listing,
        device,
        counted: &counted,
        counts: &counts,
        traffic,
        occupancy,
        blocks,
        threads,
    };
    let time = memo::time(program, launch.kernel, &finished);
    let profile = match launch.profile_mode() {
        ProfileMode::Off | ProfileMode::Sample => None,
        ProfileMode::Full | ProfileMode::Trace | ProfileMode::TraceCostliest => {
            Some(collect::profile(listing, &counted, &counts, traffic))
        }
    };
    launch_cache::store_counted(program, counted);
    Ok(Report {
        counts,
        time,
        profile,
        trace,
        printed,
        findings,
    })
}
