//! What the hardware allows, measured in the same run as the kernels that are to come near it.

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

/// Threads of a block of `fp32_rate`, and how many sums each of them adds up at a time.
const BLOCK: u32 = 256;
const CHAINS: u32 = 8;

/// Times round its loop, in a short launch and in a long one.
const ROUNDS: [u32; 2] = [256, 768];

/// Memory of the device, as one end of a copy.
#[derive(Clone, Copy)]
pub struct Span {
    /// Where it begins.
    pub address: sys::CUdeviceptr,
    /// How long it is.
    pub bytes: usize,
}

/// The time of a copy on the device, each byte read once and written once: what a kernel bound by
/// memory is measured by.
///
/// # Errors
///
/// CUDA's own, and lengths that differ.
pub fn copy(gpu: &Gpu, events: &Events, repeat: u32, to: Span, from: Span) -> Result<Timing> {
    ensure!(to.bytes == from.bytes, "the ends of a copy differ in size");
    let stream = events.stream().as_inner();
    let measured = events.measure(gpu.info.time, repeat, || {
        // SAFETY: the driver checks both addresses and the length; it waits for the stream
        // before anything else can be done with either.
        check(unsafe { sys::cuMemcpyDtoDAsync_v2(to.address, from.address, to.bytes, stream) })?;
        Ok(())
    });
    Ok(measured.context("cannot time a copy on the device")?.timing)
}

/// The time of a copy of so many bytes between two allocations of its own: as [`copy`].
///
/// # Errors
///
/// CUDA's own.
pub fn copy_of(gpu: &Gpu, repeat: u32, bytes: usize) -> Result<Limit> {
    let allocate = || output("the ends of a copy", bytes);
    let (from, to) = (allocate()?, allocate()?);
    let span = |buffer: &DeviceBuffer<u8>| Span {
        address: buffer.as_device_ptr().as_raw(),
        bytes,
    };
    let events = timing::events(&gpu.stream)?;
    Ok(Limit {
        name: "copy on the device",
        timing: copy(gpu, &events, repeat, span(&to), span(&from))?,
    })
}

/// The rate of 32-bit floating-point instructions, which are what arithmetic is measured by: a
/// fused multiply-add, a multiplication, an addition and a comparison take a turn each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fp32 {
    /// Instructions of a thread a second, by the whole GPU.
    pub per_second: f64,
}

impl Fp32 {
    /// Measures it: all multiprocessors full of threads that do nothing but fused multiply-adds,
    /// none of which waits for the one before. The difference of a long launch and a short one, so
    /// that what launching takes drops out.
    ///
    /// # Errors
    ///
    /// CUDA's own, and a sum that comes out wrong.
    pub fn measure(gpu: &Gpu, repeat: u32) -> Result<Fp32> {
        let cannot = "cannot measure the rate of arithmetic";
        let blocks = blocks(&gpu.device).context(cannot)?;
        let threads = blocks * BLOCK;
        let module = module::load(PTX)?;
        let kernel = module.get_function("fp32_rate").context(cannot)?;
        let sums = output::<f32>("sums", threads as usize).context(cannot)?;
        let stream = &gpu.stream;
        let events = timing::events(stream)?;
        let milliseconds = |rounds: u32| {
            events.measure(gpu.info.time, repeat, || {
                // SAFETY: the arguments are those of `fp32_rate`, and it writes one sum a thread.
                unsafe {
                    launch!(kernel<<<blocks, BLOCK, 0, stream>>>(sums.as_device_ptr(), rounds))
                }?;
                Ok(())
            })
        };
        let [few, many] = ROUNDS;
        let short = milliseconds(few).context(cannot)?.timing.median_ms;
        let long = milliseconds(many).context(cannot)?.timing.median_ms;
        let mut found = vec![0.0; threads as usize];
        sums.copy_to(&mut found)?;
        let wanted = vec![sum(many); threads as usize];
        let verdict = compare(&found, &wanted, within_ulps(0)).verdict(|i| format!("thread {i}"));
        ensure!(verdict.wrong.is_none(), "{cannot}: {:?}", verdict.wrong);
        ensure!(
            long > short,
            "{cannot}: {many} rounds took {long} ms, {few} took {short}"
        );
        let instructions = f64::from(threads) * f64::from((many - few) * CHAINS);
        Ok(Fp32 {
            per_second: instructions / (long - short) * 1e3,
        })
    }

    /// How long the GPU takes for so many instructions of a thread, and for nothing else.
    pub fn time(self, instructions: f64) -> Timing {
        Timing::once(instructions / self.per_second * 1e3)
    }
}

/// As many blocks as the device holds at once.
fn blocks(device: &Device) -> Result<u32> {
    let attribute = |which| -> Result<u32> {
        let value = device.get_attribute(which)?;
        Ok(value.try_into()?)
    };
    let threads = attribute(DeviceAttribute::MaxThreadsPerMultiprocessor)?;
    Ok(attribute(DeviceAttribute::MultiprocessorCount)? * (threads / BLOCK).max(1))
}

/// What a thread of `fp32_rate` adds up to.
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
    fn every_chain_comes_to_two() {
        assert_eq!(sum(0), 52.0);
        assert_eq!(sum(1), 8.0 + 26.0);
        assert_eq!(sum(ROUNDS[1]), 16.0);
    }
}
