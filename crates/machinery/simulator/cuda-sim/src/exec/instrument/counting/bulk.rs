//! Counts bulk asynchronous copies, as if each thread of full warps copied 16 bytes past the L1 cache: global memory in the
//! site's first slot, shared memory in the second.

use super::{profiler, site_of};
use crate::exec::memory::bulk;
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{FULL, LANES, active};
use crate::profile::collect::SiteCounts;

/// Bytes that a thread copies at once.
const WIDTH: u64 = 16;
/// Bytes of a sector of global memory.
const SECTOR: u64 = 32;
/// Bytes that shared memory transfers in a wavefront.
const WAVEFRONT: u64 = 128;

/// Counts a bulk copy and starts it.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction is a bulk copy.
pub unsafe fn copy(sm: &mut Sm, inst: &Inst) -> Next {
    let (counted, _, _) = site_of(sm, inst);
    for lane in active(sm.mask) {
        // SAFETY: the instruction is a bulk copy, as this function requires.
        let transfer = unsafe { bulk::transfer(sm, inst, lane) };
        // If the copy is invalid, the instruction itself reports the fault.
        let Ok(transfer) = transfer else { break };
        let slot = counted.site.slot as usize;
        let (mut bytes, mut sectors) = (0, 0);
        for run in &transfer.runs {
            bytes += run.bytes;
            sectors += (run.address + run.bytes).div_ceil(SECTOR) - run.address / SECTOR;
        }
        let sites = &mut profiler(sm).sites;
        add_requests(&mut sites[slot], bytes);
        sites[slot].units += sectors;
        sites[slot].wavefronts += bytes.div_ceil(WAVEFRONT);
        add_requests(&mut sites[slot + 1], transfer.bytes);
        sites[slot + 1].wavefronts += transfer.bytes.div_ceil(WAVEFRONT);
    }
    // SAFETY: `run` is the uninstrumented handler of this instruction.
    unsafe { (counted.run)(sm, inst) }
}

/// Counts the requests of the warps that copy `bytes` bytes.
fn add_requests(counts: &mut SiteCounts, bytes: u64) {
    let mut threads = bytes.div_ceil(WIDTH);
    while threads > 0 {
        let lanes = threads.min(LANES as u64);
        counts.add_request(FULL >> (LANES as u64 - lanes));
        threads -= lanes;
    }
}
