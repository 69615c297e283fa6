//! Selection of the backend: NVIDIA's driver or the simulator, decided once per process.

use std::env::{VarError, var};
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};
use std::time::Duration;

use cuda_sim::device::{DeviceSpec, PRESETS};
use cuda_sim::driver::CudaError;
use cuda_sim::exec::TimeLimit;
use cuda_sim::memory::global::MAX_DEVICES;

use super::{all, cuDriverGetVersion, nvidia};
use crate::api::device::VERSION;
use crate::api::{self, SIMULATOR};
use crate::arguments::Out;
use crate::log::warn;
use crate::simulator::{detect_forks, in_child};
use crate::status::{CallResult, SUCCESS, Status};

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
    match (nvidia::connect(), requested) {
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
    api::options::shuffle(Some(seed));
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
}
