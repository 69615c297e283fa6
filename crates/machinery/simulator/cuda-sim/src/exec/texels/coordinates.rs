//! The coordinates of a texture fetch, and the fetch of one texture or level at them.

use super::filter::{self, Channels, Terms};
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
    /// True if the address mode applies to integer coordinates, as in an H200's `tex.level`. A fetch without a level
    /// returns zeros outside.
    is_addressed: bool,
    /// The coordinates, followed by the layer.
    operands: [[u32; LANES]; 4],
}

impl Coordinates {
    /// Reads coordinates from rows of the frame.
    ///
    /// # Safety
    /// `rows` must start with the 32-bit rows of the coordinates and the layer.
    pub unsafe fn new(
        sm: &Sm,
        geometry: Geometry,
        integer: bool,
        is_addressed: bool,
        rows: &[u32],
    ) -> Coordinates {
        let mut operands = [[0; LANES]; 4];
        for (operand, offset) in operands.iter_mut().zip(rows).take(geometry.operands()) {
            // SAFETY: the caller guarantees 32-bit rows.
            *operand = unsafe { row(sm, *offset) };
        }
        Coordinates {
            geometry,
            integer,
            is_addressed,
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

    /// Returns the texel that the coordinates select without a filter, or `None` outside.
    fn index(&self, texture: &Texture, lane: usize) -> Option<[i64; 3]> {
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
        filter::indexed(texture, texel, self.is_addressed)
    }

    /// Returns the texel that a lane reads, for the checks.
    pub fn locate(&self, texture: &Texture, lane: usize) -> Texel {
        let image = &texture.image;
        if self.geometry.cube {
            let at = cube::nearest(texture, self.floats(lane), self.slice(texture, lane));
            return located(image, at, None);
        }
        if self.integer || image.linear {
            return located(image, self.index(texture, lane), None);
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
        // SAFETY: the caller guarantees the image's memory; indices are inside, and the slice, because it is clamped.
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
    /// Adds the texels of a fetch from one level at the position `at` instead of the lane's coordinates to the sum over
    /// levels. Their weights add up to `share`.
    ///
    /// # Safety
    /// `memory` must be that of the texture's image.
    pub unsafe fn add_level(
        &self,
        texture: &Texture,
        memory: *const u8,
        lane: usize,
        at: [f32; 3],
        share: i64,
        terms: &mut Terms,
    ) {
        let slice = self.slice(texture, lane);
        // SAFETY: the caller guarantees the image's memory, and the slice is inside, because it is clamped.
        unsafe {
            if self.geometry.cube {
                cube::add_level(texture, memory, at, slice, share, terms)
            } else {
                let dimensions = self.geometry.dimensions as usize;
                filter::add_level(texture, memory, at, dimensions, slice, share, terms)
            }
        }
    }
}
