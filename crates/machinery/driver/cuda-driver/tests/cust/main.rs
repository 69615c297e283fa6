//! The real `cust` crate, unmodified, on the simulator.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod contexts;
mod device;
mod launches;
mod memory;
mod modules;
mod streams;

use std::error::Error;

use support::primary_context as simulator;

const SAXPY: &str = include_str!("../ptx/saxpy.ptx");

type Test = Result<(), Box<dyn Error>>;
