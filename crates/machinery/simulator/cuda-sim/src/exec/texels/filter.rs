//! Texture filtering, bit-identical to that of an NVIDIA H200; its rules were derived from measurements (driver
//! 580.159.04, `scripts/textures.py`).
//!
//! Positions between texels have 8 fraction bits, rounded to nearest; normalized coordinates are first
//! truncated to 21 bits. The weights of the texels around a position are integers that add up to 256: they
//! are distributed first between levels of a mipmapped array, then in z, then in x, then in y, rounded to nearest each
//! time. The weighted sum is exact
//! and rounded once: floats to nearest, ties away from zero; normalized 8-bit and 16-bit integers to 16 bits. Integers that
//! are read as such are rounded to nearest, ties up, and those of 32 bits down. A
//! one-dimensional array is sampled as a row of a two-dimensional one, half a texel above its centre; a
//! layered one is not.

use crate::exec::image::{AddressMode, Channel, Image, Slices, Texture};
use crate::exec::ops;

/// Fraction bits of a position, and of a normalized coordinate.
const FRACTION_BITS: u32 = 8;
const NORMALIZED_BITS: u32 = 21;

/// Coordinates are clamped to this number, which is far outside every texture.
const MAX_COORDINATE: f64 = (1u64 << 40) as f64;

/// Returns the integer below a number, which is clamped to [`MAX_COORDINATE`]. `f64::floor` would be a library call on
/// x86-64 without SSE 4.1.
#[inline(always)]
fn floor(at: f64) -> i64 {
    let at = at.clamp(-MAX_COORDINATE, MAX_COORDINATE);
    // SAFETY: the number is finite, because positions replace NaN by zero, and far from the limits of `i64`.
    let integer: i64 = unsafe { at.to_int_unchecked() };
    integer - i64::from(integer as f64 > at)
}

/// Truncates a normalized coordinate to its last bit.
pub(super) fn truncate(at: f64) -> f64 {
    let scale = f64::from(1 << NORMALIZED_BITS);
    (at * scale).floor() / scale
}

/// A position in one dimension: a texel, and the weight of the next one in 256ths.
pub(super) type Position = (i64, i64);

/// Returns the position of a coordinate in one dimension.
#[inline(always)]
pub(super) fn position(texture: &Texture, dimension: usize, at: f32) -> Position {
    let at = if at.is_nan() { 0.0 } else { f64::from(at) };
    let size = texture.image.extent(dimension);
    // `twice` is the doubled position, in 256ths of a texel and half a texel back; or in whole texels.
    let (scale, back) = if texture.linear_filter {
        (2i64 << FRACTION_BITS, (1i64 << FRACTION_BITS) - 1)
    } else {
        (2, 0)
    };
    let twice = if texture.normalised {
        let cut = floor(at * f64::from(1 << NORMALIZED_BITS));
        let back = back << NORMALIZED_BITS;
        match (cut.checked_mul(size * scale)).and_then(|scaled| scaled.checked_sub(back)) {
            Some(twice) => twice >> NORMALIZED_BITS,
            None => {
                let scaled = i128::from(cut) * i128::from(size * scale);
                ((scaled - i128::from(back)) >> NORMALIZED_BITS) as i64
            }
        }
    } else {
        floor(at * scale as f64 - back as f64)
    };
    let at = twice >> 1;
    if texture.linear_filter {
        (at >> FRACTION_BITS, at & ((1 << FRACTION_BITS) - 1))
    } else {
        (at, 0)
    }
}

/// Returns true if coordinates outside select the nearest texel, so that nothing is interpolated within half
/// a texel of the edge.
#[inline(always)]
fn clamps(texture: &Texture, dimension: usize) -> bool {
    match texture.modes[dimension] {
        AddressMode::Border => false,
        AddressMode::Clamp => true,
        AddressMode::Wrap | AddressMode::Mirror => !texture.normalised,
    }
}

/// Returns the texel with an index in one dimension, or `None` outside.
#[inline(always)]
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

/// A coordinate outside a texture: its dimension, its texel, and the texels in that dimension.
pub type OutsideCoordinate = (usize, i64, i64);

/// Returns the texel around which a texture is sampled, `None` outside; and a coordinate outside the texture whose
/// address mode needs normalized coordinates, if there is one.
pub fn nearest(
    texture: &Texture,
    at: [f32; 3],
    dimensions: usize,
    slice: i64,
) -> (Option<[i64; 3]>, Option<OutsideCoordinate>) {
    let (mut nearest, mut outside) = (Some([0, 0, slice]), None);
    for (dimension, &at) in at.iter().enumerate().take(dimensions) {
        let (index, size) = (
            position(texture, dimension, at).0,
            texture.image.extent(dimension),
        );
        let mode = texture.modes[dimension];
        // Linear filtering starts half a texel before the first one.
        let first = -i64::from(texture.linear_filter);
        if mode != AddressMode::Clamp
            && clamps(texture, dimension)
            && !(first..size).contains(&index)
        {
            outside.get_or_insert((dimension, index, size));
        }
        match (&mut nearest, texel(texture, dimension, index)) {
            (Some(nearest), Some(index)) => nearest[dimension] = index,
            _ => nearest = None,
        }
    }
    (nearest, outside)
}

/// Returns the stored bits of a texel's channel.
///
/// # Safety
/// `memory` must be that of the image, and the texel inside.
pub(super) unsafe fn channel(image: &Image, memory: *const u8, at: [i64; 3], channel: u32) -> u32 {
    // SAFETY: the caller guarantees that the texel is inside.
    unsafe { channel_at(image, memory, image.offset(at), channel) }
}

/// Returns the stored bits of a channel of the texel at a byte offset.
///
/// # Safety
/// `memory` must be that of the image, and the texel inside.
unsafe fn channel_at(image: &Image, memory: *const u8, texel: u64, channel: u32) -> u32 {
    let offset = texel as usize + (channel * image.channel.bytes()) as usize;
    // SAFETY: the caller guarantees that the texel is inside; texels may be unaligned in memory that is not
    // an array.
    unsafe {
        let address = memory.add(offset);
        match image.channel.bytes() {
            1 => address.read().into(),
            2 => address.cast::<u16>().read_unaligned().into(),
            _ => address.cast::<u32>().read_unaligned(),
        }
    }
}

/// Returns the border's channel in the image's format.
fn border(texture: &Texture, channel: u32) -> u32 {
    let colour = texture.border[channel as usize];
    let part =
        |max: f32| (colour.clamp(if max < 0.0 { -1.0 } else { 0.0 }, 1.0) * max.abs()).round();
    match (texture.image.channel, texture.reads_integers) {
        (Channel::F32 | Channel::U32 | Channel::S32, _) => colour.to_bits(),
        (Channel::F16, _) => ops::half::to_f16(colour),
        (_, true) => 0,
        (Channel::U8, false) if is_srgb(texture, channel) => encoded_srgb(colour.clamp(0.0, 1.0)),
        // The alpha channel of an sRGB texture, whose ties an H200 rounds down.
        (Channel::U8, false) if texture.decodes_srgb => {
            (colour.clamp(0.0, 1.0) * 255.0 - 0.5).ceil() as u32
        }
        (Channel::U8, false) => part(255.0) as u32,
        (Channel::U16, false) => part(65535.0) as u32,
        (Channel::S8, false) => u32::from(part(-127.0) as i8 as u8),
        (Channel::S16, false) => u32::from(part(-32767.0) as i16 as u16),
    }
}

/// The sum of all weights of a fetch.
pub(super) const WHOLE: i64 = 1 << FRACTION_BITS;

/// Returns the weights of the texels around a position, indexed by z, y and x. They add up to `share`.
pub(super) fn weights([x, y, z]: [i64; 3], share: i64) -> [[[i64; 2]; 2]; 2] {
    let mut all = [[[0; 2]; 2]; 2];
    let behind = (share * z + 128) >> FRACTION_BITS;
    for (slice, weight) in [(0, share - behind), (1, behind)] {
        let right = (weight * x + 128) >> FRACTION_BITS;
        let left = weight - right;
        let below = [
            (left * y + 127) >> FRACTION_BITS,
            (right * y + 128) >> FRACTION_BITS,
        ];
        all[slice] = [[left - below[0], right - below[1]], below];
    }
    all
}

/// Samples a texture at a position: writes the bits of each channel as a register gets them to `values`. With fewer than
/// three dimensions, the position is in `slice`.
///
/// # Safety
/// `memory` must be that of the texture's image, and the slice inside.
#[inline]
pub unsafe fn at(
    texture: &Texture,
    memory: *const u8,
    at: [f32; 3],
    dimensions: usize,
    slice: i64,
    values: &mut Channels,
) {
    let image = &texture.image;
    if texture.linear_filter {
        let neighbours = Neighbours::new(texture, at, dimensions, slice, WHOLE);
        for (number, value) in (0..image.channels).zip(values) {
            // SAFETY: `memory` is that of the texture's image, as the caller guarantees.
            *value = unsafe { neighbours.weighted_sum(texture, memory, number) };
        }
        return;
    }
    let offset = offset(texture, at, dimensions, slice);
    for (number, value) in (0..image.channels).zip(values) {
        // SAFETY: `offset` returns that of a texel inside.
        *value = unfiltered(texture, number, unsafe {
            bits_at(texture, memory, offset, number)
        });
    }
}

/// Returns the byte offset of the texel at a position, or [`BORDER`].
#[inline]
fn offset(texture: &Texture, at: [f32; 3], dimensions: usize, slice: i64) -> u64 {
    let index = |axis| texel(texture, axis, position(texture, axis, at[axis]).0);
    let x = index(0);
    let y = if dimensions > 1 { index(1) } else { Some(0) };
    let z = if dimensions > 2 {
        index(2)
    } else {
        Some(slice)
    };
    match (x, y, z) {
        (Some(x), Some(y), Some(z)) => texture.image.offset([x, y, z]),
        _ => BORDER,
    }
}

/// Adds the texels of a fetch from one level to the sum over levels, with weights that add up to `share`.
///
/// # Safety
/// The requirements of [`at`].
pub unsafe fn add_level(
    texture: &Texture,
    memory: *const u8,
    at: [f32; 3],
    dimensions: usize,
    slice: i64,
    share: i64,
    terms: &mut Terms,
) {
    let mut add = |weight: i64, offset: u64| {
        terms.add(texture, weight, |number| {
            // SAFETY: the caller guarantees the image's memory, and the texel is inside, because `texel` returned its
            // index in each dimension.
            unsafe { bits_at(texture, memory, offset, number) }
        });
    };
    if !texture.linear_filter {
        return add(share, offset(texture, at, dimensions, slice));
    }
    let neighbours = Neighbours::new(texture, at, dimensions, slice, share);
    let weighted = neighbours.weights.iter().zip(&neighbours.offsets);
    for (&weight, &offset) in weighted.take(neighbours.count) {
        add(weight, offset);
    }
}

/// The texels of a fetch from several levels or samples, with their weights.
pub struct Terms {
    /// The weights and the stored bits, by channel.
    channels: [Vec<(i64, u32)>; 4],
    /// The base-2 logarithm of the sum of the weights.
    weight_bits: u32,
}

impl Terms {
    /// Returns no texels, whose weights will add up to [`WHOLE`].
    pub fn new() -> Terms {
        Terms {
            channels: Default::default(),
            weight_bits: FRACTION_BITS,
        }
    }

    /// Removes all texels. The weights of the next ones will add up to `1 << weight_bits`.
    pub(super) fn restart(&mut self, weight_bits: u32) {
        for channel in &mut self.channels {
            channel.clear();
        }
        self.weight_bits = weight_bits;
    }

    /// Adds a texel, of which `bits` returns a channel.
    pub(super) fn add(&mut self, texture: &Texture, weight: i64, bits: impl Fn(u32) -> u32) {
        for (number, terms) in (0..texture.image.channels).zip(&mut self.channels) {
            terms.push((weight, bits(number)));
        }
    }

    /// Returns the weighted sums as registers get them.
    pub fn sums(&self, texture: &Texture) -> Channels {
        let mut values = [0; 4];
        let channels = values.iter_mut().zip(&self.channels);
        for (number, (value, terms)) in (0..texture.image.channels).zip(channels) {
            *value = weighted_sum(texture, number, terms, self.weight_bits);
        }
        values
    }
}

/// The channels of a texel, as registers get them: zero for channels that the texture does not have.
pub type Channels = [u32; 4];

/// The offset of a texel outside, whose value is the border's.
const BORDER: u64 = u64::MAX;

/// Returns the bits of a channel of the texel at a byte offset, or of the border.
///
/// # Safety
/// `memory` must be that of the texture's image, and the texel inside.
#[inline]
unsafe fn bits_at(texture: &Texture, memory: *const u8, offset: u64, number: u32) -> u32 {
    match offset {
        BORDER => border(texture, number),
        // SAFETY: the caller guarantees that the texel is inside.
        offset => unsafe { channel_at(&texture.image, memory, offset, number) },
    }
}

/// The texels between which a position lies, with linear filtering.
struct Neighbours {
    /// The weight of each texel in 256ths.
    weights: [i64; 8],
    /// The byte offset of each texel, or [`BORDER`].
    offsets: [u64; 8],
    count: usize,
}

impl Neighbours {
    /// Finds the texels with nonzero weights, which add up to `share`. With fewer than three dimensions, the position is
    /// in `slice`.
    #[inline]
    fn new(
        texture: &Texture,
        at: [f32; 3],
        dimensions: usize,
        slice: i64,
        share: i64,
    ) -> Neighbours {
        let image = &texture.image;
        let mut parts = [0; 3];
        // The indices of the texels on both sides in each dimension, or -1 outside.
        let mut sides = [[0; 2], [0; 2], [slice; 2]];
        for axis in 0..3 {
            let (first, part) = if axis < dimensions {
                position(texture, axis, at[axis])
            } else if axis == 1 && image.slices != Slices::Layers {
                // A row of a two-dimensional texture.
                let plain = Texture {
                    normalised: false,
                    ..*texture
                };
                position(&plain, 1, 0.0)
            } else {
                continue;
            };
            let last = image.extent(axis) - 1;
            if clamps(texture, axis) && !(0..last).contains(&first) {
                sides[axis] = [first.clamp(0, last); 2];
                continue;
            }
            parts[axis] = part;
            sides[axis] = [first, first + 1].map(|index| texel(texture, axis, index).unwrap_or(-1));
        }
        let weights = weights(parts, share);
        let mut neighbours = Neighbours {
            weights: [0; 8],
            offsets: [BORDER; 8],
            count: 0,
        };
        for (z, slice) in weights.iter().enumerate() {
            for (y, row) in slice.iter().enumerate() {
                for (x, &weight) in row.iter().enumerate() {
                    if weight == 0 {
                        continue;
                    }
                    let (count, at) = (neighbours.count, [sides[0][x], sides[1][y], sides[2][z]]);
                    neighbours.weights[count] = weight;
                    if at[0] | at[1] | at[2] >= 0 {
                        neighbours.offsets[count] = image.offset(at);
                    }
                    neighbours.count = count + 1;
                }
            }
        }
        neighbours
    }

    /// Returns the weighted sum of one channel.
    ///
    /// # Safety
    /// `memory` must be that of the texture's image.
    #[inline]
    unsafe fn weighted_sum(&self, texture: &Texture, memory: *const u8, number: u32) -> u32 {
        let mut terms = [(0, 0); 8];
        for (index, term) in terms.iter_mut().enumerate().take(self.count) {
            // SAFETY: the texel is inside, because `texel` returned its index in each dimension.
            let bits = unsafe { bits_at(texture, memory, self.offsets[index], number) };
            *term = (self.weights[index], bits);
        }
        weighted_sum(texture, number, &terms[..self.count], FRACTION_BITS)
    }
}

/// Returns one channel of each of the four texels around a position that linear filtering would interpolate:
/// the lower left and right, then the upper right and left.
///
/// # Safety
/// The requirements of [`at`].
pub unsafe fn gather(texture: &Texture, memory: *const u8, at: [f32; 2], number: u32) -> Channels {
    if number >= texture.image.channels {
        return [0; 4];
    }
    let linear = Texture {
        linear_filter: true,
        ..*texture
    };
    let (x, y) = (position(&linear, 0, at[0]).0, position(&linear, 1, at[1]).0);
    [(x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y)].map(|(x, y)| {
        let bits = match (texel(texture, 0, x), texel(texture, 1, y)) {
            // SAFETY: the texel is inside, because `texel` returned its index in each dimension.
            (Some(x), Some(y)) => unsafe { channel(&texture.image, memory, [x, y, 0], number) },
            _ => border(texture, number),
        };
        unfiltered(texture, number, bits)
    })
}

/// Returns the texel that integer coordinates select, or `None` outside. The address mode applies if `is_addressed`,
/// except to linear memory.
pub fn indexed(texture: &Texture, at: [i32; 3], is_addressed: bool) -> Option<[i64; 3]> {
    let mut selected = at.map(i64::from);
    for (dimension, index) in selected.iter_mut().enumerate() {
        let size = texture.image.extent(dimension);
        *index = if is_addressed && !texture.image.linear {
            texel(texture, dimension, *index)?
        } else {
            (0..size).contains(index).then_some(*index)?
        };
    }
    Some(selected)
}

/// Fetches a texel, or zeros for `None`.
///
/// # Safety
/// The requirements of [`at`], and the texel must be inside.
pub unsafe fn fetch(
    texture: &Texture,
    memory: *const u8,
    at: Option<[i64; 3]>,
    values: &mut Channels,
) {
    let image = &texture.image;
    let Some(at) = at else {
        return;
    };
    for (number, value) in (0..image.channels).zip(values) {
        // SAFETY: the caller guarantees that the texel is inside.
        *value = unfiltered(texture, number, unsafe {
            channel(image, memory, at, number)
        });
    }
}

/// Returns a texel's channel as a register gets it.
#[inline]
fn unfiltered(texture: &Texture, number: u32, bits: u32) -> u32 {
    match texture.image.channel {
        // A NaN becomes a quiet one, and -0 becomes 0.
        Channel::F32 => (f32::from_bits(bits) + 0.0).to_bits(),
        _ => weighted_sum(texture, number, &[(WHOLE, bits)], FRACTION_BITS),
    }
}

/// Returns the weighted sum of one channel of texels. The weights add up to `1 << weight_bits`.
#[inline]
pub(super) fn weighted_sum(
    texture: &Texture,
    number: u32,
    terms: &[(i64, u32)],
    weight_bits: u32,
) -> u32 {
    /// Returns the sum of the products.
    fn sum(terms: &[(i64, u32)], value: impl Fn(u32) -> i64) -> i64 {
        let products = terms.iter().map(|&(weight, bits)| weight * value(bits));
        products.sum()
    }
    /// Returns the sum, rounded to nearest.
    fn nearest(terms: &[(i64, u32)], weight_bits: u32, value: impl Fn(u32) -> i64) -> i64 {
        (sum(terms, value) + (1 << (weight_bits - 1))) >> weight_bits
    }
    let only = terms.first().map_or(0, |&(_, bits)| bits);
    let filters_srgb = texture.decodes_srgb && texture.linear_filter;
    match (texture.image.channel, texture.reads_integers) {
        (Channel::U32, _) => (sum(terms, i64::from) >> weight_bits) as u32,
        (Channel::S32, _) => {
            (sum(terms, |bits| i64::from(bits.cast_signed())) >> weight_bits) as u32
        }
        (Channel::U8 | Channel::U16, true) => nearest(terms, weight_bits, i64::from) as u32,
        (Channel::S8, true) => {
            nearest(terms, weight_bits, |bits| i64::from(bits as u8 as i8)) as u32
        }
        (Channel::S16, true) => {
            nearest(terms, weight_bits, |bits| i64::from(bits as u16 as i16)) as u32
        }
        (Channel::U8, false) if is_srgb(texture, number) => {
            float(terms, weight_bits, linear_srgb(terms), 10, -14).to_bits()
        }
        (Channel::U8, false) => part(
            nearest(terms, weight_bits, |bits| i64::from(bits) * 257),
            65535,
        ),
        (Channel::U16, false) => part(nearest(terms, weight_bits, i64::from), 65535),
        (Channel::S16, false) => {
            let sum = nearest(terms, weight_bits, |bits| signed(bits as u16 as i16, 32767));
            part(sum, 32767)
        }
        (Channel::S8, false) if terms.len() == 1 && !filters_srgb => {
            part(signed(only as u8 as i8, 127), 127)
        }
        (Channel::S8, false) => {
            // Filtered as 16 bits, which represent more values than 8.
            let value = |&(weight, bits): &(i64, u32)| weight * i64::from(bits as u8 as i8);
            let sum = terms.iter().map(value).sum::<i64>() * 32767;
            let nearest = (2 * sum + (127 << weight_bits)).div_euclid(2 * (127 << weight_bits));
            part(nearest.max(-32767), 32767)
        }
        (Channel::F16, _) => float(terms, weight_bits, ops::half::f16, 10, -14).to_bits(),
        (Channel::F32, _) => float(terms, weight_bits, f32::from_bits, 23, -126).to_bits(),
    }
}

/// Returns a signed number, with the minimum replaced by the next higher number.
fn signed(value: impl Into<i64>, max: i64) -> i64 {
    value.into().max(-max)
}

/// Returns a fraction of the maximum, as a float's bits.
fn part(value: i64, max: i64) -> u32 {
    (value as f32 / max as f32).to_bits()
}

/// Returns the sum of floats whose weights add up to `1 << weight_bits`, rounded to `fraction` fraction bits, with
/// `min_exponent` as the minimum normal exponent.
fn float(
    terms: &[(i64, u32)],
    weight_bits: u32,
    value: impl Fn(u32) -> f32,
    fraction: u32,
    min_exponent: i32,
) -> f32 {
    exact_sum(terms, weight_bits, &value, fraction, min_exponent)
        .unwrap_or_else(|| general_sum(terms, weight_bits, &value, fraction, min_exponent))
}

/// Sums floats as [`float`] does, whatever their exponents.
fn general_sum(
    terms: &[(i64, u32)],
    weight_bits: u32,
    value: impl Fn(u32) -> f32,
    fraction: u32,
    min_exponent: i32,
) -> f32 {
    /// Number of bits from the unit of the largest number down to the last bit that is magnitude.
    const KEPT_BITS: i32 = 80;
    let values = || terms.iter().map(|&(weight, bits)| (weight, value(bits)));
    if !values().all(|(_, value)| value.is_finite()) {
        let parts =
            values().map(|(weight, value)| weight as f32 / (1 << weight_bits) as f32 * value);
        return parts.sum();
    }
    // The products as integers, and the exponents of their units.
    let scaled = || {
        values().map(|(weight, value)| {
            let bits = value.to_bits();
            let field = (bits >> 23 & 0xff) as i32;
            let digits = i128::from(bits & 0x7f_ffff | u32::from(field > 0) << 23);
            let product = digits * i128::from(weight);
            let unit = field.max(1) - 150 - weight_bits as i32;
            (if value < 0.0 { -product } else { product }, unit)
        })
    };
    let units = scaled().filter(|&(product, _)| product != 0);
    let Some(largest) = units.map(|(_, unit)| unit).max() else {
        return 0.0;
    };
    let unit = largest - KEPT_BITS;
    let sum: i128 = scaled()
        .map(|(product, at)| match at - unit {
            by @ 0.. => product << by,
            by => product >> (-by).min(127),
        })
        .sum();
    let Some(top) = sum.unsigned_abs().checked_ilog2() else {
        return 0.0;
    };
    let last = (top as i32 + unit).max(min_exponent) - fraction as i32;
    let magnitude = match last - unit {
        by @ 1..=127 => (sum.unsigned_abs() + (1 << (by - 1))) >> by << by,
        128.. => 0,
        _ => sum.unsigned_abs(),
    };
    // At max 24 bits are left, so both factors and the product are exact.
    let value = magnitude as f64 * 2f64.powi(unit);
    (if sum < 0 { -value } else { value }) as f32
}

/// Sums floats as [`float`] does, if a double holds the sum exactly and its rounding is no tie.
fn exact_sum(
    terms: &[(i64, u32)],
    weight_bits: u32,
    value: impl Fn(u32) -> f32,
    fraction: u32,
    min_exponent: i32,
) -> Option<f32> {
    /// Bits of a double's fraction.
    const DOUBLE_FRACTION: u32 = 52;
    // A product has `24 + weight_bits` bits and the sum has more, for the number of terms; the rest may be spent on exponents.
    let carries = usize::BITS - terms.len().leading_zeros();
    let max_spread = DOUBLE_FRACTION - 24 - weight_bits - carries;
    let (mut sum, mut least, mut most) = (0.0, u32::MAX, 0);
    for &(weight, bits) in terms {
        let value = value(bits);
        let exponent = value.to_bits() >> 23 & 0xff;
        if exponent == 0xff {
            return None;
        }
        if value != 0.0 {
            (least, most) = (least.min(exponent), most.max(exponent));
        }
        sum += weight as f64 * f64::from(value);
    }
    let is_exact = most.saturating_sub(least) <= max_spread;
    if sum == 0.0 && is_exact {
        return Some(0.0);
    }
    let sum = sum / (1u64 << weight_bits) as f64;
    let dropped = DOUBLE_FRACTION - fraction;
    let rest = sum.to_bits() & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    if !is_exact || rest == half || sum.abs() < 2f64.powi(min_exponent) {
        return None;
    }
    let rounded = if rest > half {
        sum.to_bits() + (1 << dropped)
    } else {
        sum.to_bits()
    };
    Some(f64::from_bits(rounded & !((1 << dropped) - 1)) as f32)
}

/// The linear values of 8-bit values in 65536ths. They have 7 significant bits and differ from the standard's by up to
/// 0.6 %.
#[rustfmt::skip]
const LINEAR: [u32; 256] = [
    0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 240, 264, 288, 312, 340, 368, 396, 428,
    460, 492, 524, 560, 600, 636, 676, 720, 760, 804, 852, 896, 944, 1000, 1048, 1104, 1160, 1216,
    1272, 1328, 1392, 1456, 1520, 1584, 1648, 1720, 1792, 1864, 1936, 2016, 2096, 2176, 2256, 2336,
    2416, 2496, 2592, 2688, 2768, 2864, 2960, 3056, 3152, 3264, 3360, 3456, 3584, 3680, 3776, 3904,
    4000, 4128, 4256, 4352, 4480, 4608, 4736, 4864, 4992, 5120, 5248, 5408, 5536, 5664, 5824, 5952,
    6112, 6240, 6400, 6560, 6688, 6848, 7008, 7168, 7328, 7488, 7680, 7808, 8000, 8192, 8320, 8512,
    8704, 8896, 9088, 9280, 9472, 9664, 9856, 10048, 10240, 10432, 10624, 10816, 11008, 11264,
    11456, 11648, 11904, 12096, 12288, 12544, 12736, 12992, 13184, 13440, 13696, 13888, 14144,
    14400, 14656, 14848, 15104, 15360, 15616, 15872, 16128, 16384, 16640, 16896, 17152, 17408,
    17664, 18048, 18304, 18560, 18816, 19072, 19456, 19712, 19968, 20224, 20608, 20864, 21120,
    21504, 21760, 22144, 22400, 22784, 23040, 23296, 23680, 24064, 24320, 24704, 24960, 25344,
    25600, 25984, 26368, 26752, 27008, 27392, 27776, 28032, 28416, 28800, 29184, 29568, 29952,
    30336, 30720, 30976, 31488, 31744, 32256, 32512, 33024, 33280, 33792, 34048, 34560, 35072,
    35328, 35840, 36096, 36608, 37120, 37376, 37888, 38400, 38656, 39168, 39680, 39936, 40448,
    40960, 41216, 41728, 42240, 42752, 43264, 43520, 44032, 44544, 45056, 45568, 45824, 46336,
    46848, 47360, 47872, 48384, 48896, 49408, 49920, 50432, 50944, 51456, 51968, 52480, 52992,
    53504, 54016, 54528, 55040, 55552, 56064, 56576, 57088, 57600, 58112, 58624, 59392, 59904,
    60416, 60928, 61440, 61952, 62464, 62976, 64000, 64512, 65024, 65536,
];

/// The units of the linear values, as powers of two, by the upper five bits of the 8-bit values.
const UNITS: [u8; 32] = [
    0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 9,
];

/// Returns true if a channel of a texture is in sRGB. The last of several channels is alpha, which is linear.
fn is_srgb(texture: &Texture, number: u32) -> bool {
    let colours = (texture.image.channels - 1).max(1);
    let is_normalized = texture.image.channel == Channel::U8 && !texture.reads_integers;
    texture.decodes_srgb && is_normalized && number < colours
}

/// Returns the conversion of texels that are filtered together: their linear values lose the bits below the unit of the
/// largest one.
fn linear_srgb(texels: &[(i64, u32)]) -> impl Fn(u32) -> f32 {
    let unit = |&(_, value): &(i64, u32)| UNITS[(value >> 3 & 31) as usize];
    let unit = texels.iter().map(unit).max().unwrap_or(0);
    move |value| (LINEAR[(value & 0xff) as usize] >> unit << unit) as f32 / 65536.0
}

/// Returns the 8-bit value nearest to a linear value between 0 and 1.
fn encoded_srgb(linear: f32) -> u32 {
    let part = match linear {
        ..=0.0031308 => 12.92 * linear,
        _ => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    };
    (255.0 * part).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact sum and the general one agree on sums near ties, zeros, small and large numbers.
    #[test]
    fn exact_sums_equal_general_sums() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        let mut exact_count = 0;
        for round in 0..200_000 {
            let exponents = [4, 30, 254][round % 3];
            let mut rest = 256;
            let mut terms = [(0, 0); 8];
            for (number, term) in terms.iter_mut().enumerate() {
                let weight = if number == 7 {
                    rest
                } else {
                    i64::from(random()) % (rest + 1)
                };
                rest -= weight;
                // Few bits make ties and cancelled sums likely.
                let digits = random() & [0x7f_ffff, 0x3, 0x60_0001, 0][round / 3 % 4];
                let field = 127 - exponents / 2 + random() % exponents.max(1);
                let sign = random() & 1;
                *term = (weight, sign << 31 | (field & 0xff) << 23 | digits);
            }
            for (fraction, min_exponent) in [(23, -126), (10, -14)] {
                let exact = exact_sum(&terms, 8, f32::from_bits, fraction, min_exponent);
                let general = general_sum(&terms, 8, f32::from_bits, fraction, min_exponent);
                exact_count += usize::from(exact.is_some());
                if let Some(exact) = exact {
                    assert_eq!(exact.to_bits(), general.to_bits(), "{terms:x?}");
                }
            }
        }
        assert!(exact_count > 100_000, "{exact_count}");
    }

    #[test]
    fn weights_add_up_to_256() {
        for x in (0..256).step_by(5) {
            for y in (0..256).step_by(3) {
                for z in [0, 1, 77, 128, 255] {
                    for share in [0, 1, 100, 255, WHOLE] {
                        let all = weights([x, y, z], share);
                        let flat = all.iter().flatten().flatten();
                        assert_eq!(flat.clone().sum::<i64>(), share);
                        assert!(flat.clone().all(|weight| (0..=share).contains(weight)));
                    }
                }
            }
        }
    }

    #[test]
    fn ties_are_rounded_away_from_zero() {
        let sum = |terms: &[(i64, f32)]| {
            let terms: Vec<_> = terms.iter().map(|&(w, v)| (w, v.to_bits())).collect();
            float(&terms, 8, f32::from_bits, 23, -126)
        };
        let next = f32::from_bits(1.0f32.to_bits() + 1);
        assert_eq!(sum(&[(128, 1.0), (128, next)]), next);
        assert_eq!(sum(&[(128, -1.0), (128, -next)]), -next);
        assert_eq!(sum(&[(64, 3.0), (192, -1.0)]), 0.0);
        assert_eq!(sum(&[(256, 1e-40)]), 1e-40);
        assert_eq!(
            sum(&[(255, f32::MAX), (1, 1e-30)]),
            f32::MAX / 256.0 * 255.0
        );
        assert!(sum(&[(1, f32::INFINITY), (255, 1.0)]).is_infinite());
    }

    #[test]
    fn srgb_values_are_near_those_of_the_standard() {
        for value in 0..=255 {
            let part = f64::from(value) / 255.0;
            let exact = match part {
                ..=0.04045 => part / 12.92,
                _ => ((part + 0.055) / 1.055).powf(2.4),
            };
            let linear = linear_srgb(&[(256, value)])(value);
            let error = (f64::from(linear) - exact).abs();
            assert!(error <= 0.006 * exact, "{value}: {error}");
            assert_eq!(encoded_srgb(exact as f32), value);
        }
        assert_eq!(linear_srgb(&[(256, 255)])(255), 1.0);
    }

    #[test]
    fn small_srgb_values_lose_bits_next_to_large_ones() {
        let linear = linear_srgb(&[(128, 1), (128, 66)]);
        assert_eq!(linear(66), 3584.0 / 65536.0);
        assert_eq!(linear(1), 0.0);
        assert_eq!(linear(31), 928.0 / 65536.0 - 32.0 / 65536.0);
    }
}
