//! The modelled times of the course's own files, measured once per class instead of once per submission.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::course::{Exercise, Side};
use crate::grade::ReferenceTimes;
use crate::process::on_gpu;
use crate::worker::{Job, JobSettings, supervise};

/// The minimum number of submissions to an exercise for which a separate job pays off.
const MIN_SUBMISSIONS: usize = 4;

/// The reference times of all exercises with many submissions, each measured on first use.
pub struct ReferenceTimesCache<'a> {
    times: BTreeMap<&'a str, OnceLock<Option<ReferenceTimes>>>,
    settings: &'a JobSettings,
}

impl<'a> ReferenceTimesCache<'a> {
    /// Prepares reference times for submissions to these exercises.
    pub fn new(
        submissions: impl Iterator<Item = &'a Exercise>,
        settings: &'a JobSettings,
    ) -> ReferenceTimesCache<'a> {
        let mut counts = BTreeMap::new();
        for exercise in submissions {
            *counts.entry(exercise.name()).or_insert(0) += 1;
        }
        // On a GPU each submission is timed in the same run as the start file and the solution.
        counts.retain(|_, count| *count >= MIN_SUBMISSIONS && !on_gpu());
        let times = counts.into_keys().map(|name| (name, OnceLock::new()));
        let times = times.collect();
        ReferenceTimesCache { times, settings }
    }

    /// Returns the reference times of an exercise, measured by a job that grades only the solution. Returns
    /// `None` if each submission has to measure them itself, for example because that job failed; grading the
    /// submission then reports the error.
    pub fn get(&self, exercise: &Exercise) -> Option<ReferenceTimes> {
        let Side::Kernel(_) = exercise.side() else {
            return None;
        };
        *self.times.get(exercise.name())?.get_or_init(|| {
            let (file_name, text) = (exercise.file(), exercise.solution().to_owned());
            let record = supervise(Job::new(exercise, file_name, text, self.settings)).ok()?;
            let timed = record.time?;
            Some(ReferenceTimes {
                start_ms: timed.start_ms,
                solution_ms: timed.solution_ms,
            })
        })
    }
}
