//! Texture and surface objects.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;

use cuda_driver::functions as cu;
use cust_raw::{CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC};

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
    // SAFETY: the driver fills the structure; enums are read as integers, because they may hold a value that
    // Rust's enum lacks.
    let (driver_desc, modes, filter, mipmap) = unsafe {
        check(cu::cuTexObjectGetTextureDesc(
            driver_desc.as_mut_ptr(),
            texture,
        ))?;
        let driver_desc = driver_desc.as_ptr();
        (
            driver_desc,
            (&raw const (*driver_desc).addressMode)
                .cast::<[c_int; 3]>()
                .read(),
            (&raw const (*driver_desc).filterMode)
                .cast::<c_int>()
                .read(),
            (&raw const (*driver_desc).mipmapFilterMode)
                .cast::<c_int>()
                .read(),
        )
    };
    // SAFETY: `driver_desc` was filled above, and these fields have no invalid values.
    let (flags, border, anisotropy, bias, min, max) = unsafe {
        (
            (*driver_desc).flags,
            (*driver_desc).borderColor,
            (*driver_desc).maxAnisotropy,
            (*driver_desc).mipmapLevelBias,
            (*driver_desc).minMipmapLevelClamp,
            (*driver_desc).maxMipmapLevelClamp,
        )
    };
    let has = |flag: c_uint| c_int::from(flags & flag != 0);
    Ok(TextureDesc {
        address_mode: modes,
        filter_mode: filter,
        read_mode: 1 - has(READ_AS_INTEGER),
        srgb: has(SRGB),
        border_color: border,
        normalized_coordinates: has(NORMALIZED_COORDINATES),
        max_anisotropy: anisotropy,
        mipmap_filter_mode: mipmap,
        mipmap_level_bias: bias,
        min_mipmap_level_clamp: min,
        max_mipmap_level_clamp: max,
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
    let mut driver_desc = MaybeUninit::<CUDA_RESOURCE_DESC>::zeroed();
    let to = driver_desc.as_mut_ptr();
    // SAFETY: all fields may be zero; enums are written as C's integers, and `kind` selects the active member
    // of each union.
    unsafe {
        (&raw mut (*to).resType)
            .cast::<c_int>()
            .write(resource.kind);
        match resource.kind {
            ARRAY => (*to).res.array.hArray = resource.res.array,
            LINEAR => {
                let of = resource.res.linear;
                let to = &raw mut (*to).res.linear;
                (*to).devPtr = address(of.pointer);
                (&raw mut (*to).format).cast::<c_int>().write(format.number);
                (*to).numChannels = format.channels;
                (*to).sizeInBytes = of.bytes;
            }
            PITCHED => {
                let of = resource.res.pitched;
                let to = &raw mut (*to).res.pitch2D;
                (*to).devPtr = address(of.pointer);
                (&raw mut (*to).format).cast::<c_int>().write(format.number);
                (*to).numChannels = format.channels;
                (*to).width = of.width;
                (*to).height = of.height;
                (*to).pitchInBytes = of.pitch;
            }
            _ => return Err(Error::INVALID_VALUE),
        }
        Ok(driver_desc.assume_init())
    }
}

/// Converts the driver's resource description to the runtime's.
fn to_runtime_resource(resource: &CUDA_RESOURCE_DESC) -> Result<ResourceDesc> {
    // SAFETY: `resType` selects the active member of the union; enums are read as C's integers.
    unsafe {
        let kind = (&raw const resource.resType).cast::<c_int>().read();
        let res = match kind {
            ARRAY => ResourceUnion {
                array: resource.res.array.hArray,
            },
            LINEAR => {
                let of = &raw const resource.res.linear;
                let number = (&raw const (*of).format).cast::<c_int>().read();
                ResourceUnion {
                    linear: LinearResource {
                        pointer: pointer((*of).devPtr),
                        format: Format::from_driver(number, (*of).numChannels)?.channel_format(),
                        bytes: (*of).sizeInBytes,
                    },
                }
            }
            PITCHED => {
                let of = &raw const resource.res.pitch2D;
                let number = (&raw const (*of).format).cast::<c_int>().read();
                ResourceUnion {
                    pitched: PitchedResource {
                        pointer: pointer((*of).devPtr),
                        format: Format::from_driver(number, (*of).numChannels)?.channel_format(),
                        width: (*of).width,
                        height: (*of).height,
                        pitch: (*of).pitchInBytes,
                    },
                }
            }
            _ => return Err(Error::INVALID_VALUE),
        };
        Ok(ResourceDesc { kind, res })
    }
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
    let mut driver_desc = MaybeUninit::<CUDA_TEXTURE_DESC>::zeroed();
    let flag = |on: bool, flag: c_uint| if on { flag } else { 0 };
    let to = driver_desc.as_mut_ptr();
    // SAFETY: all fields may be zero; enums are written as C's integers.
    unsafe {
        (&raw mut (*to).addressMode)
            .cast::<[c_int; 3]>()
            .write(desc.address_mode);
        (&raw mut (*to).filterMode)
            .cast::<c_int>()
            .write(desc.filter_mode);
        (&raw mut (*to).mipmapFilterMode)
            .cast::<c_int>()
            .write(desc.mipmap_filter_mode);
        (*to).flags = flag(desc.read_mode == READ_ELEMENT_TYPE, READ_AS_INTEGER)
            | flag(desc.normalized_coordinates != 0, NORMALIZED_COORDINATES)
            | flag(desc.srgb != 0, SRGB)
            | flag(desc.disable_trilinear_optimization != 0, DISABLE_TRILINEAR)
            | flag(desc.seamless_cubemap != 0, SEAMLESS_CUBEMAP);
        (*to).maxAnisotropy = desc.max_anisotropy;
        (*to).mipmapLevelBias = desc.mipmap_level_bias;
        (*to).minMipmapLevelClamp = desc.min_mipmap_level_clamp;
        (*to).maxMipmapLevelClamp = desc.max_mipmap_level_clamp;
        (*to).borderColor = desc.border_color;
        driver_desc.assume_init()
    }
}
