//! Hardware limits, measured in the same run as the kernels that approach them.

use anyhow::{Context as _, Result, ensure};
use cust::device::{Device, DeviceAttribute};
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::sys;

use common::error::check;
use common::gpu::Gpu;
use common::module;
use common::timing::{self, Events, Timing};
use common::verify::{compare, output, within_ulps};

use crate::report::Limit;

const PTX: &str = include_str!(env!("LIMITS_PTX"));

/// Threads per block of `fp32_rate`, and the number of independent sums each thread accumulates.
const BLOCK: u32 = 256;
const CHAINS: u32 = 8;

/// Iterations of its loop in a short and in a long launch.
const ROUNDS: [u32; 2] = [256, 768];

/// Attempts to measure the rate, until the times of both launches are plausible.
const ATTEMPTS: u32 = 3;

/// A range of device memory, as source or destination of a copy.
#[derive(Clone, Copy)]
pub struct DeviceRange {
    /// The first address.
    pub address: sys::CUdeviceptr,
    /// The length in bytes.
    pub bytes: usize,
}

/// Times a copy on the device, which reads and writes each byte once: the limit of a memory-bound kernel.
///
/// # Errors
///
/// Fails if the lengths differ or CUDA reports an error.
pub fn copy(
    gpu: &Gpu,
    events: &Events,
    repeat: u32,
    to: DeviceRange,
    from: DeviceRange,
) -> Result<Timing> {
    ensure!(
        to.bytes == from.bytes,
        "source and destination of a copy differ in size"
    );
    let stream = events.stream().as_inner();
    let measured = events.measure(gpu.info.time, repeat, || {
        // SAFETY: the driver checks both addresses and the length. The stream is synchronized before anything
        // else uses either range.
        check(unsafe { sys::cuMemcpyDtoDAsync_v2(to.address, from.address, to.bytes, stream) })?;
        Ok(())
    });
    Ok(measured.context("cannot time a copy on the device")?.timing)
}

/// Times a copy of `bytes` bytes between two allocations made for it, like [`copy`].
pub fn copy_of(gpu: &Gpu, repeat: u32, bytes: usize) -> Limit {
    let time = || {
        let allocate = || output("the ends of a copy", bytes);
        let (from, to) = (allocate()?, allocate()?);
        let range = |buffer: &DeviceBuffer<u8>| DeviceRange {
            address: buffer.as_device_ptr().as_raw(),
            bytes,
        };
        let events = timing::events(&gpu.stream)?;
        copy(gpu, &events, repeat, range(&to), range(&from))
    };
    Limit::new("copy on the device", time())
}

/// The rate of 32-bit floating-point instructions, the measure of arithmetic: a fused multiply-add, a
/// multiplication, an addition and a comparison each count as one instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fp32 {
    /// Thread instructions per second of the whole GPU.
    pub per_second: f64,
}

impl Fp32 {
    /// Measures the rate: all streaming multiprocessors are filled with threads that execute only independent
    /// fused multiply-adds. The rate is computed from the difference between a long and a short launch, which
    /// cancels the launch overhead.
    ///
    /// # Errors
    ///
    /// Fails if no attempt gives plausible times, CUDA reports an error, or a sum is wrong.
    pub fn measure(gpu: &Gpu, repeat: u32) -> Result<Fp32> {
        Self::try_measure(gpu, repeat).context("cannot measure the rate of arithmetic")
    }

    fn try_measure(gpu: &Gpu, repeat: u32) -> Result<Fp32> {
        let blocks = blocks(&gpu.device)?;
        let threads = blocks * BLOCK;
        let module = module::load(PTX)?;
        let kernel = module.get_function("fp32_rate")?;
        let sums = output::<f32>("sums", threads as usize)?;
        let stream = &gpu.stream;
        let events = timing::events(stream)?;
        let milliseconds = |rounds: u32| -> Result<f64> {
            let measured = events.measure(gpu.info.time, repeat, || {
                // SAFETY: the arguments match the parameters of `fp32_rate`, and `sums` has one element per
                // thread, which the kernel writes.
                unsafe {
                    launch!(kernel<<<blocks, BLOCK, 0, stream>>>(sums.as_device_ptr(), rounds))
                }?;
                Ok(())
            })?;
            Ok(measured.timing.median_ms)
        };
        let [short_rounds, long_rounds] = ROUNDS;
        let (mut short, mut long) = (milliseconds(short_rounds)?, milliseconds(long_rounds)?);
        let mut actual = vec![0.0; threads as usize];
        sums.copy_to(&mut actual)?;
        let expected = vec![sum(long_rounds); threads as usize];
        let verdict =
            compare(&actual, &expected, within_ulps(0)).verdict(|i| format!("thread {i}"));
        ensure!(verdict.wrong.is_none(), "{:?}", verdict.wrong);
        for _ in 1..ATTEMPTS {
            if is_plausible(short, long) {
                break;
            }
            (short, long) = (milliseconds(short_rounds)?, milliseconds(long_rounds)?);
        }
        ensure!(
            is_plausible(short, long),
            "{long_rounds} rounds took {long} ms, {short_rounds} took {short}"
        );
        let instructions = f64::from(threads) * f64::from((long_rounds - short_rounds) * CHAINS);
        Ok(Fp32 {
            per_second: instructions / (long - short) * 1e3,
        })
    }

    /// Returns the time the GPU needs for this number of thread instructions and nothing else.
    pub fn time(self, instructions: f64) -> Timing {
        Timing::once(instructions / self.per_second * 1e3)
    }
}

/// Returns true if a launch of three times as many rounds took twice to three times as long: the rest is launch
/// overhead. Under a profiler or next to another program, a time can be anything.
fn is_plausible(short: f64, long: f64) -> bool {
    (2.0..3.1).contains(&(long / short))
}

/// Returns the number of blocks that the device holds at once.
fn blocks(device: &Device) -> Result<u32> {
    let attribute = |which| -> Result<u32> {
        let value = device.get_attribute(which)?;
        Ok(value.try_into()?)
    };
    let threads = attribute(DeviceAttribute::MaxThreadsPerMultiprocessor)?;
    Ok(attribute(DeviceAttribute::MultiprocessorCount)? * (threads / BLOCK).max(1))
}

/// Returns the sum that each thread of `fp32_rate` computes.
fn sum(rounds: u32) -> f32 {
    let mut chains: [f32; CHAINS as usize] = std::array::from_fn(|chain| chain as f32 + 3.0);
    for _ in 0..rounds {
        for value in &mut chains {
            *value = value.mul_add(0.5, 1.0);
        }
    }
    chains.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_instructions_over_the_rate() {
        let rate = Fp32 { per_second: 2e12 };
        let half = rate.time(1e9);
        assert_eq!((half.median_ms, half.samples), (0.5, 1));
    }

    #[test]
    fn times_that_are_not_those_of_the_rounds_are_implausible() {
        assert!(is_plausible(0.0186, 0.0518));
        // A profiler's own time outweighs the kernel's, or interrupts one of the two launches.
        for (short, long) in [(0.9, 0.93), (0.9, 0.8), (0.0186, 0.9), (0.0, 0.0)] {
            assert!(!is_plausible(short, long), "{short} {long}");
        }
    }

    #[test]
    fn every_chain_comes_to_two() {
        assert_eq!(sum(0), 52.0);
        assert_eq!(sum(1), 8.0 + 26.0);
        assert_eq!(sum(ROUNDS[1]), 16.0);
    }
}
