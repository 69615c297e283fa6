//! What a texture or surface is: texels in device memory, and how they are read.

use std::collections::HashMap;

/// How a channel of a texel is kept.
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

    /// Whether it is a whole number.
    pub fn is_whole(self) -> bool {
        !matches!(self, Channel::F16 | Channel::F32)
    }
}

/// What an image's slices in z are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slices {
    /// The third dimension, if there are any.
    Depth,
    /// Images of their own.
    Layers,
    /// The six faces of a cube.
    Cube,
    /// The six faces of a cube each.
    Cubes,
}

/// Texels in device memory, by rows and slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image {
    /// Where they begin.
    pub base: u64,
    /// Texels in x, y and z; 0 in a dimension that it does not have.
    pub size: [u32; 3],
    pub slices: Slices,
    pub channel: Channel,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// Bytes from a row to the next.
    pub pitch: u64,
    /// It is one row of memory, whose texels are read by their numbers alone.
    pub linear: bool,
}

impl Image {
    /// Bytes of a texel.
    pub fn texel(&self) -> u64 {
        u64::from(self.channel.bytes() * self.channels)
    }

    /// Texels in a dimension, at least one.
    pub fn extent(&self, dimension: usize) -> i64 {
        self.size[dimension].max(1).into()
    }

    /// Bytes from its first texel to past its last.
    pub fn bytes(&self) -> u64 {
        let rows = (self.extent(1) * self.extent(2)) as u64;
        (rows - 1) * self.pitch + self.extent(0) as u64 * self.texel()
    }

    /// Bytes from its first texel to the one at a place, which is inside.
    pub fn offset(&self, at: [i64; 3]) -> u64 {
        let row = at[2] * self.extent(1) + at[1];
        row as u64 * self.pitch + at[0] as u64 * self.texel()
    }
}

/// What becomes of a coordinate outside a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressMode {
    Wrap,
    Clamp,
    Mirror,
    Border,
}

/// A texture: an image, and how it is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Texture {
    pub image: Image,
    pub modes: [AddressMode; 3],
    /// Texels around a place are mixed.
    pub linear_filter: bool,
    /// Coordinates go from 0 to 1, and not to the number of texels.
    pub normalised: bool,
    /// Whole numbers are read as they are, and not as parts of the largest one.
    pub as_whole: bool,
    /// Texels of a cube map are mixed across its edges too.
    pub seamless: bool,
    /// What is read outside, where the mode is [`AddressMode::Border`].
    pub border: [f32; 4],
}

/// Textures and surfaces that kernels may name, by their handles.
#[derive(Debug, Default, Clone)]
pub struct Images {
    pub textures: HashMap<u64, Texture>,
    pub surfaces: HashMap<u64, Image>,
}
