//! Tensor maps, which describe arrays to the tensor memory accelerator.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sim::driver::CudaError;
use cuda_sim::memory::tensor_map::{
    ElementType, Extent, Im2col, Interleave, MAX_RANK, MAX_SPATIAL, Swizzle, TENSOR_MAP_BYTES,
    TensorMap,
};

use crate::arguments::{In, InOut, required};
use crate::status::CallResult;
use crate::types::CUtensorMap;

/// The largest `CUtensorMapL2promotion`.
const LAST_PROMOTION: c_int = 3;

/// The largest `CUtensorMapIm2ColWideMode`.
const LAST_WIDE_MODE: c_int = 1;

/// The arguments that tiled and im2col maps have in common.
struct Array {
    element: c_uint,
    rank: c_uint,
    address: *mut c_void,
    sizes: Option<In<c_ulonglong>>,
    strides: Option<In<c_ulonglong>>,
    steps: Option<In<c_uint>>,
    interleave: c_int,
    swizzle: c_int,
    promotion: c_int,
    fill: c_int,
}

impl Array {
    /// Returns the map of the array for copies of this extent, if the map is valid.
    ///
    /// # Safety
    /// The arrays must have as many elements as the rank requires.
    unsafe fn map(self, extent: Extent) -> Result<TensorMap, CudaError> {
        let rank = self.rank as usize;
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(CudaError::InvalidValue);
        }
        let number = |value: c_int| u32::try_from(value).ok();
        // SAFETY: the arrays have the lengths that the rank requires, by this function's contract.
        let (sizes, strides, steps) = unsafe {
            (
                elements(self.sizes, rank)?,
                elements(self.strides, rank - 1)?,
                elements(self.steps, rank)?,
            )
        };
        let map = TensorMap {
            element: required(ElementType::from_number(self.element))?,
            rank,
            interleave: required(number(self.interleave).and_then(Interleave::from_number))?,
            swizzle: required(number(self.swizzle).and_then(Swizzle::from_number))?,
            promotion: match self.promotion {
                promotion @ 0..=LAST_PROMOTION => promotion as u8,
                _ => return Err(CudaError::InvalidValue),
            },
            fills_nan: match self.fill {
                0 => false,
                1 => true,
                _ => return Err(CudaError::InvalidValue),
            },
            address: self.address.addr() as u64,
            sizes,
            strides,
            steps,
            extent,
        };
        map.is_valid().then_some(map).ok_or(CudaError::InvalidValue)
    }
}

/// Returns `count` elements of an array, followed by zeros.
///
/// # Safety
/// The array must have `count` elements.
unsafe fn elements<T: crate::arguments::Plain + Default, const N: usize>(
    array: Option<In<T>>,
    count: usize,
) -> Result<[T; N], CudaError> {
    let mut values = [T::default(); N];
    // SAFETY: the array has `count` elements, by this function's contract.
    let read = unsafe { required(array)?.read_all(count) };
    values[..count].copy_from_slice(&read);
    Ok(values)
}

/// Stores a descriptor. Only kernels need it to be aligned.
fn store(out: InOut<CUtensorMap>, map: &TensorMap) -> CallResult {
    let bytes = map.encode();
    // SAFETY: the pointer is one to a descriptor, which has this many bytes.
    unsafe { out.as_ptr().cast::<[u8; TENSOR_MAP_BYTES]>().write(bytes) };
    Ok(())
}

/// `cuTensorMapEncodeTiled`.
#[expect(clippy::too_many_arguments, reason = "the arguments are those of C")]
pub fn encode_tiled(
    out: InOut<CUtensorMap>,
    element: c_uint,
    rank: c_uint,
    address: *mut c_void,
    sizes: Option<In<c_ulonglong>>,
    strides: Option<In<c_ulonglong>>,
    box_sizes: Option<In<c_uint>>,
    steps: Option<In<c_uint>>,
    interleave: c_int,
    swizzle: c_int,
    promotion: c_int,
    fill: c_int,
) -> CallResult {
    let array = Array {
        element,
        rank,
        address,
        sizes,
        strides,
        steps,
        interleave,
        swizzle,
        promotion,
        fill,
    };
    let count = (rank as usize).min(MAX_RANK);
    // SAFETY: the C function requires `rank` elements in each array, or one less in that of the strides.
    let map = unsafe { array.map(Extent::Tile(elements(box_sizes, count)?)) }?;
    store(out, &map)
}

/// `cuTensorMapEncodeIm2col`.
#[expect(clippy::too_many_arguments, reason = "the arguments are those of C")]
pub fn encode_im2col(
    out: InOut<CUtensorMap>,
    element: c_uint,
    rank: c_uint,
    address: *mut c_void,
    sizes: Option<In<c_ulonglong>>,
    strides: Option<In<c_ulonglong>>,
    lower: Option<In<c_int>>,
    upper: Option<In<c_int>>,
    channels: c_uint,
    pixels: c_uint,
    steps: Option<In<c_uint>>,
    interleave: c_int,
    swizzle: c_int,
    promotion: c_int,
    fill: c_int,
) -> CallResult {
    let array = Array {
        element,
        rank,
        address,
        sizes,
        strides,
        steps,
        interleave,
        swizzle,
        promotion,
        fill,
    };
    let count = (rank as usize).saturating_sub(2).min(MAX_SPATIAL);
    // SAFETY: the C function requires `rank` elements in each array, one less in that of the strides, and two less in
    // those of the corners.
    let map = unsafe {
        array.map(Extent::Im2col(Im2col {
            lower: elements(lower, count)?,
            upper: elements(upper, count)?,
            channels,
            pixels,
        }))
    }?;
    store(out, &map)
}

/// `cuTensorMapEncodeIm2colWide`. Copies with its maps require compute capability 10.0.
#[expect(clippy::too_many_arguments, reason = "the arguments are those of C")]
pub fn encode_im2col_wide(
    out: InOut<CUtensorMap>,
    element: c_uint,
    rank: c_uint,
    address: *mut c_void,
    sizes: Option<In<c_ulonglong>>,
    strides: Option<In<c_ulonglong>>,
    lower_width: c_int,
    upper_width: c_int,
    channels: c_uint,
    pixels: c_uint,
    steps: Option<In<c_uint>>,
    interleave: c_int,
    mode: c_int,
    swizzle: c_int,
    promotion: c_int,
    fill: c_int,
) -> CallResult {
    if !(0..=LAST_WIDE_MODE).contains(&mode) {
        return Err(CudaError::InvalidValue.into());
    }
    let array = Array {
        element,
        rank,
        address,
        sizes,
        strides,
        steps,
        interleave,
        swizzle,
        promotion,
        fill,
    };
    // SAFETY: the C function requires `rank` elements in each array, and one less in that of the strides.
    let map = unsafe {
        array.map(Extent::Im2col(Im2col {
            lower: [lower_width, 0, 0],
            upper: [upper_width, 0, 0],
            channels,
            pixels,
        }))
    }?;
    store(out, &map)
}

/// `cuTensorMapReplaceAddress`. An H200's driver rejects null, which `cuTensorMapEncodeTiled` accepts.
pub fn replace_address(map: InOut<CUtensorMap>, address: *mut c_void) -> CallResult {
    if address.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: the pointer is one to a descriptor, which has this many bytes.
    let bytes = unsafe { map.as_ptr().cast::<[u8; TENSOR_MAP_BYTES]>().read() };
    let replaced = TensorMap {
        address: address.addr() as u64,
        ..required(TensorMap::decode(&bytes))?
    };
    if !replaced.is_valid() {
        return Err(CudaError::InvalidValue.into());
    }
    store(map, &replaced)
}
