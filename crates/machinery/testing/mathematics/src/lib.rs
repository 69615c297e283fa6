//! Measures the error of the device mathematics, `kernels/include/math_functions.h`: each function runs on the
//! simulator, and its results are compared with the correctly rounded ones.
//!
//! ```text
//! functions (the functions and their documented errors)
//!    ├─ values/double.txt → double_error (results compared with correctly rounded values)
//!    ├─ points → float_error (float functions compared with the double functions)
//!    └─ exact (functions without error, compared with Rust's)
//! ```

pub mod device;
pub mod double_error;
pub mod exact;
pub mod float_error;
pub mod functions;
pub mod points;
pub mod report;
pub mod ulps;
