//! The synchronization semantics of a memory access.

use crate::isa::{Access, AccessKind, LoadedValue, NextAtomic};

/// The synchronization semantics of an access to one location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessSemantics {
    Load(LoadedValue),
    Store,
    /// A volatile or otherwise ordered load. `polls` is true in a loop that may wait for another thread's
    /// store.
    OrderedLoad {
        polls: bool,
    },
    /// A volatile or otherwise ordered store, or an atomic exchange whose old value is unused.
    OrderedStore,
    /// Any other atomic. `polls` as in [`AccessSemantics::OrderedLoad`].
    Atomic {
        polls: bool,
    },
}

/// The consequence if nothing orders two accesses to one location, at least one of which writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaceRule {
    /// No race: both accesses are synchronization operations.
    NoRace,
    /// A race, unless the ordered stores involved always store the same value, as in setting a flag.
    RaceUnlessConstant,
    /// A race that is usually intended: a weak load of a value that the same thread then updates by an atomic.
    LoadBeforeAtomic,
    /// A race that is usually intended if the store always stores the same value: the load's value only decides branches.
    DecidesByFlag,
    Race,
}

impl AccessSemantics {
    pub fn of(access: Access) -> AccessSemantics {
        match (access.ordered, access.kind) {
            (Some(ordered), kind) if kind.is_atomic() && ordered.only_stores => {
                AccessSemantics::OrderedStore
            }
            (Some(ordered), kind) if kind.is_atomic() => AccessSemantics::Atomic {
                polls: ordered.polls,
            },
            (Some(_), AccessKind::Store) => AccessSemantics::OrderedStore,
            (Some(ordered), _) => AccessSemantics::OrderedLoad {
                polls: ordered.polls,
            },
            (
                None,
                AccessKind::Store
                | AccessKind::MatrixStore
                | AccessKind::Atomic
                | AccessKind::Reduction,
            ) => AccessSemantics::Store,
            // Asynchronous copies are checked as stores to shared memory.
            (None, kind) if kind.is_async_copy() => AccessSemantics::Store,
            (None, _) => AccessSemantics::Load(access.loaded),
        }
    }

    pub fn writes(self) -> bool {
        matches!(
            self,
            AccessSemantics::Store | AccessSemantics::OrderedStore | AccessSemantics::Atomic { .. }
        )
    }

    /// Returns true if the access can be an acquire: it may read a value that another thread released.
    pub fn can_acquire(self) -> bool {
        matches!(
            self,
            AccessSemantics::OrderedLoad { .. } | AccessSemantics::Atomic { .. }
        )
    }

    /// Returns true if the access can be a release: others may read the value that it stores.
    pub fn can_release(self) -> bool {
        matches!(
            self,
            AccessSemantics::OrderedStore | AccessSemantics::Atomic { .. }
        )
    }

    /// Returns true if the access may be waiting for another thread's store.
    pub fn polls(self) -> bool {
        matches!(
            self,
            AccessSemantics::OrderedLoad { polls: true } | AccessSemantics::Atomic { polls: true }
        )
    }

    /// Returns true for an atomic and for a volatile or otherwise ordered access.
    pub fn is_ordered(self) -> bool {
        !matches!(self, AccessSemantics::Load(_) | AccessSemantics::Store)
    }

    /// Returns the consequence if nothing orders this access and `other`. At least one of the two must write.
    pub fn race_rule(self, other: AccessSemantics) -> RaceRule {
        match (self, other) {
            (AccessSemantics::Load(value), other) | (other, AccessSemantics::Load(value)) => {
                return match value.next_atomic {
                    _ if other == AccessSemantics::Store && value.only_decides => {
                        RaceRule::DecidesByFlag
                    }
                    NextAtomic::Verifies if other.is_ordered() => RaceRule::NoRace,
                    NextAtomic::AfterUse if other.is_ordered() => RaceRule::LoadBeforeAtomic,
                    _ => RaceRule::Race,
                };
            }
            (AccessSemantics::Store, _) | (_, AccessSemantics::Store) => return RaceRule::Race,
            _ => {}
        }
        let is_store =
            self == AccessSemantics::OrderedStore || other == AccessSemantics::OrderedStore;
        let waits = |semantics| matches!(semantics, AccessSemantics::OrderedLoad { polls: true });
        if is_store && !waits(self) && !waits(other) {
            RaceRule::RaceUnlessConstant
        } else {
            RaceRule::NoRace
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synchronization_operations_may_be_unordered() {
        let atomic = AccessSemantics::Atomic { polls: false };
        let (load, poll) = (
            AccessSemantics::OrderedLoad { polls: false },
            AccessSemantics::OrderedLoad { polls: true },
        );
        let plain = |only_decides, next_atomic| {
            AccessSemantics::Load(LoadedValue {
                only_decides,
                next_atomic,
            })
        };
        let result = plain(false, NextAtomic::None);
        for (first, second, expected) in [
            (result, AccessSemantics::Store, RaceRule::Race),
            (result, atomic, RaceRule::Race),
            (
                plain(true, NextAtomic::None),
                AccessSemantics::Store,
                RaceRule::DecidesByFlag,
            ),
            (plain(true, NextAtomic::None), atomic, RaceRule::Race),
            (plain(true, NextAtomic::Verifies), atomic, RaceRule::NoRace),
            (
                plain(false, NextAtomic::AfterUse),
                atomic,
                RaceRule::LoadBeforeAtomic,
            ),
            (
                plain(false, NextAtomic::Verifies),
                AccessSemantics::Store,
                RaceRule::Race,
            ),
            (AccessSemantics::Store, poll, RaceRule::Race),
            (AccessSemantics::OrderedStore, result, RaceRule::Race),
            (atomic, atomic, RaceRule::NoRace),
            (atomic, load, RaceRule::NoRace),
            (AccessSemantics::OrderedStore, poll, RaceRule::NoRace),
            (
                AccessSemantics::OrderedStore,
                load,
                RaceRule::RaceUnlessConstant,
            ),
            (
                AccessSemantics::OrderedStore,
                atomic,
                RaceRule::RaceUnlessConstant,
            ),
            (
                AccessSemantics::OrderedStore,
                AccessSemantics::OrderedStore,
                RaceRule::RaceUnlessConstant,
            ),
        ] {
            assert_eq!(
                first.race_rule(second),
                expected,
                "{first:?} and {second:?}"
            );
            assert_eq!(
                second.race_rule(first),
                expected,
                "{second:?} and {first:?}"
            );
        }
    }
}
