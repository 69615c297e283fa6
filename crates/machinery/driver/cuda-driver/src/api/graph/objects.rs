//! User objects, which are resources of the program with reference counts, destroyed when no graph needs them any more;
//! and the attributes of memory that graph nodes allocate.

use std::ffi::{c_int, c_uint, c_void};

use cuda_sim::driver::CudaError;
use cust_raw::{CUdevice, CUhostFn, CUuserObject};

use crate::api::SIMULATOR;
use crate::api::device::check_device;
use crate::arguments::{In, Out, handle, number, required};
use crate::simulator::{GraphId, HostFunction, call_host_functions};
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

/// Values of `CUgraphMem_attribute`.
const USED_CURRENT: c_int = 0;
const USED_HIGH: c_int = 1;
const RESERVED_CURRENT: c_int = 2;
const RESERVED_HIGH: c_int = 3;

/// `cuDeviceGetGraphMemAttribute`.
pub fn memory_attribute(
    device: CUdevice,
    attribute: c_int,
    value: Option<Out<c_void>>,
) -> CallResult {
    let device = check_device(device)?;
    let value = required(value)?;
    let driver = SIMULATOR.lock_driver_settled()?;
    let bytes = match attribute {
        // Freed memory is not cached, so the reserved bytes are the used bytes.
        USED_CURRENT | RESERVED_CURRENT => SIMULATOR.graph_memory.used(&driver, device),
        USED_HIGH | RESERVED_HIGH => SIMULATOR.graph_memory.peak(device),
        _ => return Err(CudaError::InvalidValue.into()),
    };
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
    if !matches!(attribute, USED_HIGH | RESERVED_HIGH) {
        return Err(CudaError::InvalidValue.into());
    }
    // SAFETY: all these attributes are 64-bit numbers.
    if unsafe { value.read_as::<u64>() } != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    let driver = SIMULATOR.lock_driver_settled()?;
    SIMULATOR.graph_memory.reset_peak(&driver, device);
    Ok(())
}

/// `cuDeviceGraphMemTrim`: a no-op, because freed memory is not cached.
pub fn trim_memory(device: CUdevice) -> CallResult {
    check_device(device)?;
    Ok(())
}
