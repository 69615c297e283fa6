//! Stream capture into graphs (`cudaStreamBeginCapture` and related functions).

use std::ffi::{c_int, c_uint, c_ulonglong};

use cuda_driver::functions as cu;
use cuda_driver::types::graph::EdgeData;
use cust_raw::{CUgraph, CUgraphNode, CUstream};

use crate::context::context;
use crate::status::{Result, check};
use crate::stream::driver_stream;

/// Defines functions that forward to the driver's function with the same arguments; the first is a stream.
macro_rules! forwarded {
    ($($name:ident = $driver:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[doc = concat!("Calls the driver's `", stringify!($driver), "`.")]
        pub unsafe fn $name(stream: CUstream, $($argument: $type),*) -> Result {
            context()?;
            // SAFETY: runtime and driver function have the same contract for these arguments.
            check(unsafe { cu::$driver(driver_stream(stream), $($argument),*) })
        }
    )*};
}

forwarded! {
    begin = cuStreamBeginCapture_v2(mode: c_int);
    begin_to_graph = cuStreamBeginCaptureToGraph(
        graph: CUgraph, after: *const CUgraphNode, edges: *const EdgeData, count: usize, mode: c_int,
    );
    end = cuStreamEndCapture(to: *mut CUgraph);
    is_capturing = cuStreamIsCapturing(to: *mut c_int);
    info = cuStreamGetCaptureInfo_v2(
        status: *mut c_int, id: *mut c_ulonglong, graph: *mut CUgraph,
        nodes: *mut *const CUgraphNode, count: *mut usize,
    );
    info_with_edges = cuStreamGetCaptureInfo_v3(
        status: *mut c_int, id: *mut c_ulonglong, graph: *mut CUgraph,
        nodes: *mut *const CUgraphNode, edges: *mut *const EdgeData, count: *mut usize,
    );
    update = cuStreamUpdateCaptureDependencies(
        nodes: *mut CUgraphNode, count: usize, flags: c_uint,
    );
    update_with_edges = cuStreamUpdateCaptureDependencies_v2(
        nodes: *mut CUgraphNode, edges: *const EdgeData, count: usize, flags: c_uint,
    );
}

/// `cudaThreadExchangeStreamCaptureMode`.
pub unsafe fn exchange_mode(mode: *mut c_int) -> Result {
    context()?;
    // SAFETY: `cudaThreadExchangeStreamCaptureMode` has the same requirements for `mode` as
    // `cuThreadExchangeStreamCaptureMode`.
    check(unsafe { cu::cuThreadExchangeStreamCaptureMode(mode) })
}
