//! Work that was put into streams and is not done yet. It is done when something has to wait for it, in the
//! thread that waits, or after a short while in which the program has called nothing, in a thread of the
//! queue's own.
//!
//! The order is that in which work was put in, whatever stream it is in, unless launches are shuffled: then
//! a seed chooses among all orders that streams and events allow, and who waits for a stream has no more
//! done than that takes.

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

/// So much work may wait; who puts in more does some of it first.
const MOST: usize = 4096;

/// How long the program has called nothing when work is done that nobody waits for.
const QUIET: Duration = Duration::from_millis(2);

/// The same where launches are shuffled, for what a seed chooses from must not depend on how fast the program
/// is, and where it is looked for touches of what work still uses.
const QUIET_PATIENT: Duration = Duration::from_millis(250);

/// One piece of work that waits, or is being done.
struct Item {
    context: ContextId,
    stream: StreamId,
    work: Work,
    /// The numbers of the items that come before it: those that are done are not in the queue any more.
    after: Vec<u64>,
    running: bool,
}

impl Item {
    /// Whether nothing else is begun while it is being done.
    fn keeps_others(&self) -> bool {
        !self.work.calls_program()
    }
}

/// All that waits, by its number in the order in which it was put in.
struct Queue {
    last: u64,
    items: BTreeMap<u64, Item>,
    /// The last item of each stream that has any, and whether the stream and the legacy default stream wait
    /// for each other.
    tails: BTreeMap<(ContextId, StreamId), (u64, bool)>,
    /// The item that records an event last.
    records: BTreeMap<EventId, u64>,
    /// How often a seed has chosen since it was set.
    chosen: u64,
    /// How many items are being done that keep others from being begun: all but functions of the program's,
    /// which may wait for what another thread waits for. So the order does not depend on which threads do
    /// the work.
    busy: usize,
    /// How many threads wait for a change: telling nobody of one costs a call of the system's too.
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

/// Told of every item that is put in or done.
static CHANGED: Condvar = Condvar::new();

/// How many items there are, for those that need not ask further.
static PENDING: AtomicUsize = AtomicUsize::new(0);

/// How many calls of the driver there have been.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Whether the queue's own thread does work now.
static IN_BACKGROUND: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread is doing an item, and so does not wait for others.
    static PERFORMING: Cell<bool> = const { Cell::new(false) };
}

/// What somebody waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// Everything that was put in so far.
    All,
    Stream(ContextId, StreamId),
    Event(EventId),
}

/// Takes note that the program is calling the driver.
pub fn called() {
    CALLS.fetch_add(1, Ordering::Relaxed);
}

/// Puts work into a stream. `blocking`: the stream and the legacy default stream wait for each other.
pub fn put(context: ContextId, stream: StreamId, blocking: bool, work: Work) {
    static BACKGROUND: Once = Once::new();
    // Where there is no thread, work waits until somebody waits for it.
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
    // Before anybody can begin with it.
    host::add(number, uses);
    PENDING.store(queue.items.len(), Ordering::Release);
    if queue.items.len() == 1 {
        queue.tell();
    }
}

/// Waits until an item is put in or done.
fn changed(mut queue: MutexGuard<'static, Queue>) -> MutexGuard<'static, Queue> {
    queue.waiting += 1;
    let mut queue = CHANGED.wait(queue).unwrap_or_else(PoisonError::into_inner);
    queue.waiting -= 1;
    queue
}

/// Waits until what is awaited is done, doing it. All that was put in before is done too, unless launches
/// are shuffled, so that counters and modelled times are those of work done at once.
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

/// Whether what is awaited is done. If not, one item is done first, or begun, so that a program that asks again
/// and again comes to its end.
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

/// Whether what is awaited is not done yet. Nothing is done for it.
pub fn is_pending(awaited: Awaited) -> bool {
    PENDING.load(Ordering::Acquire) > 0 && lock(&QUEUE).has(awaited, u64::MAX)
}

/// From now on a seed chooses as if it had not chosen before.
pub fn restart() {
    lock(&QUEUE).chosen = 0;
}

/// Whether the queue's own thread does work now, which no call of the program's is about.
pub fn in_background() -> bool {
    IN_BACKGROUND.load(Ordering::Acquire)
}

/// Whether work waits that frees the memory at an address.
pub fn frees(address: u64) -> bool {
    PENDING.load(Ordering::Acquire) > 0
        && lock(&QUEUE)
            .items
            .values()
            .any(|item| matches!(item.work, Work::Free(at) if at == address))
}

/// Whether there is something to wait for, and this thread may: one that does an item waits for no other.
fn may_wait() -> bool {
    PENDING.load(Ordering::Acquire) > 0 && !PERFORMING.get() && !callback::in_callback()
}

impl Queue {
    /// Tells those who wait that something has changed.
    fn tell(&self) {
        if self.waiting > 0 {
            CHANGED.notify_all();
        }
    }

    /// The items that new work of a stream comes after: the stream's last, those of the streams that wait
    /// for it or that it waits for, and those that record the events it waits for.
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

    /// Whether anything that is awaited is among the items up to `last`.
    fn has(&self, awaited: Awaited, last: u64) -> bool {
        match awaited {
            Awaited::All => self.items.keys().next().is_some_and(|first| *first <= last),
            Awaited::Event(event) => self.records.get(&event).is_some_and(|item| *item <= last),
            // The default stream has those of all streams that it waits for in it.
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

    /// Whether an item can be begun now, if nothing else is being done.
    fn is_ready(&self, item: &Item) -> bool {
        let mut before = item.after.iter();
        !item.running && !before.any(|before| self.items.contains_key(before))
    }

    /// Whether more can be done of the items up to `last`, now or when one ends that is being done: functions
    /// of the program's, and what comes after them, are not counted.
    fn has_more(&self, last: u64) -> bool {
        let mut items = self.items.range(..=last);
        items.any(|(_, item)| match item.running {
            true => item.keeps_others(),
            false => self.is_ready(item),
        })
    }

    /// The number of an item that can be done now and has a number up to `last`: the first, or, with a seed,
    /// any.
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

    /// Has an item as one that is being done.
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

    /// Takes an item that is done out.
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

/// Does items up to `last` until it is enough; waits for other threads where it depends on them.
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

/// Does one item up to `last`; false where none can be done now. A function of the program's gets a thread of
/// its own, for it may wait for what the program does next.
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

/// Does an item.
fn run(mut queue: MutexGuard<'static, Queue>, number: u64) {
    let begun = queue.begin(number);
    drop(queue);
    if let Some(begun) = begun {
        begun.finish();
    }
}

/// An item that nobody else begins.
#[derive(Clone)]
struct Begun {
    number: u64,
    context: ContextId,
    stream: StreamId,
    work: Work,
}

impl Begun {
    /// Does it, and takes it out of the queue, even where a fault of the simulator ends it.
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

/// Work could not be done that could have been when it was put in. That is its context's error, unless it
/// has one already: the fault of a kernel before.
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

/// Does what nobody waits for, when the program has called nothing for a while.
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
