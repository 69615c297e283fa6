//! Reports of failed calls. A call is reported once, by the outermost API function: the runtime's functions call the
//! driver's.

use cuda_sim::check::reason;

use super::SIMULATOR;
use crate::log::catch_panic;
use crate::simulator::{Event, FailedCall, in_child, with_calls};
use crate::status::{Code, ErrorText, SUCCESS};

/// Runs the body of the API function `function`, and reports the error that it returns, unless another API
/// function made the call. `find` looks up an error in the API's table. `body` must not panic.
pub fn report_failure(
    function: &'static str,
    find: fn(Code) -> Option<&'static ErrorText>,
    body: impl FnOnce() -> Code,
) -> Code {
    // Hundreds of functions instantiate this one, so everything that does not depend on `body` is a function of its
    // own.
    let depth = begin_call(function);
    let code = body();
    end_call(function, find, depth, code);
    code
}

/// Counts the API function that the thread enters. Returns the number of those that it is already in.
fn begin_call(function: &'static str) -> u32 {
    let depth = with_calls(|calls| calls.depth.replace(calls.depth.get() + 1));
    if depth == 0 {
        with_calls(|calls| calls.function.set(function));
        reason::take();
    }
    depth
}

/// Restores the number of API functions that the thread is in, and reports the result of the outermost one.
fn end_call(
    function: &'static str,
    find: fn(Code) -> Option<&'static ErrorText>,
    depth: u32,
    code: Code,
) {
    with_calls(|calls| calls.depth.set(depth));
    if depth > 0 || code == SUCCESS || in_child() {
        return;
    }
    let error = find(code).map(|&(_, name, meaning)| (name, meaning));
    let call = FailedCall {
        function,
        code,
        error,
        kernel: with_calls(|calls| calls.kernel.take()),
        reason: reason::take(),
    };
    catch_panic(function, &mut || {
        SIMULATOR.telemetry.emit(Event::CallFailed(&call));
        Ok(())
    });
}

/// Returns the name of the API function that the program called on this thread; `None` if it is in none.
pub fn current_function() -> Option<&'static str> {
    with_calls(|calls| (calls.depth.get() > 0).then(|| calls.function.get()))
}

/// Names the kernel that the running API function failed to launch, for the report.
pub fn name_kernel(symbol: String) {
    with_calls(|calls| calls.kernel.replace(Some(symbol)));
}

/// Reports that the program has fetched an error: its last error, or the name or description of an error. The API
/// function that it called for this may be inside [`report_failure`], but not inside another API function.
pub fn report_fetched(code: Code) {
    if code != SUCCESS && with_calls(|calls| calls.depth.get()) <= 1 {
        SIMULATOR.telemetry.emit(Event::ErrorFetched(code));
    }
}
