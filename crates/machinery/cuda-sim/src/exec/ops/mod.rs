//! What each PTX instruction that works on registers does to a warp's registers: one file a family, and
//! in it a function an instruction, which finds the operation that a written form stands for. Which
//! instruction has which function is said by the table of instructions (`lower/function/instructions`).

pub mod bits;
pub mod carry;
pub mod compare;
pub mod convert;
pub mod divide;
pub mod extremum;
pub mod float;
pub mod form;
pub mod half;
pub mod integer;
pub mod logic;
pub mod mixed;
pub mod moves;
pub mod number;
pub mod pairs;
mod relation;
pub mod rounding;
pub mod special;
mod value;

pub use form::{Form, FormError, Op, Select};
