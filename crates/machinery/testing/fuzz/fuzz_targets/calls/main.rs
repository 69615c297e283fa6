//! Fuzzes the driver API with calls in any order, with handles that are live, stale or invalid, and with
//! numbers of any size. Every call must return; none may panic or access memory that belongs neither to
//! the simulator nor to the caller.
//!
//! The calls meet the C API's requirements on the caller: a pointer to host memory points to as many bytes as
//! the call says.

#![no_main]

mod context;
mod copy;
mod device;
mod fill;
mod launch;
mod memory;
mod module;
mod state;
mod stream;

use arbitrary::{Arbitrary, Unstructured};
use cuda_driver::functions::cuInit;
use libfuzzer_sys::fuzz_target;
use state::State;

/// The maximum number of calls per input.
const MAX_CALLS: usize = 64;

/// A call, by topic.
#[derive(Arbitrary, Debug)]
enum Call {
    Context(context::Call),
    Copy(copy::Call),
    Device(device::Call),
    Fill(fill::Call),
    Launch(launch::Call),
    Memory(memory::Call),
    Module(module::Call),
    Stream(stream::Call),
}

impl Call {
    /// Executes the call.
    ///
    /// # Safety
    /// The driver must be initialized.
    unsafe fn execute(self, state: &mut State) {
        // SAFETY: the caller has initialized the driver, which is all that these functions require.
        unsafe {
            match self {
                Call::Context(call) => call.execute(state),
                Call::Copy(call) => call.execute(state),
                Call::Device(call) => call.execute(state),
                Call::Fill(call) => call.execute(state),
                Call::Launch(call) => call.execute(state),
                Call::Memory(call) => call.execute(state),
                Call::Module(call) => call.execute(state),
                Call::Stream(call) => call.execute(state),
            }
        }
    }
}

/// The calls of an input, at most [`MAX_CALLS`].
#[derive(Debug)]
struct Calls(Vec<Call>);

impl<'a> Arbitrary<'a> for Calls {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut calls = Vec::new();
        while !bytes.is_empty() && calls.len() < MAX_CALLS {
            calls.push(bytes.arbitrary()?);
        }
        Ok(Calls(calls))
    }
}

fuzz_target!(init: start(), |calls: Calls| {
    let mut state = State::new();
    for call in calls.0 {
        // SAFETY: `start` has initialized the driver.
        unsafe { call.execute(&mut state) };
    }
    // SAFETY: `start` has initialized the driver.
    unsafe { context::clear(&state) };
});

/// Selects the simulator, and limits the time of each kernel.
fn start() {
    // SAFETY: libFuzzer calls `start` before any input, when no other thread reads the environment.
    unsafe {
        std::env::set_var("CUDA_BACKEND", "sim");
        std::env::set_var("CUDA_SIM_TIME_LIMIT", "0.02");
        assert_eq!(cuInit(0), 0);
    }
}
