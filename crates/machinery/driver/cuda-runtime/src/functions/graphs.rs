//! Lines of the runtime API's function table: graphs and stream capture.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cuda_driver::types::graph::{EdgeData, UpdateResult};
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUevent, CUgraph,
    CUgraphExec, CUgraphNode, CUhostFn, CUstream, CUuserObject,
};

use super::entry::Entry;
use crate::graphs::types::{AnyNode, Instantiate, KernelNode};
use crate::graphs::{capture, copies, exec, kernels, nodes};
use crate::last_error::call;
use crate::status::Code;
use crate::stream::DefaultStream;
use crate::types::Memcpy3D;

functions! {
    cudaGraphCreate(graph: *mut CUgraph, flags: c_uint) => nodes::create;
    cudaGraphDestroy(graph: CUgraph) => nodes::destroy;
    cudaGraphClone(to: *mut CUgraph, from: CUgraph) => nodes::clone;
    cudaGraphNodeFindInClone(
        to: *mut CUgraphNode, node: CUgraphNode, clone: CUgraph,
    ) => nodes::find_in_clone;
    cudaGraphDestroyNode(node: CUgraphNode) => nodes::destroy_node;
    cudaGraphAddKernelNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, params: *const
        KernelNode,
    ) => kernels::add;
    cudaGraphKernelNodeGetParams(node: CUgraphNode, to: *mut KernelNode) => kernels::get;
    cudaGraphKernelNodeSetParams(node: CUgraphNode, params: *const KernelNode) => kernels::set;
    cudaGraphKernelNodeGetAttribute(
        node: CUgraphNode, attribute: c_int, to: *mut c_void,
    ) => kernels::attribute;
    cudaGraphKernelNodeSetAttribute(
        node: CUgraphNode, attribute: c_int, from: *const c_void,
    ) => kernels::set_attribute;
    cudaGraphKernelNodeCopyAttributes(
        from: CUgraphNode, to: CUgraphNode,
    ) => kernels::copy_attributes;
    cudaGraphAddMemcpyNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, params: *const
        Memcpy3D,
    ) => copies::add;
    cudaGraphAddMemcpyNode1D(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, dst: *mut
        c_void, src: *const c_void, bytes: usize, kind: c_int,
    ) => copies::add_row;
    cudaGraphAddMemcpyNodeToSymbol(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, symbol:
        *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) => copies::add_to_symbol;
    cudaGraphAddMemcpyNodeFromSymbol(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, dst: *mut
        c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) => copies::add_from_symbol;
    cudaGraphMemcpyNodeGetParams(node: CUgraphNode, to: *mut Memcpy3D) => copies::get;
    cudaGraphMemcpyNodeSetParams(node: CUgraphNode, params: *const Memcpy3D) => copies::set;
    cudaGraphMemcpyNodeSetParams1D(
        node: CUgraphNode, dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    ) => copies::set_row;
    cudaGraphMemcpyNodeSetParamsToSymbol(
        node: CUgraphNode, symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize,
        kind: c_int,
    ) => copies::set_to_symbol;
    cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: CUgraphNode, dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize,
        kind: c_int,
    ) => copies::set_from_symbol;
    cudaGraphAddMemsetNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, params: *const
        CUDA_MEMSET_NODE_PARAMS,
    ) => nodes::add_memset;
    cudaGraphMemsetNodeGetParams(
        node: CUgraphNode, to: *mut CUDA_MEMSET_NODE_PARAMS,
    ) => nodes::memset;
    cudaGraphMemsetNodeSetParams(
        node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS,
    ) => nodes::set_memset;
    cudaGraphAddHostNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, params: *const
        CUDA_HOST_NODE_PARAMS,
    ) => nodes::add_host;
    cudaGraphHostNodeGetParams(node: CUgraphNode, to: *mut CUDA_HOST_NODE_PARAMS) => nodes::host;
    cudaGraphHostNodeSetParams(
        node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS,
    ) => nodes::set_host;
    cudaGraphAddChildGraphNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, child:
        CUgraph,
    ) => nodes::add_child;
    cudaGraphChildGraphNodeGetGraph(node: CUgraphNode, to: *mut CUgraph) => nodes::child;
    cudaGraphAddEmptyNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
    ) => nodes::add_empty;
    cudaGraphAddEventRecordNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, event:
        CUevent,
    ) => nodes::add_event_record;
    cudaGraphEventRecordNodeGetEvent(node: CUgraphNode, to: *mut CUevent) => nodes::record_event;
    cudaGraphEventRecordNodeSetEvent(node: CUgraphNode, event: CUevent) => nodes::set_record_event;
    cudaGraphAddEventWaitNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, event:
        CUevent,
    ) => nodes::add_event_wait;
    cudaGraphEventWaitNodeGetEvent(node: CUgraphNode, to: *mut CUevent) => nodes::wait_event;
    cudaGraphEventWaitNodeSetEvent(node: CUgraphNode, event: CUevent) => nodes::set_wait_event;
    cudaGraphAddMemAllocNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, params: *mut
        CUDA_MEM_ALLOC_NODE_PARAMS,
    ) => nodes::add_alloc;
    cudaGraphMemAllocNodeGetParams(
        node: CUgraphNode, to: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) => nodes::alloc;
    cudaGraphAddMemFreeNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, ptr: *mut
        c_void,
    ) => nodes::add_free;
    cudaGraphMemFreeNodeGetParams(node: CUgraphNode, to: *mut c_void) => nodes::free;
    cudaDeviceGraphMemTrim(device: c_int) => nodes::trim_memory;
    cudaDeviceGetGraphMemAttribute(
        device: c_int, attribute: c_int, to: *mut c_void,
    ) => nodes::memory_attribute;
    cudaDeviceSetGraphMemAttribute(
        device: c_int, attribute: c_int, from: *mut c_void,
    ) => nodes::set_memory_attribute;
    cudaGraphAddNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, params: *mut
        AnyNode,
    ) => nodes::add_any;
    cudaGraphAddNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, edges: *const EdgeData,
        count: usize, params: *mut AnyNode,
    ) => nodes::add_any_with_edges;
    cudaGraphNodeSetParams(node: CUgraphNode, params: *mut AnyNode) => nodes::set_any;
    cudaGraphConditionalHandleCreate(
        to: *mut c_ulonglong, graph: CUgraph, value: c_uint, flags: c_uint,
    ) => nodes::conditional_handle;
    cudaGraphNodeGetType(node: CUgraphNode, to: *mut c_int) => nodes::node_type;
    cudaGraphGetNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize) => nodes::nodes;
    cudaGraphGetRootNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize) => nodes::roots;
    cudaGraphGetEdges(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    ) => nodes::edges;
    cudaGraphGetEdges_v2(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData, count:
        *mut usize,
    ) => nodes::edges_with_data;
    cudaGraphNodeGetDependencies(
        node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    ) => nodes::dependencies;
    cudaGraphNodeGetDependencies_v2(
        node: CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData, count: *mut usize,
    ) => nodes::dependencies_with_data;
    cudaGraphNodeGetDependentNodes(
        node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    ) => nodes::dependents;
    cudaGraphNodeGetDependentNodes_v2(
        node: CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData, count: *mut usize,
    ) => nodes::dependents_with_data;
    cudaGraphAddDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize,
    ) => nodes::add_edges;
    cudaGraphAddDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const EdgeData,
        count: usize,
    ) => nodes::add_edges_with_data;
    cudaGraphRemoveDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize,
    ) => nodes::remove_edges;
    cudaGraphRemoveDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const EdgeData,
        count: usize,
    ) => nodes::remove_edges_with_data;
    cudaGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint) => nodes::debug_dot_print;
    cudaUserObjectCreate(
        to: *mut CUuserObject, data: *mut c_void, destroy: CUhostFn, references: c_uint, flags:
        c_uint,
    ) => nodes::create_object;
    cudaUserObjectRetain(object: CUuserObject, count: c_uint) => nodes::retain_object;
    cudaUserObjectRelease(object: CUuserObject, count: c_uint) => nodes::release_object;
    cudaGraphRetainUserObject(
        graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint,
    ) => nodes::retain_in_graph;
    cudaGraphReleaseUserObject(
        graph: CUgraph, object: CUuserObject, count: c_uint,
    ) => nodes::release_in_graph;
    cudaGraphInstantiate(
        exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong,
    ) => exec::instantiate;
    cudaGraphInstantiateWithFlags(
        exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong,
    ) => exec::instantiate;
    cudaGraphInstantiateWithParams(
        exec: *mut CUgraphExec, graph: CUgraph, params: *mut Instantiate,
    ) | cudaGraphInstantiateWithParams_ptsz => exec::instantiate_with_params;
    cudaGraphExecGetFlags(exec: CUgraphExec, to: *mut c_ulonglong) => exec::flags;
    cudaGraphExecDestroy(exec: CUgraphExec) => exec::destroy;
    cudaGraphUpload(exec: CUgraphExec, stream: CUstream) | cudaGraphUpload_ptsz => exec::upload;
    cudaGraphLaunch(exec: CUgraphExec, stream: CUstream) | cudaGraphLaunch_ptsz => exec::launch;
    cudaGraphNodeSetEnabled(
        exec: CUgraphExec, node: CUgraphNode, enabled: c_uint,
    ) => exec::set_enabled;
    cudaGraphNodeGetEnabled(exec: CUgraphExec, node: CUgraphNode, to: *mut c_uint) => exec::enabled;
    cudaGraphExecUpdate(exec: CUgraphExec, graph: CUgraph, to: *mut UpdateResult) => exec::update;
    cudaGraphExecKernelNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const KernelNode,
    ) => kernels::set_in;
    cudaGraphExecMemcpyNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const Memcpy3D,
    ) => copies::set_in;
    cudaGraphExecMemcpyNodeSetParams1D(
        exec: CUgraphExec, node: CUgraphNode, dst: *mut c_void, src: *const c_void, bytes: usize,
        kind: c_int,
    ) => copies::set_row_in;
    cudaGraphExecMemcpyNodeSetParamsToSymbol(
        exec: CUgraphExec, node: CUgraphNode, symbol: *const c_void, src: *const c_void, bytes:
        usize, offset: usize, kind: c_int,
    ) => copies::set_to_symbol_in;
    cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: CUgraphExec, node: CUgraphNode, dst: *mut c_void, symbol: *const c_void, bytes: usize,
        offset: usize, kind: c_int,
    ) => copies::set_from_symbol_in;
    cudaGraphExecMemsetNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS,
    ) => exec::set_memset;
    cudaGraphExecHostNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS,
    ) => exec::set_host;
    cudaGraphExecChildGraphNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, child: CUgraph,
    ) => exec::set_child;
    cudaGraphExecEventRecordNodeSetEvent(
        exec: CUgraphExec, node: CUgraphNode, event: CUevent,
    ) => exec::set_record_event;
    cudaGraphExecEventWaitNodeSetEvent(
        exec: CUgraphExec, node: CUgraphNode, event: CUevent,
    ) => exec::set_wait_event;
    cudaGraphExecNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *mut AnyNode,
    ) => exec::set_any;
    cudaStreamBeginCapture(
        stream: CUstream, mode: c_int,
    ) | cudaStreamBeginCapture_ptsz => capture::begin;
    cudaStreamBeginCaptureToGraph(
        stream: CUstream, graph: CUgraph, after: *const CUgraphNode, edges: *const EdgeData, count:
        usize, mode: c_int,
    ) | cudaStreamBeginCaptureToGraph_ptsz => capture::begin_to_graph;
    cudaStreamEndCapture(
        stream: CUstream, graph: *mut CUgraph,
    ) | cudaStreamEndCapture_ptsz => capture::end;
    cudaStreamIsCapturing(
        stream: CUstream, status: *mut c_int,
    ) | cudaStreamIsCapturing_ptsz => capture::is_capturing;
    cudaStreamGetCaptureInfo_v2(
        stream: CUstream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut CUgraph, nodes: *mut
        *const CUgraphNode, count: *mut usize,
    ) | cudaStreamGetCaptureInfo_v2_ptsz => capture::info;
    cudaStreamGetCaptureInfo_v3(
        stream: CUstream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut CUgraph, nodes: *mut
        *const CUgraphNode, edges: *mut *const EdgeData, count: *mut usize,
    ) | cudaStreamGetCaptureInfo_v3_ptsz => capture::info_with_edges;
    cudaStreamUpdateCaptureDependencies(
        stream: CUstream, nodes: *mut CUgraphNode, count: usize, flags: c_uint,
    ) | cudaStreamUpdateCaptureDependencies_ptsz => capture::update;
    cudaStreamUpdateCaptureDependencies_v2(
        stream: CUstream, nodes: *mut CUgraphNode, edges: *const EdgeData, count: usize, flags:
        c_uint,
    ) | cudaStreamUpdateCaptureDependencies_v2_ptsz => capture::update_with_edges;
    cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) => capture::exchange_mode;
}
