//! The synchronization semantics of a memory access.

use crate::isa::{Access, AccessKind, LoadedValue, NextAtomic};

/// The synchronization semantics of an access to one location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessSemantics {
    Load(LoadedValue),
    Store,
    /// A volatile or otherwise ordered load. `polls` is true in a loop that may wait for another thread's
    /// store, `names_order` for `ld.relaxed` and `ld.acquire`.
    OrderedLoad {
        polls: bool,
        names_order: bool,
    },
    /// A volatile or otherwise ordered store, or an atomic exchange whose old value is unused. `names_order` as in
    /// [`AccessSemantics::OrderedLoad`].
    OrderedStore {
        names_order: bool,
    },
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
            (_, AccessKind::BulkReduction) => AccessSemantics::Atomic { polls: false },
            (Some(ordered), kind) if kind.is_atomic() && ordered.only_stores => {
                AccessSemantics::OrderedStore {
                    names_order: ordered.names_order,
                }
            }
            (Some(ordered), kind) if kind.is_atomic() => AccessSemantics::Atomic {
                polls: ordered.polls,
            },
            (Some(ordered), AccessKind::Store) => AccessSemantics::OrderedStore {
                names_order: ordered.names_order,
            },
            (Some(ordered), _) => AccessSemantics::OrderedLoad {
                polls: ordered.polls,
                names_order: ordered.names_order,
            },
            (
                None,
                AccessKind::Store
                | AccessKind::MatrixStore
                | AccessKind::Atomic
                | AccessKind::Reduction
                | AccessKind::BulkStore,
            ) => AccessSemantics::Store,
            // Asynchronous copies are checked as stores to shared memory.
            (None, kind) if kind.is_async_copy() => AccessSemantics::Store,
            (None, _) => AccessSemantics::Load(access.loaded),
        }
    }

    pub fn writes(self) -> bool {
        matches!(
            self,
            AccessSemantics::Store
                | AccessSemantics::OrderedStore { .. }
                | AccessSemantics::Atomic { .. }
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
            AccessSemantics::OrderedStore { .. } | AccessSemantics::Atomic { .. }
        )
    }

    /// Returns true if the access may be waiting for another thread's store.
    pub fn polls(self) -> bool {
        matches!(
            self,
            AccessSemantics::OrderedLoad { polls: true, .. }
                | AccessSemantics::Atomic { polls: true }
        )
    }

    /// Returns true for an atomic and for a volatile or otherwise ordered access.
    pub fn is_ordered(self) -> bool {
        !matches!(self, AccessSemantics::Load(_) | AccessSemantics::Store)
    }

    /// Returns true if both accesses are atomic in C++'s sense, in which they never race: loads and stores that name a
    /// memory order, and atomics. A program that uses volatile accesses instead relies on more than is guaranteed.
    pub fn are_atomic(self, other: AccessSemantics) -> bool {
        let names_order = |semantics| {
            matches!(
                semantics,
                AccessSemantics::OrderedLoad {
                    names_order: true,
                    ..
                } | AccessSemantics::OrderedStore { names_order: true }
            )
        };
        let is_atomic = |semantics| matches!(semantics, AccessSemantics::Atomic { .. });
        match (names_order(self), names_order(other)) {
            (true, true) => true,
            (true, false) => is_atomic(other),
            (false, true) => is_atomic(self),
            (false, false) => false,
        }
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
        let is_store = |semantics| matches!(semantics, AccessSemantics::OrderedStore { .. });
        let waits =
            |semantics| matches!(semantics, AccessSemantics::OrderedLoad { polls: true, .. });
        if self.are_atomic(other) {
            RaceRule::NoRace
        } else if (is_store(self) || is_store(other)) && !waits(self) && !waits(other) {
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
            AccessSemantics::OrderedLoad {
                polls: false,
                names_order: false,
            },
            AccessSemantics::OrderedLoad {
                polls: true,
                names_order: false,
            },
        );
        let [store, relaxed_store] =
            [false, true].map(|names_order| AccessSemantics::OrderedStore { names_order });
        let relaxed_load = AccessSemantics::OrderedLoad {
            polls: false,
            names_order: true,
        };
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
            (store, result, RaceRule::Race),
            (relaxed_store, relaxed_load, RaceRule::NoRace),
            (relaxed_store, relaxed_store, RaceRule::NoRace),
            (relaxed_store, atomic, RaceRule::NoRace),
            (relaxed_load, store, RaceRule::RaceUnlessConstant),
            (relaxed_load, AccessSemantics::Store, RaceRule::Race),
            (atomic, atomic, RaceRule::NoRace),
            (atomic, load, RaceRule::NoRace),
            (store, poll, RaceRule::NoRace),
            (store, load, RaceRule::RaceUnlessConstant),
            (store, atomic, RaceRule::RaceUnlessConstant),
            (store, store, RaceRule::RaceUnlessConstant),
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
