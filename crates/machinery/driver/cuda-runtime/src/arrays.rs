//! CUDA arrays, the memory behind textures and surfaces, and the formats of their elements.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cuda_driver::types::{CUDA_ARRAY3D_DESCRIPTOR, CUarray};

use crate::context::context;
use crate::errors::{Error, Result, check};
use crate::functions::{free_unless, read};
use crate::types::{ChannelFormat, Extent};

functions! {
    cudaMallocArray(
        to: *mut CUarray, format: *const ChannelFormat, width: usize, height: usize, flags: c_uint,
    )
        -> to = allocate(read(format)?, Extent { width, height, depth: 0 }, flags), unsafe;
    cudaMalloc3DArray(
        to: *mut CUarray, format: *const ChannelFormat, extent: Extent, flags: c_uint,
    ) -> to = allocate(read(format)?, extent, flags), unsafe;
    cudaFreeArray(array: CUarray)
        = free_unless(array.is_null(), || cu::cuArrayDestroy(array)), unsafe;
    cudaArrayGetInfo(
        format: *mut ChannelFormat, extent: *mut Extent, flags: *mut c_uint, array: CUarray,
    ) => info;
    cudaGetChannelDesc(format: *mut ChannelFormat, array: CUarray)
        -> format = Ok(array_info(array)?.format.channel_format());

    // Mipmapped arrays
    cudaMallocMipmappedArray(
        to: *mut *mut c_void, format: *const ChannelFormat, extent: Extent, levels: c_uint,
        flags: c_uint,
    );
    cudaFreeMipmappedArray(array: *mut c_void);
    cudaGetMipmappedArrayLevel(to: *mut CUarray, array: *const c_void, level: c_uint);
}

/// Kinds of channels (`cudaChannelFormatKind`).
const SIGNED: c_int = 0;
const UNSIGNED: c_int = 1;
const FLOAT: c_int = 2;

/// The supported values of `CUarray_format`, with the kind and the bits of a channel.
const FORMATS: [(c_int, c_int, c_int); 8] = [
    (1, UNSIGNED, 8),
    (2, UNSIGNED, 16),
    (3, UNSIGNED, 32),
    (8, SIGNED, 8),
    (9, SIGNED, 16),
    (10, SIGNED, 32),
    (16, FLOAT, 16),
    (32, FLOAT, 32),
];

/// The driver's description of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// A value of `CUarray_format`.
    pub number: c_int,
    /// Number of channels: 1, 2 or 4.
    pub channels: c_uint,
    /// Bytes per element.
    pub bytes: usize,
}

impl Format {
    /// Converts the runtime's description. Fails with `cudaErrorInvalidChannelDescriptor` if there is no
    /// such format.
    pub fn new(format: ChannelFormat) -> Result<Self> {
        let ChannelFormat { x, y, z, w, f } = format;
        let channels = match (y, z, w) {
            (0, 0, 0) => 1,
            (y, 0, 0) if y == x => 2,
            (y, z, w) if y == x && z == x && w == x => 4,
            _ => return Err(Error::INVALID_CHANNEL),
        };
        let row = FORMATS.iter().find(|row| (row.1, row.2) == (f, x));
        let (number, _, bits) = *row.ok_or(Error::INVALID_CHANNEL)?;
        Ok(Self {
            number,
            channels,
            bytes: bits as usize / 8 * channels as usize,
        })
    }

    /// Converts the driver's description of an element.
    pub fn from_driver(number: c_int, channels: c_uint) -> Result<Self> {
        let row = FORMATS.iter().find(|row| row.0 == number);
        let (_, _, bits) = *row.ok_or(Error::INVALID_CHANNEL)?;
        Ok(Self {
            number,
            channels,
            bytes: bits as usize / 8 * channels as usize,
        })
    }

    pub fn channel_format(self) -> ChannelFormat {
        let row = FORMATS.iter().find(|row| row.0 == self.number);
        let (f, bits) = row.map_or((UNSIGNED, 0), |row| (row.1, row.2));
        let bits_of = |channel| if channel < self.channels { bits } else { 0 };
        ChannelFormat {
            x: bits_of(0),
            y: bits_of(1),
            z: bits_of(2),
            w: bits_of(3),
            f,
        }
    }
}

/// `cudaMallocArray` and `cudaMalloc3DArray`.
fn allocate(format: ChannelFormat, extent: Extent, flags: c_uint) -> Result<CUarray> {
    let format = Format::new(format)?;
    context()?;
    let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
        Width: extent.width,
        Height: extent.height,
        Depth: extent.depth,
        Format: format.number,
        NumChannels: format.channels,
        Flags: flags,
    };
    let mut new_array = null_mut();
    // SAFETY: `new_array` is writable, and `descriptor` lives until the call returns.
    check(unsafe { cu::cuArray3DCreate_v2(&mut new_array, &descriptor) })?;
    Ok(new_array)
}

/// An array's element format, size and flags.
#[derive(Clone, Copy)]
pub(crate) struct ArrayInfo {
    pub format: Format,
    pub extent: Extent,
    pub flags: c_uint,
}

/// Queries an array's element format, size and flags.
pub(crate) fn array_info(array: CUarray) -> Result<ArrayInfo> {
    if array.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    context()?;
    let mut descriptor = MaybeUninit::uninit();
    // SAFETY: the driver initializes the structure if the call succeeds.
    let descriptor = unsafe {
        check(cu::cuArray3DGetDescriptor_v2(
            descriptor.as_mut_ptr(),
            array,
        ))?;
        descriptor.assume_init()
    };
    Ok(ArrayInfo {
        format: Format::from_driver(descriptor.Format, descriptor.NumChannels)?,
        extent: Extent {
            width: descriptor.Width,
            height: descriptor.Height,
            depth: descriptor.Depth,
        },
        flags: descriptor.Flags,
    })
}

/// `cudaArrayGetInfo`.
unsafe fn info(
    format: *mut ChannelFormat,
    extent: *mut Extent,
    flags: *mut c_uint,
    array: CUarray,
) -> Result {
    let info = array_info(array)?;
    // SAFETY: `cudaArrayGetInfo` requires each out-parameter to be null or writable.
    unsafe {
        write_if_non_null(format, info.format.channel_format());
        write_if_non_null(extent, info.extent);
        write_if_non_null(flags, info.flags);
    }
    Ok(())
}

/// Writes `value` through an optional out-parameter.
///
/// # Safety
/// `to` must be null or valid for writes.
unsafe fn write_if_non_null<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: `to` is not null, and a non-null `to` is valid for writes.
        unsafe { to.write(value) }
    }
}

/// Creates a description of an element from the bits of its channels.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    f: c_int,
) -> ChannelFormat {
    ChannelFormat { x, y, z, w, f }
}
