//! The state of a thread that calls the driver: its contexts, the stream that a null handle denotes, and what the thread
//! executes for the driver.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::thread::{Builder, scope};

use cuda_sim::driver::{ContextId, ContextStack, CudaError, Driver, StreamId};

use super::captures::Mode;
use super::operation::HostFunction;
use crate::status::SUCCESS;

/// The simulator's state for one thread.
struct ThreadState {
    /// The context stack. It is never dropped: destructors of other thread-local variables and exit handlers
    /// may still call the driver while the thread ends.
    contexts: RefCell<ManuallyDrop<ContextStack>>,
    /// The most recent stream that served as this thread's default stream, with its context.
    default_stream: Cell<Option<(ContextId, StreamId)>>,
    /// True while a null handle denotes this thread's default stream.
    per_thread_default: Cell<bool>,
    /// The capture mode (`cuThreadExchangeStreamCaptureMode`).
    capture_mode: Cell<Mode>,
    /// True while this thread executes a stream operation; it then must not wait for others.
    executing: Cell<bool>,
    /// True while this thread runs a host function.
    in_callback: Cell<bool>,
    calls: Calls,
}

/// The API functions that a thread is in, those of the runtime API included. Never dropped, as the context stack.
pub struct Calls {
    pub depth: Cell<u32>,
    /// The name of the outermost one.
    pub function: Cell<&'static str>,
    /// The symbol of the kernel that the running function failed to launch.
    pub kernel: ManuallyDrop<RefCell<Option<String>>>,
}

thread_local! {
    /// The calling thread's state, which by its nature cannot belong to the simulator that all threads share.
    static THREAD: ThreadState = const {
        ThreadState {
            contexts: RefCell::new(ManuallyDrop::new(ContextStack::new())),
            default_stream: Cell::new(None),
            per_thread_default: Cell::new(false),
            capture_mode: Cell::new(Mode::Global),
            executing: Cell::new(false),
            in_callback: Cell::new(false),
            calls: Calls {
                depth: Cell::new(0),
                function: Cell::new(""),
                kernel: ManuallyDrop::new(RefCell::new(None)),
            },
        }
    };

    /// Runs its destructor when the thread ends. Separate from [`THREAD`], which must stay usable after that.
    static THREAD_EXIT: ThreadExit = const { ThreadExit };
}

/// Shrinks the context stack of a thread that ends.
struct ThreadExit;

impl Drop for ThreadExit {
    fn drop(&mut self) {
        THREAD.with(|thread| thread.contexts.borrow_mut().shrink());
    }
}

/// Calls `f` with the calling thread's context stack.
pub fn with_contexts<T>(f: impl FnOnce(&mut ContextStack) -> T) -> T {
    // The first access registers the destructor of `THREAD_EXIT`. It fails while the thread is ending, which
    // is no error.
    let _ = THREAD_EXIT.try_with(|_| ());
    THREAD.with(|thread| f(&mut thread.contexts.borrow_mut()))
}

/// Calls `f` with the API functions that the calling thread is in.
pub fn with_calls<T>(f: impl FnOnce(&Calls) -> T) -> T {
    THREAD.with(|thread| f(&thread.calls))
}

/// Returns the calling thread's current context, or [`CudaError::InvalidContext`].
pub fn require_current() -> Result<ContextId, CudaError> {
    with_contexts(|contexts| contexts.require_current())
}

/// Returns the calling thread's default stream in a context, and creates it at first use.
pub fn per_thread_stream(driver: &mut Driver, context: ContextId) -> Result<StreamId, CudaError> {
    let cached = THREAD.with(|thread| thread.default_stream.get());
    if let Some((owner, stream)) = cached
        && owner == context
        && driver.stream_context(stream) == Ok(context)
    {
        return Ok(stream);
    }
    let created = driver.create_stream(context, 0, 0)?;
    THREAD.with(|thread| thread.default_stream.set(Some((context, created))));
    Ok(created)
}

/// Returns true if `stream` is the calling thread's default stream.
pub fn is_per_thread_stream(stream: StreamId) -> bool {
    let default = THREAD.with(|thread| thread.default_stream.get());
    default.is_some_and(|(_, default)| default == stream)
}

/// The stream that a `CUstream` denotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// A stream by its number, or the legacy default stream.
    Id(StreamId),
    PerThread,
}

impl Stream {
    /// Returns the default stream, which a null handle denotes: the legacy default stream, or inside a `_ptsz`
    /// or `_ptds` function that of the calling thread.
    pub fn default_of_call() -> Self {
        match PerThreadDefault::is_active() {
            true => Self::PerThread,
            false => Self::Id(StreamId::LEGACY),
        }
    }
}

/// A guard: while it lives, a null stream handle denotes the calling thread's default stream.
pub struct PerThreadDefault(());

impl PerThreadDefault {
    pub fn enable() -> Self {
        THREAD.with(|thread| thread.per_thread_default.set(true));
        Self(())
    }

    /// Returns true if a guard lives on this thread.
    pub fn is_active() -> bool {
        THREAD.with(|thread| thread.per_thread_default.get())
    }
}

impl Drop for PerThreadDefault {
    fn drop(&mut self) {
        THREAD.with(|thread| thread.per_thread_default.set(false));
    }
}

/// Returns the calling thread's capture mode.
pub fn capture_mode() -> Mode {
    THREAD.with(|thread| thread.capture_mode.get())
}

/// Sets the calling thread's capture mode; returns the previous one.
pub fn exchange_capture_mode(mode: Mode) -> Mode {
    THREAD.with(|thread| thread.capture_mode.replace(mode))
}

/// Returns true if this thread executes a stream operation.
pub fn is_executing() -> bool {
    THREAD.with(|thread| thread.executing.get())
}

/// Returns true if accesses of this thread to memory in use are checked: not those of operations, nor of a stream's host
/// functions, which precede the operations that follow them in the stream.
pub fn is_checked() -> bool {
    THREAD.with(|thread| !thread.executing.get() && !thread.in_callback.get())
}

/// Records that this thread starts or ends the execution of a stream operation.
pub fn set_executing(executing: bool) {
    THREAD.with(|thread| thread.executing.set(executing));
}

/// Calls host functions of the program, each of which it has passed to be called once, as NVIDIA's driver does: on a
/// separate thread that has no current context and may not call the driver. The calling thread, which must hold no
/// lock, waits for them.
pub fn call_host_functions(functions: Vec<HostFunction>) -> Result<(), CudaError> {
    if functions.is_empty() {
        return Ok(());
    }
    let body = move || {
        THREAD.with(|thread| thread.in_callback.set(true));
        for function in functions {
            // SAFETY: the program has passed the function to be called once with this argument on a thread of the
            // driver.
            unsafe {
                match function {
                    HostFunction::Plain { function, data } => {
                        if let Some(function) = function {
                            function(data);
                        }
                    }
                    HostFunction::Callback {
                        function,
                        stream,
                        data,
                    } => {
                        if let Some(function) = function {
                            function(stream, SUCCESS, data);
                        }
                    }
                }
            }
        }
    };
    scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, body);
        // The result of `join` is ignored: C functions do not panic.
        let _ = thread.map_err(|_| CudaError::OperatingSystem)?.join();
        Ok(())
    })
}

/// Returns true if this thread runs a host function.
pub fn in_callback() -> bool {
    THREAD.with(|thread| thread.in_callback.get())
}
