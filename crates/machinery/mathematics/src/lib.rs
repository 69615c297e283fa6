//! Measures the device mathematics, `kernels/include/math_functions.h`: each function runs on the simulator, and
//! its results are compared with the correctly rounded ones.
//!
//! ```text
//! functions (which there are, and what is documented of them)
//!    ├─ values/double.txt → double (results against correctly rounded values)
//!    ├─ points → single (floats against what the double function gives)
//!    └─ exact (what has no error at all, against Rust's own)
//! ```

pub mod double;
pub mod exact;
pub mod functions;
pub mod machine;
pub mod points;
pub mod report;
pub mod single;
pub mod ulps;
