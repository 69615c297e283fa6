//! The main loop of the program around a submission: reads requests and writes replies.

use std::io::{self, BufRead, Write};
use std::process::{self, ExitCode};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use anyhow::Result;
use common::error::describe;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::panics::{CaughtPanic, PanicRecorder};
use crate::protocol::{Outcome, REPLY, Reply, Request};

/// Replies to all requests on standard input. The process ends when that closes.
pub fn serve<Q, R>(mut handler: impl FnMut(Q) -> Result<R>) -> ExitCode
where
    Q: DeserializeOwned + Send + 'static,
    R: Serialize,
{
    let panic_recorder = PanicRecorder::install();
    for Request { number, data } in requests() {
        let outcome = match panic_recorder.catch(|| handler(data)) {
            Ok(Ok(data)) => Outcome::Data(data),
            Ok(Err(error)) => Outcome::Error(describe(&error)),
            Err(CaughtPanic { message, call }) => Outcome::Panic { message, call },
        };
        if send(&Reply { number, outcome }).is_err() {
            return ExitCode::FAILURE; // the grader is gone
        }
    }
    ExitCode::FAILURE // a request was invalid
}

/// Receives the requests. A separate thread reads them and ends the process at the end of input, because the
/// grader may exit while the student's code runs.
fn requests<Q: DeserializeOwned + Send + 'static>() -> Receiver<Request<Q>> {
    let (to, requests) = channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(io::Result::ok) {
            let sent = serde_json::from_str(&line).map(|request| to.send(request));
            if !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
        process::exit(0)
    });
    requests
}

/// Writes a reply on its own line; the student's code may have printed part of a line.
fn send(reply: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(reply)?;
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "\n{REPLY}{text}")?;
    Ok(stdout.flush()?)
}
