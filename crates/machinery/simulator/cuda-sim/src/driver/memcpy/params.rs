//! The parameters of a copy: `CUDA_MEMCPY2D` and `CUDA_MEMCPY3D` in one form.

/// The base address of an operand, with the memory type that the caller declares (`CUmemorytype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemcpyAddress {
    /// Host memory (`CU_MEMORYTYPE_HOST`).
    Host(*mut u8),
    /// Device memory, or host memory mapped into the device (`CU_MEMORYTYPE_DEVICE`).
    Device(u64),
    /// The texels of an array, by its handle (`CU_MEMORYTYPE_ARRAY`). The array determines the pitch and the
    /// height.
    Array(u64),
    /// Host or device memory, determined by the address (`CU_MEMORYTYPE_UNIFIED`).
    Unified(u64),
}

/// The source or the destination of a copy: a position in a three-dimensional box of bytes, which consists of
/// slices of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemcpyOperand {
    /// The base address of the box.
    pub array: MemcpyAddress,
    /// The first byte within a row (`srcXInBytes`, `dstXInBytes`).
    pub x: u64,
    /// The first row within a slice.
    pub y: u64,
    /// The first slice.
    pub z: u64,
    /// Bytes from the start of a row to the start of the next. 0 means that the rows of the copy are
    /// contiguous.
    pub pitch: u64,
    /// Rows from the start of a slice to the start of the next (`srcHeight`, `dstHeight`). 0 means that the
    /// slices of the copy are contiguous.
    pub height: u64,
}

impl MemcpyOperand {
    /// Creates an operand of contiguous bytes from `start` on.
    pub fn linear(start: MemcpyAddress) -> Self {
        Self {
            array: start,
            x: 0,
            y: 0,
            z: 0,
            pitch: 0,
            height: 0,
        }
    }
}

/// A copy of `depth` slices of `height` rows of `width` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memcpy {
    /// The destination.
    pub dst: MemcpyOperand,
    /// The source.
    pub src: MemcpyOperand,
    /// Bytes per row (`WidthInBytes`).
    pub width: u64,
    /// Rows per slice.
    pub height: u64,
    /// Slices; 1 for a two-dimensional copy.
    pub depth: u64,
}

impl Memcpy {
    /// Creates a copy of `bytes` contiguous bytes (`cuMemcpy`).
    pub fn linear(dst: MemcpyAddress, src: MemcpyAddress, bytes: u64) -> Self {
        Self {
            dst: MemcpyOperand::linear(dst),
            src: MemcpyOperand::linear(src),
            width: bytes,
            height: 1,
            depth: 1,
        }
    }
}
