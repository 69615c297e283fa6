//! The bytes of device memory that an operation of a stream accesses: recorded by launches under the check of streams,
//! known from the arguments of copies and fills.

use crate::memory::global::AllocationRecord;
use crate::memory::init_bitmap::AtomicInitBitmap;
use std::ops::Range;
use std::sync::OnceLock;

/// The kinds of accesses that are recorded separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessedAs {
    Read,
    Write,
    /// A volatile or otherwise ordered load.
    OrderedRead,
    /// An atomic, or an ordered store.
    Update,
}

const KINDS: [AccessedAs; 4] = [
    AccessedAs::Read,
    AccessedAs::Write,
    AccessedAs::OrderedRead,
    AccessedAs::Update,
];

impl AccessedAs {
    #[inline(always)]
    pub fn of(is_ordered: bool, writes: bool) -> AccessedAs {
        match (is_ordered, writes) {
            (false, false) => AccessedAs::Read,
            (false, true) => AccessedAs::Write,
            (true, false) => AccessedAs::OrderedRead,
            (true, true) => AccessedAs::Update,
        }
    }

    /// Returns true if two such accesses to one byte must be ordered: one of them writes, and not both are ordered.
    pub fn conflicts(self, other: AccessedAs) -> bool {
        use AccessedAs::{Read, Update, Write};
        matches!(
            (self, other),
            (Write, _) | (_, Write) | (Update, Read) | (Read, Update)
        )
    }
}

/// The bytes of one allocation that a running launch has accessed, by kind of access.
#[derive(Debug, Default)]
pub struct AccessedBytes([OnceLock<AtomicInitBitmap>; KINDS.len()]);

impl AccessedBytes {
    /// Records an access of `bytes` bytes from `offset` on, all of which must be inside the allocation of `size`
    /// bytes.
    #[inline(always)]
    pub fn record(&self, kind: AccessedAs, size: u64, offset: u64, bytes: u64) {
        let bitmap = self.0[kind as usize].get_or_init(|| AtomicInitBitmap::new(size));
        bitmap.set(offset, bytes);
    }
}

/// The bytes of one allocation that an operation has accessed.
#[derive(Debug, Clone, PartialEq)]
pub struct AllocationAccesses {
    pub allocation: AllocationRecord,
    /// The ranges of bytes in ascending order, by kind of access.
    ranges: [Vec<Range<u64>>; KINDS.len()],
    /// True if the operation is a launch that may synchronize with the host while it runs: with a fence of system scope,
    /// or volatile accesses.
    pub synchronizes_with_host: bool,
}

/// The maximum number of ranges per allocation and kind of access. Conflicts in further ones go unreported.
const MAX_RANGES: usize = 1 << 16;

impl AllocationAccesses {
    /// Returns the accesses of a launch to an allocation; `None` if there are none.
    pub(super) fn of_launch(
        allocation: AllocationRecord,
        accessed: &AccessedBytes,
        synchronizes_with_host: bool,
    ) -> Option<AllocationAccesses> {
        let ranges = accessed.0.each_ref().map(|bitmap| {
            let bitmap = bitmap.get();
            bitmap.map_or_else(Vec::new, |bitmap| bitmap.ranges(MAX_RANGES))
        });
        let any = ranges.iter().any(|ranges| !ranges.is_empty());
        any.then_some(AllocationAccesses {
            allocation,
            ranges,
            synchronizes_with_host,
        })
    }

    /// Returns accesses of one kind to an allocation. The ranges of bytes must be in ascending order.
    pub fn new(
        allocation: AllocationRecord,
        kind: AccessedAs,
        rows: Vec<Range<u64>>,
    ) -> AllocationAccesses {
        let mut ranges: [Vec<Range<u64>>; KINDS.len()] = Default::default();
        ranges[kind as usize] = rows;
        AllocationAccesses {
            allocation,
            ranges,
            synchronizes_with_host: false,
        }
    }

    /// Returns the kinds of the first two conflicting accesses, and the bytes that they share.
    pub fn first_conflict(
        &self,
        other: &AllocationAccesses,
    ) -> Option<([AccessedAs; 2], Range<u64>)> {
        if self.allocation != other.allocation {
            return None;
        }
        let pairs = KINDS.iter().flat_map(|&own| {
            let others = KINDS.iter().filter(move |&&other| own.conflicts(other));
            others.map(move |&other| [own, other])
        });
        let conflicts = pairs.filter_map(|pair| {
            let [own, others] = pair;
            let shared = overlap(&self.ranges[own as usize], &other.ranges[others as usize])?;
            Some((pair, shared))
        });
        conflicts.min_by_key(|(_, shared)| shared.start)
    }

    /// Returns the kind of the first access that conflicts with one of the host to these addresses, and the offset of
    /// the first byte that both use. A read by the host conflicts with writes only.
    pub fn host_conflict(
        &self,
        addresses: Range<u64>,
        host_writes: bool,
    ) -> Option<(AccessedAs, u64)> {
        let base = self.allocation.base;
        let own = addresses.start.max(base) - base..addresses.end.max(base) - base;
        let kinds = KINDS
            .iter()
            .filter(|kind| host_writes || matches!(kind, AccessedAs::Write | AccessedAs::Update));
        let conflicts = kinds.filter_map(|&kind| {
            let ranges = &self.ranges[kind as usize];
            let first = ranges.get(ranges.partition_point(|range| range.end <= own.start))?;
            let start = first.start.max(own.start);
            (start < own.end).then_some((kind, start))
        });
        conflicts.min_by_key(|(_, start)| *start)
    }

    /// Returns the addresses that the operation accesses, in ascending order of each kind, and true for those that it
    /// writes.
    pub fn addresses(&self) -> impl Iterator<Item = (Range<u64>, bool)> {
        let base = self.allocation.base;
        KINDS.iter().flat_map(move |&kind| {
            let writes = matches!(kind, AccessedAs::Write | AccessedAs::Update);
            let ranges = self.ranges[kind as usize].iter();
            ranges.map(move |range| (base + range.start..base + range.end, writes))
        })
    }

    /// Returns the number of ranges.
    pub fn range_count(&self) -> usize {
        self.ranges.iter().map(Vec::len).sum()
    }
}

/// Returns the first bytes that both lists contain. Both are in ascending order.
fn overlap(first: &[Range<u64>], second: &[Range<u64>]) -> Option<Range<u64>> {
    let (mut first, mut second) = (first.iter().peekable(), second.iter().peekable());
    loop {
        let (a, b) = (first.peek()?, second.peek()?);
        let shared = a.start.max(b.start)..a.end.min(b.end);
        if !shared.is_empty() {
            return Some(shared);
        }
        match a.end <= b.end {
            true => first.next(),
            false => second.next(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocation(order: u64) -> AllocationRecord {
        AllocationRecord {
            base: 512,
            bytes: 1024,
            order,
            name: None,
            rows: None,
            call: None,
        }
    }

    #[test]
    fn conflicts_need_shared_bytes_and_a_write() {
        use AccessedAs::{OrderedRead, Read, Update, Write};
        let all = [Read, Write, OrderedRead, Update];
        for own in all {
            for other in all {
                assert_eq!(own.conflicts(other), other.conflicts(own));
            }
        }
        assert!(
            !Read.conflicts(Read) && !Update.conflicts(Update) && !Update.conflicts(OrderedRead)
        );
        assert!(Update.conflicts(Read) && Update.conflicts(Write) && Write.conflicts(OrderedRead));

        let written = AccessedBytes::default();
        written.record(Write, 1024, 60, 8);
        written.record(Write, 1024, 68, 4);
        written.record(Write, 1024, 200, 1);
        let written = AllocationAccesses::of_launch(allocation(1), &written, false).unwrap();
        assert_eq!(written.range_count(), 2);
        let reads = |rows| AllocationAccesses::new(allocation(1), Read, rows);
        assert_eq!(
            written.first_conflict(&reads(vec![0..60, 72..200, 201..400])),
            None
        );
        let (kinds, shared) = written
            .first_conflict(&reads(vec![0..8, 70..80, 190..210]))
            .unwrap();
        assert_eq!((kinds, shared), ([Write, Read], 70..72));
        let all = 0..1024;
        let later = AllocationAccesses::new(allocation(2), Write, vec![all]);
        assert_eq!(written.first_conflict(&later), None);
        let unused = AccessedBytes::default();
        assert_eq!(
            AllocationAccesses::of_launch(allocation(1), &unused, false),
            None
        );
        // The allocation starts at address 512.
        assert_eq!(written.host_conflict(500..573, false), Some((Write, 60)));
        assert_eq!(written.host_conflict(512..572, true), None);
        assert_eq!(written.host_conflict(0..512, true), None);
        let read = reads(std::iter::once(8..16).collect());
        assert_eq!(read.host_conflict(520..521, false), None);
        assert_eq!(read.host_conflict(520..521, true), Some((Read, 8)));
        let addresses: Vec<_> = written.addresses().collect();
        assert_eq!(addresses, [(572..584, true), (712..713, true)]);
    }
}
