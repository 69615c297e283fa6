//! The exported C functions: the macro that defines them, and the state of a running call.
//!
//! A module lists its functions with `functions!`, next to their implementations. A row is a C signature, the
//! name of the variant for programs compiled with per-thread default streams, if there is one, and what the
//! function does:
//!
//! ```text
//! cudaStreamQuery(stream: CUstream) | cudaStreamQuery_ptsz => cuStreamQuery(driver_stream(stream));
//! cudaGraphDestroy(graph: CUgraph) => cuGraphDestroy(..);
//! cudaMemcpy(dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int) => copy;
//! cudaMalloc(to: *mut *mut c_void, bytes: usize) -> to = allocate(bytes);
//! cudaMemcpy3D(params: *const Memcpy3D) = from_params(&read(params)?)?.run(), unsafe;
//! cudaFreeMipmappedArray(array: *mut c_void);
//! ```
//!
//! It calls a function of the driver API with these arguments or with its own (`..`), or an `unsafe` function of
//! the module with its own, or it evaluates an expression, which may be `unsafe`, and whose value it may write
//! through an out-parameter (`->`). Before a call of the driver API it creates the thread's context, unless the
//! row ends in `no_context`: then the function needs none, or an argument provides it. A row without any of them
//! is unimplemented: it prints its name and returns `cudaErrorNotSupported`.
//!
//! The driver API has a `functions!` of its own (`cuda-driver`), because its functions differ in all that the
//! macros generate: they forward to one of two backends, are found by name and version, and count their calls.
//! The functions here call the driver's, so they have one implementation, which records the last error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null_mut};

use cuda_driver::types::CUstream;
use cuda_driver::{functions as cu, in_child, report_failure, report_fetched, warn};

use crate::context::context;
use crate::errors::{Code, Error, Result, SUCCESS, check, find, is_sticky};

/// An exported C function. Its entry in a table keeps the linker from dropping it.
pub struct Entry {
    name: &'static str,
    function: *const (),
}

// SAFETY: `function` is the address of a function, which never changes and is not read through.
unsafe impl Sync for Entry {}

impl Entry {
    pub const fn new(name: &'static str, function: *const ()) -> Self {
        Self { name, function }
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub fn is_linked(&self) -> bool {
        !self.function.is_null()
    }
}

/// Defines the functions of a module from their rows, and the list `FUNCTIONS` of them all.
macro_rules! functions {
    ($(
        $name:ident $arguments:tt $(| $variant:ident)?
            $(=> $target:ident $(($($value:tt)*))? $(, $mode:ident)?)?
            $(-> $output:ident)? $(= $body:expr $(, $body_mode:ident)?)?;
    )*) => {
        $(row!(
            $name [$($variant)?] $arguments
                [$($target $(($($value)*))? $(, $mode)?)? $(-> $output)? $(= $body $(, $body_mode)?)?]
        );)*

        /// The exported functions of this module.
        pub(crate) static FUNCTIONS: &[$crate::functions::Entry] =
            &entries![$($name $(, $variant)?),*];
    };
}

/// Defines the one or two functions of a row.
macro_rules! row {
    ($name:ident [] $arguments:tt $action:tt) => {
        function!($name, $name, Legacy, $arguments $action);
    };
    ($name:ident [$variant:ident] $arguments:tt $action:tt) => {
        function!($name, $name, Legacy, $arguments $action);
        function!($variant, $name, PerThread, $arguments $action);
    };
}

/// Expands to an array of the entries of these functions.
macro_rules! entries {
    ($($name:ident),* $(,)?) => {
        [$($crate::functions::Entry::new(stringify!($name), $name as *const ())),*]
    };
}

/// Defines an exported C function whose null stream is the given default stream.
macro_rules! function {
    (
        $c_name:ident, $name:ident, $default:ident,
        ($($argument:ident: $type:ty),* $(,)?) [$($action:tt)*]
    ) => {
        /// The CUDA runtime API's function of this name.
        ///
        /// # Safety
        /// The arguments must meet the requirements of NVIDIA's documentation of this function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $c_name($($argument: $type),*) -> $crate::errors::Code {
            let default = $crate::functions::DefaultStream::$default;
            $crate::functions::call(stringify!($name), default, || {
                action!($name ($($argument),*) $($action)*)
            })
        }
    };
}

/// Expands to the action of a row.
macro_rules! action {
    ($name:ident ($($argument:ident),*)) => {{
        let _ = ($($argument,)*);
        $crate::functions::unsupported(stringify!($name))
    }};
    ($name:ident $arguments:tt -> $output:ident $($value:tt)*) => {{
        // SAFETY: the C function requires its out-parameter to be null or writable.
        let output = unsafe { $crate::functions::Out::new($output) }?;
        output.set(action!($name $arguments $($value)*)?);
        Ok(())
    }};
    ($name:ident $arguments:tt = $body:expr) => {
        $body
    };
    ($name:ident $arguments:tt = $body:expr, unsafe) => {
        // SAFETY: the C function requires of its pointers what the expression requires.
        unsafe { $body }
    };
    ($name:ident ($($argument:ident),*) $implementation:ident) => {
        // SAFETY: the C function and its implementation have the same safety contract.
        unsafe { $implementation($($argument),*) }
    };
    ($name:ident ($($argument:ident),*) $driver:ident (..) $(, $mode:ident)?) => {
        action!($name () $driver ($($argument),*) $(, $mode)?)
    };
    ($name:ident $arguments:tt $driver:ident ($($value:expr),* $(,)?)) => {{
        $crate::context::context()?;
        action!($name $arguments $driver ($($value),*), no_context)
    }};
    ($name:ident $arguments:tt $driver:ident ($($value:expr),* $(,)?), no_context) => {
        // SAFETY: the runtime's function and the driver's have the same requirements for pointers, and the
        // driver validates handles.
        $crate::errors::check(unsafe { cuda_driver::functions::$driver($($value),*) })
    };
}

/// Runs the implementation of the C function `name` and records its error for `cudaGetLastError`. A panic
/// becomes `cudaErrorUnknown`.
pub fn call(name: &'static str, default: DefaultStream, body: impl FnOnce() -> Result) -> Code {
    if in_child() {
        return record(Err(Error::INITIALIZATION));
    }
    let unwind_safe = AssertUnwindSafe(|| with_default_stream(default, body));
    report_failure(name, find, || {
        record(catch_unwind(unwind_safe).unwrap_or_else(|_| {
            warn(format_args!(
                "internal error in Warpbook's CUDA runtime, in {name}; please report it"
            ));
            Err(Error::UNKNOWN)
        }))
    })
}

/// Reports that a function is not implemented.
pub fn unsupported(name: &str) -> Result {
    warn(format_args!(
        "Warpbook's CUDA runtime does not implement {name}"
    ));
    Err(Error::NOT_SUPPORTED)
}

thread_local! {
    /// The last error of this thread that `cudaGetLastError` has not yet cleared.
    static LAST_ERROR: Cell<Code> = const { Cell::new(SUCCESS) };
}

/// Records an error of this thread. `cudaErrorNotReady` is a status, not an error, and is not recorded.
pub fn record(result: Result) -> Code {
    match result {
        Ok(()) => SUCCESS,
        Err(Error(code)) => {
            if Error(code) != Error::NOT_READY {
                LAST_ERROR.set(code);
            }
            code
        }
    }
}

/// Returns the calling thread's last error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> Code {
    let last = LAST_ERROR.get();
    report_fetched(last);
    last
}

/// Returns the calling thread's last error and clears it. An error that destroyed the device's context is not
/// cleared while that context exists.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> Code {
    let last = LAST_ERROR.get();
    report_fetched(last);
    if !is_sticky(last) || in_child() || !driver_still_reports(last) {
        LAST_ERROR.set(SUCCESS);
    }
    last
}

/// Clears an error that destroyed a context, because the context is being reset.
pub fn clear_sticky_error() {
    if is_sticky(LAST_ERROR.get()) {
        LAST_ERROR.set(SUCCESS);
    }
}

/// Returns true if the driver still returns this error.
fn driver_still_reports(error: Code) -> bool {
    // SAFETY: the null handle is the default stream, which any thread may query.
    unsafe { cu::cuStreamQuery(null_mut()) == error }
}

/// The meaning of a null stream, chosen when the program is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DefaultStream {
    Legacy,
    PerThread,
}

thread_local! {
    /// The default stream of the API function that is running in this thread.
    static DEFAULT_STREAM: Cell<DefaultStream> = const { Cell::new(DefaultStream::Legacy) };
}

/// `cudaStreamPerThread`.
const PER_THREAD_HANDLE: usize = 2;

/// Runs `body` with `default` as the meaning of a null stream.
fn with_default_stream<T>(default: DefaultStream, body: impl FnOnce() -> T) -> T {
    if default == DefaultStream::Legacy {
        return body();
    }
    let previous = DEFAULT_STREAM.replace(default);
    let result = body();
    DEFAULT_STREAM.set(previous);
    result
}

/// Converts the program's stream handle to the driver's.
pub fn driver_stream(stream: CUstream) -> CUstream {
    if stream.is_null() && DEFAULT_STREAM.get() == DefaultStream::PerThread {
        return std::ptr::without_provenance_mut(PER_THREAD_HANDLE);
    }
    stream
}

/// Runs a synchronous operation in the default stream. With the legacy stream it calls `wait`, because the
/// driver has synchronous functions for it; otherwise it calls `start` and then waits for the stream.
pub fn run_synchronously(
    wait: impl FnOnce() -> Result,
    start: impl FnOnce(CUstream) -> Result,
) -> Result {
    if DEFAULT_STREAM.get() == DefaultStream::Legacy {
        return wait();
    }
    let stream = driver_stream(null_mut());
    start(stream)?;
    // SAFETY: `stream` is `CU_STREAM_PER_THREAD`, which always exists.
    check(unsafe { cu::cuStreamSynchronize(stream) })
}

/// Calls the driver, unless there is nothing to free. Creates the context in both cases, which programs rely on.
pub fn free_unless(is_empty: bool, driver_call: impl FnOnce() -> Code) -> Result {
    context()?;
    if is_empty {
        Ok(())
    } else {
        check(driver_call())
    }
}

/// An out-parameter. It is created before the work is done, so that a null pointer is rejected while there is
/// nothing to undo.
pub struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Wraps an out-parameter. Fails with `cudaErrorInvalidValue` if the pointer is null.
    ///
    /// # Safety
    /// `to` must be null or valid for writes until [`Out::set`] is called.
    pub unsafe fn new(to: *mut T) -> Result<Self> {
        NonNull::new(to).map(Self).ok_or(Error::INVALID_VALUE)
    }

    /// Writes the result.
    pub fn set(self, value: T) {
        // SAFETY: `new` rejected null, and its caller guarantees that a non-null pointer stays writable until
        // now.
        unsafe { self.0.as_ptr().write(value) }
    }
}

/// Reads the value behind a pointer. Fails with `cudaErrorInvalidValue` if the pointer is null.
///
/// # Safety
/// `from` must be null or valid for reads.
pub unsafe fn read<T: Copy>(from: *const T) -> Result<T> {
    if from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: `from` is not null here, and a non-null `from` is valid for reads.
    Ok(unsafe { from.read() })
}
