//! The check of streams: which operations are ordered by streams, events and waits of the host (happens-before), and
//! conflicts between operations that are not.
//!
//! Each operation gets a vector clock when it is submitted: for each stream, the number of the last operation that must
//! complete first. The bytes that it uses are known when it has executed, and are compared with those of the unordered
//! operations that have executed already. So the result does not depend on the order of execution.
//!
//! The host counts as one thread: an operation that any thread has waited for precedes all later submissions. Accesses
//! of the host to memory that operations use conflict with the operations that it has submitted and not waited for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use cuda_sim::check::call_site::Frames;
use cuda_sim::check::{
    AccessedAs, AllocationAccesses, Bytes, Cause, Checks, Details, Finding, FindingKind,
    HostAction, HostMemory, PendingWork, Severity, StreamAction, StreamName, StreamOperation,
    StreamUse, call_site,
};
use cuda_sim::driver::{ContextId, Driver, EventId, StreamId};
use cuda_sim::exec::Fault;
use cuda_sim::memory::global::{AllocationRecord, CallSite};

use super::lock;
use super::operation::{GraphId, StreamOp, WaitTarget};
use crate::names;

/// An access of the host to protected pages.
#[derive(Clone, Debug)]
pub struct PageAccess {
    /// The first address of an instruction's access, or all of a system call's.
    pub addresses: Range<u64>,
    pub is_write: bool,
    /// The addresses of the accessing instruction and its callers, if they are known.
    pub frames: Frames,
}

/// The maximum number of executed operations that are remembered. Conflicts with earlier ones go unreported.
const MAX_HISTORY: usize = 2048;

/// The maximum number of byte ranges of all remembered operations together.
const MAX_RANGES: usize = 1 << 20;

/// The maximum number of different findings.
const MAX_FINDINGS: usize = 100;

/// The maximum number of accesses of the host that are remembered until operations have executed. Conflicts of further
/// ones go unreported.
const MAX_HOST_ACCESSES: usize = 1 << 14;

/// The maximum number of frees that are remembered, to explain accesses to freed memory.
const MAX_FREES: usize = 1024;

type StreamKey = (ContextId, StreamId);

/// The number of the last operation of each stream that must complete first.
type Clock = BTreeMap<StreamKey, u64>;

/// Adds the operations of another clock.
fn join(clock: &mut Clock, other: &Clock) {
    for (&stream, &number) in other {
        let own = clock.entry(stream).or_default();
        *own = number.max(*own);
    }
}

/// An operation to be submitted.
pub struct Call {
    pub context: ContextId,
    pub stream: StreamId,
    /// True if the stream synchronizes with the legacy default stream.
    pub blocking: bool,
    /// The stream's name, if it is not one that the program has created.
    pub name: Option<StreamName>,
    pub recorded_events: Vec<EventId>,
    pub awaited_events: Vec<EventId>,
    /// The graph, if the operation launches one.
    pub graph: Option<GraphId>,
    /// The line of the program that makes the call, if it records an event.
    pub line: Option<CallSite>,
}

/// A wait for an event.
#[derive(Clone)]
struct EventWait {
    /// The number of the event's record in its stream.
    record: u64,
    record_line: Option<CallSite>,
    /// The number of operations submitted before the wait.
    sequence: u64,
}

/// The waits for events of each stream.
type EventWaits = BTreeMap<StreamKey, EventWait>;

/// The position of a submitted operation in the order.
#[derive(Clone)]
pub struct Submission {
    stream: StreamKey,
    /// The number of the operation in its stream, from 1.
    number: u64,
    /// The number of the operation among all.
    sequence: u64,
    clock: Arc<Clock>,
    name: StreamName,
    /// The stream's last waits for events.
    event_waits: Arc<EventWaits>,
    /// The place of a graph's node; `None` for the whole graph and other operations.
    node: Option<NodeOrder>,
}

/// The place of a node among those of a launched graph.
#[derive(Clone)]
struct NodeOrder {
    index: u64,
    /// The nodes that precede it.
    predecessors: Arc<BTreeSet<u64>>,
}

impl Submission {
    /// Returns true if both are operations of one stream.
    pub fn is_same_stream(&self, other: &Submission) -> bool {
        self.stream == other.stream
    }

    /// Returns true if both are one operation, or nodes of one graph.
    pub fn is_same_operation(&self, other: &Submission) -> bool {
        (self.stream, self.number) == (other.stream, other.number)
    }

    /// Returns true if a thread with this clock has waited for the operation.
    fn is_in(&self, clock: &Clock) -> bool {
        let known = clock.get(&self.stream);
        known.is_some_and(|&known| known >= self.number)
    }

    /// Returns true if one of the operations happens before the other.
    fn is_ordered(&self, other: &Submission) -> bool {
        if self.is_same_operation(other) {
            return match (&self.node, &other.node) {
                (Some(own), Some(others)) => {
                    own.predecessors.contains(&others.index)
                        || others.predecessors.contains(&own.index)
                }
                _ => true,
            };
        }
        other.is_in(&self.clock) || self.is_in(&other.clock)
    }
}

/// An executed operation and the memory that it has used.
struct Executed {
    submission: Submission,
    /// The line of the program that has submitted it.
    line: Option<CallSite>,
    /// The kind of operation, with the symbol of its kernel.
    action: StreamAction,
    accesses: Vec<AllocationAccesses>,
}

impl Executed {
    /// Returns the description of the operation, which uses the memory in this way.
    fn describe(&self, access: AccessedAs) -> StreamOperation {
        let verb = match (&self.action, access) {
            (StreamAction::Allocation, _) => StreamUse::Allocates,
            (StreamAction::AsyncFree | StreamAction::Free, _) => StreamUse::Frees,
            (_, AccessedAs::Read | AccessedAs::OrderedRead) => StreamUse::Reads,
            (_, AccessedAs::Write) => StreamUse::Writes,
            (_, AccessedAs::Update) => StreamUse::Updates,
        };
        let action = match &self.action {
            StreamAction::Kernel(symbol) => StreamAction::Kernel(names::short(symbol)),
            StreamAction::NodeKernel(symbol) => StreamAction::NodeKernel(names::short(symbol)),
            other => other.clone(),
        };
        let name = self.submission.name.clone();
        match &self.line {
            Some(line) => StreamOperation::At(action, name, verb, line.clone()),
            None => StreamOperation::Unlocated(action, name, verb),
        }
    }

    fn range_count(&self) -> usize {
        self.accesses
            .iter()
            .map(AllocationAccesses::range_count)
            .sum()
    }

    fn is_free(&self) -> bool {
        matches!(self.action, StreamAction::Free | StreamAction::AsyncFree)
    }

    /// Returns the finding if both use the same bytes and one of them writes. The operations must be unordered.
    fn conflict(&self, other: &Executed) -> Option<Finding> {
        let place = |executed: &Executed| {
            let node = executed.submission.node.as_ref();
            (
                executed.submission.sequence,
                node.map_or(0, |node| node.index),
            )
        };
        if place(other) > place(self) {
            return other.conflict(self);
        }
        let (later, earlier) = (self, other);
        // The uses between the allocation and the free are reported.
        if earlier.action == StreamAction::Allocation && later.is_free() {
            return None;
        }
        let pairs = later.accesses.iter().flat_map(|own| {
            let others = earlier.accesses.iter();
            others.filter_map(move |others| Some((own, own.first_conflict(others)?)))
        });
        let (own, ([later_access, earlier_access], bytes)) = pairs.into_iter().next()?;
        let (kind, cause) = later.diagnose(earlier);
        let details = Details::Streams(
            later.describe(later_access),
            earlier.describe(earlier_access),
            Bytes(bytes.end - bytes.start),
            bytes.start,
            own.allocation.clone(),
        );
        Some(Finding::of_streams(kind, details, cause))
    }

    /// Returns the kind and the cause of a conflict with an operation that was submitted before.
    fn diagnose(&self, earlier: &Executed) -> (FindingKind, Cause) {
        let name = |executed: &Executed| executed.submission.name.clone();
        let is_allocation = |executed: &Executed| executed.action == StreamAction::Allocation;
        for (one, other) in [(self, earlier), (earlier, self)] {
            if one.action == StreamAction::Free {
                return (FindingKind::FreedInUse, Cause::FreedWithoutWait);
            }
            if one.is_free() && one.submission.stream != other.submission.stream {
                let cause = Cause::FreedInOtherStream(name(one), name(other));
                return (FindingKind::FreedInUse, cause);
            }
            if is_allocation(one) {
                let cause = Cause::AllocatedInOtherStream(name(other), name(one));
                return (FindingKind::UsedBeforeAllocation, cause);
            }
        }
        if self.submission.stream == earlier.submission.stream {
            return (FindingKind::GraphRace, Cause::NodesWithoutEdge);
        }
        let stream = &earlier.submission.stream;
        let early = self.submission.event_waits.get(stream).filter(|wait| {
            wait.record < earlier.submission.number && wait.sequence >= earlier.submission.sequence
        });
        let cause = match (name(self), name(earlier)) {
            (later, earlier) if let Some(wait) = early => match wait.record_line.clone() {
                Some(line) => Cause::EventEarlyAt(later, earlier, line),
                None => Cause::EventEarly(later, earlier),
            },
            (StreamName::Default, stream @ StreamName::NonBlocking(_))
            | (stream @ StreamName::NonBlocking(_), StreamName::Default) => {
                Cause::NonBlockingStream(stream)
            }
            (later, earlier) => Cause::NoEventBetween(later, earlier),
        };
        (FindingKind::StreamRace, cause)
    }

    /// Returns the finding if an access of the host conflicts with the operation.
    fn host_conflict(&self, access: &HostAccess) -> Option<Finding> {
        let submission = &self.submission;
        let view = &access.view;
        if submission.sequence > view.sequence || submission.is_in(&view.clock) {
            return None;
        }
        let PageAccess {
            addresses,
            is_write,
            frames,
        } = &access.access;
        let accesses = self.accesses.iter();
        let mut accesses = accesses.filter(|accesses| !accesses.synchronizes_with_host);
        let (allocation, (own, byte)) = accesses.find_map(|accesses| {
            let conflict = accesses.host_conflict(addresses.clone(), *is_write)?;
            Some((&accesses.allocation, conflict))
        })?;
        let action = match is_write {
            true => HostAction::Writes,
            false => HostAction::Reads,
        };
        let details = Details::Host(
            action,
            HostMemory::Allocated(byte, allocation.clone()),
            PendingWork::Operation(self.describe(own)),
        );
        // Kernel and host may communicate with atomics.
        let severity = match own {
            AccessedAs::Read | AccessedAs::Write => Severity::Error,
            AccessedAs::OrderedRead | AccessedAs::Update => Severity::Warning,
        };
        let finding = Finding::of_program(FindingKind::HostAccessed, severity, details);
        let cause = view.cause_of(submission);
        Some(
            Finding {
                likely_cause: Some(cause),
                ..finding
            }
            .at(call_site::line_of_frames(frames)),
        )
    }
}

/// The waits of the host at one time.
struct HostView {
    clock: Clock,
    /// The number of operations that it has submitted.
    sequence: u64,
    event_waits: EventWaits,
    last_wait: Option<StreamWait>,
}

/// A wait of the host for a stream.
#[derive(Clone)]
struct StreamWait {
    stream: StreamKey,
    name: StreamName,
    /// The number of operations submitted before the wait.
    sequence: u64,
}

impl HostView {
    /// Returns the reason why the host has not waited for an operation.
    fn cause_of(&self, operation: &Submission) -> Cause {
        let name = operation.name.clone();
        if let Some(wait) = self.event_waits.get(&operation.stream)
            && wait.record < operation.number
            && wait.sequence >= operation.sequence
        {
            return match wait.record_line.clone() {
                Some(line) => Cause::HostEventEarlyAt(name, line),
                None => Cause::HostEventEarly(name),
            };
        }
        match &self.last_wait {
            Some(wait)
                if wait.stream != operation.stream && wait.sequence >= operation.sequence =>
            {
                Cause::OtherStreamAwaited(name, wait.name.clone())
            }
            _ => Cause::StreamNotAwaited,
        }
    }
}

/// An access of the host to memory that operations use.
struct HostAccess {
    access: PageAccess,
    view: Arc<HostView>,
}

/// A stream.
struct Stream {
    /// The operations up to its last one, and what they follow.
    clock: Arc<Clock>,
    blocking: bool,
    /// The number of its operations.
    count: u64,
    name: StreamName,
    event_waits: Arc<EventWaits>,
}

/// The last record of an event.
#[derive(Clone)]
struct Record {
    clock: Arc<Clock>,
    stream: StreamKey,
    number: u64,
    line: Option<CallSite>,
}

/// The order of all operations.
#[derive(Default)]
struct State {
    /// True if the check of streams is on, and true if that of host accesses is.
    checks_streams: bool,
    checks_host: bool,
    /// The operations that the host has waited for.
    host: Clock,
    /// The host's last waits for events and streams.
    event_waits: EventWaits,
    last_wait: Option<StreamWait>,
    /// Accesses of the host that operations which are pending may conflict with.
    host_accesses: VecDeque<HostAccess>,
    streams: BTreeMap<StreamKey, Stream>,
    /// The position of each stream among all created ones.
    created: BTreeMap<StreamId, u64>,
    /// The last record of each event.
    events: BTreeMap<EventId, Record>,
    /// The operations up to the last launch of each graph, which precedes the next one.
    graphs: BTreeMap<GraphId, Arc<Clock>>,
    /// Operations that have not been executed, by their numbers among all.
    pending: BTreeSet<u64>,
    /// Executed operations that later ones may conflict with, in the order of execution.
    history: VecDeque<Executed>,
    /// Frees in streams.
    frees: VecDeque<(AllocationRecord, CallSite)>,
    findings: Vec<Finding>,
    sequence: u64,
    nodes: u64,
}

/// The check of streams.
pub struct StreamOrder {
    state: Mutex<Option<State>>,
    /// True if the check is enabled.
    enabled: AtomicBool,
}

impl StreamOrder {
    pub const fn new() -> Self {
        Self {
            state: Mutex::new(None),
            enabled: AtomicBool::new(false),
        }
    }

    /// Enables or disables the checks of streams and of host accesses. No operation may be pending.
    pub fn set_checks(&self, checks: Checks) {
        let on = checks.tracks_accesses();
        let mut state = lock(&self.state);
        if on != state.is_some() {
            *state = on.then(State::default);
        }
        if let Some(state) = &mut *state {
            (state.checks_streams, state.checks_host) = (checks.stream, checks.host);
        }
        self.enabled.store(on, Ordering::Relaxed);
    }

    /// Returns true if one of the checks is enabled.
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// Calls `f` with the state if the check is enabled.
    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> Option<T> {
        if !self.is_enabled() {
            return None;
        }
        let mut state: MutexGuard<'_, Option<State>> = lock(&self.state);
        state.as_mut().map(f)
    }

    /// Numbers a stream that the program has created.
    pub fn add_stream(&self, stream: StreamId) {
        self.with(|state| state.number_of(stream));
    }

    /// Submits an operation that executes at once.
    pub fn submit(&self, call: Call) -> Option<Submission> {
        self.with(|state| state.submit(call))
    }

    /// Submits an operation that executes later.
    pub fn enqueue(&self, call: Call) -> Option<Submission> {
        self.with(|state| {
            let submission = state.submit(call);
            state.pending.insert(submission.sequence);
            submission
        })
    }

    /// Ends an operation that was enqueued.
    pub fn complete(&self, submission: &Submission) {
        self.with(|state| {
            state.pending.remove(&submission.sequence);
            let first = state.pending.first().copied().unwrap_or(u64::MAX);
            state
                .host_accesses
                .retain(|access| access.view.sequence >= first);
            state.prune();
        });
    }

    /// Returns true if the host has waited for an operation.
    pub fn has_waited_for(&self, submission: &Submission) -> bool {
        self.with(|state| submission.is_in(&state.host))
            .unwrap_or(true)
    }

    /// Adds accesses of the host since the last change of the order. Returns their conflicts with operations that have
    /// executed.
    pub fn host_accessed(&self, accesses: Vec<PageAccess>) -> Vec<Finding> {
        self.with(|state| {
            if !state.checks_host {
                return Vec::new();
            }
            let view = Arc::new(HostView {
                clock: state.host.clone(),
                sequence: state.sequence,
                event_waits: state.event_waits.clone(),
                last_wait: state.last_wait.clone(),
            });
            let mut findings = Vec::new();
            let mut found = BTreeSet::new();
            for access in accesses {
                let instruction = (access.frames, access.is_write);
                let access = HostAccess {
                    access,
                    view: view.clone(),
                };
                if !found.contains(&instruction)
                    && let Some(finding) = state.find_host_conflict(&access)
                {
                    found.insert(instruction);
                    findings.push(finding);
                }
                if !state.pending.is_empty() && state.host_accesses.len() < MAX_HOST_ACCESSES {
                    state.host_accesses.push_back(access);
                }
            }
            state.retain_new(&mut findings);
            findings
        })
        .unwrap_or_default()
    }

    /// Records that the host has waited for `target`.
    pub fn host_waited(&self, target: WaitTarget) {
        self.with(|state| {
            let sequence = state.sequence;
            let clocks = match target {
                WaitTarget::Event(event) => {
                    let record = state.events.get(&event).cloned();
                    if let Some(record) = &record {
                        state
                            .event_waits
                            .insert(record.stream, record.wait(sequence));
                    }
                    record.map(|record| record.clock).into_iter().collect()
                }
                WaitTarget::All => state.clocks_where(|_, _| true),
                WaitTarget::Stream(context, StreamId::LEGACY) => {
                    state.clocks_where(|(owner, _), stream| owner == context && stream.blocking)
                }
                WaitTarget::Stream(context, stream) => {
                    state.clocks_where(|key, _| key == (context, stream))
                }
            };
            if let WaitTarget::Stream(context, stream) = target
                && let Some(known) = state.streams.get(&(context, stream))
            {
                state.last_wait = Some(StreamWait {
                    stream: (context, stream),
                    name: known.name.clone(),
                    sequence,
                });
            }
            clocks.iter().for_each(|clock| join(&mut state.host, clock));
            state.prune();
        });
    }

    /// Records that the host has waited for all operations of a context.
    pub fn host_waited_for_context(&self, context: ContextId) {
        self.with(|state| {
            let clocks = state.clocks_where(|(owner, _), _| owner == context);
            clocks.iter().for_each(|clock| join(&mut state.host, clock));
            state.prune();
        });
    }

    /// Records that the host has waited for an operation.
    pub fn host_waited_for(&self, submission: &Submission) {
        self.with(|state| {
            join(&mut state.host, &submission.clock);
            state.prune();
        });
    }

    /// Returns a node of a launched graph that follows `predecessors`, and the nodes that precede its successors once it
    /// has executed.
    pub fn node(&self, graph: &Submission, predecessors: BTreeSet<u64>) -> Submission {
        let index = self.with(|state| {
            state.nodes += 1;
            state.nodes
        });
        let mut predecessors = predecessors;
        if let Some(parent) = &graph.node {
            predecessors.extend(parent.predecessors.iter().copied());
        }
        Submission {
            node: Some(NodeOrder {
                index: index.unwrap_or_default(),
                predecessors: Arc::new(predecessors),
            }),
            ..graph.clone()
        }
    }

    /// Returns the nodes that precede the successors of a node that has executed: its predecessors, the node, and the
    /// nodes of a child graph, which have the numbers after it.
    pub fn nodes_up_to(&self, node: &Submission) -> BTreeSet<u64> {
        let last = self.with(|state| state.nodes).unwrap_or_default();
        let Some(node) = &node.node else {
            return BTreeSet::new();
        };
        let mut nodes = (*node.predecessors).clone();
        nodes.extend(node.index..=last);
        nodes
    }

    /// Records that an operation has executed, and the memory that it has used. Returns the conflicts with operations that
    /// are not ordered.
    pub fn executed(
        &self,
        submission: &Submission,
        line: Option<CallSite>,
        action: StreamAction,
        accesses: Vec<AllocationAccesses>,
    ) -> Vec<Finding> {
        if accesses.is_empty() {
            return Vec::new();
        }
        let executed = Executed {
            submission: submission.clone(),
            line,
            action,
            accesses,
        };
        self.with(|state| state.add_executed(executed))
            .unwrap_or_default()
    }

    /// Records a call of `cudaFree` for memory that was allocated in a stream: it waits for no operation.
    pub fn freed_by_host(
        &self,
        allocation: AllocationRecord,
        line: Option<CallSite>,
    ) -> Vec<Finding> {
        let submission = self.with(|state| {
            state.sequence += 1;
            Submission {
                stream: (ContextId(0), StreamId(u64::MAX)),
                number: 0,
                sequence: state.sequence,
                clock: Arc::new(state.host.clone()),
                name: StreamName::Host,
                event_waits: Arc::default(),
                node: None,
            }
        });
        let accesses = vec![whole(allocation)];
        submission.map_or_else(Vec::new, |submission| {
            self.executed(&submission, line, StreamAction::Free, accesses)
        })
    }

    /// Explains an access to memory that was freed in a stream.
    pub fn cause_of(&self, fault: &Fault) -> Option<Cause> {
        let allocation = fault.freed_allocation()?;
        self.with(|state| {
            let mut frees = state.frees.iter();
            let (_, line) = frees.find(|(freed, _)| freed == allocation)?;
            Some(Cause::FreedInStream(line.clone()))
        })?
    }
}

impl Record {
    /// Returns a wait for the event after `sequence` operations.
    fn wait(&self, sequence: u64) -> EventWait {
        EventWait {
            record: self.number,
            record_line: self.line.clone(),
            sequence,
        }
    }
}

impl State {
    /// Returns the position of a stream among all created ones.
    fn number_of(&mut self, stream: StreamId) -> u64 {
        let next = self.created.len() as u64 + 1;
        *self.created.entry(stream).or_insert(next)
    }

    fn clocks_where(&self, matches: impl Fn(StreamKey, &Stream) -> bool) -> Vec<Arc<Clock>> {
        let streams = self.streams.iter();
        let matching = streams.filter(|(key, stream)| matches(**key, stream));
        matching.map(|(_, stream)| stream.clock.clone()).collect()
    }

    fn submit(&mut self, call: Call) -> Submission {
        let Call {
            context,
            stream,
            blocking,
            ..
        } = call;
        let key = (context, stream);
        let mut predecessors = self.clocks_where(|other, state| {
            other == key
                || other.0 == context
                    && match (stream, blocking) {
                        (StreamId::LEGACY, _) => state.blocking,
                        (_, true) => other.1 == StreamId::LEGACY,
                        (_, false) => false,
                    }
        });
        let known = self.streams.get(&key);
        let mut event_waits = known.map_or_else(Arc::default, |known| known.event_waits.clone());
        for record in call
            .awaited_events
            .iter()
            .filter_map(|event| self.events.get(event))
        {
            predecessors.push(record.clock.clone());
            let wait = record.wait(self.sequence);
            Arc::make_mut(&mut event_waits).insert(record.stream, wait);
        }
        predecessors.extend(
            call.graph
                .and_then(|graph| self.graphs.get(&graph).cloned()),
        );
        let mut clock = self.host.clone();
        for predecessor in &predecessors {
            join(&mut clock, predecessor);
        }
        let number = self.streams.get(&key).map_or(0, |stream| stream.count) + 1;
        clock.insert(key, number);
        let clock = Arc::new(clock);
        for event in call.recorded_events {
            let record = Record {
                clock: clock.clone(),
                stream: key,
                number,
                line: call.line.clone(),
            };
            self.events.insert(event, record);
        }
        if let Some(graph) = call.graph {
            self.graphs.insert(graph, clock.clone());
        }
        let name = call.name.unwrap_or_else(|| match blocking {
            true => StreamName::Created(self.number_of(stream)),
            false => StreamName::NonBlocking(self.number_of(stream)),
        });
        self.streams.insert(
            key,
            Stream {
                clock: clock.clone(),
                blocking,
                count: number,
                name: name.clone(),
                event_waits: event_waits.clone(),
            },
        );
        self.sequence += 1;
        Submission {
            stream: key,
            number,
            sequence: self.sequence,
            clock,
            name,
            event_waits,
            node: None,
        }
    }

    /// Adds an executed operation. Returns its conflicts: at most one per stream, with the last operation there.
    fn add_executed(&mut self, executed: Executed) -> Vec<Finding> {
        let mut streams = BTreeSet::new();
        let mut findings = Vec::new();
        let mut instructions = BTreeSet::new();
        for access in &self.host_accesses {
            let instruction = (access.access.frames, access.access.is_write);
            if !instructions.contains(&instruction)
                && let Some(finding) = executed.host_conflict(access)
            {
                instructions.insert(instruction);
                findings.push(finding);
            }
        }
        let history = self.history.iter().rev();
        for other in history.filter(|_| self.checks_streams) {
            if streams.contains(&other.submission.stream)
                || executed.submission.is_ordered(&other.submission)
            {
                continue;
            }
            if let Some(finding) = executed.conflict(other) {
                streams.insert(other.submission.stream);
                findings.push(finding);
            }
        }
        self.retain_new(&mut findings);
        self.remember(executed);
        findings
    }

    /// Returns the first conflict of an access of the host with an operation that has executed.
    fn find_host_conflict(&self, access: &HostAccess) -> Option<Finding> {
        let mut history = self.history.iter().rev();
        history.find_map(|executed| executed.host_conflict(access))
    }

    /// Removes findings that are known already.
    fn retain_new(&mut self, findings: &mut Vec<Finding>) {
        findings.retain(|finding| {
            let mut known = self.findings.iter();
            let is_new = !known.any(|known| known.is_same_bug(finding));
            if is_new && self.findings.len() < MAX_FINDINGS {
                self.findings.push(finding.clone());
            }
            is_new
        });
    }

    fn remember(&mut self, executed: Executed) {
        match executed.action {
            // No later operation can use the memory.
            StreamAction::Free => return,
            StreamAction::AsyncFree => {
                let line = executed.line.clone();
                let freed = executed.accesses.into_iter().next();
                if let (Some(freed), Some(line)) = (freed, line) {
                    self.frees.push_back((freed.allocation, line));
                }
                if self.frees.len() > MAX_FREES {
                    self.frees.pop_front();
                }
                return;
            }
            _ => {}
        }
        // An equal operation of a loop represents the earlier ones: what is unordered with them later on is unordered
        // with it too.
        if executed.submission.node.is_none() {
            let repeated = |other: &Executed| {
                let (own, others) = (&executed.submission, &other.submission);
                others.node.is_none()
                    && (own.stream, &executed.line) == (others.stream, &other.line)
                    && (&executed.action, &executed.accesses) == (&other.action, &other.accesses)
            };
            let index = self.history.iter().rposition(repeated);
            index.and_then(|index| self.history.remove(index));
        }
        self.history.push_back(executed);
        let ranges = self
            .history
            .iter()
            .map(Executed::range_count)
            .sum::<usize>();
        if self.history.len() > MAX_HISTORY || ranges > MAX_RANGES {
            self.history.pop_front();
        }
    }

    /// Forgets executed operations that precede all later ones.
    fn prune(&mut self) {
        if !self.pending.is_empty() {
            return;
        }
        let host = &self.host;
        self.history
            .retain(|executed| !executed.submission.is_in(host));
    }
}

/// Returns the accesses of an operation that changes a whole allocation.
fn whole(allocation: AllocationRecord) -> AllocationAccesses {
    let bytes = 0..allocation.bytes;
    AllocationAccesses::new(allocation, AccessedAs::Write, vec![bytes])
}

/// Returns the accesses of the allocation in a stream.
pub fn accesses_of_allocation(driver: &Driver, address: u64) -> Vec<AllocationAccesses> {
    let allocation = driver.allocation_record(address);
    allocation.map(whole).into_iter().collect()
}

/// Returns the memory that an operation other than a kernel will use. Nodes of graphs are operations of their own.
pub fn accesses_of(driver: &Driver, op: &StreamOp) -> Vec<AllocationAccesses> {
    let sides = match op {
        StreamOp::Memcpy(copy) => {
            let Some([written, read]) = driver.copied_rows(copy) else {
                return Vec::new();
            };
            vec![(written, AccessedAs::Write), (read, AccessedAs::Read)]
        }
        StreamOp::Memset(memset) => vec![(memset.rows(), AccessedAs::Write)],
        StreamOp::Free(address) => return accesses_of_allocation(driver, *address),
        _ => return Vec::new(),
    };
    let accesses = sides.into_iter().filter_map(|(rows, kind)| {
        let allocation = driver.allocation_record(rows.first()?.start)?;
        let base = allocation.base;
        let rows = rows
            .into_iter()
            .map(|row| row.start - base..row.end - base)
            .collect();
        Some(AllocationAccesses::new(allocation, kind, rows))
    });
    accesses.collect()
}

/// Returns the description of an operation, with the symbol of its kernel. `in_graph` is true for a graph's node.
pub fn action_of(driver: &Driver, op: &StreamOp, in_graph: bool) -> Option<StreamAction> {
    Some(match op {
        StreamOp::Kernel(kernel) => {
            let name = driver.function_name(kernel.launch.function());
            let name = name.unwrap_or_default().to_owned();
            match in_graph {
                true => StreamAction::NodeKernel(name),
                false => StreamAction::Kernel(name),
            }
        }
        StreamOp::Memcpy(copy) => {
            let bytes = Bytes(copy.width * copy.height * copy.depth);
            match in_graph {
                true => StreamAction::NodeCopy(bytes),
                false => StreamAction::Copy(bytes),
            }
        }
        StreamOp::Memset(memset) => {
            let bytes = memset.rows().iter().map(|row| row.end - row.start).sum();
            match in_graph {
                true => StreamAction::NodeFill(Bytes(bytes)),
                false => StreamAction::Fill(Bytes(bytes)),
            }
        }
        StreamOp::Library(call) => {
            let function = call.function.to_owned();
            match in_graph {
                true => StreamAction::NodeLibrary(function),
                false => StreamAction::Library(function),
            }
        }
        StreamOp::Free(_) => StreamAction::AsyncFree,
        _ => return None,
    })
}
