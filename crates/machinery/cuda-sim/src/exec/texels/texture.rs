//! Textures are read: `tex`, `tld4`, `txq`.

use super::geometry::{FACES, Geometry};
use super::{cube, filter, host};
use crate::exec::fault::FaultKind;
use crate::exec::image::{Image, Slices, Texture};
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};

/// The rows of an instruction whose operands are in a list.
fn rows(sm: &Sm, inst: &Inst) -> [u32; 12] {
    let list = &sm.grid.program.operand_lists[inst.imm as usize];
    let mut rows = [0; 12];
    for (row, place) in rows.iter_mut().zip(list) {
        *row = *place;
    }
    rows
}

/// A row of the frame.
///
/// # Safety
/// It is one, of `T`s.
unsafe fn row<T: Copy>(sm: &Sm, place: u32) -> [T; LANES] {
    // SAFETY: the caller's promise; rows are aligned.
    unsafe { *sm.frame.add(place as usize).cast::<[T; LANES]>() }
}

/// Writes a value in each running lane.
///
/// # Safety
/// The row is in the frame, and has 32 bits.
unsafe fn set(sm: &mut Sm, place: u32, lane: usize, value: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        sm.frame
            .add(place as usize)
            .cast::<u32>()
            .add(lane)
            .write(value)
    }
}

/// What is read of a texture in each lane: four rows.
///
/// # Safety
/// Operands are four 32-bit rows, a 64-bit row of handles, and what `read` takes.
unsafe fn each(
    sm: &mut Sm,
    inst: &Inst,
    read: impl Fn(&Sm, &Texture, *const u8, &[u32], usize) -> [u32; 4],
) -> Next {
    let rows = rows(sm, inst);
    // SAFETY: the caller's promise.
    let handles = unsafe { row::<u64>(sm, rows[4]) };
    for lane in active(sm.mask) {
        let images = sm.grid.images.clone();
        let Some(texture) = images.textures.get(&handles[lane]) else {
            return sm.fail(
                inst,
                lane,
                FaultKind::NoImage {
                    handle: handles[lane],
                },
            );
        };
        let memory = host(sm, &texture.image);
        if memory.is_null() {
            return sm.fail(
                inst,
                lane,
                FaultKind::NoImage {
                    handle: handles[lane],
                },
            );
        }
        let found = read(sm, texture, memory, &rows[5..], lane);
        for (place, value) in rows.into_iter().zip(found) {
            // SAFETY: the caller's promise.
            unsafe { set(sm, place, lane, value) };
        }
    }
    sm.counts.reads += 1;
    inst.next()
}

/// `tex`: four destinations, the handles, the coordinates, and the layer, as the [`Geometry`] in `x` says; `y` 1:
/// the coordinates are whole numbers, of texels.
///
/// # Safety
/// As for [`crate::exec::sm::Handler`]; its operands are in a list.
pub unsafe fn sample(sm: &mut Sm, inst: &Inst) -> Next {
    let (geometry, whole) = (Geometry::of(inst.arg0), inst.arg1 == 1);
    let dimensions = geometry.dimensions as usize;
    // SAFETY: coordinates and layers are 32-bit rows, and `each` has the image's memory.
    unsafe {
        each(sm, inst, |sm, texture, memory, places, lane| {
            let mut at = [0u32; 3];
            for (at, place) in at.iter_mut().zip(places).take(dimensions) {
                *at = row::<u32>(sm, *place)[lane];
            }
            let slice = match geometry.layered {
                true => geometry.slice(&texture.image, row::<u32>(sm, places[dimensions])[lane]),
                false => 0,
            };
            if whole || texture.image.linear {
                let mut texel = at.map(|at| match whole {
                    true => at.cast_signed(),
                    false => f32::from_bits(at).floor() as i32,
                });
                if geometry.layered {
                    texel[2] = slice as i32;
                }
                return filter::numbered(texture, memory, texel);
            }
            let at = at.map(f32::from_bits);
            match geometry.cube {
                true => cube::at(texture, memory, at, slice),
                false => filter::at(texture, memory, at, dimensions, slice),
            }
        })
    }
}

/// `tld4`: four destinations, the handles, and two coordinates; `x` the channel.
///
/// # Safety
/// As for [`sample`].
pub unsafe fn gather(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: as in `sample`.
    unsafe {
        each(sm, inst, |sm, texture, memory, places, lane| {
            let at = [0, 1].map(|n: usize| f32::from_bits(row::<u32>(sm, places[n])[lane]));
            filter::gathered(texture, memory, at, inst.arg0)
        })
    }
}

/// What is asked of an image's slices, by the number in an instruction's `x`: behind width and height.
pub const DEPTH: u32 = 2;
pub const LAYERS: u32 = 3;

/// A size of an image: in x or y, its depth, or how many layers it has.
fn size(image: &Image, what: u32) -> u32 {
    match (what, image.slices) {
        (DEPTH, Slices::Depth) | (LAYERS, Slices::Layers) => image.size[2],
        (LAYERS, Slices::Cubes) => image.size[2] / FACES as u32,
        (DEPTH | LAYERS, _) => 0,
        (dimension, _) => image.size[dimension as usize],
    }
}

/// `txq` and `suq`: operand 0 the [`size`] that `x` says, operand 1 the handles; `y` 1 of a surface.
///
/// # Safety
/// As for [`crate::exec::sm::Handler`].
pub unsafe fn query(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 1 is a 64-bit row.
    let handles = *unsafe { sm.row::<u64>(inst, 1) };
    let mut sizes = [0; LANES];
    for lane in active(sm.mask) {
        let handle = handles[lane];
        let images = &sm.grid.images;
        let image: Option<&Image> = match inst.arg1 {
            1 => images.surfaces.get(&handle),
            _ => images.textures.get(&handle).map(|texture| &texture.image),
        };
        match image {
            Some(image) => sizes[lane] = size(image, inst.arg0),
            None => return sm.fail(inst, lane, FaultKind::NoImage { handle }),
        }
    }
    // SAFETY: operand 0 is a 32-bit row.
    unsafe { sm.write(inst, 0, sizes) };
    inst.next()
}
