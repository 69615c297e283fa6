//! Validation of array shapes. Source: CUDA Driver API, `cuArray3DCreate`. The limits are those of an H200.

use super::CudaError;
use crate::exec::image::Slices;

/// The flags of `CUDA_ARRAY3D_DESCRIPTOR`: slices are layers (`CUDA_ARRAY3D_LAYERED`), kernels may write to
/// the array (`CUDA_ARRAY3D_SURFACE_LDST`), slices are cube faces (`CUDA_ARRAY3D_CUBEMAP`), and texture
/// gather is allowed (`CUDA_ARRAY3D_TEXTURE_GATHER`).
const LAYERED: u32 = 1;
pub(super) const WRITABLE: u32 = 2;
const CUBE: u32 = 4;
const GATHER: u32 = 8;

/// The number of faces of a cube.
const FACES: u32 = 6;

/// The maximum texels in x and y and the maximum depth, for arrays of one, two and three dimensions.
const MAX_1D: [u32; 3] = [131_072, 0, 0];
const MAX_2D: [u32; 3] = [131_072, 65536, 0];
const MAX_3D: [u32; 3] = [16384, 16384, 16384];
/// The maximum texels in x and y and the maximum number of slices, for layered arrays of one and two
/// dimensions, cubes, and layered cubes.
const MAX_1D_LAYERED: [u32; 3] = [32768, 0, 2048];
const MAX_2D_LAYERED: [u32; 3] = [32768, 32768, 2048];
const MAX_CUBE: [u32; 3] = [32768, 32768, FACES];
const MAX_CUBE_LAYERED: [u32; 3] = [32768, 32768, 2046];

/// Returns an array's texels in each dimension, and the kind of its slices.
///
/// Fails with [`CudaError::InvalidValue`] if no array has this size or these flags: a layered array needs a
/// number of layers, a cube is as high as wide and has six faces, and a layered cube has six faces per layer.
pub(super) fn size_and_slices(size: [u64; 3], flags: u32) -> Result<([u32; 3], Slices), CudaError> {
    let size = size.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let slices = match (flags & LAYERED != 0, flags & CUBE != 0) {
        (false, false) => Slices::Depth,
        (true, false) => Slices::Layers,
        (false, true) => Slices::Cube,
        (true, true) => Slices::Cubes,
    };
    let max = match (slices, size.map(|size| size > 0)) {
        (Slices::Depth, [true, false, false]) => MAX_1D,
        (Slices::Depth, [true, true, false]) => MAX_2D,
        (Slices::Depth, [true, true, true]) => MAX_3D,
        (Slices::Layers, [true, false, true]) => MAX_1D_LAYERED,
        (Slices::Layers, [true, true, true]) => MAX_2D_LAYERED,
        (Slices::Cube, [true, true, true]) => MAX_CUBE,
        (Slices::Cubes, [true, true, true]) => MAX_CUBE_LAYERED,
        _ => return Err(CudaError::InvalidValue),
    };
    let fits = size.iter().zip(max).all(|(size, max)| *size <= max);
    let is_cube = flags & CUBE == 0 || size[0] == size[1] && size[2] % FACES == 0;
    // Gather needs an ordinary two-dimensional array.
    let gather_is_2d = flags & GATHER == 0 || max == MAX_2D;
    let known_flags = flags & !(LAYERED | WRITABLE | CUBE | GATHER) == 0;
    match fits && is_cube && gather_is_2d && known_flags {
        true => Ok((size, slices)),
        false => Err(CudaError::InvalidValue),
    }
}
