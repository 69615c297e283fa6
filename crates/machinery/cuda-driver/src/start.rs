//! The choice between NVIDIA's driver and the simulator, made once.

use std::env::{VarError, var};
use std::ffi::{c_int, c_uint};
use std::sync::OnceLock;
use std::time::Duration;

use cuda_sim::device::{DeviceSpec, PRESETS};
use cuda_sim::driver::CudaError;
use cuda_sim::exec::TimeLimit;
use cuda_sim::memory::global::MAX_DEVICES;

use crate::report::say;
use crate::status::{Answer, Status};
use crate::{fork, functions, nvidia, simulator};

/// Who answers the driver API's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// NVIDIA's driver: times are measured.
    Gpu,
    /// The simulator: times are modelled.
    Simulator,
}

/// A launch of which no block ends for so long is taken for one that never ends, where nobody says
/// anything else: blocks of the chapters and their exercises end within a second.
const USUAL: Duration = Duration::from_secs(60);
const USUAL_LIMIT: TimeLimit = TimeLimit::Standstill(USUAL);

/// The choice, once it is made; an error where there is nobody to choose.
static CHOICE: OnceLock<Result<Backend, Status>> = OnceLock::new();

/// Who answers, once `cuInit` has chosen; `None` before, and after a `cuInit` that failed.
pub fn backend() -> Option<Backend> {
    CHOICE.get().and_then(|choice| choice.ok())
}

/// `cuInit`: chooses at the first call, and answers the same at every one.
pub unsafe fn init(flags: c_uint) -> Answer {
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    chosen()?;
    Ok(())
}

/// Who answers. It is chosen now if it has not been before.
pub fn chosen() -> Result<Backend, Status> {
    if fork::in_child() {
        return Err(CudaError::NotInitialized.into());
    }
    *CHOICE.get_or_init(choose)
}

/// Chooses as `CUDA_BACKEND` asks. Unset, NVIDIA's driver where it can be used, else the simulator.
/// The reason goes to stderr.
fn choose() -> Result<Backend, Status> {
    let wanted = match setting("CUDA_BACKEND")?.as_deref() {
        None => None,
        Some("gpu") => Some(Backend::Gpu),
        Some("sim") => Some(Backend::Simulator),
        Some(other) => {
            say(format_args!(
                "CUDA_BACKEND={other} is neither gpu nor sim; unset, it chooses itself"
            ));
            return Err(CudaError::InvalidValue.into());
        }
    };
    if wanted == Some(Backend::Simulator) {
        simulate()?;
        return Ok(Backend::Simulator);
    }
    match (nvidia::connect(), wanted) {
        (Ok(()), _) => Ok(Backend::Gpu),
        (Err(missing), Some(_)) => {
            say(format_args!(
                "no NVIDIA GPU ({missing}), and CUDA_BACKEND=gpu asks for one; \
                 install NVIDIA's driver, or unset it to run on the simulator"
            ));
            Err(missing.status())
        }
        (Err(missing), None) => {
            let models = simulate()?.models;
            say(format_args!(
                "no NVIDIA GPU ({missing}); running on the built-in simulator ({models}, modelled)"
            ));
            Ok(Backend::Simulator)
        }
    }
}

/// Is asked before the simulator is switched on; an error, with its reason, keeps it off.
pub type Preparation = fn(&'static DeviceSpec) -> Result<(), String>;

static PREPARATION: OnceLock<Preparation> = OnceLock::new();

/// Has `cuInit` ask `preparation` before it switches the simulator on. Only the first counts.
pub fn before_simulating(preparation: Preparation) {
    let _ = PREPARATION.set(preparation);
}

/// Asks who wants to be asked.
fn prepare(device: &'static DeviceSpec) -> Result<(), Status> {
    let Some(preparation) = PREPARATION.get() else {
        return Ok(());
    };
    preparation(device).map_err(|why| {
        say(format_args!("{why}"));
        CudaError::InvalidValue.into()
    })
}

/// Makes the simulator answer from now on; returns the GPU that it models.
fn simulate() -> Result<&'static DeviceSpec, Status> {
    let device = modelled()?;
    checks()?;
    prepare(device)?;
    simulator::start(devices()?, device.clone(), time_limit()?, sampled()?);
    fork::watch();
    for function in functions::all() {
        function.simulate();
    }
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
    }
    // SAFETY: `atexit` is in C's library on every platform, and the function given to it is there as
    // long as the program. If C has no room for it, leaks at the program's end are not reported.
    unsafe { atexit(simulator::check::at_exit) };
    Ok(device)
}

/// The GPU that the simulator models, and how many of it, as the environment asks; it is not switched on.
///
/// # Errors
///
/// Where the environment asks for what there is not, which is said on stderr.
pub fn simulated() -> Result<(&'static DeviceSpec, u32), Status> {
    Ok((modelled()?, devices()?))
}

/// `CUDA_SIM_DEVICE`: the GPU to model. Unset, the first preset.
fn modelled() -> Result<&'static DeviceSpec, Status> {
    let Some(name) = setting("CUDA_SIM_DEVICE")? else {
        return Ok(&PRESETS[0].1);
    };
    DeviceSpec::named(&name).ok_or_else(|| {
        let names = PRESETS.each_ref().map(|(short, _)| *short);
        say(format_args!(
            "CUDA_SIM_DEVICE={name} is no GPU that can be modelled; there are {}",
            names.join(", ")
        ));
        CudaError::InvalidValue.into()
    })
}

/// `CUDA_SIM_DEVICES`: how many such GPUs the machine has. Unset, one.
fn devices() -> Result<u32, Status> {
    let Some(text) = setting("CUDA_SIM_DEVICES")? else {
        return Ok(1);
    };
    let count = text.parse().ok();
    let count = count.filter(|count| (1..=MAX_DEVICES).contains(count));
    count.ok_or_else(|| {
        say(format_args!(
            "CUDA_SIM_DEVICES={text} is no number of GPUs from 1 to {MAX_DEVICES}; unset, there is one"
        ));
        CudaError::InvalidValue.into()
    })
}

/// Turns on the checks that `CUDA_SIM_CHECK` names.
fn checks() -> Result<(), Status> {
    let Some(text) = setting("CUDA_SIM_CHECK")? else {
        return Ok(());
    };
    match text.parse() {
        Ok(checks) => {
            simulator::check::check_aloud(checks);
            Ok(())
        }
        Err(error) => {
            say(format_args!("CUDA_SIM_CHECK={text}: {error}"));
            Err(CudaError::InvalidValue.into())
        }
    }
}

/// How long a launch may run, as `CUDA_SIM_TIME_LIMIT` says; `None` where it may run for ever.
fn time_limit() -> Result<Option<TimeLimit>, Status> {
    let Some(text) = setting("CUDA_SIM_TIME_LIMIT")? else {
        return Ok(Some(USUAL_LIMIT));
    };
    read_limit(&text).map_err(|NoLimit| {
        say(format_args!(
            "CUDA_SIM_TIME_LIMIT={text} is neither a number of seconds above 0 nor none; unset, a launch \
             is ended when none of its blocks has ended for {} s",
            USUAL.as_secs()
        ));
        CudaError::InvalidValue.into()
    })
}

/// Whether the sample of a launch is counted that its modelled time is made of. `CUDA_SIM_SAMPLE=none` is for measuring
/// what that costs.
fn sampled() -> Result<bool, Status> {
    match setting("CUDA_SIM_SAMPLE")?.as_deref() {
        None => Ok(true),
        Some("none") => Ok(false),
        Some(other) => {
            say(format_args!(
                "CUDA_SIM_SAMPLE={other} is not none; unset, each launch's time is modelled by a sample of its blocks"
            ));
            Err(CudaError::InvalidValue.into())
        }
    }
}

/// A text that is no time limit.
#[derive(Debug, PartialEq)]
struct NoLimit;

/// A launch's limit in words: seconds, or `none`.
fn read_limit(text: &str) -> Result<Option<TimeLimit>, NoLimit> {
    if text == "none" {
        return Ok(None);
    }
    let seconds = text.parse().map_err(|_| NoLimit)?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(Some(TimeLimit::Launch(limit))),
        _ => Err(NoLimit),
    }
}

/// An environment variable; an empty one counts as unset.
fn setting(name: &str) -> Result<Option<String>, Status> {
    match var(name) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => {
            say(format_args!("{name} is not readable text"));
            Err(CudaError::InvalidValue.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_of_seconds_or_none() {
        let seconds = |seconds| Ok(Some(TimeLimit::Launch(Duration::from_secs_f64(seconds))));
        assert_eq!(read_limit("2.5"), seconds(2.5));
        assert_eq!(read_limit("90"), seconds(90.0));
        assert_eq!(read_limit("none"), Ok(None));
        for text in ["soon", "-1", "0", "NaN", "inf", "1e-12", "None"] {
            assert_eq!(read_limit(text), Err(NoLimit), "{text}");
        }
    }
}
