//! Queries and changes of node parameters and kernel node attributes.

use std::ffi::{c_int, c_void};

use cuda_sim::driver::{CudaError, EventId};
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUevent, CUgraph, CUgraphNode,
};

use super::body::Node;
use super::nodes::{any, known_event, node_id};
use super::reading::{self, check_kernel, kind};
use super::showing;
use super::store::graphs;
use crate::simulator::driver;
use crate::simulator::raw::{Out, handle};
use crate::simulator::work::{Kernel, Work};
use crate::status::Answer;
use crate::types::graph::{KernelNodeParams, NodeParams};

/// Replaces a node's operation by one of the same type. A kernel node keeps its attributes.
pub fn replace(node: &mut Node, work: Work) -> Result<(), CudaError> {
    if kind(&node.work) != kind(&work) {
        return Err(CudaError::InvalidValue);
    }
    node.work = match (&node.work, work) {
        (Work::Kernel(before), Work::Kernel(new)) => Work::Kernel(Kernel {
            cooperative: before.cooperative,
            priority: before.priority,
            ..new
        }),
        (_, other) => other,
    };
    node.pointers.clear();
    Ok(())
}

/// Replaces the operation of the node of a handle.
fn set(node: CUgraphNode, work: Work) -> Answer {
    Ok(replace(graphs().node_mut(node_id(node))?, work)?)
}

/// `cuGraphKernelNodeGetParams`, before CUDA 12.
pub unsafe fn old_kernel(node: CUgraphNode, to: *mut CUDA_KERNEL_NODE_PARAMS) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphKernelNodeGetParams` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let new = shown(node)?;
    to.set(CUDA_KERNEL_NODE_PARAMS {
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
pub unsafe fn kernel(node: CUgraphNode, to: *mut KernelNodeParams) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphKernelNodeGetParams` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    to.set(shown(node)?);
    Ok(())
}

fn shown(node: CUgraphNode) -> Result<KernelNodeParams, CudaError> {
    let driver = driver()?;
    showing::kernel(&driver, graphs().node_mut(node_id(node))?)
}

/// `cuGraphKernelNodeSetParams`, before CUDA 12.
pub unsafe fn set_old_kernel(node: CUgraphNode, how: *const CUDA_KERNEL_NODE_PARAMS) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphKernelNodeSetParams` requires of its caller.
    set(node, Work::Kernel(unsafe { reading::old_kernel(how) }?))
}

/// `cuGraphKernelNodeSetParams`.
pub unsafe fn set_kernel(node: CUgraphNode, how: *const KernelNodeParams) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphKernelNodeSetParams` requires of its caller.
    set(node, Work::Kernel(unsafe { reading::kernel(how) }?))
}

/// `cuGraphMemcpyNodeGetParams`.
pub unsafe fn memcpy(node: CUgraphNode, to: *mut CUDA_MEMCPY3D) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphMemcpyNodeGetParams` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    to.set(showing::copy(graphs().node(node_id(node))?)?);
    Ok(())
}

/// `cuGraphMemcpyNodeSetParams`.
pub unsafe fn set_memcpy(node: CUgraphNode, how: *const CUDA_MEMCPY3D) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphMemcpyNodeSetParams` requires of its caller.
    set(node, unsafe { reading::copy(how) }?)
}

/// `cuGraphMemsetNodeGetParams`.
pub unsafe fn memset(node: CUgraphNode, to: *mut CUDA_MEMSET_NODE_PARAMS) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphMemsetNodeGetParams` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    to.set(showing::fill(graphs().node(node_id(node))?)?);
    Ok(())
}

/// `cuGraphMemsetNodeSetParams`.
pub unsafe fn set_memset(node: CUgraphNode, how: *const CUDA_MEMSET_NODE_PARAMS) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphMemsetNodeSetParams` requires of its caller.
    set(node, unsafe { reading::old_fill(how) }?)
}

/// `cuGraphHostNodeGetParams`.
pub unsafe fn host(node: CUgraphNode, to: *mut CUDA_HOST_NODE_PARAMS) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphHostNodeGetParams` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    to.set(showing::host(graphs().node(node_id(node))?)?);
    Ok(())
}

/// `cuGraphHostNodeSetParams`.
pub unsafe fn set_host(node: CUgraphNode, how: *const CUDA_HOST_NODE_PARAMS) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphHostNodeSetParams` requires of its caller.
    set(node, unsafe { reading::host(how) }?)
}

/// `cuGraphChildGraphNodeGetGraph`: the graph in the node, which belongs to it.
pub unsafe fn child(node: CUgraphNode, to: *mut CUgraph) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphChildGraphNodeGetGraph` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    match &graphs().node(node_id(node))?.work {
        Work::Graph(body) => to.set(handle(body.id.0)),
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuGraphEventRecordNodeGetEvent`.
pub unsafe fn recorded(node: CUgraphNode, to: *mut CUevent) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphEventRecordNodeGetEvent` requires of its caller.
    unsafe { event(node, to, |work| matches!(work, Work::RecordEvent(_))) }
}

/// `cuGraphEventWaitNodeGetEvent`.
pub unsafe fn waited(node: CUgraphNode, to: *mut CUevent) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphEventWaitNodeGetEvent` requires of its caller.
    unsafe { event(node, to, |work| matches!(work, Work::WaitEvent(_))) }
}

/// Returns the event of an event node of the requested type.
///
/// # Safety
/// `to` must be null or writable.
unsafe fn event(node: CUgraphNode, to: *mut CUevent, is: impl Fn(&Work) -> bool) -> Answer {
    // SAFETY: `to` is null or writable, by this function's contract.
    let to = unsafe { Out::new(to) }?;
    match &graphs().node(node_id(node))?.work {
        work @ (Work::RecordEvent(EventId(event)) | Work::WaitEvent(EventId(event)))
            if is(work) =>
        {
            to.set(handle(*event));
            Ok(())
        }
        _ => Err(CudaError::InvalidValue.into()),
    }
}

/// `cuGraphEventRecordNodeSetEvent`.
pub unsafe fn set_recorded(node: CUgraphNode, event: CUevent) -> Answer {
    set(node, Work::RecordEvent(known_event(event)?))
}

/// `cuGraphEventWaitNodeSetEvent`.
pub unsafe fn set_waited(node: CUgraphNode, event: CUevent) -> Answer {
    set(node, Work::WaitEvent(known_event(event)?))
}

/// `cuGraphMemAllocNodeGetParams`.
pub unsafe fn alloc(node: CUgraphNode, to: *mut CUDA_MEM_ALLOC_NODE_PARAMS) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphMemAllocNodeGetParams` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    to.set(showing::allocation(graphs().node(node_id(node))?)?);
    Ok(())
}

/// `cuGraphMemFreeNodeGetParams`.
pub unsafe fn free(node: CUgraphNode, to: *mut CUdeviceptr) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphMemFreeNodeGetParams` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    match graphs().node(node_id(node))?.work {
        Work::Free(address) => to.set(address),
        _ => return Err(CudaError::InvalidValue.into()),
    }
    Ok(())
}

/// `cuGraphNodeSetParams`: for all node types except allocation and free, whose memory is fixed.
pub unsafe fn set_any(node: CUgraphNode, how: *mut NodeParams) -> Answer {
    // SAFETY: `how` is null or a valid structure, as `cuGraphNodeSetParams` requires of its caller.
    set(node, unsafe { changed(how) }?)
}

/// Creates the new operation of a node of any type except allocation and free.
///
/// # Safety
/// Same as [`any`].
pub unsafe fn changed(how: *mut NodeParams) -> Result<Work, CudaError> {
    // SAFETY: `params` is null or valid, by this function's contract.
    if let 10 | 11 = unsafe { reading::read(&raw const (*how).kind) }? {
        return Err(CudaError::NotSupported);
    }
    // SAFETY: `params` is null or valid, by this function's contract.
    unsafe { any(how) }
}

/// The values of `CUlaunchAttributeID` that kernel nodes support.
const COOPERATIVE: c_int = 2;
const PRIORITY: c_int = 8;

/// `cuGraphKernelNodeGetAttribute`.
pub unsafe fn attribute(node: CUgraphNode, attribute: c_int, to: *mut c_void) -> Answer {
    // SAFETY: `to` is null or has room for the attribute's value, an `int` or a priority of the same size.
    let to = unsafe { Out::new(to.cast::<c_int>()) }?;
    let graphs = graphs();
    let Work::Kernel(kernel) = &graphs.node(node_id(node))?.work else {
        return Err(CudaError::InvalidValue.into());
    };
    to.set(match attribute {
        COOPERATIVE => kernel.cooperative.into(),
        PRIORITY => kernel.priority,
        _ => return Err(CudaError::NotSupported.into()),
    });
    Ok(())
}

/// `cuGraphKernelNodeSetAttribute`.
pub unsafe fn set_attribute(node: CUgraphNode, attribute: c_int, from: *const c_void) -> Answer {
    // SAFETY: `from` is null or points to the attribute's value, an `int` or a priority of the same size.
    let value = unsafe { reading::read(from.cast::<c_int>()) }?;
    change_kernel(node, |kernel| {
        match attribute {
            COOPERATIVE => kernel.cooperative = value != 0,
            PRIORITY => kernel.priority = value,
            _ => return Err(CudaError::NotSupported),
        }
        Ok(())
    })
}

/// `cuGraphKernelNodeCopyAttributes`.
pub unsafe fn copy_attributes(to: CUgraphNode, from: CUgraphNode) -> Answer {
    let source = match &graphs().node(node_id(from))?.work {
        Work::Kernel(kernel) => kernel.clone(),
        _ => return Err(CudaError::InvalidValue.into()),
    };
    change_kernel(to, |kernel| {
        kernel.cooperative = source.cooperative;
        kernel.priority = source.priority;
        Ok(())
    })
}

/// Changes a kernel node, after a check that the changed kernel can be launched.
fn change_kernel(
    node: CUgraphNode,
    change: impl FnOnce(&mut Kernel) -> Result<(), CudaError>,
) -> Answer {
    let driver = driver()?;
    let mut graphs = graphs();
    let node = graphs.node_mut(node_id(node))?;
    let Work::Kernel(kernel) = &mut node.work else {
        return Err(CudaError::InvalidValue.into());
    };
    let mut changed = kernel.clone();
    change(&mut changed)?;
    check_kernel(&driver, &changed)?;
    *kernel = changed;
    Ok(())
}
