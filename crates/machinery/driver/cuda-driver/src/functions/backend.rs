//! Selection of the backend, decided once per process: the simulator, or NVIDIA's driver, which is loaded here.

use std::env::{VarError, var};
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};
use std::time::Duration;

use cuda_sim::device::{DeviceSpec, PRESETS};
use cuda_sim::driver::CudaError;
use cuda_sim::exec::TimeLimit;
use cuda_sim::exec::compiled::CompileMode;
use cuda_sim::memory::global::MAX_DEVICES;
use libloading::{Library, Symbol};

use super::{ErasedFn, all, cuDriverGetVersion};
use crate::api::device::VERSION;
use crate::api::{self, SIMULATOR};
use crate::arguments::Out;
use crate::simulator::{detect_forks, in_child};
use crate::status::{CallResult, Code, SUCCESS, Status, warn};

/// The implementation that executes the driver API's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// NVIDIA's driver: times are measured.
    Gpu,
    /// The simulator: times are modelled.
    Simulator,
}

/// Default timeout: a launch in which no block finishes for this long is reported as endless. Blocks of the
/// chapters and exercises finish within a second.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
const DEFAULT_TIME_LIMIT: TimeLimit = TimeLimit::Standstill(DEFAULT_TIMEOUT);

/// The choice of the backend. Its own static, because it exists before the simulator starts, and on a GPU
/// instead of it.
static SELECTION: Selection = Selection {
    backend: OnceLock::new(),
    start_hook: OnceLock::new(),
    leak_check: Once::new(),
    prefers_simulator: AtomicBool::new(false),
    is_quiet: AtomicBool::new(false),
};

struct Selection {
    /// The selected backend, or the error that `cuInit` returned; empty before the first `cuInit`.
    backend: OnceLock<Result<Backend, Status>>,
    /// The hook that runs before the simulator starts, if one is registered.
    start_hook: OnceLock<OnSimulatorStart>,
    /// The registration of the check for leaks at exit.
    leak_check: Once,
    /// True if NVIDIA's driver is selected only on request.
    prefers_simulator: AtomicBool,
    /// True if the selection of the simulator is not printed.
    is_quiet: AtomicBool,
}

/// Makes the simulator the default backend, for a library that takes the place of NVIDIA's driver.
pub fn prefer_simulator() {
    SELECTION.prefers_simulator.store(true, Ordering::Relaxed);
}

/// Makes [`select`] select the simulator without printing that there is no GPU.
pub fn select_quietly() {
    SELECTION.is_quiet.store(true, Ordering::Relaxed);
}

/// Returns the backend selected by `cuInit`; `None` before it succeeds.
pub fn backend() -> Option<Backend> {
    SELECTION.backend.get().and_then(|choice| choice.ok())
}

/// `cuInit`: selects the backend at the first call; later calls return the same result.
pub fn init(flags: c_uint) -> CallResult {
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    select()?;
    Ok(())
}

/// `cuDriverGetVersion`.
pub fn driver_version(version: Out<c_int>) -> CallResult {
    match select()? {
        Backend::Simulator => version.set(VERSION),
        Backend::Gpu => {
            // SAFETY: NVIDIA's driver, which is in the slot by now, writes to the same output.
            let code = unsafe { cuDriverGetVersion(version.as_ptr()) };
            if code != SUCCESS {
                return Err(Status(code));
            }
        }
    }
    Ok(())
}

/// Returns the backend, and selects it first if no call has done so yet.
pub fn select() -> Result<Backend, Status> {
    if in_child() {
        return Err(CudaError::NotInitialized.into());
    }
    *SELECTION.backend.get_or_init(select_from_env)
}

/// Selects the backend that `CUDA_BACKEND` requests. If it is unset, selects NVIDIA's driver if it is usable,
/// otherwise the simulator; or always the simulator after [`prefer_simulator`]. Prints the reason on stderr.
fn select_from_env() -> Result<Backend, Status> {
    let requested = match env_setting("CUDA_BACKEND")?.as_deref() {
        None => None,
        Some("gpu") => Some(Backend::Gpu),
        Some("sim") => Some(Backend::Simulator),
        Some(other) => {
            warn(format_args!(
                "CUDA_BACKEND={other} is neither gpu nor sim; leave it unset for automatic selection"
            ));
            return Err(CudaError::InvalidValue.into());
        }
    };
    if requested == Some(Backend::Simulator) {
        start_simulator()?;
        return Ok(Backend::Simulator);
    }
    let is_quiet = SELECTION.is_quiet.load(Ordering::Relaxed);
    if requested.is_none() && SELECTION.prefers_simulator.load(Ordering::Relaxed) {
        let models = start_simulator()?.models;
        if !is_quiet {
            warn(format_args!(
                "running on the built-in simulator ({models}, modelled)"
            ));
        }
        return Ok(Backend::Simulator);
    }
    match (connect(), requested) {
        (Ok(()), _) => Ok(Backend::Gpu),
        (Err(unavailable), Some(_)) => {
            warn(format_args!(
                "no NVIDIA GPU ({unavailable}), but CUDA_BACKEND=gpu requires one; \
                 install NVIDIA's driver, or unset CUDA_BACKEND to run on the simulator"
            ));
            Err(unavailable.status())
        }
        (Err(unavailable), None) => {
            let models = start_simulator()?.models;
            if !is_quiet {
                warn(format_args!(
                    "no NVIDIA GPU ({unavailable}); running on the built-in simulator ({models}, modelled)"
                ));
            }
            Ok(Backend::Simulator)
        }
    }
}

/// A hook that runs before the simulator starts. An error, which is printed, keeps the simulator from starting.
pub type OnSimulatorStart = fn(&'static DeviceSpec) -> Result<(), String>;

/// Registers a hook that `cuInit` runs before it starts the simulator. Only the first registration counts.
pub fn on_simulator_start(hook: OnSimulatorStart) {
    let _ = SELECTION.start_hook.set(hook);
}

/// Runs the registered start-up hook.
fn run_start_hook(device: &'static DeviceSpec) -> Result<(), Status> {
    let Some(hook) = SELECTION.start_hook.get() else {
        return Ok(());
    };
    hook(device).map_err(|reason| {
        warn(format_args!("{reason}"));
        CudaError::InvalidValue.into()
    })
}

/// Starts the simulator and directs all functions to it. Returns the GPU model.
fn start_simulator() -> Result<&'static DeviceSpec, Status> {
    let device = device_from_env()?;
    enable_checks()?;
    shuffle()?;
    run_start_hook(device)?;
    SIMULATOR.start(
        device_count_from_env()?,
        device.clone(),
        time_limit_from_env()?,
        sampling_from_env()?,
        compilation_from_env()?,
    );
    detect_forks();
    for function in all() {
        function.use_simulator();
    }
    check_leaks_at_exit();
    Ok(device)
}

/// Reports leaks when the program exits, after exit handlers that are registered later. Only the first call counts; the
/// start of the simulator is one.
pub fn check_leaks_at_exit() {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
    }
    // SAFETY: the signature is that of `atexit` in every C library, and `at_exit` is a static function. If
    // the C library cannot register it, leaks at exit are not reported.
    SELECTION.leak_check.call_once(|| unsafe {
        atexit(api::telemetry::at_exit);
    });
}

/// Returns the GPU model and the number of GPUs that the environment configures, without starting the
/// simulator.
///
/// # Errors
///
/// Fails if a variable has an invalid value; the reason is printed on stderr.
pub fn configured_devices() -> Result<(&'static DeviceSpec, u32), Status> {
    Ok((device_from_env()?, device_count_from_env()?))
}

/// Returns the GPU model that `CUDA_SIM_DEVICE` names; the first preset if it is unset.
fn device_from_env() -> Result<&'static DeviceSpec, Status> {
    let Some(name) = env_setting("CUDA_SIM_DEVICE")? else {
        return Ok(&PRESETS[0].1);
    };
    DeviceSpec::named(&name).ok_or_else(|| {
        let names = PRESETS.each_ref().map(|(short, _)| *short);
        warn(format_args!(
            "CUDA_SIM_DEVICE={name} is not a known GPU model; available models: {}",
            names.join(", ")
        ));
        CudaError::InvalidValue.into()
    })
}

/// Returns the number of GPUs that `CUDA_SIM_DEVICES` sets; 1 if it is unset.
fn device_count_from_env() -> Result<u32, Status> {
    let Some(text) = env_setting("CUDA_SIM_DEVICES")? else {
        return Ok(1);
    };
    let count = text.parse().ok();
    let count = count.filter(|count| (1..=MAX_DEVICES).contains(count));
    count.ok_or_else(|| {
        warn(format_args!(
            "CUDA_SIM_DEVICES={text} is not a number from 1 to {MAX_DEVICES}; the default is 1"
        ));
        CudaError::InvalidValue.into()
    })
}

/// Enables the checks that `CUDA_SIM_CHECK` names.
fn enable_checks() -> Result<(), Status> {
    let Some(text) = env_setting("CUDA_SIM_CHECK")? else {
        return Ok(());
    };
    match text.parse() {
        Ok(checks) => {
            api::telemetry::enable_printed(checks);
            Ok(())
        }
        Err(error) => {
            warn(format_args!("CUDA_SIM_CHECK={text}: {error}"));
            Err(CudaError::InvalidValue.into())
        }
    }
}

/// Shuffles launches and the operations of streams with the seed that `CUDA_SIM_SHUFFLE` sets.
fn shuffle() -> Result<(), Status> {
    let Some(text) = env_setting("CUDA_SIM_SHUFFLE")? else {
        return Ok(());
    };
    let seed = text.parse().map_err(|_| {
        warn(format_args!(
            "CUDA_SIM_SHUFFLE={text} is not a number; it is the seed of a random order"
        ));
        Status::from(CudaError::InvalidValue)
    })?;
    api::telemetry::shuffle(Some(seed));
    Ok(())
}

/// Returns the time limit of launches that `CUDA_SIM_TIME_LIMIT` sets; `None` for no limit.
fn time_limit_from_env() -> Result<Option<TimeLimit>, Status> {
    let Some(text) = env_setting("CUDA_SIM_TIME_LIMIT")? else {
        return Ok(Some(DEFAULT_TIME_LIMIT));
    };
    parse_time_limit(&text).map_err(|InvalidTimeLimit| {
        warn(format_args!(
            "CUDA_SIM_TIME_LIMIT={text} is neither a positive number of seconds nor none; by default, a launch \
             is ended when no block finishes for {} s",
            DEFAULT_TIMEOUT.as_secs()
        ));
        CudaError::InvalidValue.into()
    })
}

/// Returns true if launches are sampled for their modelled time. `CUDA_SIM_SAMPLE=none` turns sampling off,
/// to measure its cost.
fn sampling_from_env() -> Result<bool, Status> {
    match env_setting("CUDA_SIM_SAMPLE")?.as_deref() {
        None => Ok(true),
        Some("none") => Ok(false),
        Some(other) => {
            warn(format_args!(
                "CUDA_SIM_SAMPLE={other} is not none; leave it unset to model times from a sample of blocks"
            ));
            Err(CudaError::InvalidValue.into())
        }
    }
}

/// Returns the kernels to compile, which `CUDA_SIM_COMPILE` sets; by default those that have cost enough.
fn compilation_from_env() -> Result<CompileMode, Status> {
    match env_setting("CUDA_SIM_COMPILE")?.as_deref() {
        None | Some("auto") => Ok(CompileMode::Auto),
        Some("always") => Ok(CompileMode::Always),
        Some("never") => Ok(CompileMode::Never),
        Some(other) => {
            warn(format_args!(
                "CUDA_SIM_COMPILE={other} is not never, always or auto (kernels that take long, the default)"
            ));
            Err(CudaError::InvalidValue.into())
        }
    }
}

/// The error for a text that is not a time limit.
#[derive(Debug, PartialEq)]
struct InvalidTimeLimit;

/// Parses a time limit: a number of seconds, or `none`.
fn parse_time_limit(text: &str) -> Result<Option<TimeLimit>, InvalidTimeLimit> {
    if text == "none" {
        return Ok(None);
    }
    let seconds = text.parse().map_err(|_| InvalidTimeLimit)?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(Some(TimeLimit::Launch(limit))),
        _ => Err(InvalidTimeLimit),
    }
}

/// Returns the value of an environment variable; `None` if it is unset or empty.
fn env_setting(name: &str) -> Result<Option<String>, Status> {
    match var(name) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => {
            warn(format_args!("{name} is not valid UTF-8"));
            Err(CudaError::InvalidValue.into())
        }
    }
}

/// The file names of NVIDIA's driver library on this system, in search order.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else {
    // WSL, the Linux that runs inside Windows, has the library in the last place.
    &[
        "libcuda.so.1",
        "libcuda.so",
        "/usr/lib/wsl/lib/libcuda.so.1",
    ]
};

/// A symbol that only this workspace's `libcuda` exports: a library that has it is not NVIDIA's.
const WARPBOOK_MARKER: &str = "warpbook_is_here\0";

/// The reason why NVIDIA's driver cannot be used.
#[derive(Debug)]
pub enum Unavailable {
    /// No library could be loaded.
    Library,
    /// The loaded library is this workspace's `libcuda`, installed in front of NVIDIA's to select the
    /// simulator.
    Warpbook,
    /// The library lacks this function, so it is not a CUDA driver.
    Function(&'static str),
    /// The library's `cuInit` failed with this code; the string is the library's name for the code.
    Initialization(Code, String),
    /// The library found no GPU.
    Device,
}

impl Unavailable {
    /// Returns the result of `cuInit` if `CUDA_BACKEND=gpu` requires a GPU.
    pub fn status(&self) -> Status {
        match self {
            Self::Initialization(code, _) => Status(*code),
            Self::Library | Self::Warpbook | Self::Function(_) | Self::Device => {
                CudaError::NoDevice.into()
            }
        }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let library = LIBRARIES[0];
        match self {
            Self::Library => write!(f, "{library} not found"),
            Self::Warpbook => write!(f, "{library} is Warpbook's simulator library"),
            Self::Function(name) => write!(f, "{library} has no {name}"),
            Self::Initialization(_, name) => {
                write!(f, "{library} was found, but cuInit returned {name}")
            }
            Self::Device => write!(f, "{library} was found, but it finds no GPU"),
        }
    }
}

/// Opens and initializes NVIDIA's driver, and directs all functions to it.
pub fn connect() -> Result<(), Unavailable> {
    let library = open().ok_or(Unavailable::Library)?;
    // SAFETY: the symbol is only looked up, never dereferenced.
    if unsafe { library.get::<*const u8>(WARPBOOK_MARKER.as_bytes()) }.is_ok() {
        return Err(Unavailable::Warpbook);
    }
    initialize(&library)?;
    for function in all() {
        // SAFETY: the symbol with this name in NVIDIA's driver is the driver API's function, and the library
        // is never unloaded: `forget` below leaks it.
        unsafe {
            let symbol: Option<Symbol<ErasedFn>> = library.get(function.name.as_bytes()).ok();
            function.forward(symbol.map(|symbol| *symbol));
        }
    }
    std::mem::forget(library);
    Ok(())
}

/// Loads the first library of [`LIBRARIES`] that can be loaded.
fn open() -> Option<Library> {
    // SAFETY: the initialization code of NVIDIA's library has no preconditions.
    LIBRARIES
        .iter()
        .find_map(|name| unsafe { Library::new(*name) }.ok())
}

/// Calls the library's `cuInit` and counts its GPUs.
fn initialize(library: &Library) -> Result<(), Unavailable> {
    type Init = unsafe extern "C" fn(c_uint) -> Code;
    type Count = unsafe extern "C" fn(*mut c_int) -> Code;

    // SAFETY: `Init` is the signature of `cuInit` in every driver version.
    let init: Symbol<Init> = unsafe { symbol(library, "cuInit\0") }?;
    // SAFETY: `Count` is the signature of `cuDeviceGetCount` in every driver version.
    let count: Symbol<Count> = unsafe { symbol(library, "cuDeviceGetCount\0") }?;
    // SAFETY: `cuInit` may be called at any time; 0 is the only valid flag value.
    let code = unsafe { init(0) };
    if code != SUCCESS {
        return Err(Unavailable::Initialization(code, error_name(library, code)));
    }
    let mut devices = 0;
    // SAFETY: the driver is initialized, and `devices` is writable.
    let code = unsafe { count(&mut devices) };
    match (code, devices) {
        (SUCCESS, 1..) => Ok(()),
        _ => Err(Unavailable::Device),
    }
}

/// Looks up a function of the library. Returns [`Unavailable::Function`] if the library lacks it.
///
/// # Safety
/// `T` must be the type of the library's function `name`, which ends in NUL.
unsafe fn symbol<'a, T>(
    library: &'a Library,
    name: &'static str,
) -> Result<Symbol<'a, T>, Unavailable> {
    // SAFETY: `T` is the function's type, by this function's contract.
    let symbol = unsafe { library.get(name.as_bytes()) };
    symbol.map_err(|_| Unavailable::Function(name.trim_end_matches('\0')))
}

/// Returns the driver's name for `code`.
fn error_name(library: &Library, code: Code) -> String {
    type ErrorName = unsafe extern "C" fn(Code, *mut *const c_char) -> Code;

    let mut name = std::ptr::null();
    // SAFETY: `cuGetErrorName` has this signature and works before `cuInit`. It writes the address of a
    // static string, or null.
    let has_name = unsafe {
        symbol::<ErrorName>(library, "cuGetErrorName\0")
            .is_ok_and(|get_name| get_name(code, &mut name) == SUCCESS)
    };
    if !has_name || name.is_null() {
        return format!("error {code}");
    }
    // SAFETY: the call succeeded and `name` is not null, so it is a static NUL-terminated string.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_seconds_or_none() {
        let seconds = |seconds| Ok(Some(TimeLimit::Launch(Duration::from_secs_f64(seconds))));
        assert_eq!(parse_time_limit("2.5"), seconds(2.5));
        assert_eq!(parse_time_limit("90"), seconds(90.0));
        assert_eq!(parse_time_limit("none"), Ok(None));
        for text in ["soon", "-1", "0", "NaN", "inf", "1e-12", "None"] {
            assert_eq!(parse_time_limit(text), Err(InvalidTimeLimit), "{text}");
        }
    }

    #[test]
    fn reasons_have_a_message_and_a_code() {
        let stub = Unavailable::Initialization(34, "CUDA_ERROR_STUB_LIBRARY".into());
        assert!(
            stub.to_string()
                .ends_with("returned CUDA_ERROR_STUB_LIBRARY")
        );
        assert_eq!(stub.status(), Status(34));
        assert!(Unavailable::Library.to_string().ends_with("not found"));
        for unavailable in [
            Unavailable::Library,
            Unavailable::Warpbook,
            Unavailable::Function("cuInit"),
            Unavailable::Device,
        ] {
            assert_eq!(unavailable.status(), Status(100));
        }
    }
}
