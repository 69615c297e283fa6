//! The levels of a mipmapped texture that a level of detail selects.

use crate::exec::image::Mipmap;

/// Fraction bits of a level of detail.
const FRACTION_BITS: u32 = 8;
/// The distance between two levels in the unit of a level of detail.
pub const ONE: i64 = 1 << FRACTION_BITS;

/// The levels of a fetch, and the weight of the second one in 256ths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    pub first: usize,
    pub second: usize,
    pub weight: i64,
}

impl Levels {
    /// Returns one level.
    pub fn only(number: usize) -> Levels {
        Levels {
            first: number,
            second: number,
            weight: 0,
        }
    }

    /// Returns the levels for a level of detail, which includes the bias.
    pub fn new(mipmap: &Mipmap, detail: f32) -> Levels {
        let sampling = &mipmap.sampling;
        let [low, high] = sampling.clamp;
        let detail = if detail.is_nan() { 0.0 } else { detail };
        let detail = detail.min(high).max(low);
        let last = (mipmap.levels.len() - 1) as i64;
        let detail = ((detail * ONE as f32).floor() as i64).clamp(0, last << FRACTION_BITS);
        if !sampling.linear_filter {
            return Levels::only(((detail + ONE / 2) >> FRACTION_BITS) as usize);
        }
        let first = detail >> FRACTION_BITS;
        Levels {
            first: first as usize,
            second: (first + 1).min(last) as usize,
            weight: detail & (ONE - 1),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::exec::image::{Channel, Image, LevelSampling, Slices};

    /// Returns five levels, the first of 16 by 16 texels.
    pub fn mipmap(linear_filter: bool, bias: f32, clamp: [f32; 2]) -> Mipmap {
        let image = Image {
            base: 0,
            size: [16, 16, 0],
            slices: Slices::Depth,
            channel: Channel::F32,
            channels: 1,
            pitch: 64,
            linear: false,
        };
        Mipmap {
            levels: vec![image; 5],
            sampling: LevelSampling {
                linear_filter,
                bias,
                clamp,
                max_anisotropy: 16,
                optimizes_trilinear: true,
            },
        }
    }

    #[test]
    fn nearest_level_is_rounded_and_clamped() {
        let select = |clamp, detail| Levels::new(&mipmap(false, 0.0, clamp), detail).first;
        for (detail, expected) in [(-3.0, 0), (0.25, 0), (0.5, 1), (1.75, 2), (9.0, 4)] {
            assert_eq!(select([0.0, 9.0], detail), expected, "{detail}");
        }
        // The lower end takes precedence.
        assert_eq!(select([3.0, 1.0], 2.0), 3);
        assert_eq!(select([2.0, 3.0], 0.0), 2);
        assert_eq!(select([2.0, 3.0], 4.0), 3);
        assert_eq!(select([0.0, 9.0], f32::NAN), 0);
        assert_eq!(select([0.0, 9.0], f32::INFINITY), 4);
    }

    #[test]
    fn two_levels_are_interpolated_between_details() {
        let select = |detail| Levels::new(&mipmap(true, 0.0, [0.0, 9.0]), detail);
        let expected = |first, second, weight| Levels {
            first,
            second,
            weight,
        };
        assert_eq!(select(1.25), expected(1, 2, 64));
        assert_eq!(select(1.502), expected(1, 2, 128));
        assert_eq!(select(3.9999), expected(3, 4, 255));
        assert_eq!(select(4.5), expected(4, 4, 0));
        assert_eq!(select(f32::NEG_INFINITY), expected(0, 1, 0));
    }
}
