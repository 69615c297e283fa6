//! Textures and surfaces: images that are read by coordinates, and surfaces that are written too.
//!
//! Source: PTX ISA sections 9.7.10 (`tex`, `tld4`, `txq`) and 9.7.11 (`suld`, `sust`, `sured`, `suq`).

mod coordinates;
mod cube;
mod filter;
mod footprint;
mod levels;
mod surface;

pub use levels::{LevelChoice, sample_level};
pub use surface::{OutOfBounds, SurfaceAccess, SurfaceOp, reduce, surface_load, surface_store};

use self::coordinates::Coordinates;
use super::image::{Image, Slices, Texture};
use super::sm::{Inst, Next, Sm};
use crate::check::device_access::{Fetch, Texel};
use crate::check::{AddressedMemory, Cause, FaultKind, OutsideTexture};
use crate::lanes::{LANES, active};

/// Returns the fault of an access to a texture or surface that does not exist or whose memory was freed.
fn no_image(sm: &Sm, handle: u64) -> FaultKind {
    match sm.grid.program.reference_name(handle) {
        Some(name) => FaultKind::UnboundReference {
            name: name.to_owned(),
        },
        None => FaultKind::NoImage { handle },
    }
}

/// Returns the values that a fetch from a texture that does not exist has on a GPU: zeros for a texture reference that is
/// not bound. Fails otherwise, and unless faults are those of a GPU.
fn without_image(sm: &Sm, handle: u64) -> Result<filter::Channels, FaultKind> {
    let is_reference = sm.grid.program.reference_name(handle).is_some();
    if sm.grid.has_hardware_faults && is_reference {
        return Ok([0; 4]);
    }
    Err(no_image(sm, handle))
}

/// Returns the host address of an image's bytes, or null if its memory was freed.
fn host(sm: &Sm, image: &Image) -> *mut u8 {
    sm.memory
        .regions
        .find(image.base)
        .host(image.base, image.bytes())
}

/// Returns the part of a texture that is in memory, with its host address, which is null if the memory was freed. Only a
/// texture of linear memory may extend past its allocation.
fn readable(sm: &Sm, texture: &Texture) -> (Texture, *mut u8) {
    let mut part = *texture;
    let image = &mut part.image;
    let region = sm.memory.regions.find(image.base);
    if image.linear && region.contains(image.base) {
        let texels = (region.base + region.bytes - image.base) / image.texel();
        image.size[0] = u64::from(image.size[0]).min(texels) as u32;
    }
    (part, host(sm, &part.image))
}

/// The geometry for which an instruction accesses an image: the coordinates that it takes, packed into `arg0`. Source:
/// PTX ISA sections 9.7.10.3 (`tex`) and 9.7.11.1 (`suld`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Number of coordinates, without the layer.
    pub dimensions: u32,
    /// True if a layer is selected first: a slice in z, or six slices of a cube map.
    pub layered: bool,
    /// True if the coordinates are a direction from the centre of a cube.
    pub cube: bool,
}

/// Number of faces of a cube.
pub const FACES: i64 = 6;

impl Geometry {
    /// Returns the geometry with a PTX name such as `1d` or `acube`.
    pub fn named(name: &str) -> Option<Geometry> {
        let (dimensions, layered, cube) = match name {
            "1d" => (1, false, false),
            "2d" => (2, false, false),
            "3d" => (3, false, false),
            "a1d" => (1, true, false),
            "a2d" => (2, true, false),
            "cube" => (3, false, true),
            "acube" => (3, true, true),
            _ => return None,
        };
        Some(Geometry {
            dimensions,
            layered,
            cube,
        })
    }

    /// Returns the number of operands of a position: the coordinates and the layer.
    pub fn operands(self) -> usize {
        self.dimensions as usize + usize::from(self.layered)
    }

    pub fn packed(self) -> u32 {
        self.dimensions | u32::from(self.layered) << 2 | u32::from(self.cube) << 3
    }

    pub fn of(packed: u32) -> Geometry {
        Geometry {
            dimensions: packed & 3,
            layered: packed >> 2 & 1 == 1,
            cube: packed >> 3 & 1 == 1,
        }
    }

    /// Returns the first slice in z of a layer. Layers beyond the last select the last.
    pub fn slice(self, image: &Image, layer: u32) -> i64 {
        let faces = if self.cube { FACES } else { 1 };
        let last = (image.extent(2) / faces - 1).max(0);
        i64::from(layer).min(last) * faces
    }
}

/// The maximum number of operands of a texture instruction: `tex.grad.acube` has four destinations, a handle, four
/// coordinates with the layer, and two gradients of three components.
const MAX_OPERANDS: usize = 15;

/// Returns the operand rows of an instruction with an operand list.
fn rows(sm: &Sm, inst: &Inst) -> [u32; MAX_OPERANDS] {
    let list = &sm.grid.program.operand_lists[inst.imm as usize];
    let mut rows = [0; MAX_OPERANDS];
    for (row, offset) in rows.iter_mut().zip(list) {
        *row = *offset;
    }
    rows
}

/// Returns a row of the frame.
///
/// # Safety
/// `offset` must be the frame offset of a row of `T`.
unsafe fn row<T: Copy>(sm: &Sm, offset: u32) -> [T; LANES] {
    // SAFETY: the caller guarantees a row of `T` at this offset; rows are aligned.
    unsafe { *sm.frame.add(offset as usize).cast::<[T; LANES]>() }
}

/// Writes a value for one lane.
///
/// # Safety
/// `offset` must be the frame offset of a 32-bit row.
unsafe fn write_lane(sm: &mut Sm, offset: u32, lane: usize, value: u32) {
    // SAFETY: the caller guarantees a 32-bit row at this offset.
    unsafe {
        sm.frame
            .add(offset as usize)
            .cast::<u32>()
            .add(lane)
            .write(value)
    }
}

/// A texture whose memory is known.
struct Bound {
    handle: u64,
    texture: Texture,
    /// The part of the texture that is in memory.
    part: Texture,
    memory: *const u8,
}

impl Bound {
    /// Finds the memory of a texture. Fails if it was freed.
    fn new(sm: &Sm, handle: u64, texture: Texture) -> Result<Bound, FaultKind> {
        let (part, memory) = readable(sm, &texture);
        if memory.is_null() {
            return Err(no_image(sm, handle));
        }
        Ok(Bound {
            handle,
            texture,
            part,
            memory,
        })
    }

    /// Reads the texture in one lane. `locate` returns the texel that the lane reads, for the checks; `read` writes the
    /// values of its channels. Fails for a texel of linear memory past the allocation.
    fn read(
        &self,
        sm: &mut Sm,
        inst: &Inst,
        lane: usize,
        locate: impl Fn(&Texture) -> Texel,
        read: impl FnOnce(&Texture, *const u8, &mut filter::Channels),
    ) -> Result<filter::Channels, FaultKind> {
        let Bound { texture, part, .. } = self;
        if part.image != texture.image {
            let Texel { at, bytes, .. } = locate(texture);
            let end = part.image.base + part.image.bytes();
            if let Some(address) = at.filter(|at| at + bytes > end) {
                return Err(FaultKind::IllegalAddress {
                    address,
                    bytes: bytes as u32,
                    write: false,
                    memory: AddressedMemory::Device,
                });
            }
        }
        let mut values = [0; 4];
        read(part, self.memory, &mut values);
        if sm.checker.is_some() {
            let texel = locate(texture);
            let fetch = fetch(sm, inst, lane);
            if let Some(checker) = &mut sm.checker {
                checker.use_memory(texture.image.base);
                checker.check_texel(fetch, texel, Cause::TextureNotInitialized);
            }
        }
        Ok(values)
    }
}

/// Reads a texture in each active lane, into four rows. `locate` returns the texel that a lane reads, for the checks;
/// `read` writes the values of its channels. Lanes usually read the same texture, which is looked up once.
///
/// # Safety
/// `rows` must start with four 32-bit rows and a 64-bit row of handles.
unsafe fn read_each(
    sm: &mut Sm,
    inst: &Inst,
    rows: [u32; MAX_OPERANDS],
    locate: impl Fn(&Texture, usize) -> Texel,
    read: impl Fn(&Texture, *const u8, usize, &mut filter::Channels),
) -> Next {
    // SAFETY: the caller guarantees that operand 4 is a 64-bit row.
    let handles = unsafe { row::<u64>(sm, rows[4]) };
    let mut bound: Option<Bound> = None;
    for lane in active(sm.mask) {
        let handle = handles[lane];
        if bound.as_ref().is_none_or(|known| known.handle != handle) {
            let found = match sm.grid.images.textures.get(&handle).copied() {
                Some(texture) => Bound::new(sm, handle, texture).map(Ok),
                None => without_image(sm, handle).map(Err),
            };
            match found {
                Ok(Ok(found)) => bound = Some(found),
                Ok(Err(values)) => {
                    // SAFETY: the caller guarantees that the first four operands are 32-bit rows.
                    unsafe { write_channels(sm, &rows, lane, values) };
                    continue;
                }
                Err(fault) => return sm.fail(inst, lane, fault),
            }
        }
        let Some(bound) = &bound else {
            continue;
        };
        let values = bound.read(
            sm,
            inst,
            lane,
            |texture| locate(texture, lane),
            |texture, memory, values| read(texture, memory, lane, values),
        );
        match values {
            // SAFETY: the caller guarantees that the first four operands are 32-bit rows.
            Ok(values) => unsafe { write_channels(sm, &rows, lane, values) },
            Err(fault) => return sm.fail(inst, lane, fault),
        }
    }
    sm.counts.reads += 1;
    inst.next()
}

/// Writes the channels of one lane.
///
/// # Safety
/// `rows` must start with four 32-bit rows.
unsafe fn write_channels(
    sm: &mut Sm,
    rows: &[u32; MAX_OPERANDS],
    lane: usize,
    values: filter::Channels,
) {
    for (offset, value) in rows.iter().zip(values) {
        // SAFETY: the caller guarantees that the first four operands are 32-bit rows.
        unsafe { write_lane(sm, *offset, lane, value) };
    }
}

/// Returns the fetch of a lane, for the checks.
fn fetch(sm: &Sm, inst: &Inst, lane: usize) -> Fetch {
    Fetch {
        block: sm.block.number,
        thread: (sm.block.running * LANES + lane) as u32,
        site: sm.address_of(inst),
    }
}

/// Returns the texel of an image at these indices, for the checks.
fn located(
    image: &Image,
    at: Option<[i64; 3]>,
    outside: Option<filter::OutsideCoordinate>,
) -> Texel {
    Texel {
        at: at.map(|at| image.base + image.offset(at)),
        bytes: image.texel(),
        outside: outside.map(|(dimension, at, texels)| OutsideTexture::new(dimension, at, texels)),
    }
}

/// Runs `tex` without a level. Operands: four destinations, the handles, the coordinates, and the layer if the
/// [`Geometry`] in `arg0` has one; `arg1` is 1 if the coordinates are integers that index texels.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the operands are in a list.
pub unsafe fn sample(sm: &mut Sm, inst: &Inst) -> Next {
    if inst.arg1 == 0 && !sm.grid.images.mipmaps.is_empty() {
        // SAFETY: the operands are the same.
        return unsafe { levels::sample_first(sm, inst) };
    }
    let rows = rows(sm, inst);
    // SAFETY: coordinates and layers are 32-bit rows.
    let coordinates = unsafe {
        Coordinates::new(
            sm,
            Geometry::of(inst.arg0),
            inst.arg1 == 1,
            false,
            &rows[5..],
        )
    };
    // SAFETY: the operand list starts with the rows that `read_each` requires, and it provides the image's memory.
    unsafe {
        read_each(
            sm,
            inst,
            rows,
            |texture, lane| coordinates.locate(texture, lane),
            |texture, memory, lane, values| coordinates.read(texture, memory, lane, values),
        )
    }
}

/// Runs `tld4`. Operands: four destinations, the handles, and two coordinates; `arg0` is the channel.
///
/// # Safety
/// As for [`sample`].
pub unsafe fn gather(sm: &mut Sm, inst: &Inst) -> Next {
    let rows = rows(sm, inst);
    // SAFETY: coordinates are 32-bit rows.
    let coordinates: [[f32; LANES]; 2] = [5, 6].map(|n: usize| unsafe { row(sm, rows[n]) });
    let position = |lane: usize| coordinates.map(|row| row[lane]);
    let locate = |texture: &Texture, lane: usize| {
        let [x, y] = position(lane);
        let (at, outside) = filter::nearest(texture, [x, y, 0.0], 2, 0);
        located(&texture.image, at, outside)
    };
    // SAFETY: as in `sample`.
    unsafe {
        read_each(sm, inst, rows, locate, |texture, memory, lane, values| {
            *values = filter::gather(texture, memory, position(lane), inst.arg0);
        })
    }
}

/// Queries of an image's depth and layers, numbered after width and height as in `arg0`.
pub const DEPTH: u32 = 2;
pub const LAYERS: u32 = 3;

/// Returns a size of an image: its extent in x or y, its depth, or its number of layers.
fn size(image: &Image, query: u32) -> u32 {
    match (query, image.slices) {
        (DEPTH, Slices::Depth) | (LAYERS, Slices::Layers) => image.size[2],
        (LAYERS, Slices::Cubes) => image.size[2] / FACES as u32,
        (DEPTH | LAYERS, _) => 0,
        (dimension, _) => image.size[dimension as usize],
    }
}

/// Runs `txq` and `suq`. Operand 0 is the [`size`] that `arg0` selects, operand 1 the handles; `arg1` is 1
/// for surfaces.
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
            None => return sm.fail(inst, lane, no_image(sm, handle)),
        }
    }
    // SAFETY: operand 0 is a 32-bit row.
    unsafe { sm.write(inst, 0, sizes) };
    inst.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometries_round_trip_through_packing() {
        for name in ["1d", "2d", "3d", "a1d", "a2d", "cube", "acube"] {
            let geometry = Geometry::named(name).unwrap();
            assert_eq!(Geometry::of(geometry.packed()), geometry);
            assert!(geometry.packed() < 16);
        }
        assert_eq!(Geometry::named("4d"), None);
    }
}
