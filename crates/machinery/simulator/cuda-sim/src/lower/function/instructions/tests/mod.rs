//! Tests of every form of the register instructions against references with a different method (wide
//! integers, bit loops, exact software floating point), and of the requirements of instructions.

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
