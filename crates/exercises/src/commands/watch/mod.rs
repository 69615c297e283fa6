//! The `watch` command, a live view that grades the student's current exercise on every save.
//!
//! All events arrive on one channel, in order: keys, saves, progress of a grading. The view is redrawn after
//! each of them. A save cancels the grading that is running, because its text is obsolete.

mod grader;
mod keys;
mod saves;
mod screen;
mod view;

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};

use anyhow::{Context as _, Result, bail};

use super::check::unkept;
use super::{Course, PROGRAM};
use crate::compiler;
use crate::data::Step;
use crate::error::in_words;
use crate::exercise::Exercise;
use crate::folder;
use crate::lang::tr;
use crate::progress::Progress;
use crate::record::Record;
use grader::Grader;
use screen::Screen;

/// The exit code that shells report for a program ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

/// An event of the live view.
enum Event {
    /// A key was pressed.
    Key(Key),
    /// A file of this name was saved in the student's folder.
    Saved(String),
    /// The grading with this number reached a step, at a size.
    At(u64, Step, Vec<u32>),
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
    Again,
    /// Show the verdict, from any pane.
    Verdict,
    /// Move down this many lines, or exercises in the list; up if negative.
    Move(isize),
    /// Move down this many screens; up if negative.
    Page(isize),
    /// Open the exercise that is marked in the list.
    Choose,
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
    course: &'a Course,
    exercise: &'static Exercise,
    progress: Progress,
    /// The last result of this exercise, or the reason why it could not be graded.
    last: Option<Result<Record, String>>,
    /// The reason why the progress could not be saved, if it could not.
    unkept: Option<String>,
    /// The step and size that the current grading has reached.
    at: Option<(Step, Vec<u32>)>,
    pane: Pane,
    /// The number of lines scrolled off above the screen.
    above: Cell<usize>,
    /// The number of lines that fit on the screen, as of the last draw.
    room: Cell<usize>,
    /// The index of the exercise that is marked in the list.
    marked: usize,
}

/// Runs the live view until the student quits.
pub fn run(course: &Course, name: Option<&str>) -> Result<ExitCode> {
    if !io::stdout().is_terminal() {
        bail!(say!(
            course.lang,
            "watch needs a terminal; `{} check` grades once",
            "watch 需要在终端中运行；`{} check` 可以评分一次";
            PROGRAM
        ));
    }
    let exercise = course.named(name)?;
    let state = State {
        course,
        exercise,
        progress: course.folder.progress(course.lang)?,
        last: None,
        unkept: None,
        at: None,
        pane: Pane::Statement,
        above: Cell::new(0),
        room: Cell::new(0),
        marked: 0,
    };
    let clang = compiler::find(course.lang)?;
    let (to, events) = channel();
    let _watcher = saves::watch(&course.folder.path, to.clone())?;
    let screen = Screen::open()?;
    keys::read(to.clone()).context(tr("cannot start a thread", "无法启动线程"))?;
    let grader = Grader::new(clang, to);
    let ended = follow(state, &screen, grader, &events);
    drop(screen);
    ended
}

fn follow(
    mut state: State,
    screen: &Screen,
    mut grader: Grader,
    events: &Receiver<Event>,
) -> Result<ExitCode> {
    grader.begin(&mut state);
    loop {
        screen.draw(|width, height| view::lines(&state, width, height))?;
        match events.recv()? {
            Event::Key(Key::Quit) => return Ok(ExitCode::SUCCESS),
            Event::Key(Key::Interrupt) => return Ok(ExitCode::from(INTERRUPTED)),
            Event::Key(key) => pressed(&mut state, &key, &mut grader)?,
            Event::Saved(file) => saved(&mut state, &file, &mut grader),
            Event::At(number, step, size) if grader.is(number) => state.at = Some((step, size)),
            Event::Graded(number, graded) if grader.is(number) => over(&mut state, *graded),
            // An event of a cancelled grading.
            Event::At(..) | Event::Graded(..) | Event::Resized => {}
        }
    }
}

fn pressed(state: &mut State, key: &Key, grader: &mut Grader) -> Result<()> {
    let all = &crate::course::EXERCISES;
    match key {
        Key::Move(by) if state.pane == Pane::List => {
            state.marked = state.marked.saturating_add_signed(*by).min(all.len() - 1);
        }
        Key::Move(by) => scroll(state, *by),
        // Keep one line of the previous screen in sight.
        Key::Page(by) => scroll(state, by * state.room.get().saturating_sub(1).cast_signed()),
        Key::Choose if state.pane == Pane::List => {
            let chosen = &all[state.marked];
            if chosen.name != state.exercise.name {
                change(state, chosen, grader);
            }
            show(state, Pane::Statement);
        }
        Key::Choose => {}
        Key::Verdict => show(state, Pane::Report),
        Key::Next => {
            if let Some(next) = after(state) {
                change(state, next, grader);
                show(state, Pane::Statement);
            }
        }
        Key::Hint => {
            // Show the next hint, unless the student is only returning to those already shown.
            if state.pane == Pane::Hint || hints_shown(state) == 0 {
                let hints = state.exercise.data()?.hints.len();
                let exercise = state.exercise;
                keep(state, |progress| {
                    progress.one_more_hint(exercise, hints);
                });
            }
            show(state, Pane::Hint);
        }
        Key::List => {
            let here = all.iter().position(|it| it.name == state.exercise.name);
            state.marked = here.unwrap_or(0);
            show(state, Pane::List);
        }
        Key::Statement => show(state, Pane::Statement),
        Key::Again => grader.begin(state),
        Key::Quit | Key::Interrupt => {}
    }
    Ok(())
}

/// Switches to a pane and scrolls to its beginning.
fn show(state: &mut State, pane: Pane) {
    state.pane = pane;
    state.above.set(0);
}

/// Scrolls the pane; drawing clamps the position to the end.
fn scroll(state: &State, by: isize) {
    state.above.set(state.above.get().saturating_add_signed(by));
}

fn hints_shown(state: &State) -> usize {
    let hints = &state.progress.hints;
    hints.get(state.exercise.name).copied().unwrap_or(0)
}

/// Returns the next exercise that has not passed, searching forward from here and wrapping around.
fn after(state: &State) -> Option<&'static Exercise> {
    let all = &crate::course::EXERCISES;
    let here = all.iter().position(|it| it.name == state.exercise.name)?;
    let (before, from) = all.split_at(here + 1);
    let mut others = from.iter().chain(&before[..here]);
    others.find(|exercise| !state.progress.has(exercise))
}

/// Handles a saved file. Saving another exercise's file makes it the current exercise.
fn saved(state: &mut State, file: &str, grader: &mut Grader) {
    let all = &crate::course::EXERCISES;
    let Some(exercise) = all.iter().find(|exercise| exercise.file() == file) else {
        return;
    };
    if exercise.name != state.exercise.name {
        change(state, exercise, grader);
        show(state, Pane::Report);
    } else if grader.is_new(state) {
        grader.begin(state);
        show(state, Pane::Report);
    }
}

fn change(state: &mut State, exercise: &'static Exercise, grader: &mut Grader) {
    state.exercise = exercise;
    state.last = None;
    grader.begin(state);
}

fn over(state: &mut State, graded: Result<Record>) {
    state.at = None;
    let graded = graded.map_err(|error| in_words(&error, state.course.lang));
    if let Ok(record) = &graded {
        let (exercise, passed) = (state.exercise, record.passed);
        keep(state, |progress| progress.set(exercise, passed));
    } else {
        show(state, Pane::Report);
    }
    state.last = Some(graded);
}

/// Changes the progress and saves it. If it cannot be saved, the change lasts until the program ends, and the
/// view shows the reason.
fn keep(state: &mut State, change: impl Fn(&mut Progress)) {
    let lang = state.course.lang;
    match state.course.folder.change(lang, &change) {
        Ok(progress) => {
            state.progress = progress;
            state.unkept = None;
        }
        Err(error) => {
            change(&mut state.progress);
            state.unkept = Some(in_words(&unkept(error, lang), lang));
        }
    }
}

/// Reads the current submission.
fn text(state: &State) -> Result<String> {
    let file = state.course.folder.file(state.exercise);
    folder::read(&file, &folder::shown(&file), state.course.lang)
}
