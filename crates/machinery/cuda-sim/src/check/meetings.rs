//! Warp-wide instructions whose lanes do not come all at once.

/// The warp-wide instructions at which lanes wait for others that the instruction's mask names.
#[derive(Default)]
pub struct Meetings {
    waiting: Vec<PendingMeeting>,
}

/// Lanes of a warp that wait for others.
struct PendingMeeting {
    warp: usize,
    /// The instruction, or the mask where any instruction will do.
    place: u32,
    /// Lanes that had more to do than to end when the first of them came.
    busy: u32,
}

impl Meetings {
    /// Forgets all meetings.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Lanes begin to wait, or go on waiting.
    pub fn wait(&mut self, warp: usize, place: u32, busy: u32) {
        let mut known = self.waiting.iter();
        if !known.any(|one| one.warp == warp && one.place == place) {
            self.waiting.push(PendingMeeting { warp, place, busy });
        }
    }

    /// All lanes that were waited for have come, or have ended. Returns a mask of the lanes that
    /// had more to do than to end when the first of them came; it is empty where nobody had to
    /// wait.
    pub fn end(&mut self, warp: usize, place: u32) -> u32 {
        let mut known = self.waiting.iter();
        let found = known.position(|one| one.warp == warp && one.place == place);
        found.map_or(0, |found| self.waiting.swap_remove(found).busy)
    }
}
