//! What an access does to a place, as far as it matters to others who use the place.

use crate::isa::{Access, AccessKind};

/// What an access does to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Load,
    Store,
    /// A volatile load, or one that is ordered; `polls`: in a loop that may wait for a store.
    OrderedLoad {
        polls: bool,
    },
    /// A volatile store, one that is ordered, or an atomic exchange whose old value nobody looks at.
    OrderedStore,
    /// Any other atomic; `polls` as above.
    Atomic {
        polls: bool,
    },
}

/// What it means that nothing orders two uses of one place, one of which writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unordered {
    /// Nothing: both are made for that.
    Fine,
    /// It is a race, unless the ordered stores there are always store the same value: flags are set
    /// like that.
    UnlessConstant,
    Race,
}

impl Deed {
    pub fn of(access: Access) -> Deed {
        match (access.ordered, access.kind) {
            (Some(ordered), kind) if kind.is_update() && ordered.only_stores => Deed::OrderedStore,
            (Some(ordered), kind) if kind.is_update() => Deed::Atomic {
                polls: ordered.polls,
            },
            (Some(_), AccessKind::Store) => Deed::OrderedStore,
            (Some(ordered), _) => Deed::OrderedLoad {
                polls: ordered.polls,
            },
            (
                None,
                AccessKind::Store
                | AccessKind::MatrixStore
                | AccessKind::Atomic
                | AccessKind::Reduction,
            ) => Deed::Store,
            // To shared memory, which is where it is asked for.
            (None, kind) if kind.is_copy() => Deed::Store,
            (None, _) => Deed::Load,
        }
    }

    pub fn writes(self) -> bool {
        matches!(self, Deed::Store | Deed::OrderedStore | Deed::Atomic { .. })
    }

    /// Whether it may learn from the place what another thread has made known.
    pub fn acquires(self) -> bool {
        matches!(self, Deed::OrderedLoad { .. } | Deed::Atomic { .. })
    }

    /// Whether others may learn from the place what its thread has made known.
    pub fn publishes(self) -> bool {
        matches!(self, Deed::OrderedStore | Deed::Atomic { .. })
    }

    /// Whether it may be waiting for another thread's store.
    pub fn polls(self) -> bool {
        matches!(
            self,
            Deed::OrderedLoad { polls: true } | Deed::Atomic { polls: true }
        )
    }

    /// What it means that nothing orders it with another one, if at least one of the two writes.
    pub fn against(self, other: Deed) -> Unordered {
        let plain = |deed| matches!(deed, Deed::Load | Deed::Store);
        if plain(self) || plain(other) {
            return Unordered::Race;
        }
        let stores = self == Deed::OrderedStore || other == Deed::OrderedStore;
        let waits = |deed| matches!(deed, Deed::OrderedLoad { polls: true });
        match stores && !waits(self) && !waits(other) {
            true => Unordered::UnlessConstant,
            false => Unordered::Fine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_for_it_may_be_unordered() {
        let atomic = Deed::Atomic { polls: false };
        let (look, poll) = (
            Deed::OrderedLoad { polls: false },
            Deed::OrderedLoad { polls: true },
        );
        for (one, other, wanted) in [
            (Deed::Load, Deed::Store, Unordered::Race),
            (Deed::Load, atomic, Unordered::Race),
            (Deed::Store, poll, Unordered::Race),
            (Deed::OrderedStore, Deed::Load, Unordered::Race),
            (atomic, atomic, Unordered::Fine),
            (atomic, look, Unordered::Fine),
            (Deed::OrderedStore, poll, Unordered::Fine),
            (Deed::OrderedStore, look, Unordered::UnlessConstant),
            (Deed::OrderedStore, atomic, Unordered::UnlessConstant),
            (
                Deed::OrderedStore,
                Deed::OrderedStore,
                Unordered::UnlessConstant,
            ),
        ] {
            assert_eq!(one.against(other), wanted, "{one:?} and {other:?}");
            assert_eq!(other.against(one), wanted, "{other:?} and {one:?}");
        }
    }
}
