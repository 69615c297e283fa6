//! User objects: resources of the program with reference counts, destroyed when no graph needs them any more.

use std::ffi::{c_uint, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::{CUhostFn, CUuserObject};

use crate::api::SIMULATOR;
use crate::arguments::{Out, handle, number};
use crate::simulator::operation::{GraphId, HostFunction};
use crate::simulator::thread::call_host_functions;
use crate::status::CallResult;

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which CUDA requires for every object.
const NO_SYNC: c_uint = 1;

/// `CU_GRAPH_USER_OBJECT_MOVE`: transfers the caller's references to the graph.
const MOVE: c_uint = 1;

/// `cuUserObjectCreate`.
pub fn create(
    out: Out<CUuserObject>,
    data: *mut c_void,
    destroy: CUhostFn,
    references: c_uint,
    flags: c_uint,
) -> CallResult {
    if destroy.is_none() || references == 0 || flags != NO_SYNC {
        return Err(CudaError::InvalidValue.into());
    }
    let destructor = HostFunction::Plain {
        function: destroy,
        data,
    };
    let mut graphs = SIMULATOR.graphs();
    out.set(handle(graphs.create_object(references.into(), destructor)));
    Ok(())
}

/// `cuUserObjectRetain`.
pub fn retain(object: CUuserObject, count: c_uint) -> CallResult {
    let count = check_nonzero(count)?;
    Ok(SIMULATOR.graphs().retain_object(number(object), count)?)
}

/// `cuUserObjectRelease`.
pub fn release(object: CUuserObject, count: c_uint) -> CallResult {
    let count = check_nonzero(count)?;
    let destructor = SIMULATOR.graphs().release_object(number(object), count)?;
    Ok(call_host_functions(destructor.into_iter().collect())?)
}

/// `cuGraphRetainUserObject`.
pub fn retain_in_graph(
    graph: GraphId,
    object: CUuserObject,
    count: c_uint,
    flags: c_uint,
) -> CallResult {
    let count = check_nonzero(count)?;
    if flags & !MOVE != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let mut graphs = SIMULATOR.graphs();
    Ok(graphs.retain_object_in_graph(graph, number(object), count, flags == MOVE)?)
}

/// `cuGraphReleaseUserObject`.
pub fn release_in_graph(graph: GraphId, object: CUuserObject, count: c_uint) -> CallResult {
    let count = check_nonzero(count)?;
    let mut graphs = SIMULATOR.graphs();
    let destructor = graphs.release_object_in_graph(graph, number(object), count)?;
    drop(graphs);
    Ok(call_host_functions(destructor.into_iter().collect())?)
}

fn check_nonzero(count: c_uint) -> Result<u64, CudaError> {
    if count == 0 {
        return Err(CudaError::InvalidValue);
    }
    Ok(count.into())
}
