//! The restrictions that this system can enforce.

use crate::system;

/// The level of confinement that this system supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The system enforces all rules.
    All,
    /// The system enforces only some rules, for this reason; see the table in the crate's documentation.
    Less(String),
}

impl Kept {
    /// Returns the reason why not all rules are enforced.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Kept::All => None,
            Kept::Less(why) => Some(why),
        }
    }
}

/// Queries the system without confining anything.
pub fn kept() -> Kept {
    system::missing().map_or(Kept::All, Kept::Less)
}
