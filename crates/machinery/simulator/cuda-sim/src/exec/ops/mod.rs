//! Register instructions, one file per family. Each PTX instruction has a function that selects the operation
//! of a written form. The table of instructions (`lower/function/instructions`) names the function of each.

pub mod bits;
pub mod carry;
pub mod compare;
pub mod convert;
pub mod float;
pub mod form;
pub mod functions;
pub mod half;
pub mod integer;
pub mod mixed;
pub mod number;
pub mod pairs;
mod relation;
pub mod rounding;
mod value;

pub use form::{Form, FormError, Op, Select};
