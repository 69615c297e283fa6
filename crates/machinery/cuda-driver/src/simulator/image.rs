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

/// The numbers of `CUarray_format`.
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

/// The numbers of `CUresourcetype`.
const ARRAY: c_int = 0;
const MIPMAPPED: c_int = 1;
const LINEAR: c_int = 2;
const PITCHED: c_int = 3;

/// The flags of a texture: whole numbers as they are, coordinates from 0 to 1; and, which changes nothing
/// here, no shortcut in filtering; cubes mixed across their edges. sRGB is not simulated.
const AS_WHOLE: c_uint = 1;
const NORMALISED: c_uint = 2;
const NO_TRILINEAR: c_uint = 0x20;
const SEAMLESS: c_uint = 0x40;

/// What objects were made of, for those who ask.
static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());

struct Made {
    object: u64,
    resource: Described<CUDA_RESOURCE_DESC>,
    how: Option<CUDA_TEXTURE_DESC>,
}

/// A description as C gave it. Its pointers are never followed.
#[derive(Clone, Copy)]
struct Described<T>(T);

// SAFETY: it is data to give back; nothing in it is used.
unsafe impl<T> Send for Described<T> {}

fn made() -> MutexGuard<'static, Vec<Made>> {
    lock(&MADE)
}

/// `cuArrayCreate`.
pub unsafe fn create(to: *mut CUarray, from: *const CUDA_ARRAY_DESCRIPTOR) -> Answer {
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
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
    // SAFETY: not null, so writable by the caller's promise; the format's number is one of C's.
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
    // SAFETY: as in `descriptor`.
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
    // SAFETY: the caller's promise.
    let (to, of, read) = unsafe { (Out::new(to)?, read_resource(resource)?, read_texture(how)?) };
    let (mut driver, context) = current()?;
    let object = driver.create_texture(context, of, &read)?;
    // SAFETY: not null, so readable.
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
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    let made = made();
    let found = made.iter().find(|made| made.object == object);
    to.set(found.ok_or(CudaError::InvalidValue)?.resource.0);
    Ok(())
}

/// `cuTexObjectGetTextureDesc`.
pub unsafe fn texture_of(to: *mut CUDA_TEXTURE_DESC, texture: CUtexObject) -> Answer {
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise.
    let (to, of) = unsafe { (Out::new(to)?, read_resource(resource)?) };
    let Resource::Array(array) = of else {
        return Err(CudaError::InvalidValue.into());
    };
    let (mut driver, context) = current()?;
    let object = driver.create_surface(context, array)?;
    // SAFETY: not null, so readable.
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

/// A format's number, which may be one that the enum lacks.
fn format_of<T>(format: *const T) -> c_int {
    // SAFETY: callers point to an enum of C's, which is such a number.
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

/// # Safety
/// `from` must be readable.
unsafe fn read_resource(from: *const CUDA_RESOURCE_DESC) -> Result<Resource, CudaError> {
    // SAFETY: the caller's promise; the kind says which part of the union counts.
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

/// # Safety
/// `from` must be readable.
unsafe fn read_texture(from: *const CUDA_TEXTURE_DESC) -> Result<Texture, CudaError> {
    const MODES: [AddressMode; 4] = [
        AddressMode::Wrap,
        AddressMode::Clamp,
        AddressMode::Mirror,
        AddressMode::Border,
    ];
    // SAFETY: the caller's promise; enums are read as the numbers that they are in C.
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
