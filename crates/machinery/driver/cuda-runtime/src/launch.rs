//! Kernel launches: `cudaLaunchKernel`, its cooperative and extended variants, and the older
//! `cudaConfigureCall` with `cudaLaunch`.
//!
//! On request, the execution times of kernels are measured, by an event before and an event after each launch. Launches
//! captured into a graph are not timed, nor are those that the program makes with the driver API.

use std::cell::RefCell;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use cuda_driver::types::{CUevent, CUfunction, CUlaunchConfig, CUstream};
use cuda_driver::{TimedLaunch, functions as cu, in_child};
use parking_lot::Mutex;

use crate::context::{Context, context};
use crate::errors::{Error, Result, SUCCESS, check};
use crate::functions::{driver_stream, read};
use crate::program;
use crate::registration::{CallConfiguration, pop, push};
use crate::types::{Dim3, LaunchConfig};

functions! {
    cudaLaunchKernel(
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void,
        dynamic_shared: usize, stream: CUstream,
    ) | cudaLaunchKernel_ptsz
        = Launch { host: function, grid, block, dynamic_shared, stream }
            .start(arguments, null_mut()), unsafe;
    cudaLaunchKernelExC(
        config: *const LaunchConfig, function: *const c_void, arguments: *mut *mut c_void,
    ) | cudaLaunchKernelExC_ptsz => launch_with_config;
    cudaLaunchCooperativeKernel(
        function: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void,
        dynamic_shared: usize, stream: CUstream,
    ) | cudaLaunchCooperativeKernel_ptsz
        = Launch { host: function, grid, block, dynamic_shared, stream }
            .start_cooperative(arguments), unsafe;
    cudaLaunchCooperativeKernelMultiDevice(list: *mut c_void, devices: c_uint, flags: c_uint);
    cudaConfigureCall(grid: Dim3, block: Dim3, dynamic_shared: usize, stream: CUstream)
        => configure_call;
    cudaSetupArgument(value: *const c_void, bytes: usize, offset: usize) => setup_argument;
    cudaLaunch(function: *const c_void) | cudaLaunch_ptsz => launch_configured;
}

/// `cudaLaunchKernelExC`.
unsafe fn launch_with_config(
    config: *const LaunchConfig,
    host: *const c_void,
    arguments: *mut *mut c_void,
) -> Result {
    // SAFETY: `cudaLaunchKernelExC` requires `config` to be null or readable.
    let config = unsafe { read(config) }?;
    let launch = Launch {
        host,
        grid: config.grid,
        block: config.block,
        dynamic_shared: config.dynamic_shared,
        stream: config.stream,
    };
    launch.submit(|function, dynamic_shared, stream| {
        let config = CUlaunchConfig {
            grid: [config.grid.x, config.grid.y, config.grid.z],
            block: [config.block.x, config.block.y, config.block.z],
            dynamic_shared,
            stream,
            attributes: config.attributes,
            attribute_count: config.attribute_count,
        };
        // SAFETY: `cudaLaunchKernelExC` requires `arguments` to point to all arguments of the kernel, and the
        // attributes to be as many as `config` says.
        unsafe { cu::cuLaunchKernelEx(&config, function, arguments, null_mut()) }
    })
}

/// A launch's configuration without its arguments.
struct Launch {
    /// The host address that identifies the kernel.
    host: *const c_void,
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    stream: CUstream,
}

impl Launch {
    /// # Safety
    /// One of `arguments` and `extra` must hold the kernel's arguments, as `cuLaunchKernel` takes them.
    unsafe fn start(&self, arguments: *mut *mut c_void, extra: *mut *mut c_void) -> Result {
        let (grid, block) = (self.grid, self.block);
        // SAFETY: `function` is loaded, and `arguments` or `extra` holds its arguments.
        self.submit(|function, shared, stream| unsafe {
            cu::cuLaunchKernel(
                function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream,
                arguments, extra,
            )
        })
    }

    /// # Safety
    /// `arguments` must hold the kernel's arguments, as `cuLaunchCooperativeKernel` takes them.
    unsafe fn start_cooperative(&self, arguments: *mut *mut c_void) -> Result {
        let (grid, block) = (self.grid, self.block);
        // SAFETY: `function` is loaded, and `arguments` holds its arguments.
        self.submit(|function, shared, stream| unsafe {
            cu::cuLaunchCooperativeKernel(
                function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream,
                arguments,
            )
        })
    }

    /// Launches the kernel, and names it in the report if that fails. See [`Launch::submit_unnamed`].
    fn submit(&self, launch: impl FnOnce(CUfunction, c_uint, CUstream) -> c_int) -> Result {
        self.submit_unnamed(launch).inspect_err(|_| {
            if let Ok(name) = self.symbol() {
                cuda_driver::name_kernel(name);
            }
        })
    }

    /// Returns the kernel's name in the device code.
    fn symbol(&self) -> Result<String> {
        // SAFETY: the name is NUL-terminated and lives as long as the kernel is registered.
        let name = unsafe { CStr::from_ptr(program::kernel_name(self.host)?) };
        Ok(name.to_string_lossy().into_owned())
    }

    /// Looks up the kernel and launches it with `launch`, which receives the kernel, the bytes of dynamic
    /// shared memory and the stream.
    fn submit_unnamed(&self, launch: impl FnOnce(CUfunction, c_uint, CUstream) -> c_int) -> Result {
        let function = program::kernel(self.host)?;
        let shared = c_uint::try_from(self.dynamic_shared).map_err(|_| Error::INVALID_VALUE)?;
        let stream = driver_stream(self.stream);
        let kernel_info = || Ok((self.symbol()?, context()?));
        check(run_timed(
            kernel_info,
            (self.grid, self.block, stream),
            || launch(function, shared, stream),
        ))
    }
}

thread_local! {
    /// The arguments of the launch being configured, as passed to `cudaSetupArgument`.
    static ARGUMENTS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// `cudaConfigureCall`, which starts a launch in the code of older compilers.
unsafe fn configure_call(
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    stream: CUstream,
) -> Result {
    ARGUMENTS.with_borrow_mut(Vec::clear);
    push(CallConfiguration {
        grid,
        block,
        dynamic_shared,
        stream,
    });
    Ok(())
}

/// `cudaSetupArgument`: stores an argument of the configured launch at its offset in the parameter buffer.
unsafe fn setup_argument(value: *const c_void, bytes: usize, offset: usize) -> Result {
    /// The maximum size of a kernel's parameters.
    const MAX_PARAMETER_BYTES: usize = 32 << 10;
    if value.is_null() || bytes > MAX_PARAMETER_BYTES || offset > MAX_PARAMETER_BYTES {
        return Err(Error::INVALID_VALUE);
    }
    ARGUMENTS.with_borrow_mut(|arguments| {
        let end = offset + bytes;
        arguments.resize(arguments.len().max(end), 0);
        // SAFETY: `value` is not null and points to `bytes` bytes.
        let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) };
        arguments[offset..end].copy_from_slice(value);
    });
    Ok(())
}

/// `cudaLaunch`.
unsafe fn launch_configured(host: *const c_void) -> Result {
    /// The tags of a launch's packed arguments (`CU_LAUNCH_PARAM_…`).
    const BUFFER: usize = 1;
    const BUFFER_SIZE: usize = 2;
    let configuration = pop().ok_or(Error::MISSING_CONFIGURATION)?;
    let mut arguments = ARGUMENTS.take();
    let mut bytes = arguments.len();
    let launch = Launch {
        host,
        grid: configuration.grid,
        block: configuration.block,
        dynamic_shared: configuration.dynamic_shared,
        stream: configuration.stream,
    };
    let mut extra = [
        std::ptr::without_provenance_mut(BUFFER),
        arguments.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(BUFFER_SIZE),
        (&raw mut bytes).cast(),
        null_mut(),
    ];
    // SAFETY: `extra` is a list of tag-value pairs that ends in null; the buffer and its size outlive the call.
    unsafe { launch.start(null_mut(), extra.as_mut_ptr()) }
}

/// A callback that receives each timed launch, on any thread.
pub type LaunchObserver = Box<dyn Fn(TimedLaunch) + Send + Sync>;

static OBSERVER: OnceLock<LaunchObserver> = OnceLock::new();

/// Launches whose times have not been reported yet.
static PENDING: Mutex<Vec<PendingLaunch>> = Mutex::new(Vec::new());

/// The number of pending launches at which finished ones are reported. A crash loses all unreported launches,
/// so this bounds the loss.
const REPORT_THRESHOLD: usize = 64;

/// Times every later launch and passes it to `observer` once it has finished. Only the first call has an
/// effect.
pub fn time_launches(observer: LaunchObserver) {
    let _ = OBSERVER.set(observer);
}

/// Registers an exit handler that reports the last launches. It runs before the driver's own, because the
/// driver is already initialized.
#[cfg(unix)]
fn report_at_exit() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    extern "C" fn at_exit() {
        report(ReportScope::All);
    }
    ONCE.call_once(|| {
        // SAFETY: `at_exit` lives as long as the program. If registration fails, the last launches are not
        // reported.
        unsafe { libc::atexit(at_exit) };
    });
}

#[cfg(not(unix))]
fn report_at_exit() {}

/// A launch whose time has not been reported yet.
struct PendingLaunch {
    launch: TimedLaunch,
    context: Context,
    events: [Event; 2],
}

/// An owned event, destroyed on drop.
struct Event(CUevent);

// SAFETY: an event handle is not tied to a thread; the driver accepts it from any of them.
unsafe impl Send for Event {}

impl Event {
    /// Records a new event in a stream. Returns `None` if the driver fails.
    fn record(stream: CUstream) -> Option<Self> {
        let mut event = null_mut();
        // SAFETY: `event` is writable; the driver validates `stream`.
        unsafe {
            if cu::cuEventCreate(&mut event, 0) != SUCCESS {
                return None;
            }
            let event = Self(event);
            (cu::cuEventRecord(event.0, stream) == SUCCESS).then_some(event)
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: this value owns the event. If its context was destroyed, the driver rejects the handle.
        unsafe { cu::cuEventDestroy_v2(self.0) };
    }
}

/// Makes a launch, and times it if an observer is set. Returns the driver's result. `kernel` returns the
/// kernel's name in the device code and the context.
fn run_timed(
    kernel: impl FnOnce() -> Result<(String, Context)>,
    (grid, block, stream): (Dim3, Dim3, CUstream),
    launch: impl FnOnce() -> c_int,
) -> c_int {
    if OBSERVER.get().is_none() || !is_not_capturing(stream) {
        return launch();
    }
    let before = Event::record(stream);
    let result = launch();
    if result == SUCCESS
        && let Some(before) = before
        && let Some(after) = Event::record(stream)
        && let Ok((kernel, context)) = kernel()
    {
        report_at_exit();
        let launch = TimedLaunch {
            kernel,
            grid: [grid.x, grid.y, grid.z],
            block: [block.x, block.y, block.z],
            milliseconds: 0.0,
        };
        let events = [before, after];
        let mut launches = PENDING.lock();
        launches.push(PendingLaunch {
            launch,
            context,
            events,
        });
        let report_due = launches.len() >= REPORT_THRESHOLD;
        drop(launches);
        if report_due {
            report(ReportScope::Finished);
        }
    }
    result
}

/// Returns true if work put into the stream is executed rather than captured into a graph.
fn is_not_capturing(stream: CUstream) -> bool {
    const NONE: c_int = 0;
    let mut capturing = NONE;
    // SAFETY: `capturing` is writable; the driver validates `stream`.
    let result = unsafe { cu::cuStreamIsCapturing(stream, &mut capturing) };
    result == SUCCESS && capturing == NONE
}

/// The launches to report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportScope {
    /// Finished launches.
    Finished,
    /// All launches; waits for those still running.
    All,
    /// All launches of a context that is about to be destroyed; waits for those still running.
    Context(Context),
}

/// Reports launches in the order in which they were made.
pub(crate) fn report(scope: ReportScope) {
    let Some(observer) = OBSERVER.get() else {
        return;
    };
    // The pending launches belong to the parent.
    if in_child() {
        return;
    }
    // If the program is capturing in this thread, the stricter modes forbid event queries.
    const RELAXED: c_int = 2;
    let mut mode = RELAXED;
    // SAFETY: `mode` is readable and writable.
    unsafe { cu::cuThreadExchangeStreamCaptureMode(&mut mode) };
    PENDING
        .lock()
        .retain_mut(|launch| match launch.poll(scope) {
            Outcome::Pending => true,
            Outcome::Failed => false,
            Outcome::Timed => {
                observer(launch.launch.clone());
                false
            }
        });
    // SAFETY: `mode` now holds the program's mode, which this restores.
    unsafe { cu::cuThreadExchangeStreamCaptureMode(&mut mode) };
}

/// The state of a pending launch.
enum Outcome {
    Timed,
    Pending,
    /// A fault ended the launch or its context.
    Failed,
}

impl PendingLaunch {
    fn poll(&mut self, scope: ReportScope) -> Outcome {
        const NOT_READY: c_int = 600;
        let [before, after] = &self.events;
        // SAFETY: this value owns both events, and `milliseconds` is writable.
        unsafe {
            let status = match scope {
                ReportScope::Finished => cu::cuEventQuery(after.0),
                ReportScope::Context(context) if context != self.context => {
                    return Outcome::Pending;
                }
                ReportScope::All | ReportScope::Context(_) => cu::cuEventSynchronize(after.0),
            };
            match status {
                NOT_READY => return Outcome::Pending,
                SUCCESS => {}
                _ => return Outcome::Failed,
            }
            let mut milliseconds = 0.0;
            if cu::cuEventElapsedTime(&mut milliseconds, before.0, after.0) != SUCCESS {
                return Outcome::Failed;
            }
            self.launch.milliseconds = milliseconds.into();
            Outcome::Timed
        }
    }
}
