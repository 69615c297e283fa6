//! The protocol between the grader and the program around a submission, in which each request and each reply is a line
//! of JSON; and that program's main loop, which catches panics in the student's code.

use std::cell::RefCell;
use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::{self, ExitCode};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, thread};

use anyhow::Result;
use common::error::describe;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The prefix of lines with replies. Other lines are output of the student's code.
pub const REPLY: &str = "@reply ";

/// The message, instead of a reply, that the program has started: what happens before it is not the submission's
/// fault, and no code of the submission has run.
pub const READY: &str = "ready";

/// A request to the program.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request<Q> {
    /// The request's number, from 1.
    pub number: u32,
    /// The exercise's own data.
    pub data: Q,
}

/// The reply to a request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply<R> {
    /// The request's number.
    pub number: u32,
    pub outcome: Outcome<R>,
}

/// The outcome of calling the student's functions.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome<R> {
    /// They returned this data.
    Data(R),
    /// They returned this error.
    Error(String),
    /// They panicked.
    Panic {
        /// The message and the source location.
        #[serde(rename = "why")]
        message: String,
        /// The call, such as `blocks(7, 2)`; empty if unknown.
        call: String,
    },
}

/// Opens what the handler needs and replies to all requests on standard input. The process ends when that closes.
pub(crate) fn serve<S, Q, R>(
    open: impl FnOnce() -> Result<S>,
    mut handler: impl FnMut(&mut S, Q) -> Result<R>,
) -> ExitCode
where
    Q: DeserializeOwned + Send + 'static,
    R: Serialize,
{
    let panic_recorder = PanicRecorder::install();
    let Ok((mut state, requests)) = start(open) else {
        return ExitCode::FAILURE;
    };
    for Request { number, data } in requests {
        let outcome = match panic_recorder.catch(|| handler(&mut state, data)) {
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

/// Gives up the rights that the submission does not need, and reports that the program has started.
fn start<S, Q: DeserializeOwned + Send + 'static>(
    open: impl FnOnce() -> Result<S>,
) -> Result<(S, Receiver<Request<Q>>)> {
    // NVIDIA's driver opens files later.
    if env::var_os("CUDA_BACKEND").is_none_or(|backend| backend != "gpu") {
        confine::forbid_named_files()?;
    }
    let state = open()?;
    let requests = requests()?;
    send_line(READY)?;
    Ok((state, requests))
}

/// Receives the requests. A separate thread reads them and ends the process at the end of input, because the
/// grader may exit while the student's code runs.
fn requests<Q: DeserializeOwned + Send + 'static>() -> io::Result<Receiver<Request<Q>>> {
    let (to, requests) = channel();
    thread::Builder::new().spawn(move || {
        for line in io::stdin().lock().lines().map_while(io::Result::ok) {
            let sent = serde_json::from_str(&line).map(|request| to.send(request));
            if !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
        process::exit(0)
    })?;
    Ok(requests)
}

/// Writes a reply.
fn send(reply: &impl Serialize) -> Result<()> {
    send_line(&serde_json::to_string(reply)?)
}

/// Writes a message on its own line; the student's code may have printed part of a line.
fn send_line(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "\n{REPLY}{text}")?;
    Ok(stdout.flush()?)
}

thread_local! {
    /// The current call of the student's code, in source form.
    static CALL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Calls the student's code, recording `call` for the case that it panics.
pub(crate) fn with_call<T>(call: String, work: impl FnOnce() -> T) -> T {
    CALL.set(call);
    let result = work();
    CALL.take();
    result
}

/// A caught panic.
#[derive(Debug, PartialEq, Eq)]
pub struct CaughtPanic {
    /// The message and the source location.
    pub message: String,
    /// The call, such as `blocks(7, 2)`; empty if unknown.
    pub call: String,
}

/// A panic hook that records the first message instead of printing it.
pub struct PanicRecorder(Arc<Mutex<String>>);

impl PanicRecorder {
    /// Installs the hook.
    pub fn install() -> PanicRecorder {
        let message = Arc::new(Mutex::new(String::new()));
        let recorded = Arc::clone(&message);
        panic::set_hook(Box::new(move |panic| {
            let mut message = recorded.lock().unwrap_or_else(PoisonError::into_inner);
            // Record only the first panic, which causes the others.
            if message.is_empty() {
                *message = format_message(panic.payload_as_str(), panic.location());
            }
        }));
        PanicRecorder(message)
    }

    /// Runs `work`; returns the recorded message if it panics.
    pub fn catch<T>(&self, work: impl FnOnce() -> T) -> Result<T, CaughtPanic> {
        panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
            let mut message = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            CaughtPanic {
                message: std::mem::take(&mut *message),
                call: CALL.take(),
            }
        })
    }
}

fn format_message(message: Option<&str>, location: Option<&panic::Location>) -> String {
    let message = message.unwrap_or("?");
    match location {
        Some(location) => format!("{message}\n  {}:{}", location.file(), location.line()),
        None => message.to_owned(),
    }
}
