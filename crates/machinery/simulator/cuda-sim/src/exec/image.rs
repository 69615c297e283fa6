//! Descriptions of textures and surfaces: texels in device memory and their sampling.

use std::collections::HashMap;

/// The format of a texel's channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    U8,
    U16,
    U32,
    S8,
    S16,
    S32,
    F16,
    F32,
}

impl Channel {
    pub fn bytes(self) -> u32 {
        match self {
            Channel::U8 | Channel::S8 => 1,
            Channel::U16 | Channel::S16 | Channel::F16 => 2,
            Channel::U32 | Channel::S32 | Channel::F32 => 4,
        }
    }

    /// Returns true for integer formats.
    pub fn is_integer(self) -> bool {
        !matches!(self, Channel::F16 | Channel::F32)
    }
}

/// The meaning of an image's z dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slices {
    /// The third dimension of a volume, if there is one.
    Depth,
    /// Layers of an array.
    Layers,
    /// The six faces of a cube map.
    Cube,
    /// The six faces of each cube map in an array.
    Cubes,
}

/// Texels in device memory, in rows and slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image {
    /// Device address of the first texel.
    pub base: u64,
    /// Texels in x, y and z; 0 for a dimension that the image does not have.
    pub size: [u32; 3],
    pub slices: Slices,
    pub channel: Channel,
    /// Number of channels per texel: 1, 2 or 4.
    pub channels: u32,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// True for linear memory, whose texels are addressed by index.
    pub linear: bool,
}

impl Image {
    /// Returns the bytes per texel.
    pub fn texel(&self) -> u64 {
        u64::from(self.channel.bytes() * self.channels)
    }

    /// Returns the number of texels in a dimension, at least one.
    pub fn extent(&self, dimension: usize) -> i64 {
        self.size[dimension].max(1).into()
    }

    /// Returns the bytes from the first texel to the end of the last.
    pub fn bytes(&self) -> u64 {
        let rows = (self.extent(1) * self.extent(2)) as u64;
        (rows - 1) * self.pitch + self.extent(0) as u64 * self.texel()
    }

    /// Returns the byte offset of the texel at `at`, which must be inside.
    pub fn offset(&self, at: [i64; 3]) -> u64 {
        let row = at[2] * self.extent(1) + at[1];
        row as u64 * self.pitch + at[0] as u64 * self.texel()
    }
}

/// The treatment of coordinates outside a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressMode {
    Wrap,
    Clamp,
    Mirror,
    Border,
}

/// A texture: an image and how it is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Texture {
    pub image: Image,
    pub modes: [AddressMode; 3],
    /// True to interpolate between neighbouring texels.
    pub linear_filter: bool,
    /// True if coordinates range from 0 to 1 instead of the number of texels.
    pub normalised: bool,
    /// True to read integers unchanged instead of normalizing them by their maximum.
    pub reads_integers: bool,
    /// True to filter cube maps across their edges.
    pub seamless: bool,
    /// True to convert normalized 8-bit texels from sRGB to linear values, except alpha.
    pub decodes_srgb: bool,
    /// Value outside the texture for [`AddressMode::Border`].
    pub border: [f32; 4],
}

/// The choice of the levels of a mipmapped texture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelSampling {
    /// True to interpolate between two levels instead of selecting the nearest one.
    pub linear_filter: bool,
    /// The number that is added to a level of detail.
    pub bias: f32,
    /// The lowest and the highest level of detail. The lowest one takes precedence.
    pub clamp: [f32; 2],
    /// The maximum number of samples along the longer of two gradients; at most 1 for isotropic filtering.
    pub max_anisotropy: u32,
    /// True if anisotropic samples may be read from the nearest level if they are closer to it than a quarter.
    pub optimizes_trilinear: bool,
}

/// The levels of a mipmapped texture, of which the texture's image is the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Mipmap {
    pub levels: Vec<Image>,
    pub sampling: LevelSampling,
}

/// Textures and surfaces that kernels can access, by handle: that of an object, or of a reference of a module.
#[derive(Debug, Default, Clone)]
pub struct Images {
    pub textures: HashMap<u64, Texture>,
    /// The levels of the textures of mipmapped arrays.
    pub mipmaps: HashMap<u64, Mipmap>,
    pub surfaces: HashMap<u64, Image>,
}
