//! A table of counts at the beginning of the file through which a program's process tells: who counts there has
//! told at once, whatever becomes of the process, and asks the system for nothing.
//!
//! Word 0 says how many places are taken; each of the others is a count.

use std::io::Read;

/// Words of the table.
const WORDS: usize = 2048;

/// Bytes of it: whole pages of all systems' memory.
pub const BYTES: usize = WORDS * size_of::<u64>();

/// The counts that were told, by place; fewer where the file is not that long.
pub fn read(from: &mut impl Read) -> Vec<u64> {
    let mut bytes = Vec::with_capacity(BYTES);
    // What cannot be read is not there.
    let _ = from.take(BYTES as u64).read_to_end(&mut bytes);
    let words = bytes.chunks_exact(size_of::<u64>());
    let words = words.map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()));
    words.collect()
}

pub use shared::Repeats;

#[cfg(unix)]
mod shared {
    use std::fs::File;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::mm::{MapFlags, ProtFlags, mmap};

    use super::{BYTES, WORDS};

    /// The table, in memory that this process shares with the file, and with its children.
    pub struct Repeats(&'static [AtomicU64; WORDS]);

    impl Repeats {
        /// Of a file that begins with a table, which stays in memory until the process ends; none where the
        /// system does not do that.
        pub fn of(file: &File) -> Option<Repeats> {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let anywhere = std::ptr::null_mut();
            // SAFETY: new memory, which nobody has a reference to. The file has that many bytes, and nobody
            // makes it shorter.
            let memory =
                unsafe { mmap(anywhere, BYTES, access, MapFlags::SHARED, file, 0) }.ok()?;
            // SAFETY: it has that many words, is aligned to a page, stays for good, and atomic words may be
            // changed by others, another process among them.
            Some(Repeats(unsafe { &*memory.cast() }))
        }

        /// A place to count in that nobody else has; none where all are taken.
        pub fn take(&self) -> Option<u32> {
            let [taken, counts @ ..] = self.0;
            let free = |taken: u64| (taken < counts.len() as u64).then_some(taken + 1);
            let before = taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free);
            before.ok().map(|before| before as u32 + 1)
        }

        /// One more.
        pub fn add(&self, place: u32) {
            self.0[place as usize].fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(not(unix))]
mod shared {
    use std::convert::Infallible;
    use std::fs::File;

    /// There is none.
    pub struct Repeats(Infallible);

    impl Repeats {
        pub fn of(_: &File) -> Option<Repeats> {
            None
        }

        pub fn take(&self) -> Option<u32> {
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
    fn each_place_is_taken_once_and_counted_in_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[0; BYTES]).unwrap();
        let (one, other) = (Repeats::of(&file).unwrap(), Repeats::of(&file).unwrap());
        let mut taken = 0;
        while let Some(place) = one.take() {
            taken += 1;
            assert_eq!(place, taken);
        }
        assert_eq!(taken as usize, WORDS - 1);
        assert_eq!(other.take(), None);
        one.add(7);
        other.add(7);
        other.add(taken);
        file.rewind().unwrap();
        let counts = read(&mut file);
        assert_eq!(
            (counts.len(), counts[7], counts[8], counts[WORDS - 1]),
            (WORDS, 2, 0, 1)
        );
    }
}
