//! Stream capture.

use std::ffi::{c_int, c_uint, c_ulonglong};

use cuda_driver::functions as cu;
use cuda_driver::types::graph::EdgeData;
use cust_raw::{CUgraph, CUgraphNode, CUstream};

use crate::start::context;
use crate::status::{Answer, driver};
use crate::stream::named;

/// Functions that call the driver's with the same arguments, the first of which is a stream.
macro_rules! forwarded {
    ($($name:ident = $driver:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[doc = concat!("The driver's `", stringify!($driver), "`.")]
        pub unsafe fn $name(stream: CUstream, $($argument: $type),*) -> Answer {
            context()?;
            // SAFETY: the caller's promise.
            driver(unsafe { cu::$driver(named(stream), $($argument),*) })
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
pub unsafe fn exchange_mode(mode: *mut c_int) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuThreadExchangeStreamCaptureMode(mode) })
}
