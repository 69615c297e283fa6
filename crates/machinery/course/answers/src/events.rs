//! The interface of exercise 25-events: the time of a kernel.

use std::cell::Cell;
use std::process::ExitCode;

use anyhow::Result;
use common::{Gpu, module};
use cust::error::CudaResult;
use cust::launch;
use cust::memory::DeviceBuffer;
use cust::stream::Stream;
use serde::{Deserialize, Serialize};

use crate::protocol::serve;

/// Threads per launch, one warp.
pub const THREADS: u32 = 32;

/// The student's function. It takes a stream, a number of samples and a closure that performs a launch, and
/// returns the median time in milliseconds.
pub type MedianMs = fn(&Stream, usize, &dyn Fn() -> CudaResult<()>) -> CudaResult<f32>;

/// The arguments of the student's function and the parameters of its launches.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The PTX of the kernel `work`.
    pub ptx: String,
    /// The number of samples to take.
    pub samples: usize,
    /// The number of rounds of the first launch.
    pub first: u32,
    /// The numbers of rounds of the following launches, repeated if there are more launches.
    pub rounds: Vec<u32>,
}

/// The outcome of calling the student's function.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// The return value; `None` if it is infinite or NaN, which JSON cannot represent.
    pub milliseconds: Option<f32>,
    /// The number of launches performed.
    pub launches: u32,
}

/// Runs the program around a submission.
pub fn main(median_ms: MedianMs) -> ExitCode {
    serve(Gpu::open, |gpu, request| {
        reply(median_ms, &gpu.stream, &request)
    })
}

fn reply(median_ms: MedianMs, stream: &Stream, request: &Request) -> Result<Reply> {
    let module = module::load(&request.ptx)?;
    let kernel = module.get_function("work")?;
    let out = DeviceBuffer::from_slice(&[0_f32; THREADS as usize])?;
    let launches = Cell::new(0_u32);
    let launch = || {
        let number = launches.replace(launches.get().wrapping_add(1));
        let rounds = match number.checked_sub(1) {
            None => request.first,
            Some(number) => request.rounds[number as usize % request.rounds.len()],
        };
        // SAFETY: the arguments match the signature of `work`, and `out` has one element for each of its
        // `THREADS` threads.
        unsafe { launch!(kernel<<<1, THREADS, 0, stream>>>(out.as_device_ptr(), rounds)) }
    };
    let milliseconds = median_ms(stream, request.samples, &launch)?;
    stream.synchronize()?;
    Ok(Reply {
        milliseconds: Some(milliseconds),
        launches: launches.get(),
    })
}
