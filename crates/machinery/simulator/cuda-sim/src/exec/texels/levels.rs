//! Mipmapped textures: the level of detail of a fetch, and the levels and samples from which it is read.
//!
//! The level of detail is the operand of `tex.level` or that of the gradients of `tex.grad` (see [`super::footprint`]), to
//! which the bias of the texture is added; or 0 for `tex` without either and `tex.base`. It
//! is clamped to the range of the texture, of which the lower end takes precedence, truncated to 8 fraction bits, and
//! clamped to the levels that exist. The filter between levels selects the nearest level, or interpolates between the
//! two levels around. The texels of both are added in one sum (see [`super::filter`]), whose weights are distributed
//! between the levels first. An integer level is not clamped: a fetch from one that does not exist returns zeros. The
//! address mode applies to its integer coordinates.

use super::coordinates::Coordinates;
use super::filter::{Channels, Terms, WHOLE};
use super::footprint::{Footprint, Levels};
use super::{Bound, Geometry, row, rows, without_image, write_channels};
use crate::check::FaultKind;
use crate::exec::image::{Images, Mipmap, Texture};
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
    let mut terms = Terms::new();
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
                Some(Footprint::new(texture, mipmap, geometry, at, gradients))
            }
        };
        let fetch = LaneFetch {
            inst,
            lane,
            handle: handles[lane],
            images: &grid.images,
            coordinates: &coordinates,
        };
        match fetch.read(sm, &mut terms, select) {
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
        terms: &mut Terms,
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
        if footprint.is_single() && levels.weight == 0 {
            return self.read_image(sm, level(levels.first));
        }
        let centre = self.coordinates.floats(self.lane);
        terms.restart(footprint.weight_bits());
        let mut sum = 0;
        for (distance, weight) in footprint.samples() {
            let at = [0, 1, 2].map(|axis| centre[axis] + distance * footprint.step[axis]);
            // The weights of the second level add up to its share of the sum, as on an H200.
            let before = sum * levels.weight / WHOLE;
            sum += weight;
            let second = sum * levels.weight / WHOLE - before;
            for (number, share) in [(levels.first, weight - second), (levels.second, second)] {
                if share != 0 {
                    self.add_level(sm, level(number), at, share, terms)?;
                }
            }
        }
        Ok(terms.sums(texture))
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

    #[test]
    fn choices_round_trip_through_packing() {
        for choice in [LevelChoice::Explicit, LevelChoice::Gradients] {
            for integer in [false, true] {
                assert_eq!(LevelChoice::of(choice.packed(integer)), (choice, integer));
            }
        }
    }
}
