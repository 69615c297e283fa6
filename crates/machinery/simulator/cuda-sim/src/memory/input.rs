//! The input of an allocation: the bytes that the program has copied to it or set, and the part that has been used.

use super::coverage::{Coverage, Rows, Widths};
use super::init_bitmap::AtomicInitBitmap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The call that wrote an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputOrigin {
    /// A copy from the host.
    Copied,
    /// A fill.
    Set,
}

/// The input of an allocation, as far as it is tracked.
pub struct Input {
    bytes: u64,
    copied: OnceLock<AtomicInitBitmap>,
    set: OnceLock<AtomicInitBitmap>,
    /// The bytes that a kernel or a copy has read or overwritten.
    used: AtomicInitBitmap,
    /// True if all bytes count as used.
    all_used: AtomicBool,
    /// The widths of the accesses of kernels.
    widths: Widths,
}

/// The maximum number of ranges of an input. Later ones are ignored.
const MAX_RANGES: usize = 1 << 16;

impl Input {
    /// Creates the empty input of an allocation of this size.
    pub fn new(bytes: u64) -> Input {
        Input {
            bytes,
            copied: OnceLock::new(),
            set: OnceLock::new(),
            used: AtomicInitBitmap::new(bytes),
            all_used: AtomicBool::new(false),
            widths: Widths::default(),
        }
    }

    /// Adds ranges of bytes, given as offsets and lengths.
    pub fn add(&self, origin: InputOrigin, ranges: impl Iterator<Item = (u64, u64)>) {
        let bitmap = match origin {
            InputOrigin::Copied => &self.copied,
            InputOrigin::Set => &self.set,
        };
        let bitmap = bitmap.get_or_init(|| AtomicInitBitmap::new(self.bytes));
        ranges.for_each(|(at, bytes)| bitmap.set(at, bytes));
    }

    /// Notes that a copy uses `bytes` bytes from an offset on.
    pub fn use_bytes(&self, offset: u64, bytes: u64) {
        self.used.set(offset, bytes);
    }

    /// Notes that instructions use `bytes` bytes from an offset on. The widths are those of an instruction and of its
    /// elements, in bytes.
    #[inline(always)]
    pub fn access(&self, offset: u64, bytes: u64, instruction: u32, element: u32) {
        self.used.set(offset, bytes);
        self.widths.note(instruction, element);
    }

    /// Notes that all bytes are used.
    pub fn use_all(&self) {
        self.all_used.store(true, Relaxed);
    }

    /// Returns the elements of the input that nothing has used, and their origin; `None` if all have been used. Fills do not count if there are copies: programs set a buffer to zero and copy to a part.
    pub fn unused(&self, rows: Option<Rows>) -> Option<(Coverage, InputOrigin)> {
        if self.all_used.load(Relaxed) {
            return None;
        }
        let (origin, bitmap) = match (self.copied.get(), self.set.get()) {
            (Some(copied), _) => (InputOrigin::Copied, copied),
            (None, set) => (InputOrigin::Set, set?),
        };
        let ranges = bitmap.ranges(MAX_RANGES).into_iter();
        let ranges = ranges.map(|range| (range.start, range.end - range.start));
        let coverage = Coverage::of(&self.used, self.widths.stores(), rows, ranges)?;
        Some((coverage, origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of unused elements and of all elements, and the first unused one.
    fn unused(input: &Input, rows: Option<Rows>) -> Option<(u64, u64, u64)> {
        let (coverage, _) = input.unused(rows)?;
        Some((coverage.unwritten, coverage.elements, coverage.first))
    }

    #[test]
    fn elements_that_nothing_uses_are_counted() {
        let input = Input::new(4096);
        assert_eq!(unused(&input, None), None);
        input.add(InputOrigin::Copied, [(0, 4000)].into_iter());
        assert_eq!(unused(&input, None), Some((4000, 4000, 0)));
        input.access(0, 3000, 16, 4);
        assert_eq!(unused(&input, None), Some((250, 1000, 750)));
        // Bytes that nobody has copied do not count.
        input.use_bytes(3000, 1000);
        assert_eq!(unused(&input, None), None);
    }

    #[test]
    fn fills_count_only_without_copies() {
        let input = Input::new(4096);
        input.add(InputOrigin::Set, [(0, 4096)].into_iter());
        input.access(0, 1024, 4, 4);
        assert_eq!(unused(&input, None), Some((768, 1024, 256)));
        input.add(InputOrigin::Copied, [(0, 1024)].into_iter());
        assert_eq!(unused(&input, None), None);
        let fetched = Input::new(64);
        fetched.add(InputOrigin::Set, [(0, 64)].into_iter());
        fetched.use_all();
        assert_eq!(unused(&fetched, None), None);
    }

    #[test]
    fn padding_is_no_input() {
        let rows = Some(Rows {
            width: 400,
            pitch: 512,
        });
        let input = Input::new(4096);
        input.add(InputOrigin::Set, [(0, 4096)].into_iter());
        (0..8).for_each(|row| input.access(row * 512, 400, 4, 4));
        assert_eq!(unused(&input, rows), None);
        // Structures of a double and an int.
        let input = Input::new(1024);
        input.add(InputOrigin::Copied, [(0, 1024)].into_iter());
        for item in 0..64 {
            input.access(item * 16, 8, 8, 8);
            input.access(item * 16 + 8, 4, 4, 4);
        }
        assert_eq!(unused(&input, None), None);
    }
}
