//! Maximum sizes of textures and surfaces, by the numbers of their device attributes, for programs that query
//! them.

/// The limits of compute capability 9.0, as driver 580.159.04 reports them for an NVIDIA H200. The table of
/// compute capabilities in the CUDA C++ Programming Guide lists the same limits for 6.1 and 8.6.
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
    // Textures: 1D layered; 2D gather; alternative 3D; cube maps and layered cube maps.
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
    // Surfaces: 1D; 2D; 3D; 1D and 2D layered; cube maps and layered cube maps.
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
    // Textures in linear memory, 1D and 2D; mipmapped textures, 2D and 1D.
    (69, 268_435_456),
    (70, 131_072),
    (71, 65000),
    (72, 2_097_120),
    (73, 32768),
    (74, 32768),
    (77, 32768),
];
