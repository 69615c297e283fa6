//! The driver API's functions of stream capture.

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

/// The numbers of `CUstreamCaptureStatus`.
const NONE: c_int = 0;
const ACTIVE: c_int = 1;
const INVALIDATED: c_int = 2;

/// `cuStreamBeginCapture` before CUDA 10.1, which had one mode.
pub unsafe fn begin_global(on: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { begin(on, 0) }
}

/// `cuStreamBeginCapture`.
pub unsafe fn begin(on: CUstream, mode: c_int) -> Answer {
    let mode = Mode::new(mode)?;
    start(on, mode, None)
}

/// `cuStreamBeginCaptureToGraph`: what is captured goes to a graph that is there, behind nodes of it.
pub unsafe fn begin_to_graph(
    on: CUstream,
    graph: CUgraph,
    after: *const CUgraphNode,
    edges: *const EdgeData,
    count: usize,
    mode: c_int,
) -> Answer {
    let mode = Mode::new(mode)?;
    // SAFETY: the caller's promise.
    let after = unsafe {
        check_edges(edges, count)?;
        list(after, count)?
    };
    let after = after.into_iter().map(node_id).collect();
    start(on, mode, Some((graph_id(graph), after)))
}

/// Begins a capture, in a new graph or in one that is there.
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

/// `cuStreamEndCapture`. Where an error is answered but for a wrong thread or stream, the capture is over
/// all the same, and there is no graph.
pub unsafe fn end(on: CUstream, to: *mut CUgraph) -> Answer {
    // SAFETY: the caller's promise.
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
    // The program may have destroyed a graph of its own that was captured to.
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

/// The context and the stream that a handle names.
fn known(on: CUstream) -> Result<(ContextId, StreamId), CudaError> {
    let (driver, context, stream) = in_live_stream(on)?;
    drop(driver);
    Ok((context, stream))
}

/// Whether a stream is captured, its capture's number, and the graph. The legacy default stream cannot be
/// asked about where it would wait for a stream that is captured, which goes on.
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
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    to.set(status(on)?.0);
    Ok(())
}

/// `cuStreamGetCaptureInfo` before CUDA 11.3.
pub unsafe fn info(on: CUstream, to: *mut c_int, id: *mut c_ulonglong) -> Answer {
    let none = std::ptr::null_mut();
    // SAFETY: the caller's promise.
    unsafe { info_with_nodes(on, to, id, none, std::ptr::null_mut(), std::ptr::null_mut()) }
}

/// `cuStreamGetCaptureInfo` before CUDA 13. The list of nodes stays until the stream is used again.
pub unsafe fn info_with_nodes(
    on: CUstream,
    to: *mut c_int,
    id: *mut c_ulonglong,
    graph: *mut CUgraph,
    nodes: *mut *const CUgraphNode,
    count: *mut usize,
) -> Answer {
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise. A handle is a pointer with the node's number.
    unsafe {
        set_if_wanted(id, number);
        set_if_wanted(graph, handle(of.0));
        set_if_wanted(nodes, member.shown.as_ptr().cast());
        set_if_wanted(count, member.shown.len());
    }
    Ok(())
}

/// `cuStreamGetCaptureInfo`, with data of edges: there is none but the usual, which is not listed.
pub unsafe fn info_with_edges(
    on: CUstream,
    to: *mut c_int,
    id: *mut c_ulonglong,
    graph: *mut CUgraph,
    nodes: *mut *const CUgraphNode,
    edges: *mut *const EdgeData,
    count: *mut usize,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        info_with_nodes(on, to, id, graph, nodes, count)?;
        set_if_wanted(edges, std::ptr::null());
    }
    Ok(())
}

/// `cuStreamUpdateCaptureDependencies`: adds to the nodes that the stream's next one waits for, or sets
/// them.
pub unsafe fn update(on: CUstream, nodes: *mut CUgraphNode, count: usize, flags: c_uint) -> Answer {
    /// `CU_STREAM_SET_CAPTURE_DEPENDENCIES`.
    const SET: c_uint = 1;
    // SAFETY: the caller's promise.
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

/// `cuStreamUpdateCaptureDependencies` with data of edges.
pub unsafe fn update_with_edges(
    on: CUstream,
    nodes: *mut CUgraphNode,
    edges: *const EdgeData,
    count: usize,
    flags: c_uint,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe {
        check_edges(edges, count)?;
        update(on, nodes, count, flags)
    }
}

/// `cuThreadExchangeStreamCaptureMode`.
pub unsafe fn exchange_mode(mode: *mut c_int) -> Answer {
    // SAFETY: the caller's promise.
    let new = Mode::new(unsafe { read(mode) }?)?;
    let before = rules::exchange(new);
    // SAFETY: it was read just now, so it is not null.
    unsafe { mode.write(before as c_int) };
    Ok(())
}
