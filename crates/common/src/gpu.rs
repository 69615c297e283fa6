//! Opening the GPU, or the simulator that replaces it.

use std::fmt;

use anyhow::{Context as _, Result, anyhow};
use cuda_driver::Backend;
use cuda_driver::device::{DeviceSpec, PRESETS};
use cust::CudaApiVersion;
use cust::context::Context;
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::stream::{Stream, StreamFlags};
use serde::{Serialize, Serializer};

/// The first GPU, with a stream to launch on. Dropping it releases the GPU.
pub struct Gpu {
    /// The stream that a chapter launches on. It is the first field because it must be dropped before its
    /// context.
    pub stream: Stream,
    /// cust's device, for limits and attributes.
    pub device: Device,
    /// The data of the device line and the report.
    pub info: GpuInfo,
    _context: Context,
}

/// The GPU that a time belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuInfo {
    /// The GPU's name; on the simulator, the name of the modelled GPU.
    pub name: String,
    /// The GPU's compute capability.
    pub compute_capability: Capability,
    /// The newest CUDA version that the driver supports, such as `13.0`.
    pub driver: String,
    /// The source of times: the hardware or a model of it.
    pub time: Clock,
}

/// A compute capability, major and minor: `Capability(9, 0)` is 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability(pub i32, pub i32);

impl Capability {
    /// The capability that kernels are compiled for unless their file name says otherwise: Maxwell's.
    pub const KERNELS: Capability = Capability(5, 2);
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Capability(major, minor) = self;
        write!(f, "{major}.{minor}")
    }
}

/// Serializes as text, `9.0`.
impl Serialize for Capability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The source of a time. Every table and record states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Measured with the GPU's events.
    Measured,
    /// Computed by the simulator's model of a GPU: deterministic, and never a measurement.
    Modelled,
}

impl Gpu {
    /// Initializes CUDA and opens device 0 with its primary context and one stream.
    ///
    /// # Errors
    ///
    /// Fails if CUDA does not start: `CUDA_BACKEND` is `gpu` and there is no GPU, it is neither `gpu` nor
    /// `sim`, or `CUDA_SIM_DEVICE` is not a GPU that can be modelled.
    pub fn open() -> Result<Gpu> {
        cust::init(cust::CudaFlags::empty()).map_err(cannot_start)?;
        let device = Device::get_device(0)?;
        let context = Context::new(device).context("cannot open the GPU")?;
        let stream = Stream::new(StreamFlags::DEFAULT, None)?;
        let driver = CudaApiVersion::get()?;
        let attribute = |which| device.get_attribute(which);
        let backend = cuda_driver::backend()
            .context("CUDA is initialized, but neither a GPU nor the simulator is active")?;
        let info = GpuInfo {
            name: device.name()?.trim_end_matches(" (simulated)").to_owned(),
            compute_capability: Capability(
                attribute(DeviceAttribute::ComputeCapabilityMajor)?,
                attribute(DeviceAttribute::ComputeCapabilityMinor)?,
            ),
            driver: format!("{}.{}", driver.major(), driver.minor()),
            time: match backend {
                Backend::Gpu => Clock::Measured,
                Backend::Simulator => Clock::Modelled,
            },
        };
        Ok(Gpu {
            stream,
            device,
            info,
            _context: context,
        })
    }
}

/// Explains why CUDA did not start, in terms of the environment variables that the user set.
fn cannot_start(error: CudaError) -> anyhow::Error {
    let expected = std::env::var("CUDA_BACKEND").unwrap_or_default();
    let modelled = std::env::var("CUDA_SIM_DEVICE").unwrap_or_default();
    match (expected.as_str(), error) {
        ("gpu", _) => anyhow::Error::new(error).context(
            "CUDA_BACKEND=gpu, but no NVIDIA GPU can be used here \
             (unset it, or set CUDA_BACKEND=sim, to run on the simulator)",
        ),
        ("" | "sim", CudaError::InvalidValue) if is_unknown_model(&modelled) => {
            let names = PRESETS.each_ref().map(|(short, _)| *short);
            anyhow!(
                "CUDA_SIM_DEVICE is '{modelled}'; set it to one of {}, or leave it unset",
                names.join(", ")
            )
        }
        // CUDA starts with these two values, so another environment variable is invalid.
        ("" | "sim", CudaError::InvalidValue) => {
            anyhow!("CUDA does not start with the environment variable named above")
        }
        ("" | "sim", _) => anyhow::Error::new(error).context("CUDA does not start"),
        (other, _) => {
            anyhow!("CUDA_BACKEND is '{other}'; set it to gpu or sim, or leave it unset")
        }
    }
}

/// Returns true if a name is given that is not a GPU that can be modelled.
fn is_unknown_model(name: &str) -> bool {
    !name.is_empty() && DeviceSpec::named(name).is_none()
}

/// Formats the device line: `GPU: NVIDIA H200, compute capability 9.0, driver 13.0`.
impl fmt::Display for GpuInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GpuInfo {
            name,
            compute_capability,
            driver,
            ..
        } = self;
        match self.time {
            Clock::Measured => write!(f, "GPU: {name}")?,
            Clock::Modelled => write!(f, "simulator: models an {name}")?,
        }
        write!(
            f,
            ", compute capability {compute_capability}, driver {driver}"
        )?;
        if self.time == Clock::Modelled && *compute_capability < Capability::KERNELS {
            f.write_str(
                "\nthe real GPU is too old for these kernels; the model runs them with its limits \
                 and rates",
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clock::Measured => "measured",
            Clock::Modelled => "modelled",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(time: Clock) -> GpuInfo {
        GpuInfo {
            name: "NVIDIA H200".to_owned(),
            compute_capability: Capability(9, 0),
            driver: "13.0".to_owned(),
            time,
        }
    }

    #[test]
    fn the_device_line_distinguishes_gpu_and_simulator() {
        assert_eq!(
            info(Clock::Measured).to_string(),
            "GPU: NVIDIA H200, compute capability 9.0, driver 13.0"
        );
        assert_eq!(
            info(Clock::Modelled).to_string(),
            "simulator: models an NVIDIA H200, compute capability 9.0, driver 13.0"
        );
    }

    #[test]
    fn too_old_gpus_are_reported() {
        let old = |compute_capability, time| {
            let message = GpuInfo {
                compute_capability,
                ..info(time)
            }
            .to_string();
            message.contains("the real GPU is too old for these kernels")
        };
        assert!(old(Capability(1, 3), Clock::Modelled) && old(Capability(5, 0), Clock::Modelled));
        assert!(
            !old(Capability(5, 2), Clock::Modelled) && !old(Capability(12, 0), Clock::Modelled)
        );
        assert!(!old(Capability(5, 0), Clock::Measured));
    }
}
