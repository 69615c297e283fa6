//! The restrictions that this system can enforce.

use crate::system;

/// The level of confinement that this system supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// The system enforces all rules.
    Full,
    /// The system enforces only some rules, for this reason; see the table in the crate's documentation.
    Partial(String),
}

impl Support {
    /// Returns the reason why not all rules are enforced.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Support::Full => None,
            Support::Partial(reason) => Some(reason),
        }
    }
}

/// Queries the system without confining anything.
pub fn support() -> Support {
    system::unsupported_reason().map_or(Support::Full, Support::Partial)
}
