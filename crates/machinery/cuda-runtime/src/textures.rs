//! Texture and surface objects.

use std::ffi::{c_int, c_uint};
use std::mem::MaybeUninit;

use cuda_driver::functions as cu;
use cust_raw::{CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC};

use crate::arguments::{Out, read};
use crate::arrays::{Format, describe};
use crate::memory::{address, pointer};
use crate::start::context;
use crate::status::{Answer, Error, driver};
use crate::types::{
    LinearResource, PitchedResource, ResourceDesc, ResourceOf, ResourceViewDesc, TextureDesc,
};

/// The numbers of `cudaResourceType` and of `CUresourcetype`.
const ARRAY: c_int = 0;
const MIPMAPPED: c_int = 1;
const LINEAR: c_int = 2;
const PITCHED: c_int = 3;

/// `cudaReadModeElementType`, and linear filtering.
const AS_ELEMENT: c_int = 0;
const LINEAR_FILTER: c_int = 1;

/// The flags of a texture in the driver API.
const AS_WHOLE: c_uint = 1;
const NORMALISED: c_uint = 2;
const SRGB: c_uint = 0x10;
const NO_TRILINEAR: c_uint = 0x20;
const SEAMLESS: c_uint = 0x40;

/// `cudaCreateTextureObject`.
pub unsafe fn create_texture(
    to: *mut u64,
    resource: *const ResourceDesc,
    how: *const TextureDesc,
    view: *const ResourceViewDesc,
) -> Answer {
    // SAFETY: the caller's promise.
    let (to, resource, how) = unsafe { (Out::new(to)?, read(resource)?, read(how)?) };
    context()?;
    let format = format_of(&resource)?;
    let whole = format.number < 16;
    if how.filter_mode == LINEAR_FILTER && whole && how.read_mode == AS_ELEMENT {
        // `cudaErrorInvalidFilterSetting`: whole numbers cannot be mixed.
        return Err(Error(26));
    }
    let resource = of_driver(&resource, format)?;
    // SAFETY: the caller's promise.
    let view = unsafe { view.as_ref() }.map(view_of_driver);
    let view = view.as_ref().map_or(std::ptr::null(), |view| view.as_ptr());
    let mut found = 0;
    // SAFETY: the driver reads the structures and writes a handle.
    driver(unsafe {
        cu::cuTexObjectCreate(&mut found, &resource, &texture_of_driver(&how), view)
    })?;
    to.set(found);
    Ok(())
}

/// `cudaDestroyTextureObject`. There may be none to destroy.
pub unsafe fn destroy_texture(texture: u64) -> Answer {
    context()?;
    if texture == 0 {
        return Ok(());
    }
    // SAFETY: any handle may be named.
    driver(unsafe { cu::cuTexObjectDestroy(texture) })
}

/// `cudaGetTextureObjectResourceDesc`.
pub unsafe fn resource_of_texture(to: *mut ResourceDesc, texture: u64) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = MaybeUninit::zeroed();
    // SAFETY: the driver fills the structure.
    let found = unsafe {
        driver(cu::cuTexObjectGetResourceDesc(found.as_mut_ptr(), texture))?;
        found.assume_init()
    };
    to.set(of_runtime(&found)?);
    Ok(())
}

/// `cudaGetTextureObjectTextureDesc`.
pub unsafe fn texture_of_texture(to: *mut TextureDesc, texture: u64) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = MaybeUninit::<CUDA_TEXTURE_DESC>::zeroed();
    // SAFETY: the driver fills the structure; enums are read as the numbers that they are in C.
    let (found, modes, filter, mipmap) = unsafe {
        driver(cu::cuTexObjectGetTextureDesc(found.as_mut_ptr(), texture))?;
        let found = found.as_ptr();
        (
            found,
            (&raw const (*found).addressMode)
                .cast::<[c_int; 3]>()
                .read(),
            (&raw const (*found).filterMode).cast::<c_int>().read(),
            (&raw const (*found).mipmapFilterMode)
                .cast::<c_int>()
                .read(),
        )
    };
    // SAFETY: filled above; these fields may hold anything.
    let (flags, border, anisotropy, bias, min, max) = unsafe {
        (
            (*found).flags,
            (*found).borderColor,
            (*found).maxAnisotropy,
            (*found).mipmapLevelBias,
            (*found).minMipmapLevelClamp,
            (*found).maxMipmapLevelClamp,
        )
    };
    let has = |flag: c_uint| c_int::from(flags & flag != 0);
    to.set(TextureDesc {
        address_mode: modes,
        filter_mode: filter,
        read_mode: 1 - has(AS_WHOLE),
        srgb: has(SRGB),
        border_color: border,
        normalized_coordinates: has(NORMALISED),
        max_anisotropy: anisotropy,
        mipmap_filter_mode: mipmap,
        mipmap_level_bias: bias,
        min_mipmap_level_clamp: min,
        max_mipmap_level_clamp: max,
        disable_trilinear_optimization: has(NO_TRILINEAR),
        seamless_cubemap: has(SEAMLESS),
    });
    Ok(())
}

/// `cudaCreateSurfaceObject`.
pub unsafe fn create_surface(to: *mut u64, resource: *const ResourceDesc) -> Answer {
    // SAFETY: the caller's promise.
    let (to, resource) = unsafe { (Out::new(to)?, read(resource)?) };
    context()?;
    let resource = of_driver(&resource, format_of(&resource)?)?;
    let mut found = 0;
    // SAFETY: the driver reads the structure and writes a handle.
    driver(unsafe { cu::cuSurfObjectCreate(&mut found, &resource) })?;
    to.set(found);
    Ok(())
}

/// `cudaDestroySurfaceObject`. There may be none to destroy.
pub unsafe fn destroy_surface(surface: u64) -> Answer {
    context()?;
    if surface == 0 {
        return Ok(());
    }
    // SAFETY: any handle may be named.
    driver(unsafe { cu::cuSurfObjectDestroy(surface) })
}

/// `cudaGetSurfaceObjectResourceDesc`.
pub unsafe fn resource_of_surface(to: *mut ResourceDesc, surface: u64) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = MaybeUninit::zeroed();
    // SAFETY: the driver fills the structure.
    let found = unsafe {
        driver(cu::cuSurfObjectGetResourceDesc(found.as_mut_ptr(), surface))?;
        found.assume_init()
    };
    to.set(of_runtime(&found)?);
    Ok(())
}

/// What the elements of a resource are.
fn format_of(resource: &ResourceDesc) -> Answer<Format> {
    // SAFETY: the kind says which part of the union counts.
    unsafe {
        match resource.kind {
            ARRAY => Ok(describe(resource.of.array)?.format),
            LINEAR => Format::new(resource.of.linear.format),
            PITCHED => Format::new(resource.of.pitched.format),
            MIPMAPPED => {
                cuda_driver::say(format_args!("mipmapped arrays are not there"));
                Err(Error::NOT_SUPPORTED)
            }
            _ => Err(Error::INVALID_VALUE),
        }
    }
}

/// A resource as the driver knows it.
fn of_driver(resource: &ResourceDesc, format: Format) -> Answer<CUDA_RESOURCE_DESC> {
    let mut made = MaybeUninit::<CUDA_RESOURCE_DESC>::zeroed();
    let to = made.as_mut_ptr();
    // SAFETY: all fields may be zero; enums are written as the numbers that they are in C, and the kind
    // says which part of each union counts.
    unsafe {
        (&raw mut (*to).resType)
            .cast::<c_int>()
            .write(resource.kind);
        match resource.kind {
            ARRAY => (*to).res.array.hArray = resource.of.array,
            LINEAR => {
                let of = resource.of.linear;
                let to = &raw mut (*to).res.linear;
                (*to).devPtr = address(of.pointer);
                (&raw mut (*to).format).cast::<c_int>().write(format.number);
                (*to).numChannels = format.channels;
                (*to).sizeInBytes = of.bytes;
            }
            PITCHED => {
                let of = resource.of.pitched;
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
        Ok(made.assume_init())
    }
}

/// A resource of the driver's as the runtime gives it back.
fn of_runtime(resource: &CUDA_RESOURCE_DESC) -> Answer<ResourceDesc> {
    // SAFETY: as in `of_driver`.
    unsafe {
        let kind = (&raw const resource.resType).cast::<c_int>().read();
        let of = match kind {
            ARRAY => ResourceOf {
                array: resource.res.array.hArray,
            },
            LINEAR => {
                let of = &raw const resource.res.linear;
                let number = (&raw const (*of).format).cast::<c_int>().read();
                ResourceOf {
                    linear: LinearResource {
                        pointer: pointer((*of).devPtr),
                        format: Format::described(number, (*of).numChannels)?.channel_format(),
                        bytes: (*of).sizeInBytes,
                    },
                }
            }
            PITCHED => {
                let of = &raw const resource.res.pitch2D;
                let number = (&raw const (*of).format).cast::<c_int>().read();
                ResourceOf {
                    pitched: PitchedResource {
                        pointer: pointer((*of).devPtr),
                        format: Format::described(number, (*of).numChannels)?.channel_format(),
                        width: (*of).width,
                        height: (*of).height,
                        pitch: (*of).pitchInBytes,
                    },
                }
            }
            _ => return Err(Error::INVALID_VALUE),
        };
        Ok(ResourceDesc { kind, of })
    }
}

/// A view as the driver knows it: the runtime's structure is the beginning of the driver's.
fn view_of_driver(view: &ResourceViewDesc) -> MaybeUninit<CUDA_RESOURCE_VIEW_DESC> {
    let mut made = MaybeUninit::<CUDA_RESOURCE_VIEW_DESC>::zeroed();
    // SAFETY: it is shorter, and its fields lie at the same places.
    unsafe { made.as_mut_ptr().cast::<ResourceViewDesc>().write(*view) };
    made
}

/// How a texture is read, as the driver knows it.
fn texture_of_driver(how: &TextureDesc) -> CUDA_TEXTURE_DESC {
    let mut made = MaybeUninit::<CUDA_TEXTURE_DESC>::zeroed();
    let flag = |on: bool, flag: c_uint| if on { flag } else { 0 };
    let to = made.as_mut_ptr();
    // SAFETY: all fields may be zero; enums are written as the numbers that they are in C.
    unsafe {
        (&raw mut (*to).addressMode)
            .cast::<[c_int; 3]>()
            .write(how.address_mode);
        (&raw mut (*to).filterMode)
            .cast::<c_int>()
            .write(how.filter_mode);
        (&raw mut (*to).mipmapFilterMode)
            .cast::<c_int>()
            .write(how.mipmap_filter_mode);
        (*to).flags = flag(how.read_mode == AS_ELEMENT, AS_WHOLE)
            | flag(how.normalized_coordinates != 0, NORMALISED)
            | flag(how.srgb != 0, SRGB)
            | flag(how.disable_trilinear_optimization != 0, NO_TRILINEAR)
            | flag(how.seamless_cubemap != 0, SEAMLESS);
        (*to).maxAnisotropy = how.max_anisotropy;
        (*to).mipmapLevelBias = how.mipmap_level_bias;
        (*to).minMipmapLevelClamp = how.min_mipmap_level_clamp;
        (*to).maxMipmapLevelClamp = how.max_mipmap_level_clamp;
        (*to).borderColor = how.border_color;
        made.assume_init()
    }
}
