//! CUDA arrays with the formats of their elements, and the texture and surface objects that read and write them.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cuda_driver::types::{
    CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC,
    CUarray,
};

use crate::context::context;
use crate::errors::{Code, Error, Result, check};
use crate::functions::{free_unless, read};
use crate::memory::{address, pointer};
use crate::types::{
    ChannelFormat, Extent, LinearResource, PitchedResource, ResourceDesc, ResourceUnion,
    ResourceViewDesc, TextureDesc,
};

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

    // Texture and surface objects
    cudaCreateTextureObject(
        to: *mut u64, resource: *const ResourceDesc, desc: *const TextureDesc,
        view: *const ResourceViewDesc,
    ) -> to = create_texture(&read(resource)?, &read(desc)?, view.as_ref()), unsafe;
    cudaDestroyTextureObject(texture: u64)
        = free_unless(texture == 0, || cu::cuTexObjectDestroy(texture)), unsafe;
    cudaGetTextureObjectResourceDesc(to: *mut ResourceDesc, texture: u64)
        -> to = resource_desc(|desc| cu::cuTexObjectGetResourceDesc(desc, texture)), unsafe;
    cudaGetTextureObjectTextureDesc(to: *mut TextureDesc, texture: u64)
        -> to = texture_desc(texture);
    cudaCreateSurfaceObject(to: *mut u64, resource: *const ResourceDesc)
        -> to = create_surface(&read(resource)?), unsafe;
    cudaDestroySurfaceObject(surface: u64)
        = free_unless(surface == 0, || cu::cuSurfObjectDestroy(surface)), unsafe;
    cudaGetSurfaceObjectResourceDesc(to: *mut ResourceDesc, surface: u64)
        -> to = resource_desc(|desc| cu::cuSurfObjectGetResourceDesc(desc, surface)), unsafe;
    cudaGetTextureObjectResourceViewDesc(to: *mut c_void, texture: u64);
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

/// Values shared by `cudaResourceType` and `CUresourcetype`.
const ARRAY: c_int = 0;
const MIPMAPPED: c_int = 1;
const LINEAR: c_int = 2;
const PITCHED: c_int = 3;

/// `cudaReadModeElementType` and `cudaFilterModeLinear`.
const READ_ELEMENT_TYPE: c_int = 0;
const FILTER_LINEAR: c_int = 1;

/// Texture flags of the driver API.
const READ_AS_INTEGER: c_uint = 1;
const NORMALIZED_COORDINATES: c_uint = 2;
const SRGB: c_uint = 0x10;
const DISABLE_TRILINEAR: c_uint = 0x20;
const SEAMLESS_CUBEMAP: c_uint = 0x40;

/// `cudaCreateTextureObject`.
fn create_texture(
    resource: &ResourceDesc,
    desc: &TextureDesc,
    view: Option<&ResourceViewDesc>,
) -> Result<u64> {
    context()?;
    let format = resource_format(resource)?;
    let is_integer = format.number < 16;
    if desc.filter_mode == FILTER_LINEAR && is_integer && desc.read_mode == READ_ELEMENT_TYPE {
        // `cudaErrorInvalidFilterSetting`: integers cannot be interpolated.
        return Err(Error(26));
    }
    let resource = to_driver_resource(resource, format)?;
    let view = view.map(to_driver_view);
    let view = view.as_ref().map_or(std::ptr::null(), |view| view.as_ptr());
    let mut handle = 0;
    // SAFETY: `handle` is writable, and the descriptors live until the call returns.
    check(unsafe {
        cu::cuTexObjectCreate(&mut handle, &resource, &to_driver_texture(desc), view)
    })?;
    Ok(handle)
}

/// Returns the resource of a texture or surface object, which `get` reads from the driver.
fn resource_desc(get: impl FnOnce(*mut CUDA_RESOURCE_DESC) -> Code) -> Result<ResourceDesc> {
    context()?;
    let mut desc = MaybeUninit::zeroed();
    check(get(desc.as_mut_ptr()))?;
    // SAFETY: the driver initializes the structure if the call succeeds.
    to_runtime_resource(&unsafe { desc.assume_init() })
}

/// `cudaGetTextureObjectTextureDesc`.
fn texture_desc(texture: u64) -> Result<TextureDesc> {
    context()?;
    let mut driver_desc = MaybeUninit::<CUDA_TEXTURE_DESC>::zeroed();
    // SAFETY: the driver initializes the structure if the call succeeds.
    let driver_desc = unsafe {
        check(cu::cuTexObjectGetTextureDesc(
            driver_desc.as_mut_ptr(),
            texture,
        ))?;
        driver_desc.assume_init()
    };
    let has = |flag: c_uint| c_int::from(driver_desc.flags & flag != 0);
    Ok(TextureDesc {
        address_mode: driver_desc.addressMode,
        filter_mode: driver_desc.filterMode,
        read_mode: 1 - has(READ_AS_INTEGER),
        srgb: has(SRGB),
        border_color: driver_desc.borderColor,
        normalized_coordinates: has(NORMALIZED_COORDINATES),
        max_anisotropy: driver_desc.maxAnisotropy,
        mipmap_filter_mode: driver_desc.mipmapFilterMode,
        mipmap_level_bias: driver_desc.mipmapLevelBias,
        min_mipmap_level_clamp: driver_desc.minMipmapLevelClamp,
        max_mipmap_level_clamp: driver_desc.maxMipmapLevelClamp,
        disable_trilinear_optimization: has(DISABLE_TRILINEAR),
        seamless_cubemap: has(SEAMLESS_CUBEMAP),
    })
}

/// `cudaCreateSurfaceObject`.
fn create_surface(resource: &ResourceDesc) -> Result<u64> {
    context()?;
    let resource = to_driver_resource(resource, resource_format(resource)?)?;
    let mut handle = 0;
    // SAFETY: `handle` is writable, and the descriptor lives until the call returns.
    check(unsafe { cu::cuSurfObjectCreate(&mut handle, &resource) })?;
    Ok(handle)
}

/// Returns the element format of a resource.
fn resource_format(resource: &ResourceDesc) -> Result<Format> {
    // SAFETY: `kind` selects the active member of the union.
    unsafe {
        match resource.kind {
            ARRAY => Ok(array_info(resource.res.array)?.format),
            LINEAR => Format::new(resource.res.linear.format),
            PITCHED => Format::new(resource.res.pitched.format),
            MIPMAPPED => {
                cuda_driver::warn(format_args!("mipmapped arrays are not supported"));
                Err(Error::NOT_SUPPORTED)
            }
            _ => Err(Error::INVALID_VALUE),
        }
    }
}

/// Converts a resource description to the driver's.
fn to_driver_resource(resource: &ResourceDesc, format: Format) -> Result<CUDA_RESOURCE_DESC> {
    // SAFETY: all fields may be zero, and `kind` selects the active member of each union.
    unsafe {
        let mut driver_desc: CUDA_RESOURCE_DESC = std::mem::zeroed();
        driver_desc.resType = resource.kind;
        match resource.kind {
            ARRAY => driver_desc.res.array.hArray = resource.res.array,
            LINEAR => {
                let of = resource.res.linear;
                driver_desc.res.linear = cuda_driver::types::LinearResource {
                    devPtr: address(of.pointer),
                    format: format.number,
                    numChannels: format.channels,
                    sizeInBytes: of.bytes,
                };
            }
            PITCHED => {
                let of = resource.res.pitched;
                driver_desc.res.pitch2D = cuda_driver::types::PitchResource {
                    devPtr: address(of.pointer),
                    format: format.number,
                    numChannels: format.channels,
                    width: of.width,
                    height: of.height,
                    pitchInBytes: of.pitch,
                };
            }
            _ => return Err(Error::INVALID_VALUE),
        }
        Ok(driver_desc)
    }
}

/// Converts the driver's resource description to the runtime's.
fn to_runtime_resource(resource: &CUDA_RESOURCE_DESC) -> Result<ResourceDesc> {
    let kind = resource.resType;
    // SAFETY: `kind` selects the active member of the union.
    let res = unsafe {
        match kind {
            ARRAY => ResourceUnion {
                array: resource.res.array.hArray,
            },
            LINEAR => {
                let of = resource.res.linear;
                ResourceUnion {
                    linear: LinearResource {
                        pointer: pointer(of.devPtr),
                        format: Format::from_driver(of.format, of.numChannels)?.channel_format(),
                        bytes: of.sizeInBytes,
                    },
                }
            }
            PITCHED => {
                let of = resource.res.pitch2D;
                ResourceUnion {
                    pitched: PitchedResource {
                        pointer: pointer(of.devPtr),
                        format: Format::from_driver(of.format, of.numChannels)?.channel_format(),
                        width: of.width,
                        height: of.height,
                        pitch: of.pitchInBytes,
                    },
                }
            }
            _ => return Err(Error::INVALID_VALUE),
        }
    };
    Ok(ResourceDesc { kind, res })
}

/// Converts a view description to the driver's, of which the runtime's is a prefix.
fn to_driver_view(view: &ResourceViewDesc) -> MaybeUninit<CUDA_RESOURCE_VIEW_DESC> {
    let mut driver_desc = MaybeUninit::<CUDA_RESOURCE_VIEW_DESC>::zeroed();
    // SAFETY: the runtime's structure is shorter, and its fields have the same offsets.
    unsafe {
        driver_desc
            .as_mut_ptr()
            .cast::<ResourceViewDesc>()
            .write(*view)
    };
    driver_desc
}

/// Converts a texture description to the driver's.
fn to_driver_texture(desc: &TextureDesc) -> CUDA_TEXTURE_DESC {
    let flag = |on: bool, flag: c_uint| if on { flag } else { 0 };
    CUDA_TEXTURE_DESC {
        addressMode: desc.address_mode,
        filterMode: desc.filter_mode,
        flags: flag(desc.read_mode == READ_ELEMENT_TYPE, READ_AS_INTEGER)
            | flag(desc.normalized_coordinates != 0, NORMALIZED_COORDINATES)
            | flag(desc.srgb != 0, SRGB)
            | flag(desc.disable_trilinear_optimization != 0, DISABLE_TRILINEAR)
            | flag(desc.seamless_cubemap != 0, SEAMLESS_CUBEMAP),
        maxAnisotropy: desc.max_anisotropy,
        mipmapFilterMode: desc.mipmap_filter_mode,
        mipmapLevelBias: desc.mipmap_level_bias,
        minMipmapLevelClamp: desc.min_mipmap_level_clamp,
        maxMipmapLevelClamp: desc.max_mipmap_level_clamp,
        borderColor: desc.border_color,
        reserved: [0; 12],
    }
}
