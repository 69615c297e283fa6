//! Texture and surface objects.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;

use cuda_driver::functions as cu;
use cuda_driver::types::{CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC};

use crate::arrays::{Format, array_info};
use crate::context::context;
use crate::errors::{Error, Result, check};
use crate::functions::{free_unless, read};
use crate::memory::{address, pointer};
use crate::types::{
    LinearResource, PitchedResource, ResourceDesc, ResourceUnion, ResourceViewDesc, TextureDesc,
};

functions! {
    cudaCreateTextureObject(
        to: *mut u64, resource: *const ResourceDesc, desc: *const TextureDesc,
        view: *const ResourceViewDesc,
    ) -> to = create_texture(&read(resource)?, &read(desc)?, view.as_ref()), unsafe;
    cudaDestroyTextureObject(texture: u64)
        = free_unless(texture == 0, || cu::cuTexObjectDestroy(texture)), unsafe;
    cudaGetTextureObjectResourceDesc(to: *mut ResourceDesc, texture: u64)
        -> to = texture_resource_desc(texture);
    cudaGetTextureObjectTextureDesc(to: *mut TextureDesc, texture: u64)
        -> to = texture_desc(texture);
    cudaCreateSurfaceObject(to: *mut u64, resource: *const ResourceDesc)
        -> to = create_surface(&read(resource)?), unsafe;
    cudaDestroySurfaceObject(surface: u64)
        = free_unless(surface == 0, || cu::cuSurfObjectDestroy(surface)), unsafe;
    cudaGetSurfaceObjectResourceDesc(to: *mut ResourceDesc, surface: u64)
        -> to = surface_resource_desc(surface);
    cudaGetTextureObjectResourceViewDesc(to: *mut c_void, texture: u64);
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

/// `cudaGetTextureObjectResourceDesc`.
fn texture_resource_desc(texture: u64) -> Result<ResourceDesc> {
    context()?;
    let mut driver_desc = MaybeUninit::zeroed();
    // SAFETY: the driver initializes the structure if the call succeeds.
    let driver_desc = unsafe {
        check(cu::cuTexObjectGetResourceDesc(
            driver_desc.as_mut_ptr(),
            texture,
        ))?;
        driver_desc.assume_init()
    };
    to_runtime_resource(&driver_desc)
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

/// `cudaGetSurfaceObjectResourceDesc`.
fn surface_resource_desc(surface: u64) -> Result<ResourceDesc> {
    context()?;
    let mut driver_desc = MaybeUninit::zeroed();
    // SAFETY: the driver initializes the structure if the call succeeds.
    let driver_desc = unsafe {
        check(cu::cuSurfObjectGetResourceDesc(
            driver_desc.as_mut_ptr(),
            surface,
        ))?;
        driver_desc.assume_init()
    };
    to_runtime_resource(&driver_desc)
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
