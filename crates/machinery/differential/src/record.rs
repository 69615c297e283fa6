//! What a run of a kernel came to: hashes of what must be equal, and what need only be near.

use crate::bounds::{self, Distance};
use crate::kernel::{Kernel, Slot};
use crate::machine::Left;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Threads of which a saved run has the approximate answers: runs are to be compared with the same.
pub const KEPT: usize = 2;

/// A line of a saved run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub kernel: u64,
    /// Of every exact slot, and of the cells, eight hexadecimal digits.
    pub hashes: String,
    /// Approximate answers in the order of their slots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approximate: Vec<Approximate>,
}

/// Some threads' operands and answers of an approximate instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approximate {
    pub form: String,
    /// Operands and answer of a thread, then of the next, hexadecimal words with blanks between.
    pub words: String,
}

impl Record {
    /// The record of what a kernel left, with the approximate answers of up to `most` threads.
    pub fn of(kernel: &Kernel, left: &Left, most: usize) -> Record {
        let threads = kernel.threads();
        let slot = |n: usize| &left.words[n * threads..(n + 1) * threads];
        let mut hashes = String::new();
        let mut approximate = Vec::new();
        for (n, what) in kernel.slots.iter().enumerate() {
            match what {
                Slot::Exact(_) => hashes += &format!("{:08x}", hash(slot(n))),
                Slot::Approximate { form, operands } => {
                    // Threads from all over the grid.
                    let step = threads.div_ceil(most.max(1)).max(1);
                    let words: Vec<String> = (0..threads)
                        .step_by(step)
                        .flat_map(|thread| (0..=*operands).map(move |back| (thread, back)))
                        .map(|(thread, at)| format!("{:x}", slot(n - operands + at)[thread]))
                        .collect();
                    approximate.push(Approximate {
                        form: form.clone(),
                        words: words.join(" "),
                    });
                }
            }
        }
        hashes += &format!("{:08x}", hash(&left.cells));
        Record {
            kernel: kernel.number,
            hashes,
            approximate,
        }
    }

    /// Keeps the approximate answers of so many threads only.
    pub fn shorten(&mut self, threads: usize) {
        for approximate in &mut self.approximate {
            let each = bounds::operands(&approximate.form) + 1;
            let words: Vec<&str> = approximate.words.split(' ').collect();
            let step = (words.len() / each).div_ceil(threads.max(1)).max(1);
            let kept: Vec<&str> = words
                .chunks(each)
                .step_by(step)
                .flatten()
                .copied()
                .collect();
            approximate.words = kept.join(" ");
        }
    }

    /// Names of the exact slots that differ.
    pub fn differing(&self, other: &Record, kernel: &Kernel) -> Vec<String> {
        let exact = kernel.slots.iter().filter_map(|slot| match slot {
            Slot::Exact(name) => Some(name.as_str()),
            Slot::Approximate { .. } => None,
        });
        let names = exact.chain(["global cells"]);
        let chunk = |text: &str, n: usize| text.get(8 * n..8 * n + 8).map(str::to_owned);
        names
            .enumerate()
            .filter(|(n, _)| chunk(&self.hashes, *n) != chunk(&other.hashes, *n))
            .map(|(_, name)| name.to_owned())
            .collect()
    }
}

/// The largest differences of approximate answers seen, by form; and those beyond their bounds.
#[derive(Debug, Default, Clone)]
pub struct Distances {
    pub largest: BTreeMap<String, Distance>,
    pub beyond: Vec<String>,
    pub compared: u64,
}

impl Distances {
    /// Adds a pair of records of one kernel.
    pub fn add(&mut self, ours: &Record, theirs: &Record) {
        for (a, b) in ours.approximate.iter().zip(&theirs.approximate) {
            let words = |text: &str| -> Vec<u64> {
                text.split(' ')
                    .filter_map(|word| u64::from_str_radix(word, 16).ok())
                    .collect()
            };
            let (ours, theirs) = (words(&a.words), words(&b.words));
            let operands = bounds::operands(&a.form);
            let pairs = ours.chunks(operands + 1).zip(theirs.chunks(operands + 1));
            for (x, y) in pairs {
                if x.len() != operands + 1 || x[..operands] != y[..operands] {
                    // Operands that differ show in slots of their own.
                    continue;
                }
                self.compared += 1;
                for distance in bounds::compare(&a.form, &x[..operands], x[operands], y[operands]) {
                    if !distance.within() && self.beyond.len() < 1000 {
                        self.beyond.push(format!(
                            "{} of {:x?}: simulator {:x}, GPU {:x}: {distance}",
                            a.form,
                            &x[..operands],
                            x[operands],
                            y[operands]
                        ));
                    }
                    let key = format!("{} ({})", a.form, distance.measure);
                    match self.largest.get_mut(&key) {
                        Some(old) if old.value >= distance.value => {}
                        _ => {
                            self.largest.insert(key, distance);
                        }
                    }
                }
            }
        }
    }

    /// Takes over what another has seen.
    pub fn join(&mut self, other: Distances) {
        for (key, distance) in other.largest {
            match self.largest.get(&key) {
                Some(old) if old.value >= distance.value => {}
                _ => {
                    self.largest.insert(key, distance);
                }
            }
        }
        self.beyond.extend(other.beyond);
        self.compared += other.compared;
    }
}

/// FNV-1a over the words' bytes, folded to 32 bits.
pub fn hash(words: &[u64]) -> u32 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in words.iter().flat_map(|word| word.to_le_bytes()) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (state ^ state >> 32) as u32
}
