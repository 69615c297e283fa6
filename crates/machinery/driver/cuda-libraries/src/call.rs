//! Calls on the simulator: work on device memory that is submitted to a stream, and the elements that it uses.

use cuda_driver::functions as cu;
use cuda_driver::types::CUstream;
use cuda_driver::{
    Arithmetic, CallMemory, IllegalOperand, LibraryCall, MemoryRows, Operations, current_function,
    submit_library_call,
};

use crate::functions::{CallResult, Status};

/// A stream's handle.
#[derive(Clone, Copy)]
pub struct Stream(pub CUstream);

// SAFETY: a stream's handle is not tied to a thread; the driver accepts it from any of them.
unsafe impl Send for Stream {}
// SAFETY: sharing a `Stream` only shares the handle's value.
unsafe impl Sync for Stream {}

/// Waits for all work of the current device.
pub fn synchronize() -> CallResult {
    // SAFETY: the function has no requirements.
    check(unsafe { cuda_runtime::cudaDeviceSynchronize() })
}

impl Stream {
    pub const NULL: Self = Self(std::ptr::null_mut());

    /// Waits for all work in the stream.
    pub fn synchronize(self) -> CallResult {
        // SAFETY: the driver validates the handle.
        check(unsafe { cu::cuStreamSynchronize(self.0) })
    }

    /// Submits work that the running C function requests. `operands` are addresses in the allocations that it may use.
    pub fn submit(
        self,
        operands: Vec<u64>,
        operations: Operations,
        work: impl Fn(&mut CallMemory<'_>) -> Result<(), IllegalOperand> + Send + Sync + 'static,
    ) -> CallResult {
        // The runtime's context may not exist yet.
        // SAFETY: freeing a null pointer only creates the context.
        let code = unsafe { cuda_runtime::cudaFree(std::ptr::null_mut()) };
        check(code)?;
        let function = current_function().unwrap_or_default();
        let function = function.strip_suffix("_v2").unwrap_or(function);
        let call = LibraryCall::new(function, operands, operations, work);
        check(submit_library_call(self.0, call))
    }
}

/// Converts the result of the driver or runtime API.
pub fn check(code: i32) -> CallResult {
    match code {
        0 => Ok(()),
        _ => Err(Status::OF_DRIVER),
    }
}

/// Creates the operations of a call.
pub fn operations(arithmetic: Arithmetic, count: f64) -> Operations {
    Operations { count, arithmetic }
}

/// Elements in device memory: columns of consecutive elements.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    pub address: u64,
    /// Elements per column.
    pub rows: usize,
    pub columns: usize,
    /// Elements from the start of a column to the start of the next.
    pub leading: usize,
}

impl Columns {
    /// Creates one column.
    pub fn contiguous(address: u64, rows: usize) -> Self {
        Self {
            address,
            rows,
            columns: 1,
            leading: rows,
        }
    }

    fn memory<T>(self) -> MemoryRows {
        let size = size_of::<T>();
        let bytes = |elements: usize| (elements * size) as u64;
        // Columns without gaps are one row.
        if self.leading == self.rows {
            return MemoryRows::contiguous(self.address, bytes(self.rows * self.columns));
        }
        MemoryRows {
            address: self.address,
            width: bytes(self.rows),
            pitch: bytes(self.leading),
            height: self.columns as u64,
        }
    }

    /// Returns the pointer to the elements, which the call reads.
    pub fn read<T>(self, memory: &mut CallMemory<'_>) -> Result<*const T, IllegalOperand> {
        Ok(memory.read(self.memory::<T>())?.cast())
    }

    /// Returns the pointer to the elements, which the call writes.
    pub fn write<T>(self, memory: &mut CallMemory<'_>) -> Result<*mut T, IllegalOperand> {
        Ok(memory.write(self.memory::<T>())?.cast())
    }

    /// Returns the pointer to the elements, which the call reads and writes.
    pub fn update<T>(self, memory: &mut CallMemory<'_>) -> Result<*mut T, IllegalOperand> {
        memory.read(self.memory::<T>())?;
        self.write(memory)
    }
}
