//! Arrays, texture objects and surface objects.

use std::ffi::{c_int, c_uint};
use std::sync::{Mutex, MutexGuard};

use cuda_sim::driver::{ArrayDescription, CudaError, Resource};
use cuda_sim::exec::image::{AddressMode, Channel, Image, Slices, Texture};
use cust_raw::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC, CUarray, CUsurfObject, CUtexObject,
};

use super::raw::{Out, handle, number};
use super::{current, driver, lock};
use crate::report::say;
use crate::status::Answer;

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
/// optimization and
/// seamless cube maps are accepted without effect on the result. sRGB is not supported.
const AS_WHOLE: c_uint = 1;
const NORMALISED: c_uint = 2;
const NO_TRILINEAR: c_uint = 0x20;
const SEAMLESS: c_uint = 0x40;

/// The descriptors of all objects, for the functions that return them.
static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());

struct Made {
    object: u64,
    resource: Described<CUDA_RESOURCE_DESC>,
    how: Option<CUDA_TEXTURE_DESC>,
}

/// A descriptor from C. Its pointers are never dereferenced.
#[derive(Clone, Copy)]
struct Described<T>(T);

// SAFETY: the pointers in it are returned to the program and never dereferenced.
unsafe impl<T> Send for Described<T> {}

fn made() -> MutexGuard<'static, Vec<Made>> {
    lock(&MADE)
}

/// `cuArrayCreate`.
pub unsafe fn create(to: *mut CUarray, from: *const CUDA_ARRAY_DESCRIPTOR) -> Answer {
    // SAFETY: `to` is null or writable, and `from` is null or readable, as `cuArrayCreate` requires of its
    // caller.
    let (to, from) = unsafe { (Out::new(to)?, from.as_ref()) };
    let from = from.ok_or(CudaError::InvalidValue)?;
    let (mut driver, context) = current()?;
    let array = driver.create_array(
        context,
        &ArrayDescription {
            size: [from.Width as u64, from.Height as u64, 0],
            channel: channel(format_of(&raw const from.Format))?,
            channels: from.NumChannels,
            flags: 0,
        },
    )?;
    to.set(handle(array));
    Ok(())
}

/// `cuArray3DCreate`.
pub unsafe fn create_3d(to: *mut CUarray, from: *const CUDA_ARRAY3D_DESCRIPTOR) -> Answer {
    // SAFETY: `to` is null or writable, and `from` is null or readable, as `cuArray3DCreate` requires of its
    // caller.
    let (to, from) = unsafe { (Out::new(to)?, from.as_ref()) };
    let from = from.ok_or(CudaError::InvalidValue)?;
    let (mut driver, context) = current()?;
    let array = driver.create_array(
        context,
        &ArrayDescription {
            size: [from.Width, from.Height, from.Depth].map(|size| size as u64),
            channel: channel(format_of(&raw const from.Format))?,
            channels: from.NumChannels,
            flags: from.Flags,
        },
    )?;
    to.set(handle(array));
    Ok(())
}

/// `cuArrayGetDescriptor`.
pub unsafe fn descriptor(to: *mut CUDA_ARRAY_DESCRIPTOR, array: CUarray) -> Answer {
    if to.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let found = driver()?.array(number(array))?;
    // SAFETY: `to` is not null, so it is writable as `cuArrayGetDescriptor` requires; the format is a valid
    // enum value.
    unsafe {
        (*to).Width = found.size[0] as usize;
        (*to).Height = found.size[1] as usize;
        (&raw mut (*to).Format)
            .cast::<c_int>()
            .write(format(found.channel));
        (*to).NumChannels = found.channels;
    }
    Ok(())
}

/// `cuArray3DGetDescriptor`.
pub unsafe fn descriptor_3d(to: *mut CUDA_ARRAY3D_DESCRIPTOR, array: CUarray) -> Answer {
    if to.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    let found = driver()?.array(number(array))?;
    // SAFETY: `to` is not null, so it is writable as `cuArray3DGetDescriptor` requires; the format is a valid
    // enum value.
    unsafe {
        (*to).Width = found.size[0] as usize;
        (*to).Height = found.size[1] as usize;
        (*to).Depth = found.size[2] as usize;
        (&raw mut (*to).Format)
            .cast::<c_int>()
            .write(format(found.channel));
        (*to).NumChannels = found.channels;
        (*to).Flags = found.flags;
    }
    Ok(())
}

/// `cuArrayDestroy`.
pub unsafe fn destroy(array: CUarray) -> Answer {
    let (mut driver, context) = current()?;
    Ok(driver.destroy_array(context, number(array))?)
}

/// `cuTexObjectCreate`.
pub unsafe fn create_texture(
    to: *mut CUtexObject,
    resource: *const CUDA_RESOURCE_DESC,
    how: *const CUDA_TEXTURE_DESC,
    view: *const CUDA_RESOURCE_VIEW_DESC,
) -> Answer {
    if resource.is_null() || how.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    if !view.is_null() {
        say(format_args!("the simulator does not do resource views"));
        return Err(CudaError::NotSupported.into());
    }
    // SAFETY: `to` is null or writable, as `cuTexObjectCreate` requires; `resource` and `params` are not
    // null, so they are
    // readable.
    let (to, of, read) = unsafe { (Out::new(to)?, read_resource(resource)?, read_texture(how)?) };
    let (mut driver, context) = current()?;
    let object = driver.create_texture(context, of, &read)?;
    // SAFETY: neither pointer is null, so both are readable as `cuTexObjectCreate` requires of its caller.
    let (resource, how) = unsafe { (Described(resource.read()), how.read()) };
    made().push(Made {
        object,
        resource,
        how: Some(how),
    });
    to.set(object);
    Ok(())
}

/// `cuTexObjectDestroy`.
pub unsafe fn destroy_texture(texture: CUtexObject) -> Answer {
    let (mut driver, context) = current()?;
    driver.destroy_texture(context, texture)?;
    made().retain(|made| made.object != texture);
    Ok(())
}

/// `cuTexObjectGetResourceDesc`, `cuSurfObjectGetResourceDesc`.
pub unsafe fn resource_of(to: *mut CUDA_RESOURCE_DESC, object: u64) -> Answer {
    // SAFETY: `to` is null or writable, as `cuTexObjectGetResourceDesc` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let made = made();
    let found = made.iter().find(|made| made.object == object);
    to.set(found.ok_or(CudaError::InvalidValue)?.resource.0);
    Ok(())
}

/// `cuTexObjectGetTextureDesc`.
pub unsafe fn texture_of(to: *mut CUDA_TEXTURE_DESC, texture: CUtexObject) -> Answer {
    // SAFETY: `to` is null or writable, as `cuTexObjectGetTextureDesc` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let made = made();
    let found = made.iter().find(|made| made.object == texture);
    let how = found.and_then(|made| made.how);
    to.set(how.ok_or(CudaError::InvalidValue)?);
    Ok(())
}

/// `cuSurfObjectCreate`.
pub unsafe fn create_surface(to: *mut CUsurfObject, resource: *const CUDA_RESOURCE_DESC) -> Answer {
    if resource.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: `to` is null or writable, as `cuSurfObjectCreate` requires; `resource` is not null, so it is
    // readable.
    let (to, of) = unsafe { (Out::new(to)?, read_resource(resource)?) };
    let Resource::Array(array) = of else {
        return Err(CudaError::InvalidValue.into());
    };
    let (mut driver, context) = current()?;
    let object = driver.create_surface(context, array)?;
    // SAFETY: `resource` is not null, so it is readable as `cuSurfObjectCreate` requires of its caller.
    let resource = unsafe { Described(resource.read()) };
    made().push(Made {
        object,
        resource,
        how: None,
    });
    to.set(object);
    Ok(())
}

/// `cuSurfObjectDestroy`.
pub unsafe fn destroy_surface(surface: CUsurfObject) -> Answer {
    let (mut driver, context) = current()?;
    driver.destroy_surface(context, surface)?;
    made().retain(|made| made.object != surface);
    Ok(())
}

/// Reads an enum as an integer, because it may hold a value that the Rust enum lacks.
fn format_of<T>(format: *const T) -> c_int {
    // SAFETY: all callers pass a pointer to a readable C enum, which has the size of an `int`.
    unsafe { format.cast::<c_int>().read() }
}

fn channel(number: c_int) -> Result<Channel, CudaError> {
    let found = FORMATS.iter().find(|(known, _)| *known == number);
    found
        .map(|(_, channel)| *channel)
        .ok_or(CudaError::InvalidValue)
}

fn format(channel: Channel) -> c_int {
    let found = FORMATS.iter().find(|(_, known)| *known == channel);
    found.map_or(0, |(number, _)| *number)
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
                say(format_args!("the simulator does not do mipmapped arrays"));
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
                let rows = &raw const (*from).res.pitch2D;
                Ok(Resource::Pitched {
                    address: (*rows).devPtr,
                    channel: channel(format_of(&raw const (*rows).format))?,
                    channels: (*rows).numChannels,
                    width: (*rows).width as u64,
                    height: (*rows).height as u64,
                    pitch: (*rows).pitchInBytes as u64,
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
    let mut of = [AddressMode::Wrap; 3];
    for (of, mode) in of.iter_mut().zip(modes) {
        let found = usize::try_from(mode).ok().and_then(|mode| MODES.get(mode));
        *of = *found.ok_or(CudaError::InvalidValue)?;
    }
    let known = AS_WHOLE | NORMALISED | NO_TRILINEAR | SEAMLESS;
    if !(0..=1).contains(&filter) || flags & !known != 0 {
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
        modes: of,
        linear_filter: filter == 1,
        normalised: flags & NORMALISED != 0,
        as_whole: flags & AS_WHOLE != 0,
        seamless: flags & SEAMLESS != 0,
        border,
    })
}
