//! The driver API's functions for stream capture.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::thread;

use cuda_sim::driver::{ContextId, CudaError, StreamId};
use cust_raw::{CUgraph, CUgraphNode};

use super::collect::{all_joined, join, of_stream};
use super::{Capture, Member, Mode, captures};
use crate::simulator::arguments::{In, InOut, Out, Stream, handle};
use crate::simulator::graph::nodes::node_id;
use crate::simulator::graph::params_in::list;
use crate::simulator::graph::topology::check_edges;
use crate::simulator::graph::{GraphId, NodeId, graphs, objects};
use crate::simulator::lock_live_stream;
use crate::simulator::submit::is_blocking;
use crate::simulator::thread::exchange_capture_mode;
use crate::status::CallResult;
use crate::types::graph::EdgeData;

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
        list(dependencies, count)?
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
    let (driver, context, stream) = lock_live_stream(h_stream)?;
    let blocking = is_blocking(&driver, context, stream)?;
    if stream == StreamId::LEGACY {
        return Err(CudaError::StreamCaptureUnsupported.into());
    }
    let mut captures = captures();
    if captures.streams.contains_key(&stream) {
        return Err(CudaError::IllegalState.into());
    }
    let is_external_graph = target.is_some();
    let mut graphs = graphs();
    let (graph, tail) = match target {
        Some((graph, dependencies)) => {
            let nodes = &graphs.graph(graph)?.nodes;
            if !dependencies.iter().all(|node| nodes.contains_key(node)) {
                return Err(CudaError::InvalidValue.into());
            }
            (graph, dependencies)
        }
        None => (graphs.create(), Vec::new()),
    };
    let id = captures.next();
    let capture = Capture {
        origin: stream,
        graph,
        is_external_graph,
        mode,
        thread: thread::current().id(),
        valid: true,
    };
    let member = Member {
        capture: id,
        context,
        blocking,
        tail,
        returned_handles: Vec::new(),
    };
    captures.captures.insert(id, capture);
    captures.streams.insert(stream, member);
    captures.update_count();
    Ok(())
}

/// `cuStreamEndCapture`. Except for a wrong thread or stream, an error also ends the capture, and there is no
/// graph.
pub fn end(h_stream: Stream, out: Out<CUgraph>) -> CallResult {
    let stream = resolve(h_stream)?.1;
    let (mut captures, id) = of_stream(stream).ok_or(CudaError::IllegalState)?;
    let capture = &captures.captures[&id];
    if capture.mode != Mode::Relaxed && capture.thread != thread::current().id() {
        return Err(CudaError::StreamCaptureWrongThread.into());
    }
    if capture.origin != stream {
        let error = CudaError::StreamCaptureUnmatched;
        return Err(captures.invalidate(&[id].into(), error).into());
    }
    let (graph, is_external_graph) = (capture.graph, capture.is_external_graph);
    let mut error = match capture.valid {
        true => None,
        false => Some(CudaError::StreamCaptureInvalidated),
    };
    let mut graphs = graphs();
    // The program may have destroyed the graph that it passed to `cuStreamBeginCaptureToGraph`.
    let done = match graphs.graph(graph) {
        Ok(body) => body.ancestors(&captures.streams[&stream].tail),
        Err(_) => {
            error = Some(CudaError::StreamCaptureInvalidated);
            Default::default()
        }
    };
    if error.is_none() && !all_joined(&captures, stream, &done) {
        error = Some(CudaError::StreamCaptureUnjoined);
    }
    captures.remove(id);
    match error {
        None => {
            out.set(handle(graph.0));
            Ok(())
        }
        Some(error) => {
            out.set(std::ptr::null_mut());
            let destructors = match is_external_graph {
                true => Vec::new(),
                false => graphs.destroy(graph)?,
            };
            drop((captures, graphs));
            objects::call_destructors(destructors)?;
            Err(error.into())
        }
    }
}

/// Returns the context and the number of a stream.
fn resolve(h_stream: Stream) -> Result<(ContextId, StreamId), CudaError> {
    let (driver, context, stream) = lock_live_stream(h_stream)?;
    drop(driver);
    Ok((context, stream))
}

/// Returns a stream's capture status, its capture's number and graph, and its own number. Fails for the
/// legacy default stream if it would wait for a capturing stream; that capture stays valid.
fn status(h_stream: Stream) -> Result<(c_int, u64, GraphId, StreamId), CudaError> {
    let (context, stream) = resolve(h_stream)?;
    let captures = captures();
    if stream == StreamId::LEGACY {
        let mut members = captures.streams.values();
        if members.any(|member| member.blocking && member.context == context) {
            return Err(CudaError::StreamCaptureImplicit);
        }
    }
    let Some(member) = captures.streams.get(&stream) else {
        return Ok((NONE, 0, GraphId(0), stream));
    };
    let capture = &captures.captures[&member.capture];
    let status = match capture.valid {
        true => ACTIVE,
        false => INVALIDATED,
    };
    Ok((status, member.capture.0, capture.graph, stream))
}

/// `cuStreamIsCapturing`.
pub fn is_capturing(h_stream: Stream, out: Out<c_int>) -> CallResult {
    out.set(status(h_stream)?.0);
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
    let (status, id_value, graph_id_value, stream) = status(h_stream)?;
    out.set(status);
    if status == NONE {
        return Ok(());
    }
    let mut captures = captures();
    let member = captures.streams.get_mut(&stream);
    let member = member.ok_or(CudaError::InvalidHandle)?;
    member.returned_handles = member.tail.iter().map(|node| node.0).collect();
    Out::set_optional(id, id_value);
    Out::set_optional(graph, handle(graph_id_value.0));
    // A handle is a pointer-sized number, so the list of numbers is a list of handles.
    Out::set_optional(nodes, member.returned_handles.as_ptr().cast());
    Out::set_optional(count, member.returned_handles.len());
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
    /// `CU_STREAM_SET_CAPTURE_DEPENDENCIES`.
    const SET: c_uint = 1;
    // SAFETY: `nodes` has `count` elements, as `cuStreamUpdateCaptureDependencies` requires of its caller.
    let nodes = unsafe { list(nodes, count) }?;
    let nodes: Vec<NodeId> = nodes.into_iter().map(node_id).collect();
    let stream = resolve(h_stream)?.1;
    let (mut captures, id) = of_stream(stream).ok_or(CudaError::IllegalState)?;
    let graph = captures.active(id)?.graph;
    let graphs = graphs();
    let graph_nodes = &graphs.graph(graph)?.nodes;
    if flags > SET || !nodes.iter().all(|node| graph_nodes.contains_key(node)) {
        return Err(CudaError::InvalidValue.into());
    }
    if let Some(member) = captures.streams.get_mut(&stream) {
        if flags == SET {
            member.tail.clear();
        }
        join(&mut member.tail, nodes);
    }
    Ok(())
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
    let new = Mode::new(mode.read())?;
    let previous = exchange_capture_mode(new);
    mode.set(previous as c_int);
    Ok(())
}
