//! Carries work out. The machine is locked for as long as a piece of it takes, but not while a function of
//! the program's runs or while something is printed.

use cuda_sim::driver::{ContextId, CudaError, StreamId};
use cust_raw::CUresult;

use super::work::{HostFunction, Work};
use super::{callback, graph, launch, machine, pool};
use crate::report::say;

/// What the work is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// A stream's own: the host waits for some copies.
    Stream,
    /// A node of a graph, for which the host does not wait.
    Graph,
}

/// Does `work`, which was checked when it was put into the stream. A kernel that faults is no error here:
/// its context says so at the next call.
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
            // SAFETY: who put the copy into the stream promised that its host memory is good until it is
            // done.
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

/// A node of a launched graph could not be done. That is the context's error, unless it has one already:
/// the fault of a kernel before.
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

/// What a function of the program's is called with, on its way to the thread that it runs on.
struct Call(HostFunction);

// SAFETY: that thread alone uses it, while the thread that made it waits.
unsafe impl Send for Call {}

impl Call {
    fn take(self) -> HostFunction {
        self.0
    }
}

fn call(function: HostFunction) -> Result<(), CudaError> {
    let call = Call(function);
    callback::run(move || {
        // SAFETY: the caller of the driver promised that the function may be called once with this, on a
        // thread of the driver's. The machine is not locked: others may go on meanwhile.
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
