//! Execution of operations. The driver is locked while an operation runs, but not while a host function runs
//! or output is printed.

use cuda_sim::driver::{ContextId, CudaError, StreamId};
use cust_raw::CUresult;

use super::stream_op::{HostFunction, StreamOp};
use super::{graph, launch, lock_driver, pool, thread};
use crate::log::warn;

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
        StreamOp::Kernel(kernel) => launch::run(context, stream, kernel),
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
