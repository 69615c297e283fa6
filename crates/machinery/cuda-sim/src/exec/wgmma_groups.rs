//! Products of a warp's warpgroup that are under way.

/// What a warp has done of what `wgmma` asks for: `wgmma.fence` before the first product, and
/// `wgmma.wait_group` after the last.
#[derive(Default)]
pub struct WgmmaGroups {
    /// Instructions of its warpgroup that it has run.
    pub run: u32,
    /// It has run a `wgmma.fence`.
    pub fenced: bool,
    /// Products that are in no group yet.
    open: bool,
    /// Groups that were closed; the newest of them that has products; and those that were waited for.
    closed: u32,
    newest: u32,
    waited: u32,
    /// Of a checked launch, what is being read.
    reading: Vec<Reading>,
}

/// A product that is under way: the group it will be in, its instruction, and what it reads of shared memory.
struct Reading {
    group: u32,
    site: u32,
    chunks: Vec<u64>,
}

impl WgmmaGroups {
    /// A product begins.
    pub fn begin(&mut self) {
        self.run += 1;
        self.open = true;
    }

    /// Closes a group.
    pub fn commit(&mut self) {
        self.closed = self.closed.saturating_add(1);
        if std::mem::take(&mut self.open) {
            self.newest = self.closed;
        }
    }

    /// All groups are waited for but the newest `pending`.
    pub fn wait(&mut self, pending: u32) {
        self.waited = self.waited.max(self.closed.saturating_sub(pending));
    }

    /// An instruction begins to read chunks.
    pub fn reads(&mut self, site: u32, chunks: Vec<u64>) {
        let group = self.closed.saturating_add(1);
        self.reading.push(Reading {
            group,
            site,
            chunks,
        });
    }

    /// What has been read when all groups are waited for but the newest `pending`.
    pub fn read(&mut self, pending: u32) -> Vec<(u32, Vec<u64>)> {
        let through = self.closed.saturating_sub(pending);
        let done = self
            .reading
            .extract_if(.., |reading| reading.group <= through);
        done.map(|reading| (reading.site, reading.chunks)).collect()
    }

    /// Whether all products were waited for.
    pub fn are_awaited(&self) -> bool {
        !self.open && self.newest <= self.waited
    }
}
