//! Queries and changes of node parameters and kernel node attributes.

use std::ffi::{c_int, c_void};

use cuda_sim::driver::{CudaError, Driver, EventId};
use cuda_sim::exec::LaunchSpec;
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUevent, CUgraph, CUgraphNode,
};

use super::body::Node;
use super::nodes::{existing_event, node_id, read_any};
use super::params_in::{self, check_launch, node_type};
use super::params_out;
use super::store::graphs;
use crate::simulator::raw::{Out, handle};
use crate::simulator::stream_op::{Kernel, StreamOp};
use crate::simulator::{lock_driver, lock_driver_drained};
use crate::status::CallResult;
use crate::types::graph::{KernelNodeParams, NodeParams};

/// Replaces a node's operation by one of the same type. A kernel node keeps its attributes.
pub fn replace_op(driver: &Driver, node: &mut Node, op: StreamOp) -> Result<(), CudaError> {
    if node_type(&node.op) != node_type(&op) {
        return Err(CudaError::InvalidValue);
    }
    node.op = match (&node.op, op) {
        (StreamOp::Kernel(old), StreamOp::Kernel(new)) => {
            StreamOp::Kernel(Attributes::of(old).apply(driver, &new)?)
        }
        (_, other) => other,
    };
    node.argument_pointers.clear();
    Ok(())
}

/// Replaces the operation of the node of a handle.
fn set(node: CUgraphNode, op: StreamOp) -> CallResult {
    let driver = lock_driver()?;
    Ok(replace_op(&driver, graphs().node_mut(node_id(node))?, op)?)
}

/// `cuGraphKernelNodeGetParams`, before CUDA 12.
pub unsafe fn kernel_v1(node: CUgraphNode, out: *mut CUDA_KERNEL_NODE_PARAMS) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphKernelNodeGetParams` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    let new = kernel_params(node)?;
    out.set(CUDA_KERNEL_NODE_PARAMS {
        func: new.func,
        gridDimX: new.grid[0],
        gridDimY: new.grid[1],
        gridDimZ: new.grid[2],
        blockDimX: new.block[0],
        blockDimY: new.block[1],
        blockDimZ: new.block[2],
        sharedMemBytes: new.shared_mem_bytes,
        kernelParams: new.kernel_params,
        extra: new.extra,
    });
    Ok(())
}

/// `cuGraphKernelNodeGetParams`.
pub unsafe fn kernel(node: CUgraphNode, out: *mut KernelNodeParams) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphKernelNodeGetParams` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    out.set(kernel_params(node)?);
    Ok(())
}

fn kernel_params(node: CUgraphNode) -> Result<KernelNodeParams, CudaError> {
    let driver = lock_driver_drained()?;
    params_out::kernel(&driver, graphs().node_mut(node_id(node))?)
}

/// `cuGraphKernelNodeSetParams`, before CUDA 12.
pub unsafe fn set_kernel_v1(
    node: CUgraphNode,
    params: *const CUDA_KERNEL_NODE_PARAMS,
) -> CallResult {
    // SAFETY: `params` is null or a valid structure, as `cuGraphKernelNodeSetParams` requires of its caller.
    set(
        node,
        StreamOp::Kernel(unsafe { params_in::kernel_v1(params) }?),
    )
}

/// `cuGraphKernelNodeSetParams`.
pub unsafe fn set_kernel(node: CUgraphNode, params: *const KernelNodeParams) -> CallResult {
    // SAFETY: `params` is null or a valid structure, as `cuGraphKernelNodeSetParams` requires of its caller.
    set(
        node,
        StreamOp::Kernel(unsafe { params_in::kernel(params) }?),
    )
}

/// `cuGraphMemcpyNodeGetParams`.
pub unsafe fn memcpy(node: CUgraphNode, out: *mut CUDA_MEMCPY3D) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphMemcpyNodeGetParams` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    out.set(params_out::memcpy(graphs().node(node_id(node))?)?);
    Ok(())
}

/// `cuGraphMemcpyNodeSetParams`.
pub unsafe fn set_memcpy(node: CUgraphNode, params: *const CUDA_MEMCPY3D) -> CallResult {
    // SAFETY: `params` is null or a valid structure, as `cuGraphMemcpyNodeSetParams` requires of its caller.
    set(node, unsafe { params_in::memcpy(params) }?)
}

/// `cuGraphMemsetNodeGetParams`.
pub unsafe fn memset(node: CUgraphNode, out: *mut CUDA_MEMSET_NODE_PARAMS) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphMemsetNodeGetParams` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    out.set(params_out::memset(graphs().node(node_id(node))?)?);
    Ok(())
}

/// `cuGraphMemsetNodeSetParams`.
pub unsafe fn set_memset(node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS) -> CallResult {
    // SAFETY: `params` is null or a valid structure, as `cuGraphMemsetNodeSetParams` requires of its caller.
    set(node, unsafe { params_in::memset_v1(params) }?)
}

/// `cuGraphHostNodeGetParams`.
pub unsafe fn host(node: CUgraphNode, out: *mut CUDA_HOST_NODE_PARAMS) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphHostNodeGetParams` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    out.set(params_out::host(graphs().node(node_id(node))?)?);
    Ok(())
}

/// `cuGraphHostNodeSetParams`.
pub unsafe fn set_host(node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS) -> CallResult {
    // SAFETY: `params` is null or a valid structure, as `cuGraphHostNodeSetParams` requires of its caller.
    set(node, unsafe { params_in::host(params) }?)
}

/// `cuGraphChildGraphNodeGetGraph`: the graph in the node, which belongs to it.
pub unsafe fn child(node: CUgraphNode, out: *mut CUgraph) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphChildGraphNodeGetGraph` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    match &graphs().node(node_id(node))?.op {
        StreamOp::Graph(body) => out.set(handle(body.id.0)),
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuGraphEventRecordNodeGetEvent`.
pub unsafe fn recorded_event(node: CUgraphNode, out: *mut CUevent) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphEventRecordNodeGetEvent` requires of its caller.
    unsafe { event(node, out, |op| matches!(op, StreamOp::RecordEvent(_))) }
}

/// `cuGraphEventWaitNodeGetEvent`.
pub unsafe fn awaited_event(node: CUgraphNode, out: *mut CUevent) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphEventWaitNodeGetEvent` requires of its caller.
    unsafe { event(node, out, |op| matches!(op, StreamOp::WaitEvent(_))) }
}

/// Returns the event of an event node of the requested type.
///
/// # Safety
/// `out` must be null or writable.
unsafe fn event(
    node: CUgraphNode,
    out: *mut CUevent,
    matches: impl Fn(&StreamOp) -> bool,
) -> CallResult {
    // SAFETY: `out` is null or writable, by this function's contract.
    let out = unsafe { Out::new(out) }?;
    match &graphs().node(node_id(node))?.op {
        op @ (StreamOp::RecordEvent(EventId(event)) | StreamOp::WaitEvent(EventId(event)))
            if matches(op) =>
        {
            out.set(handle(*event));
            Ok(())
        }
        _ => Err(CudaError::InvalidValue.into()),
    }
}

/// `cuGraphEventRecordNodeSetEvent`.
pub unsafe fn set_recorded_event(node: CUgraphNode, event: CUevent) -> CallResult {
    set(node, StreamOp::RecordEvent(existing_event(event)?))
}

/// `cuGraphEventWaitNodeSetEvent`.
pub unsafe fn set_awaited_event(node: CUgraphNode, event: CUevent) -> CallResult {
    set(node, StreamOp::WaitEvent(existing_event(event)?))
}

/// `cuGraphMemAllocNodeGetParams`.
pub unsafe fn alloc(node: CUgraphNode, out: *mut CUDA_MEM_ALLOC_NODE_PARAMS) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphMemAllocNodeGetParams` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    out.set(params_out::allocation(graphs().node(node_id(node))?)?);
    Ok(())
}

/// `cuGraphMemFreeNodeGetParams`.
pub unsafe fn free(node: CUgraphNode, out: *mut CUdeviceptr) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphMemFreeNodeGetParams` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    match graphs().node(node_id(node))?.op {
        StreamOp::Free(address) => out.set(address),
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuGraphNodeSetParams`: for all node types except allocation and free, whose memory is fixed.
pub unsafe fn set_any(node: CUgraphNode, params: *mut NodeParams) -> CallResult {
    // SAFETY: `params` is null or a valid structure, as `cuGraphNodeSetParams` requires of its caller.
    set(node, unsafe { read_changed(params) }?)
}

/// Creates the new operation of a node of any type except allocation and free.
///
/// # Safety
/// Same as [`read_any`].
pub unsafe fn read_changed(params: *mut NodeParams) -> Result<StreamOp, CudaError> {
    // SAFETY: `params` is null or valid, by this function's contract.
    if let 10 | 11 = unsafe { params_in::read(&raw const (*params).kind) }? {
        return Err(CudaError::NotSupported);
    }
    // SAFETY: `params` is null or valid, by this function's contract.
    unsafe { read_any(params) }
}

/// The values of `CUlaunchAttributeID` that kernel nodes support.
const COOPERATIVE: c_int = 2;
const PRIORITY: c_int = 8;

/// `cuGraphKernelNodeGetAttribute`.
pub unsafe fn attribute(node: CUgraphNode, attribute: c_int, out: *mut c_void) -> CallResult {
    // SAFETY: `out` is null or has room for the attribute's value, an `int` or a priority of the same size.
    let out = unsafe { Out::new(out.cast::<c_int>()) }?;
    let graphs = graphs();
    let StreamOp::Kernel(kernel) = &graphs.node(node_id(node))?.op else {
        return Err(CudaError::InvalidValue.into());
    };
    out.set(match attribute {
        COOPERATIVE => kernel.launch.spec().cooperative.into(),
        PRIORITY => kernel.priority,
        _ => return Err(CudaError::NotSupported.into()),
    });
    Ok(())
}

/// `cuGraphKernelNodeSetAttribute`.
pub unsafe fn set_attribute(node: CUgraphNode, attribute: c_int, src: *const c_void) -> CallResult {
    // SAFETY: `src` is null or points to the attribute's value, an `int` or a priority of the same size.
    let value = unsafe { params_in::read(src.cast::<c_int>()) }?;
    change_attributes(node, |attributes| {
        match attribute {
            COOPERATIVE => attributes.cooperative = value != 0,
            PRIORITY => attributes.priority = value,
            _ => return Err(CudaError::NotSupported),
        }
        Ok(())
    })
}

/// `cuGraphKernelNodeCopyAttributes`.
pub unsafe fn copy_attributes(out: CUgraphNode, src: CUgraphNode) -> CallResult {
    let source = match &graphs().node(node_id(src))?.op {
        StreamOp::Kernel(kernel) => Attributes::of(kernel),
        _ => return Err(CudaError::InvalidValue.into()),
    };
    change_attributes(out, |attributes| {
        *attributes = source;
        Ok(())
    })
}

/// The attributes of a kernel node.
#[derive(Clone, Copy)]
struct Attributes {
    cooperative: bool,
    priority: i32,
}

impl Attributes {
    fn of(kernel: &Kernel) -> Attributes {
        Attributes {
            cooperative: kernel.launch.spec().cooperative,
            priority: kernel.priority,
        }
    }

    /// Returns `kernel` with these attributes, after a check that it can be launched.
    fn apply(self, driver: &Driver, kernel: &Kernel) -> Result<Kernel, CudaError> {
        let spec = LaunchSpec {
            cooperative: self.cooperative,
            ..kernel.launch.spec().clone()
        };
        Ok(Kernel {
            launch: check_launch(driver, kernel.launch.function(), spec)?,
            priority: self.priority,
        })
    }
}

/// Changes the attributes of a kernel node.
fn change_attributes(
    node: CUgraphNode,
    change: impl FnOnce(&mut Attributes) -> Result<(), CudaError>,
) -> CallResult {
    let driver = lock_driver_drained()?;
    let mut graphs = graphs();
    let node = graphs.node_mut(node_id(node))?;
    let StreamOp::Kernel(kernel) = &mut node.op else {
        return Err(CudaError::InvalidValue.into());
    };
    let mut attributes = Attributes::of(kernel);
    change(&mut attributes)?;
    *kernel = attributes.apply(&driver, kernel)?;
    Ok(())
}
