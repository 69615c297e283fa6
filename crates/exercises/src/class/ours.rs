//! The modelled times of the course's own files, measured once per class instead of once per submission.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::exercise::{Exercise, Side};
use crate::grade::Ours;
use crate::worker::{Job, Terms, on_gpu, supervise};

/// The minimum number of submissions to an exercise for which a separate job pays off.
const WORTH_IT: usize = 4;

/// The reference times of all exercises with many submissions, each measured on first use.
pub struct OursOfAll<'a> {
    of: BTreeMap<&'static str, OnceLock<Option<Ours>>>,
    terms: &'a Terms,
}

impl<'a> OursOfAll<'a> {
    /// Prepares reference times for submissions to these exercises.
    pub fn new(
        answers: impl Iterator<Item = &'static Exercise>,
        terms: &'a Terms,
    ) -> OursOfAll<'a> {
        let mut many = BTreeMap::new();
        for exercise in answers {
            *many.entry(exercise.name).or_insert(0) += 1;
        }
        // On a GPU each submission is timed in the same run as the start file and the solution.
        many.retain(|_, many| *many >= WORTH_IT && !on_gpu());
        let of = many.into_keys().map(|name| (name, OnceLock::new()));
        let of = of.collect();
        OursOfAll { of, terms }
    }

    /// Returns the reference times of an exercise, measured by a job that grades only the solution. Returns
    /// `None` if each submission has to measure them itself, for example because that job failed; grading the
    /// submission then reports the error.
    pub fn of(&self, exercise: &'static Exercise) -> Option<Ours> {
        let Side::Kernel(_) = exercise.side else {
            return None;
        };
        *self.of.get(exercise.name)?.get_or_init(|| {
            let (shown, text) = (exercise.file(), exercise.solution.to_owned());
            let graded = supervise(Job::new(exercise, shown, text, self.terms)).ok()?;
            let timed = graded.verdict.time?;
            Some(Ours {
                start_ms: timed.start_ms,
                solution_ms: timed.solution_ms,
            })
        })
    }
}
