//! The nodes of graphs and of executable graphs, except memcpy nodes. The driver API shares the parameters of
//! all but kernel nodes, whose kernels a program identifies by host functions.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};

use cuda_driver::functions as cu;
use cuda_driver::types::graph::{EdgeData, KernelNodeParams, NodeParams};
use cuda_driver::types::{
    CUDA_HOST_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUevent, CUgraph,
    CUgraphExec, CUgraphNode,
};

use super::copies;
use crate::context::context;
use crate::errors::{Result, check};
use crate::functions::{Out, read};
use crate::memory::{address, pointer};
use crate::program;
use crate::types::{AnyNode, Dim3, KernelNode};

functions! {
    // Kernel nodes
    cudaGraphAddKernelNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        params: *const KernelNode,
    )
        => cuGraphAddKernelNode_v2(
            node, graph, after, count, &driver_kernel(&read(params)?)?,
        ), no_context;
    cudaGraphKernelNodeGetParams(node: CUgraphNode, to: *mut KernelNode)
        -> to = kernel_params(node);
    cudaGraphKernelNodeSetParams(node: CUgraphNode, params: *const KernelNode)
        => cuGraphKernelNodeSetParams_v2(node, &driver_kernel(&read(params)?)?), no_context;
    cudaGraphKernelNodeGetAttribute(node: CUgraphNode, attribute: c_int, to: *mut c_void)
        => cuGraphKernelNodeGetAttribute(..);
    cudaGraphKernelNodeSetAttribute(
        node: CUgraphNode, attribute: c_int, from: *const c_void,
    ) => cuGraphKernelNodeSetAttribute(..);
    cudaGraphKernelNodeCopyAttributes(from: CUgraphNode, to: CUgraphNode)
        => cuGraphKernelNodeCopyAttributes(to, from);
    cudaGraphExecKernelNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const KernelNode,
    )
        => cuGraphExecKernelNodeSetParams_v2(exec, node, &driver_kernel(&read(params)?)?), no_context;

    // Other nodes
    cudaGraphNodeFindInClone(to: *mut CUgraphNode, node: CUgraphNode, clone: CUgraph)
        => cuGraphNodeFindInClone(..);
    cudaGraphDestroyNode(node: CUgraphNode) => cuGraphDestroyNode(..);
    cudaGraphAddMemsetNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        params: *const CUDA_MEMSET_NODE_PARAMS,
    ) => cuGraphAddMemsetNode(node, graph, after, count, params, context()?.0), no_context;
    cudaGraphMemsetNodeGetParams(node: CUgraphNode, to: *mut CUDA_MEMSET_NODE_PARAMS)
        => cuGraphMemsetNodeGetParams(..);
    cudaGraphMemsetNodeSetParams(node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS)
        => cuGraphMemsetNodeSetParams(..);
    cudaGraphAddHostNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        params: *const CUDA_HOST_NODE_PARAMS,
    ) => cuGraphAddHostNode(..);
    cudaGraphHostNodeGetParams(node: CUgraphNode, to: *mut CUDA_HOST_NODE_PARAMS)
        => cuGraphHostNodeGetParams(..);
    cudaGraphHostNodeSetParams(node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS)
        => cuGraphHostNodeSetParams(..);
    cudaGraphAddChildGraphNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        child: CUgraph,
    ) => cuGraphAddChildGraphNode(..);
    cudaGraphChildGraphNodeGetGraph(node: CUgraphNode, to: *mut CUgraph)
        => cuGraphChildGraphNodeGetGraph(..);
    cudaGraphAddEmptyNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
    ) => cuGraphAddEmptyNode(..);
    cudaGraphAddEventRecordNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        event: CUevent,
    ) => cuGraphAddEventRecordNode(..);
    cudaGraphEventRecordNodeGetEvent(node: CUgraphNode, to: *mut CUevent)
        => cuGraphEventRecordNodeGetEvent(..);
    cudaGraphEventRecordNodeSetEvent(node: CUgraphNode, event: CUevent)
        => cuGraphEventRecordNodeSetEvent(..);
    cudaGraphAddEventWaitNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        event: CUevent,
    ) => cuGraphAddEventWaitNode(..);
    cudaGraphEventWaitNodeGetEvent(node: CUgraphNode, to: *mut CUevent)
        => cuGraphEventWaitNodeGetEvent(..);
    cudaGraphEventWaitNodeSetEvent(node: CUgraphNode, event: CUevent)
        => cuGraphEventWaitNodeSetEvent(..);
    cudaGraphAddMemAllocNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        params: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) => cuGraphAddMemAllocNode(..);
    cudaGraphMemAllocNodeGetParams(node: CUgraphNode, to: *mut CUDA_MEM_ALLOC_NODE_PARAMS)
        => cuGraphMemAllocNodeGetParams(..);
    cudaGraphAddMemFreeNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        ptr: *mut c_void,
    ) => cuGraphAddMemFreeNode(node, graph, after, count, address(ptr));
    cudaGraphMemFreeNodeGetParams(node: CUgraphNode, to: *mut c_void) => free_params;
    cudaGraphAddNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        params: *mut AnyNode,
    )
        = with_driver_params(params, |params| {
            cu::cuGraphAddNode_v2(node, graph, after, null(), count, params)
        }), unsafe;
    cudaGraphAddNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, edges: *const EdgeData,
        count: usize, params: *mut AnyNode,
    )
        = with_driver_params(params, |params| {
            cu::cuGraphAddNode_v2(node, graph, after, edges, count, params)
        }), unsafe;
    cudaGraphNodeSetParams(node: CUgraphNode, params: *mut AnyNode)
        = with_driver_params(params, |params| cu::cuGraphNodeSetParams(node, params)), unsafe;
    cudaGraphConditionalHandleCreate(
        to: *mut c_ulonglong, graph: CUgraph, value: c_uint, flags: c_uint,
    ) => cuGraphConditionalHandleCreate(to, graph, context()?.0, value, flags);
    cudaGraphNodeGetType(node: CUgraphNode, to: *mut c_int) => cuGraphNodeGetType(..);
    cudaGraphNodeGetDependencies(node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize)
        => cuGraphNodeGetDependencies(..);
    cudaGraphNodeGetDependencies_v2(
        node: CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData, count: *mut usize,
    ) => cuGraphNodeGetDependencies_v2(..);
    cudaGraphNodeGetDependentNodes(
        node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    ) => cuGraphNodeGetDependentNodes(..);
    cudaGraphNodeGetDependentNodes_v2(
        node: CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData, count: *mut usize,
    ) => cuGraphNodeGetDependentNodes_v2(..);

    // Nodes of executable graphs
    cudaGraphExecMemsetNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS,
    ) => cuGraphExecMemsetNodeSetParams(exec, node, params, context()?.0), no_context;
    cudaGraphExecHostNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS,
    ) => cuGraphExecHostNodeSetParams(..);
    cudaGraphExecChildGraphNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, child: CUgraph,
    ) => cuGraphExecChildGraphNodeSetParams(..);
    cudaGraphExecEventRecordNodeSetEvent(
        exec: CUgraphExec, node: CUgraphNode, event: CUevent,
    ) => cuGraphExecEventRecordNodeSetEvent(..);
    cudaGraphExecEventWaitNodeSetEvent(exec: CUgraphExec, node: CUgraphNode, event: CUevent)
        => cuGraphExecEventWaitNodeSetEvent(..);
    cudaGraphExecNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *mut AnyNode)
        = with_driver_params(params, |params| {
            cu::cuGraphExecNodeSetParams(exec, node, params)
        }), unsafe;
}

/// Converts a kernel node's parameters to the driver's.
pub(crate) fn driver_kernel(params: &KernelNode) -> Result<KernelNodeParams> {
    Ok(KernelNodeParams {
        func: program::kernel(params.function)?,
        grid: [params.grid.x, params.grid.y, params.grid.z],
        block: [params.block.x, params.block.y, params.block.z],
        shared_mem_bytes: params.dynamic_shared,
        kernel_params: params.arguments,
        extra: params.extra,
        kern: null_mut(),
        ctx: null_mut(),
    })
}

/// `cudaGraphKernelNodeGetParams`.
fn kernel_params(node: CUgraphNode) -> Result<KernelNode> {
    context()?;
    // SAFETY: zero is a valid value of every field, and the driver writes all of them.
    let node_params: KernelNodeParams = unsafe {
        let mut node_params = std::mem::zeroed();
        check(cu::cuGraphKernelNodeGetParams_v2(node, &mut node_params))?;
        node_params
    };
    let dim3 = |[x, y, z]: [_; 3]| Dim3 { x, y, z };
    Ok(KernelNode {
        function: program::host_function(node_params.func)?,
        grid: dim3(node_params.grid),
        block: dim3(node_params.block),
        dynamic_shared: node_params.shared_mem_bytes,
        arguments: node_params.kernel_params,
        extra: node_params.extra,
    })
}

/// `cudaGraphMemFreeNodeGetParams`.
unsafe fn free_params(node: CUgraphNode, to: *mut c_void) -> Result {
    // SAFETY: `cudaGraphMemFreeNodeGetParams` requires `to` to point to a writable pointer.
    let to = unsafe { Out::new(to.cast::<*mut c_void>()) }?;
    context()?;
    let mut device_ptr = 0;
    // SAFETY: `device_ptr` is writable; the driver validates `node`.
    check(unsafe { cu::cuGraphMemFreeNodeGetParams(node, &mut device_ptr) })?;
    to.set(pointer(device_ptr));
    Ok(())
}

/// Calls `driver_call` with the driver's version of a node's parameters and returns its result. Results that
/// the driver writes into its structure are copied back to the program's.
///
/// # Safety
/// `params` must be null or point to a structure that is valid for reads and writes.
unsafe fn with_driver_params(
    params: *mut AnyNode,
    driver_call: impl FnOnce(*mut NodeParams) -> c_int,
) -> Result {
    const KERNEL: c_int = 0;
    const MEMCPY: c_int = 1;
    context()?;
    // SAFETY: `read` rejects a null `params`; `kind` selects the active member of both unions, and zero is
    // valid for every other field.
    unsafe {
        let kind = read(&raw const (*params).kind)?;
        let mut node: NodeParams = std::mem::zeroed();
        node.kind = kind;
        match kind {
            KERNEL => node.payload.kernel = driver_kernel(&(*params).of.kernel)?,
            MEMCPY => {
                let to = &raw mut node.payload.memcpy;
                (*to).flags = (*params).of.memcpy.flags;
                (*to).copy_ctx = context()?.0;
                (&raw mut (*to).copy_params)
                    .write(copies::to_driver_copy(&(*params).of.memcpy.copy)?);
            }
            // All other members have the same layout in both structures.
            _ => {
                node.payload.reserved1 = (*params).of.reserved1;
                check(driver_call(&mut node))?;
                (*params).of.reserved1 = node.payload.reserved1;
                return Ok(());
            }
        }
        check(driver_call(&mut node))
    }
}
