//! How a question and its reply are written: each is a line of JSON.

use serde::{Deserialize, Serialize};

/// Begins a line with a reply. Other lines are what the student's code printed.
pub const REPLY: &str = "@reply ";

/// What a program is asked.
#[derive(Debug, Serialize, Deserialize)]
pub struct Question<Q> {
    /// Counts from 1.
    pub number: u32,
    /// The exercise's own.
    pub asks: Q,
}

/// What a program makes of a question.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply<R> {
    /// That of the question.
    pub number: u32,
    /// What came of it.
    pub outcome: Outcome<R>,
}

/// What came of calling the student's functions.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome<R> {
    /// They returned, and this is what.
    Data(R),
    /// They returned an error, in words.
    Error(String),
    /// They panicked.
    Panic {
        /// The message and the place.
        why: String,
        /// In which call, as `blocks(7, 2)`; empty where it is not known.
        call: String,
    },
}
