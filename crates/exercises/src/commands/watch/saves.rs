//! Notifications of saved files.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Event;
use crate::files::display_path;
use crate::lang::tr;

/// The quiet period after which a file counts as saved: an editor may write it in several steps, through a
/// temporary file.
const QUIET_PERIOD: Duration = Duration::from_millis(60);

/// Sends an event for each file saved in a folder, until the returned watcher is dropped.
pub fn watch(folder: &Path, to: Sender<Event>) -> Result<RecommendedWatcher> {
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
