//! What a texture unit makes of a place in a texture, as that of an NVIDIA H200 does it: found from what one
//! answered (driver 580.159.04, `scripts/textures.py`), and equal to it bit for bit.
//!
//! Places between texels have 8 bits of fraction, rounded to the nearest; coordinates from 0 to 1 are cut off
//! at 21 bits first. The weights of the texels around a place are whole numbers that add up to 256: all of
//! them are shared out first in z, then in x, then in y, rounded to the nearest each time. The sum is exact,
//! and rounded once: that of floats to the nearest, where there are two away from zero; that of 8 and 16 bits
//! to 16 bits. An array of one dimension is read as a row of two, half a texel above its middle; one of layers is not.

use crate::exec::image::{AddressMode, Channel, Image, Slices, Texture};

/// Bits of fraction of a place, of a coordinate from 0 to 1.
const FRACTION: u32 = 8;
const NORMALISED: u32 = 21;

/// Beyond so many texels a place is as far as can be.
const FAR: f64 = (1u64 << 40) as f64;

/// A coordinate from 0 to 1, cut off at its last bit.
pub(super) fn cut(at: f64) -> f64 {
    let scale = f64::from(1 << NORMALISED);
    (at * scale).floor() / scale
}

/// A place along one dimension: a texel, and the part of 256 that the next one counts.
pub(super) type Between = (i64, i64);

/// The place that a coordinate means along one dimension.
pub(super) fn between(texture: &Texture, dimension: usize, at: f32) -> Between {
    let at = if at.is_nan() { 0.0 } else { f64::from(at) };
    let size = texture.image.extent(dimension);
    // Twice the place, in 256ths of a texel, and half a texel back; or in whole texels.
    let (scale, back) = match texture.linear_filter {
        true => (2i64 << FRACTION, (1i64 << FRACTION) - 1),
        false => (2, 0),
    };
    let twice = match texture.normalised {
        true => {
            let cut = (at * f64::from(1 << NORMALISED)).floor().clamp(-FAR, FAR) as i128;
            let back = i128::from(back) << NORMALISED;
            ((cut * i128::from(size * scale) - back) >> NORMALISED) as i64
        }
        false => (at.clamp(-FAR, FAR) * scale as f64 - back as f64).floor() as i64,
    };
    let place = twice >> 1;
    match texture.linear_filter {
        true => (place >> FRACTION, place & ((1 << FRACTION) - 1)),
        false => (place, 0),
    }
}

/// Whether what lies outside is the nearest texel, and half a texel from the edge nothing is mixed any more.
fn clamps(texture: &Texture, dimension: usize) -> bool {
    match texture.modes[dimension] {
        AddressMode::Border => false,
        AddressMode::Clamp => true,
        AddressMode::Wrap | AddressMode::Mirror => !texture.normalised,
    }
}

/// The texel that a number means along one dimension; none outside.
fn texel(texture: &Texture, dimension: usize, at: i64) -> Option<i64> {
    let size = texture.image.extent(dimension);
    if clamps(texture, dimension) {
        return Some(at.clamp(0, size - 1));
    }
    match texture.modes[dimension] {
        AddressMode::Border => (0..size).contains(&at).then_some(at),
        AddressMode::Mirror => {
            let at = at.rem_euclid(2 * size);
            Some(at.min(2 * size - 1 - at))
        }
        _ => Some(at.rem_euclid(size)),
    }
}

/// A texel's channel as it is kept: its bits.
///
/// # Safety
/// `memory` is that of the image, and the texel is inside.
pub(super) unsafe fn channel(image: &Image, memory: *const u8, at: [i64; 3], channel: u32) -> u32 {
    let offset = image.offset(at) as usize + (channel * image.channel.bytes()) as usize;
    // SAFETY: the caller's promise; texels may lie askew in memory that is not an array's own.
    unsafe {
        let place = memory.add(offset);
        match image.channel.bytes() {
            1 => place.read().into(),
            2 => place.cast::<u16>().read_unaligned().into(),
            _ => place.cast::<u32>().read_unaligned(),
        }
    }
}

/// The border's channel as a texel's would be kept.
fn border(texture: &Texture, channel: u32) -> u32 {
    let colour = texture.border[channel as usize];
    let part =
        |most: f32| (colour.clamp(if most < 0.0 { -1.0 } else { 0.0 }, 1.0) * most.abs()).round();
    match (texture.image.channel, texture.as_whole) {
        (Channel::F32 | Channel::U32 | Channel::S32, _) => colour.to_bits(),
        (Channel::F16, _) => half::f16::from_f32(colour).to_bits().into(),
        (_, true) => 0,
        (Channel::U8, false) => part(255.0) as u32,
        (Channel::U16, false) => part(65535.0) as u32,
        (Channel::S8, false) => u32::from(part(-127.0) as i8 as u8),
        (Channel::S16, false) => u32::from(part(-32767.0) as i16 as u16),
    }
}

/// How much each of the texels around a place counts: by z, y and x.
pub(super) fn weights([x, y, z]: [i64; 3]) -> [[[i64; 2]; 2]; 2] {
    let mut all = [[[0; 2]; 2]; 2];
    for (slice, weight) in [(0, 256 - z), (1, z)] {
        let right = (weight * x + 128) >> FRACTION;
        let left = weight - right;
        let below = [(left * y + 127) >> FRACTION, (right * y + 128) >> FRACTION];
        all[slice] = [[left - below[0], right - below[1]], below];
    }
    all
}

/// What a texture has at a place, channel by channel, as the bits that a register gets. Channels that it
/// does not have are zero. Where there are less than three dimensions, the place is in a slice.
///
/// # Safety
/// `memory` is that of the texture's image, and the slice is inside.
pub unsafe fn at(
    texture: &Texture,
    memory: *const u8,
    place: [f32; 3],
    dimensions: usize,
    slice: i64,
) -> [u32; 4] {
    let mut around = [(0, 0), (0, 0), (slice, 0)];
    for (dimension, around) in around.iter_mut().enumerate() {
        if dimension < dimensions {
            *around = between(texture, dimension, place[dimension]);
        } else if dimension == 1 && texture.image.slices != Slices::Layers {
            // A row of two dimensions.
            let plain = Texture {
                normalised: false,
                ..*texture
            };
            *around = between(&plain, 1, 0.0);
        }
        let last = texture.image.extent(dimension) - 1;
        if clamps(texture, dimension) && !(0..last).contains(&around.0) {
            *around = (around.0.clamp(0, last), 0);
        }
    }
    let weights = weights(around.map(|(_, part)| part));
    let image = &texture.image;
    let mut found = [0; 4];
    for (number, found) in (0..image.channels).zip(&mut found) {
        let mut terms = [(0, 0); 8];
        let mut count = 0;
        for (z, slice) in weights.iter().enumerate() {
            for (y, row) in slice.iter().enumerate() {
                for (x, &weight) in row.iter().enumerate() {
                    if weight == 0 {
                        continue;
                    }
                    let number_of = |dimension: usize, one: usize| {
                        texel(texture, dimension, around[dimension].0 + one as i64)
                    };
                    let inside = match (number_of(0, x), number_of(1, y), number_of(2, z)) {
                        (Some(x), Some(y), Some(z)) => Some([x, y, z]),
                        _ => None,
                    };
                    let bits = match inside {
                        // SAFETY: the texel is inside, as was just seen.
                        Some(at) => unsafe { channel(image, memory, at, number) },
                        None => border(texture, number),
                    };
                    terms[count] = (weight, bits);
                    count += 1;
                }
            }
        }
        *found = mixed(texture, &terms[..count]);
    }
    found
}

/// The four texels around a place whose mixture a linear filter would be, one channel of each: those below,
/// left and right, and then those above, right and left.
///
/// # Safety
/// As for [`at`].
pub unsafe fn gathered(
    texture: &Texture,
    memory: *const u8,
    place: [f32; 2],
    number: u32,
) -> [u32; 4] {
    if number >= texture.image.channels {
        return [0; 4];
    }
    let linear = Texture {
        linear_filter: true,
        ..*texture
    };
    let (x, y) = (
        between(&linear, 0, place[0]).0,
        between(&linear, 1, place[1]).0,
    );
    [(x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y)].map(|(x, y)| {
        let bits = match (texel(texture, 0, x), texel(texture, 1, y)) {
            // SAFETY: the texel is inside, as was just seen.
            (Some(x), Some(y)) => unsafe { channel(&texture.image, memory, [x, y, 0], number) },
            _ => border(texture, number),
        };
        mixed(texture, &[(256, bits)])
    })
}

/// What a texture has at texels by their numbers: nothing outside.
///
/// # Safety
/// As for [`at`].
pub unsafe fn numbered(texture: &Texture, memory: *const u8, place: [i32; 3]) -> [u32; 4] {
    let image = &texture.image;
    let at = place.map(i64::from);
    if (0..3).any(|dimension| !(0..image.extent(dimension)).contains(&at[dimension])) {
        return [0; 4];
    }
    let mut found = [0; 4];
    for (number, found) in (0..image.channels).zip(&mut found) {
        // SAFETY: the texel is inside, as was just seen.
        *found = mixed(
            texture,
            &[(256, unsafe { channel(image, memory, at, number) })],
        );
    }
    found
}

/// Texels' channels, each counted by its weight; the weights add up to 256.
pub(super) fn mixed(texture: &Texture, terms: &[(i64, u32)]) -> u32 {
    let only = terms.first().map_or(0, |&(_, bits)| bits);
    let sum = |value: &dyn Fn(u32) -> i64| -> i64 {
        terms
            .iter()
            .map(|&(weight, bits)| weight * value(bits))
            .sum()
    };
    let nearest = |sum: i64| (sum + 128) >> FRACTION;
    match (texture.image.channel, texture.as_whole) {
        (Channel::U32 | Channel::S32, _) | (Channel::U8 | Channel::U16, true) => only,
        (Channel::S8, true) => only as u8 as i8 as i32 as u32,
        (Channel::S16, true) => only as u16 as i16 as i32 as u32,
        (Channel::U8, false) => part(nearest(sum(&|bits| i64::from(bits) * 257)), 65535),
        (Channel::U16, false) => part(nearest(sum(&|bits| bits.into())), 65535),
        (Channel::S16, false) => part(
            nearest(sum(&|bits| signed(bits as u16 as i16, 32767))),
            32767,
        ),
        (Channel::S8, false) if terms.len() == 1 => part(signed(only as u8 as i8, 127), 127),
        (Channel::S8, false) => {
            // As 16 bits, of which a texel has more than one of 8.
            let sum = sum(&|bits| (bits as u8 as i8).into()) * 32767;
            let nearest = (2 * sum + (127 << FRACTION)).div_euclid(2 * (127 << FRACTION));
            part(nearest.max(-32767), 32767)
        }
        (Channel::F16, _) => {
            let value = |bits: u32| half::f16::from_bits(bits as u16).to_f32();
            float(terms, value, 10, -14).to_bits()
        }
        (Channel::F32, _) => float(terms, f32::from_bits, 23, -126).to_bits(),
    }
}

/// A signed number, of which the least is as the one above it.
fn signed(value: impl Into<i64>, most: i64) -> i64 {
    value.into().max(-most)
}

/// A part of the most there is, as a float's bits.
fn part(value: i64, most: i64) -> u32 {
    (value as f32 / most as f32).to_bits()
}

/// The sum of floats, rounded to so many bits of fraction, and not below the least normal exponent.
fn float(terms: &[(i64, u32)], value: impl Fn(u32) -> f32, fraction: u32, least: i32) -> f32 {
    /// Bits between the largest number and the last that counts.
    const CACHE: i32 = 80;
    let plain = || -> f32 {
        let parts = terms
            .iter()
            .map(|&(weight, bits)| weight as f32 / 256.0 * value(bits));
        parts.sum()
    };
    let mut taken = [(0i128, 0i32); 8];
    let mut largest = i32::MIN;
    for (taken, &(weight, bits)) in taken.iter_mut().zip(terms) {
        let value = value(bits);
        if !value.is_finite() {
            return plain();
        }
        let bits = value.to_bits();
        let field = (bits >> 23 & 0xff) as i32;
        let digits = i128::from(bits & 0x7f_ffff | u32::from(field > 0) << 23) * i128::from(weight);
        let unit = field.max(1) - 150 - FRACTION as i32;
        if digits != 0 {
            largest = largest.max(unit);
        }
        *taken = (if value < 0.0 { -digits } else { digits }, unit);
    }
    if largest == i32::MIN {
        return 0.0;
    }
    let unit = largest - CACHE;
    let sum: i128 = taken
        .iter()
        .map(|&(digits, at)| match at - unit {
            by @ 0.. => digits << by,
            by => digits >> (-by).min(127),
        })
        .sum();
    let Some(top) = sum.unsigned_abs().checked_ilog2() else {
        return 0.0;
    };
    let last = (top as i32 + unit).max(least) - fraction as i32;
    let kept = match last - unit {
        by @ 1..=127 => (sum.unsigned_abs() + (1 << (by - 1))) >> by << by,
        128.. => 0,
        _ => sum.unsigned_abs(),
    };
    // No more than 24 bits are left, so that both factors and the product are exact.
    let size = kept as f64 * 2f64.powi(unit);
    (if sum < 0 { -size } else { size }) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up() {
        for x in (0..256).step_by(5) {
            for y in (0..256).step_by(3) {
                for z in [0, 1, 77, 128, 255] {
                    let all = weights([x, y, z]);
                    let flat = all.iter().flatten().flatten();
                    assert_eq!(flat.clone().sum::<i64>(), 256);
                    assert!(flat.clone().all(|weight| (0..=256).contains(weight)));
                }
            }
        }
    }

    #[test]
    fn sums_are_rounded_away_from_zero() {
        let of = |terms: &[(i64, f32)]| {
            let terms: Vec<_> = terms.iter().map(|&(w, v)| (w, v.to_bits())).collect();
            float(&terms, f32::from_bits, 23, -126)
        };
        let next = f32::from_bits(1.0f32.to_bits() + 1);
        assert_eq!(of(&[(128, 1.0), (128, next)]), next);
        assert_eq!(of(&[(128, -1.0), (128, -next)]), -next);
        assert_eq!(of(&[(64, 3.0), (192, -1.0)]), 0.0);
        assert_eq!(of(&[(256, 1e-40)]), 1e-40);
        assert_eq!(of(&[(255, f32::MAX), (1, 1e-30)]), f32::MAX / 256.0 * 255.0);
        assert!(of(&[(1, f32::INFINITY), (255, 1.0)]).is_infinite());
    }
}
