//! Problems of a process: failed calls, with the places in the program that made them, and whether the program noticed;
//! faults, which are device exceptions that ended launches; and the severity of both.
//!
//! A program notices an error if it asks for its last error, or for the error's name or description. An error that
//! is only compared with a code is not seen here. Therefore programs that were not compiled by `cuda-run`, which
//! mostly check errors in other ways (Rust converts them to a `Result`, Python to an exception), get the benefit of
//! the doubt: see [`Judgement::Lenient`].

use std::collections::HashMap;
use std::ffi::CStr;
use std::fmt;

use cuda_driver::names::short;
use cuda_driver::{
    CallSite, FailedCall as SimulatorCall, Fault as SimulatorFault, Finding, Reason, SourceLine,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::caller::{Callers, base_name};
use crate::wire::Event;

/// The calls of one function that failed at one place with one error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCall {
    pub function: String,
    /// The kernel that the call launches, if it does.
    pub kernel: Option<String>,
    /// The error's C name.
    pub error: String,
    /// The error's meaning.
    pub meaning: String,
    /// The reason of the first call's error.
    pub reason: Option<Reason>,
    /// The place in the program, if it has line tables.
    pub location: Option<CallSite>,
    pub calls: u64,
    /// The number of calls whose error the program did not notice.
    pub ignored: u64,
    /// True if the error is an expected answer, such as that there is no such name.
    pub expected: bool,
}

impl FailedCall {
    /// Returns true if both describe the same call, apart from the numbers.
    pub fn is_same(&self, other: &FailedCall) -> bool {
        let reasons_matter = self.location.is_none();
        (&self.function, &self.kernel, &self.error, &self.location)
            == (
                &other.function,
                &other.kernel,
                &other.error,
                &other.location,
            )
            && (!reasons_matter || self.reason == other.reason)
    }

    /// Returns the severity: an error that the program noticed is only information.
    pub fn level(&self) -> Level {
        if self.ignored > 0 {
            Level::Error
        } else {
            Level::Note
        }
    }
}

impl fmt::Display for FailedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.level().name())?;
        match &self.kernel {
            Some(kernel) => write!(f, ": api: launch of {kernel} ({})", self.function)?,
            None => write!(f, ": api: {}", self.function)?,
        }
        write!(f, " failed with {} ({})", self.error, self.meaning)?;
        match (self.ignored, self.calls) {
            (0, 1) => {}
            (0, calls) => write!(f, ", {calls} times")?,
            (1, 1) => f.write_str(", and the program ignored it")?,
            (ignored, calls) if ignored == calls => {
                write!(f, " {calls} times, and the program ignored it")?
            }
            (ignored, calls) => {
                write!(f, " {calls} times, {ignored} of which the program ignored")?
            }
        }
        if let Some(location) = &self.location {
            write!(f, "\n  at {location}")?;
        }
        match &self.reason {
            Some(reason) => write!(f, "\n  {reason}"),
            None => Ok(()),
        }
    }
}

/// The rule by which errors count as ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Judgement {
    /// An error is ignored unless the program fetches it.
    Strict,
    /// Errors are ignored only if the program never asks for the name or description of any error, and only those
    /// of calls from code with line tables, which excludes NVIDIA's libraries.
    #[default]
    Lenient,
}

/// Records the failed calls of this process.
#[derive(Default)]
pub struct Failures {
    judgement: Judgement,
    callers: Callers,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<FailedCall>,
    /// The index of the last call that failed with each code, until its error is fetched.
    pending: HashMap<i32, usize>,
    /// True once the program has fetched an error.
    fetches: bool,
}

impl Failures {
    pub fn new(judgement: Judgement) -> Self {
        Failures {
            judgement,
            callers: Callers::default(),
            state: Mutex::default(),
        }
    }

    /// Records a failed call of the calling thread. Returns an event with what is known about it so far, except for
    /// repetitions, of which only some have an event; [`Failures::events`] has the final numbers.
    pub fn record(&self, call: &SimulatorCall) -> Option<Event> {
        if is_consequence_of_fault(call.code) || is_not_ready(call) {
            return None;
        }
        let kernel = call.kernel.as_deref().map(short);
        let location = self.callers.locate(call.kernel.as_deref());
        let text = |text: Option<&CStr>| match text {
            Some(text) => text.to_string_lossy().into_owned(),
            None => format!("error {}", call.code),
        };
        let failed = FailedCall {
            function: base_name(call.function).to_owned(),
            error: text(call.error.map(|(name, _)| name)),
            meaning: text(call.error.map(|(_, meaning)| meaning)),
            kernel,
            reason: call.reason.clone(),
            location,
            calls: 0,
            ignored: 0,
            expected: is_status(call.function, call.code),
        };
        let state = &mut *self.state.lock();
        let lenient = self.judgement == Judgement::Lenient;
        let unknown = lenient && (state.fetches || failed.location.is_none());
        let ignored = !(unknown || failed.expected);
        let known = state.calls.iter().position(|known| known.is_same(&failed));
        let index = known.unwrap_or_else(|| {
            state.calls.push(failed);
            state.calls.len() - 1
        });
        let entry = &mut state.calls[index];
        entry.calls += 1;
        state.pending.remove(&call.code);
        if ignored {
            entry.ignored += 1;
            // A program cannot do much about kernels that do not load, and the rest of it is meaningless.
            if !matches!(entry.reason, Some(Reason::NotLoaded(_))) {
                state.pending.insert(call.code, index);
            }
        }
        entry
            .calls
            .is_power_of_two()
            .then(|| Event::CallFailed(entry.clone()))
    }

    /// Records that the program has fetched an error.
    pub fn fetched(&self, code: i32) -> Option<Event> {
        let state = &mut *self.state.lock();
        if self.judgement == Judgement::Lenient && !state.fetches {
            state.calls.iter_mut().for_each(|call| call.ignored = 0);
        }
        state.fetches = true;
        let entry = &mut state.calls[state.pending.remove(&code)?];
        entry.ignored = entry.ignored.saturating_sub(1);
        entry
            .calls
            .is_power_of_two()
            .then(|| Event::CallFailed(entry.clone()))
    }

    /// Returns an event for each call, with the final numbers.
    pub fn events(&self) -> Vec<Event> {
        let state = self.state.lock();
        state.calls.iter().cloned().map(Event::CallFailed).collect()
    }
}

/// Returns true for the errors with which every call fails after a fault, which is reported itself.
fn is_consequence_of_fault(code: i32) -> bool {
    matches!(code, 214 | 220 | 226 | 700 | 702 | 710 | 714..=719 | 721)
}

/// Returns true for a query of work that is not complete. Only the elapsed time of events is no query.
fn is_not_ready(call: &SimulatorCall) -> bool {
    call.code == 600 && !call.function.ends_with("EventElapsedTime")
}

/// Returns true if programs call a function just to see whether it returns this error, or may ignore it.
fn is_status(function: &str, code: i32) -> bool {
    let function = base_name(function);
    /// The codes by the end of the function's name, which the driver's and the runtime's functions share.
    const STATUS: [(&str, &[i32]); 23] = [
        // Is there a device?
        ("Init", &[100]),
        ("GetDeviceCount", &[100]),
        ("DeviceGetCount", &[100]),
        // Is it supported, or set already?
        ("DeviceGetAttribute", &[1]),
        ("SetLimit", &[1, 215]),
        ("GetLimit", &[1, 215]),
        ("SetDeviceFlags", &[708]),
        ("PrimaryCtxSetFlags", &[708]),
        ("EnablePeerAccess", &[217, 704]),
        ("DisablePeerAccess", &[705]),
        ("HostRegister", &[712]),
        ("HostUnregister", &[713]),
        // Is there such a name?
        ("ModuleGetGlobal", &[500]),
        ("ModuleGetFunction", &[500]),
        ("LibraryGetGlobal", &[500]),
        ("LibraryGetKernel", &[500]),
        ("GetProcAddress", &[500]),
        // Is there another parameter?
        ("GetParamInfo", &[1]),
        // Is there a context, and is the address known?
        ("CtxGetDevice", &[3, 201]),
        ("CtxPopCurrent", &[201]),
        ("PointerGetAttribute", &[1]),
        ("PointerGetAttributes", &[1]),
        // Is the stream being captured?
        ("StreamIsCapturing", &[906]),
    ];
    /// The context or the runtime is gone: destructors of global objects free memory that no longer exists.
    const TORN_DOWN: [i32; 3] = [4, 201, 709];
    /// The simulator lacks a function, which the report states.
    const NOT_SUPPORTED: i32 = 801;
    let is_free = function.contains("Free") || function.contains("Destroy");
    code == NOT_SUPPORTED
        || (is_free && TORN_DOWN.contains(&code))
        || STATUS
            .iter()
            .any(|(name, codes)| function.ends_with(name) && codes.contains(&code))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::EventLog;

    fn call(function: &'static str, code: i32) -> SimulatorCall {
        SimulatorCall {
            function,
            code,
            error: None,
            reason: None,
            kernel: None,
        }
    }

    /// Returns the number of calls whose errors the program did not notice, by function.
    fn ignored(failures: &Failures) -> Vec<(String, u64)> {
        let log: EventLog = failures.events().into_iter().collect();
        let calls = log.summary("").failed_calls.into_iter();
        calls
            .filter(|call| call.ignored > 0)
            .map(|call| (call.function, call.ignored))
            .collect()
    }

    #[test]
    fn a_fetch_applies_to_the_last_error_with_its_code() {
        let failures = Failures::new(Judgement::Strict);
        failures.record(&call("cudaMalloc", 2));
        failures.record(&call("cudaMemcpy", 1));
        failures.record(&call("cudaMemcpyToSymbol", 1));
        failures.fetched(1);
        // The same error's description.
        failures.fetched(1);
        let expected = [("cudaMalloc".to_owned(), 1), ("cudaMemcpy".to_owned(), 1)];
        assert_eq!(ignored(&failures), expected);
    }

    #[test]
    fn launches_of_several_kernels_are_listed_by_kernel() {
        let failures = Failures::new(Judgement::Strict);
        for kernel in ["first", "second", "first"] {
            failures.record(&SimulatorCall {
                kernel: Some(kernel.to_owned()),
                ..call("cudaLaunchKernel", 9)
            });
        }
        let events: EventLog = failures.events().into_iter().collect();
        let calls = events.summary("").failed_calls.into_iter();
        let calls: Vec<_> = calls.map(|call| (call.kernel, call.calls)).collect();
        let expected = [("first", 2), ("second", 1)];
        assert_eq!(
            calls,
            expected.map(|(kernel, calls)| (Some(kernel.to_owned()), calls))
        );
    }

    #[test]
    fn queries_are_not_errors() {
        let failures = Failures::new(Judgement::Strict);
        for (function, code) in [
            ("cudaEventQuery", 600),
            ("cudaDeviceEnablePeerAccess", 704),
            ("cuModuleGetGlobal_v2", 500),
            ("cudaFree", 709),
            ("cudaMemcpy", 700),
        ] {
            failures.record(&call(function, code));
        }
        assert_eq!(ignored(&failures), []);
        failures.record(&call("cudaEventElapsedTime", 600));
        assert_eq!(ignored(&failures), [("cudaEventElapsedTime".to_owned(), 1)]);
    }

    #[test]
    fn kernels_that_do_not_load_cannot_be_handled() {
        let failures = Failures::new(Judgement::Strict);
        let reason = Some(Reason::NotLoaded("too old".to_owned()));
        failures.record(&SimulatorCall {
            reason,
            ..call("cudaLaunchKernel", 222)
        });
        failures.fetched(222);
        assert_eq!(ignored(&failures), [("cudaLaunchKernel".to_owned(), 1)]);
    }

    #[test]
    fn other_programs_get_the_benefit_of_the_doubt() {
        let failures = Failures::new(Judgement::Lenient);
        failures.record(&call("cuMemFree_v2", 1));
        failures.fetched(2);
        assert_eq!(ignored(&failures), []);
    }
}
