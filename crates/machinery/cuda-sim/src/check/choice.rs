//! Which checks are on.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One kind of check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Check {
    /// Accesses outside of what they may reach.
    Memory,
    /// Reads of memory that nobody has written.
    Init,
    /// Accesses of the same memory by threads that do not wait for each other.
    Race,
    /// Barriers and warp-wide instructions that not all threads reach.
    Sync,
    /// Memory that nobody frees.
    Leak,
    /// Memory of the host's that is touched while work in a stream still uses it.
    Host,
}

impl Check {
    /// All checks.
    pub const ALL: [Check; 6] = [
        Check::Memory,
        Check::Init,
        Check::Race,
        Check::Sync,
        Check::Leak,
        Check::Host,
    ];

    /// The name by which the check is chosen: `mem`, `init`, `race`, `sync`, `leak`,
    /// `host`.
    pub fn name(self) -> &'static str {
        match self {
            Check::Memory => "mem",
            Check::Init => "init",
            Check::Race => "race",
            Check::Sync => "sync",
            Check::Leak => "leak",
            Check::Host => "host",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A selection of checks; none of them by default.
///
/// As text it is a list of names, `mem,race`, or `all`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checks {
    /// [`Check::Memory`]
    pub memory: bool,
    /// [`Check::Init`]
    pub init: bool,
    /// [`Check::Race`]
    pub race: bool,
    /// [`Check::Sync`]
    pub sync: bool,
    /// [`Check::Leak`]
    pub leak: bool,
    /// [`Check::Host`]
    pub host: bool,
}

impl Checks {
    /// No check.
    pub const NONE: Checks = Checks {
        memory: false,
        init: false,
        race: false,
        sync: false,
        leak: false,
        host: false,
    };

    /// All checks.
    pub const ALL: Checks = Checks {
        memory: true,
        init: true,
        race: true,
        sync: true,
        leak: true,
        host: true,
    };

    /// Whether this check is on.
    pub fn has(self, check: Check) -> bool {
        match check {
            Check::Memory => self.memory,
            Check::Init => self.init,
            Check::Race => self.race,
            Check::Sync => self.sync,
            Check::Leak => self.leak,
            Check::Host => self.host,
        }
    }

    /// The checks that are on, in the order of [`Check::ALL`].
    pub fn on(self) -> impl Iterator<Item = Check> {
        Check::ALL.into_iter().filter(move |&check| self.has(check))
    }

    /// Whether any is on.
    pub fn any(self) -> bool {
        self != Checks::NONE
    }

    /// Whether any is on that looks at a kernel while it runs.
    pub(crate) fn watches(self) -> bool {
        self.init || self.race || self.sync
    }

    fn turn_on(&mut self, check: Check) {
        *match check {
            Check::Memory => &mut self.memory,
            Check::Init => &mut self.init,
            Check::Race => &mut self.race,
            Check::Sync => &mut self.sync,
            Check::Leak => &mut self.leak,
            Check::Host => &mut self.host,
        } = true;
    }
}

impl FromStr for Checks {
    type Err = String;

    fn from_str(text: &str) -> Result<Checks, String> {
        let mut checks = Checks::NONE;
        for name in text.split(',').map(str::trim) {
            match Check::ALL.iter().find(|check| check.name() == name) {
                Some(&check) => checks.turn_on(check),
                None if name == "all" => checks = Checks::ALL,
                None => {
                    return Err(format!(
                        "'{name}' is no check; there are mem, init, race, sync, leak and host, \
                         separated by commas, or all"
                    ));
                }
            }
        }
        Ok(checks)
    }
}

impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.on().map(Check::name).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_selection_is_read_and_written() {
        for text in ["mem", "init", "race,sync", "mem,init,race,sync,leak,host"] {
            let checks: Checks = text.parse().unwrap();
            assert_eq!(checks.to_string(), text);
            assert!(checks.any());
        }
        assert_eq!("all".parse(), Ok(Checks::ALL));
        assert_eq!(
            " sync , mem ,sync".parse::<Checks>().unwrap().to_string(),
            "mem,sync"
        );
        assert_eq!("mem,all".parse(), Ok(Checks::ALL));
        assert!(!Checks::default().any());
        assert!(!"mem,leak".parse::<Checks>().unwrap().watches());
    }

    #[test]
    fn what_is_no_check_is_named_and_the_choices_are_listed() {
        for (text, bad) in [
            ("", "''"),
            ("memory", "'memory'"),
            ("mem,,race", "''"),
            ("mem;race", "'mem;race'"),
            ("ALL", "'ALL'"),
        ] {
            let error = text.parse::<Checks>().unwrap_err();
            assert!(error.starts_with(bad), "{text}: {error}");
            assert!(
                error.contains("mem, init, race, sync, leak and host"),
                "{error}"
            );
        }
    }
}
