//! Detection of repeated launches, and the table of shared counters that count them.
//!
//! The table lies in shared memory, at the start of a process's event file. An increment survives a crash of
//! the process and needs no system call. Word 0 holds the number of allocated counters; each of the other
//! words is a counter.

use std::collections::HashMap;
use std::io::Read;

use cuda_driver::LaunchRecord;

/// The most recent launch of each kernel.
#[derive(Default)]
pub struct Recent {
    entries: Vec<Entry>,
    /// Index of each kernel's entry by name.
    indices: HashMap<String, usize>,
    /// Index of the entry that was observed last.
    last: usize,
}

struct Entry {
    record: LaunchRecord,
    /// The counter of the launch's repetitions.
    counter: Option<u32>,
}

/// The relation of a launch to the previous launch of its kernel.
pub enum Repeat<'a> {
    /// The launch differs from the previous one.
    New,
    /// The launch repeats the previous one and has no counter yet. The caller stores a new counter here.
    Uncounted(&'a mut Option<u32>),
    /// The launch repeats the previous one and has this counter.
    Counted(u32),
}

impl Recent {
    /// Compares a launch with the previous one of its kernel, and records it.
    pub fn observe(&mut self, record: &LaunchRecord) -> Repeat<'_> {
        let is_last = self
            .entries
            .get(self.last)
            .is_some_and(|entry| entry.record == *record);
        if !is_last {
            let Some(&index) = self.indices.get(&record.kernel) else {
                self.last = self.entries.len();
                self.indices.insert(record.kernel.clone(), self.last);
                self.entries.push(Entry {
                    record: record.clone(),
                    counter: None,
                });
                return Repeat::New;
            };
            self.last = index;
            let entry = &mut self.entries[index];
            if entry.record != *record {
                entry.record.clone_from(record);
                entry.counter = None;
                return Repeat::New;
            }
        }
        let counter = &mut self.entries[self.last].counter;
        match *counter {
            Some(counter) => Repeat::Counted(counter),
            None => Repeat::Uncounted(counter),
        }
    }
}

/// Words in the table.
const WORDS: usize = 2048;

/// Bytes in the table: a whole number of pages for every page size in use.
pub const COUNTER_BYTES: usize = WORDS * size_of::<u64>();

/// Reads the counters, indexed by their numbers. Returns fewer if the file is shorter than the table.
pub fn read_counters(reader: &mut impl Read) -> Vec<u64> {
    let mut bytes = Vec::with_capacity(COUNTER_BYTES);
    // A read error has the same effect as a short file.
    let _ = reader.take(COUNTER_BYTES as u64).read_to_end(&mut bytes);
    bytes
        .chunks_exact(size_of::<u64>())
        .map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
        .collect()
}

pub use shared::Counters;

#[cfg(unix)]
mod shared {
    use std::fs::File;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::mm::{MapFlags, ProtFlags, mmap};

    use super::{COUNTER_BYTES, WORDS};

    /// The table, in memory that this process shares with the file and with its child processes.
    pub struct Counters(&'static [AtomicU64; WORDS]);

    impl Counters {
        /// Maps the table at the start of a file until the process ends. Returns `None` if the system cannot
        /// map it.
        pub fn map(file: &File) -> Option<Counters> {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let any_address = std::ptr::null_mut();
            // SAFETY: the kernel chooses the address of the new mapping, so it overlaps no existing memory.
            let table = unsafe {
                mmap(
                    any_address,
                    COUNTER_BYTES,
                    access,
                    MapFlags::SHARED,
                    file,
                    0,
                )
            }
            .ok()?;
            // SAFETY: the mapping has `COUNTER_BYTES` bytes, is page-aligned and never unmapped, no process truncates
            // the file, and atomics may be modified by other processes.
            Some(Counters(unsafe { &*table.cast() }))
        }

        /// Allocates a counter that no other caller gets. Returns `None` if all are in use.
        pub fn allocate(&self) -> Option<u32> {
            let [allocated, counts @ ..] = self.0;
            let next = |allocated: u64| (allocated < counts.len() as u64).then_some(allocated + 1);
            let allocated = allocated.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
            allocated.ok().map(|allocated| allocated as u32 + 1)
        }

        /// Increments a counter.
        pub fn add(&self, counter: u32) {
            self.0[counter as usize].fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(not(unix))]
mod shared {
    use std::convert::Infallible;
    use std::fs::File;

    /// An uninhabited type: shared memory is not supported on this system.
    pub struct Counters(Infallible);

    impl Counters {
        pub fn map(_: &File) -> Option<Counters> {
            None
        }

        pub fn allocate(&self) -> Option<u32> {
            match self.0 {}
        }

        pub fn add(&self, _: u32) {
            match self.0 {}
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::{Seek as _, Write as _};

    #[test]
    fn each_counter_is_allocated_once_and_stored_in_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[0; COUNTER_BYTES]).unwrap();
        let (first, second) = (Counters::map(&file).unwrap(), Counters::map(&file).unwrap());
        let mut allocated = 0;
        while let Some(counter) = first.allocate() {
            allocated += 1;
            assert_eq!(counter, allocated);
        }
        assert_eq!(allocated as usize, WORDS - 1);
        assert_eq!(second.allocate(), None);
        first.add(7);
        second.add(7);
        second.add(allocated);
        file.rewind().unwrap();
        let counts = read_counters(&mut file);
        assert_eq!(
            (counts.len(), counts[7], counts[8], counts[WORDS - 1]),
            (WORDS, 2, 0, 1)
        );
    }
}
