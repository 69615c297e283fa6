//! The queue of pending stream operations. An operation executes when a call has to wait for it, on the
//! waiting thread, or after a short time in which the program has made no driver call, on the queue's
//! background thread.
//!
//! Operations execute in submission order across all streams, unless launches are shuffled: then a seed
//! chooses among all orders that streams and events allow, and a wait for a stream executes only what that
//! stream depends on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use cuda_sim::driver::{ContextId, CudaError, EventId, StreamId};

use super::graph::Random;
use super::options::shuffle_seed;
use super::stream_op::StreamOp;
use super::submit::{Origin, execute};
use super::{SIMULATOR, host_access, lock_driver, lock_mutex, thread};
use crate::log::warn;

/// Capacity of the queue; a thread that submits to a full queue executes operations first.
const CAPACITY: usize = 4096;

/// Idle time before background work: the background thread starts when the program has made no driver call
/// for this long.
const IDLE_TIME: Duration = Duration::from_millis(2);

/// Idle time before background work when launches are shuffled or host accesses are checked. Longer, so that
/// the seed's choices do not depend on the host's speed, and so that accesses to memory in use are detected.
const LONG_IDLE_TIME: Duration = Duration::from_millis(250);

/// One pending or running operation.
struct Item {
    context: ContextId,
    stream: StreamId,
    op: StreamOp,
    /// The numbers of the operations that must complete first. Completed ones are no longer in the queue.
    dependencies: Vec<u64>,
    running: bool,
}

impl Item {
    /// Returns true if no other operation may start while this one runs.
    fn blocks_others(&self) -> bool {
        !self.op.calls_host_function()
    }
}

/// The pending operations, by submission number.
struct Queue {
    last: u64,
    items: BTreeMap<u64, Item>,
    /// The last operation of each stream with pending work, and true if the stream synchronizes with the
    /// legacy default stream.
    tails: BTreeMap<(ContextId, StreamId), (u64, bool)>,
    /// The last operation that records each event.
    records: BTreeMap<EventId, u64>,
    /// Number of choices made from the seed since it was set.
    draws: u64,
    /// Number of running operations that block others: all except host functions, which may wait for the
    /// result of another thread's operation. Running one at a time makes the order independent of which
    /// threads execute.
    blocking_running: usize,
    /// Number of waiting threads. Lets us skip `notify_all`, a system call, when it is zero.
    waiters: usize,
}

/// The queue of all streams with its threads.
pub struct StreamQueue {
    queue: Mutex<Queue>,
    /// Notified of every operation that is enqueued or completed.
    changed: Condvar,
    /// Number of operations in the queue, readable without its lock.
    pending: AtomicUsize,
    /// Number of driver calls so far.
    calls: AtomicU64,
    /// The start of the background thread.
    background: Once,
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
                records: BTreeMap::new(),
                draws: 0,
                blocking_running: 0,
                waiters: 0,
            }),
            changed: Condvar::new(),
            pending: AtomicUsize::new(0),
            calls: AtomicU64::new(0),
            background: Once::new(),
            in_background: AtomicBool::new(false),
        }
    }
}

/// The set of operations that a wait covers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WaitTarget {
    /// All operations submitted so far.
    All,
    Stream(ContextId, StreamId),
    Event(EventId),
}

/// Counts a driver call, so that the background thread knows that the program is active.
pub fn count_api_call() {
    SIMULATOR.queue.calls.fetch_add(1, Ordering::Relaxed);
}

/// Enqueues an operation. `blocking` is true if the stream synchronizes with the legacy default stream.
pub fn enqueue(context: ContextId, stream: StreamId, blocking: bool, op: StreamOp) {
    // If the thread cannot be created, operations execute when a call waits for them.
    SIMULATOR.queue.background.call_once(|| {
        let _ = std::thread::Builder::new()
            .name("streams".into())
            .spawn(background);
    });
    if SIMULATOR.queue.pending.load(Ordering::Acquire) >= CAPACITY {
        execute_until(u64::MAX, |queue| queue.items.len() < CAPACITY);
    }
    let accesses = host_access::accesses_of(&op);
    let mut queue = lock_mutex(&SIMULATOR.queue.queue);
    queue.last += 1;
    let number = queue.last;
    let dependencies = queue.predecessors(context, stream, blocking, &op);
    for event in op.recorded_events() {
        queue.records.insert(event, number);
    }
    queue.tails.insert((context, stream), (number, blocking));
    let item = Item {
        context,
        stream,
        op,
        dependencies,
        running: false,
    };
    queue.items.insert(number, item);
    // Before another thread can start the operation.
    host_access::add_pending(number, accesses);
    SIMULATOR
        .queue
        .pending
        .store(queue.items.len(), Ordering::Release);
    if queue.items.len() == 1 {
        queue.notify_waiters();
    }
}

/// Waits until an operation is enqueued or completed.
fn wait_for_change(mut queue: MutexGuard<'static, Queue>) -> MutexGuard<'static, Queue> {
    queue.waiters += 1;
    let mut queue = SIMULATOR
        .queue
        .changed
        .wait(queue)
        .unwrap_or_else(PoisonError::into_inner);
    queue.waiters -= 1;
    queue
}

/// Executes operations until `target` is complete. Completes all earlier operations too, unless launches are
/// shuffled, so that counters and modelled times equal those of immediate execution.
pub fn wait(target: WaitTarget) {
    if !can_wait() {
        return;
    }
    let last = lock_mutex(&SIMULATOR.queue.queue).last;
    let all = shuffle_seed().is_none();
    execute_until(last, |queue| {
        !(queue.contains(target, last) || all && queue.can_progress(last))
    });
}

/// Returns true if `target` is complete. If it is not, first executes or starts one operation, so that a
/// program that polls makes progress.
pub fn is_done(target: WaitTarget) -> bool {
    if !can_wait() {
        return true;
    }
    let (last, waits) = {
        let queue = lock_mutex(&SIMULATOR.queue.queue);
        (queue.last, queue.contains(target, queue.last))
    };
    if waits {
        execute_one(last);
    }
    let done = !waits || !lock_mutex(&SIMULATOR.queue.queue).contains(target, last);
    if done {
        wait(target);
    }
    done
}

/// Returns true if `target` is not complete. Executes nothing.
pub fn is_pending(target: WaitTarget) -> bool {
    SIMULATOR.queue.pending.load(Ordering::Acquire) > 0
        && lock_mutex(&SIMULATOR.queue.queue).contains(target, u64::MAX)
}

/// Restarts the sequence of choices made from the seed.
pub fn restart_shuffle() {
    lock_mutex(&SIMULATOR.queue.queue).draws = 0;
}

/// Returns true if the background thread is executing operations.
pub fn in_background() -> bool {
    SIMULATOR.queue.in_background.load(Ordering::Acquire)
}

/// Returns true if a pending operation frees the memory at an address.
pub fn has_pending_free(address: u64) -> bool {
    SIMULATOR.queue.pending.load(Ordering::Acquire) > 0
        && lock_mutex(&SIMULATOR.queue.queue)
            .items
            .values()
            .any(|item| matches!(item.op, StreamOp::Free(freed) if freed == address))
}

/// Returns true if there is pending work and this thread may wait for it; a thread that executes an operation
/// may not.
fn can_wait() -> bool {
    SIMULATOR.queue.pending.load(Ordering::Acquire) > 0
        && !thread::is_executing()
        && !thread::in_callback()
}

impl Queue {
    /// Wakes all waiting threads.
    fn notify_waiters(&self) {
        if self.waiters > 0 {
            SIMULATOR.queue.changed.notify_all();
        }
    }

    /// Returns the operations that a new one must follow: the last of its stream, the last of each stream that
    /// synchronizes with it, and those that record the events it waits for.
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
        let events = op.awaited_events();
        let events = events.iter().filter_map(|event| self.records.get(event));
        tail_of_stream
            .into_iter()
            .chain(legacy)
            .chain(events.copied())
            .collect()
    }

    /// Returns true if an operation of `target` is among those up to `last`.
    fn contains(&self, target: WaitTarget, last: u64) -> bool {
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
    fn can_progress(&self, last: u64) -> bool {
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
        let ready = |(_, item): &(&u64, &Item)| self.is_ready(item);
        let mut candidates = self.items.range(..=last).filter(ready).map(|(id, _)| *id);
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

    /// Marks an item as running.
    fn start_item(&mut self, number: u64) -> Option<RunningOp> {
        let item = self.items.get_mut(&number)?;
        item.running = true;
        self.blocking_running += usize::from(item.blocks_others());
        Some(RunningOp {
            number,
            context: item.context,
            stream: item.stream,
            op: item.op.clone(),
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
        for event in item.op.recorded_events() {
            if self.records.get(&event) == Some(&number) {
                self.records.remove(&event);
            }
        }
        SIMULATOR
            .queue
            .pending
            .store(self.items.len(), Ordering::Release);
    }
}

/// Executes operations up to `last` until `is_enough` returns true; waits for other threads if none can start.
fn execute_until(last: u64, is_enough: impl Fn(&Queue) -> bool) {
    let mut queue = lock_mutex(&SIMULATOR.queue.queue);
    while !is_enough(&queue) {
        match queue.choose(last, shuffle_seed()) {
            Some(number) => {
                execute_item(queue, number);
                queue = lock_mutex(&SIMULATOR.queue.queue);
            }
            None => queue = wait_for_change(queue),
        }
    }
}

/// Executes one operation up to `last`; returns false if none can start now. A host function gets its own
/// thread, because it may wait for the program's next call.
fn execute_one(last: u64) -> bool {
    let mut queue = lock_mutex(&SIMULATOR.queue.queue);
    let Some(number) = queue.choose(last, shuffle_seed()) else {
        return false;
    };
    let Some(running_op) = queue.start_item(number) else {
        return true;
    };
    drop(queue);
    if !running_op.op.calls_host_function() {
        running_op.finish();
        return true;
    }
    let here = running_op.clone();
    let thread = std::thread::Builder::new().name("host function".into());
    if thread.spawn(move || running_op.finish()).is_err() {
        here.finish();
    }
    true
}

/// Executes an operation.
fn execute_item(mut queue: MutexGuard<'static, Queue>, number: u64) {
    let running_op = queue.start_item(number);
    drop(queue);
    if let Some(running_op) = running_op {
        running_op.finish();
    }
}

/// A running operation, owned by one thread.
#[derive(Clone)]
struct RunningOp {
    number: u64,
    context: ContextId,
    stream: StreamId,
    op: StreamOp,
}

impl RunningOp {
    /// Executes the operation and removes it from the queue, even if it panics.
    fn finish(self) {
        struct RemoveOnDrop(u64);
        impl Drop for RemoveOnDrop {
            fn drop(&mut self) {
                thread::set_executing(false);
                host_access::end_operation(self.0);
                let mut queue = lock_mutex(&SIMULATOR.queue.queue);
                queue.remove(self.0);
                queue.notify_waiters();
            }
        }
        thread::set_executing(true);
        let guard = RemoveOnDrop(self.number);
        host_access::begin_operation(self.number);
        if let Err(error) = execute(self.context, self.stream, &self.op, Origin::Stream) {
            report_failure(self.context, error);
        }
        drop(guard);
    }
}

/// Reports an operation that failed although it was valid when submitted. The error becomes its context's,
/// unless an earlier fault is already recorded there.
fn report_failure(context: ContextId, error: CudaError) {
    if let Ok(mut driver) = lock_driver()
        && driver.memory_info(context).is_ok()
    {
        warn(format_args!(
            "a stream operation failed ({error}): its memory, kernel or event no longer exists"
        ));
        driver.fail(context, CudaError::IllegalAddress);
    }
}

/// Executes pending operations whenever the program has made no driver call for a while.
fn background() {
    loop {
        let mut queue = lock_mutex(&SIMULATOR.queue.queue);
        while queue.items.is_empty() {
            queue = wait_for_change(queue);
        }
        drop(queue);
        let predecessors = SIMULATOR.queue.calls.load(Ordering::Relaxed);
        let is_long = shuffle_seed().is_some() || host_access::is_enabled();
        std::thread::sleep(if is_long { LONG_IDLE_TIME } else { IDLE_TIME });
        SIMULATOR.queue.in_background.store(true, Ordering::Release);
        while SIMULATOR.queue.calls.load(Ordering::Relaxed) == predecessors && execute_one(u64::MAX)
        {
        }
        SIMULATOR
            .queue
            .in_background
            .store(false, Ordering::Release);
    }
}
