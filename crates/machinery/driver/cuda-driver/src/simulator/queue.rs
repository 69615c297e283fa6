//! The queue of pending stream operations: which of them can start, and which depend on others.
//!
//! Operations start in submission order across all streams, unless launches are shuffled: then a seed
//! chooses among all orders that streams and events allow, and a wait for a stream executes only what that
//! stream depends on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use cuda_sim::driver::{ContextId, EventId, StreamId};
use cuda_sim::memory::global::CallSite;

use super::lock;
use super::operation::{Random, StreamOp, WaitTarget};
use super::sharing::Recording;
use super::stream_order::Submission;

/// Capacity of the queue; a thread that submits to a full queue executes operations first.
const CAPACITY: usize = 4096;

/// One pending or running operation.
struct Item {
    context: ContextId,
    stream: StreamId,
    op: Arc<StreamOp>,
    /// The numbers of the operations that must complete first. Completed ones are no longer in the queue.
    dependencies: Vec<u64>,
    submitted: Submitted,
    running: bool,
}

/// The call that has submitted an operation, for checks.
#[derive(Clone, Default)]
pub struct Submitted {
    /// The line of the program, if it is known.
    pub line: Option<CallSite>,
    /// The place in the order of streams, if it is checked.
    pub submission: Option<Submission>,
    /// The recordings of events of other processes that the operation waits for.
    pub awaited: Vec<Recording>,
    /// The recordings of events that other processes may wait for.
    pub recorded: Vec<Recording>,
}

impl Item {
    /// Returns true if no other operation may start while this one runs.
    fn blocks_others(&self) -> bool {
        !self.op.may_wait_for_program() && self.submitted.awaited.is_empty()
    }
}

/// The pending operations, by submission number.
pub struct Queue {
    last: u64,
    /// Boxed, because every operation is moved within the map.
    items: BTreeMap<u64, Box<Item>>,
    /// The last operation of each stream with pending work, and true if the stream synchronizes with the
    /// legacy default stream.
    tails: BTreeMap<(ContextId, StreamId), (u64, bool)>,
    /// The last operation of each context that all its later operations follow.
    barriers: BTreeMap<ContextId, u64>,
    /// The last operation that records each event.
    records: BTreeMap<EventId, u64>,
    /// Number of choices made from the seed since it was set.
    draws: u64,
    /// Number of running operations that block others: all except host functions and waits for values or other processes,
    /// which may wait for the result of another thread's operation. Running one at a time makes the order independent of which
    /// threads execute.
    blocking_running: usize,
    /// Number of waiting threads. Lets us skip `notify_all`, a system call, when it is zero.
    waiters: usize,
}

/// A stream or an event that the program has destroyed, perhaps while operations that use it are pending.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Destroyed {
    Stream(ContextId, StreamId),
    Event(EventId),
}

/// The queue of all streams.
pub struct StreamQueue {
    queue: Mutex<Queue>,
    /// Notified of every operation that is added or completed.
    changed: Condvar,
    /// Number of operations in the queue, readable without its lock.
    pending: AtomicUsize,
    /// Number of driver calls so far.
    calls: AtomicU64,
    /// True while the background thread executes operations.
    in_background: AtomicBool,
}

impl StreamQueue {
    pub const fn new() -> Self {
        Self {
            queue: Mutex::new(Queue {
                last: 0,
                items: BTreeMap::new(),
                tails: BTreeMap::new(),
                barriers: BTreeMap::new(),
                records: BTreeMap::new(),
                draws: 0,
                blocking_running: 0,
                waiters: 0,
            }),
            changed: Condvar::new(),
            pending: AtomicUsize::new(0),
            calls: AtomicU64::new(0),
            in_background: AtomicBool::new(false),
        }
    }

    /// Counts a driver call, so that the background thread knows that the program is active.
    pub fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of driver calls so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Returns true if the background thread is executing operations.
    pub fn in_background(&self) -> bool {
        self.in_background.load(Ordering::Acquire)
    }

    /// Records that the background thread starts or ends the execution of operations.
    pub fn set_in_background(&self, in_background: bool) {
        self.in_background.store(in_background, Ordering::Release);
    }

    /// Adds an operation. `blocking` is true if the stream synchronizes with the legacy default stream. Calls `submit`
    /// before another thread can add an operation or start this one.
    pub fn add(
        &self,
        context: ContextId,
        stream: StreamId,
        blocking: bool,
        op: StreamOp,
        submit: impl FnOnce() -> Submitted,
    ) {
        let mut queue = lock(&self.queue);
        let number = queue.add(context, stream, blocking, op);
        if let Some(item) = queue.items.get_mut(&number) {
            item.submitted = submit();
        }
        self.pending.store(queue.items.len(), Ordering::Release);
        if queue.items.len() == 1 {
            self.notify_waiters(&queue);
        }
    }

    /// Wakes all waiting threads.
    fn notify_waiters(&self, queue: &Queue) {
        if queue.waiters > 0 {
            self.changed.notify_all();
        }
    }

    /// Waits until an operation is added or completed.
    fn wait_for_change<'a>(&self, mut queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        queue.waiters += 1;
        let mut queue = self
            .changed
            .wait(queue)
            .unwrap_or_else(PoisonError::into_inner);
        queue.waiters -= 1;
        queue
    }

    /// Waits until there are operations.
    pub fn wait_for_work(&self) {
        let mut queue = lock(&self.queue);
        while queue.items.is_empty() {
            queue = self.wait_for_change(queue);
        }
    }

    /// Starts an operation up to `last`, and waits for other threads if none can start. Returns `None` as soon as
    /// `is_enough` returns true.
    pub fn start_until(
        &self,
        last: u64,
        seed: impl Fn() -> Option<u64>,
        is_enough: impl Fn(&Queue) -> bool,
    ) -> Option<RunningOp> {
        let mut queue = lock(&self.queue);
        while !is_enough(&queue) {
            if let Some(running_op) = queue.start(last, seed()) {
                return Some(running_op);
            }
            queue = self.wait_for_change(queue);
        }
        None
    }

    /// Starts an operation up to `last`; returns `None` if none can start now.
    pub fn start(&self, last: u64, seed: Option<u64>) -> Option<RunningOp> {
        lock(&self.queue).start(last, seed)
    }

    /// Removes a completed operation.
    pub fn complete(&self, number: u64) {
        let mut queue = lock(&self.queue);
        queue.remove(number);
        self.pending.store(queue.items.len(), Ordering::Release);
        self.notify_waiters(&queue);
    }

    /// Returns true if there are operations.
    pub fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire) > 0
    }

    /// Returns true if a thread must execute operations before it adds one.
    pub fn is_full(&self) -> bool {
        self.pending.load(Ordering::Acquire) >= CAPACITY
    }

    /// Returns the number of the last operation.
    pub fn last(&self) -> u64 {
        lock(&self.queue).last
    }

    /// Returns true if an operation of `target` is among those up to `last`.
    pub fn contains(&self, target: WaitTarget, last: u64) -> bool {
        self.has_pending() && lock(&self.queue).contains(target, last)
    }

    /// Returns true if a pending operation uses a stream or an event.
    pub fn uses(&self, object: Destroyed) -> bool {
        let uses = |item: &Item| match object {
            Destroyed::Stream(context, stream) => (item.context, item.stream) == (context, stream),
            Destroyed::Event(event) => {
                item.op.recorded_events().contains(&event)
                    || item.op.awaited_events().contains(&event)
            }
        };
        self.has_pending() && lock(&self.queue).items.values().any(|item| uses(item))
    }

    /// Returns true if a pending operation frees the memory at an address.
    pub fn has_pending_free(&self, address: u64) -> bool {
        self.has_pending()
            && lock(&self.queue)
                .items
                .values()
                .any(|item| matches!(*item.op, StreamOp::Free(freed) if freed == address))
    }

    /// Restarts the sequence of choices made from the seed.
    pub fn restart_shuffle(&self) {
        lock(&self.queue).draws = 0;
    }
}

impl Queue {
    /// Returns true if there is room for another operation.
    pub fn has_room(&self) -> bool {
        self.items.len() < CAPACITY
    }

    /// Adds an operation. Returns its number.
    fn add(&mut self, context: ContextId, stream: StreamId, blocking: bool, op: StreamOp) -> u64 {
        self.last += 1;
        let number = self.last;
        let dependencies = self.predecessors(context, stream, blocking, &op);
        for event in op.recorded_events() {
            self.records.insert(event, number);
        }
        if matches!(op, StreamOp::WaitInContext(_)) {
            self.barriers.insert(context, number);
        }
        self.tails.insert((context, stream), (number, blocking));
        let item = Item {
            context,
            stream,
            op: Arc::new(op),
            dependencies,
            submitted: Submitted::default(),
            running: false,
        };
        self.items.insert(number, Box::new(item));
        number
    }

    /// Returns the operations that a new one must follow: the last of its stream, the last of each stream that
    /// synchronizes with it, the last wait of its context, those that record the events it waits for, and the last launch of the same graph.
    fn predecessors(
        &self,
        context: ContextId,
        stream: StreamId,
        blocking: bool,
        op: &StreamOp,
    ) -> Vec<u64> {
        let tail_of_stream = self.tails.get(&(context, stream)).map(|(tail, _)| *tail);
        let legacy = match (stream, blocking) {
            (StreamId::LEGACY, _) => {
                let streams = self.tails.iter();
                let streams =
                    streams.filter(|((owner, _), (_, blocking))| *owner == context && *blocking);
                streams.map(|(_, (tail, _))| *tail).collect()
            }
            (_, true) => {
                let tail = self.tails.get(&(context, StreamId::LEGACY));
                tail.map(|(tail, _)| *tail).into_iter().collect()
            }
            (_, false) => Vec::new(),
        };
        let concerns_context = op.concerns_context();
        let of_context = self.tails.iter();
        let of_context = of_context.filter(|((owner, _), _)| concerns_context && *owner == context);
        let barrier = self.barriers.get(&context).copied();
        let events = op.awaited_events();
        let events = events.iter().filter_map(|event| self.records.get(event));
        let last_launch = op.graph().and_then(|graph| {
            let mut items = self.items.iter().rev();
            let launch = items.find(|(_, item)| item.op.graph() == Some(graph));
            launch.map(|(number, _)| *number)
        });
        tail_of_stream
            .into_iter()
            .chain(legacy)
            .chain(of_context.map(|(_, (tail, _))| *tail))
            .chain(barrier)
            .chain(events.copied())
            .chain(last_launch)
            .collect()
    }

    /// Returns true if an operation of `target` is among those up to `last`.
    pub fn contains(&self, target: WaitTarget, last: u64) -> bool {
        match target {
            WaitTarget::All => self.items.keys().next().is_some_and(|first| *first <= last),
            WaitTarget::Event(event) => self.records.get(&event).is_some_and(|item| *item <= last),
            // The legacy default stream waits for all blocking streams of its context.
            WaitTarget::Stream(context, StreamId::LEGACY) => {
                self.items.range(..=last).any(|(_, item)| {
                    let blocking = self.tails.get(&(item.context, item.stream));
                    item.context == context && blocking.is_none_or(|(_, blocking)| *blocking)
                })
            }
            WaitTarget::Stream(context, stream) => self
                .items
                .range(..=last)
                .any(|(_, item)| item.context == context && item.stream == stream),
        }
    }

    /// Returns true if an item can start as soon as no blocking operation runs.
    fn is_ready(&self, item: &Item) -> bool {
        let mut predecessors = item.dependencies.iter();
        !item.running && !predecessors.any(|id| self.items.contains_key(id))
    }

    /// Returns true if operations up to `last` can make progress, now or when a running one completes.
    /// Running host functions and their successors do not count.
    pub fn can_progress(&self, last: u64) -> bool {
        let mut items = self.items.range(..=last);
        items.any(|(_, item)| match item.running {
            true => item.blocks_others(),
            false => self.is_ready(item),
        })
    }

    /// Chooses an operation up to `last` that can start now: the first, or with a seed, a random one. Returns
    /// `None` if there is none.
    fn choose(&mut self, last: u64, seed: Option<u64>) -> Option<u64> {
        if self.blocking_running > 0 {
            return None;
        }
        let items = self.items.range(..=last);
        let ready = items.filter(|(_, item)| self.is_ready(item));
        let mut candidates = ready.map(|(id, _)| *id);
        let Some(seed) = seed else {
            return candidates.next();
        };
        let candidates: Vec<u64> = candidates.collect();
        if candidates.is_empty() {
            return None;
        }
        self.draws += 1;
        let mut random = Random(seed ^ self.draws.rotate_left(32));
        Some(candidates[random.below(candidates.len())])
    }

    /// Starts the operation that [`Queue::choose`] chooses.
    fn start(&mut self, last: u64, seed: Option<u64>) -> Option<RunningOp> {
        let number = self.choose(last, seed)?;
        let item = self.items.get_mut(&number)?;
        item.running = true;
        self.blocking_running += usize::from(item.blocks_others());
        Some(RunningOp {
            number,
            context: item.context,
            stream: item.stream,
            op: item.op.clone(),
            submitted: item.submitted.clone(),
        })
    }

    /// Removes a completed item.
    fn remove(&mut self, number: u64) {
        let Some(item) = self.items.remove(&number) else {
            return;
        };
        if item.running && item.blocks_others() {
            self.blocking_running -= 1;
        }
        let key = (item.context, item.stream);
        if self
            .tails
            .get(&key)
            .is_some_and(|(tail, _)| *tail == number)
        {
            self.tails.remove(&key);
        }
        if self.barriers.get(&item.context) == Some(&number) {
            self.barriers.remove(&item.context);
        }
        for event in item.op.recorded_events() {
            if self.records.get(&event) == Some(&number) {
                self.records.remove(&event);
            }
        }
    }
}

/// A running operation, owned by one thread.
#[derive(Clone)]
pub struct RunningOp {
    pub number: u64,
    pub context: ContextId,
    pub stream: StreamId,
    pub op: Arc<StreamOp>,
    pub submitted: Submitted,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: ContextId = ContextId(1);
    const EVENT: EventId = EventId(1);

    fn add(queue: &StreamQueue, stream: u64, op: StreamOp) {
        // Streams with an even number synchronize with the legacy default stream.
        queue.add(
            CONTEXT,
            StreamId(stream),
            stream.is_multiple_of(2),
            op,
            Submitted::default,
        );
    }

    /// Runs all operations, one after the other. Returns their numbers in order.
    fn order(queue: &StreamQueue, seed: Option<u64>) -> Vec<u64> {
        let started = std::iter::from_fn(|| {
            let running_op = queue.start(u64::MAX, seed)?;
            assert!(queue.start(u64::MAX, seed).is_none(), "two at a time");
            queue.complete(running_op.number);
            Some(running_op.number)
        });
        started.collect()
    }

    #[test]
    fn seeds_choose_among_the_orders_that_streams_and_events_allow() {
        let queue = StreamQueue::new();
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..32 {
            queue.restart_shuffle();
            let first = queue.last() + 1;
            add(&queue, 3, StreamOp::Empty);
            add(&queue, 3, StreamOp::RecordEvent(EVENT));
            add(&queue, 5, StreamOp::Empty);
            add(&queue, 5, StreamOp::WaitEvent(EVENT));
            let relative = |order: Vec<u64>| order.into_iter().map(|number| number - first);
            orders.insert(relative(order(&queue, Some(seed))).collect::<Vec<_>>());
        }
        // The third may run at any time before the last.
        let expected = [vec![0, 1, 2, 3], vec![0, 2, 1, 3], vec![2, 0, 1, 3]];
        assert_eq!(orders, expected.into());
    }

    #[test]
    fn legacy_stream_waits_for_blocking_streams_and_they_for_it() {
        let queue = StreamQueue::new();
        add(&queue, 2, StreamOp::Empty);
        add(&queue, 3, StreamOp::Empty);
        add(&queue, 0, StreamOp::Empty);
        add(&queue, 2, StreamOp::Empty);
        add(&queue, 3, StreamOp::Empty);
        let items = &lock(&queue.queue).items;
        let dependencies: Vec<_> = items.values().map(|item| &item.dependencies[..]).collect();
        assert_eq!(dependencies, [&[][..], &[], &[1], &[1, 3], &[2]]);
    }

    #[test]
    fn waits_cover_streams_and_events() {
        let queue = StreamQueue::new();
        let stream = |stream| WaitTarget::Stream(CONTEXT, StreamId(stream));
        let contains = |target| queue.contains(target, u64::MAX);
        assert!(!contains(WaitTarget::All));
        add(&queue, 3, StreamOp::RecordEvent(EVENT));
        add(&queue, 2, StreamOp::Free(8));
        assert!(contains(stream(2)) && contains(stream(3)) && !contains(stream(5)));
        assert!(contains(WaitTarget::Event(EVENT)) && queue.has_pending_free(8));
        // Only the first operation: the event, but not the blocking stream.
        assert!(queue.contains(WaitTarget::Event(EVENT), 1) && !queue.contains(stream(2), 1));
        let is_enough = |queue: &Queue| !queue.contains(WaitTarget::Event(EVENT), 2);
        let running_op = queue.start_until(2, || None, is_enough).unwrap();
        queue.complete(running_op.number);
        assert!(queue.start_until(2, || None, is_enough).is_none());
        assert!(!contains(stream(3)) && contains(stream(0)));
        assert_eq!(order(&queue, None), [2]);
        assert!(!queue.has_pending() && !contains(WaitTarget::All));
    }

    #[test]
    fn host_functions_let_others_start() {
        let queue = StreamQueue::new();
        let function = super::super::operation::HostFunction::Plain {
            function: None,
            data: std::ptr::null_mut(),
        };
        add(&queue, 3, StreamOp::Host(function));
        add(&queue, 3, StreamOp::Empty);
        add(&queue, 5, StreamOp::Empty);
        let host = queue.start(u64::MAX, None).unwrap();
        let other = queue.start(u64::MAX, None).unwrap();
        assert_eq!((host.number, other.number), (1, 3));
        queue.complete(3);
        // The second waits for the host function.
        assert!(queue.start(u64::MAX, None).is_none());
        queue.complete(1);
        assert_eq!(order(&queue, None), [2]);
    }
}
