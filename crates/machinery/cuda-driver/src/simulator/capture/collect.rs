//! What is put into captured streams, and the events by which captures spread to other streams.

use std::collections::BTreeSet;
use std::sync::MutexGuard;

use cuda_sim::driver::{ContextId, CudaError, Driver, EventId, StreamId};

use super::rules;
use super::state::{Captures, Mark, Member, any, captures};
use crate::simulator::graph::{NodeId, graphs, objects};
use crate::simulator::work::Work;

/// Makes a node of `work`, where its stream is captured. Else the work is given back, to be done.
/// [`CudaError::StreamCaptureInvalidated`] for a capture that an error has ended,
/// [`CudaError::StreamCaptureImplicit`] for the legacy default stream where it would wait for one that is
/// captured.
pub fn collect(
    context: ContextId,
    stream: StreamId,
    work: Work,
) -> Result<Option<Work>, CudaError> {
    if stream == StreamId::LEGACY {
        rules::legacy(context)?;
        return Ok(Some(work));
    }
    let Some(mut captures) = any() else {
        return Ok(Some(work));
    };
    if !captures.streams.contains_key(&stream) {
        return Ok(Some(work));
    }
    append(&mut captures, stream, work)?;
    Ok(None)
}

/// Makes `work` the next node of a stream that is captured.
fn append(captures: &mut Captures, stream: StreamId, work: Work) -> Result<(), CudaError> {
    let member = captures.streams.get(&stream);
    let member = member.ok_or(CudaError::InvalidHandle)?;
    let id = member.capture;
    let tail = member.tail.clone();
    let graph = captures.active(id)?.graph;
    let mut graphs = graphs();
    let refused = match &work {
        // Such a graph cannot be in another.
        Work::Graph(body) if body.has_memory() => Err(CudaError::NotSupported),
        _ => graphs.add(graph, work, tail),
    };
    match refused {
        Ok(node) => {
            if let Some(member) = captures.streams.get_mut(&stream) {
                member.tail = vec![node];
            }
            Ok(())
        }
        Err(error) => Err(captures.invalidate(&BTreeSet::from([id]), error)),
    }
}

/// The captures, where there are any. The legacy default stream may not be used while streams that wait for it
/// are captured.
fn beside(
    context: ContextId,
    stream: StreamId,
) -> Result<Option<MutexGuard<'static, Captures>>, CudaError> {
    if stream == StreamId::LEGACY {
        rules::legacy(context)?;
    }
    Ok(any())
}

/// `cuEventRecord` in a stream: whether a capture took it. An `external` one becomes a node, by which a
/// launch of the graph records the event; any other stands for what the stream has been given so far.
pub fn record_event(
    context: ContextId,
    stream: StreamId,
    event: EventId,
    external: bool,
) -> Result<bool, CudaError> {
    let Some(mut captures) = beside(context, stream)? else {
        return Ok(false);
    };
    let Some(member) = captures.streams.get(&stream) else {
        // From now on the event is one that happens.
        captures.events.remove(&event);
        captures.changed();
        return Ok(false);
    };
    let (capture, tail) = (member.capture, member.tail.clone());
    captures.active(capture)?;
    match external {
        true => append(&mut captures, stream, Work::RecordEvent(event))?,
        false => {
            captures.events.insert(event, Mark { capture, tail });
            captures.changed();
        }
    }
    Ok(true)
}

/// `cuStreamWaitEvent`: whether a capture took it. A stream that waits for an event of a capture is captured
/// from then on.
pub fn wait_event(
    context: ContextId,
    stream: StreamId,
    blocking: bool,
    event: EventId,
    external: bool,
) -> Result<bool, CudaError> {
    let Some(mut captures) = beside(context, stream)? else {
        return Ok(false);
    };
    let member = captures.streams.get(&stream).map(|member| member.capture);
    if let Some(member) = member {
        captures.active(member)?;
    }
    if external && member.is_some() {
        append(&mut captures, stream, Work::WaitEvent(event))?;
        return Ok(true);
    }
    let mark = captures.events.get(&event);
    let (capture, tail) = match (mark, member) {
        (None, None) => return Ok(false),
        (None, Some(member)) => {
            let error = CudaError::StreamCaptureIsolation;
            return Err(captures.invalidate(&BTreeSet::from([member]), error));
        }
        (Some(mark), _) => (mark.capture, mark.tail.clone()),
    };
    match member {
        Some(member) if member != capture => {
            let both = BTreeSet::from([member, capture]);
            Err(captures.invalidate(&both, CudaError::StreamCaptureMerge))
        }
        // It never happens, for its capture has ended.
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
                shown: Vec::new(),
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

/// Adds nodes to those that the next one waits for, each once.
pub fn join(tail: &mut Vec<NodeId>, more: Vec<NodeId>) {
    for node in more {
        if !tail.contains(&node) {
            tail.push(node);
        }
    }
}

/// An event is destroyed: no capture knows it any more.
pub fn forget_event(event: EventId) {
    if let Some(mut captures) = any() {
        captures.events.remove(&event);
        captures.changed();
    }
}

/// A stream is destroyed. A capture that began in it is over. Another one keeps what was done in it, which has
/// to be joined as before: NVIDIA's sample graphMemoryNodes destroys a stream between joining it and the end.
pub fn forget_stream(stream: StreamId) {
    let Some(mut captures) = any() else { return };
    let Some(member) = captures.streams.get(&stream) else {
        return;
    };
    let id = member.capture;
    let begun_here = captures.captures.get(&id).map(|capture| capture.origin) == Some(stream);
    if begun_here
        && let Some(ended) = captures.end(id)
        && !ended.given
    {
        drop(captures);
        let calls = graphs().destroy(ended.graph).unwrap_or_default();
        // Where there is no thread to call them, nobody is left to be told.
        let _ = objects::call(calls);
    }
}

/// Contexts are destroyed: so are their streams, for captures too.
pub fn forget_streams(driver: &Driver) {
    let Some(captures) = any() else { return };
    let streams = captures.streams.keys().copied();
    let gone: Vec<_> = streams
        .filter(|stream| driver.stream_context(*stream).is_err())
        .collect();
    drop(captures);
    gone.into_iter().for_each(forget_stream);
}

/// What is asked of all captures at their end.
pub fn is_joined(captures: &Captures, stream: StreamId, done: &BTreeSet<NodeId>) -> bool {
    let capture = captures.streams.get(&stream).map(|member| member.capture);
    let others = captures.streams.values();
    let mut others = others.filter(|other| Some(other.capture) == capture);
    others.all(|other| other.tail.iter().all(|node| done.contains(node)))
}

/// All captures, where a stream is known to be one of them.
pub fn of_stream(
    stream: StreamId,
) -> Option<(
    std::sync::MutexGuard<'static, Captures>,
    super::state::CaptureId,
)> {
    let captures = captures();
    let id = captures.streams.get(&stream)?.capture;
    Some((captures, id))
}
