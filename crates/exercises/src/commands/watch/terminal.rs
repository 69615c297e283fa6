//! The live view's terminal and its events: the alternate screen, keys, and saved files.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use chapter::interrupt;
use chapter::lang::tr;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use crossterm::{execute, queue};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::{Event, Key};
use crate::files::display_path;

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
pub fn spawn_key_reader(to: Sender<Event>) -> io::Result<()> {
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
pub fn watch_saves(folder: &Path, to: Sender<Event>) -> Result<RecommendedWatcher> {
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
