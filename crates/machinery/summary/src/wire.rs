//! What the program's own process tells the one that waits for it, through a file: it is there whatever
//! becomes of the program.
//!
//! The file begins with a table of counts ([`crate::repeats`]), and behind it are pieces, each with its length
//! before it. A kernel that is launched over and over and does the same each time is told of twice: the second
//! piece names the place in the table where the launches from then on are counted.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use cuda_driver::{Event, Finding, LaunchRecord, TimedLaunch};
use serde::{Deserialize, Serialize};

use crate::lately::{Lately, Seen};
use crate::repeats::{self, Repeats};

/// One thing that happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Told {
    /// A process has the library, and this is its program.
    Process(String),
    /// The program begins: its `main`, or its first launch.
    Begun,
    /// The library with the program could not be loaded, and why.
    NotLoaded(String),
    /// So many launches of a kernel, one after the other and all alike, have ended well.
    Launched(Box<LaunchRecord>, u64),
    /// A launch on a GPU has ended.
    Measured(TimedLaunch),
    /// A fault has ended a launch, as it was told.
    Faulted(String),
    /// Checks have found mistakes.
    Found(Vec<Finding>),
    /// A buffer is not what its description expects.
    Wrong(String),
    /// A module was refused, and why.
    Refused(String),
    /// A function that the simulator does not do was called.
    NotSimulated(String),
    /// How often each function of the driver was called so far.
    Called(Vec<(String, u64)>),
}

impl Told {
    /// What happened on the simulator.
    pub fn of(event: &Event<'_>) -> Told {
        match *event {
            Event::Launched(record) => Told::Launched(Box::new(record.clone()), 1),
            Event::Faulted(fault) => Told::Faulted(fault.to_string()),
            Event::Found(findings) => Told::Found(findings.to_vec()),
            Event::Refused(why) => Told::Refused(why.to_owned()),
            Event::NotSimulated(name) => Told::NotSimulated(name.to_owned()),
        }
    }

    /// How often each function was called until now.
    pub fn calls() -> Told {
        let calls = cuda_driver::functions::calls();
        Told::Called(
            calls
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
        )
    }
}

/// The end that tells.
pub struct Teller {
    file: File,
    /// Where launches that come again are counted; none where the system gives no such memory.
    repeats: Option<Repeats>,
    lately: Mutex<Lately>,
}

impl Teller {
    /// Opens the file, and takes its name away: nobody else opens it, and it goes with those who have it
    /// open.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened, or its name not be taken away.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || {
            let teller = Teller::create(path)?;
            if cfg!(unix) {
                std::fs::remove_file(path)?;
            }
            Ok::<_, io::Error>(teller)
        };
        open().context("cannot tell what happens in the program")
    }

    /// Makes the file, which stays. One that is there already goes on: a process has become another program.
    ///
    /// # Errors
    ///
    /// Where it cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        if file.metadata()?.len() == 0 {
            file.write_all(&[0; repeats::BYTES])?;
        }
        Ok(Teller {
            repeats: Repeats::of(&file),
            file,
            lately: Mutex::default(),
        })
    }

    /// Tells what has happened on the simulator.
    pub fn tell_event(&self, event: &Event) {
        match event {
            Event::Launched(record) => self.launched(record),
            _ => self.tell(&Told::of(event)),
        }
    }

    /// Tells it, in one piece: a process that was forked may tell too. Where the disk is full the
    /// summary lacks it, which is no reason to end the program.
    pub fn tell(&self, told: &Told) {
        self.write(0, told);
    }

    /// Tells of a launch: in a piece of its own, or by a count, where the one before of its kernel did the same.
    fn launched(&self, record: &LaunchRecord) {
        let told = || Told::Launched(Box::new(record.clone()), 1);
        let Some(repeats) = self.repeats.as_ref().filter(|_| record.profile.is_none()) else {
            return self.tell(&told());
        };
        let mut lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        match lately.see(record) {
            Seen::Counted(place) => repeats.add(place),
            Seen::Again(counted) => match repeats.take() {
                Some(place) => {
                    *counted = Some(place);
                    self.write(place, &told());
                    repeats.add(place);
                }
                None => self.tell(&told()),
            },
            Seen::New => self.tell(&told()),
        }
    }

    fn write(&self, place: u32, told: &Told) {
        let Ok(bytes) = postcard::to_stdvec(&(place, told)) else {
            return;
        };
        let mut piece = (bytes.len() as u64).to_le_bytes().to_vec();
        piece.extend(bytes);
        let _ = (&self.file).write_all(&piece);
    }
}

/// All that was told, in order.
pub fn read(file: &File) -> impl Iterator<Item = Told> {
    let mut from = BufReader::new(file);
    let repeats = repeats::read(&mut from);
    std::iter::from_fn(move || {
        let mut length = [0; 8];
        from.read_exact(&mut length).ok()?;
        let mut bytes = Vec::new();
        let length = u64::from_le_bytes(length);
        (&mut from).take(length).read_to_end(&mut bytes).ok()?;
        // The last piece is cut short where its writer was ended in the middle of it.
        let (place, mut told): (u32, Told) = postcard::from_bytes(&bytes).ok()?;
        if let (Told::Launched(_, times), 1..) = (&mut told, place) {
            *times = repeats.get(place as usize).copied().unwrap_or(0);
        }
        Some(told)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Seek as _;

    #[test]
    fn what_was_told_is_read_up_to_where_its_writer_ended() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut kept = file.reopen().unwrap();
        let teller = Teller::open(file.path()).unwrap();
        teller.tell(&Told::Begun);
        teller.tell(&Told::Faulted("one".to_owned()));
        teller.file.sync_all().unwrap();
        let all: Vec<Told> = read(&kept).collect();
        assert!(matches!(&all[..], [Told::Begun, Told::Faulted(what)] if what == "one"));
        teller.tell(&Told::Faulted("cut".to_owned()));
        let length = kept.metadata().unwrap().len();
        kept.set_len(length - 1).unwrap();
        kept.rewind().unwrap();
        assert_eq!(read(&kept).count(), 2);
        assert!(!file.path().exists() || !cfg!(unix));
    }

    #[test]
    fn a_process_that_becomes_another_program_tells_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("12");
        for _ in 0..2 {
            Teller::create(&path).unwrap().tell(&Told::Begun);
        }
        assert_eq!(read(&File::open(path).unwrap()).count(), 2);
    }
}
