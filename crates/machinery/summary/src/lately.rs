//! The launch of each kernel that was told of last.

use std::collections::HashMap;

use cuda_driver::LaunchRecord;

/// The last launch of each kernel.
#[derive(Default)]
pub struct Lately {
    all: Vec<Known>,
    /// Where each kernel's is, by its name.
    places: HashMap<String, usize>,
    /// Where the one is that was seen last.
    last: usize,
}

struct Known {
    record: LaunchRecord,
    /// Where those like it are counted.
    counted: Option<u32>,
}

/// How a launch is to be told of.
pub enum Seen<'a> {
    /// It is another one than its kernel's last.
    New,
    /// It is like that one, and nobody counts it yet: where they will be counted is to be noted here.
    Again(&'a mut Option<u32>),
    /// It is like that one, and counted there.
    Counted(u32),
}

impl Lately {
    /// Sees a launch, which is its kernel's last from now on.
    pub fn see(&mut self, record: &LaunchRecord) -> Seen<'_> {
        let is_last = self
            .all
            .get(self.last)
            .is_some_and(|it| it.record == *record);
        if !is_last {
            let Some(&place) = self.places.get(&record.kernel) else {
                self.last = self.all.len();
                self.places.insert(record.kernel.clone(), self.last);
                self.all.push(Known {
                    record: record.clone(),
                    counted: None,
                });
                return Seen::New;
            };
            self.last = place;
            let known = &mut self.all[place];
            if known.record != *record {
                known.record.clone_from(record);
                known.counted = None;
                return Seen::New;
            }
        }
        let counted = &mut self.all[self.last].counted;
        match *counted {
            Some(place) => Seen::Counted(place),
            None => Seen::Again(counted),
        }
    }
}
