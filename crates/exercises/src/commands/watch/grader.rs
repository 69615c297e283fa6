//! Background grading for the live view, one submission at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Error, Result};
use kernel_build::Clang;

use super::{Event, State, read_submission};
use crate::grade::Record;
use crate::lang::tr;
use crate::process::Limits;
use crate::worker::{Job, JobSettings, supervise_until};

/// The time limit of a submission, in seconds.
const TIME_LIMIT_SECONDS: u64 = 60;

/// The current grading and the channel that it reports to.
pub struct Grader {
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
    pub fn new(clang: Clang, to: Sender<Event>) -> Grader {
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
    pub fn is_current(&self, number: u64) -> bool {
        number == self.number
    }

    /// Returns true if the submission differs from the one graded last, or cannot be read.
    pub fn has_changed(&self, state: &State) -> bool {
        read_submission(state)
            .ok()
            .is_none_or(|text| Some(text) != self.text)
    }

    /// Starts grading the current submission and cancels the grading that is running.
    pub fn start(&mut self, state: &mut State) {
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
