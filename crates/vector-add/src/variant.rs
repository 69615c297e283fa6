//! The values of `--variant`: kernels, and complete additions including the transfers.

use chapter::ladder;

use crate::round_trip::CopyMode;

/// A row of the table of variants.
pub type Variant = ladder::Variant<Work>;

/// The work that a variant measures.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// The note's kernel on vectors that are on the GPU, as in `main.rs`.
    Note,
    /// A rung's kernel on vectors that are on the GPU.
    Kernel {
        /// Elements that a thread adds with one access each.
        width: u64,
        /// The rung's module.
        ptx: &'static str,
    },
    /// The copies to the GPU, the note's kernel, and the copy of the sum back.
    RoundTrip(CopyMode),
}

/// All variants, from the note's kernel upwards.
pub const VARIANTS: &[Variant] = &[
    Variant::note(
        "add",
        "add",
        [
            "the note's kernel: one element per thread, 4 bytes per access",
            "笔记中的核函数：每个线程一个元素，每次访问 4 字节",
        ],
        Work::Note,
    ),
    Variant::rung(
        "float4",
        "add_float4",
        [
            "four elements per thread: 16 bytes per access",
            "每个线程四个元素：每次访问 16 字节",
        ],
        Work::Kernel {
            width: 4,
            ptx: include_str!(env!("VECTOR_ADD_LADDER_1_FLOAT4_PTX")),
        },
    ),
    Variant::rung(
        "pageable",
        "add",
        [
            "the note's complete addition: copy the vectors, kernel, copy the sum back",
            "笔记中的完整加法：复制两个向量，运行核函数，再把和复制回来",
        ],
        Work::RoundTrip(CopyMode::Pageable),
    ),
    Variant::rung(
        "pinned",
        "add",
        [
            "the same from pinned memory, which the GPU copies directly",
            "同上，但使用锁页内存，GPU 可以直接复制",
        ],
        Work::RoundTrip(CopyMode::Pinned),
    ),
    Variant::rung(
        "overlapped",
        "add",
        [
            "the same in chunks: one is copied back while the next is copied to the GPU",
            "同上，但分段进行：一段复制回主机时，下一段正复制到 GPU",
        ],
        Work::RoundTrip(CopyMode::Overlapped),
    ),
];
