//! The real `cust` crate, unmodified, on the simulator.

extern crate cuda_driver as _;

mod contexts;
mod device;
mod launches;
mod memory;
mod modules;
mod streams;

use std::error::Error;
use std::sync::Once;

use cust::context::Context;

const SAXPY: &str = include_str!("../ptx/saxpy.ptx");

type Test = Result<(), Box<dyn Error>>;

/// Returns a context on the simulator. All tests share the primary context.
fn simulator() -> Context {
    static FORCED: Once = Once::new();
    // SAFETY: set before any driver call, and only the driver reads it; Rust's own reading of the environment
    // takes a lock.
    FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
    cust::quick_init().unwrap()
}
