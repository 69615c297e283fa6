//! Calls of the driver API in any order, with handles that are live, stale or never were, and
//! numbers of any size: each is answered, and none of it is a panic or touches memory that is not
//! the simulator's or the caller's.
//!
//! What C leaves to the caller the caller keeps to: a pointer to host memory points to as many bytes
//! as the call says.

#![no_main]

mod context;
mod copy;
mod device;
mod fill;
mod known;
mod launch;
mod memory;
mod module;
mod stream;

use arbitrary::{Arbitrary, Unstructured};
use cuda_driver::functions::cuInit;
use known::Known;
use libfuzzer_sys::fuzz_target;

/// Calls in a row.
const MOST: usize = 64;

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
    /// Makes the call.
    ///
    /// # Safety
    /// The driver has been started.
    unsafe fn make(self, known: &mut Known) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Call::Context(call) => call.make(known),
                Call::Copy(call) => call.make(known),
                Call::Device(call) => call.make(known),
                Call::Fill(call) => call.make(known),
                Call::Launch(call) => call.make(known),
                Call::Memory(call) => call.make(known),
                Call::Module(call) => call.make(known),
                Call::Stream(call) => call.make(known),
            }
        }
    }
}

/// As many calls as there are bytes for, up to [`MOST`].
#[derive(Debug)]
struct Calls(Vec<Call>);

impl<'a> Arbitrary<'a> for Calls {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut calls = Vec::new();
        while !bytes.is_empty() && calls.len() < MOST {
            calls.push(bytes.arbitrary()?);
        }
        Ok(Calls(calls))
    }
}

fuzz_target!(init: start(), |calls: Calls| {
    let mut known = Known::new();
    for call in calls.0 {
        // SAFETY: `start` has started it.
        unsafe { call.make(&mut known) };
    }
    // SAFETY: as above.
    unsafe { context::clear(&known) };
});

/// Chooses the simulator, and lets no kernel run for long.
fn start() {
    // SAFETY: nothing else runs yet.
    unsafe {
        std::env::set_var("CUDA_BACKEND", "sim");
        std::env::set_var("CUDA_SIM_TIME_LIMIT", "0.02");
        assert_eq!(cuInit(0), 0);
    }
}
