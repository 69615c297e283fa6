//! Rows of the driver API's function table: graphs, with their nodes, node parameters and dependencies;
//! executable graphs; the objects and memory that graphs own; and stream capture.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use super::*;
use crate::api::graph::{exec, nodes, params};
use crate::api::{capture, graph};
use crate::types::graph::{
    BatchNodeParams, EdgeData, InstantiateParams, KernelNodeParams, NodeParams, UpdateResult,
};
use crate::types::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdevice, CUdeviceptr, CUevent, CUgraph, CUgraphExec,
    CUgraphNode, CUhostFn, CUstream, CUuserObject,
};

functions! {
    // Graphs and their nodes
    10000 cuGraphCreate(to: *mut CUgraph, flags: c_uint) [nodes::create];
    10000 cuGraphDestroy(graph: CUgraph) [nodes::destroy];
    10000 cuGraphClone(to: *mut CUgraph, graph: CUgraph) [nodes::clone];
    10000 cuGraphNodeFindInClone(
        to: *mut CUgraphNode, node: CUgraphNode, clone: CUgraph,
    ) [nodes::find_in_clone];
    10000 cuGraphDestroyNode(node: CUgraphNode) [nodes::destroy_node];
    10000 cuGraphAddKernelNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        params: *const CUDA_KERNEL_NODE_PARAMS,
    ) [nodes::add_kernel_v1];
    12000 cuGraphAddKernelNode_v2(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        params: *const KernelNodeParams,
    ) [nodes::add_kernel];
    10000 cuGraphAddMemcpyNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        params: *const CUDA_MEMCPY3D, context: CUcontext,
    ) [nodes::add_memcpy];
    10000 cuGraphAddMemsetNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        params: *const CUDA_MEMSET_NODE_PARAMS, context: CUcontext,
    ) [nodes::add_memset];
    10000 cuGraphAddHostNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        params: *const CUDA_HOST_NODE_PARAMS,
    ) [nodes::add_host];
    10000 cuGraphAddEmptyNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
    ) [nodes::add_empty];
    10000 cuGraphAddChildGraphNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, child: CUgraph,
    ) [nodes::add_child];
    11010 cuGraphAddEventRecordNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, event: CUevent,
    ) [nodes::add_event_record];
    11010 cuGraphAddEventWaitNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, event: CUevent,
    ) [nodes::add_event_wait];
    11040 cuGraphAddMemAllocNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        params: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) [nodes::add_alloc];
    11040 cuGraphAddMemFreeNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        address: CUdeviceptr,
    ) [nodes::add_free];
    12020 cuGraphAddNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        params: *mut NodeParams,
    ) [nodes::add_any];
    12030 cuGraphAddNode_v2(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, edges: *const EdgeData,
        count: usize, params: *mut NodeParams,
    ) [nodes::add_any_with_edges];
    11020 cuGraphAddExternalSemaphoresSignalNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, params: *const c_void,
    ) [];
    11020 cuGraphExternalSemaphoresSignalNodeGetParams(node: CUgraphNode, to: *mut c_void) [];
    11020 cuGraphExternalSemaphoresSignalNodeSetParams(node: CUgraphNode, params: *const c_void) [];
    11020 cuGraphExecExternalSemaphoresSignalNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const c_void,
    ) [];
    11020 cuGraphAddExternalSemaphoresWaitNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, params: *const c_void,
    ) [];
    11020 cuGraphExternalSemaphoresWaitNodeGetParams(node: CUgraphNode, to: *mut c_void) [];
    11020 cuGraphExternalSemaphoresWaitNodeSetParams(node: CUgraphNode, params: *const c_void) [];
    11020 cuGraphExecExternalSemaphoresWaitNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const c_void,
    ) [];
    11070 cuGraphAddBatchMemOpNode(
        to: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        params: *const BatchNodeParams,
    ) [nodes::add_batch];
    11070 cuGraphBatchMemOpNodeGetParams(node: CUgraphNode, to: *mut BatchNodeParams) [params::batch];
    11070 cuGraphBatchMemOpNodeSetParams(node: CUgraphNode, params: *const BatchNodeParams) [params::set_batch];
    11070 cuGraphExecBatchMemOpNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const BatchNodeParams,
    ) [exec::set_batch];
    12030 cuGraphConditionalHandleCreate(
        to: *mut c_ulonglong, graph: CUgraph, context: CUcontext, value: c_uint, flags: c_uint,
    ) [nodes::create_conditional_handle];

    // Parameters of nodes
    10000 cuGraphKernelNodeGetParams(
        node: CUgraphNode, to: *mut CUDA_KERNEL_NODE_PARAMS,
    ) [params::kernel_v1];
    12000 cuGraphKernelNodeGetParams_v2(node: CUgraphNode, to: *mut KernelNodeParams) [params::kernel];
    10000 cuGraphKernelNodeSetParams(
        node: CUgraphNode, params: *const CUDA_KERNEL_NODE_PARAMS,
    ) [params::set_kernel_v1];
    12000 cuGraphKernelNodeSetParams_v2(node: CUgraphNode, params: *const KernelNodeParams) [params::set_kernel];
    10000 cuGraphMemcpyNodeGetParams(node: CUgraphNode, to: *mut CUDA_MEMCPY3D) [params::memcpy];
    10000 cuGraphMemcpyNodeSetParams(node: CUgraphNode, params: *const CUDA_MEMCPY3D) [params::set_memcpy];
    10000 cuGraphMemsetNodeGetParams(node: CUgraphNode, to: *mut CUDA_MEMSET_NODE_PARAMS) [params::memset];
    10000 cuGraphMemsetNodeSetParams(
        node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS,
    ) [params::set_memset];
    10000 cuGraphHostNodeGetParams(node: CUgraphNode, to: *mut CUDA_HOST_NODE_PARAMS) [params::host];
    10000 cuGraphHostNodeSetParams(node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS) [params::set_host];
    10000 cuGraphChildGraphNodeGetGraph(node: CUgraphNode, to: *mut CUgraph) [params::child];
    11010 cuGraphEventRecordNodeGetEvent(node: CUgraphNode, to: *mut CUevent) [params::recorded_event];
    11010 cuGraphEventRecordNodeSetEvent(node: CUgraphNode, event: CUevent) [params::set_recorded_event];
    11010 cuGraphEventWaitNodeGetEvent(node: CUgraphNode, to: *mut CUevent) [params::awaited_event];
    11010 cuGraphEventWaitNodeSetEvent(node: CUgraphNode, event: CUevent) [params::set_awaited_event];
    11040 cuGraphMemAllocNodeGetParams(
        node: CUgraphNode, to: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) [params::alloc];
    11040 cuGraphMemFreeNodeGetParams(node: CUgraphNode, to: *mut CUdeviceptr) [params::free];
    12020 cuGraphNodeSetParams(node: CUgraphNode, params: *mut NodeParams) [params::set_any];
    11000 cuGraphKernelNodeGetAttribute(
        node: CUgraphNode, attribute: c_int, to: *mut c_void,
    ) [params::attribute];
    11000 cuGraphKernelNodeSetAttribute(
        node: CUgraphNode, attribute: c_int, from: *const c_void,
    ) [params::set_attribute];
    11000 cuGraphKernelNodeCopyAttributes(to: CUgraphNode, from: CUgraphNode) [params::copy_attributes];

    // Nodes and edges of graphs
    10000 cuGraphNodeGetType(node: CUgraphNode, to: *mut c_int) [nodes::type_of_node];
    10000 cuGraphGetNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize) [nodes::nodes];
    10000 cuGraphGetRootNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize) [nodes::roots];
    10000 cuGraphGetEdges(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    ) [nodes::edges];
    12030 cuGraphGetEdges_v2(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData,
        count: *mut usize,
    ) [nodes::edges_with_data];
    10000 cuGraphNodeGetDependencies(
        node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    ) [nodes::dependencies];
    12030 cuGraphNodeGetDependencies_v2(
        node: CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData, count: *mut usize,
    ) [nodes::dependencies_with_data];
    10000 cuGraphNodeGetDependentNodes(
        node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    ) [nodes::dependents];
    12030 cuGraphNodeGetDependentNodes_v2(
        node: CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData, count: *mut usize,
    ) [nodes::dependents_with_data];
    10000 cuGraphAddDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize,
    ) [nodes::add_edges];
    12030 cuGraphAddDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const EdgeData,
        count: usize,
    ) [nodes::add_edges_with_data];
    10000 cuGraphRemoveDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize,
    ) [nodes::remove_edges];
    12030 cuGraphRemoveDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const EdgeData,
        count: usize,
    ) [nodes::remove_edges_with_data];
    11030 cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint) [nodes::print_dot];

    // Executable graphs
    10000 cuGraphInstantiate(
        to: *mut CUgraphExec, graph: CUgraph, error_node: *mut CUgraphNode, log: *mut c_char, capacity: usize,
    ) [exec::instantiate_with_log];
    11000 cuGraphInstantiate_v2(
        to: *mut CUgraphExec, graph: CUgraph, error_node: *mut CUgraphNode, log: *mut c_char, capacity: usize,
    ) [exec::instantiate_with_log];
    11040 cuGraphInstantiateWithFlags(
        to: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong,
    ) [exec::instantiate_with_flags];
    12000 cuGraphInstantiateWithParams(
        to: *mut CUgraphExec, graph: CUgraph, params: *mut InstantiateParams,
    ) [exec::instantiate_with_params] / 12000 cuGraphInstantiateWithParams_ptsz;
    12000 cuGraphExecGetFlags(exec: CUgraphExec, to: *mut c_ulonglong) [exec::flags];
    10000 cuGraphExecDestroy(exec: CUgraphExec) [exec::destroy];
    11010 cuGraphUpload(exec: CUgraphExec, stream: CUstream) [exec::upload] / 11010 cuGraphUpload_ptsz;
    10000 cuGraphLaunch(exec: CUgraphExec, stream: CUstream) [exec::launch] / 10000 cuGraphLaunch_ptsz;
    11060 cuGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) [exec::set_enabled];
    11060 cuGraphNodeGetEnabled(exec: CUgraphExec, node: CUgraphNode, to: *mut c_uint) [exec::enabled];
    10020 cuGraphExecUpdate(
        exec: CUgraphExec, graph: CUgraph, error_node: *mut CUgraphNode, result: *mut c_int,
    ) [exec::update];
    12000 cuGraphExecUpdate_v2(
        exec: CUgraphExec, graph: CUgraph, to: *mut UpdateResult,
    ) [exec::update_with_info];
    10010 cuGraphExecKernelNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_KERNEL_NODE_PARAMS,
    ) [exec::set_kernel_v1];
    12000 cuGraphExecKernelNodeSetParams_v2(
        exec: CUgraphExec, node: CUgraphNode, params: *const KernelNodeParams,
    ) [exec::set_kernel];
    10020 cuGraphExecMemcpyNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_MEMCPY3D, context: CUcontext,
    ) [exec::set_memcpy];
    10020 cuGraphExecMemsetNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS, context: CUcontext,
    ) [exec::set_memset];
    10020 cuGraphExecHostNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS,
    ) [exec::set_host];
    11010 cuGraphExecChildGraphNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, child: CUgraph,
    ) [exec::set_child];
    11010 cuGraphExecEventRecordNodeSetEvent(
        exec: CUgraphExec, node: CUgraphNode, event: CUevent,
    ) [exec::set_recorded_event];
    11010 cuGraphExecEventWaitNodeSetEvent(
        exec: CUgraphExec, node: CUgraphNode, event: CUevent,
    ) [exec::set_awaited_event];
    12020 cuGraphExecNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *mut NodeParams,
    ) [exec::set_any];

    // Objects and memory that graphs own
    11030 cuUserObjectCreate(
        to: *mut CUuserObject, data: *mut c_void, destroy: CUhostFn, references: c_uint, flags: c_uint,
    ) [graph::create];
    11030 cuUserObjectRetain(object: CUuserObject, count: c_uint) [graph::retain];
    11030 cuUserObjectRelease(object: CUuserObject, count: c_uint) [graph::release];
    11030 cuGraphRetainUserObject(
        graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint,
    ) [graph::retain_in_graph];
    11030 cuGraphReleaseUserObject(
        graph: CUgraph, object: CUuserObject, count: c_uint,
    ) [graph::release_in_graph];
    11040 cuDeviceGetGraphMemAttribute(
        device: CUdevice, attribute: c_int, value: *mut c_void,
    ) [graph::memory_attribute];
    11040 cuDeviceSetGraphMemAttribute(
        device: CUdevice, attribute: c_int, value: *mut c_void,
    ) [graph::set_memory_attribute];
    11040 cuDeviceGraphMemTrim(device: CUdevice) [graph::trim_memory];

    // Stream capture
    10010 cuThreadExchangeStreamCaptureMode(mode: *mut c_int) [capture::exchange_mode];
    10000 cuStreamBeginCapture(stream: CUstream) [capture::begin_global] / 10000 cuStreamBeginCapture_ptsz;
    10010 cuStreamBeginCapture_v2(
        stream: CUstream, mode: c_int,
    ) [capture::begin] / 10010 cuStreamBeginCapture_v2_ptsz;
    12030 cuStreamBeginCaptureToGraph(
        stream: CUstream, graph: CUgraph, dependencies: *const CUgraphNode, edges: *const EdgeData, count: usize,
        mode: c_int,
    ) [capture::begin_to_graph] / 12030 cuStreamBeginCaptureToGraph_ptsz;
    10000 cuStreamEndCapture(
        stream: CUstream, to: *mut CUgraph,
    ) [capture::end] / 10000 cuStreamEndCapture_ptsz;
    10000 cuStreamIsCapturing(
        stream: CUstream, to: *mut c_int,
    ) [capture::is_capturing] / 10000 cuStreamIsCapturing_ptsz;
    10010 cuStreamGetCaptureInfo(
        stream: CUstream, to: *mut c_int, id: *mut c_ulonglong,
    ) [capture::info] / 10010 cuStreamGetCaptureInfo_ptsz;
    11030 cuStreamGetCaptureInfo_v2(
        stream: CUstream, to: *mut c_int, id: *mut c_ulonglong, graph: *mut CUgraph,
        nodes: *mut *const CUgraphNode, count: *mut usize,
    ) [capture::info_with_nodes] / 11030 cuStreamGetCaptureInfo_v2_ptsz;
    12030 cuStreamGetCaptureInfo_v3(
        stream: CUstream, to: *mut c_int, id: *mut c_ulonglong, graph: *mut CUgraph,
        nodes: *mut *const CUgraphNode, edges: *mut *const EdgeData, count: *mut usize,
    ) [capture::info_with_edges] / 12030 cuStreamGetCaptureInfo_v3_ptsz;
    11030 cuStreamUpdateCaptureDependencies(
        stream: CUstream, nodes: *mut CUgraphNode, count: usize, flags: c_uint,
    ) [capture::update] / 11030 cuStreamUpdateCaptureDependencies_ptsz;
    12030 cuStreamUpdateCaptureDependencies_v2(
        stream: CUstream, nodes: *mut CUgraphNode, edges: *const EdgeData, count: usize, flags: c_uint,
    ) [capture::update_with_edges] / 12030 cuStreamUpdateCaptureDependencies_v2_ptsz;
}
