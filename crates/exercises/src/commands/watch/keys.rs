//! Keyboard input of the live view.

use std::io;
use std::sync::mpsc::Sender;
use std::thread;

use crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{Event, Key};

/// Spawns a thread that sends key presses and changes of the terminal's size for as long as the terminal
/// exists.
///
/// # Errors
///
/// Fails if the system cannot start a thread.
pub fn spawn_reader(to: Sender<Event>) -> io::Result<()> {
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
