//! What the warps of a gang are to ask their caches, noted until it is their turn.

use super::caches::{Asks, Which};
use crate::exec::access_pattern::GangTraffic;
use crate::exec::gang::MOST;
use std::rc::Rc;

/// Accesses that the warps of a gang have made, and for which their caches have not been asked yet.
/// A gang's warps run at once, but on a GPU they ask the caches one after the other: so it is noted
/// first, and asked warp by warp when the gang's slice is over.
#[derive(Default)]
pub struct Noted {
    /// Accesses of several warps at once, in the order in which they were made.
    pub together: Vec<NotedTogether>,
    /// Accesses of one warp, for each warp of the gang.
    pub alone: [NotedAlone; MOST],
}

/// An access of several warps that follow one another in the block, all of which ask L1.
pub struct NotedTogether {
    /// Where it is counted.
    pub slot: u32,
    /// The number of the line that the lines in `traffic` are relative to.
    pub origin: u64,
    /// The first warp's number in the block.
    pub first: usize,
    /// How many warps there are.
    pub warps: usize,
    pub traffic: Rc<GangTraffic>,
}

/// The accesses of one warp.
#[derive(Default)]
pub struct NotedAlone {
    pub accesses: Vec<NotedAccess>,
    /// The lines of all accesses, one access's behind the other's, each with its sectors as bits.
    pub lines: Vec<(u64, u8)>,
}

/// One of these accesses.
pub struct NotedAccess {
    pub asks: Asks,
    /// How many of [`Noted::together`] were made before it.
    pub after: usize,
    /// Where its lines end in [`NotedAlone::lines`]; they begin where those of the access before end.
    pub end: usize,
}

impl Noted {
    pub fn clear(&mut self) {
        self.together.clear();
        for alone in &mut self.alone {
            alone.accesses.clear();
            alone.lines.clear();
        }
    }

    /// Notes that warp `place` of the block asks for these lines.
    #[inline(always)]
    pub fn note(&mut self, place: usize, asks: Asks, lines: impl Iterator<Item = (u64, u8)>) {
        let alone = &mut self.alone[place % MOST];
        alone.lines.extend(lines);
        alone.accesses.push(NotedAccess {
            asks,
            after: self.together.len(),
            end: alone.lines.len(),
        });
    }

    /// Notes that the warps at `places` of the block, a gang, ask L1 for the lines of `traffic`.
    #[inline(always)]
    pub fn note_together(
        &mut self,
        slot: u32,
        origin: u64,
        traffic: &Rc<GangTraffic>,
        places: &[usize],
    ) {
        let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
            return;
        };
        if last - first + 1 == places.len() {
            self.together.push(NotedTogether {
                slot,
                origin,
                first,
                warps: places.len(),
                traffic: traffic.clone(),
            });
            return;
        }
        let asks = Asks {
            slot,
            cache: Which::First,
        };
        for (turn, &place) in places.iter().enumerate() {
            self.note(place, asks, traffic.of_warp(turn, origin));
        }
    }
}
