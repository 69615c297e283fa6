//! Execution of operations. The driver is locked while an operation runs, but not while a host function runs
//! or output is
//! printed.

use cuda_sim::driver::{ContextId, CudaError, StreamId};
use cust_raw::CUresult;

use super::work::{HostFunction, Work};
use super::{callback, graph, launch, machine, pool};
use crate::report::say;

/// The origin of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// Submitted to a stream: the host waits for some copies.
    Stream,
    /// A graph node: the host never waits for it.
    Graph,
}

/// Executes `op`, which was checked when it was submitted. A kernel that faults is not an error here: its
/// context reports
/// the fault at the next call.
pub fn perform(
    context: ContextId,
    stream: StreamId,
    work: &Work,
    within: Within,
) -> Result<(), CudaError> {
    match work {
        Work::Empty => Ok(()),
        Work::Kernel(kernel) => launch::run(context, stream, kernel),
        Work::Memcpy(copy) => {
            let mut driver = machine()?;
            // SAFETY: the program keeps the copy's host memory valid until the copy completes, as
            // `cuMemcpyAsync` and
            // `cuGraphLaunch` require.
            unsafe {
                match within {
                    Within::Stream => driver.memcpy_async(context, stream, copy),
                    Within::Graph => driver.memcpy_node(context, stream, copy),
                }
            }
        }
        Work::Memset(memset) => machine()?.memset(context, stream, memset),
        Work::Host(function) => {
            machine()?.stream_flags(context, stream)?;
            call(*function)
        }
        Work::RecordEvent(event) => machine()?.record_event(context, *event, stream),
        Work::WaitEvent(event) => machine()?.wait_event(context, stream, *event),
        Work::Allocate(reserved) => graph::memory::allocate(context, reserved),
        Work::Free(address) => {
            machine()?.free(context, *address)?;
            pool::freed(*address);
            Ok(())
        }
        Work::Graph(body) => {
            if let Err(error) = graph::run::run(context, stream, body) {
                graph_failed(context, error)?;
            }
            Ok(())
        }
    }
}

/// Reports a graph node that failed. The error becomes the context's, unless an earlier fault is already
/// recorded there.
fn graph_failed(context: ContextId, error: CudaError) -> Result<(), CudaError> {
    let mut driver = machine()?;
    if driver.memory_info(context).is_ok() {
        say(format_args!(
            "a node of a graph could not be done ({error}): the memory, the kernel or the event that it \
             names is not there any more"
        ));
        driver.fail(context, CudaError::IllegalAddress);
    }
    Ok(())
}

/// A host function on its way to the thread that runs it.
struct Call(HostFunction);

// SAFETY: only the receiving thread uses it, while the sending thread waits.
unsafe impl Send for Call {}

impl Call {
    fn take(self) -> HostFunction {
        self.0
    }
}

fn call(function: HostFunction) -> Result<(), CudaError> {
    let call = Call(function);
    callback::run(move || {
        // SAFETY: `cuLaunchHostFunc` and `cuStreamAddCallback` require that the function may be called once
        // with this
        // argument on a thread of the driver. The driver is not locked, so other threads can proceed.
        unsafe {
            match call.take() {
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
