//! The names of the checks, and the selection of those that a launch performs.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Check {
    /// Out-of-bounds and other invalid accesses.
    Memory,
    /// Reads of uninitialized memory.
    Init,
    /// Data races.
    Race,
    /// Barriers and warp-wide instructions that not all threads reach.
    Sync,
    /// Memory that is never freed.
    Leak,
    /// Accesses to host memory that work in a stream still uses.
    Host,
    /// Operations of several streams that use the same memory in no defined order.
    Stream,
    /// Input that nothing reads. Not among those that `all` selects, because unused input is no bug.
    Unused,
}

impl Check {
    /// All checks.
    pub const ALL: [Check; 8] = [
        Check::Memory,
        Check::Init,
        Check::Race,
        Check::Sync,
        Check::Leak,
        Check::Host,
        Check::Stream,
        Check::Unused,
    ];

    /// Returns the name that selects the check: `mem`, `init`, `race`, `sync`, `leak`, `host`, `stream`,
    /// `unused`.
    pub fn name(self) -> &'static str {
        match self {
            Check::Memory => "mem",
            Check::Init => "init",
            Check::Race => "race",
            Check::Sync => "sync",
            Check::Leak => "leak",
            Check::Host => "host",
            Check::Stream => "stream",
            Check::Unused => "unused",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of checks; empty by default.
///
/// The text form is a comma-separated list of names, `mem,race`, or `all`, which means all but `unused`:
/// `all,unused` selects every check.
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
    /// [`Check::Stream`]
    pub stream: bool,
    /// [`Check::Unused`]
    pub unused: bool,
}

impl Checks {
    /// The empty set.
    pub const NONE: Checks = Checks {
        memory: false,
        init: false,
        race: false,
        sync: false,
        leak: false,
        host: false,
        stream: false,
        unused: false,
    };

    /// The checks that `all` selects: all but [`Check::Unused`].
    pub const ALL: Checks = Checks {
        memory: true,
        init: true,
        race: true,
        sync: true,
        leak: true,
        host: true,
        stream: true,
        unused: false,
    };

    /// Returns true if this check is enabled.
    pub fn contains(self, check: Check) -> bool {
        match check {
            Check::Memory => self.memory,
            Check::Init => self.init,
            Check::Race => self.race,
            Check::Sync => self.sync,
            Check::Leak => self.leak,
            Check::Host => self.host,
            Check::Stream => self.stream,
            Check::Unused => self.unused,
        }
    }

    /// Returns the enabled checks, in the order of [`Check::ALL`].
    pub fn enabled(self) -> impl Iterator<Item = Check> {
        Check::ALL
            .into_iter()
            .filter(move |&check| self.contains(check))
    }

    /// Returns true if any check is enabled.
    pub fn any(self) -> bool {
        self != Checks::NONE
    }

    /// Returns true if any enabled check instruments the kernel.
    pub(crate) fn instruments(self) -> bool {
        self.init || self.race || self.sync || self.tracks_accesses() || self.unused
    }

    /// Returns true if the checks compare the bytes that launches access.
    pub fn tracks_accesses(self) -> bool {
        self.host || self.stream
    }

    fn enable(&mut self, check: Check) {
        *match check {
            Check::Memory => &mut self.memory,
            Check::Init => &mut self.init,
            Check::Race => &mut self.race,
            Check::Sync => &mut self.sync,
            Check::Leak => &mut self.leak,
            Check::Host => &mut self.host,
            Check::Stream => &mut self.stream,
            Check::Unused => &mut self.unused,
        } = true;
    }
}

impl FromStr for Checks {
    type Err = String;

    fn from_str(text: &str) -> Result<Checks, String> {
        let mut checks = Checks::NONE;
        for name in text.split(',').map(str::trim) {
            match Check::ALL.iter().find(|check| check.name() == name) {
                Some(&check) => checks.enable(check),
                None if name == "all" => {
                    checks = Checks {
                        unused: checks.unused,
                        ..Checks::ALL
                    }
                }
                None => {
                    return Err(format!(
                        "'{name}' is not a check; expected a comma-separated list: `all`, which \
                         means mem, init, race, sync, leak, host and stream; some of these; `unused`"
                    ));
                }
            }
        }
        Ok(checks)
    }
}

impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.enabled().map(Check::name).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_round_trip_through_text() {
        for text in [
            "mem",
            "init",
            "race,sync",
            "mem,init,race,sync,leak,host,stream",
            "mem,init,race,sync,leak,host,stream,unused",
            "unused",
        ] {
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
        for text in ["all,unused", "unused,all"] {
            let checks: Checks = text.parse().unwrap();
            assert!(Check::ALL.iter().all(|&check| checks.contains(check)));
        }
        assert!(!"all".parse::<Checks>().unwrap().unused);
        assert!(!Checks::default().any());
        assert!(!"mem,leak".parse::<Checks>().unwrap().instruments());
    }

    #[test]
    fn unknown_checks_are_rejected_with_the_choices() {
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
                error.contains("mem, init, race, sync, leak, host and stream"),
                "{error}"
            );
        }
    }
}
