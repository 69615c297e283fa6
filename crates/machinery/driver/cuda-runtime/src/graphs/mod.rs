//! Graphs, executable graphs and stream capture. The driver implements them; the runtime API only names kernels,
//! variables and copies differently.

pub mod copies;
pub mod nodes;

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cuda_driver::functions as cu;
use cuda_driver::types::graph::{EdgeData, InstantiateParams, UpdateResult};
use cuda_driver::types::{CUgraph, CUgraphExec, CUgraphNode, CUhostFn, CUstream, CUuserObject};

use crate::context::{self, context};
use crate::errors::{Result, check};
use crate::functions::{driver_stream, read};
use crate::types::Instantiate;

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
