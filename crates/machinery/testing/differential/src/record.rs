//! The record of a kernel's run: hashes of exact results, and the values of approximate ones.

use crate::bounds::{self, Distance};
use crate::kernel::{Kernel, Slot};
use crate::worker::KernelOutput;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Default number of threads whose approximate results are saved. Runs must be compared with the same number.
pub const SAVED_THREADS: usize = 2;

/// One line of a saved run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub kernel: u64,
    /// A hash of every exact slot, then one of the cells, with eight hexadecimal digits each.
    pub hashes: String,
    /// Approximate results, in the order of their slots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approximate: Vec<Approximate>,
}

/// The operands and results of an approximate instruction in some threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approximate {
    pub form: String,
    /// Operands and result of each thread in turn, as hexadecimal words separated by spaces.
    pub words: String,
}

impl Record {
    /// Creates the record of a kernel's output, with the approximate results of up to `max_threads` threads.
    pub fn new(kernel: &Kernel, output: &KernelOutput, max_threads: usize) -> Record {
        let threads = kernel.threads();
        let slot = |n: usize| &output.words[n * threads..(n + 1) * threads];
        let mut hashes = String::new();
        let mut approximate = Vec::new();
        for (n, slot_kind) in kernel.slots.iter().enumerate() {
            match slot_kind {
                Slot::Exact(_) => hashes += &format!("{:08x}", hash(slot(n))),
                Slot::Approximate { form, operands } => {
                    // Sample threads from the whole grid.
                    let step = threads.div_ceil(max_threads.max(1)).max(1);
                    let words: Vec<String> = (0..threads)
                        .step_by(step)
                        .flat_map(|thread| {
                            (0..=*operands).map(move |thread_operand| (thread, thread_operand))
                        })
                        .map(|(thread, operand)| {
                            format!("{:x}", slot(n - operands + operand)[thread])
                        })
                        .collect();
                    approximate.push(Approximate {
                        form: form.clone(),
                        words: words.join(" "),
                    });
                }
            }
        }
        hashes += &format!("{:08x}", hash(&output.cells));
        Record {
            kernel: kernel.number,
            hashes,
            approximate,
        }
    }

    /// Reduces the approximate results to those of at most `threads` threads.
    pub fn truncate(&mut self, threads: usize) {
        for approximate in &mut self.approximate {
            let stride = bounds::operands(&approximate.form) + 1;
            let words: Vec<&str> = approximate.words.split(' ').collect();
            let step = (words.len() / stride).div_ceil(threads.max(1)).max(1);
            let sampled: Vec<&str> = words
                .chunks(stride)
                .step_by(step)
                .flatten()
                .copied()
                .collect();
            approximate.words = sampled.join(" ");
        }
    }

    /// Returns the names of the exact slots that differ.
    pub fn differing_slots(&self, other: &Record, kernel: &Kernel) -> Vec<String> {
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

/// The largest difference of approximate results for each form, and the differences that exceed their bounds.
#[derive(Debug, Default, Clone)]
pub struct Distances {
    pub largest: BTreeMap<String, Distance>,
    pub violations: Vec<String>,
    pub compared: u64,
}

impl Distances {
    /// Adds a pair of records of one kernel.
    pub fn add(&mut self, simulator: &Record, gpu: &Record) {
        for (a, b) in simulator.approximate.iter().zip(&gpu.approximate) {
            let words = |text: &str| -> Vec<u64> {
                text.split(' ')
                    .filter_map(|word| u64::from_str_radix(word, 16).ok())
                    .collect()
            };
            let (simulator, gpu) = (words(&a.words), words(&b.words));
            let operands = bounds::operands(&a.form);
            let pairs = simulator.chunks(operands + 1).zip(gpu.chunks(operands + 1));
            for (x, y) in pairs {
                if x.len() != operands + 1 || x[..operands] != y[..operands] {
                    // Different operands are reported through their own slots.
                    continue;
                }
                self.compared += 1;
                for distance in bounds::compare(&a.form, &x[..operands], x[operands], y[operands]) {
                    if !distance.is_within_bound() && self.violations.len() < 1000 {
                        self.violations.push(format!(
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

    /// Merges the differences of `other` into this set.
    pub fn merge(&mut self, other: Distances) {
        for (key, distance) in other.largest {
            match self.largest.get(&key) {
                Some(old) if old.value >= distance.value => {}
                _ => {
                    self.largest.insert(key, distance);
                }
            }
        }
        self.violations.extend(other.violations);
        self.compared += other.compared;
    }
}

/// Returns the FNV-1a hash of the words' bytes, folded to 32 bits.
pub fn hash(words: &[u64]) -> u32 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in words.iter().flat_map(|word| word.to_le_bytes()) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (state ^ state >> 32) as u32
}
