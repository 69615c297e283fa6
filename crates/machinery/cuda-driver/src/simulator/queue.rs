//! The queue of pending stream operations. An operation executes when a call has to wait for it, on the
//! waiting thread,
//! or after a short time in which the program has made no driver call, on the queue's background thread.
//!
//! Operations execute in submission order across all streams, unless launches are shuffled: then a seed
//! chooses among all
//! orders that streams and events allow, and a wait for a stream executes only what that stream depends on.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;

use cuda_sim::driver::{ContextId, CudaError, EventId, StreamId};

use super::conditions::conditions;
use super::graph::Random;
use super::perform::{Within, perform};
use super::work::Work;
use super::{callback, host, lock, machine};
use crate::report::say;

/// Capacity of the queue; a thread that submits to a full queue executes operations first.
const MOST: usize = 4096;

/// Idle time before background work: the background thread starts when the program has made no driver call
/// for this long.
const QUIET: Duration = Duration::from_millis(2);

/// Idle time before background work when launches are shuffled or host accesses are checked. Longer, so that
/// the seed's
/// choices do not depend on the host's speed, and so that accesses to memory in use are detected.
const QUIET_PATIENT: Duration = Duration::from_millis(250);

/// One pending or running operation.
struct Item {
    context: ContextId,
    stream: StreamId,
    work: Work,
    /// The numbers of the operations that must complete first. Completed ones are no longer in the queue.
    after: Vec<u64>,
    running: bool,
}

impl Item {
    /// Returns true if no other operation may start while this one runs.
    fn keeps_others(&self) -> bool {
        !self.work.calls_program()
    }
}

/// The pending operations, by submission number.
struct Queue {
    last: u64,
    items: BTreeMap<u64, Item>,
    /// The last operation of each stream with pending work, and true if the stream synchronizes with the
    /// legacy default
    /// stream.
    tails: BTreeMap<(ContextId, StreamId), (u64, bool)>,
    /// The last operation that records each event.
    records: BTreeMap<EventId, u64>,
    /// Number of choices made from the seed since it was set.
    chosen: u64,
    /// Number of running operations that block others: all except host functions, which may wait for the
    /// result of
    /// another thread's operation. Running one at a time makes the order independent of which threads execute.
    busy: usize,
    /// Number of waiting threads. Lets us skip `notify_all`, a system call, when it is zero.
    waiting: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    last: 0,
    items: BTreeMap::new(),
    tails: BTreeMap::new(),
    records: BTreeMap::new(),
    chosen: 0,
    busy: 0,
    waiting: 0,
});

/// Notified of every operation that is enqueued or completed.
static CHANGED: Condvar = Condvar::new();

/// Number of operations in the queue, readable without its lock.
static PENDING: AtomicUsize = AtomicUsize::new(0);

/// Number of driver calls so far.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// True while the background thread executes operations.
static IN_BACKGROUND: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// True while this thread executes an operation; it then must not wait for others.
    static PERFORMING: Cell<bool> = const { Cell::new(false) };
}

/// The set of operations that a wait covers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// All operations submitted so far.
    All,
    Stream(ContextId, StreamId),
    Event(EventId),
}

/// Counts a driver call, so that the background thread knows that the program is active.
pub fn called() {
    CALLS.fetch_add(1, Ordering::Relaxed);
}

/// Enqueues an operation. `blocking` is true if the stream synchronizes with the legacy default stream.
pub fn put(context: ContextId, stream: StreamId, blocking: bool, work: Work) {
    static BACKGROUND: Once = Once::new();
    // If the thread cannot be created, operations execute when a call waits for them.
    BACKGROUND.call_once(|| {
        let _ = thread::Builder::new()
            .name("streams".into())
            .spawn(background);
    });
    if PENDING.load(Ordering::Acquire) >= MOST {
        work_until(u64::MAX, |queue| queue.items.len() < MOST);
    }
    let uses = host::of(&work);
    let mut queue = lock(&QUEUE);
    queue.last += 1;
    let number = queue.last;
    let after = queue.before(context, stream, blocking, &work);
    for event in work.recorded() {
        queue.records.insert(event, number);
    }
    queue.tails.insert((context, stream), (number, blocking));
    let item = Item {
        context,
        stream,
        work,
        after,
        running: false,
    };
    queue.items.insert(number, item);
    // Before another thread can start the operation.
    host::add(number, uses);
    PENDING.store(queue.items.len(), Ordering::Release);
    if queue.items.len() == 1 {
        queue.tell();
    }
}

/// Waits until an operation is enqueued or completed.
fn changed(mut queue: MutexGuard<'static, Queue>) -> MutexGuard<'static, Queue> {
    queue.waiting += 1;
    let mut queue = CHANGED.wait(queue).unwrap_or_else(PoisonError::into_inner);
    queue.waiting -= 1;
    queue
}

/// Executes operations until `target` is complete. Completes all earlier operations too, unless launches are
/// shuffled, so
/// that counters and modelled times equal those of immediate execution.
pub fn wait(awaited: Awaited) {
    if !may_wait() {
        return;
    }
    let last = lock(&QUEUE).last;
    let all = conditions().shuffle.is_none();
    work_until(last, |queue| {
        !(queue.has(awaited, last) || all && queue.has_more(last))
    });
}

/// Returns true if `target` is complete. If it is not, first executes or starts one operation, so that a
/// program that
/// polls makes progress.
pub fn is_done(awaited: Awaited) -> bool {
    if !may_wait() {
        return true;
    }
    let (last, waits) = {
        let queue = lock(&QUEUE);
        (queue.last, queue.has(awaited, queue.last))
    };
    if waits {
        step(last);
    }
    let done = !waits || !lock(&QUEUE).has(awaited, last);
    if done {
        wait(awaited);
    }
    done
}

/// Returns true if `target` is not complete. Executes nothing.
pub fn is_pending(awaited: Awaited) -> bool {
    PENDING.load(Ordering::Acquire) > 0 && lock(&QUEUE).has(awaited, u64::MAX)
}

/// Restarts the sequence of choices made from the seed.
pub fn restart() {
    lock(&QUEUE).chosen = 0;
}

/// Returns true if the background thread is executing operations.
pub fn in_background() -> bool {
    IN_BACKGROUND.load(Ordering::Acquire)
}

/// Returns true if a pending operation frees the memory at an address.
pub fn frees(address: u64) -> bool {
    PENDING.load(Ordering::Acquire) > 0
        && lock(&QUEUE)
            .items
            .values()
            .any(|item| matches!(item.work, Work::Free(at) if at == address))
}

/// Returns true if there is pending work and this thread may wait for it; a thread that executes an operation
/// may not.
fn may_wait() -> bool {
    PENDING.load(Ordering::Acquire) > 0 && !PERFORMING.get() && !callback::in_callback()
}

impl Queue {
    /// Wakes all waiting threads.
    fn tell(&self) {
        if self.waiting > 0 {
            CHANGED.notify_all();
        }
    }

    /// Returns the operations that a new one must follow: the last of its stream, the last of each stream that
    /// synchronizes with it, and those that record the events it waits for.
    fn before(
        &self,
        context: ContextId,
        stream: StreamId,
        blocking: bool,
        work: &Work,
    ) -> Vec<u64> {
        let own = self.tails.get(&(context, stream)).map(|(tail, _)| *tail);
        let legacy = match (stream, blocking) {
            (StreamId::LEGACY, _) => {
                let others = self.tails.iter();
                let others = others.filter(|((of, _), (_, blocking))| *of == context && *blocking);
                others.map(|(_, (tail, _))| *tail).collect()
            }
            (_, true) => {
                let tail = self.tails.get(&(context, StreamId::LEGACY));
                tail.map(|(tail, _)| *tail).into_iter().collect()
            }
            (_, false) => Vec::new(),
        };
        let events = work.waited();
        let events = events.iter().filter_map(|event| self.records.get(event));
        own.into_iter()
            .chain(legacy)
            .chain(events.copied())
            .collect()
    }

    /// Returns true if an operation of `target` is among those up to `last`.
    fn has(&self, awaited: Awaited, last: u64) -> bool {
        match awaited {
            Awaited::All => self.items.keys().next().is_some_and(|first| *first <= last),
            Awaited::Event(event) => self.records.get(&event).is_some_and(|item| *item <= last),
            // The legacy default stream waits for all blocking streams of its context.
            Awaited::Stream(context, StreamId::LEGACY) => {
                self.items.range(..=last).any(|(_, item)| {
                    let blocking = self.tails.get(&(item.context, item.stream));
                    item.context == context && blocking.is_none_or(|(_, blocking)| *blocking)
                })
            }
            Awaited::Stream(context, stream) => self
                .items
                .range(..=last)
                .any(|(_, item)| item.context == context && item.stream == stream),
        }
    }

    /// Returns true if an item can start as soon as no blocking operation runs.
    fn is_ready(&self, item: &Item) -> bool {
        let mut before = item.after.iter();
        !item.running && !before.any(|before| self.items.contains_key(before))
    }

    /// Returns true if operations up to `last` can make progress, now or when a running one completes.
    /// Running host
    /// functions and their successors do not count.
    fn has_more(&self, last: u64) -> bool {
        let mut items = self.items.range(..=last);
        items.any(|(_, item)| match item.running {
            true => item.keeps_others(),
            false => self.is_ready(item),
        })
    }

    /// Chooses an operation up to `last` that can start now: the first, or with a seed, a random one. Returns
    /// `None` if
    /// there is none.
    fn choose(&mut self, last: u64, seed: Option<u64>) -> Option<u64> {
        if self.busy > 0 {
            return None;
        }
        let ready = |(_, item): &(&u64, &Item)| self.is_ready(item);
        let mut found = self.items.range(..=last).filter(ready).map(|(at, _)| *at);
        let Some(seed) = seed else {
            return found.next();
        };
        let found: Vec<u64> = found.collect();
        if found.is_empty() {
            return None;
        }
        self.chosen += 1;
        let mut random = Random(seed ^ self.chosen.rotate_left(32));
        Some(found[random.below(found.len())])
    }

    /// Marks an item as running.
    fn begin(&mut self, number: u64) -> Option<Begun> {
        let item = self.items.get_mut(&number)?;
        item.running = true;
        self.busy += usize::from(item.keeps_others());
        Some(Begun {
            number,
            context: item.context,
            stream: item.stream,
            work: item.work.clone(),
        })
    }

    /// Removes a completed item.
    fn remove(&mut self, number: u64) {
        let Some(item) = self.items.remove(&number) else {
            return;
        };
        if item.running && item.keeps_others() {
            self.busy -= 1;
        }
        let key = (item.context, item.stream);
        if self
            .tails
            .get(&key)
            .is_some_and(|(tail, _)| *tail == number)
        {
            self.tails.remove(&key);
        }
        for event in item.work.recorded() {
            if self.records.get(&event) == Some(&number) {
                self.records.remove(&event);
            }
        }
        PENDING.store(self.items.len(), Ordering::Release);
    }
}

/// Executes operations up to `last` until `is_enough` returns true; waits for other threads if none can start.
fn work_until(last: u64, enough: impl Fn(&Queue) -> bool) {
    let mut queue = lock(&QUEUE);
    while !enough(&queue) {
        match queue.choose(last, conditions().shuffle) {
            Some(number) => {
                run(queue, number);
                queue = lock(&QUEUE);
            }
            None => queue = changed(queue),
        }
    }
}

/// Executes one operation up to `last`; returns false if none can start now. A host function gets its own
/// thread, because
/// it may wait for the program's next call.
fn step(last: u64) -> bool {
    let mut queue = lock(&QUEUE);
    let Some(number) = queue.choose(last, conditions().shuffle) else {
        return false;
    };
    let Some(begun) = queue.begin(number) else {
        return true;
    };
    drop(queue);
    if !begun.work.calls_program() {
        begun.finish();
        return true;
    }
    let here = begun.clone();
    let thread = thread::Builder::new().name("host function".into());
    if thread.spawn(move || begun.finish()).is_err() {
        here.finish();
    }
    true
}

/// Executes an operation.
fn run(mut queue: MutexGuard<'static, Queue>, number: u64) {
    let begun = queue.begin(number);
    drop(queue);
    if let Some(begun) = begun {
        begun.finish();
    }
}

/// A running operation, owned by one thread.
#[derive(Clone)]
struct Begun {
    number: u64,
    context: ContextId,
    stream: StreamId,
    work: Work,
}

impl Begun {
    /// Executes the operation and removes it from the queue, even if it panics.
    fn finish(self) {
        struct Removed(u64);
        impl Drop for Removed {
            fn drop(&mut self) {
                PERFORMING.set(false);
                host::end(self.0);
                let mut queue = lock(&QUEUE);
                queue.remove(self.0);
                queue.tell();
            }
        }
        PERFORMING.set(true);
        let removed = Removed(self.number);
        host::begin(self.number);
        if let Err(error) = perform(self.context, self.stream, &self.work, Within::Stream) {
            failed(self.context, error);
        }
        drop(removed);
    }
}

/// Reports an operation that failed although it was valid when submitted. The error becomes its context's,
/// unless an
/// earlier fault is already recorded there.
fn failed(context: ContextId, error: CudaError) {
    if let Ok(mut driver) = machine()
        && driver.memory_info(context).is_ok()
    {
        say(format_args!(
            "work in a stream could not be done ({error}): the memory, the kernel or the event that it \
             names is not there any more"
        ));
        driver.fail(context, CudaError::IllegalAddress);
    }
}

/// Executes pending operations whenever the program has made no driver call for a while.
fn background() {
    loop {
        let mut queue = lock(&QUEUE);
        while queue.items.is_empty() {
            queue = changed(queue);
        }
        drop(queue);
        let before = CALLS.load(Ordering::Relaxed);
        let patient = conditions().shuffle.is_some() || host::is_on();
        thread::sleep(if patient { QUIET_PATIENT } else { QUIET });
        IN_BACKGROUND.store(true, Ordering::Release);
        while CALLS.load(Ordering::Relaxed) == before && step(u64::MAX) {}
        IN_BACKGROUND.store(false, Ordering::Release);
    }
}
