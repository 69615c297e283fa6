//! Special registers: `%tid.x` and its kind. Source: PTX ISA section 10.

use super::Lowering;
use crate::exec::identity;
use crate::exec::ops::Class;
use crate::program::error::LoadError;
use crate::program::registers::{Register, Row};

pub use identity::Special;

/// The special register of this name.
pub fn find(name: &str) -> Option<Special> {
    Special::ALL
        .iter()
        .copied()
        .find(|special| special.name() == name)
}

impl Lowering<'_, '_> {
    /// Reads a special register into a row of either width.
    pub fn read_special(&mut self, special: Special, into: Register) -> Result<(), LoadError> {
        let run = match self.info(into).row {
            Row::Narrow => identity::read_narrow,
            Row::Wide => identity::read_wide,
            Row::Predicate => return Err(self.error("a special register is not a predicate")),
        };
        self.draft(run, Class::Integer, &[into], &[]);
        let draft = self.last();
        draft.x = special as u32;
        draft.timed = true;
        Ok(())
    }
}
