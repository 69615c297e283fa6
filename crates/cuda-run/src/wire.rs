//! What the program's own process tells the one that waits for it, through a file: it is there whatever
//! becomes of the program.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use cuda_driver::{Finding, LaunchRecord};
use serde::{Deserialize, Serialize};

/// One thing that happened.
#[derive(Debug, Serialize, Deserialize)]
pub enum Told {
    /// The program begins: its `main`, or its first launch.
    Begun,
    /// The library with the program could not be loaded, and why.
    NotLoaded(String),
    /// A launch has ended well.
    Launched(Box<LaunchRecord>),
    /// A fault has ended a launch, as it was told.
    Faulted(String),
    /// Checks have found mistakes.
    Found(Vec<Finding>),
    /// A buffer is not what its description expects.
    Wrong(String),
}

/// The end that tells.
pub struct Teller(File);

impl Teller {
    /// Opens the file, and takes its name away: nobody else opens it, and it goes with those who have it
    /// open.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || {
            let file = OpenOptions::new().append(true).open(path)?;
            if cfg!(unix) {
                std::fs::remove_file(path)?;
            }
            Ok::<_, io::Error>(file)
        };
        let file = open().context("cannot tell what happens in the program");
        Ok(Teller(file?))
    }

    /// Tells it, in one piece: a process that was forked may tell too. Where the disk is full the
    /// summary lacks it, which is no reason to end the program.
    pub fn tell(&self, told: &Told) {
        let Ok(bytes) = postcard::to_stdvec(told) else {
            return;
        };
        let mut piece = (bytes.len() as u64).to_le_bytes().to_vec();
        piece.extend(bytes);
        let _ = (&self.0).write_all(&piece);
    }
}

/// All that was told, in order.
pub fn read(file: &File) -> impl Iterator<Item = Told> {
    let mut from = BufReader::new(file);
    std::iter::from_fn(move || {
        let mut length = [0; 8];
        from.read_exact(&mut length).ok()?;
        let mut bytes = Vec::new();
        let length = u64::from_le_bytes(length);
        (&mut from).take(length).read_to_end(&mut bytes).ok()?;
        // The last piece is cut short where its writer was ended in the middle of it.
        postcard::from_bytes(&bytes).ok()
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
        teller.0.sync_all().unwrap();
        let all: Vec<Told> = read(&kept).collect();
        assert!(matches!(&all[..], [Told::Begun, Told::Faulted(what)] if what == "one"));
        teller.tell(&Told::Faulted("cut".to_owned()));
        let length = kept.metadata().unwrap().len();
        kept.set_len(length - 1).unwrap();
        kept.rewind().unwrap();
        assert_eq!(read(&kept).count(), 2);
        assert!(!file.path().exists() || !cfg!(unix));
    }
}
