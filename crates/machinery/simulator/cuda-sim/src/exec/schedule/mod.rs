//! Schedules of warps: the detection of warps that spin, random schedules, and the progress and limits of a launch.
//! The SM ([`super::sm`]) and the handlers apply them.

pub mod progress;
pub mod random;

/// Number of unsuccessful atomics in a row after which a warp gives up its turn.
pub const ATOMIC_SPIN_LIMIT: u32 = 4;

/// Number of ordered loads of an unchanged value in a row after which a warp gives up its turn. Higher than
/// [`ATOMIC_SPIN_LIMIT`] because loads may be repeated for other reasons.
pub const LOAD_SPIN_LIMIT: u32 = 64;

/// Detects that a warp polls memory in a loop until another thread changes it: holds the warp's last probe and the
/// number of times it was repeated.
///
/// Without detection, a warp that finds a lock taken would retry until its turn is over, some ten thousand times.
/// Repeated accesses of one instruction count as spinning if each finds the same value at the same address: an
/// atomic that changes nothing, or an ordered load.
#[derive(Default)]
pub struct SpinDetector {
    last: Probe,
    repeats: u32,
}

/// An access that may be an iteration of a spin loop, and the value it found.
#[derive(Default, PartialEq, Eq)]
pub struct Probe {
    /// Host address of the decoded instruction.
    pub instruction: usize,
    /// Mask of the lanes that took part.
    pub lanes: u32,
    /// Address accessed by the first of the lanes.
    pub address: u64,
    /// Value found there.
    pub value: u64,
}

impl SpinDetector {
    /// Records a probe and returns how many times in a row it has been made, itself included.
    #[inline(always)]
    pub fn record(&mut self, probe: Probe) -> u32 {
        if self.last != probe {
            *self = SpinDetector {
                last: probe,
                repeats: 0,
            };
        }
        self.repeats = self.repeats.saturating_add(1);
        self.repeats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_counted_while_the_value_is_unchanged() {
        let probe = |value| Probe {
            instruction: 1,
            value,
            ..Probe::default()
        };
        let mut detector = SpinDetector::default();
        let repeats = [5, 5, 5, 6, 5, 5].map(|value| detector.record(probe(value)));
        assert_eq!(repeats, [1, 2, 3, 1, 1, 2]);
    }
}
