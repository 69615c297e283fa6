//! Executable graphs: instantiation, launch, update and destruction.

use std::ffi::{c_uint, c_ulonglong};

use cuda_driver::functions as cu;
use cuda_driver::types::graph::{InstantiateParams, UpdateResult};
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUevent, CUgraph, CUgraphExec, CUgraphNode,
    CUstream,
};

use super::nodes::with_driver_params;
use super::types::{AnyNode, Instantiate};
use crate::arguments::read;
use crate::context::context;
use crate::status::{Result, check};
use crate::stream::driver_stream;

/// `cudaGraphInstantiate`.
pub unsafe fn instantiate(to: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) -> Result {
    context()?;
    // SAFETY: `cudaGraphInstantiate` has the same requirements for `to` as `cuGraphInstantiateWithFlags`.
    check(unsafe { cu::cuGraphInstantiateWithFlags(to, graph, flags) })
}

/// `cudaGraphInstantiateWithParams`.
pub unsafe fn instantiate_with_params(
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

/// `cudaGraphExecGetFlags`.
pub unsafe fn flags(exec: CUgraphExec, to: *mut c_ulonglong) -> Result {
    context()?;
    // SAFETY: `cudaGraphExecGetFlags` has the same requirements for `to` as `cuGraphExecGetFlags`.
    check(unsafe { cu::cuGraphExecGetFlags(exec, to) })
}

/// `cudaGraphExecDestroy`.
pub unsafe fn destroy(exec: CUgraphExec) -> Result {
    context()?;
    // SAFETY: the driver validates `exec`.
    check(unsafe { cu::cuGraphExecDestroy(exec) })
}

/// `cudaGraphUpload`.
pub unsafe fn upload(exec: CUgraphExec, stream: CUstream) -> Result {
    context()?;
    // SAFETY: the driver validates `exec` and the stream.
    check(unsafe { cu::cuGraphUpload(exec, driver_stream(stream)) })
}

/// `cudaGraphLaunch`.
pub unsafe fn launch(exec: CUgraphExec, stream: CUstream) -> Result {
    context()?;
    // SAFETY: the driver validates `exec` and the stream.
    check(unsafe { cu::cuGraphLaunch(exec, driver_stream(stream)) })
}

/// `cudaGraphNodeSetEnabled`.
pub unsafe fn set_enabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) -> Result {
    context()?;
    // SAFETY: the driver validates `exec` and `node`.
    check(unsafe { cu::cuGraphNodeSetEnabled(exec, node, enabled) })
}

/// `cudaGraphNodeGetEnabled`.
pub unsafe fn enabled(exec: CUgraphExec, node: CUgraphNode, to: *mut c_uint) -> Result {
    context()?;
    // SAFETY: `cudaGraphNodeGetEnabled` has the same requirements for `to` as `cuGraphNodeGetEnabled`.
    check(unsafe { cu::cuGraphNodeGetEnabled(exec, node, to) })
}

/// `cudaGraphExecUpdate`.
pub unsafe fn update(exec: CUgraphExec, graph: CUgraph, to: *mut UpdateResult) -> Result {
    context()?;
    // SAFETY: `cudaGraphExecUpdate` has the same requirements for `to` as `cuGraphExecUpdate_v2`.
    check(unsafe { cu::cuGraphExecUpdate_v2(exec, graph, to) })
}

/// `cudaGraphExecMemsetNodeSetParams`.
pub unsafe fn set_memset(
    exec: CUgraphExec,
    node: CUgraphNode,
    params: *const CUDA_MEMSET_NODE_PARAMS,
) -> Result {
    let context = context()?;
    // SAFETY: `cudaGraphExecMemsetNodeSetParams` has the same requirements for `params` as
    // `cuGraphExecMemsetNodeSetParams`.
    check(unsafe { cu::cuGraphExecMemsetNodeSetParams(exec, node, params, context.0) })
}

/// `cudaGraphExecHostNodeSetParams`.
pub unsafe fn set_host(
    exec: CUgraphExec,
    node: CUgraphNode,
    params: *const CUDA_HOST_NODE_PARAMS,
) -> Result {
    context()?;
    // SAFETY: `cudaGraphExecHostNodeSetParams` has the same requirements for `params` as
    // `cuGraphExecHostNodeSetParams`.
    check(unsafe { cu::cuGraphExecHostNodeSetParams(exec, node, params) })
}

/// `cudaGraphExecChildGraphNodeSetParams`.
pub unsafe fn set_child(exec: CUgraphExec, node: CUgraphNode, child: CUgraph) -> Result {
    context()?;
    // SAFETY: the driver validates all three handles.
    check(unsafe { cu::cuGraphExecChildGraphNodeSetParams(exec, node, child) })
}

/// `cudaGraphExecEventRecordNodeSetEvent`.
pub unsafe fn set_record_event(exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Result {
    context()?;
    // SAFETY: the driver validates all three handles.
    check(unsafe { cu::cuGraphExecEventRecordNodeSetEvent(exec, node, event) })
}

/// `cudaGraphExecEventWaitNodeSetEvent`.
pub unsafe fn set_wait_event(exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Result {
    context()?;
    // SAFETY: the driver validates all three handles.
    check(unsafe { cu::cuGraphExecEventWaitNodeSetEvent(exec, node, event) })
}

/// `cudaGraphExecNodeSetParams`.
pub unsafe fn set_any(exec: CUgraphExec, node: CUgraphNode, params: *mut AnyNode) -> Result {
    context()?;
    // SAFETY: `cudaGraphExecNodeSetParams` has the same requirements for `params` as
    // `cuGraphExecNodeSetParams`.
    unsafe {
        with_driver_params(params, |params| {
            cu::cuGraphExecNodeSetParams(exec, node, params)
        })
    }
}
