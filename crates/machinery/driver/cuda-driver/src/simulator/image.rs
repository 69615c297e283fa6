//! Arrays, texture objects and surface objects.

use std::ffi::{c_int, c_uint};
use std::sync::MutexGuard;

use cuda_sim::driver::{ArrayDescription, CudaError, Resource};
use cuda_sim::exec::image::{AddressMode, Channel, Image, Slices, Texture};
use cust_raw::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC, CUarray, CUsurfObject, CUtexObject,
};

use super::raw::{Out, handle, number};
use super::{SIMULATOR, lock_current_context_drained, lock_driver_drained, lock_mutex};
use crate::log::warn;
use crate::status::CallResult;

/// Values of `CUarray_format`.
const FORMATS: [(c_int, Channel); 8] = [
    (1, Channel::U8),
    (2, Channel::U16),
    (3, Channel::U32),
    (8, Channel::S8),
    (9, Channel::S16),
    (10, Channel::S32),
    (16, Channel::F16),
    (32, Channel::F32),
];

/// Values of `CUresourcetype`.
const ARRAY: c_int = 0;
const MIPMAPPED: c_int = 1;
const LINEAR: c_int = 2;
const PITCHED: c_int = 3;

/// Flags of a texture: integer reads without conversion, and normalized coordinates. Disabled trilinear
/// optimization and seamless cube maps are accepted without effect on the result. sRGB is not supported.
const READ_AS_INTEGER: c_uint = 1;
const NORMALIZED_COORDINATES: c_uint = 2;
const DISABLE_TRILINEAR: c_uint = 0x20;
const SEAMLESS_CUBEMAP: c_uint = 0x40;

/// The descriptors of an object, for the functions that return them.
pub struct ObjectDescriptors {
    object: u64,
    resource: OpaqueDescriptor<CUDA_RESOURCE_DESC>,
    params: Option<CUDA_TEXTURE_DESC>,
}

/// A descriptor from C. Its pointers are never dereferenced.
#[derive(Clone, Copy)]
struct OpaqueDescriptor<T>(T);

// SAFETY: the pointers in it are returned to the program and never dereferenced.
unsafe impl<T> Send for OpaqueDescriptor<T> {}

fn descriptors() -> MutexGuard<'static, Vec<ObjectDescriptors>> {
    lock_mutex(&SIMULATOR.image_descriptors)
}

/// `cuArrayCreate`.
pub unsafe fn create(out: *mut CUarray, from: *const CUDA_ARRAY_DESCRIPTOR) -> CallResult {
    // SAFETY: `out` is null or writable, and `from` is null or readable, as `cuArrayCreate` requires of its
    // caller.
    let (out, from) = unsafe { (Out::new(out)?, from.as_ref()) };
    let from = from.ok_or(CudaError::InvalidValue)?;
    let (mut driver, context) = lock_current_context_drained()?;
    let array = driver.create_array(
        context,
        &ArrayDescription {
            size: [from.Width as u64, from.Height as u64, 0],
            channel: channel(format_of(&raw const from.Format))?,
            channels: from.NumChannels,
            flags: 0,
        },
    )?;
    out.set(handle(array));
    Ok(())
}

/// `cuArray3DCreate`.
pub unsafe fn create_3d(out: *mut CUarray, from: *const CUDA_ARRAY3D_DESCRIPTOR) -> CallResult {
    // SAFETY: `out` is null or writable, and `from` is null or readable, as `cuArray3DCreate` requires of its
    // caller.
    let (out, from) = unsafe { (Out::new(out)?, from.as_ref()) };
    let from = from.ok_or(CudaError::InvalidValue)?;
    let (mut driver, context) = lock_current_context_drained()?;
    let array = driver.create_array(
        context,
        &ArrayDescription {
            size: [from.Width, from.Height, from.Depth].map(|size| size as u64),
            channel: channel(format_of(&raw const from.Format))?,
            channels: from.NumChannels,
            flags: from.Flags,
        },
    )?;
    out.set(handle(array));
    Ok(())
}

/// `cuArrayGetDescriptor`.
pub unsafe fn descriptor(out: *mut CUDA_ARRAY_DESCRIPTOR, array: CUarray) -> CallResult {
    if out.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let description = lock_driver_drained()?.array(number(array))?;
    // SAFETY: `out` is not null, so it is writable as `cuArrayGetDescriptor` requires; the format is a valid
    // enum value.
    unsafe {
        (*out).Width = description.size[0] as usize;
        (*out).Height = description.size[1] as usize;
        (&raw mut (*out).Format)
            .cast::<c_int>()
            .write(format(description.channel));
        (*out).NumChannels = description.channels;
    }
    Ok(())
}

/// `cuArray3DGetDescriptor`.
pub unsafe fn descriptor_3d(out: *mut CUDA_ARRAY3D_DESCRIPTOR, array: CUarray) -> CallResult {
    if out.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let description = lock_driver_drained()?.array(number(array))?;
    // SAFETY: `out` is not null, so it is writable as `cuArray3DGetDescriptor` requires; the format is a valid
    // enum value.
    unsafe {
        (*out).Width = description.size[0] as usize;
        (*out).Height = description.size[1] as usize;
        (*out).Depth = description.size[2] as usize;
        (&raw mut (*out).Format)
            .cast::<c_int>()
            .write(format(description.channel));
        (*out).NumChannels = description.channels;
        (*out).Flags = description.flags;
    }
    Ok(())
}

/// `cuArrayDestroy`.
pub unsafe fn destroy(array: CUarray) -> CallResult {
    let (mut driver, context) = lock_current_context_drained()?;
    Ok(driver.destroy_array(context, number(array))?)
}

/// `cuTexObjectCreate`.
pub unsafe fn create_texture(
    out: *mut CUtexObject,
    resource: *const CUDA_RESOURCE_DESC,
    params: *const CUDA_TEXTURE_DESC,
    view: *const CUDA_RESOURCE_VIEW_DESC,
) -> CallResult {
    if resource.is_null() || params.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    if !view.is_null() {
        warn(format_args!(
            "the simulator does not support resource views"
        ));
        return Err(CudaError::NotSupported.into());
    }
    // SAFETY: `out` is null or writable, as `cuTexObjectCreate` requires; `resource` and `params` are not
    // null, so they are readable.
    let (out, parsed, texture) = unsafe {
        (
            Out::new(out)?,
            read_resource(resource)?,
            read_texture(params)?,
        )
    };
    let (mut driver, context) = lock_current_context_drained()?;
    let object = driver.create_texture(context, parsed, &texture)?;
    // SAFETY: neither pointer is null, so both are readable as `cuTexObjectCreate` requires of its caller.
    let (resource, params) = unsafe { (OpaqueDescriptor(resource.read()), params.read()) };
    descriptors().push(ObjectDescriptors {
        object,
        resource,
        params: Some(params),
    });
    out.set(object);
    Ok(())
}

/// `cuTexObjectDestroy`.
pub unsafe fn destroy_texture(texture: CUtexObject) -> CallResult {
    let (mut driver, context) = lock_current_context_drained()?;
    driver.destroy_texture(context, texture)?;
    descriptors().retain(|entry| entry.object != texture);
    Ok(())
}

/// `cuTexObjectGetResourceDesc`, `cuSurfObjectGetResourceDesc`.
pub unsafe fn resource_of(out: *mut CUDA_RESOURCE_DESC, object: u64) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuTexObjectGetResourceDesc` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    let descriptors = descriptors();
    let entry = descriptors.iter().find(|entry| entry.object == object);
    out.set(entry.ok_or(CudaError::InvalidValue)?.resource.0);
    Ok(())
}

/// `cuTexObjectGetTextureDesc`.
pub unsafe fn texture_of(out: *mut CUDA_TEXTURE_DESC, texture: CUtexObject) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuTexObjectGetTextureDesc` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    let descriptors = descriptors();
    let entry = descriptors.iter().find(|entry| entry.object == texture);
    let params = entry.and_then(|entry| entry.params);
    out.set(params.ok_or(CudaError::InvalidValue)?);
    Ok(())
}

/// `cuSurfObjectCreate`.
pub unsafe fn create_surface(
    out: *mut CUsurfObject,
    resource: *const CUDA_RESOURCE_DESC,
) -> CallResult {
    if resource.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: `out` is null or writable, as `cuSurfObjectCreate` requires; `resource` is not null, so it is
    // readable.
    let (out, parsed) = unsafe { (Out::new(out)?, read_resource(resource)?) };
    let Resource::Array(array) = parsed else {
        return Err(CudaError::InvalidValue.into());
    };
    let (mut driver, context) = lock_current_context_drained()?;
    let object = driver.create_surface(context, array)?;
    // SAFETY: `resource` is not null, so it is readable as `cuSurfObjectCreate` requires of its caller.
    let resource = unsafe { OpaqueDescriptor(resource.read()) };
    descriptors().push(ObjectDescriptors {
        object,
        resource,
        params: None,
    });
    out.set(object);
    Ok(())
}

/// `cuSurfObjectDestroy`.
pub unsafe fn destroy_surface(surface: CUsurfObject) -> CallResult {
    let (mut driver, context) = lock_current_context_drained()?;
    driver.destroy_surface(context, surface)?;
    descriptors().retain(|entry| entry.object != surface);
    Ok(())
}

/// Reads an enum as an integer, because it may hold a value that the Rust enum lacks.
fn format_of<T>(format: *const T) -> c_int {
    // SAFETY: all callers pass a pointer to a readable C enum, which has the size of an `int`.
    unsafe { format.cast::<c_int>().read() }
}

fn channel(number: c_int) -> Result<Channel, CudaError> {
    let entry = FORMATS.iter().find(|(format, _)| *format == number);
    entry
        .map(|(_, channel)| *channel)
        .ok_or(CudaError::InvalidValue)
}

fn format(channel: Channel) -> c_int {
    let entry = FORMATS.iter().find(|(_, entry)| *entry == channel);
    entry.map_or(0, |(number, _)| *number)
}

/// Reads a resource descriptor.
///
/// # Safety
/// `from` must be readable.
unsafe fn read_resource(from: *const CUDA_RESOURCE_DESC) -> Result<Resource, CudaError> {
    // SAFETY: `from` is readable, by this function's contract; `resType` selects the valid part of the union.
    unsafe {
        match format_of(&raw const (*from).resType) {
            ARRAY => Ok(Resource::Array(number((*from).res.array.hArray))),
            MIPMAPPED => {
                warn(format_args!(
                    "the simulator does not support mipmapped arrays"
                ));
                Err(CudaError::NotSupported)
            }
            LINEAR => {
                let linear = &raw const (*from).res.linear;
                Ok(Resource::Linear {
                    address: (*linear).devPtr,
                    channel: channel(format_of(&raw const (*linear).format))?,
                    channels: (*linear).numChannels,
                    bytes: (*linear).sizeInBytes as u64,
                })
            }
            PITCHED => {
                let pitched = &raw const (*from).res.pitch2D;
                Ok(Resource::Pitched {
                    address: (*pitched).devPtr,
                    channel: channel(format_of(&raw const (*pitched).format))?,
                    channels: (*pitched).numChannels,
                    width: (*pitched).width as u64,
                    height: (*pitched).height as u64,
                    pitch: (*pitched).pitchInBytes as u64,
                })
            }
            _ => Err(CudaError::InvalidValue),
        }
    }
}

/// Reads a texture descriptor.
///
/// # Safety
/// `from` must be readable.
unsafe fn read_texture(from: *const CUDA_TEXTURE_DESC) -> Result<Texture, CudaError> {
    const MODES: [AddressMode; 4] = [
        AddressMode::Wrap,
        AddressMode::Clamp,
        AddressMode::Mirror,
        AddressMode::Border,
    ];
    // SAFETY: `from` is readable, by this function's contract; enums are read as integers.
    let (modes, filter, flags, border) = unsafe {
        (
            (&raw const (*from).addressMode).cast::<[c_int; 3]>().read(),
            format_of(&raw const (*from).filterMode),
            (*from).flags,
            (*from).borderColor,
        )
    };
    let mut address_modes = [AddressMode::Wrap; 3];
    for (address_mode, mode) in address_modes.iter_mut().zip(modes) {
        let decoded = usize::try_from(mode).ok().and_then(|mode| MODES.get(mode));
        *address_mode = *decoded.ok_or(CudaError::InvalidValue)?;
    }
    let valid_flags =
        READ_AS_INTEGER | NORMALIZED_COORDINATES | DISABLE_TRILINEAR | SEAMLESS_CUBEMAP;
    if !(0..=1).contains(&filter) || flags & !valid_flags != 0 {
        return Err(CudaError::InvalidValue);
    }
    Ok(Texture {
        image: Image {
            base: 0,
            size: [0; 3],
            slices: Slices::Depth,
            channel: Channel::U8,
            channels: 1,
            pitch: 0,
            linear: false,
        },
        modes: address_modes,
        linear_filter: filter == 1,
        normalised: flags & NORMALIZED_COORDINATES != 0,
        reads_integers: flags & READ_AS_INTEGER != 0,
        seamless: flags & SEAMLESS_CUBEMAP != 0,
        border,
    })
}
