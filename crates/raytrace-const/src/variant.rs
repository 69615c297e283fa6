//! The chapter's kernels: the note's, and the rungs towards the arithmetic limit.

use chapter::ladder;

use crate::scene::{ConstantBank, ConstantScene};

/// A row of the table of kernels.
pub type Variant = ladder::Variant<KernelConfig>;

/// The chapter's properties of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelConfig {
    /// The memory and layout of the spheres.
    pub spheres: Spheres,
    /// Maximum number of spheres in that memory.
    pub capacity: usize,
    /// Columns and rows of pixels per thread.
    pub patch: (u32, u32),
    /// The rung's module; empty for the note's kernels, whose module is loaded in `main.rs`.
    pub ptx: &'static str,
}

/// The memory and layout that a kernel reads the spheres from; determines its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spheres {
    /// Global memory, 28 bytes each.
    Global,
    /// The symbol, 28 bytes each.
    Packed,
    /// The symbol, 32 bytes each and aligned.
    Aligned,
    /// A rung's symbol: first the outlines of all spheres, then their surfaces.
    Scene,
    /// Outlines and surfaces in global memory.
    GlobalScene,
    /// A rung's symbol, and the outlines also in global memory.
    SceneAndOutlines,
}

/// One of the note's kernels, with spheres in global memory.
const NOTE: KernelConfig = KernelConfig {
    spheres: Spheres::Global,
    capacity: usize::MAX,
    patch: (1, 1),
    ptx: "",
};

/// A rung with spheres in constant memory.
const CONSTANT: KernelConfig = KernelConfig {
    spheres: Spheres::Scene,
    capacity: ConstantScene::SPHERES,
    ..NOTE
};

/// A rung for any number of spheres.
const GLOBAL: KernelConfig = KernelConfig {
    spheres: Spheres::GlobalScene,
    patch: (4, 4),
    ..NOTE
};

/// All kernels, from the note's upwards.
pub const VARIANTS: &[Variant] = &[
    Variant::note(
        "global",
        "raytrace_global",
        [
            "28-byte spheres in global memory",
            "全局内存中 28 字节的球体",
        ],
        NOTE,
    ),
    Variant::note(
        "constant",
        "raytrace_constant",
        [
            "The same spheres and the same loop, in constant memory",
            "同样的球体和循环，放在常量内存中",
        ],
        KernelConfig {
            spheres: Spheres::Packed,
            capacity: ConstantBank::PACKED,
            ..NOTE
        },
    ),
    Variant::note(
        "unrolled",
        "raytrace_unrolled",
        [
            "32-byte aligned spheres in constant memory, loop unrolled",
            "常量内存中 32 字节对齐的球体，循环展开",
        ],
        KernelConfig {
            spheres: Spheres::Aligned,
            capacity: ConstantBank::ALIGNED,
            ..NOTE
        },
    ),
    Variant::rung(
        "outlines",
        "raytrace_outlines",
        [
            "The 16 bytes that a test needs, 20 tests, then the spheres that were hit",
            "只读求交所需的 16 字节，先做 20 次求交，再处理击中的球体",
        ],
        KernelConfig {
            ptx: include_str!(env!("RAYTRACE_CONST_LADDER_1_OUTLINES_PTX")),
            ..CONSTANT
        },
    ),
    Variant::rung(
        "rows",
        "raytrace_rows",
        [
            "Four pixels per thread: one read for four tests, one store",
            "每个线程四个像素：一次读取用于四次求交，一次写入",
        ],
        KernelConfig {
            patch: (4, 1),
            ptx: include_str!(env!("RAYTRACE_CONST_LADDER_2_ROWS_PTX")),
            ..CONSTANT
        },
    ),
    Variant::rung(
        "patches",
        "raytrace_patches",
        [
            "Sixteen pixels per thread: sixteen tests share their common parts",
            "每个线程十六个像素：十六次求交共用相同的部分",
        ],
        KernelConfig {
            patch: (4, 4),
            ptx: include_str!(env!("RAYTRACE_CONST_LADDER_3_PATCHES_PTX")),
            ..CONSTANT
        },
    ),
    Variant::rung(
        "patches global",
        "raytrace_patches_global",
        [
            "The same with spheres in global memory, for comparison",
            "同上，球体在全局内存中，用于对比",
        ],
        KernelConfig {
            ptx: include_str!(env!("RAYTRACE_CONST_LADDER_4_PATCHES_GLOBAL_PTX")),
            ..GLOBAL
        },
    ),
    Variant::rung(
        "patches tiles",
        "raytrace_patches_tiles",
        [
            "The same with tiles of spheres in shared memory, for comparison",
            "同上，球体分块放入共享内存，用于对比",
        ],
        KernelConfig {
            ptx: include_str!(env!("RAYTRACE_CONST_LADDER_5_PATCHES_TILES_PTX")),
            ..GLOBAL
        },
    ),
    Variant::rung(
        "nearest point",
        "raytrace_nearest_point",
        [
            "One test for sixteen pixels: the nearest point of their rectangle",
            "十六个像素只求交一次：用其矩形中最近的点",
        ],
        KernelConfig {
            patch: (4, 4),
            ptx: include_str!(env!("RAYTRACE_CONST_LADDER_6_NEAREST_POINT_PTX")),
            ..CONSTANT
        },
    ),
    Variant::rung(
        "culled",
        "raytrace_culled",
        [
            "Another algorithm: blocks skip the spheres that are not near them",
            "另一种算法：线程块跳过不在附近的球体",
        ],
        KernelConfig {
            spheres: Spheres::SceneAndOutlines,
            patch: (4, 2),
            ptx: include_str!(env!("RAYTRACE_CONST_LADDER_7_CULLED_PTX")),
            ..CONSTANT
        },
    ),
];
