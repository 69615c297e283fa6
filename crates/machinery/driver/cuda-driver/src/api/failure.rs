//! Reports of failed calls. A call is reported once, by the outermost API function: the runtime's functions call the
//! driver's.

use std::cell::{Cell, RefCell};

use cuda_sim::check::reason;

use super::SIMULATOR;
use crate::fork;
use crate::simulator::{Event, FailedCall};
use crate::status::{Code, ErrorText, SUCCESS};

thread_local! {
    /// The number of API functions that the calling thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };

    /// The symbol of the kernel that the running API function failed to launch.
    static KERNEL: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the body of the API function `function`, and reports the error that it returns, unless another API
/// function made the call. `find` looks up an error in the API's table.
pub fn report_failure(
    function: &'static str,
    find: fn(Code) -> Option<&'static ErrorText>,
    body: impl FnOnce() -> Code,
) -> Code {
    let depth = DEPTH.replace(DEPTH.get() + 1);
    if depth == 0 {
        reason::take();
    }
    let code = body();
    DEPTH.set(depth);
    if depth == 0 && code != SUCCESS && !fork::in_child() {
        let error = find(code).map(|&(_, name, meaning)| (name, meaning));
        let call = FailedCall {
            function,
            code,
            error,
            kernel: KERNEL.try_with(RefCell::take).ok().flatten(),
            reason: reason::take(),
        };
        SIMULATOR.telemetry.emit(Event::CallFailed(&call));
    }
    code
}

/// Names the kernel that the running API function failed to launch, for the report.
pub fn name_kernel(symbol: String) {
    let _ = KERNEL.try_with(|kernel| kernel.replace(Some(symbol)));
}

/// Reports that the program has fetched an error: its last error, or the name or description of an error. The API
/// function that it called for this may be inside [`report_failure`], but not inside another API function.
pub fn report_fetched(code: Code) {
    if code != SUCCESS && DEPTH.get() <= 1 {
        SIMULATOR.telemetry.emit(Event::ErrorFetched(code));
    }
}
