//! What the warps of a gang are to ask their caches, noted until it is their turn.

use super::caches::{Asks, Which};
use crate::exec::gang::MOST;
use crate::exec::spread::GangTraffic;
use std::rc::Rc;

/// What is to be asked for the warps of a gang, each in its turn.
#[derive(Default)]
pub struct Noted {
    /// What they do together, in their order.
    pub together: Vec<NotedTogether>,
    /// What each does alone.
    pub alone: [NotedAlone; MOST],
}

/// What warps side by side ask the first cache.
pub struct NotedTogether {
    pub slot: u32,
    /// The line that lines are relative to.
    pub origin: u64,
    /// The first of the warps' places in their block, and how many they are.
    pub first: usize,
    pub warps: usize,
    pub traffic: Rc<GangTraffic>,
}

/// What a warp asks alone.
#[derive(Default)]
pub struct NotedAlone {
    pub accesses: Vec<NotedAccess>,
    /// AccessCost of all its accesses, and sectors of each.
    pub lines: Vec<(u64, u8)>,
}

pub struct NotedAccess {
    pub asks: Asks,
    /// So many are noted together before it.
    pub after: usize,
    /// Where its lines end.
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

    /// Warp `place` of the block is to ask for these lines.
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

    /// The gang at `places` of the block is to ask the first cache for what its access comes to.
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
