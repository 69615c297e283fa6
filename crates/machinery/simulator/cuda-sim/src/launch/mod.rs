//! A kernel launch: execution, counting, and the modelled time.

mod memo;
mod record;

pub use crate::exec::sm::Launch;
pub use record::LaunchRecord;

use crate::check::Finding;
use crate::device::DeviceSpec;
use crate::exec::profiler::trace::Traced;
use crate::exec::run::{self, Outcome};
use crate::exec::sm::Program;
use crate::exec::{Fault, ProfileMode, launch_cache};
use crate::memory::global::Global;
use crate::model::{self, Modelled};
use crate::profile::{Counts, LaunchProfile, collect};
use std::sync::Arc;

/// The results of a launch.
pub struct Report {
    pub counts: Counts,
    /// The modelled time on the simulated device.
    pub time: Modelled,
    /// The counters per source line, if requested.
    pub profile: Option<LaunchProfile>,
    /// Each access, block by block, or only the costliest ones; empty unless requested.
    pub trace: Vec<Traced>,
    /// The kernel's `printf` output, block by block.
    pub printed: Vec<u8>,
    /// The findings of the checks, errors first.
    pub findings: Vec<Finding>,
}

/// Runs a kernel until it completes.
///
/// # Errors
/// Returns the fault of the lowest-numbered block that raised one.
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
        .shared_bytes_with(launch.dynamic_shared)
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
    let time = memo::modelled_time(program, launch.kernel, &finished);
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
