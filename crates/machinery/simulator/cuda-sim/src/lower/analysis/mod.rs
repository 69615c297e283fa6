//! Data-flow and control-flow analyses of a lowered function.
//!
//! Some serve the interpreter (uniformity, address reuse); some predict decisions of NVIDIA's assembler that
//! the counters must reproduce (vectorized accesses, if-conversion, lowering of atomics); some serve the
//! sanitizer and the detection of spin loops (address provenance, used shuffle results, polling loads), or make
//! long waits short (delay loops).

pub mod delays;
pub mod machine_code;
pub mod sanitizer;
pub mod uniformity;
pub mod vectorizer;
