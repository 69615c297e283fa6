//! What `--variant` chooses from: kernels, and whole sums with the copies there and back.

use chapter::ladder;

use crate::round_trip::Way;

/// A row of the table of kernels and whole sums.
pub type Variant = ladder::Variant<Work>;

/// What a variant does.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// What `main.rs` does: launches the note's kernel on vectors that are on the GPU.
    Note,
    /// Launches a rung's kernel on such vectors.
    Kernel {
        /// Elements that a thread adds by one instruction.
        width: u64,
        /// The rung's module.
        ptx: &'static str,
    },
    /// Copies the vectors there, launches the note's kernel, and copies the sum back.
    RoundTrip(Way),
}

/// All of them, from the note's kernel up.
pub const VARIANTS: &[Variant] = &[
    Variant::note(
        "add",
        "add",
        "the note's kernel: one sum a thread, 4 bytes an access",
        Work::Note,
    ),
    Variant::rung(
        "float4",
        "add_float4",
        "four sums a thread: 16 bytes an access",
        Work::Kernel {
            width: 4,
            ptx: include_str!(env!("VECTOR_ADD_LADDER_1_FLOAT4_PTX")),
        },
    ),
    Variant::rung(
        "pageable",
        "add",
        "the note's whole sum: vectors there, kernel, sum back",
        Work::RoundTrip(Way::Pageable),
    ),
    Variant::rung(
        "pinned",
        "add",
        "the same from pinned memory, which the GPU fetches by itself",
        Work::RoundTrip(Way::Pinned),
    ),
    Variant::rung(
        "overlapped",
        "add",
        "the same in chunks: one comes back while the next goes there",
        Work::RoundTrip(Way::Overlapped),
    ),
];
