//! The settings of textures as the program passes them, and the texture and surface references with theirs.

use std::ffi::{c_int, c_uint};

use cuda_sim::driver::{CudaError, ModuleId, Resource};
use cuda_sim::exec::image::{AddressMode, Channel, Image, LevelSampling, Slices, Texture};

/// The flags `CU_TRSF_…` of a texture.
const READ_AS_INTEGER: c_uint = 1;
const NORMALIZED_COORDINATES: c_uint = 2;
/// A flag without a name that drivers accept.
const IGNORED: c_uint = 4;
const SRGB: c_uint = 0x10;
const DISABLE_TRILINEAR_OPTIMIZATION: c_uint = 0x20;
const SEAMLESS_CUBEMAP: c_uint = 0x40;

/// The sampling modes of a texture, as numbers of CUDA's enumerations that may not exist.
#[derive(Clone, Copy, Default)]
pub struct Sampling {
    pub address_modes: [c_int; 3],
    pub filter: c_int,
    pub flags: c_uint,
    pub level_filter: c_int,
    pub level_bias: f32,
    pub level_clamp: [f32; 2],
    pub max_anisotropy: c_uint,
    pub border: [f32; 4],
}

impl Sampling {
    /// Returns the modes of a texture whose image is empty, and those between levels. Fails with
    /// [`CudaError::InvalidValue`] for numbers and flags that do not exist.
    pub fn read(&self) -> Result<(Texture, LevelSampling), CudaError> {
        const MODES: [AddressMode; 4] = [
            AddressMode::Wrap,
            AddressMode::Clamp,
            AddressMode::Mirror,
            AddressMode::Border,
        ];
        let mut modes = [AddressMode::Wrap; 3];
        for (mode, number) in modes.iter_mut().zip(self.address_modes) {
            let decoded = usize::try_from(number)
                .ok()
                .and_then(|mode| MODES.get(mode));
            *mode = *decoded.ok_or(CudaError::InvalidValue)?;
        }
        let flags = self.flags;
        let valid_flags = READ_AS_INTEGER
            | NORMALIZED_COORDINATES
            | IGNORED
            | SRGB
            | DISABLE_TRILINEAR_OPTIMIZATION
            | SEAMLESS_CUBEMAP;
        let has_filters = [self.filter, self.level_filter]
            .iter()
            .all(|filter| (0..=1).contains(filter));
        if !has_filters || flags & !valid_flags != 0 {
            return Err(CudaError::InvalidValue);
        }
        let texture = Texture {
            image: Image {
                base: 0,
                size: [0; 3],
                slices: Slices::Depth,
                channel: Channel::U8,
                channels: 1,
                pitch: 0,
                linear: false,
            },
            modes,
            linear_filter: self.filter == 1,
            normalised: flags & NORMALIZED_COORDINATES != 0,
            reads_integers: flags & READ_AS_INTEGER != 0,
            seamless: flags & SEAMLESS_CUBEMAP != 0,
            decodes_srgb: flags & SRGB != 0,
            border: self.border,
        };
        let levels = LevelSampling {
            linear_filter: self.level_filter == 1,
            bias: self.level_bias,
            clamp: self.level_clamp,
            max_anisotropy: self.max_anisotropy,
            optimizes_trilinear: flags & DISABLE_TRILINEAR_OPTIMIZATION == 0,
        };
        Ok((texture, levels))
    }
}

/// A texture reference: its settings, which are numbers of CUDA's enumerations, and its binding.
#[derive(Clone)]
pub struct TextureReference {
    /// The module that declares it; `None` for one of `cuTexRefCreate`.
    pub module: Option<ModuleId>,
    pub sampling: Sampling,
    /// The format and the number of channels of linear memory.
    pub format: c_int,
    pub channels: c_uint,
    pub binding: Option<TextureBinding>,
}

impl Default for TextureReference {
    fn default() -> Self {
        /// `CU_AD_FORMAT_FLOAT`
        const FLOAT: c_int = 32;
        /// `CU_TR_ADDRESS_MODE_CLAMP`
        const CLAMP: c_int = 1;
        Self {
            module: None,
            sampling: Sampling {
                address_modes: [CLAMP; 3],
                ..Sampling::default()
            },
            format: FLOAT,
            channels: 1,
            binding: None,
        }
    }
}

/// The memory of a texture reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TextureBinding {
    /// A range of device memory, in the format of the reference.
    Linear { address: u64, bytes: u64 },
    /// A resource that has a format.
    Bound(Resource),
}

/// A surface reference of a module.
pub struct SurfaceReference {
    pub module: ModuleId,
    pub array: Option<u64>,
}
