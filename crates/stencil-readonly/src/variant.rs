//! The note's three kernels, and the rungs towards the memory's limit.

use chapter::ladder;

/// A row of the table of kernels.
pub type Variant = ladder::Variant<KernelConfig>;

/// The chapter's properties of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelConfig {
    /// The memory that holds the coefficients.
    pub coefficients: Coefficients,
    /// Points per thread.
    pub points: u32,
    /// Threads before the first point, which correspond to the halo and do no work.
    pub idle: u32,
    /// The rung's module; empty for the note's kernels, whose module is loaded in `main.rs`.
    pub ptx: &'static str,
}

/// The memory that a kernel reads the coefficients from; determines its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coefficients {
    /// Constant memory: the symbol of its module.
    Symbol,
    /// Global memory: the last argument points to them.
    Global,
}

impl KernelConfig {
    /// Returns the number of threads for `size` points.
    pub fn threads(&self, size: u32) -> u32 {
        size.div_ceil(self.points) + self.idle
    }
}

/// The note's `stencil_1d`, with coefficients in constant memory.
const CONSTANT: KernelConfig = KernelConfig {
    coefficients: Coefficients::Symbol,
    points: 1,
    idle: 0,
    ptx: "",
};

/// The note's `stencil_1d_read_only`, with coefficients in global memory.
const READ_ONLY: KernelConfig = KernelConfig {
    coefficients: Coefficients::Global,
    ..CONSTANT
};

/// All kernels, from the note's upwards.
pub const VARIANTS: &[Variant] = &[
    Variant::note(
        "constant",
        "stencil_constant",
        [
            "The note's kernel: points in shared memory, coefficients in constant memory",
            "笔记中的核函数：点在共享内存中，系数在常量内存中",
        ],
        CONSTANT,
    ),
    Variant::note(
        "__ldg",
        "stencil_ldg",
        [
            "Coefficients through the read-only cache, requested by the kernel",
            "系数经只读缓存读取，由核函数指定",
        ],
        READ_ONLY,
    )
    .off_ladder(),
    Variant::note(
        "const __restrict__",
        "stencil_restrict",
        [
            "Coefficients through the read-only cache, chosen by the compiler",
            "系数经只读缓存读取，由编译器选择",
        ],
        READ_ONLY,
    )
    .off_ladder(),
    Variant::rung(
        "cached",
        "stencil_cached",
        [
            "No shared memory, no barrier: neighbours come from the L1 cache",
            "不用共享内存，也不用同步：相邻的点取自 L1 缓存",
        ],
        KernelConfig {
            ptx: include_str!(env!("STENCIL_READONLY_LADDER_1_CACHED_PTX")),
            ..CONSTANT
        },
    ),
    Variant::rung(
        "vectors",
        "stencil_vectors",
        [
            "Four points per thread, 16 bytes per load and store",
            "每个线程四个点，每次读写 16 字节",
        ],
        KernelConfig {
            points: 4,
            ptx: include_str!(env!("STENCIL_READONLY_LADDER_2_VECTORS_PTX")),
            ..CONSTANT
        },
    ),
    Variant::rung(
        "aligned",
        "stencil_aligned",
        [
            "Warps are aligned to sectors, so that no two write to the same one",
            "线程束与扇区对齐，没有两个线程束写入同一扇区",
        ],
        KernelConfig {
            points: 4,
            idle: 1,
            ptx: include_str!(env!("STENCIL_READONLY_LADDER_3_ALIGNED_PTX")),
            ..CONSTANT
        },
    ),
    Variant::rung(
        "read only",
        "stencil_read_only",
        [
            "Coefficients through the read-only cache: no longer a difference",
            "系数经只读缓存读取：不再有差别",
        ],
        KernelConfig {
            points: 4,
            idle: 1,
            ptx: include_str!(env!("STENCIL_READONLY_LADDER_4_READ_ONLY_PTX")),
            ..READ_ONLY
        },
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_cover_every_point() {
        let threads = |name, size| {
            let row = VARIANTS.iter().find(|row| row.name == name);
            row.unwrap().threads(size)
        };
        for (size, expected) in [(1, [1, 1, 2]), (4, [4, 1, 2]), (5, [5, 2, 3])] {
            let kernels = ["cached", "vectors", "aligned"];
            assert_eq!(kernels.map(|name| threads(name, size)), expected);
        }
        assert_eq!(threads("read only", 1 << 30), (1 << 28) + 1);
    }
}
