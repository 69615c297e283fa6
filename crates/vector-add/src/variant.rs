//! What `--variant` chooses from: kernels, and whole sums with the copies there and back.

use common::ladder::Rung;

use crate::round_trip::Way;

/// A kernel, or a whole sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The note's kernel.
    Add,
    /// Four sums a thread.
    Float4,
    /// A whole sum from pageable memory.
    Pageable,
    /// A whole sum from pinned memory.
    Pinned,
    /// A whole sum from pinned memory, in chunks.
    Overlapped,
}

/// What a variant does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Launches a kernel on vectors that are on the GPU.
    Kernel {
        /// Its name in the `.cu` file.
        name: &'static str,
        /// Elements that a thread adds by one instruction.
        width: u64,
    },
    /// Copies the vectors there, launches the note's kernel, and copies the sum back.
    RoundTrip(Way),
}

impl Variant {
    /// What it does.
    pub fn work(self) -> Work {
        match self {
            Variant::Add => Work::Kernel {
                name: "add",
                width: 1,
            },
            Variant::Float4 => Work::Kernel {
                name: "add_float4",
                width: 4,
            },
            Variant::Pageable => Work::RoundTrip(Way::Pageable),
            Variant::Pinned => Work::RoundTrip(Way::Pinned),
            Variant::Overlapped => Work::RoundTrip(Way::Overlapped),
        }
    }
}

impl Rung for Variant {
    const BOOK: &'static [Self] = &[Variant::Add];

    const LADDER: &'static [Self] = &[
        Variant::Add,
        Variant::Float4,
        Variant::Pageable,
        Variant::Pinned,
        Variant::Overlapped,
    ];

    fn name(self) -> &'static str {
        match self {
            Variant::Add => "add",
            Variant::Float4 => "float4",
            Variant::Pageable => "pageable",
            Variant::Pinned => "pinned",
            Variant::Overlapped => "overlapped",
        }
    }

    fn idea(self) -> &'static str {
        match self {
            Variant::Add => "the note's kernel: one sum a thread, 4 bytes an access",
            Variant::Float4 => "four sums a thread: 16 bytes an access",
            Variant::Pageable => "the note's whole sum: vectors there, kernel, sum back",
            Variant::Pinned => "the same from pinned memory, which the GPU fetches by itself",
            Variant::Overlapped => "the same in chunks: one comes back while the next goes there",
        }
    }
}
