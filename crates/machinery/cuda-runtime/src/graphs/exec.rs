//! Executable graphs.

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
use crate::start::context;
use crate::status::{Answer, driver};
use crate::stream::named;

/// `cudaGraphInstantiate`.
pub unsafe fn instantiate(to: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphInstantiateWithFlags(to, graph, flags) })
}

/// `cudaGraphInstantiateWithParams`.
pub unsafe fn instantiate_with_params(
    to: *mut CUgraphExec,
    graph: CUgraph,
    how: *mut Instantiate,
) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    unsafe {
        let asked = read(how)?;
        let mut params = InstantiateParams {
            flags: asked.flags,
            upload_stream: named(asked.upload_stream),
            error_node: asked.error_node,
            result: asked.result,
        };
        let answer = driver(cu::cuGraphInstantiateWithParams(to, graph, &mut params));
        (*how).error_node = params.error_node;
        (*how).result = params.result;
        answer
    }
}

/// `cudaGraphExecGetFlags`.
pub unsafe fn flags(exec: CUgraphExec, to: *mut c_ulonglong) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphExecGetFlags(exec, to) })
}

/// `cudaGraphExecDestroy`.
pub unsafe fn destroy(exec: CUgraphExec) -> Answer {
    context()?;
    // SAFETY: any handle may be destroyed.
    driver(unsafe { cu::cuGraphExecDestroy(exec) })
}

/// `cudaGraphUpload`.
pub unsafe fn upload(exec: CUgraphExec, stream: CUstream) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuGraphUpload(exec, named(stream)) })
}

/// `cudaGraphLaunch`.
pub unsafe fn launch(exec: CUgraphExec, stream: CUstream) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuGraphLaunch(exec, named(stream)) })
}

/// `cudaGraphNodeSetEnabled`.
pub unsafe fn set_enabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuGraphNodeSetEnabled(exec, node, enabled) })
}

/// `cudaGraphNodeGetEnabled`.
pub unsafe fn enabled(exec: CUgraphExec, node: CUgraphNode, to: *mut c_uint) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphNodeGetEnabled(exec, node, to) })
}

/// `cudaGraphExecUpdate`.
pub unsafe fn update(exec: CUgraphExec, graph: CUgraph, to: *mut UpdateResult) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphExecUpdate_v2(exec, graph, to) })
}

/// `cudaGraphExecMemsetNodeSetParams`.
pub unsafe fn set_memset(
    exec: CUgraphExec,
    node: CUgraphNode,
    how: *const CUDA_MEMSET_NODE_PARAMS,
) -> Answer {
    let context = context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphExecMemsetNodeSetParams(exec, node, how, context.0) })
}

/// `cudaGraphExecHostNodeSetParams`.
pub unsafe fn set_host(
    exec: CUgraphExec,
    node: CUgraphNode,
    how: *const CUDA_HOST_NODE_PARAMS,
) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphExecHostNodeSetParams(exec, node, how) })
}

/// `cudaGraphExecChildGraphNodeSetParams`.
pub unsafe fn set_child(exec: CUgraphExec, node: CUgraphNode, child: CUgraph) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuGraphExecChildGraphNodeSetParams(exec, node, child) })
}

/// `cudaGraphExecEventRecordNodeSetEvent`.
pub unsafe fn set_recorded(exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuGraphExecEventRecordNodeSetEvent(exec, node, event) })
}

/// `cudaGraphExecEventWaitNodeSetEvent`.
pub unsafe fn set_waited(exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Answer {
    context()?;
    // SAFETY: any handles may be named.
    driver(unsafe { cu::cuGraphExecEventWaitNodeSetEvent(exec, node, event) })
}

/// `cudaGraphExecNodeSetParams`.
pub unsafe fn set_any(exec: CUgraphExec, node: CUgraphNode, how: *mut AnyNode) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    unsafe { with_driver_params(how, |how| cu::cuGraphExecNodeSetParams(exec, node, how)) }
}
