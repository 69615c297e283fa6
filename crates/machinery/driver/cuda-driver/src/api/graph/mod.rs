//! Graphs: one file per topic, as in the table of functions. This file has the functions of user objects, which are resources
//! of the program with reference counts, destroyed when no graph needs them any more, and the attributes of memory that
//! graph nodes allocate.

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::CudaError;

use crate::api::SIMULATOR;
use crate::api::device::check_device;
use crate::arguments::{In, Out, handle, number, required};
use crate::simulator::{GraphId, GraphMemoryAttribute, HostFunction, NodeId, call_host_functions};
use crate::status::{CallResult, warn};
use crate::types::{CUdevice, CUgraphNode, CUhostFn, CUuserObject};

/// Generates the functions that replace the operation of a node with `$set`, from the expression that creates the
/// operation.
macro_rules! setters {
    ($set:ident $target:tt;) => {};
    (
        $set:ident ($($target:ident: $target_type:ty),*);
        $(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) $op:expr; $($rest:tt)*
    ) => {
        $(#[$doc])*
        pub fn $name($($target: $target_type,)* $($argument: $type),*) -> CallResult {
            $set($($target,)* $op?)
        }

        setters! { $set($($target: $target_type),*); $($rest)* }
    };
}

pub mod exec;
pub mod nodes;
pub mod params;
mod params_in;

use crate::types::graph::EdgeData;

/// Returns the number of a node's handle.
pub fn node_id(node: CUgraphNode) -> NodeId {
    NodeId(number(node))
}

/// Rejects edge data other than the default, a full dependency: programmatic dependencies are not supported.
///
/// # Safety
/// `data` must have `count` elements.
pub unsafe fn check_edges(data: Option<In<EdgeData>>, count: usize) -> Result<(), CudaError> {
    let Some(data) = data else {
        return Ok(());
    };
    // SAFETY: `data` has `count` elements, by this function's contract.
    let data = unsafe { data.read_all(count) };
    // A full or a programmatic dependency; the ports of a kernel node are 0 to 2.
    let is_valid = |edge: &EdgeData| {
        let port = match edge.kind {
            0 => edge.from_port == 0,
            1 => edge.from_port <= 2,
            _ => false,
        };
        port && edge.to_port == 0 && edge.reserved == [0; 5]
    };
    if !data.iter().all(is_valid) {
        return Err(CudaError::InvalidValue);
    }
    if data.iter().any(|edge| *edge != EdgeData::default()) {
        warn(format_args!(
            "the simulator does not support programmatic dependencies in graphs"
        ));
        return Err(CudaError::NotSupported);
    }
    Ok(())
}

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

/// Returns the attribute with a number of `CUgraphMem_attribute`. Fails with [`CudaError::InvalidValue`] if there is none.
fn graph_memory_attribute(number: c_int) -> Result<GraphMemoryAttribute, CudaError> {
    match number {
        0 => Ok(GraphMemoryAttribute::Used),
        1 => Ok(GraphMemoryAttribute::UsedPeak),
        2 => Ok(GraphMemoryAttribute::Reserved),
        3 => Ok(GraphMemoryAttribute::ReservedPeak),
        _ => Err(CudaError::InvalidValue),
    }
}

/// `cuDeviceGetGraphMemAttribute`.
pub fn memory_attribute(
    device: CUdevice,
    attribute: c_int,
    value: Option<Out<c_void>>,
) -> CallResult {
    let device = check_device(device)?;
    let value = required(value)?;
    let attribute = graph_memory_attribute(attribute)?;
    let driver = SIMULATOR.lock_driver_settled()?;
    let has_graphs = SIMULATOR.graphs().have_allocations();
    let memory = &SIMULATOR.graph_memory;
    let bytes = memory.attribute(&driver, device, attribute, has_graphs);
    // SAFETY: all these attributes are 64-bit numbers.
    unsafe { value.set_as::<u64>(bytes) };
    Ok(())
}

/// `cuDeviceSetGraphMemAttribute`: a peak can only be reset.
pub fn set_memory_attribute(
    device: CUdevice,
    attribute: c_int,
    value: Option<In<c_void>>,
) -> CallResult {
    let device = check_device(device)?;
    let value = required(value)?;
    let attribute = graph_memory_attribute(attribute)?;
    // SAFETY: all these attributes are 64-bit numbers.
    if unsafe { value.read_as::<u64>() } != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let driver = SIMULATOR.lock_driver_settled()?;
    let has_graphs = SIMULATOR.graphs().have_allocations();
    let memory = &SIMULATOR.graph_memory;
    match memory.reset_peak(&driver, device, attribute, has_graphs) {
        true => Ok(()),
        false => Err(CudaError::InvalidValue.into()),
    }
}

/// `cuDeviceGraphMemTrim`.
pub fn trim_memory(device: CUdevice) -> CallResult {
    let device = check_device(device)?;
    let driver = SIMULATOR.lock_driver_settled()?;
    SIMULATOR.graph_memory.trim(&driver, device);
    Ok(())
}
