//! Which arrays there are. Source: CUDA Driver API, `cuArray3DCreate`; the limits are those of an H200.

use super::CudaError;
use crate::exec::image::Slices;

/// The flags of `CUDA_ARRAY3D_DESCRIPTOR`: slices are layers; kernels may write to it
/// (`CUDA_ARRAY3D_SURFACE_LDST`); slices are the faces of cubes; four texels may be read at once
/// (`CUDA_ARRAY3D_TEXTURE_GATHER`).
const LAYERED: u32 = 1;
pub(super) const WRITABLE: u32 = 2;
const CUBE: u32 = 4;
const GATHERED: u32 = 8;

/// The faces of a cube.
const FACES: u32 = 6;

/// The most texels of an array in x and y, and its slices, by how many dimensions it has.
const ONE: [u32; 3] = [131_072, 0, 0];
const TWO: [u32; 3] = [131_072, 65536, 0];
const THREE: [u32; 3] = [16384, 16384, 16384];
/// Those of layers, of one and of two dimensions; of a cube, and of layers of cubes.
const ROWS: [u32; 3] = [32768, 0, 2048];
const LAYERS: [u32; 3] = [32768, 32768, 2048];
const FACE: [u32; 3] = [32768, 32768, FACES];
const CUBES: [u32; 3] = [32768, 32768, 2046];

/// An array's texels in each dimension, and what its slices are. [`CudaError::InvalidValue`] for a size or flags
/// that no array has: layers need a number of them, a cube is as high as wide and has six faces, and a layer of
/// cubes has six too.
pub(super) fn size_and_slices(size: [u64; 3], flags: u32) -> Result<([u32; 3], Slices), CudaError> {
    let size = size.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let slices = match (flags & LAYERED != 0, flags & CUBE != 0) {
        (false, false) => Slices::Depth,
        (true, false) => Slices::Layers,
        (false, true) => Slices::Cube,
        (true, true) => Slices::Cubes,
    };
    let most = match (slices, size.map(|size| size > 0)) {
        (Slices::Depth, [true, false, false]) => ONE,
        (Slices::Depth, [true, true, false]) => TWO,
        (Slices::Depth, [true, true, true]) => THREE,
        (Slices::Layers, [true, false, true]) => ROWS,
        (Slices::Layers, [true, true, true]) => LAYERS,
        (Slices::Cube, [true, true, true]) => FACE,
        (Slices::Cubes, [true, true, true]) => CUBES,
        _ => return Err(CudaError::InvalidValue),
    };
    let fits = size.iter().zip(most).all(|(size, most)| *size <= most);
    let cube = flags & CUBE == 0 || size[0] == size[1] && size[2] % FACES == 0;
    // Of one plain image in two dimensions.
    let gathers = flags & GATHERED == 0 || most == TWO;
    let known = flags & !(LAYERED | WRITABLE | CUBE | GATHERED) == 0;
    match fits && cube && gathers && known {
        true => Ok((size, slices)),
        false => Err(CudaError::InvalidValue),
    }
}
