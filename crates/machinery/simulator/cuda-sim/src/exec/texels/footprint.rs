//! The footprint of a fetch from a mipmapped texture: the levels that a level of detail selects, and the level of detail
//! and the samples that gradients select.
//!
//! The rules for gradients were measured on an NVIDIA H200 (driver 580.159.04): the hardware computes with few digits, and
//! its lengths are not Euclidean. Gradients are in texels of the first level.
//!
//! - A length is the largest component, 11/32 of the second and 1/4 of the smallest one. Of both gradients, and of 11/16
//!   of their sum and of their difference, the longest vector is the major axis.
//! - Its logarithm is the level of detail, unless the filter is anisotropic. Then the minor axis determines it, whose
//!   length is the area between the gradients divided by the length of the major axis; a shorter minor axis than a texel
//!   counts as one.
//! - An anisotropic fetch takes an even number of samples along the major axis, a texel of the sampled level apart. All
//!   have the same weight, the reciprocal of the ratio of both axes, except the first and the last, which share the rest.
//!   Up to a ratio of two, there are two samples, which are closer.
//! - The texels of all samples and levels form one sum (see [`super::filter`]), whose weights are distributed between
//!   samples, then between levels, then as in a single fetch.
//!
//! For random gradients, these rules give 97 % of the measured levels of detail, and the others differ by a 256th or two.
//! For samples along an axis of the texture and from one level, they give all weights of 95 % of the fetches, and the
//! others differ by a few 1024ths, as do the weights of two levels. The direction of the samples differs by up to 3
//! degrees from an H200's.

use super::{Geometry, cube};
use crate::exec::image::{Mipmap, Texture};

/// Fraction bits of a level of detail.
const FRACTION_BITS: u32 = 8;
/// The distance between two levels in the unit of a level of detail.
const ONE: i64 = 1 << FRACTION_BITS;

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

/// A gradient in texels of the first level.
type Vector = [f64; 3];

/// The levels of a fetch and its samples: one, or several along the major axis of the gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Footprint {
    pub levels: Levels,
    /// The distance from a sample to the next, in the unit of the coordinates.
    pub step: [f32; 3],
    /// The number of samples on each side, or 0 for a single one.
    side: i64,
    /// The weight of each sample except the outermost ones, in units of the last bit of [`Footprint::weight_bits`].
    weight: i64,
}

impl Footprint {
    /// Returns a single sample.
    pub fn single(levels: Levels) -> Footprint {
        Footprint {
            levels,
            step: [0.0; 3],
            side: 0,
            weight: 0,
        }
    }

    /// Returns true for a single sample.
    pub fn is_single(&self) -> bool {
        self.side == 0
    }

    /// Returns the footprint of the gradients of a fetch at a position.
    pub fn new(
        texture: &Texture,
        mipmap: &Mipmap,
        geometry: Geometry,
        at: [f32; 3],
        gradients: [[f32; 3]; 2],
    ) -> Footprint {
        let sampling = &mipmap.sampling;
        let sizes = [0, 1, 2].map(|axis| match () {
            _ if axis >= geometry.dimensions as usize => 0.0,
            _ if texture.normalised || geometry.cube => texture.image.extent(axis) as f64,
            _ => 1.0,
        });
        let [x, y] = gradients.map(|gradient| in_texels(geometry, at, gradient, sizes));
        let major = major_axis(x, y);
        let length = length(major);
        if length.is_nan() {
            return Footprint::single(Levels::new(mipmap, 0.0));
        }
        let long = logarithm(length);
        let most = match geometry.dimensions {
            2 if !geometry.cube => sampling.max_anisotropy.clamp(1, MAX_ANISOTROPY),
            _ => 1,
        };
        let area = logarithm((x[0] * y[1] - x[1] * y[0]).abs());
        let ratio = (2 * long - area).min(long).min(logarithm(most.into()));
        let is_anisotropic = most > 1 && ratio > 0;
        let detail = |logarithm: i64| logarithm as f32 / ONE as f32 + sampling.bias;
        if !is_anisotropic {
            return Footprint::single(Levels::new(mipmap, detail(long)));
        }
        let mut levels = Levels::new(mipmap, detail(long - ratio));
        if sampling.optimizes_trilinear && levels.weight != 0 {
            levels.weight = (2 * levels.weight - ONE / 2).clamp(0, ONE);
        }
        let share = reciprocal(ratio);
        let side = (RECIPROCAL_OF_1 / 2 + share - 1) / share;
        let spacing = match side {
            1 => 2.0 * (1.0 - share as f64 / RECIPROCAL_OF_1 as f64),
            _ => 1.0,
        };
        let direction = spacing * texel_size(levels) / euclidean(major);
        Footprint {
            levels,
            step: [0, 1, 2].map(|axis| match sizes[axis] {
                0.0 => 0.0,
                // The sizes of unnormalized textures are 1.
                size => (major[axis] * direction / size) as f32,
            }),
            side,
            weight: if side <= 2 { share / 2 } else { share },
        }
    }

    /// Returns the base-2 logarithm of the sum of all weights.
    pub fn weight_bits(&self) -> u32 {
        match self.side {
            0 => 8,
            1 | 2 => 9,
            _ => 10,
        }
    }

    /// Returns the samples: their distances from the centre in steps, and their weights.
    pub fn samples(&self) -> impl Iterator<Item = (f32, i64)> {
        let Footprint { side, weight, .. } = *self;
        let whole = 1 << self.weight_bits();
        let count = (2 * side).max(1);
        (0..count).map(move |number| {
            let distance = (2 * number + 1 - count) as f32 / 2.0;
            let weight = match number {
                _ if side == 0 => whole,
                _ if number == 0 || number == count - 1 => whole / 2 - (side - 1) * weight,
                _ => weight,
            };
            (distance, weight)
        })
    }
}

/// The maximum anisotropy of a GPU.
const MAX_ANISOTROPY: u32 = 16;

/// Fraction bits of the components of gradients.
const COMPONENT_BITS: u32 = 9;

/// Returns a gradient in texels of the first level, with truncated components.
fn in_texels(geometry: Geometry, at: [f32; 3], gradient: [f32; 3], sizes: Vector) -> Vector {
    let gradient = match geometry.cube {
        true => {
            let [s, t] = cube::face_gradient(at, gradient);
            [s, t, 0.0]
        }
        false => gradient,
    };
    let dropped = !((1 << (f64::MANTISSA_DIGITS - 1 - COMPONENT_BITS)) - 1);
    [0, 1, 2].map(|axis| {
        let along = f64::from(gradient[axis]) * sizes[axis];
        f64::from_bits(along.to_bits() & dropped)
    })
}

/// Returns the longest of both gradients and the scaled diagonals of their parallelogram.
fn major_axis(x: Vector, y: Vector) -> Vector {
    const DIAGONAL: f64 = 11.0 / 16.0;
    let diagonal = |sign: f64| [0, 1, 2].map(|axis| (x[axis] + sign * y[axis]) * DIAGONAL);
    let mut major = x;
    for other in [y, diagonal(1.0), diagonal(-1.0)] {
        if length(other) > length(major) {
            major = other;
        }
    }
    major
}

/// Returns the length of a vector, as a GPU approximates it.
fn length(vector: Vector) -> f64 {
    let mut sorted = vector.map(f64::abs);
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted[0] + sorted[1] * 11.0 / 32.0 + sorted[2] / 4.0
}

/// Returns the length of a vector.
fn euclidean(vector: Vector) -> f64 {
    let squares = vector.map(|along| along * along);
    squares.iter().sum::<f64>().sqrt()
}

/// Logarithms of 1 to 2 in 256ths, by the first 8 fraction bits: those of an H200, which differ from the exact ones by
/// up to one.
#[rustfmt::skip]
const LOGARITHMS: [u8; 256] = [
    0, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 22, 23, 24, 26, 27, 28, 30, 31, 32, 34, 35,
    36, 38, 39, 40, 42, 43, 44, 45, 47, 48, 49, 50, 52, 53, 54, 55, 57, 58, 59, 60, 62, 63, 64, 65,
    66, 68, 69, 70, 71, 72, 74, 75, 76, 77, 78, 79, 81, 82, 83, 84, 85, 86, 88, 89, 90, 91, 92, 93,
    94, 95, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115,
    116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 135,
    136, 137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153,
    154, 155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171,
    172, 173, 173, 174, 175, 176, 177, 178, 179, 180, 181, 181, 182, 183, 184, 185, 186, 187, 188,
    188, 189, 190, 191, 192, 193, 194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204,
    205, 205, 206, 207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219,
    220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232, 233, 233, 234,
    235, 236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244, 245, 245, 246, 247, 248, 248,
    249, 250, 251, 251, 252, 253, 253, 254, 255, 255,
];

/// Returns the base-2 logarithm of a number in 256ths. That of 0 is below all others.
fn logarithm(number: f64) -> i64 {
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i64 - 1023;
    exponent * ONE + i64::from(LOGARITHMS[(bits >> 44 & 0xff) as usize])
}

/// Returns a power of two in 128ths, for an exponent in 256ths from 0 to 1: the nearest one.
fn power(exponent: i64) -> i64 {
    (128.0 * (exponent as f64 / ONE as f64).exp2()).round() as i64
}

/// The value of [`reciprocal`] for a ratio of 1.
const RECIPROCAL_OF_1: i64 = 1 << 10;

/// Returns the reciprocal of a ratio in 1024ths: seven fraction bits, of which those below a 1024th are cut. The
/// logarithm of the ratio is in 256ths.
fn reciprocal(ratio: i64) -> i64 {
    let (whole, fraction) = (ratio / ONE, ratio % ONE);
    // In 256ths, between 1/2 and 1.
    let part = power(ONE - fraction);
    (4 * part) >> whole
}

/// Returns the size of a texel of the sampled levels in texels of the first one: a power of two with six fraction bits.
fn texel_size(levels: Levels) -> f64 {
    let power = power(levels.weight) & !1;
    (1u64 << levels.first) as f64 * power as f64 / 128.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::image::{AddressMode, Channel, Image, LevelSampling, Slices};

    /// Returns five levels, the first of 16 by 16 texels.
    fn mipmap(linear_filter: bool, bias: f32, clamp: [f32; 2]) -> Mipmap {
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

    fn footprint(x: [f32; 2], y: [f32; 2]) -> Footprint {
        let mipmap = mipmap(true, 0.0, [0.0, 9.0]);
        let texture = Texture {
            image: mipmap.levels[0],
            modes: [AddressMode::Clamp; 3],
            linear_filter: true,
            normalised: true,
            reads_integers: false,
            seamless: false,
            decodes_srgb: false,
            border: [0.0; 4],
        };
        let plane = Geometry::named("2d").unwrap();
        let gradients = [x, y].map(|[along, across]| [along / 16.0, across / 16.0, 0.0]);
        Footprint::new(&texture, &mipmap, plane, [0.5; 3], gradients)
    }

    fn weights(x: f32, y: f32) -> Vec<i64> {
        let samples = footprint([x, 0.0], [0.0, y]);
        samples.samples().map(|(_, weight)| weight).collect()
    }

    #[test]
    fn samples_cover_the_ratio_of_the_gradients() {
        assert_eq!(weights(1.0, 1.0), [256]);
        assert_eq!(weights(1.0, 2.0), [256, 256]);
        // A minor axis below a texel counts as one.
        assert_eq!(weights(3.0, 1.0), [85, 171, 171, 85]);
        assert_eq!(weights(3.0, 0.1), [85, 171, 171, 85]);
        assert_eq!(weights(8.0, 1.0), [128; 8]);
        assert_eq!(weights(100.0, 1.0), [64; 16]);
        // Weights of an H200.
        assert_eq!(
            weights(10.8125, 0.5),
            [[42].as_slice(), &[94; 10], &[42],].concat()
        );
        for tenths in 10..160 {
            let all = weights(tenths as f32 / 10.0, 1.0);
            let sum = all.iter().sum::<i64>();
            assert!([256, 512, 1024].contains(&sum), "{tenths}: {all:?}");
            assert!(all.iter().all(|&weight| weight >= 0), "{tenths}: {all:?}");
        }
    }

    #[test]
    fn samples_are_a_texel_of_their_level_apart() {
        let step = |x, y| footprint([x, 0.0], [0.0, y]).step[0] * 16.0;
        assert_eq!(step(3.0, 0.5), 1.0);
        assert_eq!(step(10.0, 1.0), 1.0);
        assert_eq!(step(10.0, 2.0), 2.0);
        // Two samples, closer than a texel.
        assert_eq!(step(1.5, 1.0), 2.0 * (1.0 - 684.0 / 1024.0));
        // The direction of the longer gradient, or of a diagonal.
        let [x, y, _] = footprint([4.0, 3.0], [-0.3, 0.4]).step;
        assert!((y / x - 0.75).abs() < 1e-6);
        let [x, y, _] = footprint([4.0, 3.0], [4.0, 3.0]).step;
        assert!((y / x - 0.75).abs() < 1e-6);
        let [x, y, _] = footprint([4.0, 0.5], [4.0, -0.5]).step;
        assert!(x != 0.0 && y == 0.0);
    }

    #[test]
    fn levels_of_detail_are_those_of_the_minor_axis() {
        let mipmap = mipmap(true, 0.0, [0.0, 9.0]);
        let level = |x, y| footprint(x, y).levels;
        assert_eq!(level([5.0, 0.0], [0.0, 4.0]), Levels::new(&mipmap, 2.0));
        // Logarithms of an H200, doubled and less 128 for the trilinear optimization.
        for (x, y, expected) in [
            ([6.0656, -4.1624], [3.2735, 4.7702], 641),
            ([-11.4843, 3.3564], [2.6641, 2.3463], 386),
            ([5.8525, 9.0854], [-1.2266, 2.775], 334),
            ([-2.2128, 2.4317], [-0.1186, -2.7269], 165),
        ] {
            let Levels { first, weight, .. } = level(x, y);
            let logarithm = first as i64 * 256 + (weight + 128) / 2;
            assert!((logarithm - expected).abs() <= 1, "{x:?}: {logarithm}");
        }
        let levels = level([100.0, 0.0], [0.0, 1.0]);
        assert_eq!([levels.first as i64, levels.weight], [2, 202]);
        // Neither gradient has an area with itself.
        assert_eq!(level([3.0, 1.0], [3.0, 1.0]), Levels::new(&mipmap, 0.0));
        assert_eq!(
            level([f32::NAN, 0.0], [0.0, 1.0]),
            Levels::new(&mipmap, 0.0)
        );
        assert_eq!(level([f32::INFINITY, 0.0], [0.0, 1.0]).first, 4);
    }

    #[test]
    fn logarithms_have_eight_fraction_bits() {
        for (number, expected) in [(1.0, 0), (2.0, 256), (3.0, 406), (5.0, 595), (0.5, -256)] {
            assert_eq!(logarithm(number), expected, "{number}");
        }
        assert!(logarithm(0.0) < -200_000);
        for number in 1..10_000 {
            let number = f64::from(number) / 100.0;
            let error = logarithm(number) as f64 - number.log2() * 256.0;
            assert!((-1.5..2.2).contains(&error), "{number}: {error}");
        }
    }

    #[test]
    fn length_adds_parts_of_the_smaller_components() {
        assert_eq!(length([-3.0, 0.0, 0.0]), 3.0);
        assert_eq!(length([1.0, -32.0, 0.0]), 32.0 + 11.0 / 32.0);
        assert_eq!(length([8.0, 32.0, -16.0]), 32.0 + 5.5 + 2.0);
    }
}
