//! Mipmapped textures: the level of detail of a fetch, and the levels and samples from which it is read.
//!
//! The level of detail is the operand of `tex.level`, or the base-2 logarithm of the longer gradient of `tex.grad` in
//! texels of the first level, to which the bias of the texture is added; or 0 for `tex` without either and `tex.base`. It
//! is clamped to the range of the texture, of which the lower end takes precedence, truncated to 8 fraction bits, and
//! clamped to the levels that exist. The filter between levels selects the nearest level, or interpolates between the
//! two levels around. The texels of both are added in one sum (see [`super::filter`]), whose weights are distributed
//! between the levels first. An integer level is not clamped: a fetch from one that does not exist returns zeros. The
//! address mode applies to its integer coordinates.
//!
//! Anisotropic filtering of two-dimensional textures divides the length of the longer gradient by its ratio to the
//! shorter one, and takes samples along the longer gradient at distances of this length: an even number, of which the
//! first and the last have smaller weights, so that all cover the ratio. The weight of the second level is then
//! doubled around the middle, so that levels closer than a quarter are not mixed (`optimizes_trilinear`); only one
//! recorded fetch shows this.
//!
//! These rules reproduce all but one of the fetches recorded on an H200 (driver-answers, `mipmaps`): a ratio above
//! the maximum anisotropy leaves a difference in the last bits. Gradients that are not parallel to an axis, and
//! anisotropic fetches with two levels otherwise, were not measured.

use super::coordinates::Coordinates;
use super::filter::{Channels, Terms, WHOLE};
use super::{Bound, Geometry, cube, row, rows, without_image, write_channels};
use crate::check::FaultKind;
use crate::exec::image::{Channel, Images, Mipmap, Texture};
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};

/// The operands from which an instruction computes the level of detail, packed into `arg1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelChoice {
    /// The level, of the type of the coordinates.
    Explicit,
    /// The gradients of the coordinates along the screen's x and y.
    Gradients,
}

impl LevelChoice {
    /// Packs the choice together with the type of the coordinates.
    pub fn packed(self, integer: bool) -> u32 {
        (self as u32) << 1 | u32::from(integer)
    }

    fn of(packed: u32) -> (LevelChoice, bool) {
        let choice = match packed >> 1 & 1 {
            0 => LevelChoice::Explicit,
            _ => LevelChoice::Gradients,
        };
        (choice, packed & 1 == 1)
    }
}

/// Fraction bits of a level of detail.
const FRACTION_BITS: u32 = 8;
const ONE: i64 = 1 << FRACTION_BITS;

/// The levels of a fetch, and the weight of the second one in 256ths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Levels {
    first: usize,
    second: usize,
    weight: i64,
}

impl Levels {
    fn only(number: usize) -> Levels {
        Levels {
            first: number,
            second: number,
            weight: 0,
        }
    }

    /// Returns the levels for a level of detail, which includes the bias.
    fn new(mipmap: &Mipmap, detail: f32) -> Levels {
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

/// The samples of a fetch and its levels: one sample, or several along the longer of two gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Footprint {
    levels: Levels,
    /// The distance from a sample to the next, in the unit of the coordinates.
    step: [f32; 3],
    /// The number of samples on each side, or 0 for a single one.
    side: i64,
    /// The weight of each sample except the outermost ones, in 512ths.
    weight: i64,
}

/// The sum of the weights of the samples on one side.
const SIDE: i64 = 256;

impl Footprint {
    /// Returns a single sample.
    fn single(levels: Levels) -> Footprint {
        Footprint {
            levels,
            step: [0.0; 3],
            side: 0,
            weight: 0,
        }
    }

    /// Returns the footprint of two gradients, whose lengths are squared and in texels of the first level.
    fn new(
        mipmap: &Mipmap,
        gradients: [[f32; 3]; 2],
        squares: [f64; 2],
        is_anisotropic: bool,
    ) -> Footprint {
        let sampling = &mipmap.sampling;
        let detail = |square: f64| half_logarithm(square) + sampling.bias;
        let major = usize::from(squares[1] > squares[0]);
        let [long, short] = [squares[major], squares[1 - major]];
        let most = f64::from(sampling.max_anisotropy.min(MAX_ANISOTROPY));
        let ratio = (long / short).sqrt().min(most);
        // A NaN, of gradients without a length, is isotropic, as is a texture that is magnified.
        let several = is_anisotropic && ratio > 1.0 && long > 1.0 && long.is_finite();
        if !several {
            return Footprint::single(Levels::new(mipmap, detail(long)));
        }
        let mut levels = Levels::new(mipmap, detail(long / (ratio * ratio)));
        if sampling.optimizes_trilinear && levels.weight != 0 {
            levels.weight = (2 * levels.weight - ONE / 2).clamp(0, ONE);
        }
        let side = (ratio / 2.0).ceil() as i64;
        let weight = (2.0 * SIDE as f64 / ratio).round() as i64;
        Footprint {
            levels,
            step: gradients[major].map(|along| along / ratio as f32),
            side,
            weight: weight.min(SIDE / (side - 1).max(1)),
        }
    }

    /// Returns the samples: their distances from the centre in steps, and their weights in 512ths.
    fn samples(&self) -> impl Iterator<Item = (f32, i64)> {
        let Footprint { side, weight, .. } = *self;
        let count = (2 * side).max(1);
        (0..count).map(move |number| {
            let distance = (2 * number + 1 - count) as f32 / 2.0;
            let weight = match number {
                _ if side == 0 => 2 * SIDE,
                _ if number == 0 || number == count - 1 => SIDE - (side - 1) * weight,
                _ => weight,
            };
            (distance, weight)
        })
    }
}

/// The maximum anisotropy of a GPU.
const MAX_ANISOTROPY: u32 = 16;

/// Returns the level of detail of a squared length: the logarithm has 8 fraction bits, and half of it is rounded up.
fn half_logarithm(square: f64) -> f32 {
    let logarithm = (square.log2() * ONE as f64).round();
    ((logarithm / 2.0).ceil() / ONE as f64) as f32
}

/// Returns the squared length of a gradient in texels of the first level.
fn square(texture: &Texture, geometry: Geometry, at: [f32; 3], gradient: [f32; 3]) -> f64 {
    let dimensions = geometry.dimensions as usize;
    let size = |axis: usize| texture.image.extent(axis) as f32;
    let in_texels = match geometry.cube {
        true => {
            let [s, t] = cube::face_gradient(at, gradient);
            [s * size(0), t * size(0), 0.0]
        }
        false => std::array::from_fn(|axis| match () {
            _ if axis >= dimensions => 0.0,
            _ if texture.normalised => gradient[axis] * size(axis),
            _ => gradient[axis],
        }),
    };
    let squares = in_texels.map(|along| f64::from(along) * f64::from(along));
    squares.iter().sum()
}

/// Returns the mean of weighted samples, whose weights add up to `2 * SIDE`.
fn mean(texture: &Texture, samples: &[(i64, Channels)]) -> Channels {
    const ALL: i64 = 2 * SIDE;
    let mut values = [0; 4];
    let channels = texture.image.channels as usize;
    for (number, value) in values.iter_mut().enumerate().take(channels) {
        let terms = samples
            .iter()
            .map(|(weight, values)| (*weight, values[number]));
        *value = match (texture.reads_integers, texture.image.channel) {
            (true, channel) => {
                let is_signed = matches!(channel, Channel::S8 | Channel::S16 | Channel::S32);
                let products = terms.map(|(weight, bits)| match is_signed {
                    true => weight * i64::from(bits.cast_signed()),
                    false => weight * i64::from(bits),
                });
                (products.sum::<i64>() + ALL / 2).div_euclid(ALL) as u32
            }
            (false, _) => {
                let products =
                    terms.map(|(weight, bits)| weight as f64 * f64::from(f32::from_bits(bits)));
                ((products.sum::<f64>() / ALL as f64) as f32).to_bits()
            }
        };
    }
    values
}

/// Runs `tex.level` and `tex.grad`. Operands: those of [`super::sample`], then the level, or the components of both
/// gradients; `arg1` is a packed [`LevelChoice`].
///
/// # Safety
/// As for [`super::sample`].
pub unsafe fn sample_level(sm: &mut Sm, inst: &Inst) -> Next {
    let (choice, integer) = LevelChoice::of(inst.arg1);
    // SAFETY: the caller guarantees the operands.
    unsafe { sample_chosen(sm, inst, Some(choice), integer) }
}

/// Runs `tex` without a level, at float coordinates, of textures that may be mipmapped. Operands: those of
/// [`super::sample`].
///
/// # Safety
/// As for [`super::sample`].
pub unsafe fn sample_first(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the caller guarantees the operands.
    unsafe { sample_chosen(sm, inst, None, false) }
}

/// Runs a fetch with the operands of `choice`, which follow the coordinates.
///
/// # Safety
/// As for [`super::sample`].
unsafe fn sample_chosen(
    sm: &mut Sm,
    inst: &Inst,
    choice: Option<LevelChoice>,
    integer: bool,
) -> Next {
    let rows = rows(sm, inst);
    let geometry = Geometry::of(inst.arg0);
    let after = 5 + geometry.operands();
    // SAFETY: the coordinates, layers, levels and gradients are 32-bit rows, and operand 4 is a 64-bit row.
    let (coordinates, choices, handles) = unsafe {
        (
            Coordinates::new(sm, geometry, integer, choice.is_some(), &rows[5..]),
            match choice {
                Some(choice) => read_choices(sm, choice, geometry, &rows[after..]),
                None => [[0; LANES]; 6],
            },
            row::<u64>(sm, rows[4]),
        )
    };
    let grid = sm.grid.clone();
    for lane in active(sm.mask) {
        let select = |texture: &Texture, mipmap: &Mipmap| match choice {
            None => Some(Footprint::single(Levels::new(mipmap, 0.0))),
            Some(LevelChoice::Explicit) if integer => {
                let number = choices[0][lane] as usize;
                (number < mipmap.levels.len()).then(|| Footprint::single(Levels::only(number)))
            }
            Some(LevelChoice::Explicit) => {
                let detail = f32::from_bits(choices[0][lane]) + mipmap.sampling.bias;
                Some(Footprint::single(Levels::new(mipmap, detail)))
            }
            Some(LevelChoice::Gradients) => {
                let gradients = [0, 3]
                    .map(|first| [0, 1, 2].map(|axis| f32::from_bits(choices[first + axis][lane])));
                let at = coordinates.floats(lane);
                let squares = gradients.map(|gradient| square(texture, geometry, at, gradient));
                let is_anisotropic = geometry.dimensions == 2;
                Some(Footprint::new(mipmap, gradients, squares, is_anisotropic))
            }
        };
        let fetch = LaneFetch {
            inst,
            lane,
            handle: handles[lane],
            images: &grid.images,
            coordinates: &coordinates,
        };
        match fetch.read(sm, select) {
            // SAFETY: the first four operands are 32-bit rows.
            Ok(values) => unsafe { write_channels(sm, &rows, lane, values) },
            Err(fault) => return sm.fail(inst, lane, fault),
        }
    }
    sm.counts.reads += 1;
    inst.next()
}

/// Returns the level in the first row, or the components of the gradients in the first three rows and the last three.
///
/// # Safety
/// `rows` must start with the 32-bit rows of the level or of the gradients.
unsafe fn read_choices(
    sm: &Sm,
    choice: LevelChoice,
    geometry: Geometry,
    rows: &[u32],
) -> [[u32; LANES]; 6] {
    let dimensions = geometry.dimensions as usize;
    let mut choices = [[0; LANES]; 6];
    let places: &[usize] = match (choice, dimensions) {
        (LevelChoice::Explicit, _) => &[0],
        (LevelChoice::Gradients, 1) => &[0, 3],
        (LevelChoice::Gradients, 2) => &[0, 1, 3, 4],
        (LevelChoice::Gradients, _) => &[0, 1, 2, 3, 4, 5],
    };
    for (&place, &offset) in places.iter().zip(rows) {
        // SAFETY: the caller guarantees 32-bit rows.
        choices[place] = unsafe { row(sm, offset) };
    }
    choices
}

/// A fetch of one lane.
struct LaneFetch<'a> {
    inst: &'a Inst,
    lane: usize,
    handle: u64,
    images: &'a Images,
    coordinates: &'a Coordinates,
}

impl LaneFetch<'_> {
    /// Reads the texture; `select` chooses the levels and samples of a mipmapped one, or nothing for zeros. A texture
    /// without levels is read as it is.
    fn read(
        &self,
        sm: &mut Sm,
        select: impl Fn(&Texture, &Mipmap) -> Option<Footprint>,
    ) -> Result<Channels, FaultKind> {
        let Some(texture) = self.images.textures.get(&self.handle) else {
            return without_image(sm, self.handle);
        };
        let Some(mipmap) = self.images.mipmaps.get(&self.handle) else {
            return self.read_image(sm, *texture);
        };
        let Some(footprint) = select(texture, mipmap) else {
            return Ok([0; 4]);
        };
        let levels = footprint.levels;
        let level = |number: usize| Texture {
            image: mipmap.levels[number],
            ..*texture
        };
        if footprint.side == 0 && levels.weight == 0 {
            return self.read_image(sm, level(levels.first));
        }
        let parts = [
            (level(levels.first), WHOLE - levels.weight),
            (level(levels.second), levels.weight),
        ];
        let centre = self.coordinates.floats(self.lane);
        let mut samples = Vec::new();
        for (distance, weight) in footprint.samples() {
            let along = |axis: usize| centre[axis] + distance * footprint.step[axis];
            let at = [0, 1, 2].map(along);
            let mut terms = Terms::new();
            for (part, share) in parts {
                if share != 0 {
                    self.add_level(sm, part, at, share, &mut terms)?;
                }
            }
            samples.push((weight, terms.sums(texture)));
        }
        match samples[..] {
            [(_, values)] => Ok(values),
            _ => Ok(mean(texture, &samples)),
        }
    }

    /// Reads one level, or a texture without levels.
    fn read_image(&self, sm: &mut Sm, texture: Texture) -> Result<Channels, FaultKind> {
        let &LaneFetch {
            coordinates, lane, ..
        } = self;
        Bound::new(sm, self.handle, texture)?.read(
            sm,
            self.inst,
            lane,
            |texture| coordinates.locate(texture, lane),
            // SAFETY: `Bound` passes the memory of the texture's image.
            |texture, memory, values| unsafe { coordinates.read(texture, memory, lane, values) },
        )
    }

    /// Adds the texels of one level around a position to `terms`.
    fn add_level(
        &self,
        sm: &mut Sm,
        texture: Texture,
        at: [f32; 3],
        share: i64,
        terms: &mut Terms,
    ) -> Result<(), FaultKind> {
        let &LaneFetch {
            coordinates, lane, ..
        } = self;
        Bound::new(sm, self.handle, texture)?.read(
            sm,
            self.inst,
            lane,
            |texture| coordinates.locate(texture, lane),
            // SAFETY: `Bound` passes the memory of the texture's image.
            |texture, memory, _| unsafe {
                coordinates.add_level(texture, memory, lane, at, share, terms);
            },
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::image::{Image, LevelSampling, Slices};

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

    #[test]
    fn anisotropic_samples_cover_the_ratio_of_the_gradients() {
        let mipmap = mipmap(true, 0.0, [0.0, 9.0]);
        let footprint = |x: f64, y: f64| {
            let gradients = [[x as f32 / 16.0, 0.0, 0.0], [0.0, y as f32 / 16.0, 0.0]];
            Footprint::new(&mipmap, gradients, [x * x, y * y], true)
        };
        let weights = |x, y| -> Vec<i64> {
            let samples: Vec<_> = footprint(x, y).samples().collect();
            samples.into_iter().map(|(_, weight)| weight).collect()
        };
        assert_eq!(weights(1.0, 1.0), [512]);
        assert_eq!(weights(1.0, 2.0), [256, 256]);
        assert_eq!(weights(3.0, 1.0), [85, 171, 171, 85]);
        assert_eq!(weights(8.0, 1.0), [64; 8]);
        assert_eq!(weights(100.0, 1.0), [32; 16]);
        for tenths in 10..160 {
            let all = weights(f64::from(tenths) / 10.0, 1.0);
            assert_eq!(all.iter().sum::<i64>(), 512, "{tenths}");
            assert!(all.iter().all(|&weight| weight >= 0), "{tenths}");
        }
        assert_eq!(footprint(5.0, 4.0).levels, Levels::new(&mipmap, 2.0));
        let levels = footprint(100.0, 1.0).levels;
        assert_eq!([levels.first as i64, levels.weight], [2, 202]);
    }

    #[test]
    fn logarithms_of_gradients_are_rounded() {
        // The values of an H200, in 256ths.
        for (length, expected) in [(2.0, 256), (3.0, 406), (5.0, 595), (8.0, 768)] {
            assert_eq!(half_logarithm(length * length) * 256.0, expected as f32);
        }
    }

    #[test]
    fn choices_round_trip_through_packing() {
        for choice in [LevelChoice::Explicit, LevelChoice::Gradients] {
            for integer in [false, true] {
                assert_eq!(LevelChoice::of(choice.packed(integer)), (choice, integer));
            }
        }
    }
}
