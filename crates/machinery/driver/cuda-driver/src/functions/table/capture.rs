//! Rows of the driver API's function table: stream capture.

use std::ffi::{c_int, c_uint, c_ulonglong};

use cust_raw::{CUgraph, CUgraphNode, CUstream};

use super::*;
use crate::simulator::capture::api as capture;
use crate::types::graph::EdgeData;

functions! {
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
