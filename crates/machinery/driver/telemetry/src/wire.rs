//! Events of the program's process, written to a file that the waiting parent reads. The file survives any
//! end of the program.
//!
//! The file begins with a table of counters ([`crate::repeats`]), followed by records, each preceded by its
//! length. A kernel that is launched repeatedly with the same results is recorded twice: the second record
//! contains the number of the counter that counts the launches from then on.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use cuda_driver::{Event as SimulatorEvent, Finding, LaunchRecord, TimedLaunch};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::failures::{FailedCall, Failures, Judgement};
use crate::faults::Fault;
use crate::repeats::{COUNTER_BYTES, Counters, Recent, Repeat, read_counters};

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Seek as _;

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
}
