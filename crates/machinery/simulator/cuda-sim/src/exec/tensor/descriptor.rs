//! The layout of matrices in shared memory for `wgmma`. Source: PTX ISA, sections "Asynchronous warpgroup
//! level matrix shared memory layout" and "Matrix descriptor"; CUTLASS's `mma_sm90_desc.hpp` gives the same
//! layouts as formulas.
//!
//! One instruction uses 32 bytes of each row, in chunks of 16 bytes. Each group of group rows has [`CHUNKS`]
//! chunks.

use super::COLUMNS;
use crate::exec::fault::FaultKind;

/// Bytes per chunk.
pub const CHUNK: usize = 16;

/// Chunks per group of group rows.
pub const CHUNKS: usize = 16;

/// Number of rows after which the swizzle repeats.
const PATTERN: u64 = 8;

/// A decoded matrix descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    start: u64,
    /// Leading and stride byte offset, whose meaning depends on the layout.
    leading: u64,
    stride: u64,
    /// Distance in bytes between rows of the swizzle pattern; 16 means no swizzle.
    width: u64,
    /// True if neighbours in a chunk belong to one column instead of one row.
    transposed: bool,
}

impl Descriptor {
    /// Decodes a descriptor. Fails for offsets that are not simulated or invalid.
    pub fn new(bits: u64, transposed: bool) -> Result<Descriptor, FaultKind> {
        let field = |from: u32| (bits >> from & 0x3fff) << 4;
        let width = match bits >> 62 {
            0 => CHUNK as u64,
            1 => 128,
            2 => 64,
            _ => 32,
        };
        let start = field(0);
        if bits >> 49 & 7 != 0 {
            return Err(FaultKind::Warpgroup(
                "a descriptor with a base offset is not simulated: align the matrix to 1024 bytes",
            ));
        }
        // A matrix may start anywhere inside its first row.
        if width > CHUNK as u64 && start / width % PATTERN != 0 {
            return Err(FaultKind::Warpgroup(
                "a swizzled matrix must start at a multiple of 8 of its rows (1024, 512 or 256 bytes), \
                 or inside the first of them",
            ));
        }
        Ok(Descriptor {
            start,
            leading: field(16),
            stride: field(32),
            width,
            transposed,
        })
    }

    /// Returns the address of chunk `n` of a group of group rows. For each row, the chunks are its first and
    /// second 16 bytes; in a transposed matrix they are the columns.
    pub fn chunk(&self, group: usize, n: usize) -> u64 {
        let (group, n) = (group as u64, n as u64);
        let chunks_per_row = self.width / CHUNK as u64;
        let offset = match (self.transposed, chunks_per_row) {
            (false, 1) => group * self.stride + n % 2 * self.leading + n / 2 * self.width,
            (false, _) => group * self.stride + n % 2 * CHUNK as u64 + n / 2 * self.width,
            (true, 1) => {
                group * self.stride + n / PATTERN * self.leading + n % PATTERN * self.width
            }
            (true, _) => {
                let within = group % chunks_per_row * CHUNK as u64 + n % PATTERN * self.width;
                within + group / chunks_per_row * self.leading + n / PATTERN * self.stride
            }
        };
        let linear = self.start + offset;
        linear ^ (linear >> 7 & (chunks_per_row - 1)) << 4
    }

    /// Returns the words of group rows in the register layout of `mma`: the first register holds the first 16
    /// bytes of every row, four lanes per row; the second register holds the others.
    pub fn words(&self, chunks: &[[u8; CHUNK]; CHUNKS]) -> [[u32; 4 * COLUMNS]; 2] {
        let mut words = [[0; 4 * COLUMNS]; 2];
        for (n, chunk) in chunks.iter().enumerate() {
            if self.transposed {
                let (register, lane, shift) = (n / 8, n % 8 / 2, n % 2 * 16);
                for (row, half) in chunk.as_chunks().0.iter().enumerate() {
                    words[register][4 * row + lane] |=
                        u32::from(u16::from_le_bytes(*half)) << shift;
                }
            } else {
                let lanes = &mut words[n % 2][4 * (n / 2)..][..4];
                for (word, bytes) in lanes.iter_mut().zip(chunk.as_chunks().0) {
                    *word = u32::from_le_bytes(*bytes);
                }
            }
        }
        words
    }
}
