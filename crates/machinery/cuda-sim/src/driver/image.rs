//! Arrays, texture objects and surface objects.
//!
//! An array's texels lie in device memory by rows and slices, whatever a GPU does with them. Which arrays there
//! are is in `array_shape.rs`.

use std::sync::Arc;

use super::array_shape::{WRITABLE, size_and_slices};
use super::{ContextId, CudaError, Driver};
use crate::exec::image::{Channel, Image, Slices, Texture};

/// An array, and what belongs to it.
pub(super) struct Array {
    pub(super) context: ContextId,
    image: Image,
    /// `CUDA_ARRAY3D_DESCRIPTOR`'s flags.
    flags: u32,
}

/// What an array is made of: `CUDA_ARRAY3D_DESCRIPTOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayDescription {
    /// Texels in x, y and z; 0 in a dimension that it does not have. What z counts the flags say.
    pub size: [u64; 3],
    pub channel: Channel,
    pub channels: u32,
    pub flags: u32,
}

/// What a texture or surface object is of: `CUDA_RESOURCE_DESC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Array(u64),
    /// A row of device memory.
    Linear {
        address: u64,
        channel: Channel,
        channels: u32,
        bytes: u64,
    },
    /// Rows of device memory.
    Pitched {
        address: u64,
        channel: Channel,
        channels: u32,
        width: u64,
        height: u64,
        pitch: u64,
    },
}

impl Driver {
    /// `cuArrayCreate`, `cuArray3DCreate`: an array, whose texels are undefined at first.
    /// [`CudaError::InvalidValue`] for a size, a number of channels or flags that no array has.
    pub fn create_array(
        &mut self,
        context: ContextId,
        description: &ArrayDescription,
    ) -> Result<u64, CudaError> {
        let ArrayDescription {
            size,
            channel,
            channels,
            flags,
        } = *description;
        let (size, slices) = size_and_slices(size, flags)?;
        if !matches!(channels, 1 | 2 | 4) {
            return Err(CudaError::InvalidValue);
        }
        let mut image = Image {
            base: 0,
            size,
            slices,
            channel,
            channels,
            pitch: 0,
            linear: false,
        };
        image.pitch = u64::from(size[0]) * image.texel();
        image.base = self.allocate(context, image.bytes())?;
        let handle = self.handles.next();
        let array = Array {
            context,
            image,
            flags,
        };
        self.arrays.insert(handle, array);
        Ok(handle)
    }

    /// `cuArrayDestroy`. [`CudaError::InvalidHandle`] for no array.
    pub fn destroy_array(&mut self, context: ContextId, array: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let removed = self.arrays.remove(&array).ok_or(CudaError::InvalidHandle)?;
        self.free(context, removed.image.base)
    }

    /// `cuArrayGetDescriptor`, `cuArray3DGetDescriptor`. [`CudaError::InvalidHandle`] for no array.
    pub fn array(&self, array: u64) -> Result<ArrayDescription, CudaError> {
        let Array { image, flags, .. } = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
        Ok(ArrayDescription {
            size: image.size.map(u64::from),
            channel: image.channel,
            channels: image.channels,
            flags: *flags,
        })
    }

    /// Where the texels of an array lie: its first, bytes of a row, rows of a slice.
    /// [`CudaError::InvalidHandle`] for no array.
    pub fn array_memory(&self, array: u64) -> Result<(u64, u64, u64), CudaError> {
        let Array { image, .. } = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
        Ok((image.base, image.pitch, image.extent(1) as u64))
    }

    /// Copies to and from an array stay inside of its rows. [`CudaError::InvalidValue`] where one does not.
    pub fn array_takes(
        &self,
        array: u64,
        [x, y, z]: [u64; 3],
        [width, height, depth]: [u64; 3],
    ) -> Result<(), CudaError> {
        let Array { image, .. } = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
        let texel = image.texel();
        let within = |from: u64, count: u64, most: i64| {
            from.checked_add(count)
                .is_some_and(|end| end <= most as u64)
        };
        let inside = within(x, width, image.extent(0) * texel as i64)
            && within(y, height, image.extent(1))
            && within(z, depth, image.extent(2));
        match inside && x % texel == 0 && width % texel == 0 {
            true => Ok(()),
            false => Err(CudaError::InvalidValue),
        }
    }

    /// `cuTexObjectCreate`: an object to read a resource by, in the way of `how`, whose image does not matter.
    /// [`CudaError::InvalidValue`] for a resource that is none, for a mixture of whole numbers, and where what is
    /// no cube has to be mixed across its edges.
    pub fn create_texture(
        &mut self,
        context: ContextId,
        resource: Resource,
        how: &Texture,
    ) -> Result<u64, CudaError> {
        self.context(context)?;
        let image = self.image(resource)?;
        let large = matches!(image.channel, Channel::U32 | Channel::S32);
        let as_whole = image.channel.is_whole() && (how.as_whole || large);
        let cube = matches!(image.slices, Slices::Cube | Slices::Cubes);
        if how.linear_filter && (as_whole || image.linear) || how.seamless && !cube {
            return Err(CudaError::InvalidValue);
        }
        let handle = self.handles.next();
        let texture = Texture {
            image,
            as_whole,
            ..*how
        };
        Arc::make_mut(&mut self.images)
            .textures
            .insert(handle, texture);
        Ok(handle)
    }

    /// `cuTexObjectDestroy`. [`CudaError::InvalidValue`] for no texture object.
    pub fn destroy_texture(&mut self, context: ContextId, texture: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let removed = Arc::make_mut(&mut self.images).textures.remove(&texture);
        removed.map(drop).ok_or(CudaError::InvalidValue)
    }

    /// `cuSurfObjectCreate`: an object to read and write an array by. [`CudaError::InvalidValue`] for an array
    /// that was not made for it, and for anything else.
    pub fn create_surface(&mut self, context: ContextId, array: u64) -> Result<u64, CudaError> {
        self.context(context)?;
        let Array { image, flags, .. } = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
        if flags & WRITABLE == 0 {
            return Err(CudaError::InvalidValue);
        }
        let image = *image;
        let handle = self.handles.next();
        Arc::make_mut(&mut self.images)
            .surfaces
            .insert(handle, image);
        Ok(handle)
    }

    /// `cuSurfObjectDestroy`. [`CudaError::InvalidValue`] for no surface object.
    pub fn destroy_surface(&mut self, context: ContextId, surface: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let removed = Arc::make_mut(&mut self.images).surfaces.remove(&surface);
        removed.map(drop).ok_or(CudaError::InvalidValue)
    }

    /// The image that a resource is.
    fn image(&self, resource: Resource) -> Result<Image, CudaError> {
        let (base, size, channel, channels, pitch, linear) = match resource {
            Resource::Array(array) => {
                let found = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
                return Ok(found.image);
            }
            Resource::Linear {
                address,
                channel,
                channels,
                bytes,
            } => {
                let texels = bytes / u64::from(channel.bytes() * channels.max(1));
                (address, [texels, 0, 0], channel, channels, bytes, true)
            }
            Resource::Pitched {
                address,
                channel,
                channels,
                width,
                height,
                pitch,
            } => (address, [width, height, 0], channel, channels, pitch, false),
        };
        let mut texels = [0; 3];
        for (texels, size) in texels.iter_mut().zip(size) {
            *texels = u32::try_from(size).map_err(|_| CudaError::InvalidValue)?;
        }
        let image = Image {
            base,
            size: texels,
            slices: Slices::Depth,
            channel,
            channels,
            pitch,
            linear,
        };
        let aligned = base % u64::from(self.device.texture_alignment) == 0;
        let rows = linear || texels[1] > 0 && pitch >= u64::from(texels[0]) * image.texel();
        let sound = matches!(channels, 1 | 2 | 4) && texels[0] > 0 && aligned && rows;
        if !sound || self.global.host(base, image.bytes()).is_none() {
            return Err(CudaError::InvalidValue);
        }
        Ok(image)
    }
}
