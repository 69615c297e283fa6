//! Arrays, texture objects and surface objects, and texture and surface references, which are variables of a module that name
//! an image and that the program binds before a launch.
//!
//! An array's texels are stored in device memory by rows and slices, unlike on a GPU, whose layout is opaque.
//! The valid shapes are those of CUDA Driver API, `cuArray3DCreate`, with an H200's limits.
//!
//! A kernel accesses a reference by its handle, as it accesses an object. The handle is an address of the module's
//! memory, so that it is that of no object.

use std::sync::Arc;

use super::{ContextId, CudaError, Driver, ModuleId};
use crate::check::{Bytes, Reason};
use crate::exec::image::{Channel, Image, LevelSampling, Mipmap, Slices, Texture};
use crate::ptx::ast::ImageReference;

/// The flags of `CUDA_ARRAY3D_DESCRIPTOR`: slices are layers (`CUDA_ARRAY3D_LAYERED`), kernels may write to
/// the array (`CUDA_ARRAY3D_SURFACE_LDST`), slices are cube faces (`CUDA_ARRAY3D_CUBEMAP`), and texture
/// gather is allowed (`CUDA_ARRAY3D_TEXTURE_GATHER`).
const LAYERED: u32 = 1;
const WRITABLE: u32 = 2;
const CUBE: u32 = 4;
const GATHER: u32 = 8;

/// Flags of an array whose memory the program maps later, in tiles (`CUDA_ARRAY3D_SPARSE`) or as a whole
/// (`CUDA_ARRAY3D_DEFERRED_MAPPING`). Here, it has memory from the start.
const SPARSE: u32 = 0x40;
const DEFERRED: u32 = 0x80;

/// The bytes of a tile of a sparse array, and the alignment of memory to map.
const TILE: u64 = 65536;

/// The bytes of which the distance between rows of a texture must be a multiple, as measured on an H200.
const TEXTURE_PITCH_ALIGNMENT: u64 = 32;

/// The maximum distance between rows of a texture in bytes.
const MAX_TEXTURE_PITCH: u64 = 1 << 20;
/// The maximum texels in x and y of a texture of rows (`CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_…`).
const MAX_PITCHED: [u64; 2] = [131_072, 65_000];

/// The number of faces of a cube.
const FACES: u32 = 6;

/// The maximum texels in x and y and the maximum depth, for arrays of one, two and three dimensions.
const MAX_1D: [u32; 3] = [131_072, 0, 0];
const MAX_2D: [u32; 3] = [131_072, 65536, 0];
const MAX_3D: [u32; 3] = [16384, 16384, 16384];
/// The maximum texels in x and y and the maximum number of slices, for layered arrays of one and two
/// dimensions, cubes, and layered cubes.
const MAX_1D_LAYERED: [u32; 3] = [32768, 0, 2048];
const MAX_2D_LAYERED: [u32; 3] = [32768, 32768, 2048];
const MAX_CUBE: [u32; 3] = [32768, 32768, FACES];
const MAX_CUBE_LAYERED: [u32; 3] = [32768, 32768, 2046];

/// The state of an array.
pub(super) struct Array {
    pub(super) context: ContextId,
    image: Image,
    /// The flags of `CUDA_ARRAY3D_DESCRIPTOR`.
    flags: u32,
    /// True for a level of a mipmapped array, which is destroyed with it.
    is_level: bool,
}

/// The description of an array: `CUDA_ARRAY3D_DESCRIPTOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayDescription {
    /// Texels in x, y and z; 0 for a missing dimension. The flags determine the meaning of z.
    pub size: [u64; 3],
    pub channel: Channel,
    pub channels: u32,
    pub flags: u32,
}

/// The memory of a texture or surface object: `CUDA_RESOURCE_DESC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Array(u64),
    /// All levels of a mipmapped array.
    Mipmapped(u64),
    /// A contiguous range of device memory.
    Linear {
        address: u64,
        channel: Channel,
        channels: u32,
        bytes: u64,
    },
    /// A two-dimensional range of device memory.
    Pitched {
        address: u64,
        channel: Channel,
        channels: u32,
        width: u64,
        height: u64,
        pitch: u64,
    },
}

/// Another view of an array's texels: `CUDA_RESOURCE_VIEW_DESC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub channel: Channel,
    pub channels: u32,
    /// Texels in x, y and z, which must be those of the array, or of the first level of a mipmapped array.
    pub size: [u64; 3],
    /// The first and the last mipmap level, which must be 0 for an array without levels.
    pub levels: [u32; 2],
    /// The first and the last layer.
    pub layers: [u32; 2],
}

impl View {
    /// Returns the view of an image. Fails with [`CudaError::InvalidValue`] for texels of another size, another shape,
    /// and layers that the image does not have.
    fn of(&self, image: &Image) -> Result<Image, CudaError> {
        match self.levels {
            [0, 0] => self.of_level(image, self.size),
            _ => Err(CudaError::InvalidValue),
        }
    }

    /// Returns the view of the levels of a mipmapped array. Fails as [`View::of`], and for levels that the array does not
    /// have.
    fn of_levels(&self, levels: &[Image]) -> Result<Vec<Image>, CudaError> {
        let [first, last] = self.levels.map(|level| level as usize);
        let (Some(largest), Some(selected)) = (levels.first(), levels.get(first..=last)) else {
            return Err(CudaError::InvalidValue);
        };
        self.of_level(largest, self.size)?;
        let views = selected
            .iter()
            .map(|level| self.of_level(level, level.size.map(u64::from)));
        views.collect()
    }

    /// Returns the view of one level, which must have this size.
    fn of_level(&self, image: &Image, expected: [u64; 3]) -> Result<Image, CudaError> {
        let mut view = Image {
            channel: self.channel,
            channels: self.channels,
            ..*image
        };
        let [first, last] = self.layers;
        let has_layers = match image.slices {
            Slices::Layers => first <= last && last < image.size[2],
            _ => [first, last] == [0, 0],
        };
        let size = image.size.map(u64::from);
        if view.texel() != image.texel() || expected[..2] != size[..2] || !has_layers {
            return Err(CudaError::InvalidValue);
        }
        if image.slices == Slices::Layers {
            view.base += image.offset([0, 0, first.into()]);
            view.size[2] = last - first + 1;
        } else if expected[2] != size[2] {
            return Err(CudaError::InvalidValue);
        }
        Ok(view)
    }
}

impl Driver {
    /// `cuArrayCreate`, `cuArray3DCreate`: creates an array, whose texels are undefined at first. Fails with
    /// [`CudaError::InvalidValue`] for an invalid size, number of channels, or flags.
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
            is_level: false,
        };
        self.arrays.insert(handle, array);
        Ok(handle)
    }

    /// `cuMipmappedArrayCreate`: creates a mipmapped array with at most `levels` levels and at least one. The extents of
    /// each level are half of those of the level before, down to one. Returns its handle. Fails with the errors of
    /// [`Driver::create_array`].
    pub fn create_mipmapped_array(
        &mut self,
        context: ContextId,
        description: &ArrayDescription,
        levels: u32,
    ) -> Result<u64, CudaError> {
        let [width, height, depth] = description.size;
        let is_sliced = description.flags & (LAYERED | CUBE) != 0;
        let longest = width.max(height).max(if is_sliced { 0 } else { depth });
        let max_levels = longest.checked_ilog2().unwrap_or(0) + 1;
        let mut arrays = Vec::new();
        for level in 0..levels.clamp(1, max_levels) {
            let halved = |extent: u64| {
                if extent == 0 {
                    0
                } else {
                    (extent >> level).max(1)
                }
            };
            let depth = if is_sliced { depth } else { halved(depth) };
            let level = ArrayDescription {
                size: [halved(width), halved(height), depth],
                ..*description
            };
            match self.create_array(context, &level) {
                Ok(array) => arrays.push(array),
                Err(error) => {
                    self.destroy_levels(context, &arrays);
                    return Err(error);
                }
            }
            if let Some(array) = arrays.last().and_then(|array| self.arrays.get_mut(array)) {
                array.is_level = true;
            }
        }
        let handle = self.handles.next();
        self.mipmapped_arrays.insert(handle, arrays);
        Ok(handle)
    }

    /// `cuMipmappedArrayGetLevel`: returns the array of a level. Fails with [`CudaError::InvalidHandle`] for an unknown
    /// mipmapped array, and with [`CudaError::InvalidValue`] if it does not have this level.
    pub fn mipmap_level(&self, mipmap: u64, level: u32) -> Result<u64, CudaError> {
        let levels = self.mipmapped_arrays.get(&mipmap);
        let levels = levels.ok_or(CudaError::InvalidHandle)?;
        let array = levels.get(level as usize).copied();
        array.ok_or(CudaError::InvalidValue)
    }

    /// `cuMipmappedArrayDestroy`: destroys a mipmapped array with its levels. Fails with [`CudaError::InvalidHandle`] for
    /// an unknown one.
    pub fn destroy_mipmapped_array(
        &mut self,
        context: ContextId,
        mipmap: u64,
    ) -> Result<(), CudaError> {
        self.context(context)?;
        let levels = self.mipmapped_arrays.remove(&mipmap);
        self.destroy_levels(context, &levels.ok_or(CudaError::InvalidHandle)?);
        Ok(())
    }

    fn destroy_levels(&mut self, context: ContextId, levels: &[u64]) {
        for level in levels {
            // The levels do not exist any more if their context was destroyed.
            if let Some(removed) = self.arrays.remove(level) {
                let _ = self.free(context, removed.image.base);
            }
        }
    }

    /// `cuArrayGetMemoryRequirements`: returns the size and the alignment of the memory to map to an array. Fails with
    /// [`CudaError::InvalidValue`] for one that has memory.
    pub fn array_requirements(&self, array: u64) -> Result<(u64, u64), CudaError> {
        let Array { image, flags, .. } = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
        match flags & DEFERRED {
            0 => Err(CudaError::InvalidValue),
            _ => Ok((image.bytes().next_multiple_of(TILE), TILE)),
        }
    }

    /// `cuArrayGetSparseProperties`: returns the extents of a tile in texels. Fails with [`CudaError::InvalidValue`] for an
    /// array that is not sparse.
    pub fn sparse_tile(&self, array: u64) -> Result<[u32; 3], CudaError> {
        let Array { image, flags, .. } = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
        if flags & SPARSE == 0 {
            return Err(CudaError::InvalidValue);
        }
        let is_3d = image.slices == Slices::Depth && image.size[2] > 0;
        Ok(match (is_3d, image.texel()) {
            (false, 1) => [256, 256, 1],
            (false, 2) => [256, 128, 1],
            (false, 4) => [128, 128, 1],
            (false, 8) => [128, 64, 1],
            (false, _) => [64, 64, 1],
            (true, 1) => [64, 32, 32],
            (true, 2) => [32, 32, 32],
            (true, 4) => [32, 32, 16],
            (true, 8) => [32, 16, 16],
            (true, _) => [16, 16, 16],
        })
    }

    /// `cuArrayDestroy`: destroys an array; one that is a level of a mipmapped array stays. Fails with
    /// [`CudaError::InvalidHandle`] for an unknown array.
    pub fn destroy_array(&mut self, context: ContextId, array: u64) -> Result<(), CudaError> {
        self.context(context)?;
        if self.arrays.get(&array).is_some_and(|array| array.is_level) {
            return Ok(());
        }
        let removed = self.arrays.remove(&array).ok_or(CudaError::InvalidHandle)?;
        self.free(context, removed.image.base)
    }

    /// `cuArrayGetDescriptor`, `cuArray3DGetDescriptor`: returns the description of an array. Fails with
    /// [`CudaError::InvalidHandle`] for an unknown array.
    pub fn array(&self, array: u64) -> Result<ArrayDescription, CudaError> {
        let Array { image, flags, .. } = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
        Ok(ArrayDescription {
            size: image.size.map(u64::from),
            channel: image.channel,
            channels: image.channels,
            flags: *flags,
        })
    }

    /// Returns the address of an array's first texel, the bytes per row, and the rows per slice. Fails with
    /// [`CudaError::InvalidHandle`] for an unknown array.
    pub fn array_memory(&self, array: u64) -> Result<(u64, u64, u64), CudaError> {
        let Array { image, .. } = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
        Ok((image.base, image.pitch, image.extent(1) as u64))
    }

    /// Validates a copy to or from an array, which may begin and end within a texel. Fails with
    /// [`CudaError::InvalidValue`] if it is out of bounds.
    pub fn check_array_copy(
        &self,
        array: u64,
        [x, y, z]: [u64; 3],
        [width, height, depth]: [u64; 3],
    ) -> Result<(), CudaError> {
        let Array { image, .. } = self.arrays.get(&array).ok_or(CudaError::InvalidHandle)?;
        let within = |from: u64, count: u64, limit: i64| {
            from.checked_add(count)
                .is_some_and(|end| end <= limit as u64)
        };
        let inside = within(x, width, image.extent(0) * image.texel() as i64)
            && within(y, height, image.extent(1))
            && within(z, depth, image.extent(2));
        if !inside {
            return Err(CudaError::InvalidValue.because(Reason::ArrayBounds));
        }
        Ok(())
    }

    /// `cuTexObjectCreate`: creates a texture object of a resource, with the sampling modes of `sampling`,
    /// whose image is ignored, and those between levels; linear memory has no filter. A view of an array reinterprets its
    /// texels or selects some of its layers and levels. Fails with [`CudaError::InvalidValue`] for an invalid resource or
    /// view, and for seamless filtering of a resource that is not a cube.
    pub fn create_texture(
        &mut self,
        context: ContextId,
        resource: Resource,
        view: Option<&View>,
        sampling: &Texture,
        levels: LevelSampling,
    ) -> Result<u64, CudaError> {
        self.context(context)?;
        let (texture, mipmap) = self.texture(resource, view, sampling, levels)?;
        let handle = self.handles.next();
        self.insert_texture(handle, texture, mipmap);
        Ok(handle)
    }

    /// Returns the texture of a resource, and its levels if that is a mipmapped array. Fails as
    /// [`Driver::create_texture`].
    pub(super) fn texture(
        &self,
        resource: Resource,
        view: Option<&View>,
        sampling: &Texture,
        level_sampling: LevelSampling,
    ) -> Result<(Texture, Option<Mipmap>), CudaError> {
        let mut levels = match resource {
            Resource::Mipmapped(mipmap) => self.levels(mipmap)?,
            _ => vec![self.image(resource)?],
        };
        match (resource, view) {
            (Resource::Mipmapped(_), Some(view)) => levels = view.of_levels(&levels)?,
            (Resource::Array(_), Some(view)) => levels[0] = view.of(&levels[0])?,
            _ => {}
        }
        let image = levels[0];
        let is_mipmapped = matches!(resource, Resource::Mipmapped(_));
        let large = matches!(image.channel, Channel::U32 | Channel::S32);
        let reads_integers = image.channel.is_integer() && (sampling.reads_integers || large);
        let cube = matches!(image.slices, Slices::Cube | Slices::Cubes);
        let linear_filter = sampling.linear_filter && !image.linear;
        if sampling.seamless && !cube {
            return Err(CudaError::InvalidValue);
        }
        let texture = Texture {
            image,
            reads_integers,
            linear_filter,
            // The coordinates of a mipmapped array are always normalized.
            normalised: sampling.normalised || is_mipmapped,
            ..*sampling
        };
        let mipmap = is_mipmapped.then_some(Mipmap {
            levels,
            sampling: level_sampling,
        });
        Ok((texture, mipmap))
    }

    /// Returns the images of the levels of a mipmapped array, at least one. Fails with [`CudaError::InvalidValue`] for an
    /// unknown array.
    fn levels(&self, mipmap: u64) -> Result<Vec<Image>, CudaError> {
        let arrays = self.mipmapped_arrays.get(&mipmap);
        let arrays = arrays.ok_or(CudaError::InvalidValue)?.iter();
        let levels =
            arrays.map(|array| Ok(self.arrays.get(array).ok_or(CudaError::InvalidValue)?.image));
        levels.collect()
    }

    /// Makes a texture accessible to later launches.
    pub(super) fn insert_texture(&mut self, handle: u64, texture: Texture, mipmap: Option<Mipmap>) {
        let images = Arc::make_mut(&mut self.images);
        images.textures.insert(handle, texture);
        match mipmap {
            Some(mipmap) => images.mipmaps.insert(handle, mipmap),
            None => images.mipmaps.remove(&handle),
        };
    }

    /// `cuTexObjectDestroy`: destroys a texture object. Fails with [`CudaError::InvalidValue`] for an unknown
    /// object.
    pub fn destroy_texture(&mut self, context: ContextId, texture: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let images = Arc::make_mut(&mut self.images);
        images.mipmaps.remove(&texture);
        let removed = images.textures.remove(&texture);
        removed.map(drop).ok_or(CudaError::InvalidValue)
    }

    /// `cuSurfObjectCreate`: creates a surface object for reading and writing an array, which need not have been
    /// created as writable. Fails with [`CudaError::InvalidValue`] for an unknown array.
    pub fn create_surface(&mut self, context: ContextId, array: u64) -> Result<u64, CudaError> {
        self.context(context)?;
        let image = self.image(Resource::Array(array))?;
        let handle = self.handles.next();
        Arc::make_mut(&mut self.images)
            .surfaces
            .insert(handle, image);
        Ok(handle)
    }

    /// `cuSurfObjectDestroy`: destroys a surface object. Fails with [`CudaError::InvalidValue`] for an
    /// unknown object.
    pub fn destroy_surface(&mut self, context: ContextId, surface: u64) -> Result<(), CudaError> {
        self.context(context)?;
        let removed = Arc::make_mut(&mut self.images).surfaces.remove(&surface);
        removed.map(drop).ok_or(CudaError::InvalidValue)
    }

    /// Returns the image of a resource, of a mipmapped array that of its first level. Fails with
    /// [`CudaError::InvalidValue`] for an invalid resource.
    pub(super) fn image(&self, resource: Resource) -> Result<Image, CudaError> {
        let (base, size, channel, channels, pitch, linear) = match resource {
            Resource::Array(array) => {
                let array = self.arrays.get(&array).ok_or(CudaError::InvalidValue)?;
                return Ok(array.image);
            }
            Resource::Mipmapped(mipmap) => return Ok(self.levels(mipmap)?[0]),
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
            } => {
                if width > MAX_PITCHED[0] || height > MAX_PITCHED[1] {
                    return Err(CudaError::InvalidValue);
                }
                let size = [width, height, 0];
                (address, size, channel, channels, pitch, false)
            }
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
        let alignment = u64::from(self.device.texture_alignment);
        if base % alignment != 0 {
            let reason = Reason::TextureAddress(base, Bytes(alignment));
            return Err(CudaError::InvalidValue.because(reason));
        }
        if !linear && pitch % TEXTURE_PITCH_ALIGNMENT != 0 {
            let reason = Reason::TexturePitch(Bytes(pitch), Bytes(TEXTURE_PITCH_ALIGNMENT));
            return Err(CudaError::InvalidValue.because(reason));
        }
        let pitch_fits = linear || pitch <= MAX_TEXTURE_PITCH;
        // An H200 accepts a texture that is empty or extends past its allocation; reading there is a fault.
        let is_allocated = self.global.host(base, 1).is_some();
        if !matches!(channels, 1 | 2 | 4) || !pitch_fits || !is_allocated {
            return Err(CudaError::InvalidValue);
        }
        Ok(image)
    }
}

/// Returns an array's texels in each dimension, and the kind of its slices.
///
/// Fails with [`CudaError::InvalidValue`] if no array has this size or these flags: a layered array needs a
/// number of layers, a cube is as high as wide and has six faces, and a layered cube has six faces per layer.
fn size_and_slices(size: [u64; 3], flags: u32) -> Result<([u32; 3], Slices), CudaError> {
    let size = size.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let slices = match (flags & LAYERED != 0, flags & CUBE != 0) {
        (false, false) => Slices::Depth,
        (true, false) => Slices::Layers,
        (false, true) => Slices::Cube,
        (true, true) => Slices::Cubes,
    };
    let max = match (slices, size.map(|size| size > 0)) {
        (Slices::Depth, [true, false, false]) => MAX_1D,
        (Slices::Depth, [true, true, false]) => MAX_2D,
        (Slices::Depth, [true, true, true]) => MAX_3D,
        (Slices::Layers, [true, false, true]) => MAX_1D_LAYERED,
        (Slices::Layers, [true, true, true]) => MAX_2D_LAYERED,
        (Slices::Cube, [true, true, true]) => MAX_CUBE,
        (Slices::Cubes, [true, true, true]) => MAX_CUBE_LAYERED,
        _ => return Err(CudaError::InvalidValue),
    };
    let fits = size.iter().zip(max).all(|(size, max)| *size <= max);
    let is_cube = flags & CUBE == 0 || size[0] == size[1] && size[2] % FACES == 0;
    // Gather needs an ordinary two-dimensional array.
    let gather_is_2d = flags & GATHER == 0 || max == MAX_2D;
    let known_flags = flags & !(LAYERED | WRITABLE | CUBE | GATHER | SPARSE | DEFERRED) == 0;
    if !(fits && is_cube && gather_is_2d && known_flags) {
        return Err(CudaError::InvalidValue);
    }
    Ok((size, slices))
}

impl Driver {
    /// `cuModuleGetTexRef`: returns the handle of a texture reference of `module`. Fails with [`CudaError::NotFound`] if
    /// there is none with this name, and with [`CudaError::InvalidHandle`] if the module is not loaded in `context`.
    pub fn texture_reference(
        &self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<u64, CudaError> {
        self.image_reference(context, module, ImageReference::Texture, name)
    }

    /// `cuModuleGetSurfRef`: returns the handle of a surface reference of `module`. Fails as
    /// [`Driver::texture_reference`].
    pub fn surface_reference(
        &self,
        context: ContextId,
        module: ModuleId,
        name: &str,
    ) -> Result<u64, CudaError> {
        self.image_reference(context, module, ImageReference::Surface, name)
    }

    fn image_reference(
        &self,
        context: ContextId,
        module: ModuleId,
        kind: ImageReference,
        name: &str,
    ) -> Result<u64, CudaError> {
        let program = &self.module(context, module)?.program;
        program.reference(kind, name).ok_or_else(|| {
            let names = program.reference_names(kind).collect();
            let directive = kind.directive().to_owned();
            CudaError::NotFound.because(Reason::ReferenceMissing(directive, name.to_owned(), names))
        })
    }

    /// `cuTexRefCreate`: returns the handle of a new texture reference, which no kernel can access.
    pub fn create_texture_reference(&mut self) -> u64 {
        self.handles.next()
    }

    /// Fails with [`CudaError::InvalidValue`] for a resource to which no texture reference can be bound.
    pub fn check_resource(&self, resource: Resource) -> Result<(), CudaError> {
        self.image(resource).map(drop)
    }

    /// `cuTexRefSetArray` and others: binds a texture reference to a resource, with these sampling modes. Fails with
    /// [`CudaError::InvalidValue`] for an invalid resource.
    pub fn bind_texture(
        &mut self,
        reference: u64,
        resource: Resource,
        sampling: &Texture,
        levels: LevelSampling,
    ) -> Result<(), CudaError> {
        let (texture, mipmap) = self.texture(resource, None, sampling, levels)?;
        self.insert_texture(reference, texture, mipmap);
        Ok(())
    }

    /// `cuSurfRefSetArray`: binds a surface reference to an array. Fails with [`CudaError::InvalidValue`] for an unknown
    /// array.
    pub fn bind_surface(&mut self, reference: u64, array: u64) -> Result<(), CudaError> {
        let image = self.image(Resource::Array(array))?;
        let images = Arc::make_mut(&mut self.images);
        images.surfaces.insert(reference, image);
        Ok(())
    }

    /// Unbinds a texture or surface reference, if it is bound.
    pub fn unbind_image(&mut self, reference: u64) {
        let images = Arc::make_mut(&mut self.images);
        images.textures.remove(&reference);
        images.mipmaps.remove(&reference);
        images.surfaces.remove(&reference);
    }
}
