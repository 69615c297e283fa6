//! Asynchronous copies of a warp that are on their way to shared memory.

use crate::lanes::{LANES, active};

/// The most bytes a lane copies at once.
pub const MOST: usize = 16;

/// The copies of one warp that are on their way.
pub struct AsyncCopies {
    /// In the order in which they started.
    started: Vec<StartedCopy>,
    /// Groups that each lane has closed. Copies that it starts now will be in the next.
    closed: [u32; LANES],
}

/// What some lanes copy with one instruction, all of them in their group of the same number.
pub struct StartedCopy {
    pub group: u32,
    /// Lanes that have not waited for it yet.
    pub lanes: u32,
    pub bytes: usize,
    pub to: [u32; LANES],
    pub data: [[u8; MOST]; LANES],
}

impl AsyncCopies {
    /// None.
    pub const fn new() -> AsyncCopies {
        AsyncCopies {
            started: Vec::new(),
            closed: [0; LANES],
        }
    }

    /// Becomes none again.
    pub fn reset(&mut self) {
        self.started.clear();
        self.closed = [0; LANES];
    }

    /// `copy` has started; its lanes' groups may differ.
    pub fn start(&mut self, copy: &StartedCopy) {
        let mut left = copy.lanes;
        while left != 0 {
            let group = self.closed[left.trailing_zeros() as usize];
            let together = active(left).filter(|&lane| self.closed[lane] == group);
            let lanes = together.fold(0, |lanes, lane| lanes | 1 << lane);
            self.started.push(StartedCopy {
                group,
                lanes,
                ..*copy
            });
            left &= !lanes;
        }
    }

    /// Lanes close their groups.
    pub fn commit(&mut self, lanes: u32) {
        for lane in active(lanes) {
            self.closed[lane] = self.closed[lane].wrapping_add(1);
        }
    }

    /// Brings to `shared` what lanes wait for: all of their groups but the newest `pending`, and
    /// copies that are in no group yet where `all`.
    pub fn finish(&mut self, lanes: u32, pending: u32, all: bool, shared: &mut [u64]) {
        let closed = &self.closed;
        self.started.retain_mut(|copy| {
            for lane in active(copy.waited(closed, lanes, pending, all)) {
                put(shared, copy.to[lane], &copy.data[lane], copy.bytes);
                copy.lanes &= !(1 << lane);
            }
            copy.lanes != 0
        });
    }

    /// Which lanes [`AsyncCopies::finish`] would bring something for: where to, and how many bytes.
    pub fn waited(
        &self,
        lanes: u32,
        pending: u32,
        all: bool,
    ) -> impl Iterator<Item = (usize, u32, usize)> {
        self.started.iter().flat_map(move |copy| {
            let waited = copy.waited(&self.closed, lanes, pending, all);
            active(waited).map(|lane| (lane, copy.to[lane], copy.bytes))
        })
    }
}

impl StartedCopy {
    /// Those of `lanes` that wait for it: it is in none of their newest `pending` groups.
    #[inline(always)]
    fn waited(&self, closed: &[u32; LANES], lanes: u32, pending: u32, all: bool) -> u32 {
        let waits = |lane: &usize| all || closed[*lane].wrapping_sub(self.group) > pending;
        let waiting = active(self.lanes & lanes).filter(waits);
        waiting.fold(0, |lanes, lane| lanes | 1 << lane)
    }
}

/// Writes the first `bytes` at an address of shared memory.
#[inline(always)]
fn put(shared: &mut [u64], at: u32, data: &[u8; MOST], bytes: usize) {
    assert!(
        at as usize + bytes <= size_of_val(shared),
        "checked when the copy started"
    );
    // SAFETY: they lie inside, as was just seen, and a copy has no more than `MOST` bytes.
    unsafe {
        let to = shared.as_mut_ptr().cast::<u8>().add(at as usize);
        match bytes {
            4 => to
                .cast::<[u8; 4]>()
                .write(*data.first_chunk().unwrap_unchecked()),
            8 => to
                .cast::<[u8; 8]>()
                .write(*data.first_chunk().unwrap_unchecked()),
            _ => to.cast::<[u8; MOST]>().write(*data),
        }
    }
}
