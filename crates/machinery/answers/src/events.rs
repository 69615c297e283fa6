//! 25-events: the time of a kernel.

use std::cell::Cell;
use std::process::ExitCode;

use anyhow::Result;
use common::{Gpu, module};
use cust::error::CudaResult;
use cust::launch;
use cust::memory::DeviceBuffer;
use cust::stream::Stream;
use serde::{Deserialize, Serialize};

use crate::serve::serve;

/// Threads of a launch: one warp.
pub const THREADS: u32 = 32;

/// The student's function: the median of so many times of what the closure launches.
pub type MedianMs = fn(&Stream, usize, &dyn Fn() -> CudaResult<()>) -> CudaResult<f32>;

/// What it is called with.
#[derive(Debug, Serialize, Deserialize)]
pub struct Question {
    /// The kernel `work`.
    pub ptx: String,
    /// How many samples it is to take.
    pub samples: usize,
    /// Rounds of the first launch.
    pub first: u32,
    /// Rounds of the launches after that; then the same again.
    pub rounds: Vec<u32>,
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// What it returned; none where that is infinite or no number, which JSON does not have.
    pub milliseconds: Option<f32>,
    /// How often it called the closure.
    pub launches: u32,
}

/// The program around an answer.
pub fn main(median_ms: MedianMs) -> ExitCode {
    let mut opened = None;
    serve(move |question| {
        let gpu = match &mut opened {
            Some(gpu) => gpu,
            none => none.insert(Gpu::open()?),
        };
        reply(median_ms, &gpu.stream, &question)
    })
}

fn reply(median_ms: MedianMs, stream: &Stream, question: &Question) -> Result<Reply> {
    let module = module::load(&question.ptx)?;
    let kernel = module.get_function("work")?;
    let out = DeviceBuffer::from_slice(&[0_f32; THREADS as usize])?;
    let launches = Cell::new(0_u32);
    let launch = || {
        let number = launches.replace(launches.get().wrapping_add(1));
        let rounds = match number.checked_sub(1) {
            None => question.first,
            Some(number) => question.rounds[number as usize % question.rounds.len()],
        };
        // SAFETY: the arguments are those that the kernel is declared with, and it writes a number for
        // each of its threads.
        unsafe { launch!(kernel<<<1, THREADS, 0, stream>>>(out.as_device_ptr(), rounds)) }
    };
    let milliseconds = median_ms(stream, question.samples, &launch)?;
    stream.synchronize()?;
    Ok(Reply {
        milliseconds: Some(milliseconds),
        launches: launches.get(),
    })
}
