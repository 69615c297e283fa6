//! Submission of operations to streams: into a capture's graph if the stream is capturing, otherwise into the
//! queue.

use std::sync::MutexGuard;

use cuda_sim::driver::{ContextId, CudaError, Driver, StreamId};

use super::capture;
use super::machine;
use super::queue::{self, Awaited};
use super::work::Work;

/// Submits `op`, which the caller has validated, to a stream. Unlocks the driver.
pub fn submit(
    driver: MutexGuard<'static, Driver>,
    context: ContextId,
    stream: StreamId,
    work: Work,
) -> Result<(), CudaError> {
    let blocking = is_blocking(&driver, context, stream)?;
    // Copies of pageable host memory complete before the call returns.
    let waits = match &work {
        Work::Memcpy(copy) => driver.host_waits(copy),
        _ => false,
    };
    drop(driver);
    let Some(work) = capture::collect(context, stream, work)? else {
        return Ok(());
    };
    queue::put(context, stream, blocking, work);
    if waits {
        queue::wait(Awaited::Stream(context, stream));
        machine()?.stream_flags(context, stream)?;
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
