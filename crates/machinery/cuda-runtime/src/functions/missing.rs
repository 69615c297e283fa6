//! What is not there: stream capture and graphs, memory shared with other processes, mipmapped arrays, and
//! what another API draws.

use std::ffi::{c_int, c_uint, c_void};

use cust_raw::{CUarray, CUevent, CUgraph, CUgraphExec, CUgraphNode, CUstream};

use super::entry::Entry;
use crate::last_error::{call, missing};
use crate::status::Code;
use crate::stream::DefaultStream;
use crate::types::{ChannelFormat, Extent, IpcHandle};

functions! {
    cudaStreamBeginCapture(stream: CUstream, mode: c_int) | cudaStreamBeginCapture_ptsz;
    cudaStreamEndCapture(stream: CUstream, graph: *mut CUgraph) | cudaStreamEndCapture_ptsz;
    cudaThreadExchangeStreamCaptureMode(mode: *mut c_int);
    cudaGraphCreate(graph: *mut CUgraph, flags: c_uint);
    cudaGraphDestroy(graph: CUgraph);
    cudaGraphAddKernelNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, how:
        *const c_void,
    );
    cudaGraphAddMemcpyNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, how:
        *const c_void,
    );
    cudaGraphAddMemcpyNode1D(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, dst:
        *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    );
    cudaGraphAddMemsetNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, how:
        *const c_void,
    );
    cudaGraphAddHostNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, how:
        *const c_void,
    );
    cudaGraphAddEmptyNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
    );
    cudaGraphAddChildGraphNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, child:
        CUgraph,
    );
    cudaGraphAddDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize,
    );
    cudaGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
    cudaGraphKernelNodeSetParams(node: CUgraphNode, how: *const c_void);
    cudaGraphExecKernelNodeSetParams(graph: CUgraphExec, node: CUgraphNode, how: *const c_void);
    cudaGraphClone(to: *mut CUgraph, from: CUgraph);
    cudaGraphInstantiate(graph_exec: *mut CUgraphExec, graph: CUgraph, flags: u64);
    cudaGraphInstantiateWithFlags(graph_exec: *mut CUgraphExec, graph: CUgraph, flags: u64);
    cudaGraphUpload(graph_exec: CUgraphExec, stream: CUstream) | cudaGraphUpload_ptsz;
    cudaGraphLaunch(graph_exec: CUgraphExec, stream: CUstream) | cudaGraphLaunch_ptsz;
    cudaGraphExecDestroy(graph_exec: CUgraphExec);
    cudaIpcGetMemHandle(handle: *mut c_void, at: *mut c_void);
    cudaIpcOpenMemHandle(at: *mut *mut c_void, handle: IpcHandle, flags: c_uint);
    cudaIpcCloseMemHandle(at: *mut c_void);
    cudaIpcGetEventHandle(handle: *mut c_void, event: CUevent);
    cudaIpcOpenEventHandle(event: *mut CUevent, handle: IpcHandle);
    cudaMallocMipmappedArray(
        to: *mut *mut c_void, format: *const ChannelFormat, extent: Extent, levels: c_uint,
        flags: c_uint,
    );
    cudaFreeMipmappedArray(array: *mut c_void);
    cudaGetMipmappedArrayLevel(to: *mut CUarray, array: *const c_void, level: c_uint);
    cudaGetTextureObjectResourceViewDesc(to: *mut c_void, texture: u64);
    cudaMemRangeGetAttribute(
        to: *mut c_void, bytes: usize, attribute: c_int, at: *const c_void, count: usize,
    );
    cudaGraphicsUnregisterResource(resource: *mut c_void);
    cudaGraphicsMapResources(count: c_int, resources: *mut *mut c_void, stream: CUstream);
    cudaGraphicsUnmapResources(count: c_int, resources: *mut *mut c_void, stream: CUstream);
    cudaGraphicsResourceGetMappedPointer(
        to: *mut *mut c_void, bytes: *mut usize, resource: *mut c_void,
    );
}
