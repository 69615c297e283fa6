//! Stream capture: operations submitted to a capturing stream become graph nodes and do not execute; events
//! propagate the capture to other streams. A call that a capture forbids returns an error and invalidates the capture.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, ThreadId};

use cuda_sim::driver::{ContextId, CudaError, Driver, EventId, StreamId};

use super::graphs::Graphs;
use super::lock;
use super::operation::{GraphId, HostFunction, NodeId, StreamOp};

/// The restrictions that a capture imposes on other calls (`CUstreamCaptureMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Global,
    ThreadLocal,
    Relaxed,
}

impl Mode {
    /// Converts a `CUstreamCaptureMode`, or returns [`CudaError::InvalidValue`].
    pub fn new(value: i32) -> Result<Self, CudaError> {
        match value {
            0 => Ok(Self::Global),
            1 => Ok(Self::ThreadLocal),
            2 => Ok(Self::Relaxed),
            _ => Err(CudaError::InvalidValue),
        }
    }
}

/// The number of a capture, which identifies it to programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaptureId(pub u64);

/// One capture: the stream in which it began, and all streams that joined it.
struct Capture {
    origin: StreamId,
    graph: GraphId,
    /// True if the program passed the graph, which then survives errors of the capture.
    is_external_graph: bool,
    mode: Mode,
    thread: ThreadId,
    /// False once an error has invalidated it: it can only be ended then.
    valid: bool,
}

/// A capturing stream.
struct Member {
    capture: CaptureId,
    context: ContextId,
    /// True if the stream synchronizes with the legacy default stream.
    blocking: bool,
    /// The dependencies of its next node.
    tail: Vec<NodeId>,
    /// The handles of those nodes, as returned to the program.
    returned_handles: Vec<u64>,
}

/// An event recorded in a capturing stream.
struct CapturedEvent {
    capture: CaptureId,
    tail: Vec<NodeId>,
}

/// All captures, and whether there are any.
pub struct CaptureTable {
    captures: Mutex<Captures>,
    /// Number of captures and captured events: programs without captures skip the lock.
    count: AtomicUsize,
}

/// The captures, capturing streams and captured events.
struct Captures {
    last: u64,
    captures: BTreeMap<CaptureId, Capture>,
    streams: BTreeMap<StreamId, Member>,
    events: BTreeMap<EventId, CapturedEvent>,
}

/// The locked captures. Updates their count when it is dropped.
struct LockedCaptures<'a> {
    guard: MutexGuard<'a, Captures>,
    count: &'a AtomicUsize,
}

impl Deref for LockedCaptures<'_> {
    type Target = Captures;

    fn deref(&self) -> &Captures {
        &self.guard
    }
}

impl DerefMut for LockedCaptures<'_> {
    fn deref_mut(&mut self) -> &mut Captures {
        &mut self.guard
    }
}

impl Drop for LockedCaptures<'_> {
    fn drop(&mut self) {
        let count = self.captures.len() + self.events.len();
        self.count.store(count, Ordering::Release);
    }
}

impl Captures {
    /// Returns a capture, or [`CudaError::StreamCaptureInvalidated`] if it is not valid any more.
    fn active(&self, id: CaptureId) -> Result<&Capture, CudaError> {
        let capture = self.captures.get(&id).filter(|capture| capture.valid);
        capture.ok_or(CudaError::StreamCaptureInvalidated)
    }

    /// Returns the captures of the streams that `matches` accepts.
    fn of_streams(&self, matches: impl Fn(&Member) -> bool) -> BTreeSet<CaptureId> {
        let members = self.streams.values().filter(|member| matches(member));
        members.map(|member| member.capture).collect()
    }

    /// Invalidates captures after a forbidden call. Returns `error`, or
    /// [`CudaError::StreamCaptureInvalidated`] if all of them were invalid already.
    fn invalidate(
        &mut self,
        captures: impl IntoIterator<Item = CaptureId>,
        error: CudaError,
    ) -> CudaError {
        let mut all_invalid = true;
        for id in captures {
            if let Some(capture) = self.captures.get_mut(&id) {
                all_invalid &= !capture.valid;
                capture.valid = false;
            }
        }
        match all_invalid {
            true => CudaError::StreamCaptureInvalidated,
            false => error,
        }
    }

    /// Appends `op` as the next node of a capturing stream.
    fn append(
        &mut self,
        graphs: &Mutex<Graphs>,
        stream: StreamId,
        op: StreamOp,
    ) -> Result<(), CudaError> {
        let member = self.streams.get(&stream);
        let member = member.ok_or(CudaError::InvalidHandle)?;
        let (id, tail) = (member.capture, member.tail.clone());
        let graph = self.active(id)?.graph;
        let added = match &op {
            StreamOp::Graph(body) if !body.can_be_child() => Err(CudaError::NotSupported),
            _ => lock(graphs).add(graph, op, tail),
        };
        let node = added.map_err(|error| self.invalidate([id], error))?;
        if let Some(member) = self.streams.get_mut(&stream) {
            member.tail = vec![node];
        }
        Ok(())
    }

    /// Removes a capture and its streams.
    fn remove(&mut self, id: CaptureId) -> Option<Capture> {
        self.streams.retain(|_, member| member.capture != id);
        self.captures.remove(&id)
    }
}

/// The state of a capturing stream's capture.
pub struct CaptureStatus {
    pub id: CaptureId,
    pub graph: GraphId,
    pub valid: bool,
}

/// The end of a capture.
pub enum Ended {
    Graph(GraphId),
    /// There is no graph. The destructors are those of its user objects.
    Failed(CudaError, Vec<HostFunction>),
}

/// A thread that calls these functions and also locks the driver must lock it first. They lock the graphs after the
/// captures.
impl CaptureTable {
    pub const fn new() -> Self {
        Self {
            captures: Mutex::new(Captures {
                last: 0,
                captures: BTreeMap::new(),
                streams: BTreeMap::new(),
                events: BTreeMap::new(),
            }),
            count: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> LockedCaptures<'_> {
        LockedCaptures {
            guard: lock(&self.captures),
            count: &self.count,
        }
    }

    /// Locks all captures, if there are any; otherwise returns `None`.
    fn try_lock(&self) -> Option<LockedCaptures<'_>> {
        (self.count.load(Ordering::Acquire) > 0).then(|| self.lock())
    }

    /// Returns an error if there are captures that forbid a call, and invalidates them.
    fn reject<I: IntoIterator<Item = CaptureId>>(
        &self,
        error: CudaError,
        forbidding: impl FnOnce(&Captures) -> I,
    ) -> Result<(), CudaError> {
        let Some(mut captures) = self.try_lock() else {
            return Ok(());
        };
        let mut forbidding = forbidding(&captures).into_iter().peekable();
        match forbidding.peek() {
            None => Ok(()),
            Some(_) => Err(captures.invalidate(forbidding, error)),
        }
    }

    /// Rejects a potentially unsafe call, such as an allocation or a query of completion, of a thread whose capture
    /// mode is `mode`, if this thread is capturing, or any thread is capturing in global mode. An NVIDIA H200 behaves
    /// the same (driver 580.159.04).
    pub fn check_safe(&self, mode: Mode) -> Result<(), CudaError> {
        self.reject(CudaError::StreamCaptureUnsupported, |captures| {
            let this_thread = thread::current().id();
            let forbids = |capture: &Capture| {
                let of_this_thread = capture.thread == this_thread && capture.mode != Mode::Relaxed;
                let is_global = mode == Mode::Global && capture.mode == Mode::Global;
                mode != Mode::Relaxed && (of_this_thread || is_global)
            };
            let captures = captures.captures.iter();
            let forbidding = captures.filter(|(_, capture)| forbids(capture));
            forbidding.map(|(id, _)| *id).collect::<Vec<_>>()
        })
    }

    /// Rejects waiting for, or querying, a capturing stream, or a default stream that waits for one. Also rejects
    /// operations that cannot be captured.
    pub fn check_stream_wait(&self, context: ContextId, stream: StreamId) -> Result<(), CudaError> {
        if stream == StreamId::LEGACY {
            return self.check_legacy_stream(context);
        }
        self.reject(CudaError::StreamCaptureUnsupported, |captures| {
            captures.streams.get(&stream).map(|member| member.capture)
        })
    }

    /// Rejects waiting for a context in which a stream is capturing.
    pub fn check_context_wait(&self, context: ContextId) -> Result<(), CudaError> {
        self.reject(CudaError::StreamCaptureUnsupported, |captures| {
            captures.of_streams(|member| member.context == context)
        })
    }

    /// Rejects operations in the legacy default stream if it would wait for a capturing stream.
    pub fn check_legacy_stream(&self, context: ContextId) -> Result<(), CudaError> {
        self.reject(CudaError::StreamCaptureImplicit, |captures| {
            captures.of_streams(|member| member.blocking && member.context == context)
        })
    }

    /// Rejects waiting for, or querying, an event recorded in a capture, and invalidates the capture. Returns
    /// [`CudaError::InvalidValue`] if the capture is invalid already or has ended.
    pub fn check_event_wait(&self, event: EventId) -> Result<(), CudaError> {
        let Some(mut captures) = self.try_lock() else {
            return Ok(());
        };
        let Some(mark) = captures.events.get(&event) else {
            return Ok(());
        };
        let capture = mark.capture;
        if captures.active(capture).is_err() {
            return Err(CudaError::InvalidValue);
        }
        Err(captures.invalidate([capture], CudaError::CapturedEvent))
    }

    /// Returns true if a stream is capturing.
    pub fn is_captured(&self, stream: StreamId) -> bool {
        let captures = self.try_lock();
        captures.is_some_and(|captures| captures.streams.contains_key(&stream))
    }

    /// Makes a node of `op` if its stream is capturing; otherwise returns the operation, to be enqueued. Returns
    /// [`CudaError::StreamCaptureInvalidated`] for an invalidated capture, and
    /// [`CudaError::StreamCaptureImplicit`] for the legacy default stream if it would wait for a capturing
    /// stream.
    pub fn collect(
        &self,
        graphs: &Mutex<Graphs>,
        context: ContextId,
        stream: StreamId,
        op: StreamOp,
    ) -> Result<Option<StreamOp>, CudaError> {
        match self.lock_for(context, stream)? {
            Some(mut captures) if captures.streams.contains_key(&stream) => {
                captures.append(graphs, stream, op)?;
                Ok(None)
            }
            _ => Ok(Some(op)),
        }
    }

    /// Locks all captures, if there are any. Fails for the legacy default stream while a stream that it synchronizes
    /// with is capturing.
    fn lock_for(
        &self,
        context: ContextId,
        stream: StreamId,
    ) -> Result<Option<LockedCaptures<'_>>, CudaError> {
        if stream == StreamId::LEGACY {
            self.check_legacy_stream(context)?;
        }
        Ok(self.try_lock())
    }

    /// `cuEventRecord`: returns true if a capture took it. An `external` record becomes a node, so that launches
    /// of the graph record the event; any other marks the current position in the captured stream.
    pub fn record_event(
        &self,
        graphs: &Mutex<Graphs>,
        context: ContextId,
        stream: StreamId,
        event: EventId,
        external: bool,
    ) -> Result<bool, CudaError> {
        let Some(mut captures) = self.lock_for(context, stream)? else {
            return Ok(false);
        };
        let Some(member) = captures.streams.get(&stream) else {
            // The event is no longer a captured one.
            captures.events.remove(&event);
            return Ok(false);
        };
        let (capture, tail) = (member.capture, member.tail.clone());
        captures.active(capture)?;
        if external {
            captures.append(graphs, stream, StreamOp::RecordEvent(event))?;
        } else {
            captures
                .events
                .insert(event, CapturedEvent { capture, tail });
        }
        Ok(true)
    }

    /// `cuStreamWaitEvent`: returns true if a capture took it. A stream that waits for a captured event joins the
    /// capture.
    pub fn wait_event(
        &self,
        graphs: &Mutex<Graphs>,
        context: ContextId,
        stream: StreamId,
        blocking: bool,
        event: EventId,
        external: bool,
    ) -> Result<bool, CudaError> {
        let Some(mut captures) = self.lock_for(context, stream)? else {
            return Ok(false);
        };
        let member = captures.streams.get(&stream).map(|member| member.capture);
        if let Some(member) = member {
            captures.active(member)?;
        }
        if external && member.is_some() {
            captures.append(graphs, stream, StreamOp::WaitEvent(event))?;
            return Ok(true);
        }
        let captured = captures.events.get(&event);
        let (capture, tail) = match (captured, member) {
            (None, None) => return Ok(false),
            (None, Some(member)) => {
                let error = CudaError::StreamCaptureIsolation;
                return Err(captures.invalidate([member], error));
            }
            (Some(captured), _) => (captured.capture, captured.tail.clone()),
        };
        match member {
            Some(member) if member != capture => {
                Err(captures.invalidate([member, capture], CudaError::StreamCaptureMerge))
            }
            // The event's capture has ended, so nothing will ever record it.
            None if !captures.captures.contains_key(&capture) => Err(CudaError::InvalidValue),
            None if stream == StreamId::LEGACY => {
                Err(captures.invalidate([capture], CudaError::StreamCaptureImplicit))
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

    /// Removes a destroyed event from all captures.
    pub fn forget_event(&self, event: EventId) {
        if let Some(mut captures) = self.try_lock() {
            captures.events.remove(&event);
        }
    }

    /// Removes a destroyed stream. Ends the capture that began in it, and returns the destructors to call. In any
    /// other capture its nodes remain and must still be joined: NVIDIA's sample graphMemoryNodes destroys a stream
    /// between joining it and ending the capture.
    pub fn forget_stream(&self, graphs: &Mutex<Graphs>, stream: StreamId) -> Vec<HostFunction> {
        let Some(mut captures) = self.try_lock() else {
            return Vec::new();
        };
        let Some(id) = captures.streams.get(&stream).map(|member| member.capture) else {
            return Vec::new();
        };
        let is_origin = captures.captures.get(&id).map(|capture| capture.origin) == Some(stream);
        if is_origin
            && let Some(ended) = captures.remove(id)
            && !ended.is_external_graph
        {
            return lock(graphs).destroy(ended.graph).unwrap_or_default();
        }
        Vec::new()
    }

    /// Removes the streams of destroyed contexts. Returns the destructors to call.
    pub fn forget_streams(&self, graphs: &Mutex<Graphs>, driver: &Driver) -> Vec<HostFunction> {
        let Some(captures) = self.try_lock() else {
            return Vec::new();
        };
        let streams = captures.streams.keys().copied();
        let destroyed: Vec<_> = streams
            .filter(|stream| driver.stream_context(*stream).is_err())
            .collect();
        drop(captures);
        let destroyed = destroyed.into_iter();
        destroyed
            .flat_map(|stream| self.forget_stream(graphs, stream))
            .collect()
    }

    /// Begins a capture in a stream: into a new graph, or into an existing one after the given nodes.
    pub fn begin(
        &self,
        graphs: &Mutex<Graphs>,
        context: ContextId,
        stream: StreamId,
        blocking: bool,
        mode: Mode,
        target: Option<(GraphId, Vec<NodeId>)>,
    ) -> Result<(), CudaError> {
        if stream == StreamId::LEGACY {
            return Err(CudaError::StreamCaptureUnsupported);
        }
        let mut captures = self.lock();
        if captures.streams.contains_key(&stream) {
            return Err(CudaError::IllegalState);
        }
        let is_external_graph = target.is_some();
        let mut graphs = lock(graphs);
        let (graph, tail) = match target {
            Some((graph, dependencies)) => {
                let nodes = &graphs.graph(graph)?.nodes;
                if !dependencies.iter().all(|node| nodes.contains_key(node)) {
                    return Err(CudaError::InvalidValue);
                }
                (graph, dependencies)
            }
            None => (graphs.create(), Vec::new()),
        };
        captures.last += 1;
        let id = CaptureId(captures.last);
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
        Ok(())
    }

    /// Ends the capture that began in a stream. Fails without ending it if it began in another stream. In a wrong
    /// thread, it ends without a graph.
    pub fn end(&self, graphs: &Mutex<Graphs>, stream: StreamId) -> Result<Ended, CudaError> {
        let mut captures = self.lock();
        let member = captures.streams.get(&stream);
        let id = member.ok_or(CudaError::IllegalState)?.capture;
        let capture = &captures.captures[&id];
        let is_wrong_thread =
            capture.mode != Mode::Relaxed && capture.thread != thread::current().id();
        if !is_wrong_thread && capture.origin != stream {
            return Err(captures.invalidate([id], CudaError::StreamCaptureUnmatched));
        }
        let (graph, is_external_graph) = (capture.graph, capture.is_external_graph);
        let mut graphs = lock(graphs);
        // The program may have destroyed the graph that it passed to `cuStreamBeginCaptureToGraph`.
        let body = graphs.graph(graph).ok().filter(|_| capture.valid);
        let error = match body.map(|body| body.ancestors(&captures.streams[&stream].tail)) {
            _ if is_wrong_thread => Some(CudaError::StreamCaptureWrongThread),
            None => Some(CudaError::StreamCaptureInvalidated),
            Some(joined) => {
                let mut members = captures.streams.values();
                let all_joined = members.all(|member| {
                    member.capture != id || member.tail.iter().all(|node| joined.contains(node))
                });
                (!all_joined).then_some(CudaError::StreamCaptureUnjoined)
            }
        };
        captures.remove(id);
        Ok(match error {
            None => Ended::Graph(graph),
            Some(error) if is_external_graph => Ended::Failed(error, Vec::new()),
            Some(error) => match graphs.destroy(graph) {
                Ok(destructors) => Ended::Failed(error, destructors),
                Err(missing) => Ended::Failed(missing, Vec::new()),
            },
        })
    }

    /// Returns the state of a stream's capture; `None` if it is not capturing. Fails for the legacy default stream if
    /// it would wait for a capturing stream; that capture stays valid.
    pub fn status(
        &self,
        context: ContextId,
        stream: StreamId,
    ) -> Result<Option<CaptureStatus>, CudaError> {
        let captures = self.lock();
        let is_implicit = |member: &Member| member.blocking && member.context == context;
        if stream == StreamId::LEGACY && captures.streams.values().any(is_implicit) {
            return Err(CudaError::StreamCaptureImplicit);
        }
        Ok(captures.streams.get(&stream).map(|member| {
            let capture = &captures.captures[&member.capture];
            CaptureStatus {
                id: member.capture,
                graph: capture.graph,
                valid: capture.valid,
            }
        }))
    }

    /// Returns the address and the number of the handles of the nodes that the next node of a capturing stream depends
    /// on. They are valid until the stream is next used.
    pub fn dependencies(&self, stream: StreamId) -> Result<(*const u64, usize), CudaError> {
        let mut captures = self.lock();
        let member = captures.streams.get_mut(&stream);
        let member = member.ok_or(CudaError::InvalidHandle)?;
        member.returned_handles = member.tail.iter().map(|node| node.0).collect();
        Ok((
            member.returned_handles.as_ptr(),
            member.returned_handles.len(),
        ))
    }

    /// Adds or replaces the dependencies of the next node of a capturing stream.
    pub fn set_dependencies(
        &self,
        graphs: &Mutex<Graphs>,
        stream: StreamId,
        nodes: Vec<NodeId>,
        flags: u32,
    ) -> Result<(), CudaError> {
        /// `CU_STREAM_SET_CAPTURE_DEPENDENCIES`.
        const SET: u32 = 1;
        let mut captures = self.lock();
        let member = captures.streams.get(&stream);
        let id = member.ok_or(CudaError::IllegalState)?.capture;
        let graph = captures.active(id)?.graph;
        let graphs = lock(graphs);
        let graph_nodes = &graphs.graph(graph)?.nodes;
        if flags > SET || !nodes.iter().all(|node| graph_nodes.contains_key(node)) {
            return Err(CudaError::InvalidValue);
        }
        if let Some(member) = captures.streams.get_mut(&stream) {
            if flags == SET {
                member.tail.clear();
            }
            join(&mut member.tail, nodes);
        }
        Ok(())
    }
}

/// Adds nodes to a list of dependencies, without duplicates.
fn join(tail: &mut Vec<NodeId>, nodes: Vec<NodeId>) {
    for node in nodes {
        if !tail.contains(&node) {
            tail.push(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: ContextId = ContextId(1);
    const STREAMS: [StreamId; 2] = [StreamId(16), StreamId(32)];
    const EVENT: EventId = EventId(48);

    fn begin(captures: &CaptureTable, graphs: &Mutex<Graphs>, mode: Mode) {
        captures
            .begin(graphs, CONTEXT, STREAMS[0], true, mode, None)
            .unwrap();
    }

    fn is_collected(captures: &CaptureTable, graphs: &Mutex<Graphs>, stream: StreamId) -> bool {
        let collected = captures.collect(graphs, CONTEXT, stream, StreamOp::Empty);
        collected.unwrap().is_none()
    }

    #[test]
    fn operations_become_nodes_and_events_propagate_the_capture() {
        let (captures, graphs) = (CaptureTable::new(), Mutex::new(Graphs::new()));
        let [first, second] = STREAMS;
        assert!(!is_collected(&captures, &graphs, first));
        begin(&captures, &graphs, Mode::Global);
        assert!(is_collected(&captures, &graphs, first));
        assert!(!is_collected(&captures, &graphs, second));
        let record = |stream| captures.record_event(&graphs, CONTEXT, stream, EVENT, false);
        let wait = |stream| captures.wait_event(&graphs, CONTEXT, stream, true, EVENT, false);
        assert_eq!((record(first), wait(second)), (Ok(true), Ok(true)));
        assert!(is_collected(&captures, &graphs, second));
        assert_eq!((record(second), wait(first)), (Ok(true), Ok(true)));
        let Ok(Ended::Graph(graph)) = captures.end(&graphs, first) else {
            panic!("the capture failed");
        };
        let edges = lock(&graphs).graph(graph).unwrap().edges();
        assert_eq!(edges.len(), 1);
        assert!(!is_collected(&captures, &graphs, first));
        assert!(!captures.is_captured(second));
    }

    #[test]
    fn unjoined_streams_are_an_error() {
        let (captures, graphs) = (CaptureTable::new(), Mutex::new(Graphs::new()));
        let [first, second] = STREAMS;
        begin(&captures, &graphs, Mode::Global);
        captures
            .record_event(&graphs, CONTEXT, first, EVENT, false)
            .unwrap();
        captures
            .wait_event(&graphs, CONTEXT, second, true, EVENT, false)
            .unwrap();
        assert!(is_collected(&captures, &graphs, second));
        let ended = captures.end(&graphs, first);
        assert!(matches!(
            ended,
            Ok(Ended::Failed(CudaError::StreamCaptureUnjoined, _))
        ));
        // The event's capture has ended.
        let waited = captures.wait_event(&graphs, CONTEXT, second, true, EVENT, false);
        assert_eq!(waited, Err(CudaError::InvalidValue));
        captures.forget_event(EVENT);
        let waited = captures.wait_event(&graphs, CONTEXT, second, true, EVENT, false);
        assert_eq!(waited, Ok(false));
    }

    #[test]
    fn forbidden_calls_invalidate_a_capture() {
        let (captures, graphs) = (CaptureTable::new(), Mutex::new(Graphs::new()));
        begin(&captures, &graphs, Mode::Global);
        assert_eq!(captures.check_safe(Mode::Relaxed), Ok(()));
        assert_eq!(
            captures.check_safe(Mode::Global),
            Err(CudaError::StreamCaptureUnsupported)
        );
        let collected = captures.collect(&graphs, CONTEXT, STREAMS[0], StreamOp::Empty);
        assert_eq!(collected.err(), Some(CudaError::StreamCaptureInvalidated));
        let ended = captures.end(&graphs, STREAMS[0]);
        assert!(matches!(
            ended,
            Ok(Ended::Failed(CudaError::StreamCaptureInvalidated, _))
        ));
        assert_eq!(captures.check_safe(Mode::Global), Ok(()));
    }

    #[test]
    fn legacy_stream_may_not_wait_for_a_blocking_capture() {
        let (captures, graphs) = (CaptureTable::new(), Mutex::new(Graphs::new()));
        begin(&captures, &graphs, Mode::Relaxed);
        let legacy = captures.collect(&graphs, CONTEXT, StreamId::LEGACY, StreamOp::Empty);
        assert_eq!(legacy.err(), Some(CudaError::StreamCaptureImplicit));
        assert!(captures.forget_stream(&graphs, STREAMS[0]).is_empty());
        assert!(captures.status(CONTEXT, STREAMS[0]).unwrap().is_none());
        let other = captures.check_legacy_stream(ContextId(2));
        assert_eq!(other, Ok(()));
    }
}
