//! What a copy is asked to do: `CUDA_MEMCPY2D` and `CUDA_MEMCPY3D` in one form.

/// The start of an array that is copied from or to, with what the caller says of the memory it is
/// in (`CUmemorytype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemcpyAddress {
    /// Host memory (`CU_MEMORYTYPE_HOST`).
    Host(*mut u8),
    /// Device memory, or host memory mapped into the device (`CU_MEMORYTYPE_DEVICE`).
    Device(u64),
    /// The texels of an array, by its handle (`CU_MEMORYTYPE_ARRAY`). Its pitch and height are its own.
    Array(u64),
    /// Host or device memory: the address itself says which (`CU_MEMORYTYPE_UNIFIED`).
    Unified(u64),
}

/// The source or the destination of a copy: a position in an array of slices of rows of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemcpyOperand {
    /// Where the array starts.
    pub array: MemcpyAddress,
    /// The first byte within a row (`srcXInBytes`, `dstXInBytes`).
    pub x: u64,
    /// The first row within a slice.
    pub y: u64,
    /// The first slice.
    pub z: u64,
    /// Bytes from the start of a row to the start of the next. 0: a row ends where the copy's part
    /// of it ends, and the next follows at once.
    pub pitch: u64,
    /// Rows from the start of a slice to the start of the next (`srcHeight`, `dstHeight`). 0: a
    /// slice ends with the last row that is copied, and the next follows at once.
    pub height: u64,
}

impl MemcpyOperand {
    /// The bytes at `start`, without rows and slices.
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
    /// Where to.
    pub dst: MemcpyOperand,
    /// Where from.
    pub src: MemcpyOperand,
    /// Bytes of a row (`WidthInBytes`).
    pub width: u64,
    /// Rows of a slice.
    pub height: u64,
    /// Slices; 1 for a copy of two dimensions.
    pub depth: u64,
}

impl Memcpy {
    /// A copy of `bytes` bytes in a row (`cuMemcpy`).
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
