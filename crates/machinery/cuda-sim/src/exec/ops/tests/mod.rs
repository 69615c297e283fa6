//! Every form against a reference written another way: wide integers, bit loops, exact software
//! floating point.

mod bits;
mod carry;
mod compare;
mod convert;
mod float;
mod forms;
mod half;
mod hardware;
pub mod harness;
mod integer;
mod logic;
mod moves;
mod special;
