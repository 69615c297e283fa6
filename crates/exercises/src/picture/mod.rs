//! One warp's access drawn, the student's beside what was meant: lanes onto sectors, banks or constant
//! addresses. A grading notes what a picture is of, and it is drawn as text or as SVG.

mod svg;
mod text;

use cuda_driver::{AccessKind, Memory, SourceLine, Traced, coordinates};
use serde::{Deserialize, Serialize};

pub use svg::svg;
pub use text::text;

/// Lanes of a warp.
const LANES: usize = 32;

/// Bytes of a line of the L1 cache, of a row of the 32 banks, and of a row of a picture.
pub const ROW: u64 = 128;

/// An access of the student's, beside what was meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// The counter that missed its target.
    pub counter: String,
    /// The student's; none where there is no such access.
    pub yours: Option<Access>,
    /// The solution's, or the best that an access of as many bytes can be; none where there should be no such
    /// access.
    pub meant: Option<Access>,
}

/// What one warp asked a memory for, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// The kernel.
    pub kernel: String,
    /// The line of the student's file; 0 where it is another file's.
    pub line: u32,
    /// The block, x first.
    pub block: [u32; 3],
    /// The warp's number in its block.
    pub warp: usize,
    /// Which memory.
    pub space: Space,
    /// Bytes that each lane moves.
    pub bytes: u64,
    /// The lanes that take part, and the address of each; in global and constant memory from the first line of
    /// 128 bytes on that is touched, in shared memory from the block's beginning on.
    pub lanes: Vec<(usize, u64)>,
    /// What it comes to: sectors, wavefronts or constant requests.
    pub cost: u32,
    /// How often warps made accesses in that line.
    pub times: u64,
}

/// What the memory is that an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// Global memory, in sectors of 32 bytes.
    Global,
    /// Shared memory, in 32 banks.
    Shared,
    /// Constant memory, an address at a time.
    Constant,
}

impl Access {
    /// One that the simulator saw, in a launch of a grid of so many blocks; `times`: see there. None for a memory
    /// that no picture is of.
    pub fn new(seen: &Traced, grid: [u32; 3], own: bool, times: u64) -> Option<Access> {
        let (space, cost) = match seen.memory {
            Memory::Global => (Space::Global, seen.units),
            Memory::Shared => (Space::Shared, seen.wavefronts),
            Memory::Constant => (Space::Constant, seen.units),
            _ => return None,
        };
        let mut lanes: Vec<(usize, u64)> = seen.lanes().collect();
        let first = lanes.iter().map(|(_, address)| address / ROW * ROW).min()?;
        if space != Space::Shared {
            lanes.iter_mut().for_each(|(_, address)| *address -= first);
        }
        Some(Access {
            kernel: String::new(),
            line: if own { seen.source.line } else { 0 },
            block: coordinates(seen.block, grid),
            warp: seen.warp,
            space,
            bytes: seen.bytes,
            lanes,
            cost,
            times,
        })
    }

    /// The best that an access by these lanes, of as many bytes each, can be: neighbours side by side, and in
    /// constant memory all at one address. None where this one costs no more.
    pub fn ideal(&self) -> Option<Access> {
        let place = |number: usize| match self.space {
            Space::Constant => 0,
            Space::Global | Space::Shared => number as u64 * self.bytes,
        };
        let lanes = self.lanes.iter().enumerate();
        let lanes = lanes.map(|(number, &(lane, _))| (lane, place(number)));
        let lanes: Vec<(usize, u64)> = lanes.collect();
        let bytes = lanes.len() as u64 * self.bytes;
        let cost = match self.space {
            Space::Global => bytes.div_ceil(32),
            Space::Shared => bytes.div_ceil(ROW),
            Space::Constant => 1,
        } as u32;
        let ideal = Access {
            lanes,
            cost,
            ..self.clone()
        };
        (cost < self.cost).then_some(ideal)
    }

    /// The 32-bit words that it touches, each with its lanes, in the order of addresses.
    fn words(&self) -> Vec<(u64, Vec<usize>)> {
        let mut words = std::collections::BTreeMap::<u64, Vec<usize>>::new();
        for &(lane, address) in &self.lanes {
            for word in address / 4..=(address + self.bytes.max(1) - 1) / 4 {
                words.entry(word).or_default().push(lane);
            }
        }
        words.into_iter().collect()
    }

    /// As the simulator tells of one.
    fn traced(&self) -> Traced {
        let mut addresses = [0; LANES];
        let mut mask = 0;
        for &(lane, address) in self.lanes.iter().filter(|(lane, _)| *lane < LANES) {
            addresses[lane] = address;
            mask |= 1 << lane;
        }
        Traced {
            block: 0,
            warp: self.warp,
            source: SourceLine::default(),
            kind: AccessKind::Load,
            memory: match self.space {
                Space::Global => Memory::Global,
                Space::Shared => Memory::Shared,
                Space::Constant => Memory::Constant,
            },
            bytes: self.bytes,
            mask,
            addresses,
            units: self.cost,
            wavefronts: self.cost,
            conflicts: 0,
        }
    }
}

#[cfg(test)]
pub mod sample {
    use super::{Access, Space};

    /// An access of all lanes, `stride` bytes apart.
    pub fn strided(space: Space, bytes: u64, stride: u64, cost: u32) -> Access {
        Access {
            kernel: "sum".to_owned(),
            line: 7,
            block: [3, 0, 0],
            warp: 1,
            space,
            bytes,
            lanes: (0..32).map(|lane| (lane, lane as u64 * stride)).collect(),
            cost,
            times: 4096,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sample::strided;
    use super::*;

    #[test]
    fn what_is_best_depends_on_the_memory() {
        let ideal = |space, stride, cost| {
            let access = strided(space, 4, stride, cost);
            access.ideal().map(|ideal| (ideal.cost, ideal.lanes[31].1))
        };
        assert_eq!(ideal(Space::Global, 4096, 32), Some((4, 124)));
        assert_eq!(ideal(Space::Global, 4, 4), None);
        assert_eq!(ideal(Space::Shared, 128, 32), Some((1, 124)));
        assert_eq!(ideal(Space::Constant, 4, 32), Some((1, 0)));
    }

    #[test]
    fn words_have_their_lanes() {
        let bytes = strided(Space::Global, 1, 1, 1).words();
        assert_eq!(bytes.len(), 8);
        assert_eq!(bytes[1], (1, vec![4, 5, 6, 7]));
        let wide = strided(Space::Global, 16, 16, 16).words();
        assert_eq!((wide.len(), &wide[7]), (128, &(7, vec![1])));
    }
}
