//! cuRAND's host interface: generators that write their numbers to memory of the device, in stream order, or of the host.
//!
//! The sequences of XORWOW, MRG32k3a, Philox and Sobol are cuRAND's, in its default order; those of MT19937 and of
//! Poisson-distributed numbers are not. A generator's state is that of the device: it advances when a call is executed, so
//! a graph that is launched again continues the sequence.

mod distributions;
mod generator;
mod pseudorandom;
mod sobol;

use std::ffi::{c_double, c_int, c_uint};

use cuda_driver::types::CUstream;

use crate::call::Stream;
use crate::functions::{Handles, Status};
use crate::nvidia::Library;

pub use generator::Handle;
pub use sobol::{Vectors32, Vectors64};

/// `CURAND_STATUS_NOT_INITIALIZED`.
const NOT_INITIALIZED: Status = Status(101);
/// `CURAND_STATUS_TYPE_ERROR`.
const TYPE_ERROR: Status = Status(103);
/// `CURAND_STATUS_OUT_OF_RANGE`.
const OUT_OF_RANGE: Status = Status(104);
/// `CURAND_STATUS_LENGTH_NOT_MULTIPLE`.
const LENGTH_NOT_MULTIPLE: Status = Status(105);
/// `CURAND_STATUS_LAUNCH_FAILURE`.
const LAUNCH_FAILURE: Status = Status(201);
/// `CURAND_STATUS_INTERNAL_ERROR`.
const INTERNAL_ERROR: Status = Status(999);

static CURAND: Library = Library::new(
    "cuRAND",
    &["libcurand.so.10"],
    ["nvidia-curand-cu12", "libcurand"],
    [NOT_INITIALIZED.0, LAUNCH_FAILURE.0, INTERNAL_ERROR.0],
);

functions! { CURAND;
    [curandCreateGenerator] (generator: *mut Handle, kind: c_int) => generator::create;
    [curandCreateGeneratorHost] (generator: *mut Handle, kind: c_int) => generator::create_on_host;
    [curandDestroyGenerator] (generator: Handle) => generator::destroy;
    [curandGetVersion] (version: *mut c_int) => generator::version;
    [curandGetProperty] (property: c_int, value: *mut c_int) => generator::property;
    [curandSetStream] (generator: Handle, stream: CUstream) => generator::set_stream;
    [curandSetPseudoRandomGeneratorSeed] (generator: Handle, seed: u64) => generator::set_seed;
    [curandSetGeneratorOffset] (generator: Handle, offset: u64) => generator::set_offset;
    [curandSetGeneratorOrdering] (generator: Handle, ordering: c_int) => generator::set_ordering;
    [curandSetQuasiRandomGeneratorDimensions] (generator: Handle, dimensions: c_uint)
        => generator::set_dimensions;
    [curandGenerateSeeds] (generator: Handle) => generator::generate_seeds;
    [curandGenerate] (generator: Handle, to: *mut u32, n: usize) => generator::bits;
    [curandGenerateLongLong] (generator: Handle, to: *mut u64, n: usize) => generator::long_bits;
    [curandGenerateUniform f32, curandGenerateUniformDouble f64]
        (generator: Handle, to: *mut T, n: usize) => generator::uniform;
    [curandGenerateNormal f32, curandGenerateNormalDouble f64]
        (generator: Handle, to: *mut T, n: usize, mean: T, deviation: T) => generator::normal;
    [curandGenerateLogNormal f32, curandGenerateLogNormalDouble f64]
        (generator: Handle, to: *mut T, n: usize, mean: T, deviation: T) => generator::log_normal;
    [curandGeneratePoisson] (generator: Handle, to: *mut u32, n: usize, mean: c_double)
        => generator::poisson;
    [curandGetDirectionVectors32] (vectors: *mut *const Vectors32, set: c_int) => sobol::vectors_32;
    [curandGetDirectionVectors64] (vectors: *mut *const Vectors64, set: c_int) => sobol::vectors_64;
}
