//! Operations from their submission to a stream to their execution. A submitted operation is added to a capture's
//! graph if the stream is capturing, otherwise to the queue. While an operation executes, the driver is locked,
//! but not while a host function runs or output is printed.

use std::sync::MutexGuard;

use cuda_sim::driver::{ContextId, CudaError, Driver, StreamId};
use cust_raw::CUresult;

use super::queue::{self, WaitTarget};
use super::stream_op::{HostFunction, StreamOp};
use super::{capture, graph, launch, lock_driver, pool, thread};
use crate::log::warn;

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

/// The origin of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Submitted to a stream: the host waits for some copies.
    Stream,
    /// A graph node: the host never waits for it.
    Graph,
}

/// Executes `op`, which was checked when it was submitted. A kernel that faults is not an error here: its
/// context reports the fault at the next call.
pub fn execute(
    context: ContextId,
    stream: StreamId,
    op: &StreamOp,
    origin: Origin,
) -> Result<(), CudaError> {
    match op {
        StreamOp::Empty => Ok(()),
        StreamOp::Kernel(kernel) => launch::run(context, stream, &kernel.launch),
        StreamOp::Memcpy(copy) => {
            let mut driver = lock_driver()?;
            // SAFETY: the program keeps the copy's host memory valid until the copy completes, as
            // `cuMemcpyAsync` and `cuGraphLaunch` require.
            unsafe {
                match origin {
                    Origin::Stream => driver.memcpy_async(context, stream, copy),
                    Origin::Graph => driver.memcpy_node(context, stream, copy),
                }
            }
        }
        StreamOp::Memset(memset) => lock_driver()?.memset(context, stream, memset),
        StreamOp::Host(function) => {
            lock_driver()?.stream_flags(context, stream)?;
            call_host_function(*function)
        }
        StreamOp::RecordEvent(event) => lock_driver()?.record_event(context, *event, stream),
        StreamOp::WaitEvent(event) => lock_driver()?.wait_event(context, stream, *event),
        StreamOp::Allocate(reserved) => graph::memory::allocate(context, reserved),
        StreamOp::Free(address) => {
            lock_driver()?.free(context, *address)?;
            pool::record_free(*address);
            Ok(())
        }
        StreamOp::Graph(body) => {
            if let Err(error) = graph::exec::run(context, stream, body) {
                report_graph_failure(context, error)?;
            }
            Ok(())
        }
    }
}

/// Reports a graph node that failed. The error becomes the context's, unless an earlier fault is already
/// recorded there.
fn report_graph_failure(context: ContextId, error: CudaError) -> Result<(), CudaError> {
    let mut driver = lock_driver()?;
    if driver.memory_info(context).is_ok() {
        warn(format_args!(
            "a graph node failed ({error}): its memory, kernel or event no longer exists"
        ));
        driver.fail(context, CudaError::IllegalAddress);
    }
    Ok(())
}

/// A host function on its way to the thread that runs it.
struct SendHostFunction(HostFunction);

// SAFETY: only the receiving thread uses it, while the sending thread waits.
unsafe impl Send for SendHostFunction {}

impl SendHostFunction {
    fn take(self) -> HostFunction {
        self.0
    }
}

fn call_host_function(function: HostFunction) -> Result<(), CudaError> {
    let function = SendHostFunction(function);
    thread::call_host_function(move || {
        // SAFETY: `cuLaunchHostFunc` and `cuStreamAddCallback` require that the function may be called once
        // with this argument on a thread of the driver. The driver is not locked, so other threads can
        // proceed.
        unsafe {
            match function.take() {
                HostFunction::Plain { function, data } => {
                    if let Some(function) = function {
                        function(data);
                    }
                }
                HostFunction::Callback {
                    function,
                    stream,
                    data,
                } => {
                    if let Some(function) = function {
                        function(stream, CUresult::CUDA_SUCCESS, data);
                    }
                }
            }
        }
    })
}
