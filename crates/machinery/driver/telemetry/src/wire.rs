//! Events of the program's process, written to a file that the waiting parent reads. The file survives any
//! end of the program.
//!
//! The file begins with a table of counters in shared memory, followed by records, each preceded by its length. A kernel that
//! is launched repeatedly with the same results is recorded twice: the second record contains the number of the counter that
//! counts the launches from then on. An increment survives a crash of the process and needs no system call. Word 0 of the
//! table holds the number of allocated counters; each of the other words is a counter.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use cuda_driver::{Event as SimulatorEvent, Finding, LaunchRecord, TimedLaunch};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::failures::{FailedCall, Failures, Fault, Judgement};

/// An event in the program's process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// A process has loaded the library; this is its program.
    Process(String),
    /// The program has started: its `main`, or its first launch.
    Started,
    /// The library that contains the program could not be loaded, for this reason.
    NotLoaded(String),
    /// Consecutive identical launches of a kernel have succeeded; the number counts them.
    Launched(Box<LaunchRecord>, u64),
    /// A launch on a GPU has finished.
    Measured(TimedLaunch),
    /// A fault has ended a launch.
    Faulted(Box<Fault>),
    /// The checks have findings.
    Findings(Vec<Finding>),
    /// A buffer differs from its description.
    Mismatch(String),
    /// A module was rejected, for this reason.
    ModuleRejected(String),
    /// A library's function has completed, in this estimated number of seconds.
    LibraryCalled(String, f64),
    /// A function was called that the simulator does not implement.
    NotSimulated(String),
    /// Calls have failed; the numbers are those so far.
    CallFailed(FailedCall),
    /// The number of calls of each driver function so far.
    ApiCalls(Vec<(String, u64)>),
    /// The NVTX ranges that have ended so far.
    Ranges(Vec<RangeTotal>),
}

/// All NVTX ranges of one name in one domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RangeTotal {
    pub name: String,
    /// The name of the domain, or `None` for the default domain.
    pub domain: Option<String>,
    pub count: u64,
    /// The total time on the host.
    pub milliseconds: f64,
    /// The number of launches requested between the start and the end, by all threads.
    pub launches: u64,
}

impl Event {
    /// Converts an event of the simulator, or returns `None` if there is nothing to report. `failures` records the
    /// failed calls.
    pub fn from_simulator(event: &SimulatorEvent<'_>, failures: &Failures) -> Option<Event> {
        Some(match *event {
            SimulatorEvent::Launched(record) => Event::Launched(Box::new(record.clone()), 1),
            SimulatorEvent::LibraryCalled(function, seconds) => {
                Event::LibraryCalled(function.to_owned(), seconds)
            }
            SimulatorEvent::Faulted(fault) => Event::Faulted(Box::new(fault.into())),
            SimulatorEvent::Findings(findings) => Event::Findings(findings.to_vec()),
            SimulatorEvent::ModuleRejected(reason) => Event::ModuleRejected(reason.to_owned()),
            SimulatorEvent::NotSimulated(name) => Event::NotSimulated(name.to_owned()),
            SimulatorEvent::CallFailed(call) => return failures.record(call),
            SimulatorEvent::ErrorFetched(code) => return failures.fetched(code),
        })
    }

    /// Creates an event with the number of calls of each driver function so far.
    pub fn api_calls() -> Event {
        let calls = cuda_driver::functions::calls();
        Event::ApiCalls(
            calls
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
        )
    }
}

/// The writing end.
pub struct EventWriter {
    file: File,
    /// Counters of repeated launches; `None` if the system cannot share memory.
    counters: Option<Counters>,
    recent: Mutex<Recent>,
    failures: Failures,
}

impl EventWriter {
    /// Opens the file and removes its name, so that no other process opens it and it is deleted when its last
    /// user closes it.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened or its name cannot be removed.
    pub fn open(path: &Path, judgement: Judgement) -> Result<Self> {
        let open = || {
            let writer = EventWriter::create(path, judgement)?;
            if cfg!(unix) {
                std::fs::remove_file(path)?;
            }
            Ok::<_, io::Error>(writer)
        };
        open().context("cannot open the file for the program's events")
    }

    /// Opens or creates the file, which is kept. An existing file is continued, because `exec` turns a process
    /// into another program.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be created.
    pub fn create(path: &Path, judgement: Judgement) -> io::Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        if file.metadata()?.len() == 0 {
            file.write_all(&[0; COUNTER_BYTES])?;
        }
        Ok(EventWriter {
            counters: Counters::map(&file),
            file,
            recent: Mutex::default(),
            failures: Failures::new(judgement),
        })
    }

    /// Writes an event of the simulator.
    pub fn write_simulator_event(&self, event: &SimulatorEvent) {
        match event {
            SimulatorEvent::Launched(record) => self.write_launch(record),
            _ => {
                if let Some(event) = Event::from_simulator(event, &self.failures) {
                    self.write(&event);
                }
            }
        }
    }

    /// Writes the events that are due at the end of the program.
    pub fn finish(&self) {
        self.failures
            .events()
            .iter()
            .for_each(|event| self.write(event));
        self.write(&Event::api_calls());
    }

    /// Writes an event as one record with one system call, because forked processes may write too. If the disk
    /// is full, the report lacks the event; the program continues.
    pub fn write(&self, event: &Event) {
        self.append(0, event);
    }

    /// Records a launch: as a record of its own, or by incrementing a counter if it repeats the previous launch
    /// of its kernel.
    fn write_launch(&self, record: &LaunchRecord) {
        let event = || Event::Launched(Box::new(record.clone()), 1);
        let Some(counters) = &self.counters else {
            return self.write(&event());
        };
        let mut recent = self.recent.lock();
        match recent.observe(record) {
            Repeat::Counted(counter) => counters.add(counter),
            Repeat::Uncounted(slot) => match counters.allocate() {
                Some(counter) => {
                    *slot = Some(counter);
                    self.append(counter, &event());
                    counters.add(counter);
                }
                None => self.write(&event()),
            },
            Repeat::New => self.write(&event()),
        }
    }

    fn append(&self, counter: u32, event: &Event) {
        let Ok(bytes) = postcard::to_stdvec(&(counter, event)) else {
            return;
        };
        let mut record = (bytes.len() as u64).to_le_bytes().to_vec();
        record.extend(bytes);
        let _ = (&self.file).write_all(&record);
    }
}

/// Returns all events in order.
pub fn read(file: &File) -> impl Iterator<Item = Event> {
    let mut reader = BufReader::new(file);
    let counters = read_counters(&mut reader);
    std::iter::from_fn(move || {
        let mut length = [0; 8];
        reader.read_exact(&mut length).ok()?;
        let mut bytes = Vec::new();
        let length = u64::from_le_bytes(length);
        (&mut reader).take(length).read_to_end(&mut bytes).ok()?;
        // The last record is truncated if its writer was killed while writing it.
        let (counter, mut event): (u32, Event) = postcard::from_bytes(&bytes).ok()?;
        if let (Event::Launched(_, times), 1..) = (&mut event, counter) {
            *times = counters.get(counter as usize).copied().unwrap_or(0);
        }
        Some(event)
    })
}

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
const COUNTER_BYTES: usize = WORDS * size_of::<u64>();

/// Reads the counters, indexed by their numbers. Returns fewer if the file is shorter than the table.
fn read_counters(reader: &mut impl Read) -> Vec<u64> {
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

#[cfg(test)]
mod tests {
    use std::io::Seek as _;

    use super::*;

    #[test]
    fn events_are_read_up_to_a_truncated_record() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut reader_file = file.reopen().unwrap();
        let writer = EventWriter::open(file.path(), Judgement::Strict).unwrap();
        writer.write(&Event::Started);
        writer.write(&Event::Mismatch("one".to_owned()));
        writer.file.sync_all().unwrap();
        let events: Vec<Event> = read(&reader_file).collect();
        assert!(
            matches!(&events[..], [Event::Started, Event::Mismatch(message)] if message == "one")
        );
        writer.write(&Event::Mismatch("cut".to_owned()));
        let length = reader_file.metadata().unwrap().len();
        reader_file.set_len(length - 1).unwrap();
        reader_file.rewind().unwrap();
        assert_eq!(read(&reader_file).count(), 2);
        assert!(!file.path().exists() || !cfg!(unix));
    }

    #[test]
    fn a_process_that_calls_exec_appends_its_events() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("12");
        for _ in 0..2 {
            EventWriter::create(&path, Judgement::Strict)
                .unwrap()
                .write(&Event::Started);
        }
        assert_eq!(read(&File::open(path).unwrap()).count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn each_counter_is_allocated_once_and_stored_in_the_file() {
        use std::io::Write as _;

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
