//! Arrays: memory of the device's that textures and surfaces look at, and what its elements are.

use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cust_raw::{CUDA_ARRAY3D_DESCRIPTOR, CUarray};

use crate::arguments::{Out, read};
use crate::start::context;
use crate::status::{Answer, Error, driver};
use crate::types::{ChannelFormat, Extent};

/// The kinds of channels (`cudaChannelFormatKind`).
const SIGNED: c_int = 0;
const UNSIGNED: c_int = 1;
const FLOAT: c_int = 2;

/// The numbers of `CUarray_format`, with the kind and the bits of a channel.
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

/// What an element is, as the driver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// A number of `CUarray_format`.
    pub number: c_int,
    /// 1, 2 or 4.
    pub channels: c_uint,
    /// Bytes of an element.
    pub bytes: usize,
}

impl Format {
    /// `cudaErrorInvalidChannelDescriptor` where there is no such element.
    pub fn new(format: ChannelFormat) -> Answer<Self> {
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

    /// The element that the driver has described.
    pub fn described(number: c_int, channels: c_uint) -> Answer<Self> {
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

/// `cudaMallocArray`.
pub unsafe fn allocate(
    to: *mut CUarray,
    format: *const ChannelFormat,
    width: usize,
    height: usize,
    flags: c_uint,
) -> Answer {
    let extent = Extent {
        width,
        height,
        depth: 0,
    };
    // SAFETY: the caller's promise.
    unsafe { allocate_3d(to, format, extent, flags) }
}

/// `cudaMalloc3DArray`.
pub unsafe fn allocate_3d(
    to: *mut CUarray,
    format: *const ChannelFormat,
    extent: Extent,
    flags: c_uint,
) -> Answer {
    // SAFETY: the caller's promise.
    let (to, format) = unsafe { (Out::new(to)?, read(format)?) };
    let format = Format::new(format)?;
    context()?;
    let mut wanted = empty();
    wanted.Width = extent.width;
    wanted.Height = extent.height;
    wanted.Depth = extent.depth;
    wanted.NumChannels = format.channels;
    wanted.Flags = flags;
    let mut made = null_mut();
    // SAFETY: the format is one of C's numbers; the driver writes a handle.
    unsafe {
        (&raw mut wanted.Format)
            .cast::<c_int>()
            .write(format.number);
        driver(cu::cuArray3DCreate_v2(&mut made, &wanted))?;
    }
    to.set(made);
    Ok(())
}

/// A description of nothing.
fn empty() -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: 0,
        Height: 0,
        Depth: 0,
        Format: cust_raw::CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
        NumChannels: 0,
        Flags: 0,
    }
}

/// `cudaFreeArray`.
pub unsafe fn free(array: CUarray) -> Answer {
    context()?;
    if array.is_null() {
        return Ok(());
    }
    // SAFETY: any handle may be named.
    driver(unsafe { cu::cuArrayDestroy(array) })
}

/// An array's elements, size and flags.
#[derive(Clone, Copy)]
pub struct Described {
    pub format: Format,
    pub extent: Extent,
    pub flags: c_uint,
}

/// What an array is.
pub fn describe(array: CUarray) -> Answer<Described> {
    if array.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    context()?;
    let mut found = empty();
    // SAFETY: the driver fills the structure; its format is read as the number that it is in C.
    let number = unsafe {
        driver(cu::cuArray3DGetDescriptor_v2(&mut found, array))?;
        (&raw const found.Format).cast::<c_int>().read()
    };
    Ok(Described {
        format: Format::described(number, found.NumChannels)?,
        extent: Extent {
            width: found.Width,
            height: found.Height,
            depth: found.Depth,
        },
        flags: found.Flags,
    })
}

/// `cudaArrayGetInfo`.
pub unsafe fn info(
    format: *mut ChannelFormat,
    extent: *mut Extent,
    flags: *mut c_uint,
    array: CUarray,
) -> Answer {
    let found = describe(array)?;
    // SAFETY: the caller's promise.
    unsafe {
        set_if_wanted(format, found.format.channel_format());
        set_if_wanted(extent, found.extent);
        set_if_wanted(flags, found.flags);
    }
    Ok(())
}

/// # Safety
/// `to` must be null or writable.
unsafe fn set_if_wanted<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: not null, so writable by the caller's promise.
        unsafe { to.write(value) }
    }
}

/// `cudaGetChannelDesc`.
pub unsafe fn channel_format(to: *mut ChannelFormat, array: CUarray) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    to.set(describe(array)?.format.channel_format());
    Ok(())
}
