//! Tests of every form of the register instructions against references with a different method (wide
//! integers, bit loops, exact software floating point), and of the requirements of instructions.

mod compare;
mod convert;
mod float;
mod forms;
mod half;
mod harness;
mod integer;
mod special;
