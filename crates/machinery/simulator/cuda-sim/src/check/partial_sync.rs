//! Warp-wide instructions whose lanes do not arrive together.

/// The pending warp-wide instructions of a block, at which lanes wait for other lanes of the instruction's
/// mask.
#[derive(Default)]
pub struct PartialSyncs {
    waiting: Vec<PendingSync>,
}

/// Lanes of a warp that wait for others.
struct PendingSync {
    warp: usize,
    /// The instruction's address, or the mask if lanes may arrive at different instructions.
    key: u32,
    /// A mask of the lanes that had not reached their exit when the first lane arrived.
    busy: u32,
}

impl PartialSyncs {
    /// Removes all pending instructions.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Records that lanes wait, unless they already do.
    pub fn wait(&mut self, warp: usize, key: u32, busy: u32) {
        let mut pending = self.waiting.iter();
        if !pending.any(|p| p.warp == warp && p.key == key) {
            self.waiting.push(PendingSync { warp, key, busy });
        }
    }

    /// Ends the wait, once all lanes have arrived or exited. Returns the mask of the lanes that had not
    /// reached their exit when the first lane arrived, or 0 if no lane had to wait.
    pub fn complete(&mut self, warp: usize, key: u32) -> u32 {
        let mut pending = self.waiting.iter();
        let index = pending.position(|p| p.warp == warp && p.key == key);
        index.map_or(0, |index| self.waiting.swap_remove(index).busy)
    }
}
