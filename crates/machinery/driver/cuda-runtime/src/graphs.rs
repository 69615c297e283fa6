//! Graphs, executable graphs and stream capture. The driver implements them; the runtime API only names kernels,
//! variables and copies differently. The parameters of all nodes are the driver's, except for those of kernel nodes, whose
//! kernels a program identifies by host functions, and of memcpy nodes.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};

use cuda_driver::functions as cu;
use cuda_driver::types::graph::{
    EdgeData, InstantiateParams, KernelNodeParams, NodeParams, UpdateResult,
};
use cuda_driver::types::{
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED,
    CUDA_HOST_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUarray, CUevent, CUgraph, CUgraphExec, CUgraphNode, CUhostFn, CUmemorytype, CUstream,
    CUuserObject,
};

use crate::arrays::array_info;
use crate::context::{self, context};
use crate::errors::{Error, Result, check};
use crate::functions::{Out, driver_stream, read};
use crate::memcpy::CopyKind::{self, DeviceToHost, HostToDevice};
use crate::memcpy::{Copy3D, Endpoint, Memory, from_params};
use crate::memory::{address, pointer};
use crate::program;
use crate::symbols::symbol_ptr;
use crate::types::{AnyNode, Dim3, Extent, Instantiate, KernelNode, Memcpy3D, PitchedPtr, Pos};

functions! {
    // Graphs
    cudaGraphCreate(graph: *mut CUgraph, flags: c_uint) => cuGraphCreate(..);
    cudaGraphDestroy(graph: CUgraph) => cuGraphDestroy(..);
    cudaGraphClone(to: *mut CUgraph, from: CUgraph) => cuGraphClone(..);
    cudaDeviceGraphMemTrim(device: c_int)
        => cuDeviceGraphMemTrim(context::device(device)?.handle), no_context;
    cudaDeviceGetGraphMemAttribute(device: c_int, attribute: c_int, to: *mut c_void)
        => cuDeviceGetGraphMemAttribute(context::device(device)?.handle, attribute, to), no_context;
    cudaDeviceSetGraphMemAttribute(device: c_int, attribute: c_int, from: *mut c_void)
        => cuDeviceSetGraphMemAttribute(context::device(device)?.handle, attribute, from), no_context;
    cudaGraphGetNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize)
        => cuGraphGetNodes(..);
    cudaGraphGetRootNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize)
        => cuGraphGetRootNodes(..);
    cudaGraphGetEdges(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    ) => cuGraphGetEdges(..);
    cudaGraphGetEdges_v2(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData,
        count: *mut usize,
    ) => cuGraphGetEdges_v2(..);
    cudaGraphAddDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize,
    ) => cuGraphAddDependencies(..);
    cudaGraphAddDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const EdgeData,
        count: usize,
    ) => cuGraphAddDependencies_v2(..);
    cudaGraphRemoveDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize,
    ) => cuGraphRemoveDependencies(..);
    cudaGraphRemoveDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const EdgeData,
        count: usize,
    ) => cuGraphRemoveDependencies_v2(..);
    cudaGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint)
        => cuGraphDebugDotPrint(..);
    cudaUserObjectCreate(
        to: *mut CUuserObject, data: *mut c_void, destroy: CUhostFn, references: c_uint,
        flags: c_uint,
    ) => cuUserObjectCreate(..);
    cudaUserObjectRetain(object: CUuserObject, count: c_uint) => cuUserObjectRetain(..);
    cudaUserObjectRelease(object: CUuserObject, count: c_uint) => cuUserObjectRelease(..);
    cudaGraphRetainUserObject(
        graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint,
    ) => cuGraphRetainUserObject(..);
    cudaGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint)
        => cuGraphReleaseUserObject(..);

    // Executable graphs
    cudaGraphInstantiate(exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong)
        => cuGraphInstantiateWithFlags(..);
    cudaGraphInstantiateWithFlags(
        exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong,
    ) => cuGraphInstantiateWithFlags(..);
    cudaGraphInstantiateWithParams(
        exec: *mut CUgraphExec, graph: CUgraph, params: *mut Instantiate,
    ) | cudaGraphInstantiateWithParams_ptsz => instantiate_with_params;
    cudaGraphExecGetFlags(exec: CUgraphExec, to: *mut c_ulonglong) => cuGraphExecGetFlags(..);
    cudaGraphExecDestroy(exec: CUgraphExec) => cuGraphExecDestroy(..);
    cudaGraphUpload(exec: CUgraphExec, stream: CUstream) | cudaGraphUpload_ptsz
        => cuGraphUpload(exec, driver_stream(stream));
    cudaGraphLaunch(exec: CUgraphExec, stream: CUstream) | cudaGraphLaunch_ptsz
        => cuGraphLaunch(exec, driver_stream(stream));
    cudaGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint)
        => cuGraphNodeSetEnabled(..);
    cudaGraphNodeGetEnabled(exec: CUgraphExec, node: CUgraphNode, to: *mut c_uint)
        => cuGraphNodeGetEnabled(..);
    cudaGraphExecUpdate(exec: CUgraphExec, graph: CUgraph, to: *mut UpdateResult)
        => cuGraphExecUpdate_v2(..);

    // Stream capture
    cudaStreamBeginCapture(stream: CUstream, mode: c_int) | cudaStreamBeginCapture_ptsz
        => cuStreamBeginCapture_v2(driver_stream(stream), mode);
    cudaStreamBeginCaptureToGraph(
        stream: CUstream, graph: CUgraph, after: *const CUgraphNode, edges: *const EdgeData,
        count: usize, mode: c_int,
    ) | cudaStreamBeginCaptureToGraph_ptsz
        => cuStreamBeginCaptureToGraph(driver_stream(stream), graph, after, edges, count, mode);
    cudaStreamEndCapture(stream: CUstream, graph: *mut CUgraph) | cudaStreamEndCapture_ptsz
        => cuStreamEndCapture(driver_stream(stream), graph);
    cudaStreamIsCapturing(stream: CUstream, status: *mut c_int) | cudaStreamIsCapturing_ptsz
        => cuStreamIsCapturing(driver_stream(stream), status);
    cudaStreamGetCaptureInfo_v2(
        stream: CUstream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut CUgraph,
        nodes: *mut *const CUgraphNode, count: *mut usize,
    ) | cudaStreamGetCaptureInfo_v2_ptsz
        => cuStreamGetCaptureInfo_v2(driver_stream(stream), status, id, graph, nodes, count);
    cudaStreamGetCaptureInfo_v3(
        stream: CUstream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut CUgraph,
        nodes: *mut *const CUgraphNode, edges: *mut *const EdgeData, count: *mut usize,
    ) | cudaStreamGetCaptureInfo_v3_ptsz
        => cuStreamGetCaptureInfo_v3(driver_stream(stream), status, id, graph, nodes, edges, count);
    cudaStreamUpdateCaptureDependencies(
        stream: CUstream, nodes: *mut CUgraphNode, count: usize, flags: c_uint,
    ) | cudaStreamUpdateCaptureDependencies_ptsz
        => cuStreamUpdateCaptureDependencies(driver_stream(stream), nodes, count, flags);
    cudaStreamUpdateCaptureDependencies_v2(
        stream: CUstream, nodes: *mut CUgraphNode, edges: *const EdgeData, count: usize,
        flags: c_uint,
    ) | cudaStreamUpdateCaptureDependencies_v2_ptsz
        => cuStreamUpdateCaptureDependencies_v2(driver_stream(stream), nodes, edges, count, flags);
    cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) => cuThreadExchangeStreamCaptureMode(..);

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

    // Memcpy nodes: a 3D block
    cudaGraphAddMemcpyNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        params: *const Memcpy3D,
    )
        => cuGraphAddMemcpyNode(
            node, graph, after, count, &to_driver_copy(&read(params)?)?, context()?.0,
        ), no_context;
    cudaGraphMemcpyNodeGetParams(node: CUgraphNode, to: *mut Memcpy3D) -> to = copy_params(node);
    cudaGraphMemcpyNodeSetParams(node: CUgraphNode, params: *const Memcpy3D)
        = set_driver_copy(node, &to_driver_copy(&read(params)?)?), unsafe;
    cudaGraphExecMemcpyNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const Memcpy3D,
    ) = set_driver_copy_in(exec, node, &to_driver_copy(&read(params)?)?), unsafe;

    // Memcpy nodes: contiguous bytes
    cudaGraphAddMemcpyNode1D(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    )
        => cuGraphAddMemcpyNode(
            node, graph, after, count, &linear(dst, src, bytes, kind)?, context()?.0,
        ), no_context;
    cudaGraphMemcpyNodeSetParams1D(
        node: CUgraphNode, dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    ) = set_driver_copy(node, &linear(dst, src, bytes, kind)?);
    cudaGraphExecMemcpyNodeSetParams1D(
        exec: CUgraphExec, node: CUgraphNode, dst: *mut c_void, src: *const c_void, bytes: usize,
        kind: c_int,
    ) = set_driver_copy_in(exec, node, &linear(dst, src, bytes, kind)?);

    // Memcpy nodes: copies to and from device variables
    cudaGraphAddMemcpyNodeToSymbol(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
    )
        => cuGraphAddMemcpyNode(
            node, graph, after, count,
            &linear(symbol_ptr(symbol, bytes, offset, kind, HostToDevice)?, src, bytes, kind)?,
            context()?.0,
        ), no_context;
    cudaGraphMemcpyNodeSetParamsToSymbol(
        node: CUgraphNode, symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize,
        kind: c_int,
    ) = set_driver_copy(
        node, &linear(symbol_ptr(symbol, bytes, offset, kind, HostToDevice)?, src, bytes, kind)?,
    );
    cudaGraphExecMemcpyNodeSetParamsToSymbol(
        exec: CUgraphExec, node: CUgraphNode, symbol: *const c_void, src: *const c_void,
        bytes: usize, offset: usize, kind: c_int,
    ) = set_driver_copy_in(
        exec, node,
        &linear(symbol_ptr(symbol, bytes, offset, kind, HostToDevice)?, src, bytes, kind)?,
    );
    cudaGraphAddMemcpyNodeFromSymbol(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
    )
        => cuGraphAddMemcpyNode(
            node, graph, after, count,
            &linear(dst, symbol_ptr(symbol, bytes, offset, kind, DeviceToHost)?, bytes, kind)?,
            context()?.0,
        ), no_context;
    cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: CUgraphNode, dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize,
        kind: c_int,
    ) = set_driver_copy(
        node, &linear(dst, symbol_ptr(symbol, bytes, offset, kind, DeviceToHost)?, bytes, kind)?,
    );
    cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: CUgraphExec, node: CUgraphNode, dst: *mut c_void, symbol: *const c_void,
        bytes: usize, offset: usize, kind: c_int,
    ) = set_driver_copy_in(
        exec, node,
        &linear(dst, symbol_ptr(symbol, bytes, offset, kind, DeviceToHost)?, bytes, kind)?,
    );
}

/// `cudaGraphInstantiateWithParams`.
unsafe fn instantiate_with_params(
    to: *mut CUgraphExec,
    graph: CUgraph,
    params: *mut Instantiate,
) -> Result {
    context()?;
    // SAFETY: `cudaGraphInstantiateWithParams` requires `params` to be null or readable.
    unsafe {
        let requested = read(params)?;
        let mut driver_params = InstantiateParams {
            flags: requested.flags,
            upload_stream: driver_stream(requested.upload_stream),
            error_node: requested.error_node,
            result: requested.result,
        };
        let status = check(cu::cuGraphInstantiateWithParams(
            to,
            graph,
            &mut driver_params,
        ));
        (*params).error_node = driver_params.error_node;
        (*params).result = driver_params.result;
        status
    }
}

/// Converts a kernel node's parameters to the driver's.
fn driver_kernel(params: &KernelNode) -> Result<KernelNodeParams> {
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
                (&raw mut (*to).copy_params).write(to_driver_copy(&(*params).of.memcpy.copy)?);
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

/// Converts a copy to the driver's structure.
fn to_driver_copy(params: &Memcpy3D) -> Result<CUDA_MEMCPY3D> {
    Ok(from_params(params)?.driver_params())
}

/// Describes a copy of contiguous bytes in the driver's structure.
fn linear(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
) -> Result<CUDA_MEMCPY3D> {
    let endpoint = |start| Endpoint {
        memory: Memory::Linear {
            start,
            pitch: bytes,
            rows: 1,
        },
        offset: [0; 3],
    };
    let copy = Copy3D {
        dst: endpoint(dst),
        src: endpoint(src),
        bytes,
        rows: 1,
        layers: 1,
        kind: CopyKind::new(kind)?,
    };
    Ok(copy.driver_params())
}

/// Replaces the copy of a node.
fn set_driver_copy(node: CUgraphNode, copy: &CUDA_MEMCPY3D) -> Result {
    context()?;
    // SAFETY: `copy` is a whole structure; the driver validates `node`.
    check(unsafe { cu::cuGraphMemcpyNodeSetParams(node, copy) })
}

/// Replaces the copy of a node in an executable graph.
fn set_driver_copy_in(exec: CUgraphExec, node: CUgraphNode, copy: &CUDA_MEMCPY3D) -> Result {
    let context = context()?;
    // SAFETY: `copy` is a whole structure; the driver validates `exec` and `node`.
    check(unsafe { cu::cuGraphExecMemcpyNodeSetParams(exec, node, copy, context.0) })
}

/// `cudaGraphMemcpyNodeGetParams`.
fn copy_params(node: CUgraphNode) -> Result<Memcpy3D> {
    context()?;
    let mut driver_copy = linear(std::ptr::null_mut(), std::ptr::null(), 0, 0)?;
    // SAFETY: `driver_copy` is writable; the driver validates `node`.
    check(unsafe { cu::cuGraphMemcpyNodeGetParams(node, &mut driver_copy) })?;
    let src = NodeEndpoint::new(
        driver_copy.srcMemoryType,
        driver_copy.srcHost,
        driver_copy.srcDevice,
    )?;
    let dst = NodeEndpoint::new(
        driver_copy.dstMemoryType,
        driver_copy.dstHost,
        driver_copy.dstDevice,
    )?;
    let (src_element, dst_element) = (
        element_bytes(&src, driver_copy.srcArray)?,
        element_bytes(&dst, driver_copy.dstArray)?,
    );
    let element_bytes = src_element.or(dst_element);
    let pitched = |endpoint: &NodeEndpoint, pitch: usize, height: usize| PitchedPtr {
        ptr: endpoint.start.cast_mut(),
        pitch,
        xsize: driver_copy.WidthInBytes,
        ysize: height,
    };
    Ok(Memcpy3D {
        src_array: driver_copy.srcArray,
        src_pos: Pos {
            x: driver_copy.srcXInBytes / src_element.unwrap_or(1),
            y: driver_copy.srcY,
            z: driver_copy.srcZ,
        },
        src_ptr: pitched(&src, driver_copy.srcPitch, driver_copy.srcHeight),
        dst_array: driver_copy.dstArray,
        dst_pos: Pos {
            x: driver_copy.dstXInBytes / dst_element.unwrap_or(1),
            y: driver_copy.dstY,
            z: driver_copy.dstZ,
        },
        dst_ptr: pitched(&dst, driver_copy.dstPitch, driver_copy.dstHeight),
        extent: Extent {
            width: driver_copy.WidthInBytes / element_bytes.unwrap_or(1),
            height: driver_copy.Height,
            depth: driver_copy.Depth,
        },
        kind: match (src.location, dst.location) {
            (Location::Unified, _) | (_, Location::Unified) => 4,
            (Location::Host, Location::Host) => 0,
            (Location::Host, Location::Device) => 1,
            (Location::Device, Location::Host) => 2,
            (Location::Device, Location::Device) => 3,
        },
    })
}

/// The memory space of one end of a copy.
#[derive(Clone, Copy)]
enum Location {
    Host,
    Device,
    /// The unified address identifies the space.
    Unified,
}

/// One end of a copy in the driver's representation. An array has no address.
struct NodeEndpoint {
    location: Location,
    start: *const c_void,
    is_array: bool,
}

impl NodeEndpoint {
    /// Converts one end. Returns [`Error::INVALID_VALUE`] for a memory type that the enum lacks.
    fn new(memory: CUmemorytype, host: *const c_void, device: u64) -> Result<Self> {
        let (location, start, is_array) = match memory {
            CU_MEMORYTYPE_HOST => (Location::Host, host, false),
            CU_MEMORYTYPE_DEVICE => (Location::Device, pointer(device).cast_const(), false),
            CU_MEMORYTYPE_ARRAY => (Location::Device, std::ptr::null(), true),
            CU_MEMORYTYPE_UNIFIED => (Location::Unified, pointer(device).cast_const(), false),
            _ => return Err(Error::INVALID_VALUE),
        };
        Ok(Self {
            location,
            start,
            is_array,
        })
    }
}

/// Returns the bytes per element if the end is an array, otherwise `None`.
fn element_bytes(endpoint: &NodeEndpoint, array: CUarray) -> Result<Option<usize>> {
    if !endpoint.is_array {
        return Ok(None);
    }
    Ok(Some(array_info(array)?.format.bytes))
}
