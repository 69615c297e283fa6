//! Planted bugs: small kernels with one typical beginner's bug each, and a correct twin of each.
//!
//! They test the checkers: both the simulator and NVIDIA's compute-sanitizer should find the bug, name
//! its line, and report nothing for the twin.
//!
//! | module | contents |
//! |---|---|
//! | [`cases`] | the kernels of `kernels/bugs`, the lines marked in them, and the host side of each, from `cases.toml` |
//! | [`run`] | execution of a host side |

pub mod cases;
pub mod run;
