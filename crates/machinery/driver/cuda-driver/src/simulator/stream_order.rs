//! The check of streams: which operations are ordered by streams, events and waits of the host (happens-before), and
//! conflicts between operations that are not.
//!
//! Each operation gets a vector clock when it is submitted: for each stream, the number of the last operation that must
//! complete first. The bytes that it uses are known when it has executed, and are compared with those of the unordered
//! operations that have executed already. So the result does not depend on the order of execution.
//!
//! The host counts as one thread: an operation that any thread has waited for precedes all later submissions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use cuda_sim::check::{
    AccessedAs, AllocationAccesses, Bytes, Cause, Details, Finding, FindingKind, StreamAction,
    StreamName, StreamOperation, StreamUse,
};
use cuda_sim::driver::{ContextId, Driver, EventId, StreamId};
use cuda_sim::exec::Fault;
use cuda_sim::memory::global::{AllocationRecord, CallSite};

use super::lock;
use super::operation::{GraphId, StreamOp};
use super::queue::WaitTarget;
use crate::names;

/// The maximum number of executed operations that are remembered. Conflicts with earlier ones go unreported.
const MAX_HISTORY: usize = 2048;

/// The maximum number of byte ranges of all remembered operations together.
const MAX_RANGES: usize = 1 << 20;

/// The maximum number of different findings.
const MAX_FINDINGS: usize = 100;

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
    /// The line of the program that makes the call.
    pub line: Option<CallSite>,
}

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
    line: Option<CallSite>,
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
    /// Returns true if one of the operations happens before the other.
    fn is_ordered(&self, other: &Submission) -> bool {
        if (self.stream, self.number) == (other.stream, other.number) {
            return match (&self.node, &other.node) {
                (Some(own), Some(others)) => {
                    own.predecessors.contains(&others.index)
                        || others.predecessors.contains(&own.index)
                }
                _ => true,
            };
        }
        let follows = |later: &Submission, earlier: &Submission| {
            let known = later.clock.get(&earlier.stream);
            known.is_some_and(|&known| known >= earlier.number)
        };
        follows(self, other) || follows(other, self)
    }
}

/// An executed operation and the memory that it has used.
struct Executed {
    submission: Submission,
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
        match &self.submission.line {
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
        let cause = match (name(self), name(earlier)) {
            (StreamName::Default, stream @ StreamName::NonBlocking(_))
            | (stream @ StreamName::NonBlocking(_), StreamName::Default) => {
                Cause::NonBlockingStream(stream)
            }
            (later, earlier) => Cause::NoEventBetween(later, earlier),
        };
        (FindingKind::StreamRace, cause)
    }
}

/// A stream.
struct Stream {
    /// The operations up to its last one, and what they follow.
    clock: Arc<Clock>,
    blocking: bool,
    /// The number of its operations.
    count: u64,
}

/// The order of all operations.
#[derive(Default)]
struct State {
    /// The operations that the host has waited for.
    host: Clock,
    streams: BTreeMap<StreamKey, Stream>,
    /// The position of each stream among all created ones.
    created: BTreeMap<StreamId, u64>,
    /// The operations up to the last record of each event.
    events: BTreeMap<EventId, Arc<Clock>>,
    /// The operations up to the last launch of each graph, which precedes the next one.
    graphs: BTreeMap<GraphId, Arc<Clock>>,
    /// Operations that have not been executed, by their numbers in the queue.
    pending: BTreeMap<u64, Submission>,
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

    /// Enables or disables the check. No operation may be pending.
    pub fn set_enabled(&self, on: bool) {
        let mut state = lock(&self.state);
        if on != state.is_some() {
            *state = on.then(State::default);
        }
        self.enabled.store(on, Ordering::Relaxed);
    }

    /// Returns true if the check is enabled.
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

    /// Submits an operation that has this number in the queue.
    pub fn enqueue(&self, number: u64, call: Call) {
        self.with(|state| {
            let submission = state.submit(call);
            state.pending.insert(number, submission);
        });
    }

    /// Returns the operation with this number in the queue, which is about to execute.
    pub fn start(&self, number: u64) -> Option<Submission> {
        self.with(|state| state.pending.get(&number).cloned())?
    }

    /// Ends an operation that was enqueued. `is_host_function`: the program may learn from its function that the earlier
    /// operations are complete.
    pub fn complete(&self, number: u64, is_host_function: bool) {
        self.with(|state| {
            if let Some(submission) = state.pending.remove(&number)
                && is_host_function
            {
                join(&mut state.host, &submission.clock);
                state.prune();
            }
        });
    }

    /// Records that the host has waited for `target`.
    pub fn host_waited(&self, target: WaitTarget) {
        self.with(|state| {
            let clocks = match target {
                WaitTarget::Event(event) => state.events.get(&event).cloned().into_iter().collect(),
                WaitTarget::All => state.clocks_where(|_, _| true),
                WaitTarget::Stream(context, StreamId::LEGACY) => {
                    state.clocks_where(|(owner, _), stream| owner == context && stream.blocking)
                }
                WaitTarget::Stream(context, stream) => {
                    state.clocks_where(|key, _| key == (context, stream))
                }
            };
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
        action: StreamAction,
        accesses: Vec<AllocationAccesses>,
    ) -> Vec<Finding> {
        if accesses.is_empty() {
            return Vec::new();
        }
        let executed = Executed {
            submission: submission.clone(),
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
                line,
                node: None,
            }
        });
        let accesses = vec![whole(allocation)];
        submission.map_or_else(Vec::new, |submission| {
            self.executed(&submission, StreamAction::Free, accesses)
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
        let events = call.awaited_events.iter();
        predecessors.extend(events.filter_map(|event| self.events.get(event).cloned()));
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
            self.events.insert(event, clock.clone());
        }
        if let Some(graph) = call.graph {
            self.graphs.insert(graph, clock.clone());
        }
        self.streams.insert(
            key,
            Stream {
                clock: clock.clone(),
                blocking,
                count: number,
            },
        );
        let name = call.name.unwrap_or_else(|| match blocking {
            true => StreamName::Created(self.number_of(stream)),
            false => StreamName::NonBlocking(self.number_of(stream)),
        });
        self.sequence += 1;
        Submission {
            stream: key,
            number,
            sequence: self.sequence,
            clock,
            name,
            line: call.line,
            node: None,
        }
    }

    /// Adds an executed operation. Returns its conflicts: at most one per stream, with the last operation there.
    fn add_executed(&mut self, executed: Executed) -> Vec<Finding> {
        let mut streams = BTreeSet::new();
        let mut findings = Vec::new();
        for other in self.history.iter().rev() {
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
        findings.retain(|finding| {
            let mut known = self.findings.iter();
            let is_new = !known.any(|known| known.is_same_bug(finding));
            if is_new && self.findings.len() < MAX_FINDINGS {
                self.findings.push(finding.clone());
            }
            is_new
        });
        self.remember(executed);
        findings
    }

    fn remember(&mut self, executed: Executed) {
        match executed.action {
            // No later operation can use the memory.
            StreamAction::Free => return,
            StreamAction::AsyncFree => {
                let line = executed.submission.line.clone();
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
                    && (own.stream, &own.line) == (others.stream, &others.line)
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
        let is_known = |submission: &Submission| {
            let known = host.get(&submission.stream);
            known.is_some_and(|&known| known >= submission.number)
        };
        self.history
            .retain(|executed| !is_known(&executed.submission));
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
        StreamOp::Free(_) => StreamAction::AsyncFree,
        _ => return None,
    })
}
