//! Questions that warps ask memory again and again, to wait for another answer.
//!
//! A warp that runs into a lock which another one holds would ask for it until its turn is over, some ten
//! thousand times. An atomic that changes nothing, or an ordered load, which finds the same value in the
//! same place several times running is taken for such a question.

/// So often an atomic changes nothing before its warp gives way.
pub const ATOMIC_PATIENCE: u32 = 4;

/// So often an ordered load reads the same before its warp gives way. Loads may well be repeated for
/// another reason.
pub const LOAD_PATIENCE: u32 = 64;

/// The question that was asked last, and how often it had the same answer.
#[derive(Default)]
pub struct Question {
    asked: Asked,
    answered: u32,
}

/// Who asked what, and the answer.
#[derive(Default, PartialEq, Eq)]
pub struct Asked {
    /// The instruction.
    pub by: usize,
    pub block: u64,
    pub warp: usize,
    pub lanes: u32,
    /// What the first of the lanes found where.
    pub address: u64,
    pub value: u64,
}

impl Question {
    /// Takes note of a question. Answers whether it had the same answer `patience` times running.
    #[inline(always)]
    pub fn repeats(&mut self, asked: Asked, patience: u32) -> bool {
        if self.asked != asked {
            *self = Question { asked, answered: 1 };
            return false;
        }
        self.answered += 1;
        let enough = self.answered >= patience;
        if enough {
            self.answered = 0;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_repeated_when_nothing_changes() {
        let asked = |value| Asked {
            by: 1,
            value,
            ..Asked::default()
        };
        let mut question = Question::default();
        let answers = [5, 5, 5, 6, 5, 5, 5, 5, 5].map(|value| question.repeats(asked(value), 4));
        assert_eq!(
            answers,
            [false, false, false, false, false, false, false, true, false]
        );
    }
}
