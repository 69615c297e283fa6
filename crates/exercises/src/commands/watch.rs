//! The `watch` command, a live view that grades the student's current exercise on every save.
//!
//! All events arrive on one channel, in order: keys, saves, progress of a grading. The view is redrawn on the alternate
//! screen of the terminal after each of them. A save cancels the grading that is running, because its text is obsolete.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Error, Result, bail};
use chapter::interrupt;
use chapter::lang::tr;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use crossterm::{execute, queue};
use kernel_build::Clang;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Context;
use super::check::store_failed;
use crate::course::Exercise;
use crate::data::Step;
use crate::error::format_error;
use crate::files::{display_path, read_text};
use crate::grade::{Record, find_compiler};
use crate::process::Limits;
use crate::report;
use crate::text::{columns, visible, wrapped};
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
    let _watcher = watch_saves(&context.workspace.path, to.clone())?;
    let screen = Screen::open()?;
    spawn_key_reader(to.clone()).context(tr("cannot start a thread", "无法启动线程"))?;
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
        screen.draw(|width, height| lines(&state, width, height))?;
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

/// The terminal while the live view runs; dropping it restores the terminal.
pub struct Screen;

impl Screen {
    /// Enters raw mode and the alternate screen.
    pub fn open() -> Result<Screen> {
        enable_raw_mode().context(tr(
            "the terminal cannot read single keys",
            "终端不能逐个读取按键",
        ))?;
        let screen = Screen;
        interrupt::on_exit(Some(restore));
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Draws the lines that `lines` returns for the terminal's width and height.
    pub fn draw(&self, lines: impl FnOnce(usize, usize) -> Vec<String>) -> Result<()> {
        if interrupt::is_shutting_down() {
            return Ok(()); // another thread is restoring the terminal
        }
        let (width, height) = size().unwrap_or((80, 24));
        let lines = lines(width.into(), height.into());
        let mut stdout = io::stdout().lock();
        queue!(stdout, MoveTo(0, 0))?;
        for (row, line) in lines.iter().enumerate() {
            if row > 0 {
                stdout.write_all(b"\r\n")?;
            }
            stdout.write_all(line.as_bytes())?;
            queue!(stdout, Clear(ClearType::UntilNewLine))?;
        }
        queue!(stdout, Clear(ClearType::FromCursorDown))?;
        Ok(stdout.flush()?)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        interrupt::on_exit(None);
        restore();
    }
}

/// Restores the terminal. Errors are ignored: a terminal that is gone needs no restoring.
fn restore() {
    let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

/// Spawns a thread that sends key presses and changes of the terminal's size for as long as the terminal
/// exists.
///
/// # Errors
///
/// Fails if the system cannot start a thread.
fn spawn_key_reader(to: Sender<Event>) -> io::Result<()> {
    let read = move || {
        loop {
            let event = match event::read() {
                Ok(event::Event::Key(key)) => action(key).map(Event::Key),
                Ok(event::Event::Resize(..)) => Some(Event::Resized),
                Ok(_) => None,
                // The terminal is gone.
                Err(_) => Some(Event::Key(Key::Quit)),
            };
            let quits = matches!(event, Some(Event::Key(Key::Quit)));
            if let Some(event) = event
                && (to.send(event).is_err() || quits)
            {
                return;
            }
        }
    };
    thread::Builder::new().spawn(read).map(drop)
}

/// Returns the action bound to a key.
fn action(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c') if control => Key::Interrupt,
        KeyCode::Char('n') => Key::Next,
        KeyCode::Char('h') => Key::Hint,
        KeyCode::Char('l') => Key::List,
        KeyCode::Char('s') => Key::Statement,
        KeyCode::Char('r') => Key::Regrade,
        KeyCode::Char('v') | KeyCode::Esc => Key::Verdict,
        KeyCode::Up | KeyCode::Char('k') => Key::Move(-1),
        KeyCode::Down | KeyCode::Char('j') => Key::Move(1),
        KeyCode::PageUp => Key::Page(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => Key::Page(1),
        KeyCode::Enter => Key::Open,
        KeyCode::Char('q') => Key::Quit,
        _ => return None,
    })
}

/// The quiet period after which a file counts as saved: an editor may write it in several steps, through a
/// temporary file.
const QUIET_PERIOD: Duration = Duration::from_millis(60);

/// Sends an event for each file saved in a folder, until the returned watcher is dropped.
fn watch_saves(folder: &Path, to: Sender<Event>) -> Result<RecommendedWatcher> {
    let (changed, names) = channel::<String>();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Ignore read accesses and errors of the watcher.
        let Ok(event) = event else { return };
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        for path in event.paths {
            let name = path.file_name().and_then(|name| name.to_str());
            if let Some(name) = name {
                let _ = changed.send(name.to_owned());
            }
        }
    })?;
    watcher
        .watch(folder, RecursiveMode::NonRecursive)
        .with_context(|| display_path(folder))?;
    let wait = move || {
        let mut pending: Vec<String> = Vec::new();
        loop {
            match names.recv_timeout(if pending.is_empty() {
                Duration::MAX
            } else {
                QUIET_PERIOD
            }) {
                Ok(name) if pending.contains(&name) => {}
                Ok(name) => pending.push(name),
                Err(RecvTimeoutError::Timeout) => {
                    for name in pending.drain(..) {
                        let _ = to.send(Event::Saved(name));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    };
    let thread = thread::Builder::new().spawn(wait);
    thread.context(tr("cannot start a thread", "无法启动线程"))?;
    Ok(watcher)
}

/// Lays out the view for a terminal's width and height: head, pane, keys.
fn lines(state: &State, width: usize, height: usize) -> Vec<String> {
    let lang = state.context.lang;
    let course = state.context.course;
    let title = state.exercise.data().title.get(lang);
    let mut lines = vec![
        localize!(
            lang,
            "{}/{}  {}: {}",
            "{}/{}  {}：{}";
            state.progress.passed_count(course), course.exercises.len(), state.exercise.name(), title
        ),
        format!(
            "{}  {}",
            state.context.workspace.display_path(state.exercise),
            status_line(state)
        ),
        "─".repeat(width.min(100)),
    ];
    let keys = [
        "─".repeat(width.min(100)),
        localize!(
            lang,
            "n next  h hint  s statement  v verdict  l list  r again  ↑ ↓ scroll  q quit",
            "n 下一题  h 提示  s 题目  v 结果  l 列表  r 重新评分  ↑ ↓ 滚动  q 退出"
        ),
    ];
    let visible_lines = height.saturating_sub(lines.len() + keys.len());
    let body = match &state.store_error {
        Some(reason) => format!("{reason}\n\n{}", body(state)),
        None => body(state),
    };
    // Expand tabs, whose width depends on the terminal.
    let body = visible(&body).replace('\t', "    ");
    let mut body_lines: Vec<String> = body.lines().flat_map(|line| wrapped(line, width)).collect();
    if body_lines.len() > visible_lines {
        // Reserve the last line for the number of lines below.
        let visible_lines = visible_lines.saturating_sub(1);
        let offset = state
            .scroll_offset
            .get()
            .min(body_lines.len() - visible_lines);
        state.scroll_offset.set(offset);
        state.visible_lines.set(visible_lines);
        body_lines.drain(..offset);
        let below = body_lines.len().saturating_sub(visible_lines);
        body_lines.truncate(visible_lines);
        body_lines.push(match below {
            0 => localize!(lang, "(end; ↑ scrolls up)", "（已到末尾，↑ 向上）"),
            below => localize!(
                lang,
                "… ({} more lines: ↓, or space for a page)",
                "……（还有 {} 行：按 ↓，或按空格翻页）";
                below
            ),
        });
    } else {
        state.scroll_offset.set(0);
    }
    body_lines.resize(visible_lines, String::new());
    lines.extend(body_lines);
    lines.extend(keys);
    lines.iter_mut().for_each(|line| truncate(line, width));
    lines
}

/// Returns a line about the current grading or the last verdict.
fn status_line(state: &State) -> String {
    let lang = state.context.lang;
    match (&state.position, &state.last) {
        (Some((step, size)), _) if size.is_empty() => {
            localize!(lang, "grading: {} …", "正在评分：{} ……"; report::step_activity(*step, lang))
        }
        (Some((step, size)), _) => localize!(
            lang,
            "grading: {}, size {} …",
            "正在评分：{}，规模 {} ……";
            report::step_activity(*step, lang), report::format_exercise_size(state.exercise, size)
        ),
        (None, None) => localize!(lang, "grading …", "正在评分 ……"),
        (None, Some(Ok(record))) if record.passed => localize!(lang, "✓ passed", "✓ 通过"),
        (None, Some(_)) => localize!(lang, "✗ not passed", "✗ 未通过"),
    }
}

fn body(state: &State) -> String {
    let lang = state.context.lang;
    match (state.pane, &state.last) {
        (Pane::List, _) => list(state),
        (Pane::Hint, _) => hints(state),
        (Pane::Statement, _) => {
            report::statement(state.context.course, state.exercise, &state.progress, lang)
        }
        (Pane::Report, None) => localize!(lang, "Grading is in progress.", "正在评分。"),
        (Pane::Report, Some(Err(reason))) => reason.clone(),
        (Pane::Report, Some(Ok(record))) => {
            let next_step = match record.passed {
                true => localize!(lang, "n: the next exercise", "n：下一题"),
                false => localize!(lang, "h: a hint", "h：提示"),
            };
            format!(
                "{}\n{next_step}",
                report::full_report(state.exercise, record, false, lang)
            )
        }
    }
}

fn hints(state: &State) -> String {
    let lang = state.context.lang;
    let hints = &state.exercise.data().hints;
    let texts = hints.iter().take(hints_shown(state)).enumerate();
    let texts =
        texts.map(|(number, hint)| format!("{}/{}  {}", number + 1, hints.len(), hint.get(lang)));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Formats the list of all exercises in two columns.
fn list(state: &State) -> String {
    let rows = state
        .context
        .course
        .exercises
        .iter()
        .enumerate()
        .map(|(number, exercise)| {
            let cursor = if number == state.selected { '>' } else { ' ' };
            let mark = match exercise {
                exercise if exercise.name() == state.exercise.name() => "→",
                exercise if state.progress.has_passed(exercise) => "✓",
                _ => " ",
            };
            format!("{cursor} {mark} {:<24}", exercise.name())
        });
    let rows: Vec<String> = rows.collect();
    let half = rows.len().div_ceil(2);
    let lines = (0..half).map(|row| {
        let right = rows.get(row + half).map_or("", String::as_str);
        format!("{}  {right}", rows[row])
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let keys = localize!(
        state.context.lang,
        "↑ ↓ and Enter: open another exercise",
        "↑ ↓ 选择，回车：打开所选的题"
    );
    format!("{lines}\n{keys}")
}

fn truncate(line: &mut String, width: usize) {
    while columns(line) > width {
        line.pop();
    }
}
