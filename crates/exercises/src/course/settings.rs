//! 13-settings: a constant variable that the host fills.

use anyhow::Result;
use cust::memory::DeviceCopy;
use cust::prelude::*;

use crate::host::{Bench, Case, Host, Output};

/// An amplifier, whose settings are in constant memory.
pub struct Amplifier;

/// The `Settings` of the `.cu` file.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Settings {
    gain: f32,
    offset: f32,
    lowest: f32,
    highest: f32,
}

const BLOCK: usize = 128;

impl Host for Amplifier {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let samples = case.floats(0, case.n());
        let drawn = case.floats(1, 4);
        let settings = Settings {
            gain: 4.0 * drawn[0],
            offset: drawn[1],
            lowest: -1.0 - drawn[2].abs(),
            highest: 1.0 + drawn[3].abs(),
        };
        let amplified = |sample: &f32| {
            let sample = settings.gain.mul_add(*sample, settings.offset);
            sample.max(settings.lowest).min(settings.highest)
        };
        let expected = samples.iter().map(amplified).collect();

        bench.input_variable("settings", &[settings])?;
        let from = bench.input("in", &samples)?;
        let to = bench.output(case.n())?;
        let kernel = bench.kernel("amplify")?;
        let stream = &bench.gpu.stream;
        let blocks = case.n().div_ceil(BLOCK) as u32;
        // SAFETY: the arguments are the kernel's, and both arrays have as many samples as it is told.
        unsafe {
            launch!(kernel<<<blocks, BLOCK as u32, 0, stream>>>(
                from.as_device_ptr(), to.as_device_ptr(), case.n() as i32
            ))
        }?;
        stream.synchronize()?;
        Ok(vec![Output::new("out", &[case.n()], &to, expected)?])
    }
}
