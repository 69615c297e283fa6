//! Puts work into streams: into the graph of a capture where the stream is captured, else into the
//! queue of what is to be done.

use std::sync::MutexGuard;

use cuda_sim::driver::{ContextId, CudaError, Driver, StreamId};

use super::capture;
use super::machine;
use super::queue::{self, Awaited};
use super::work::Work;

/// Puts `work`, which is known to be possible, into a stream. The machine is let go of.
pub fn submit(
    driver: MutexGuard<'static, Driver>,
    context: ContextId,
    stream: StreamId,
    work: Work,
) -> Result<(), CudaError> {
    let blocking = is_blocking(&driver, context, stream)?;
    // The driver itself reads and writes memory that is not page-locked, before it returns.
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

/// Whether work in a stream and work in the legacy default stream wait for each other.
pub fn is_blocking(
    driver: &Driver,
    context: ContextId,
    stream: StreamId,
) -> Result<bool, CudaError> {
    /// `CU_STREAM_NON_BLOCKING`.
    const NON_BLOCKING: u32 = 1;
    Ok(driver.stream_flags(context, stream)? & NON_BLOCKING == 0)
}
