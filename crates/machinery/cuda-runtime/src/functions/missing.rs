//! What is not there: stream capture, mipmapped arrays, and memory shared with other processes.

use std::ffi::{c_int, c_uint, c_void};

use cust_raw::{CUevent, CUgraph, CUgraphExec, CUstream};

use super::entry::Entry;
use crate::last_error::{call, missing};
use crate::status::Code;
use crate::stream::DefaultStream;

functions! {
    cudaStreamBeginCapture(stream: CUstream, mode: c_int) | cudaStreamBeginCapture_ptsz;
    cudaStreamEndCapture(stream: CUstream, graph: *mut CUgraph) | cudaStreamEndCapture_ptsz;
    cudaGraphCreate(graph: *mut CUgraph, flags: c_uint);
    cudaGraphDestroy(graph: CUgraph);
    cudaGraphInstantiate(graph_exec: *mut CUgraphExec, graph: CUgraph, flags: u64);
    cudaGraphLaunch(graph_exec: CUgraphExec, stream: CUstream) | cudaGraphLaunch_ptsz;
    cudaGraphExecDestroy(graph_exec: CUgraphExec);
    cudaIpcGetMemHandle(handle: *mut c_void, at: *mut c_void);
    cudaIpcGetEventHandle(handle: *mut c_void, event: CUevent);
    cudaIpcCloseMemHandle(at: *mut c_void);
}
