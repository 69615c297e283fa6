//! Collection of operations from capturing streams, and propagation of captures to other streams through
//! events.

use std::collections::BTreeSet;
use std::sync::MutexGuard;

use cuda_sim::driver::{ContextId, CudaError, Driver, EventId, StreamId};

use super::{CapturedEvent, Captures, Member, captures, rules, try_captures};
use crate::simulator::graph::{NodeId, graphs, objects};
use crate::simulator::stream_op::StreamOp;

/// Makes a node of `op` if its stream is capturing; otherwise returns the operation, to be enqueued. Returns
/// [`CudaError::StreamCaptureInvalidated`] for an invalidated capture, and
/// [`CudaError::StreamCaptureImplicit`] for the legacy default stream if it would wait for a capturing
/// stream.
pub fn collect(
    context: ContextId,
    stream: StreamId,
    op: StreamOp,
) -> Result<Option<StreamOp>, CudaError> {
    if stream == StreamId::LEGACY {
        rules::check_legacy_stream(context)?;
        return Ok(Some(op));
    }
    let Some(mut captures) = try_captures() else {
        return Ok(Some(op));
    };
    if !captures.streams.contains_key(&stream) {
        return Ok(Some(op));
    }
    append(&mut captures, stream, op)?;
    Ok(None)
}

/// Appends `op` as the next node of a capturing stream.
fn append(captures: &mut Captures, stream: StreamId, op: StreamOp) -> Result<(), CudaError> {
    let member = captures.streams.get(&stream);
    let member = member.ok_or(CudaError::InvalidHandle)?;
    let id = member.capture;
    let tail = member.tail.clone();
    let graph = captures.active(id)?.graph;
    let mut graphs = graphs();
    let added = match &op {
        // A graph that allocates memory cannot be a child graph.
        StreamOp::Graph(body) if body.has_memory() => Err(CudaError::NotSupported),
        _ => graphs.add(graph, op, tail),
    };
    match added {
        Ok(node) => {
            if let Some(member) = captures.streams.get_mut(&stream) {
                member.tail = vec![node];
            }
            Ok(())
        }
        Err(error) => Err(captures.invalidate(&BTreeSet::from([id]), error)),
    }
}

/// Returns the captures, if there are any. Fails for the legacy default stream while a stream that it
/// synchronizes with is capturing.
fn captures_for(
    context: ContextId,
    stream: StreamId,
) -> Result<Option<MutexGuard<'static, Captures>>, CudaError> {
    if stream == StreamId::LEGACY {
        rules::check_legacy_stream(context)?;
    }
    Ok(try_captures())
}

/// `cuEventRecord`: returns true if a capture took it. An `external` record becomes a node, so that launches
/// of the graph record the event; any other marks the current position in the captured stream.
pub fn record_event(
    context: ContextId,
    stream: StreamId,
    event: EventId,
    external: bool,
) -> Result<bool, CudaError> {
    let Some(mut captures) = captures_for(context, stream)? else {
        return Ok(false);
    };
    let Some(member) = captures.streams.get(&stream) else {
        // The event is no longer a captured one.
        captures.events.remove(&event);
        captures.update_count();
        return Ok(false);
    };
    let (capture, tail) = (member.capture, member.tail.clone());
    captures.active(capture)?;
    match external {
        true => append(&mut captures, stream, StreamOp::RecordEvent(event))?,
        false => {
            captures
                .events
                .insert(event, CapturedEvent { capture, tail });
            captures.update_count();
        }
    }
    Ok(true)
}

/// `cuStreamWaitEvent`: returns true if a capture took it. A stream that waits for a captured event joins the
/// capture.
pub fn wait_event(
    context: ContextId,
    stream: StreamId,
    blocking: bool,
    event: EventId,
    external: bool,
) -> Result<bool, CudaError> {
    let Some(mut captures) = captures_for(context, stream)? else {
        return Ok(false);
    };
    let member = captures.streams.get(&stream).map(|member| member.capture);
    if let Some(member) = member {
        captures.active(member)?;
    }
    if external && member.is_some() {
        append(&mut captures, stream, StreamOp::WaitEvent(event))?;
        return Ok(true);
    }
    let captured = captures.events.get(&event);
    let (capture, tail) = match (captured, member) {
        (None, None) => return Ok(false),
        (None, Some(member)) => {
            let error = CudaError::StreamCaptureIsolation;
            return Err(captures.invalidate(&BTreeSet::from([member]), error));
        }
        (Some(captured), _) => (captured.capture, captured.tail.clone()),
    };
    match member {
        Some(member) if member != capture => {
            let both = BTreeSet::from([member, capture]);
            Err(captures.invalidate(&both, CudaError::StreamCaptureMerge))
        }
        // The event's capture has ended, so nothing will ever record it.
        None if !captures.captures.contains_key(&capture) => Err(CudaError::CapturedEvent),
        None if stream == StreamId::LEGACY => {
            let error = CudaError::StreamCaptureImplicit;
            Err(captures.invalidate(&BTreeSet::from([capture]), error))
        }
        None => {
            captures.active(capture)?;
            let joined = Member {
                capture,
                context,
                blocking,
                tail,
                returned_handles: Vec::new(),
            };
            captures.streams.insert(stream, joined);
            Ok(true)
        }
        Some(_) => {
            if let Some(member) = captures.streams.get_mut(&stream) {
                join(&mut member.tail, tail);
            }
            Ok(true)
        }
    }
}

/// Adds nodes to a list of dependencies, without duplicates.
pub fn join(tail: &mut Vec<NodeId>, nodes: Vec<NodeId>) {
    for node in nodes {
        if !tail.contains(&node) {
            tail.push(node);
        }
    }
}

/// Removes a destroyed event from all captures.
pub fn forget_event(event: EventId) {
    if let Some(mut captures) = try_captures() {
        captures.events.remove(&event);
        captures.update_count();
    }
}

/// Removes a destroyed stream. Ends the capture that began in it. In any other capture its nodes remain and
/// must still be joined: NVIDIA's sample graphMemoryNodes destroys a stream between joining it and ending the
/// capture.
pub fn forget_stream(stream: StreamId) {
    let Some(mut captures) = try_captures() else {
        return;
    };
    let Some(member) = captures.streams.get(&stream) else {
        return;
    };
    let id = member.capture;
    let is_origin = captures.captures.get(&id).map(|capture| capture.origin) == Some(stream);
    if is_origin
        && let Some(ended) = captures.remove(id)
        && !ended.is_external_graph
    {
        drop(captures);
        let destructors = graphs().destroy(ended.graph).unwrap_or_default();
        // If the destructors' thread cannot be created, there is no caller left to report the error to.
        let _ = objects::call_destructors(destructors);
    }
}

/// Removes the streams of destroyed contexts.
pub fn forget_streams(driver: &Driver) {
    let Some(captures) = try_captures() else {
        return;
    };
    let streams = captures.streams.keys().copied();
    let destroyed: Vec<_> = streams
        .filter(|stream| driver.stream_context(*stream).is_err())
        .collect();
    drop(captures);
    destroyed.into_iter().for_each(forget_stream);
}

/// Returns true if all nodes of the capture are among `done`, the nodes that its origin stream depends on.
pub fn all_joined(captures: &Captures, stream: StreamId, done: &BTreeSet<NodeId>) -> bool {
    let capture = captures.streams.get(&stream).map(|member| member.capture);
    let members = captures.streams.values();
    let mut members = members.filter(|member| Some(member.capture) == capture);
    members.all(|member| member.tail.iter().all(|node| done.contains(node)))
}

/// Returns all captures and the number of the stream's capture; `None` if the stream is not capturing.
pub fn of_stream(
    stream: StreamId,
) -> Option<(std::sync::MutexGuard<'static, Captures>, super::CaptureId)> {
    let captures = captures();
    let id = captures.streams.get(&stream)?.capture;
    Some((captures, id))
}
