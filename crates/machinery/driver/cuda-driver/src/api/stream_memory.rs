//! Memory operations of streams: writes of values to device memory, waits for values, and batches of both.

use std::ffi::{c_uint, c_ulonglong};
use std::sync::Arc;

use cuda_sim::driver::CudaError;

use super::SIMULATOR;
use crate::arguments::{In, read_list};
use crate::simulator::{Stream, StreamOp};
use crate::status::CallResult;
use crate::types::{CUdeviceptr, MemoryOperation};

/// The maximum number of operations of a batch. Source: CUDA Driver API, `cuStreamBatchMemOp`.
const MAX_OPERATIONS: c_uint = 256;

/// `CU_STREAM_WAIT_VALUE_FLUSH`: the wait also flushes remote writes, which an H200 does not support.
const FLUSH: c_uint = 1 << 30;

/// The largest `CUstreamWaitValue_flags` that is a condition, `CU_STREAM_WAIT_VALUE_NOR`.
const LAST_CONDITION: c_uint = 3;

/// Generates the functions with one operation.
macro_rules! operations {
    ($($c_name:literal $name:ident $value:ty, $kind:ident;)*) => {$(
        #[doc = concat!("`", $c_name, "`.")]
        pub fn $name(stream: Stream, address: CUdeviceptr, value: $value, flags: c_uint) -> CallResult {
            let operation = MemoryOperation {
                kind: MemoryOperation::$kind,
                barrier_flags: 0,
                address,
                value: value.into(),
                flags,
                alias: 0,
                padding: 0,
            };
            submit(stream, checked([operation].into())?)
        }
    )*};
}

operations! {
    "cuStreamWaitValue32" wait_32 c_uint, WAIT_32;
    "cuStreamWaitValue64" wait_64 c_ulonglong, WAIT_64;
    "cuStreamWriteValue32" write_32 c_uint, WRITE_32;
    "cuStreamWriteValue64" write_64 c_ulonglong, WRITE_64;
}

/// `cuStreamBatchMemOp`.
pub fn batch(
    stream: Stream,
    count: c_uint,
    operations: Option<In<MemoryOperation>>,
    flags: c_uint,
) -> CallResult {
    // SAFETY: the C function requires that `operations` has `count` elements.
    let op = unsafe { read_batch(count, operations, flags) }?;
    submit(stream, op)
}

/// Reads and checks the operations of a batch.
///
/// # Safety
/// `operations` must have `count` elements.
pub unsafe fn read_batch(
    count: c_uint,
    operations: Option<In<MemoryOperation>>,
    flags: c_uint,
) -> Result<StreamOp, CudaError> {
    if flags != 0 || count > MAX_OPERATIONS {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `operations` has `count` elements, by this function's contract.
    checked(unsafe { read_list(operations, count as usize) }?.into())
}

/// Returns an operation of a stream with these memory operations, after a check of each.
fn checked(operations: Arc<[MemoryOperation]>) -> Result<StreamOp, CudaError> {
    let driver = SIMULATOR.lock_driver()?;
    for operation in &*operations {
        match operation.kind {
            MemoryOperation::FLUSH => return Err(CudaError::NotSupported),
            MemoryOperation::BARRIER => continue,
            _ if operation.is_wait() && operation.flags & FLUSH != 0 => {
                return Err(CudaError::NotSupported);
            }
            _ if operation.is_wait() && operation.flags <= LAST_CONDITION => {}
            // An H200 always executes a write with its memory barrier.
            _ if operation.is_write() && operation.flags == 0 => {}
            _ => return Err(CudaError::InvalidValue),
        }
        let (address, bytes) = (operation.address, operation.bytes());
        if !address.is_multiple_of(bytes) {
            return Err(CudaError::InvalidValue);
        }
        driver.read_value(address, bytes)?;
    }
    Ok(StreamOp::Memory(operations))
}

/// Enqueues operations in a stream.
fn submit(stream: Stream, op: StreamOp) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(stream)?;
    Ok(SIMULATOR.submit(driver, context, stream, op)?)
}
