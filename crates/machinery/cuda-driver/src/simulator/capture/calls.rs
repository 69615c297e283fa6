//! The driver API's functions for stream capture.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::thread;

use cuda_sim::driver::{ContextId, CudaError, StreamId};
use cust_raw::{CUgraph, CUgraphNode, CUstream};

use super::collect::{is_joined, join, of_stream};
use super::rules;
use super::state::{Capture, Member, Mode, captures};
use crate::simulator::graph::nodes::{graph_id, node_id};
use crate::simulator::graph::reading::{list, read};
use crate::simulator::graph::shape::check_edges;
use crate::simulator::graph::{GraphId, NodeId, graphs, objects};
use crate::simulator::in_live_stream;
use crate::simulator::raw::{Out, handle, set_if_wanted};
use crate::simulator::submit::is_blocking;
use crate::status::Answer;
use crate::types::graph::EdgeData;

/// Values of `CUstreamCaptureStatus`.
const NONE: c_int = 0;
const ACTIVE: c_int = 1;
const INVALIDATED: c_int = 2;

/// `cuStreamBeginCapture` before CUDA 10.1, which had one mode.
pub unsafe fn begin_global(on: CUstream) -> Answer {
    // SAFETY: `begin` dereferences no pointer: a stream handle is only looked up.
    unsafe { begin(on, 0) }
}

/// `cuStreamBeginCapture`.
pub unsafe fn begin(on: CUstream, mode: c_int) -> Answer {
    let mode = Mode::new(mode)?;
    start(on, mode, None)
}

/// `cuStreamBeginCaptureToGraph`: captures into an existing graph, after the given nodes.
pub unsafe fn begin_to_graph(
    on: CUstream,
    graph: CUgraph,
    after: *const CUgraphNode,
    edges: *const EdgeData,
    count: usize,
    mode: c_int,
) -> Answer {
    let mode = Mode::new(mode)?;
    // SAFETY: `edges` is null or has `count` elements, and so has `dependencies`, as
    // `cuStreamBeginCaptureToGraph`
    // requires of its caller.
    let after = unsafe {
        check_edges(edges, count)?;
        list(after, count)?
    };
    let after = after.into_iter().map(node_id).collect();
    start(on, mode, Some((graph_id(graph), after)))
}

/// Begins a capture into a new or an existing graph.
fn start(on: CUstream, mode: Mode, to: Option<(GraphId, Vec<NodeId>)>) -> Answer {
    let (driver, context, stream) = in_live_stream(on)?;
    let blocking = is_blocking(&driver, context, stream)?;
    if stream == StreamId::LEGACY {
        return Err(CudaError::StreamCaptureUnsupported.into());
    }
    let mut captures = captures();
    if captures.streams.contains_key(&stream) {
        return Err(CudaError::IllegalState.into());
    }
    let given = to.is_some();
    let mut graphs = graphs();
    let (graph, tail) = match to {
        Some((graph, after)) => {
            let nodes = &graphs.graph(graph)?.nodes;
            if !after.iter().all(|node| nodes.contains_key(node)) {
                return Err(CudaError::InvalidValue.into());
            }
            (graph, after)
        }
        None => (graphs.create(), Vec::new()),
    };
    let id = captures.next();
    let capture = Capture {
        origin: stream,
        graph,
        given,
        mode,
        thread: thread::current().id(),
        valid: true,
    };
    let member = Member {
        capture: id,
        context,
        blocking,
        tail,
        shown: Vec::new(),
    };
    captures.captures.insert(id, capture);
    captures.streams.insert(stream, member);
    captures.changed();
    Ok(())
}

/// `cuStreamEndCapture`. Except for a wrong thread or stream, an error also ends the capture, and there is no
/// graph.
pub unsafe fn end(on: CUstream, to: *mut CUgraph) -> Answer {
    // SAFETY: `to` is null or writable, as `cuStreamEndCapture` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let stream = known(on)?.1;
    let (mut captures, id) = of_stream(stream).ok_or(CudaError::IllegalState)?;
    let capture = &captures.captures[&id];
    if capture.mode != Mode::Relaxed && capture.thread != thread::current().id() {
        return Err(CudaError::StreamCaptureWrongThread.into());
    }
    if capture.origin != stream {
        let error = CudaError::StreamCaptureUnmatched;
        return Err(captures.invalidate(&[id].into(), error).into());
    }
    let (graph, given) = (capture.graph, capture.given);
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
    if error.is_none() && !is_joined(&captures, stream, &done) {
        error = Some(CudaError::StreamCaptureUnjoined);
    }
    captures.end(id);
    match error {
        None => {
            to.set(handle(graph.0));
            Ok(())
        }
        Some(error) => {
            to.set(std::ptr::null_mut());
            let calls = match given {
                true => Vec::new(),
                false => graphs.destroy(graph)?,
            };
            drop((captures, graphs));
            objects::call(calls)?;
            Err(error.into())
        }
    }
}

/// Returns the context and the number of a stream.
fn known(on: CUstream) -> Result<(ContextId, StreamId), CudaError> {
    let (driver, context, stream) = in_live_stream(on)?;
    drop(driver);
    Ok((context, stream))
}

/// Returns a stream's capture status, its capture's number and graph, and its own number. Fails for the
/// legacy default
/// stream if it would wait for a capturing stream; that capture stays valid.
fn status(on: CUstream) -> Result<(c_int, u64, GraphId, StreamId), CudaError> {
    let (context, stream) = known(on)?;
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
pub unsafe fn is_capturing(on: CUstream, to: *mut c_int) -> Answer {
    // SAFETY: `to` is null or writable, as `cuStreamIsCapturing` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    to.set(status(on)?.0);
    Ok(())
}

/// `cuStreamGetCaptureInfo` before CUDA 11.3.
pub unsafe fn info(on: CUstream, to: *mut c_int, id: *mut c_ulonglong) -> Answer {
    let none = std::ptr::null_mut();
    // SAFETY: `to` and `id` are null or writable, as `cuStreamGetCaptureInfo` requires; null outputs are
    // allowed.
    unsafe { info_with_nodes(on, to, id, none, std::ptr::null_mut(), std::ptr::null_mut()) }
}

/// `cuStreamGetCaptureInfo` before CUDA 13. The list of nodes is valid until the stream is next used.
pub unsafe fn info_with_nodes(
    on: CUstream,
    to: *mut c_int,
    id: *mut c_ulonglong,
    graph: *mut CUgraph,
    nodes: *mut *const CUgraphNode,
    count: *mut usize,
) -> Answer {
    // SAFETY: `to` is null or writable, as `cuStreamGetCaptureInfo` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let (found, number, of, stream) = status(on)?;
    to.set(found);
    if found == NONE {
        return Ok(());
    }
    let mut captures = captures();
    let member = captures.streams.get_mut(&stream);
    let member = member.ok_or(CudaError::InvalidHandle)?;
    member.shown = member.tail.iter().map(|node| node.0).collect();
    // SAFETY: each output is null or writable, as `cuStreamGetCaptureInfo` requires. A handle is a
    // pointer-sized number,
    // so the list of numbers is a list of handles.
    unsafe {
        set_if_wanted(id, number);
        set_if_wanted(graph, handle(of.0));
        set_if_wanted(nodes, member.shown.as_ptr().cast());
        set_if_wanted(count, member.shown.len());
    }
    Ok(())
}

/// `cuStreamGetCaptureInfo`, with edge data: null, because all edges are full dependencies.
pub unsafe fn info_with_edges(
    on: CUstream,
    to: *mut c_int,
    id: *mut c_ulonglong,
    graph: *mut CUgraph,
    nodes: *mut *const CUgraphNode,
    edges: *mut *const EdgeData,
    count: *mut usize,
) -> Answer {
    // SAFETY: each output is null or writable, as `cuStreamGetCaptureInfo` requires of its caller.
    unsafe {
        info_with_nodes(on, to, id, graph, nodes, count)?;
        set_if_wanted(edges, std::ptr::null());
    }
    Ok(())
}

/// `cuStreamUpdateCaptureDependencies`: adds or replaces the dependencies of the stream's next node.
pub unsafe fn update(on: CUstream, nodes: *mut CUgraphNode, count: usize, flags: c_uint) -> Answer {
    /// `CU_STREAM_SET_CAPTURE_DEPENDENCIES`.
    const SET: c_uint = 1;
    // SAFETY: `nodes` has `count` elements, as `cuStreamUpdateCaptureDependencies` requires of its caller.
    let nodes = unsafe { list(nodes.cast_const(), count) }?;
    let nodes: Vec<NodeId> = nodes.into_iter().map(node_id).collect();
    let stream = known(on)?.1;
    let (mut captures, id) = of_stream(stream).ok_or(CudaError::IllegalState)?;
    let graph = captures.active(id)?.graph;
    let graphs = graphs();
    let known = &graphs.graph(graph)?.nodes;
    if flags > SET || !nodes.iter().all(|node| known.contains_key(node)) {
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
pub unsafe fn update_with_edges(
    on: CUstream,
    nodes: *mut CUgraphNode,
    edges: *const EdgeData,
    count: usize,
    flags: c_uint,
) -> Answer {
    // SAFETY: `nodes` has `count` elements, and `edges` is null or has as many, as
    // `cuStreamUpdateCaptureDependencies`
    // requires of its caller.
    unsafe {
        check_edges(edges, count)?;
        update(on, nodes, count, flags)
    }
}

/// `cuThreadExchangeStreamCaptureMode`.
pub unsafe fn exchange_mode(mode: *mut c_int) -> Answer {
    // SAFETY: `mode` is null or readable, as `cuThreadExchangeStreamCaptureMode` requires of its caller.
    let new = Mode::new(unsafe { read(mode) }?)?;
    let before = rules::exchange(new);
    // SAFETY: `mode` was read above, so it is not null; the C function requires it to be writable.
    unsafe { mode.write(before as c_int) };
    Ok(())
}
