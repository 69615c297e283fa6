//! Faults, which are device exceptions that ended launches of the program, and the severity of problems.

use std::fmt;

use cuda_driver::{Fault as SimulatorFault, Finding, SourceLine};
use serde::{Deserialize, Serialize};

/// A fault that ended a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// The message.
    pub text: String,
    /// The kind's name in records, for example `trap`.
    pub kind: String,
    /// The kernel and the line at which it stopped, if they are known.
    pub kernel: Option<String>,
    pub source: Option<SourceLine>,
    /// The finding that the fault corresponds to, even if no check was requested.
    pub finding: Option<Finding>,
    /// The lines at which threads of a launch were that did not end by itself, with descriptions.
    pub stalls: Vec<(SourceLine, String)>,
}

impl From<&SimulatorFault> for Fault {
    fn from(fault: &SimulatorFault) -> Fault {
        let location = fault.location.as_deref();
        let stalls = fault.stalls.iter();
        Fault {
            text: fault.to_string(),
            kind: fault.kind.kind(),
            kernel: location.map(|location| location.kernel.clone()),
            source: location.map(|location| location.source.clone()),
            finding: fault.finding(),
            stalls: stalls
                .map(|stall| (stall.source.clone(), stall.to_string()))
                .collect(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The severity of a problem. With checks, only errors fail the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warning,
    /// Only information.
    Note,
}

impl Level {
    /// Returns `error`, `warning` or `note`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}
