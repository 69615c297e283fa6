//! A progress bar for work that takes over a second: a simulated launch, or a reference on the CPU; and long arrays, such as
//! references and inputs, that all processors fill with a progress bar.
//!
//! The work only increments counters; a thread polls them ten times per second and draws the bar. The bar is
//! shown only if standard error is a terminal.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

/// Time between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Minimum run time before the bar is shown.
const MIN_DURATION: Duration = Duration::from_secs(1);

/// Template of the bar: 40 characters wide, with the estimated time left.
const STYLE: &str = "{msg} [{bar:40}] {percent:>3} %, {eta} left";

static TASK: Mutex<Option<Arc<State>>> = Mutex::new(None);
static VIEW: Mutex<View> = Mutex::new(View { shown: None });

/// A piece of work on the CPU with a progress bar. It ends when it is dropped.
pub struct Task(Arc<State>);

struct State {
    label: &'static str,
    steps: u64,
    done: AtomicU64,
}

/// Progress of the current work at one moment.
#[derive(Clone, Debug, PartialEq)]
struct Work {
    /// Distinguishes pieces of work with the same label.
    id: (&'static str, u64),
    label: String,
    done: u64,
    steps: u64,
}

/// The bar on the terminal, if there is one.
struct View {
    shown: Option<Shown>,
}

struct Shown {
    id: (&'static str, u64),
    since: Instant,
    bar: Option<ProgressBar>,
}

/// Starts a task of `steps` steps, which any thread counts with [`Task::advance`].
pub fn task(label: &'static str, steps: u64) -> Task {
    enable();
    let state = Arc::new(State {
        label,
        steps,
        done: AtomicU64::new(0),
    });
    *lock(&TASK) = Some(state.clone());
    Task(state)
}

impl Task {
    /// Adds `steps` to the steps that are done.
    pub fn advance(&self, steps: u64) {
        self.0.done.fetch_add(steps, Ordering::Relaxed);
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        *lock(&TASK) = None;
        clear_bar();
    }
}

/// Enables the progress bar if standard error is a terminal.
pub fn enable() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if io::stderr().is_terminal() {
            // Without a free thread there is no bar, which is no error.
            let _ = thread::Builder::new().spawn(|| {
                loop {
                    thread::sleep(POLL_INTERVAL);
                    let mut view = lock(&VIEW);
                    view.update(current_work(), Instant::now());
                }
            });
        }
    });
}

/// Removes the bar so that the next line is printed on an empty line.
pub fn clear_bar() {
    lock(&VIEW).clear();
}

/// Returns the current task on the CPU, or else the current simulated launch.
fn current_work() -> Option<Work> {
    if let Some(task) = &*lock(&TASK) {
        return Some(Work {
            id: ("task", Arc::as_ptr(task) as u64),
            label: task.label.to_owned(),
            done: task.done.load(Ordering::Relaxed),
            steps: task.steps,
        });
    }
    let launch = cuda_driver::progress()?;
    Some(Work {
        id: ("launch", launch.launch),
        label: format!("{} on the simulator", launch.kernel),
        done: launch.blocks_done,
        steps: launch.blocks,
    })
}

impl View {
    /// Updates the bar to the state of `work` at the time `now`.
    fn update(&mut self, work: Option<Work>, now: Instant) {
        let Some(work) = work else {
            return self.clear();
        };
        if self.shown.as_ref().is_none_or(|shown| shown.id != work.id) {
            self.clear();
            self.shown = Some(Shown {
                id: work.id,
                since: now,
                bar: None,
            });
        }
        let Some(shown) = &mut self.shown else { return };
        let elapsed = now.saturating_duration_since(shown.since);
        if elapsed < MIN_DURATION {
            return;
        }
        let bar = shown.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(work.steps).with_elapsed(elapsed);
            if let Ok(style) = ProgressStyle::with_template(STYLE) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.with_message(work.label)
        });
        bar.set_position(work.done);
    }

    fn clear(&mut self) {
        if let Some(bar) = self.shown.take().and_then(|shown| shown.bar) {
            bar.finish_and_clear();
        }
    }
}

/// Locks a mutex whose data are consistent even if a thread panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A good chunk length for elements that do not depend on each other.
pub const CHUNK: usize = 1 << 16;

/// Returns `count` elements, computed by `fill(first, elements)` in chunks of `chunk` elements (the last may
/// be shorter); `first` is the index of the chunk's first element. The progress bar is named `label`.
///
/// # Panics
///
/// Panics if `chunk` is 0.
pub fn filled<T: Clone + Default + Send>(
    label: &'static str,
    count: usize,
    chunk: usize,
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let mut elements = vec![T::default(); count];
    let chunks: Vec<_> = elements.chunks_mut(chunk).map(Mutex::new).collect();
    for_each_index(label, chunks.len(), &|index| {
        let mut elements = lock(&chunks[index]);
        fill(index * chunk, &mut elements);
    });
    drop(chunks);
    elements
}

/// Calls `work` once for each number below `count`. Not generic over the element type, so that it is compiled
/// once here instead of in every chapter.
fn for_each_index(label: &'static str, count: usize, work: &(dyn Fn(usize) + Sync)) {
    let task = task(label, count as u64);
    (0..count).into_par_iter().for_each(|index| {
        work(index);
        task.advance(1);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(id: u64, done: u64) -> Option<Work> {
        Some(Work {
            id: ("launch", id),
            label: "kernel".to_owned(),
            done,
            steps: 10,
        })
    }

    /// Returns the position and the length of the bar.
    fn bar(view: &View) -> Option<(u64, Option<u64>)> {
        let bar = view.shown.as_ref()?.bar.as_ref()?;
        Some((bar.position(), bar.length()))
    }

    #[test]
    fn only_long_work_gets_a_bar() {
        let mut view = View { shown: None };
        let start = Instant::now();
        view.update(work(1, 0), start);
        view.update(work(1, 2), start + MIN_DURATION / 2);
        assert_eq!(bar(&view), None);
        view.update(work(1, 3), start + MIN_DURATION);
        assert_eq!(bar(&view), Some((3, Some(10))));
        view.update(work(1, 4), start + MIN_DURATION * 2);
        assert_eq!(bar(&view), Some((4, Some(10))));
        view.update(None, start + MIN_DURATION * 3);
        assert!(view.shown.is_none());
    }

    #[test]
    fn new_work_restarts_the_bar() {
        let mut view = View { shown: None };
        let start = Instant::now();
        view.update(work(1, 0), start);
        view.update(work(1, 9), start + MIN_DURATION);
        view.update(work(2, 1), start + MIN_DURATION * 2);
        assert_eq!(bar(&view), None);
        view.update(work(2, 5), start + MIN_DURATION * 3);
        assert_eq!(bar(&view), Some((5, Some(10))));
    }

    #[test]
    fn a_task_is_current_until_it_is_dropped() {
        let reference = task("CPU reference", 4);
        reference.advance(1);
        reference.advance(2);
        let work = current_work().unwrap();
        assert_eq!(
            (&*work.label, work.done, work.steps),
            ("CPU reference", 3, 4)
        );
        drop(reference);
        assert_eq!(current_work(), None);
    }

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(STYLE).is_ok());
    }

    #[test]
    fn every_element_is_filled_exactly_once() {
        for count in [0, 1, 99, 100, 301] {
            let elements = filled("numbers", count, 100, |first, elements: &mut [usize]| {
                for (element, index) in elements.iter_mut().zip(first..) {
                    *element += index + 1;
                }
            });
            assert!(elements.into_iter().eq(1..=count), "{count}");
        }
    }
}
