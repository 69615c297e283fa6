//! The program around an answer: questions in, replies out.

use std::io::{self, BufRead, Write};
use std::process::{self, ExitCode};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use anyhow::Result;
use common::error::in_words;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::panics::{Panicked, Panics};
use crate::protocol::{Outcome, Question, REPLY, Reply};

/// Replies to all questions from standard input. The process ends when that closes.
pub fn serve<Q, R>(mut answer: impl FnMut(Q) -> Result<R>) -> ExitCode
where
    Q: DeserializeOwned + Send + 'static,
    R: Serialize,
{
    let panics = Panics::kept();
    for Question { number, asks } in questions() {
        let outcome = match panics.caught(|| answer(asks)) {
            Ok(Ok(data)) => Outcome::Data(data),
            Ok(Err(error)) => Outcome::Error(in_words(&error)),
            Err(Panicked { why, call }) => Outcome::Panic { why, call },
        };
        if say(&Reply { number, outcome }).is_err() {
            return ExitCode::FAILURE; // nobody listens any more
        }
    }
    ExitCode::FAILURE // a question that is none
}

/// The questions, as they come. They are read by a thread of its own, which ends the process with them:
/// who asks may go while the student's code runs.
fn questions<Q: DeserializeOwned + Send + 'static>() -> Receiver<Question<Q>> {
    let (to, questions) = channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(io::Result::ok) {
            let sent = serde_json::from_str(&line).map(|question| to.send(question));
            if !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
        process::exit(0)
    });
    questions
}

/// A line of its own, whatever was printed before.
fn say(reply: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(reply)?;
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "\n{REPLY}{text}")?;
    Ok(stdout.flush()?)
}
