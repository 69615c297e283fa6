//! Questions that warps ask memory again and again, to wait for another answer.
//!
//! A warp that runs into a lock which another one holds would ask for it until its turn is over, some ten
//! thousand times. An atomic that changes nothing, or an ordered load, which finds the same value in the
//! same place several times running is taken for such a question.

/// So often an atomic changes nothing before its warp gives way.
pub const ATOMIC_SPIN_LIMIT: u32 = 4;

/// So often an ordered load reads the same before its warp gives way. Loads may well be repeated for
/// another reason.
pub const LOAD_SPIN_LIMIT: u32 = 64;

/// The question that a warp asked last, and how often it had the same answer.
#[derive(Default)]
pub struct SpinDetector {
    asked: Probe,
    answered: u32,
}

/// What was asked, and the answer.
#[derive(Default, PartialEq, Eq)]
pub struct Probe {
    /// The instruction.
    pub by: usize,
    /// The lanes that asked.
    pub lanes: u32,
    /// What the first of the lanes found where.
    pub address: u64,
    pub value: u64,
}

impl SpinDetector {
    /// Takes note of a question. Answers how often running it has had the same answer.
    #[inline(always)]
    pub fn repeats(&mut self, asked: Probe) -> u32 {
        if self.asked != asked {
            *self = SpinDetector { asked, answered: 0 };
        }
        self.answered = self.answered.saturating_add(1);
        self.answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_repeated_when_nothing_changes() {
        let asked = |value| Probe {
            by: 1,
            value,
            ..Probe::default()
        };
        let mut spin_detector = SpinDetector::default();
        let answers = [5, 5, 5, 6, 5, 5].map(|value| spin_detector.repeats(asked(value)));
        assert_eq!(answers, [1, 2, 3, 1, 1, 2]);
    }
}
