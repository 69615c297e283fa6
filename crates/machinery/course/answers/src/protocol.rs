//! The protocol between the grader and the program around a submission: each request and each reply is a line
//! of JSON.

use serde::{Deserialize, Serialize};

/// The prefix of lines with replies. Other lines are output of the student's code.
pub const REPLY: &str = "@reply ";

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
    /// The outcome.
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
