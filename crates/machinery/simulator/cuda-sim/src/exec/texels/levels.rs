//! Mipmapped textures: `tex.level` and `tex.grad`, which choose the level of detail.
//!
//! The level of detail is the operand of `tex.level`, or the base-2 logarithm of the longer gradient of `tex.grad` in
//! texels of the first level. The bias of the texture is added, the sum is clamped to the range of the texture and to
//! its levels, and rounded to 8 fraction bits. The filter between levels selects the nearest level, or interpolates
//! between the two levels around. `tex` without either and `tex.base` read the first level. Gradients are not
//! anisotropic: the maximum anisotropy has no effect. Source: CUDA Driver API (`cuTexObjectCreate`) and PTX ISA section
//! 9.7.10.3; no GPU's fetches from levels were recorded.

use super::coordinates::Coordinates;
use super::filter::Channels;
use super::{Bound, Geometry, cube, no_image, row, rows, write_channels};
use crate::check::FaultKind;
use crate::exec::image::{Channel, Image, Images, Mipmap, Texture};
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
    /// Returns the only level `number`, or the nearest one that exists.
    fn only(mipmap: &Mipmap, number: i64) -> Levels {
        let number = number.clamp(0, mipmap.levels.len() as i64 - 1) as usize;
        Levels {
            first: number,
            second: number,
            weight: 0,
        }
    }

    /// Returns the levels for a level of detail.
    fn new(mipmap: &Mipmap, detail: f32) -> Levels {
        let sampling = &mipmap.sampling;
        let [low, high] = sampling.clamp;
        let detail = (detail + sampling.bias).max(low).min(high);
        // A NaN is converted to 0.
        let last = (mipmap.levels.len() - 1) as i64;
        let detail = ((detail * ONE as f32).round() as i64).clamp(0, last << FRACTION_BITS);
        if !sampling.linear_filter {
            return Levels::only(mipmap, (detail + ONE / 2) >> FRACTION_BITS);
        }
        let first = detail >> FRACTION_BITS;
        Levels {
            first: first as usize,
            second: (first + 1).min(last) as usize,
            weight: detail & (ONE - 1),
        }
    }
}

/// Returns the level of detail at which the longer of two gradients is as long as a texel.
fn detail_of_gradients(
    texture: &Texture,
    geometry: Geometry,
    at: [f32; 3],
    gradients: [[f32; 3]; 2],
) -> f32 {
    let dimensions = geometry.dimensions as usize;
    let size = |axis: usize| texture.image.extent(axis) as f32;
    let length = |gradient: [f32; 3]| -> f32 {
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
        let squares = in_texels.map(|along| along * along);
        squares.iter().sum::<f32>().sqrt()
    };
    length(gradients[0]).max(length(gradients[1])).log2()
}

/// Interpolates between the values of two levels; `weight` is that of the second one in 256ths.
fn blend(texture: &Texture, first: Channels, second: Channels, weight: i64) -> Channels {
    let mut values = [0; 4];
    let channels = texture.image.channels as usize;
    for (number, value) in values.iter_mut().enumerate().take(channels) {
        let [a, b] = [first[number], second[number]];
        let mixed = |a: i64, b: i64| (a * (ONE - weight) + b * weight + ONE / 2) >> FRACTION_BITS;
        *value = match (texture.reads_integers, texture.image.channel) {
            (true, Channel::S8 | Channel::S16 | Channel::S32) => {
                mixed(a.cast_signed().into(), b.cast_signed().into()) as u32
            }
            (true, _) => mixed(a.into(), b.into()) as u32,
            (false, _) => {
                let [a, b] = [a, b].map(|bits| f64::from(f32::from_bits(bits)));
                let sum = a * (ONE - weight) as f64 + b * weight as f64;
                ((sum / ONE as f64) as f32).to_bits()
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
    let rows = rows(sm, inst);
    let geometry = Geometry::of(inst.arg0);
    let (choice, integer) = LevelChoice::of(inst.arg1);
    let after = 5 + geometry.operands();
    // SAFETY: the coordinates, layers, levels and gradients are 32-bit rows, and operand 4 is a 64-bit row.
    let (coordinates, choices, handles) = unsafe {
        (
            Coordinates::new(sm, geometry, integer, &rows[5..]),
            read_choices(sm, choice, geometry, &rows[after..]),
            row::<u64>(sm, rows[4]),
        )
    };
    let grid = sm.grid.clone();
    for lane in active(sm.mask) {
        let values = read_lane(
            sm,
            inst,
            lane,
            handles[lane],
            &grid.images,
            &coordinates,
            |texture, mipmap| match choice {
                LevelChoice::Explicit if integer => {
                    Levels::only(mipmap, choices[0][lane].cast_signed().into())
                }
                LevelChoice::Explicit => Levels::new(mipmap, f32::from_bits(choices[0][lane])),
                LevelChoice::Gradients => {
                    let gradients = [0, 3].map(|first| {
                        [0, 1, 2].map(|axis| f32::from_bits(choices[first + axis][lane]))
                    });
                    let at = coordinates.floats(lane);
                    Levels::new(
                        mipmap,
                        detail_of_gradients(texture, geometry, at, gradients),
                    )
                }
            },
        );
        match values {
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

/// Reads a texture in one lane; `select` chooses the levels of a mipmapped one. A texture without levels is read as it is.
fn read_lane(
    sm: &mut Sm,
    inst: &Inst,
    lane: usize,
    handle: u64,
    images: &Images,
    coordinates: &Coordinates,
    select: impl Fn(&Texture, &Mipmap) -> Levels,
) -> Result<Channels, FaultKind> {
    let Some(texture) = images.textures.get(&handle) else {
        return Err(no_image(sm, handle));
    };
    let read = |sm: &mut Sm, image: Image| {
        let bound = Bound::new(sm, handle, Texture { image, ..*texture })?;
        bound.read(
            sm,
            inst,
            lane,
            |texture| coordinates.locate(texture, lane),
            // SAFETY: `Bound` passes the memory of the texture's image.
            |texture, memory, values| unsafe { coordinates.read(texture, memory, lane, values) },
        )
    };
    let Some(mipmap) = images.mipmaps.get(&handle) else {
        return read(sm, texture.image);
    };
    let levels = select(texture, mipmap);
    let first = read(sm, mipmap.levels[levels.first])?;
    if levels.weight == 0 {
        return Ok(first);
    }
    let second = read(sm, mipmap.levels[levels.second])?;
    Ok(blend(texture, first, second, levels.weight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::image::{LevelSampling, Slices};

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
            },
        }
    }

    #[test]
    fn nearest_level_is_rounded_and_clamped() {
        let select = |bias, clamp, detail| Levels::new(&mipmap(false, bias, clamp), detail).first;
        for (detail, expected) in [(-3.0, 0), (0.25, 0), (0.5, 1), (1.75, 2), (9.0, 4)] {
            assert_eq!(select(0.0, [0.0, 9.0], detail), expected, "{detail}");
        }
        assert_eq!(select(1.0, [0.0, 9.0], 1.0), 2);
        assert_eq!(select(0.0, [2.0, 3.0], 0.0), 2);
        assert_eq!(select(0.0, [2.0, 3.0], 4.0), 3);
        assert_eq!(select(0.0, [0.0, 9.0], f32::NAN), 0);
        assert_eq!(select(0.0, [0.0, 9.0], f32::INFINITY), 4);
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
        assert_eq!(select(3.998), expected(3, 4, 255));
        assert_eq!(select(4.5), expected(4, 4, 0));
        assert_eq!(select(f32::NEG_INFINITY), expected(0, 1, 0));
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
