//! The modelled time of a launch that counted what another did: it is the same.

use crate::device::DeviceSpec;
use crate::exec::Program;
use crate::exec::sm::ProgramId;
use crate::memory::footprint::DeviceTraffic;
use crate::model::{FinishedLaunch, Modelled, Occupancy, modelled};
use crate::profile::collect::Counted;
use std::cell::RefCell;

/// A thread remembers so many launches.
const MOST: usize = 8;

/// A launch, as far as its time depends on it.
struct Memo {
    program: ProgramId,
    kernel: usize,
    device: DeviceSpec,
    counted: Counted,
    traffic: DeviceTraffic,
    occupancy: Occupancy,
    blocks: u64,
    threads: u32,
    time: Modelled,
}

thread_local! {
    /// The last launches of this thread, one a kernel: that of the kernel launched last comes first.
    static MEMOS: RefCell<Vec<Memo>> = const { RefCell::new(Vec::new()) };
}

/// The modelled time of a launch of a program's kernel.
pub fn time(program: &Program, kernel: usize, launch: &FinishedLaunch) -> Modelled {
    let find = |memos: &RefCell<Vec<Memo>>| {
        let memos = &mut *memos.borrow_mut();
        let of = |it: &Memo| it.program == program.id && it.kernel == kernel;
        if let Some(place) = memos.iter().position(of) {
            memos[..=place].rotate_right(1);
            let memo = &mut memos[0];
            if memo.is_of(launch) {
                return memo.time.clone();
            }
            memo.counted.clone_from(launch.counted);
            memo.device.clone_from(launch.device);
            memo.traffic = launch.traffic;
            memo.occupancy = launch.occupancy;
            (memo.blocks, memo.threads) = (launch.blocks, launch.threads);
            memo.time = modelled(launch);
            return memo.time.clone();
        }
        let time = modelled(launch);
        memos.truncate(MOST - 1);
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
    // Where the thread is about to end nothing is remembered.
    MEMOS.try_with(find).unwrap_or_else(|_| modelled(launch))
}

impl Memo {
    fn is_of(&self, launch: &FinishedLaunch) -> bool {
        (self.blocks, self.threads) == (launch.blocks, launch.threads)
            && self.traffic == launch.traffic
            && self.occupancy == launch.occupancy
            && self.counted == *launch.counted
            && self.device == *launch.device
    }
}
