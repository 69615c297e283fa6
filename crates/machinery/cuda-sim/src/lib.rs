//! A CUDA GPU in software: PTX in, the results, the memory traffic and a modelled time out.
//!
//! Modules know those before them and none after them (`tests/layers` looks):
//!
//! | | |
//! |---|---|
//! | [`ptx`], [`device`], `lanes`, [`memory`] | PTX text to a tree; what a GPU has; a warp's 32 lanes; where bytes lie |
//! | [`isa`] | what an instruction is, for everyone who is not the one that runs it |
//! | [`profile`], [`check`] | what is counted, and what is looked for |
//! | [`exec`] | runs programs |
//! | [`lower`], [`model`] | PTX to a program; counters to a time |
//! | [`launch`] | a launch from beginning to end |
//! | [`driver`] | the CUDA driver API |

// Lane loops index several rows by the same lane.
#![allow(clippy::needless_range_loop)]

pub mod check;
pub mod device;
pub mod driver;
pub mod exec;
pub mod isa;
mod lanes;
pub mod launch;
pub mod lower;
pub mod memory;
pub mod model;
pub mod profile;
pub mod ptx;
