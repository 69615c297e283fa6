//! Submission of operations to streams: into a capture's graph if the stream is capturing, otherwise into the
//! queue.

use std::sync::MutexGuard;

use cuda_sim::driver::{ContextId, CudaError, Driver, StreamId};

use super::capture;
use super::lock_driver;
use super::queue::{self, WaitTarget};
use super::stream_op::StreamOp;

/// Submits `op`, which the caller has validated, to a stream. Unlocks the driver.
pub fn submit(
    driver: MutexGuard<'static, Driver>,
    context: ContextId,
    stream: StreamId,
    op: StreamOp,
) -> Result<(), CudaError> {
    let blocking = is_blocking(&driver, context, stream)?;
    // Copies of pageable host memory complete before the call returns.
    let is_synchronous = match &op {
        StreamOp::Memcpy(copy) => driver.host_waits(copy),
        _ => false,
    };
    drop(driver);
    let Some(op) = capture::collect(context, stream, op)? else {
        return Ok(());
    };
    queue::enqueue(context, stream, blocking, op);
    if is_synchronous {
        queue::wait(WaitTarget::Stream(context, stream));
        lock_driver()?.stream_flags(context, stream)?;
    }
    Ok(())
}

/// Returns true if a stream synchronizes with the legacy default stream.
pub fn is_blocking(
    driver: &Driver,
    context: ContextId,
    stream: StreamId,
) -> Result<bool, CudaError> {
    /// `CU_STREAM_NON_BLOCKING`.
    const NON_BLOCKING: u32 = 1;
    Ok(driver.stream_flags(context, stream)? & NON_BLOCKING == 0)
}
