//! Planted bugs: small kernels with one learner's mistake each, and a correct twin of each.
//!
//! The checks are checked by them: whoever watches a program, the simulator or NVIDIA's
//! compute-sanitizer, should find the mistake, name its line, and say nothing of the twin.
//!
//! | module | what it has |
//! |---|---|
//! | [`source`] | the kernels, in `kernels/bugs`, and the lines marked in them |
//! | [`plan`] | what a host does for a kernel, as data |
//! | [`cases`] | which host side each kernel gets |
//! | [`run`] | carrying that out with cust |

pub mod cases;
pub mod plan;
pub mod run;
pub mod source;
