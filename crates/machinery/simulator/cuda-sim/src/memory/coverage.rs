//! The parts of an allocation that nothing has written or read, in elements: of a result, those that a kernel missed; of an
//! input, which the program has copied to the allocation or set, those that nothing has used.

use super::init_bitmap::AtomicInitBitmap;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// The layout of pitched memory (`cuMemAllocPitch`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// The requested length of a row in bytes.
    pub width: u64,
    /// The distance from one row to the next in bytes.
    pub pitch: u64,
}

/// The stores of kernels to an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stores {
    /// The widths of the elements stored, one bit each: bit `n` stands for `2^n` bytes.
    pub elements: u32,
    /// The widths of the instructions, which may store several elements.
    pub instructions: u32,
    /// True if an atomic has changed uninitialized memory, which leaves it uninitialized.
    pub has_atomics: bool,
    /// The symbol of the kernel that stored last.
    pub kernel: Option<String>,
}

/// The widths of a launch's accesses: of instructions, one bit each, and, in the upper half, of their elements.
#[derive(Debug, Default)]
pub struct Widths(AtomicU32);

impl Widths {
    /// Notes an access by an instruction to elements of these numbers of bytes.
    #[inline(always)]
    pub fn note(&self, instruction: u32, element: u32) {
        let bits = 1 << instruction.ilog2() | 1 << (16 + element.ilog2());
        if self.0.load(Relaxed) & bits != bits {
            self.0.fetch_or(bits, Relaxed);
        }
    }

    /// Notes a store of a part of a structure of `bytes` bytes, some of which are padding.
    #[cold]
    pub fn note_structure(&self, bytes: u32) {
        self.0.fetch_or(1 << bytes.ilog2().min(15), Relaxed);
    }

    /// Returns the accesses as stores of an unknown kernel.
    pub fn stores(&self) -> Stores {
        let widths = self.0.load(Relaxed);
        Stores {
            elements: widths >> 16,
            instructions: widths & 0xffff,
            ..Stores::default()
        }
    }
}

/// Uninitialized elements of a range of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Bytes per element: the smallest width that kernels have stored, or 1.
    pub width: u64,
    /// The number of elements of the range.
    pub elements: u64,
    pub unwritten: u64,
    /// The first uninitialized element, counted from the start of the allocation.
    pub first: u64,
    /// The symbol of the kernel that stored to the allocation last.
    pub kernel: Option<String>,
}

/// The number of elements above which one short gap is not the padding of a structure.
const MIN_ELEMENTS: u64 = 16;

impl Stores {
    /// Adds later stores.
    pub fn add(&mut self, later: Stores) {
        self.elements |= later.elements;
        self.instructions |= later.instructions;
        self.has_atomics |= later.has_atomics;
        self.kernel = later.kernel.or(self.kernel.take());
    }
}

/// Uninitialized elements in gaps of a kind.
#[derive(Default)]
struct Gaps {
    count: u64,
    elements: u64,
    first: Option<u64>,
}

impl Gaps {
    fn add(&mut self, first: u64, elements: u64) {
        self.count += 1;
        self.elements += elements;
        self.first = Some(self.first.map_or(first, |known| known.min(first)));
    }
}

impl Coverage {
    /// Returns the uninitialized elements among ranges of an allocation, given as offsets and lengths; `None` if there
    /// are none. `written` are the initialized bytes, `rows` the layout of the allocation if it is pitched.
    ///
    /// The padding of rows does not count, and neither do gaps that are too narrow for the widest store, if there are
    /// several: they are the padding of structures.
    pub fn of(
        written: &AtomicInitBitmap,
        stores: Stores,
        rows: Option<Rows>,
        ranges: impl Iterator<Item = (u64, u64)>,
    ) -> Option<Coverage> {
        if stores.has_atomics {
            return None;
        }
        let width = match stores.elements {
            0 => 1,
            elements => 1 << elements.trailing_zeros(),
        };
        let widest = 1 << stores.instructions.checked_ilog2().unwrap_or(0);
        let mut bytes = 0;
        let (mut wide, mut narrow) = (Gaps::default(), Gaps::default());
        for (from, to) in ranges.flat_map(|(from, bytes)| without_padding(from, from + bytes, rows))
        {
            bytes += to - from;
            if written.is_initialized(from, to - from) {
                continue;
            }
            for (from, to) in written.gaps(from, to) {
                let first = from.div_ceil(width);
                let elements = (to / width).saturating_sub(first);
                if elements > 0 {
                    let gaps = if to - from < widest {
                        &mut narrow
                    } else {
                        &mut wide
                    };
                    gaps.add(first, elements);
                }
            }
        }
        let elements = bytes / width;
        if narrow.count == 1 && elements >= MIN_ELEMENTS {
            wide.add(narrow.first?, narrow.elements);
        }
        Some(Coverage {
            width,
            elements,
            unwritten: wide.elements,
            first: wide.first?,
            kernel: stores.kernel,
        })
    }
}

/// Returns the parts of a range that are not the padding of rows.
fn without_padding(from: u64, to: u64, rows: Option<Rows>) -> impl Iterator<Item = (u64, u64)> {
    let Rows { width, pitch } = rows.unwrap_or(Rows {
        width: u64::MAX,
        pitch: u64::MAX,
    });
    (from / pitch..to.div_ceil(pitch)).filter_map(move |row| {
        let start = row * pitch;
        let (from, to) = (from.max(start), to.min(start.saturating_add(width)));
        (from < to).then_some((from, to))
    })
}

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

    /// Returns the elements of the input that nothing has used, and their origin; `None` if all have been used. Fills
    /// do not count if there are copies: programs set a buffer to zero and copy to a part.
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

    fn stores(widths: &[u64]) -> Stores {
        let bits = widths
            .iter()
            .fold(0, |bits, width| bits | 1 << width.ilog2());
        Stores {
            elements: bits,
            instructions: bits,
            ..Stores::default()
        }
    }

    /// Returns the number of unwritten elements of the first `bytes` bytes and the first of them.
    fn unwritten(
        written: &[(u64, u64)],
        stores: Stores,
        rows: Option<Rows>,
        bytes: u64,
    ) -> Option<(u64, u64)> {
        let bitmap = AtomicInitBitmap::new(4096);
        written
            .iter()
            .for_each(|&(at, bytes)| bitmap.set(at, bytes));
        let coverage = Coverage::of(&bitmap, stores, rows, [(0, bytes)].into_iter())?;
        Some((coverage.unwritten, coverage.first))
    }

    #[test]
    fn unwritten_elements_are_counted() {
        let words = || stores(&[4]);
        assert_eq!(unwritten(&[(0, 4096)], words(), None, 4096), None);
        assert_eq!(unwritten(&[(0, 3968)], words(), None, 3968), None);
        assert_eq!(
            unwritten(&[(0, 3968)], words(), None, 4096),
            Some((32, 992))
        );
        assert_eq!(unwritten(&[(40, 400)], words(), None, 800), Some((100, 0)));
        assert_eq!(unwritten(&[], Stores::default(), None, 64), Some((64, 0)));
        // Two gaps, and part of an element.
        assert_eq!(
            unwritten(&[(0, 8), (12, 8), (22, 4)], words(), None, 32),
            Some((2, 2))
        );
    }

    #[test]
    fn padding_is_not_unwritten() {
        let rows = Some(Rows {
            width: 400,
            pitch: 512,
        });
        let all_rows: Vec<_> = (0..8).map(|row| (row * 512, 400)).collect();
        assert_eq!(unwritten(&all_rows, stores(&[4]), rows, 4096), None);
        assert_eq!(
            unwritten(&all_rows[1..], stores(&[4]), rows, 4096),
            Some((100, 0))
        );
        // Structures of a double and an int, and of a byte and a word. Padding before a gap is part of the gap.
        let fields: Vec<_> = (0..64).map(|item| (item * 16, 12)).collect();
        assert_eq!(unwritten(&fields, stores(&[8, 4]), None, 1024), None);
        assert_eq!(
            unwritten(&fields[..60], stores(&[8, 4]), None, 1024),
            Some((17, 239))
        );
        let fields: Vec<_> = (0..64)
            .flat_map(|item| [(item * 8, 1), (item * 8 + 4, 4)])
            .collect();
        assert_eq!(unwritten(&fields, stores(&[1, 4]), None, 512), None);
    }

    #[test]
    fn the_tail_of_vectors_is_not_padding() {
        let vectors = Stores {
            instructions: 1 << 4,
            ..stores(&[4])
        };
        assert_eq!(
            unwritten(&[(0, 80)], vectors.clone(), None, 92),
            Some((3, 20))
        );
        // One structure of 5 floats.
        assert_eq!(unwritten(&[(0, 20)], vectors, None, 32), None);
    }

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
        // Bytes that no call has copied do not count.
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
