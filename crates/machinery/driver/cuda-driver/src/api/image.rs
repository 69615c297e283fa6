//! Arrays, texture objects and surface objects.

use std::ffi::{c_int, c_uint};

use cuda_sim::driver::{ArrayDescription, CudaError, Resource, View};
use cuda_sim::exec::image::{Channel, LevelSampling, Texture};

use super::SIMULATOR;
use super::device::check_device;
use crate::arguments::{In, Out, handle, number, required};
use crate::simulator::{ObjectDescriptors, Sampling, lock};
use crate::status::CallResult;
use crate::types::{
    CU_RESOURCE_TYPE_ARRAY, CU_RESOURCE_TYPE_LINEAR, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
    CU_RESOURCE_TYPE_PITCH2D, CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC,
    CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUarray, CUdevice, CUmipmappedArray, CUsurfObject,
    CUtexObject, MemoryRequirements, SparseProperties,
};

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

/// Stores the descriptors of an object, whose resource [`read_resource`] has accepted.
fn store_descriptors(
    object: u64,
    resource: &In<CUDA_RESOURCE_DESC>,
    params: Option<CUDA_TEXTURE_DESC>,
    view: Option<CUDA_RESOURCE_VIEW_DESC>,
) {
    let descriptors = ObjectDescriptors {
        resource: resource.read(),
        params,
        view,
    };
    lock(&SIMULATOR.tables.image_descriptors).insert(object, descriptors);
}

/// `cuArrayCreate`.
pub fn create(out: Out<CUarray>, from: In<CUDA_ARRAY_DESCRIPTOR>) -> CallResult {
    let from = from.read();
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let description = ArrayDescription {
        size: [from.Width as u64, from.Height as u64, 0],
        channel: channel(from.Format)?,
        channels: from.NumChannels,
        flags: 0,
    };
    out.set(handle(driver.create_array(context, &description)?));
    Ok(())
}

/// `cuArray3DCreate`.
pub fn create_3d(out: Out<CUarray>, from: In<CUDA_ARRAY3D_DESCRIPTOR>) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let description = read_description(&from)?;
    out.set(handle(driver.create_array(context, &description)?));
    Ok(())
}

/// Reads the description of an array.
fn read_description(from: &In<CUDA_ARRAY3D_DESCRIPTOR>) -> Result<ArrayDescription, CudaError> {
    let from = from.read();
    Ok(ArrayDescription {
        size: [from.Width, from.Height, from.Depth].map(|size| size as u64),
        channel: channel(from.Format)?,
        channels: from.NumChannels,
        flags: from.Flags,
    })
}

/// `cuMipmappedArrayCreate`.
pub fn create_mipmap(
    out: Out<CUmipmappedArray>,
    from: In<CUDA_ARRAY3D_DESCRIPTOR>,
    levels: c_uint,
) -> CallResult {
    let description = read_description(&from)?;
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let created = driver.create_mipmapped_array(context, &description, levels)?;
    out.set(handle(created));
    Ok(())
}

/// `cuMipmappedArrayGetLevel`.
pub fn mipmap_level(out: Out<CUarray>, mipmap: CUmipmappedArray, level: c_uint) -> CallResult {
    let driver = SIMULATOR.lock_driver_settled()?;
    out.set(handle(driver.mipmap_level(number(mipmap), level)?));
    Ok(())
}

/// `cuMipmappedArrayDestroy`.
pub fn destroy_mipmap(mipmap: CUmipmappedArray) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_drained()?;
    driver.destroy_mipmapped_array(context, number(mipmap))?;
    SIMULATOR.report_call_findings(driver);
    Ok(())
}

/// `cuArrayGetMemoryRequirements`.
pub fn requirements(out: Out<MemoryRequirements>, array: CUarray, device: CUdevice) -> CallResult {
    check_device(device).map_err(|_| CudaError::InvalidValue)?;
    let (size, alignment) = SIMULATOR
        .lock_driver_settled()?
        .array_requirements(number(array))?;
    out.set(MemoryRequirements {
        size: size as usize,
        alignment: alignment as usize,
        reserved: [0; 4],
    });
    Ok(())
}

/// `cuMipmappedArrayGetMemoryRequirements`: those of all levels.
pub fn mipmap_requirements(
    out: Out<MemoryRequirements>,
    mipmap: CUmipmappedArray,
    device: CUdevice,
) -> CallResult {
    check_device(device).map_err(|_| CudaError::InvalidValue)?;
    let driver = SIMULATOR.lock_driver_settled()?;
    let first = driver.mipmap_level(number(mipmap), 0)?;
    let (mut size, alignment) = driver.array_requirements(first)?;
    for level in 1.. {
        let Ok(array) = driver.mipmap_level(number(mipmap), level) else {
            break;
        };
        size += driver.array_requirements(array)?.0;
    }
    out.set(MemoryRequirements {
        size: size as usize,
        alignment: alignment as usize,
        reserved: [0; 4],
    });
    Ok(())
}

/// `cuArrayGetSparseProperties`.
pub fn sparse_properties(out: Out<SparseProperties>, array: CUarray) -> CallResult {
    let tile = SIMULATOR
        .lock_driver_settled()?
        .sparse_tile(number(array))?;
    out.set(SparseProperties {
        tile,
        ..SparseProperties::default()
    });
    Ok(())
}

/// `cuMipmappedArrayGetSparseProperties`: no level is in a tail.
pub fn mipmap_sparse_properties(
    out: Out<SparseProperties>,
    mipmap: CUmipmappedArray,
) -> CallResult {
    let first = SIMULATOR
        .lock_driver_settled()?
        .mipmap_level(number(mipmap), 0)?;
    sparse_properties(out, handle(first))
}

/// `cuArrayGetPlane`: the formats that the simulator supports have one plane, and no planes to select.
pub fn plane(_out: *mut CUarray, array: CUarray, _plane: c_uint) -> CallResult {
    SIMULATOR.lock_driver_settled()?.array(number(array))?;
    Err(CudaError::InvalidValue.into())
}

/// `cuArrayGetDescriptor`.
pub fn descriptor(out: Out<CUDA_ARRAY_DESCRIPTOR>, array: CUarray) -> CallResult {
    let description = SIMULATOR.lock_driver_settled()?.array(number(array))?;
    out.set(CUDA_ARRAY_DESCRIPTOR {
        Width: description.size[0] as usize,
        Height: description.size[1] as usize,
        Format: format(description.channel),
        NumChannels: description.channels,
    });
    Ok(())
}

/// `cuArray3DGetDescriptor`.
pub fn descriptor_3d(out: Out<CUDA_ARRAY3D_DESCRIPTOR>, array: CUarray) -> CallResult {
    let description = SIMULATOR.lock_driver_settled()?.array(number(array))?;
    out.set(CUDA_ARRAY3D_DESCRIPTOR {
        Width: description.size[0] as usize,
        Height: description.size[1] as usize,
        Depth: description.size[2] as usize,
        Format: format(description.channel),
        NumChannels: description.channels,
        Flags: description.flags,
    });
    Ok(())
}

/// `cuArrayDestroy`.
pub fn destroy(array: CUarray) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_drained()?;
    driver.destroy_array(context, number(array))?;
    SIMULATOR.report_call_findings(driver);
    Ok(())
}

/// `cuTexObjectCreate`.
pub fn create_texture(
    out: Option<Out<CUtexObject>>,
    resource: In<CUDA_RESOURCE_DESC>,
    params: In<CUDA_TEXTURE_DESC>,
    view: Option<In<CUDA_RESOURCE_VIEW_DESC>>,
) -> CallResult {
    let out = required(out)?;
    let (parsed, (texture, levels)) = (read_resource(&resource)?, read_texture(&params)?);
    let parsed_view = view.as_ref().map(read_view).transpose()?;
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let view_of_array = parsed_view.as_ref();
    let object = driver.create_texture(context, parsed, view_of_array, &texture, levels)?;
    let view = view.map(|view| view.read());
    store_descriptors(object, &resource, Some(params.read()), view);
    out.set(object);
    Ok(())
}

/// `cuTexObjectDestroy`.
pub fn destroy_texture(texture: CUtexObject) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    driver.destroy_texture(context, texture)?;
    lock(&SIMULATOR.tables.image_descriptors).remove(&texture);
    Ok(())
}

/// `cuTexObjectGetResourceDesc`, `cuSurfObjectGetResourceDesc`.
pub fn resource_of(out: Out<CUDA_RESOURCE_DESC>, object: u64) -> CallResult {
    let descriptors = lock(&SIMULATOR.tables.image_descriptors);
    let entry = descriptors.get(&object);
    out.set(entry.ok_or(CudaError::InvalidValue)?.resource);
    Ok(())
}

/// `cuTexObjectGetTextureDesc`.
pub fn texture_of(out: Out<CUDA_TEXTURE_DESC>, texture: CUtexObject) -> CallResult {
    let descriptors = lock(&SIMULATOR.tables.image_descriptors);
    let entry = descriptors.get(&texture);
    let params = entry.and_then(|entry| entry.params);
    out.set(params.ok_or(CudaError::InvalidValue)?);
    Ok(())
}

/// `cuTexObjectGetResourceViewDesc`. Writes nothing for a texture object without a view.
pub fn view_of(out: Out<CUDA_RESOURCE_VIEW_DESC>, texture: CUtexObject) -> CallResult {
    let descriptors = lock(&SIMULATOR.tables.image_descriptors);
    let entry = descriptors.get(&texture).ok_or(CudaError::InvalidValue)?;
    if let Some(view) = entry.view {
        out.set(view);
    }
    Ok(())
}

/// `cuSurfObjectCreate`.
pub fn create_surface(out: Out<CUsurfObject>, resource: In<CUDA_RESOURCE_DESC>) -> CallResult {
    let Resource::Array(array) = read_resource(&resource)? else {
        return Err(CudaError::InvalidValue.into());
    };
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    let object = driver.create_surface(context, array)?;
    store_descriptors(object, &resource, None, None);
    out.set(object);
    Ok(())
}

/// `cuSurfObjectDestroy`.
pub fn destroy_surface(surface: CUsurfObject) -> CallResult {
    let (mut driver, context) = SIMULATOR.lock_current_context_settled()?;
    driver.destroy_surface(context, surface)?;
    lock(&SIMULATOR.tables.image_descriptors).remove(&surface);
    Ok(())
}

/// `cuDeviceGetTexture1DLinearMaxWidth`: as on an H200, at most 2³⁰ texels and 4 GiB.
pub fn max_linear_texture_width(
    width: Out<usize>,
    format: c_int,
    channels: c_uint,
    device: CUdevice,
) -> CallResult {
    check_device(device)?;
    if !matches!(channels, 1 | 2 | 4) {
        return Err(CudaError::InvalidValue.into());
    }
    let element = channel(format)?.bytes() * channels;
    width.set(max_linear_texels(element) as usize);
    Ok(())
}

/// Returns the maximum number of texels of a texture of linear memory, given the bytes per texel.
pub fn max_linear_texels(texel: u32) -> u64 {
    const MAX_TEXELS: u64 = 1 << 30;
    const MAX_BYTES: u64 = 1 << 32;
    MAX_TEXELS.min(MAX_BYTES / u64::from(texel))
}

/// Returns the type of the channels of a `CUarray_format`.
pub fn channel(number: c_int) -> Result<Channel, CudaError> {
    let entry = FORMATS.iter().find(|(format, _)| *format == number);
    entry
        .map(|(_, channel)| *channel)
        .ok_or(CudaError::InvalidValue)
}

fn format(channel: Channel) -> c_int {
    let entry = FORMATS.iter().find(|(_, entry)| *entry == channel);
    entry.map_or(0, |(number, _)| *number)
}

/// The formats of views by `CUresourceViewFormat`, from 1 on; each has one, two and four channels. Block-compressed
/// formats are not supported.
const VIEW_FORMATS: [Channel; 8] = [
    Channel::U8,
    Channel::S8,
    Channel::U16,
    Channel::S16,
    Channel::U32,
    Channel::S32,
    Channel::F16,
    Channel::F32,
];

/// Reads a resource view descriptor.
fn read_view(from: &In<CUDA_RESOURCE_VIEW_DESC>) -> Result<View, CudaError> {
    const CHANNELS: [u32; 3] = [1, 2, 4];
    let from = from.read();
    let index =
        usize::try_from(from.format.wrapping_sub(1)).map_err(|_| CudaError::InvalidValue)?;
    let channel = VIEW_FORMATS.get(index / CHANNELS.len());
    Ok(View {
        channel: *channel.ok_or(CudaError::InvalidValue)?,
        channels: CHANNELS[index % CHANNELS.len()],
        size: [from.width, from.height, from.depth].map(|size| size as u64),
        levels: [from.firstMipmapLevel, from.lastMipmapLevel],
        layers: [from.firstLayer, from.lastLayer],
    })
}

/// Reads a resource descriptor.
fn read_resource(from: &In<CUDA_RESOURCE_DESC>) -> Result<Resource, CudaError> {
    let from = from.read();
    if from.flags != 0 {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `resType` selects the valid part of the union.
    unsafe {
        match from.resType {
            CU_RESOURCE_TYPE_ARRAY => Ok(Resource::Array(number(from.res.array.hArray))),
            CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
                Ok(Resource::Mipmapped(number(from.res.mipmap.hMipmappedArray)))
            }
            CU_RESOURCE_TYPE_LINEAR => {
                let linear = from.res.linear;
                Ok(Resource::Linear {
                    address: linear.devPtr,
                    channel: channel(linear.format)?,
                    channels: linear.numChannels,
                    bytes: linear.sizeInBytes as u64,
                })
            }
            CU_RESOURCE_TYPE_PITCH2D => {
                let pitched = from.res.pitch2D;
                Ok(Resource::Pitched {
                    address: pitched.devPtr,
                    channel: channel(pitched.format)?,
                    channels: pitched.numChannels,
                    width: pitched.width as u64,
                    height: pitched.height as u64,
                    pitch: pitched.pitchInBytes as u64,
                })
            }
            _ => Err(CudaError::InvalidValue),
        }
    }
}

/// Reads a texture descriptor.
fn read_texture(from: &In<CUDA_TEXTURE_DESC>) -> Result<(Texture, LevelSampling), CudaError> {
    let from = from.read();
    let sampling = Sampling {
        address_modes: from.addressMode,
        filter: from.filterMode,
        flags: from.flags,
        level_filter: from.mipmapFilterMode,
        level_bias: from.mipmapLevelBias,
        level_clamp: [from.minMipmapLevelClamp, from.maxMipmapLevelClamp],
        max_anisotropy: from.maxAnisotropy,
        border: from.borderColor,
    };
    sampling.read()
}
