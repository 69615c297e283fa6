//! Every form of the register instructions against a reference written another way: wide integers, bit
//! loops, exact software floating point. And what instructions need.

mod bits;
mod carry;
mod compare;
mod convert;
mod directions;
mod divide;
mod extremum;
mod float;
mod forms;
mod half;
mod hardware;
mod harness;
mod integer;
mod logic;
mod moves;
mod requirements;
mod special;
