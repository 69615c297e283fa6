//! Rows of the driver API's function table: executable graphs, and the objects and memory that graphs own.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUcontext, CUdevice, CUevent, CUgraph, CUgraphExec, CUgraphNode, CUhostFn, CUstream,
    CUuserObject,
};

use super::*;
use crate::simulator::graph::{exec, memory, objects, update};
use crate::types::graph::{InstantiateParams, KernelNodeParams, NodeParams, UpdateResult};

functions! {
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
    ) [update::update];
    12000 cuGraphExecUpdate_v2(
        exec: CUgraphExec, graph: CUgraph, to: *mut UpdateResult,
    ) [update::update_with_info];
    10010 cuGraphExecKernelNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_KERNEL_NODE_PARAMS,
    ) [update::set_kernel_v1];
    12000 cuGraphExecKernelNodeSetParams_v2(
        exec: CUgraphExec, node: CUgraphNode, params: *const KernelNodeParams,
    ) [update::set_kernel];
    10020 cuGraphExecMemcpyNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_MEMCPY3D, context: CUcontext,
    ) [update::set_memcpy];
    10020 cuGraphExecMemsetNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS, context: CUcontext,
    ) [update::set_memset];
    10020 cuGraphExecHostNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS,
    ) [update::set_host];
    11010 cuGraphExecChildGraphNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, child: CUgraph,
    ) [update::set_child];
    11010 cuGraphExecEventRecordNodeSetEvent(
        exec: CUgraphExec, node: CUgraphNode, event: CUevent,
    ) [update::set_recorded_event];
    11010 cuGraphExecEventWaitNodeSetEvent(
        exec: CUgraphExec, node: CUgraphNode, event: CUevent,
    ) [update::set_awaited_event];
    12020 cuGraphExecNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *mut NodeParams,
    ) [update::set_any];

    // Objects and memory that graphs own
    11030 cuUserObjectCreate(
        to: *mut CUuserObject, data: *mut c_void, destroy: CUhostFn, references: c_uint, flags: c_uint,
    ) [objects::create];
    11030 cuUserObjectRetain(object: CUuserObject, count: c_uint) [objects::retain];
    11030 cuUserObjectRelease(object: CUuserObject, count: c_uint) [objects::release];
    11030 cuGraphRetainUserObject(
        graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint,
    ) [objects::retain_in_graph];
    11030 cuGraphReleaseUserObject(
        graph: CUgraph, object: CUuserObject, count: c_uint,
    ) [objects::release_in_graph];
    11040 cuDeviceGetGraphMemAttribute(
        device: CUdevice, attribute: c_int, value: *mut c_void,
    ) [memory::attribute];
    11040 cuDeviceSetGraphMemAttribute(
        device: CUdevice, attribute: c_int, value: *mut c_void,
    ) [memory::set_attribute];
    11040 cuDeviceGraphMemTrim(device: CUdevice) [memory::trim];
}
