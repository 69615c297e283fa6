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
        "the note's kernel: one element per thread, 4 bytes per access",
        Work::Note,
    ),
    Variant::rung(
        "float4",
        "add_float4",
        "four elements per thread: 16 bytes per access",
        Work::Kernel {
            width: 4,
            ptx: include_str!(env!("VECTOR_ADD_LADDER_1_FLOAT4_PTX")),
        },
    ),
    Variant::rung(
        "pageable",
        "add",
        "the note's complete addition: copy the vectors, kernel, copy the sum back",
        Work::RoundTrip(CopyMode::Pageable),
    ),
    Variant::rung(
        "pinned",
        "add",
        "the same from pinned memory, which the GPU copies directly",
        Work::RoundTrip(CopyMode::Pinned),
    ),
    Variant::rung(
        "overlapped",
        "add",
        "the same in chunks: one is copied back while the next is copied to the GPU",
        Work::RoundTrip(CopyMode::Overlapped),
    ),
];
