//! What the course's own files take by the simulator's model: once for a class, not once for each answer.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::exercise::{Exercise, Side};
use crate::grade::Ours;
use crate::worker::{Job, Terms, on_gpu, supervise};

/// So many answers to an exercise are worth a job of its own.
const WORTH_IT: usize = 4;

/// Those of all exercises that many answers are to, each when it is first asked for.
pub struct OursOfAll<'a> {
    of: BTreeMap<&'static str, OnceLock<Option<Ours>>>,
    terms: &'a Terms,
}

impl<'a> OursOfAll<'a> {
    /// For answers to these exercises.
    pub fn new(
        answers: impl Iterator<Item = &'static Exercise>,
        terms: &'a Terms,
    ) -> OursOfAll<'a> {
        let mut many = BTreeMap::new();
        for exercise in answers {
            *many.entry(exercise.name).or_insert(0) += 1;
        }
        // On a GPU answers are timed beside ours, each anew.
        many.retain(|_, many| *many >= WORTH_IT && !on_gpu());
        let of = many.into_keys().map(|name| (name, OnceLock::new()));
        let of = of.collect();
        OursOfAll { of, terms }
    }

    /// Those of an exercise, from a job that has seen no answer but the solution. None where each answer
    /// is to find out by itself, which also says what is wrong where that job failed.
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
