//! Measures the error of the device mathematics, `kernels/include/math_functions.h`: each function runs on the
//! simulator, and its results are compared with the correctly rounded ones.
//!
//! ```text
//! functions (the functions, their documented errors, their evaluation on the simulator)
//!    ├─ values/double.txt → errors (the errors of all functions, and their table)
//!    └─ exact (functions without error, compared with Rust's)
//! ```

pub mod errors;
pub mod exact;
pub mod functions;
