//! Opening the GPU, or the simulator in its place.

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
    /// The stream that a chapter launches on. First here, because it must go before its context.
    pub stream: Stream,
    /// cust's handle, for limits and attributes.
    pub device: Device,
    /// What the device line and the report say about it.
    pub info: GpuInfo,
    _context: Context,
}

/// What a time belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuInfo {
    /// The GPU's name; on the simulator, that of the GPU it models.
    pub name: String,
    /// What it can do.
    pub compute_capability: Capability,
    /// The newest CUDA version the driver supports, as `13.0`.
    pub driver: String,
    /// Whether times come from hardware or from a model of it.
    pub time: Clock,
}

/// Compute capability, major and minor: `Capability(9, 0)` is 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability(pub i32, pub i32);

impl Capability {
    /// What the kernels' PTX is made for, where its file says nothing else: Maxwell's.
    pub const KERNELS: Capability = Capability(5, 2);
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Capability(major, minor) = self;
        write!(f, "{major}.{minor}")
    }
}

/// As text, `9.0`.
impl Serialize for Capability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where a time comes from. Every table and record says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// A GPU's own events.
    Measured,
    /// The simulator's model of a GPU: deterministic, and never a measurement.
    Modelled,
}

impl Gpu {
    /// Starts CUDA and opens device 0: its primary context, and one stream.
    ///
    /// # Errors
    ///
    /// Where CUDA does not start: `CUDA_BACKEND` asks for a GPU and there is none, or it has a
    /// value that is neither `gpu` nor `sim`, or `CUDA_SIM_DEVICE` names none that can be modelled.
    pub fn open() -> Result<Gpu> {
        cust::init(cust::CudaFlags::empty()).map_err(cannot_start)?;
        let device = Device::get_device(0)?;
        let context = Context::new(device).context("cannot open the GPU")?;
        let stream = Stream::new(StreamFlags::DEFAULT, None)?;
        let driver = CudaApiVersion::get()?;
        let attribute = |which| device.get_attribute(which);
        let backend = cuda_driver::backend()
            .context("CUDA started, but neither a GPU nor the simulator answers")?;
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

/// Says why CUDA did not start, in terms of what the reader set.
fn cannot_start(error: CudaError) -> anyhow::Error {
    let wanted = std::env::var("CUDA_BACKEND").unwrap_or_default();
    let modelled = std::env::var("CUDA_SIM_DEVICE").unwrap_or_default();
    match (wanted.as_str(), error) {
        ("gpu", _) => anyhow::Error::new(error).context(
            "CUDA_BACKEND=gpu, but no NVIDIA GPU can be used here \
             (unset it, or set CUDA_BACKEND=sim, to run on the simulator)",
        ),
        ("" | "sim", CudaError::InvalidValue) if not_modelled(&modelled) => {
            let names = PRESETS.each_ref().map(|(short, _)| *short);
            anyhow!(
                "CUDA_SIM_DEVICE is '{modelled}'; set it to one of {}, or leave it unset",
                names.join(", ")
            )
        }
        // With both of these CUDA starts, unless it reads something else that it does not take.
        ("" | "sim", CudaError::InvalidValue) => {
            anyhow!("CUDA does not start with the environment variable named above")
        }
        ("" | "sim", _) => anyhow::Error::new(error).context("CUDA does not start"),
        (other, _) => {
            anyhow!("CUDA_BACKEND is '{other}'; set it to gpu or sim, or leave it unset")
        }
    }
}

/// Whether it names a GPU, and none of those that can be modelled.
fn not_modelled(name: &str) -> bool {
    !name.is_empty() && DeviceSpec::named(name).is_none()
}

/// The device line: `GPU: NVIDIA H200, compute capability 9.0, driver 13.0`.
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
                "\na real one is too old for these kernels; the model runs them within its limits \
                 and at its rates",
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
    fn the_device_line_tells_a_gpu_from_the_simulator() {
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
    fn a_modelled_gpu_that_could_not_run_the_kernels_is_said_to_be_one() {
        let old = |compute_capability, time| {
            let said = GpuInfo {
                compute_capability,
                ..info(time)
            }
            .to_string();
            said.contains("a real one is too old for these kernels")
        };
        assert!(old(Capability(1, 3), Clock::Modelled) && old(Capability(5, 0), Clock::Modelled));
        assert!(
            !old(Capability(5, 2), Clock::Modelled) && !old(Capability(12, 0), Clock::Modelled)
        );
        assert!(!old(Capability(5, 0), Clock::Measured));
    }
}
