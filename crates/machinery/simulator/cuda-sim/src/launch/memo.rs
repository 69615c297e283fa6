//! Memoization of the time model: a launch with the same counters as an earlier launch has the same modelled
//! time.

use crate::device::DeviceSpec;
use crate::exec::Program;
use crate::exec::sm::ProgramId;
use crate::memory::footprint::DeviceTraffic;
use crate::model::{FinishedLaunch, Modelled, Occupancy, estimate_time};
use crate::profile::collect::LaunchCounts;
use std::cell::RefCell;

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

/// Returns the modelled time of a launch of a program's kernel.
pub fn modelled_time(program: &Program, kernel: usize, launch: &FinishedLaunch) -> Modelled {
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
