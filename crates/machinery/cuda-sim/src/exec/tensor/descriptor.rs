//! How a matrix lies in shared memory for `wgmma`. Source: PTX ISA, section "Asynchronous warpgroup level
//! matrix shared memory layout" and "Matrix descriptor"; CUTLASS's `mma_sm90_desc.hpp` writes the same
//! layouts as formulas.
//!
//! A product takes 32 bytes of each row. They come in chunks of 16 bytes, and each eight rows have
//! [`CHUNKS`] of these.

use super::COLUMNS;
use crate::exec::fault::FaultKind;

/// Bytes of a chunk.
pub const CHUNK: usize = 16;

/// Chunks of eight rows.
pub const CHUNKS: usize = 16;

/// Rows that the swizzle goes through before it begins anew.
const PATTERN: u64 = 8;

/// A matrix in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    start: u64,
    /// Leading and stride byte offset: what they mean depends on the layout.
    leading: u64,
    stride: u64,
    /// Bytes after which the next row of the pattern begins. 16: there is no pattern.
    width: u64,
    /// Neighbours in a chunk belong to one column, and not to one row.
    transposed: bool,
}

impl Descriptor {
    /// From what a kernel has made.
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
                "a descriptor with a base offset is not simulated: begin the matrix at a multiple of 1024 bytes",
            ));
        }
        // Inside its row it may begin anywhere.
        if width > CHUNK as u64 && start / width % PATTERN != 0 {
            return Err(FaultKind::Warpgroup(
                "a swizzled matrix has to begin at a multiple of 8 of its rows (1024, 512 or 256 bytes), \
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

    /// Where chunk `n` of eight rows begins. The chunks are, of each of the rows, the first and the second
    /// 16 bytes; transposed they are the columns.
    pub fn chunk(&self, eight: usize, n: usize) -> u64 {
        let (eight, n) = (eight as u64, n as u64);
        let a_row = self.width / CHUNK as u64;
        let offset = match (self.transposed, a_row) {
            (false, 1) => eight * self.stride + n % 2 * self.leading + n / 2 * self.width,
            (false, _) => eight * self.stride + n % 2 * CHUNK as u64 + n / 2 * self.width,
            (true, 1) => {
                eight * self.stride + n / PATTERN * self.leading + n % PATTERN * self.width
            }
            (true, _) => {
                let within = eight % a_row * CHUNK as u64 + n % PATTERN * self.width;
                within + eight / a_row * self.leading + n / PATTERN * self.stride
            }
        };
        let linear = self.start + offset;
        linear ^ (linear >> 7 & (a_row - 1)) << 4
    }

    /// The words of eight rows, in the places where `mma` has them: in the first register the first 16
    /// bytes of every row, four lanes a row, in the second the others.
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
