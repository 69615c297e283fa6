//! The driver API's functions for stream capture.

use std::ffi::{c_int, c_uint, c_ulonglong};

use cuda_sim::driver::{ContextId, CudaError, StreamId};

use super::SIMULATOR;
use super::graph::{check_edges, node_id};
use crate::arguments::{In, InOut, Out, handle, read_list};
use crate::simulator::{
    CaptureStatus, Ended, GraphId, Mode, NodeId, Stream, call_host_functions,
    exchange_capture_mode, is_blocking,
};
use crate::status::CallResult;
use crate::types::graph::EdgeData;
use crate::types::{CUgraph, CUgraphNode};

/// Values of `CUstreamCaptureStatus`.
const NONE: c_int = 0;
const ACTIVE: c_int = 1;
const INVALIDATED: c_int = 2;

/// `cuStreamBeginCapture` before CUDA 10.1, which had one mode.
pub fn begin_global(h_stream: Stream) -> CallResult {
    begin(h_stream, 0)
}

/// `cuStreamBeginCapture`.
pub fn begin(h_stream: Stream, mode: c_int) -> CallResult {
    let mode = Mode::new(mode)?;
    begin_capture(h_stream, mode, None)
}

/// `cuStreamBeginCaptureToGraph`: captures into an existing graph, after the given nodes.
pub fn begin_to_graph(
    h_stream: Stream,
    graph: GraphId,
    dependencies: Option<In<CUgraphNode>>,
    edges: Option<In<EdgeData>>,
    count: usize,
    mode: c_int,
) -> CallResult {
    let mode = Mode::new(mode)?;
    // SAFETY: `edges` and `dependencies` have `count` elements, as `cuStreamBeginCaptureToGraph` requires of its
    // caller.
    let dependencies = unsafe {
        check_edges(edges, count)?;
        read_list(dependencies, count)?
    };
    let dependencies = dependencies.into_iter().map(node_id).collect();
    begin_capture(h_stream, mode, Some((graph, dependencies)))
}

/// Begins a capture into a new or an existing graph.
fn begin_capture(
    h_stream: Stream,
    mode: Mode,
    target: Option<(GraphId, Vec<NodeId>)>,
) -> CallResult {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    let blocking = is_blocking(&driver, context, stream)?;
    let captures = &SIMULATOR.captures;
    Ok(captures.begin(&SIMULATOR.graphs, context, stream, blocking, mode, target)?)
}

/// `cuStreamEndCapture`. `out` may be null, for a capture into a graph of the program. Except for a wrong stream, an
/// error also ends the capture, and there is no graph.
pub fn end(h_stream: Stream, out: Option<Out<CUgraph>>) -> CallResult {
    let stream = resolve(h_stream)?.1;
    match SIMULATOR.captures.end(&SIMULATOR.graphs, stream)? {
        Ended::Graph(graph) => {
            Out::set_optional(out, handle(graph.0));
            Ok(())
        }
        Ended::Failed(error, destructors) => {
            Out::set_optional(out, std::ptr::null_mut());
            call_host_functions(destructors)?;
            Err(error.into())
        }
    }
}

/// Returns the context and the number of a stream.
fn resolve(h_stream: Stream) -> Result<(ContextId, StreamId), CudaError> {
    let (driver, context, stream) = SIMULATOR.lock_live_stream(h_stream)?;
    drop(driver);
    Ok((context, stream))
}

/// Returns the number of a stream and its `CUstreamCaptureStatus`, and the state of its capture.
fn status(h_stream: Stream) -> Result<(StreamId, c_int, Option<CaptureStatus>), CudaError> {
    let (context, stream) = resolve(h_stream)?;
    let capture = SIMULATOR.captures.status(context, stream)?;
    let status = match &capture {
        None => NONE,
        Some(capture) if capture.valid => ACTIVE,
        Some(_) => INVALIDATED,
    };
    Ok((stream, status, capture))
}

/// `cuStreamIsCapturing`.
pub fn is_capturing(h_stream: Stream, out: Out<c_int>) -> CallResult {
    out.set(status(h_stream)?.1);
    Ok(())
}

/// `cuStreamGetCaptureInfo` before CUDA 11.3.
pub fn info(h_stream: Stream, out: Out<c_int>, id: Option<Out<c_ulonglong>>) -> CallResult {
    info_with_nodes(h_stream, out, id, None, None, None)
}

/// `cuStreamGetCaptureInfo` before CUDA 13. The list of nodes is valid until the stream is next used.
pub fn info_with_nodes(
    h_stream: Stream,
    out: Out<c_int>,
    id: Option<Out<c_ulonglong>>,
    graph: Option<Out<CUgraph>>,
    nodes: Option<Out<*const CUgraphNode>>,
    count: Option<Out<usize>>,
) -> CallResult {
    let (stream, status, capture) = status(h_stream)?;
    out.set(status);
    let Some(capture) = capture else {
        return Ok(());
    };
    let (handles, handle_count) = SIMULATOR.captures.dependencies(stream)?;
    Out::set_optional(id, capture.id.0);
    Out::set_optional(graph, handle(capture.graph.0));
    // A handle is a pointer-sized number, so the list of numbers is a list of handles.
    Out::set_optional(nodes, handles.cast());
    Out::set_optional(count, handle_count);
    Ok(())
}

/// `cuStreamGetCaptureInfo`, with edge data: null, because all edges are full dependencies.
pub fn info_with_edges(
    h_stream: Stream,
    out: Out<c_int>,
    id: Option<Out<c_ulonglong>>,
    graph: Option<Out<CUgraph>>,
    nodes: Option<Out<*const CUgraphNode>>,
    edges: Option<Out<*const EdgeData>>,
    count: Option<Out<usize>>,
) -> CallResult {
    info_with_nodes(h_stream, out, id, graph, nodes, count)?;
    Out::set_optional(edges, std::ptr::null());
    Ok(())
}

/// `cuStreamUpdateCaptureDependencies`: adds or replaces the dependencies of the stream's next node.
pub fn update(
    h_stream: Stream,
    nodes: Option<In<CUgraphNode>>,
    count: usize,
    flags: c_uint,
) -> CallResult {
    // SAFETY: `nodes` has `count` elements, as `cuStreamUpdateCaptureDependencies` requires of its caller.
    let nodes = unsafe { read_list(nodes, count) }?;
    let nodes = nodes.into_iter().map(node_id).collect();
    let stream = resolve(h_stream)?.1;
    let captures = &SIMULATOR.captures;
    Ok(captures.set_dependencies(&SIMULATOR.graphs, stream, nodes, flags)?)
}

/// `cuStreamUpdateCaptureDependencies` with edge data.
pub fn update_with_edges(
    h_stream: Stream,
    nodes: Option<In<CUgraphNode>>,
    edges: Option<In<EdgeData>>,
    count: usize,
    flags: c_uint,
) -> CallResult {
    // SAFETY: `edges` has `count` elements, as `cuStreamUpdateCaptureDependencies` requires of its caller.
    unsafe { check_edges(edges, count) }?;
    update(h_stream, nodes, count, flags)
}

/// `cuThreadExchangeStreamCaptureMode`.
pub fn exchange_mode(mode: InOut<c_int>) -> CallResult {
    // As the driver does, accepts any number.
    let new = Mode::new(mode.read()).unwrap_or(Mode::Relaxed);
    let previous = exchange_capture_mode(new);
    mode.set(previous as c_int);
    Ok(())
}
