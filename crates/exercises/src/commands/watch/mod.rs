//! The `watch` command, a live view that grades the student's current exercise on every save.
//!
//! All events arrive on one channel, in order: keys, saves, progress of a grading. The view is redrawn after
//! each of them. A save cancels the grading that is running, because its text is obsolete.

mod terminal;
mod view;

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Error, Result, bail};
use chapter::lang::tr;
use kernel_build::Clang;
use terminal::Screen;

use super::Context;
use super::check::store_failed;
use crate::course::Exercise;
use crate::data::Step;
use crate::error::format_error;
use crate::files::{display_path, read_text};
use crate::grade::{Record, find_compiler};
use crate::process::Limits;
use crate::worker::{Job, JobSettings, supervise_until};
use crate::workspace::Progress;

/// The exit code that shells report for a program ended by Ctrl-C.
const EXIT_INTERRUPTED: u8 = 130;

/// An event of the live view.
enum Event {
    /// A key was pressed.
    Key(Key),
    /// A file of this name was saved in the student's folder.
    Saved(String),
    /// The grading with this number reached a step, at a size.
    Progress(u64, Step, Vec<u32>),
    /// The grading with this number has ended.
    Graded(u64, Box<Result<Record>>),
    /// The terminal was resized.
    Resized,
}

/// An action of the student.
enum Key {
    Next,
    Hint,
    List,
    Statement,
    Regrade,
    /// Show the verdict, from any pane.
    Verdict,
    /// Move down this many lines, or exercises in the list; up if negative.
    Move(isize),
    /// Move down this many screens; up if negative.
    Page(isize),
    /// Open the exercise that is marked in the list.
    Open,
    Quit,
    Interrupt,
}

/// The content shown below the head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pane {
    Statement,
    Report,
    Hint,
    List,
}

/// The data that the view is drawn from.
struct State<'a> {
    context: &'a Context<'a>,
    exercise: &'a Exercise,
    progress: Progress,
    /// The last result of this exercise, or the reason why it could not be graded.
    last: Option<Result<Record, String>>,
    /// The reason why the progress could not be saved, if it could not.
    store_error: Option<String>,
    /// The step and size that the current grading has reached.
    position: Option<(Step, Vec<u32>)>,
    pane: Pane,
    /// The number of lines scrolled off above the screen.
    scroll_offset: Cell<usize>,
    /// The number of lines that fit on the screen, as of the last draw.
    visible_lines: Cell<usize>,
    /// The index of the exercise that is marked in the list.
    selected: usize,
}

/// Runs the live view until the student quits.
pub fn run(context: &Context, name: Option<&str>) -> Result<ExitCode> {
    if !io::stdout().is_terminal() {
        bail!(localize!(
            context.lang,
            "watch needs a terminal; `{} check` grades once",
            "watch 需要在终端中运行；`{} check` 可以评分一次";
            context.course.command_line()
        ));
    }
    let exercise = context.exercise(name)?;
    let state = State {
        context,
        exercise,
        progress: context.workspace.progress(context.lang)?,
        last: None,
        store_error: None,
        position: None,
        pane: Pane::Statement,
        scroll_offset: Cell::new(0),
        visible_lines: Cell::new(0),
        selected: 0,
    };
    let clang = find_compiler(context.lang)?;
    let (to, events) = channel();
    let _watcher = terminal::watch_saves(&context.workspace.path, to.clone())?;
    let screen = Screen::open()?;
    terminal::spawn_key_reader(to.clone()).context(tr("cannot start a thread", "无法启动线程"))?;
    let grader = Grader::new(clang, to);
    let exit = run_events(state, &screen, grader, &events);
    drop(screen);
    exit
}

fn run_events(
    mut state: State,
    screen: &Screen,
    mut grader: Grader,
    events: &Receiver<Event>,
) -> Result<ExitCode> {
    grader.start(&mut state);
    loop {
        screen.draw(|width, height| view::lines(&state, width, height))?;
        match events.recv()? {
            Event::Key(Key::Quit) => return Ok(ExitCode::SUCCESS),
            Event::Key(Key::Interrupt) => return Ok(ExitCode::from(EXIT_INTERRUPTED)),
            Event::Key(key) => handle_key(&mut state, &key, &mut grader)?,
            Event::Saved(file) => handle_save(&mut state, &file, &mut grader),
            Event::Progress(number, step, size) if grader.is_current(number) => {
                state.position = Some((step, size))
            }
            Event::Graded(number, graded) if grader.is_current(number) => {
                handle_result(&mut state, *graded)
            }
            // An event of a cancelled grading.
            Event::Progress(..) | Event::Graded(..) | Event::Resized => {}
        }
    }
}

fn handle_key(state: &mut State, key: &Key, grader: &mut Grader) -> Result<()> {
    let all = &state.context.course.exercises;
    match key {
        Key::Move(by) if state.pane == Pane::List => {
            state.selected = state.selected.saturating_add_signed(*by).min(all.len() - 1);
        }
        Key::Move(by) => scroll(state, *by),
        // Keep one line of the previous screen in sight.
        Key::Page(by) => scroll(
            state,
            by * state.visible_lines.get().saturating_sub(1).cast_signed(),
        ),
        Key::Open if state.pane == Pane::List => {
            let exercise = &all[state.selected];
            if exercise.name() != state.exercise.name() {
                switch_exercise(state, exercise, grader);
            }
            show(state, Pane::Statement);
        }
        Key::Open => {}
        Key::Verdict => show(state, Pane::Report),
        Key::Next => {
            if let Some(next) = next_unpassed(state) {
                switch_exercise(state, next, grader);
                show(state, Pane::Statement);
            }
        }
        Key::Hint => {
            // Show the next hint, unless the student is only returning to those already shown.
            if state.pane == Pane::Hint || hints_shown(state) == 0 {
                let hints = state.exercise.data().hints.len();
                let exercise = state.exercise;
                update_progress(state, |progress| {
                    progress.reveal_hint(exercise, hints);
                });
            }
            show(state, Pane::Hint);
        }
        Key::List => {
            let current = all
                .iter()
                .position(|exercise| exercise.name() == state.exercise.name());
            state.selected = current.unwrap_or(0);
            show(state, Pane::List);
        }
        Key::Statement => show(state, Pane::Statement),
        Key::Regrade => grader.start(state),
        Key::Quit | Key::Interrupt => {}
    }
    Ok(())
}

/// Switches to a pane and scrolls to its beginning.
fn show(state: &mut State, pane: Pane) {
    state.pane = pane;
    state.scroll_offset.set(0);
}

/// Scrolls the pane; drawing clamps the position to the end.
fn scroll(state: &State, by: isize) {
    state
        .scroll_offset
        .set(state.scroll_offset.get().saturating_add_signed(by));
}

fn hints_shown(state: &State) -> usize {
    let hints = &state.progress.hints;
    hints.get(state.exercise.name()).copied().unwrap_or(0)
}

/// Returns the next exercise that has not passed, searching forward from here and wrapping around.
fn next_unpassed<'a>(state: &State<'a>) -> Option<&'a Exercise> {
    let all = &state.context.course.exercises;
    let current = all
        .iter()
        .position(|exercise| exercise.name() == state.exercise.name())?;
    let (before, from) = all.split_at(current + 1);
    let mut candidates = from.iter().chain(&before[..current]);
    candidates.find(|exercise| !state.progress.has_passed(exercise))
}

/// Handles a saved file. Saving another exercise's file makes it the current exercise.
fn handle_save(state: &mut State, file: &str, grader: &mut Grader) {
    let all = &state.context.course.exercises;
    let Some(exercise) = all.iter().find(|exercise| exercise.file() == file) else {
        return;
    };
    if exercise.name() != state.exercise.name() {
        switch_exercise(state, exercise, grader);
        show(state, Pane::Report);
    } else if grader.has_changed(state) {
        grader.start(state);
        show(state, Pane::Report);
    }
}

fn switch_exercise<'a>(state: &mut State<'a>, exercise: &'a Exercise, grader: &mut Grader) {
    state.exercise = exercise;
    state.last = None;
    grader.start(state);
}

fn handle_result(state: &mut State, graded: Result<Record>) {
    state.position = None;
    let graded = graded.map_err(|error| format_error(&error, state.context.lang));
    if let Ok(record) = &graded {
        let (exercise, passed) = (state.exercise, record.passed);
        update_progress(state, |progress| progress.set_passed(exercise, passed));
    } else {
        show(state, Pane::Report);
    }
    state.last = Some(graded);
}

/// Changes the progress and saves it. If it cannot be saved, the change lasts until the program ends, and the
/// view shows the reason.
fn update_progress(state: &mut State, change: impl Fn(&mut Progress)) {
    let lang = state.context.lang;
    match state.context.workspace.change(lang, &change) {
        Ok(progress) => {
            state.progress = progress;
            state.store_error = None;
        }
        Err(error) => {
            change(&mut state.progress);
            state.store_error = Some(format_error(&store_failed(error, lang), lang));
        }
    }
}

/// Reads the current submission.
fn read_submission(state: &State) -> Result<String> {
    let file = state.context.workspace.file(state.exercise);
    read_text(&file, &display_path(&file), state.context.lang)
}

/// The time limit of a submission, in seconds.
const TIME_LIMIT_SECONDS: u64 = 60;

/// The current grading and the channel that it reports to.
struct Grader {
    clang: Clang,
    to: Sender<Event>,
    /// The number of the newest grading.
    number: u64,
    stop: Arc<AtomicBool>,
    /// The text being graded.
    text: Option<String>,
    /// The threads of gradings that have not ended yet.
    running: Vec<JoinHandle<()>>,
}

impl Grader {
    /// Creates a grader that sends its events to `to`.
    fn new(clang: Clang, to: Sender<Event>) -> Grader {
        Grader {
            clang,
            to,
            number: 0,
            stop: Arc::default(),
            text: None,
            running: Vec::new(),
        }
    }

    /// Returns true if this is the newest grading's number.
    fn is_current(&self, number: u64) -> bool {
        number == self.number
    }

    /// Returns true if the submission differs from the one graded last, or cannot be read.
    fn has_changed(&self, state: &State) -> bool {
        read_submission(state)
            .ok()
            .is_none_or(|text| Some(text) != self.text)
    }

    /// Starts grading the current submission and cancels the grading that is running.
    fn start(&mut self, state: &mut State) {
        self.stop.store(true, Ordering::Relaxed);
        self.stop = Arc::default();
        self.number += 1;
        let (number, to) = (self.number, self.to.clone());
        state.position = None;
        let text = match read_submission(state) {
            Ok(text) => text,
            Err(error) => {
                self.text = None;
                let _ = to.send(Event::Graded(number, Box::new(Err(error))));
                return;
            }
        };
        self.text = Some(text.clone());
        let exercise = state.exercise;
        let path = state.context.workspace.display_path(exercise);
        let settings = JobSettings {
            seed: JobSettings::random_seed(),
            lang: state.context.lang,
            clang: self.clang.clone(),
            limits: Limits::within(TIME_LIMIT_SECONDS),
        };
        let job = Job::new(exercise, path, text, &settings);
        let stop = Arc::clone(&self.stop);
        let sender = self.to.clone();
        let grading = move || {
            let graded = grade(job, &stop, &to, number);
            // Ignore send errors: the view is gone if the student has quit.
            if let Some(graded) = graded.transpose() {
                let _ = to.send(Event::Graded(number, Box::new(graded)));
            }
        };
        self.running.retain(|grading| !grading.is_finished());
        match thread::Builder::new().spawn(grading) {
            Ok(thread) => self.running.push(thread),
            Err(error) => {
                let error = Error::new(error).context(tr("cannot start a thread", "无法启动线程"));
                let _ = sender.send(Event::Graded(number, Box::new(Err(error))));
            }
        }
    }
}

fn grade(job: Job, stop: &AtomicBool, to: &Sender<Event>, number: u64) -> Result<Option<Record>> {
    supervise_until(job, stop, |step, size| {
        let _ = to.send(Event::Progress(number, step, size.to_vec()));
    })
    .context(tr("it cannot be graded", "无法评分"))
}

impl Drop for Grader {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wait for the threads, so that their processes and temporary folders are cleaned up.
        for grading in self.running.drain(..) {
            let _ = grading.join();
        }
    }
}
