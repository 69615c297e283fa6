//! Groups of a warp's asynchronous operations in flight: copies (`cp.async`) and matrix multiplications
//! (`wgmma.mma_async`).

use crate::lanes::{LANES, active};

/// Maximum bytes per lane and copy.
pub const MAX_BYTES: usize = 16;

/// The copies of one warp that are in flight.
pub struct AsyncCopies {
    /// Copies in the order in which they started.
    started: Vec<StartedCopy>,
    /// Number of groups that each lane has committed. New copies belong to the next group.
    closed: [u32; LANES],
}

/// One instruction's copies by lanes whose group numbers agree.
pub struct StartedCopy {
    pub group: u32,
    /// False if the copy reads no byte and writes zeros.
    pub reads: bool,
    /// Lanes that have not waited for it yet.
    pub lanes: u32,
    pub bytes: usize,
    pub to: [u32; LANES],
    pub data: [[u8; MAX_BYTES]; LANES],
}

impl AsyncCopies {
    /// Creates an empty set.
    pub const fn new() -> AsyncCopies {
        AsyncCopies {
            started: Vec::new(),
            closed: [0; LANES],
        }
    }

    /// Clears the set.
    pub fn reset(&mut self) {
        self.started.clear();
        self.closed = [0; LANES];
    }

    /// Adds a copy, split by the group numbers of its lanes.
    pub fn start(&mut self, copy: &StartedCopy) {
        let mut remaining = copy.lanes;
        while remaining != 0 {
            let group = self.closed[remaining.trailing_zeros() as usize];
            let same_group = active(remaining).filter(|&lane| self.closed[lane] == group);
            let lanes = same_group.fold(0, |lanes, lane| lanes | 1 << lane);
            self.started.push(StartedCopy {
                group,
                lanes,
                ..*copy
            });
            remaining &= !lanes;
        }
    }

    /// Commits the lanes' current groups.
    pub fn commit(&mut self, lanes: u32) {
        for lane in active(lanes) {
            self.closed[lane] = self.closed[lane].wrapping_add(1);
        }
    }

    /// Writes to `shared` the copies that lanes wait for: all groups except the newest `pending`, and
    /// uncommitted copies too if `all` is true.
    pub fn finish(&mut self, lanes: u32, pending: u32, all: bool, shared: &mut [u64]) {
        let closed = &self.closed;
        self.started.retain_mut(|copy| {
            for lane in active(copy.completed_by(closed, lanes, pending, all)) {
                write_shared(shared, copy.to[lane], &copy.data[lane], copy.bytes);
                copy.lanes &= !(1 << lane);
            }
            copy.lanes != 0
        });
    }

    /// Returns the number of bytes whose copy from global memory has not been waited for.
    pub fn bytes_in_flight(&self) -> u64 {
        let reading = self.started.iter().filter(|copy| copy.reads);
        let bytes = reading.map(|copy| u64::from(copy.lanes.count_ones()) * copy.bytes as u64);
        bytes.sum()
    }

    /// Iterates over the copies that [`AsyncCopies::finish`] would complete: lane, destination and bytes.
    pub fn completed_by(
        &self,
        lanes: u32,
        pending: u32,
        all: bool,
    ) -> impl Iterator<Item = (usize, u32, usize)> {
        self.started.iter().flat_map(move |copy| {
            let completed = copy.completed_by(&self.closed, lanes, pending, all);
            active(completed).map(|lane| (lane, copy.to[lane], copy.bytes))
        })
    }
}

impl StartedCopy {
    /// Returns those of `lanes` that wait for this copy, that is, it is not in their newest `pending` groups.
    #[inline(always)]
    fn completed_by(&self, closed: &[u32; LANES], lanes: u32, pending: u32, all: bool) -> u32 {
        let waits = |lane: &usize| all || closed[*lane].wrapping_sub(self.group) > pending;
        let waiting = active(self.lanes & lanes).filter(waits);
        waiting.fold(0, |lanes, lane| lanes | 1 << lane)
    }
}

/// Writes the first `bytes` bytes of `data` to shared memory.
#[inline(always)]
fn write_shared(shared: &mut [u64], at: u32, data: &[u8; MAX_BYTES], bytes: usize) {
    assert!(
        at as usize + bytes <= size_of_val(shared),
        "checked when the copy started"
    );
    // SAFETY: the assertion above keeps the write in bounds, and a copy has at most `MAX_BYTES` bytes.
    unsafe {
        let to = shared.as_mut_ptr().cast::<u8>().add(at as usize);
        match bytes {
            4 => to
                .cast::<[u8; 4]>()
                .write(*data.first_chunk().unwrap_unchecked()),
            8 => to
                .cast::<[u8; 8]>()
                .write(*data.first_chunk().unwrap_unchecked()),
            _ => to.cast::<[u8; MAX_BYTES]>().write(*data),
        }
    }
}

/// A warp's progress through the `wgmma` protocol: `wgmma.fence` before the first multiplication, and
/// `wgmma.wait_group` after the last.
#[derive(Default)]
pub struct WgmmaGroups {
    /// Number of `wgmma.mma_async` instructions that the warp has run.
    pub run: u32,
    /// True once it has run a `wgmma.fence`.
    pub fenced: bool,
    /// True if there are multiplications in the uncommitted group.
    open: bool,
    /// Number of committed groups; the newest of them that has multiplications; and the newest waited for.
    closed: u32,
    newest_nonempty: u32,
    waited_for: u32,
    /// Reads of shared memory in flight, in a checked launch.
    reads_in_flight: Vec<ReadInFlight>,
}

/// The shared memory read by a multiplication in flight: its group, its instruction and the addresses.
struct ReadInFlight {
    group: u32,
    site: u32,
    chunks: Vec<u64>,
}

impl WgmmaGroups {
    /// Starts a multiplication.
    pub fn start(&mut self) {
        self.run += 1;
        self.open = true;
    }

    /// Commits the current group.
    pub fn commit(&mut self) {
        self.closed = self.closed.saturating_add(1);
        if std::mem::take(&mut self.open) {
            self.newest_nonempty = self.closed;
        }
    }

    /// Waits for all groups except the newest `pending`.
    pub fn wait(&mut self, pending: u32) {
        self.waited_for = self.waited_for.max(self.closed.saturating_sub(pending));
    }

    /// Records that the instruction at `site` starts to read `chunks`.
    pub fn start_read(&mut self, site: u32, chunks: Vec<u64>) {
        let group = self.closed.saturating_add(1);
        self.reads_in_flight.push(ReadInFlight {
            group,
            site,
            chunks,
        });
    }

    /// Removes and returns the reads that complete when all groups except the newest `pending` are waited for.
    pub fn finish_reads(&mut self, pending: u32) -> Vec<(u32, Vec<u64>)> {
        let through = self.closed.saturating_sub(pending);
        let done = self
            .reads_in_flight
            .extract_if(.., |reads_in_flight| reads_in_flight.group <= through);
        done.map(|reads_in_flight| (reads_in_flight.site, reads_in_flight.chunks))
            .collect()
    }

    /// Returns true if all multiplications have been waited for.
    pub fn are_complete(&self) -> bool {
        !self.open && self.newest_nonempty <= self.waited_for
    }
}
