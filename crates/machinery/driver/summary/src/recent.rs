//! The most recent launch of each kernel, to detect repetitions.

use std::collections::HashMap;

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
