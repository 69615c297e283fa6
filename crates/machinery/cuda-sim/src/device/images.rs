//! The largest textures and surfaces, each by the number of its device attribute. Programs list
//! them; the simulator has neither.

/// The largest textures and surfaces of compute capability 9.0, as driver 580.159.04 answers for an NVIDIA H200. The table of
/// compute capabilities in the CUDA C++ Programming Guide has the same for 6.1 and 8.6.
pub(super) const SINCE_6_0: &[(i32, u32)] = &[
    // Textures: 1D; 2D; 3D; 2D layered (width, height and layers).
    (21, 131_072),
    (22, 131_072),
    (23, 65536),
    (24, 16384),
    (25, 16384),
    (26, 16384),
    (27, 32768),
    (28, 32768),
    (29, 2048),
    // 1D layered; 2D gathered; the other shape of 3D; cube maps, layered too.
    (42, 32768),
    (43, 2048),
    (45, 32768),
    (46, 32768),
    (47, 8192),
    (48, 8192),
    (49, 32768),
    (52, 32768),
    (53, 32768),
    (54, 2046),
    // Surfaces: 1D; 2D; 3D; 1D and 2D layered; cube maps, layered too.
    (55, 32768),
    (56, 131_072),
    (57, 65536),
    (58, 16384),
    (59, 16384),
    (60, 16384),
    (61, 32768),
    (62, 2048),
    (63, 32768),
    (64, 32768),
    (65, 2048),
    (66, 32768),
    (67, 32768),
    (68, 2046),
    // Textures in linear memory, 1D and 2D; with mip maps, 2D and 1D.
    (69, 268_435_456),
    (70, 131_072),
    (71, 65000),
    (72, 2_097_120),
    (73, 32768),
    (74, 32768),
    (77, 32768),
];
