//! Grading in a process of its own: what an answer does there, an endless loop, a crash, all of the
//! memory, costs nothing but that process.
//!
//! The program starts itself again with the hidden command `worker`. That one lowers its own limits,
//! reads a [`Job`] from its standard input and answers in lines of JSON, each with the job's token, so
//! that no kernel's `printf` can be taken for one. When its input closes, whoever started it is gone, and
//! it ends.

mod job;
mod limits;
mod lines;
mod supervise;

use std::io::{self, BufRead, Read, Write};
use std::{process, thread};

use anyhow::{Context as _, Result};

pub use job::{Job, Limits};
use job::{Line, Message};
pub use supervise::{Graded, supervise};

use crate::course;
use crate::grade::{Answer, Grading, grade};

/// The hidden command: one job, from standard input.
///
/// # Errors
///
/// Where there is no job to read.
pub fn work() -> Result<()> {
    let mut text = String::new();
    io::stdin().lock().read_line(&mut text)?;
    let job: Job = serde_json::from_str(&text).context("no job on standard input")?;
    thread::spawn(|| {
        // Nothing more is written there: this returns when it closes.
        let _ = io::stdin().lock().read(&mut [0]);
        process::exit(1);
    });
    let message = match begin(&job) {
        Ok(message) => message,
        Err(error) => Message::Broken(common::error::in_words(&error)),
    };
    say(&job.token, message);
    // Memory and threads go with the process; what has been said is all that counts.
    process::exit(0);
}

fn begin(job: &Job) -> Result<Message> {
    limits::lower(&job.limits)?;
    let exercise = course::find(&job.exercise).context("there is no such exercise")?;
    let answer = Answer {
        shown: job.shown.clone(),
        text: job.text.clone(),
    };
    let mut grading = Grading {
        seed: job.seed,
        lang: job.lang,
        at: &mut |step, size| {
            let size = size.to_vec();
            say(&job.token, Message::At { step, size });
        },
    };
    Ok(Message::Verdict(grade(exercise, &answer, &mut grading)?))
}

/// A line for whoever supervises, on a line of its own whatever was printed before.
fn say(token: &str, message: Message) {
    let token = token.to_owned();
    let Ok(line) = serde_json::to_string(&Line { token, message }) else {
        return;
    };
    let mut stdout = io::stdout().lock();
    // That nobody reads it shows where its input closes.
    let _ = writeln!(stdout, "\n{line}").and_then(|()| stdout.flush());
}
