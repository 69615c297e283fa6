//! Asynchronous matrix multiplications (`wgmma.mma_async`) of a warpgroup in flight, in groups.

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
