//! Warp-wide instructions whose lanes do not come all at once.

/// What is under way: lanes wait at an instruction for others that its mask names.
#[derive(Default)]
pub struct Meetings {
    waiting: Vec<PendingMeeting>,
}

struct PendingMeeting {
    warp: usize,
    /// The instruction, or the mask where any instruction will do.
    place: u32,
    /// Lanes that had more to do than to end when the first of them came.
    busy: u32,
}

impl Meetings {
    /// There are none.
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

    /// Those that were to come have come, or have ended. The lanes that had more to do when the
    /// first came; none where nobody had to wait.
    pub fn end(&mut self, warp: usize, place: u32) -> u32 {
        let mut known = self.waiting.iter();
        let found = known.position(|one| one.warp == warp && one.place == place);
        found.map_or(0, |found| self.waiting.swap_remove(found).busy)
    }
}
