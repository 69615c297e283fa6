//! The coordinates of a texture fetch, and the fetch of one texture or level at them.

use super::filter::{self, Channels};
use super::{Geometry, cube, located, row};
use crate::check::device_access::Texel;
use crate::exec::image::Texture;
use crate::exec::sm::Sm;
use crate::lanes::LANES;

/// The coordinates of a fetch in all lanes.
pub struct Coordinates {
    geometry: Geometry,
    /// True if the coordinates are integers that index texels.
    pub integer: bool,
    /// The coordinates, followed by the layer.
    operands: [[u32; LANES]; 4],
}

impl Coordinates {
    /// Reads coordinates from rows of the frame.
    ///
    /// # Safety
    /// `rows` must start with the 32-bit rows of the coordinates and the layer.
    pub unsafe fn new(sm: &Sm, geometry: Geometry, integer: bool, rows: &[u32]) -> Coordinates {
        let mut operands = [[0; LANES]; 4];
        for (operand, offset) in operands.iter_mut().zip(rows).take(geometry.operands()) {
            // SAFETY: the caller guarantees 32-bit rows.
            *operand = unsafe { row(sm, *offset) };
        }
        Coordinates {
            geometry,
            integer,
            operands,
        }
    }

    /// Returns the slice in z that the layer selects.
    fn slice(&self, texture: &Texture, lane: usize) -> i64 {
        let layer = self.geometry.dimensions as usize;
        match self.geometry.layered {
            true => (self.geometry).slice(&texture.image, self.operands[layer][lane]),
            false => 0,
        }
    }

    /// Returns the coordinates as floats.
    pub fn floats(&self, lane: usize) -> [f32; 3] {
        let mut at = [0.0; 3];
        let dimensions = self.geometry.dimensions as usize;
        for (at, operand) in at.iter_mut().zip(&self.operands).take(dimensions) {
            *at = f32::from_bits(operand[lane]);
        }
        at
    }

    /// Returns the indices of the texel that the coordinates select without a filter.
    fn index(&self, texture: &Texture, lane: usize) -> [i32; 3] {
        let mut texel = [0; 3];
        let dimensions = self.geometry.dimensions as usize;
        for (texel, operand) in texel.iter_mut().zip(&self.operands).take(dimensions) {
            *texel = match self.integer {
                true => operand[lane].cast_signed(),
                false => f32::from_bits(operand[lane]).floor() as i32,
            };
        }
        if self.geometry.layered {
            texel[2] = self.slice(texture, lane) as i32;
        }
        texel
    }

    /// Returns the texel that a lane reads, for the checks.
    pub fn locate(&self, texture: &Texture, lane: usize) -> Texel {
        let image = &texture.image;
        if self.geometry.cube {
            let at = cube::nearest(texture, self.floats(lane), self.slice(texture, lane));
            return located(image, at, None);
        }
        if self.integer || image.linear {
            let at = self.index(texture, lane).map(i64::from);
            let is_inside = (0..3).all(|n| (0..image.extent(n)).contains(&at[n]));
            return located(image, is_inside.then_some(at), None);
        }
        let slice = self.slice(texture, lane);
        let dimensions = self.geometry.dimensions as usize;
        let (at, outside) = filter::nearest(texture, self.floats(lane), dimensions, slice);
        located(image, at, outside)
    }

    /// Fetches from a texture in one lane: writes the bits of each channel as a register gets them to `values`.
    ///
    /// # Safety
    /// `memory` must be that of the texture's image.
    pub unsafe fn read(
        &self,
        texture: &Texture,
        memory: *const u8,
        lane: usize,
        values: &mut Channels,
    ) {
        // SAFETY: the caller guarantees the image's memory, and the slice is inside, because it is clamped.
        unsafe {
            if self.integer || texture.image.linear {
                return filter::fetch(texture, memory, self.index(texture, lane), values);
            }
            let (at, slice) = (self.floats(lane), self.slice(texture, lane));
            if self.geometry.cube {
                cube::at(texture, memory, at, slice, values)
            } else {
                let dimensions = self.geometry.dimensions as usize;
                filter::at(texture, memory, at, dimensions, slice, values)
            }
        }
    }
}
