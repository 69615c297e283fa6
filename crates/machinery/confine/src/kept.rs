//! What the system at hand can keep from a program.

use crate::system;

/// What is kept from a confined program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// All that the rules say.
    All,
    /// Less, for this reason; see the table in the crate's description.
    Less(String),
}

impl Kept {
    /// Why it is not all.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Kept::All => None,
            Kept::Less(why) => Some(why),
        }
    }
}

/// Asks the system; nothing is confined by it.
pub fn kept() -> Kept {
    system::missing().map_or(Kept::All, Kept::Less)
}
