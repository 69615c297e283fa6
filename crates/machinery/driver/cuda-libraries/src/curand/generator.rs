//! Generators: their settings, and the calls that generate numbers.

use std::marker::PhantomData;
use std::slice;
use std::sync::Arc;

use cuda_driver::{Arithmetic, CallMemory, MemoryRows, warn};
use parking_lot::Mutex;

use super::distributions::{Bits, Distribution, Engine, LogNormal, Normal, Poisson, Real, Uniform};
use super::pseudorandom::{Interleaved, Mrg32k3a, Philox, Xorwow};
use super::sobol::{DIMENSIONS, Sobol};
use super::*;
use crate::call::operations;
use crate::functions::{CallResult, write_output, write_property};

/// `curandGenerator_t`.
pub type Handle = usize;

/// The version of cuRAND whose interface and sequences these are.
const VERSION: c_int = 10400;

/// `curandOrdering`.
const ORDERING_BEST: c_int = 100;
const ORDERING_DEFAULT: c_int = 101;
const ORDERING_SEEDED: c_int = 102;
const ORDERING_LEGACY: c_int = 103;
const ORDERING_DYNAMIC: c_int = 104;
const ORDERING_QUASI: c_int = 201;

/// The number of subsequences that numbers come from in turns: that of XORWOW, and of MRG32k3a in its older order, and
/// that of MRG32k3a.
const SUBSEQUENCES: usize = 4096;
const MRG32K3A_SUBSEQUENCES: usize = 81920;

/// An algorithm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Xorwow,
    Mrg32k3a,
    Philox,
    Mt19937,
    Sobol32,
    Sobol64,
}

impl Kind {
    /// Returns the algorithm of a `curandRngType`.
    fn new(kind: c_int) -> Result<Self, Status> {
        let name = match kind {
            100 | 101 => return Ok(Self::Xorwow),
            121 => return Ok(Self::Mrg32k3a),
            142 => return Ok(Self::Mt19937),
            161 => return Ok(Self::Philox),
            200 | 201 => return Ok(Self::Sobol32),
            203 => return Ok(Self::Sobol64),
            141 => "MTGP32",
            202 | 204 => "scrambled Sobol sequences",
            _ => return Err(TYPE_ERROR),
        };
        warn(format_args!(
            "curandCreateGenerator: the simulator's cuRAND has no {name}; it has XORWOW, MRG32k3a, Philox, MT19937, \
             Sobol32 and Sobol64"
        ));
        Err(TYPE_ERROR)
    }

    fn is_quasi(self) -> bool {
        matches!(self, Self::Sobol32 | Self::Sobol64)
    }
}

/// The position in a sequence.
enum Numbers {
    Xorwow(Interleaved<Xorwow>),
    Mrg32k3a(Interleaved<Mrg32k3a>),
    Philox(Philox),
    Mt19937(Box<Mt19937>),
    Sobol32(Sobol<u32, 32>),
    Sobol64(Sobol<u64, 64>),
}

impl Numbers {
    /// Writes the next numbers.
    fn fill<D: Distribution>(&mut self, distribution: &D, to: &mut [D::Number]) {
        match self {
            Self::Xorwow(numbers) => numbers.fill(distribution, to),
            Self::Mrg32k3a(numbers) => numbers.fill(distribution, to),
            Self::Philox(elements) => elements.fill(distribution, to),
            Self::Mt19937(engine) => {
                let groups = to.chunks_mut(D::GROUP);
                groups.for_each(|group| distribution.draw(&mut **engine, group));
            }
            Self::Sobol32(points) => points.fill_distribution(distribution, to),
            Self::Sobol64(points) => points.fill_distribution(distribution, to),
        }
    }
}

/// MT19937: Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random number
/// generator" (1998). cuRAND takes its numbers in turns from many places of the sequence; here they come in order.
struct Mt19937 {
    /// The last 624 words of the sequence.
    state: [u32; Self::N],
    /// The index of the oldest word.
    oldest: usize,
}

impl Mt19937 {
    const N: usize = 624;
    const M: usize = 397;

    /// Creates the generator. Only the lower half of the seed counts, as in cuRAND.
    fn new(seed: u64) -> Self {
        let mut state = [seed as u32; Self::N];
        for index in 1..Self::N {
            let last = state[index - 1];
            let mixed = 1_812_433_253_u32.wrapping_mul(last ^ last >> 30);
            state[index] = mixed.wrapping_add(index as u32);
        }
        Self { state, oldest: 0 }
    }
}

impl Engine for Mt19937 {
    fn bits(&mut self) -> u32 {
        let at = |offset: usize| self.state[(self.oldest + offset) % Self::N];
        let joined = at(0) & 0x8000_0000 | at(1) & 0x7fff_ffff;
        let mut x = at(Self::M) ^ joined >> 1 ^ (joined & 1).wrapping_neg() & 0x9908_b0df;
        self.state[self.oldest] = x;
        self.oldest = (self.oldest + 1) % Self::N;
        x ^= x >> 11;
        x ^= x << 7 & 0x9d2c_5680;
        x ^= x << 15 & 0xefc6_0000;
        x ^ x >> 18
    }
}

/// A generator.
struct Generator {
    kind: Kind,
    on_host: bool,
    stream: Stream,
    seed: u64,
    offset: u64,
    ordering: c_int,
    dimensions: usize,
    /// The position in the sequence; `None` until the first call after a change of a setting.
    numbers: Option<Arc<Mutex<Numbers>>>,
}

static GENERATORS: Handles<Generator> = Handles::new(NOT_INITIALIZED);

impl Generator {
    fn numbers(&mut self) -> Arc<Mutex<Numbers>> {
        let (seed, offset) = (self.seed, self.offset);
        let create = || match self.kind {
            Kind::Xorwow => {
                Numbers::Xorwow(Interleaved::new(Xorwow::new(seed), SUBSEQUENCES, offset))
            }
            Kind::Mrg32k3a => {
                let subsequences = match self.ordering {
                    ORDERING_LEGACY => SUBSEQUENCES,
                    _ => MRG32K3A_SUBSEQUENCES,
                };
                let first = Mrg32k3a::new(seed);
                Numbers::Mrg32k3a(Interleaved::new(first, subsequences, offset))
            }
            Kind::Philox => Numbers::Philox(Philox::new(seed, offset)),
            Kind::Mt19937 => Numbers::Mt19937(Box::new(Mt19937::new(seed))),
            Kind::Sobol32 => Numbers::Sobol32(Sobol::<u32, 32>::new(self.dimensions, offset)),
            Kind::Sobol64 => Numbers::Sobol64(Sobol::<u64, 64>::new(self.dimensions, offset)),
        };
        Arc::clone(
            self.numbers
                .get_or_insert_with(|| Arc::new(Mutex::new(create()))),
        )
    }
}

/// Changes a setting, after which the sequence starts again.
fn change(handle: Handle, f: impl FnOnce(&mut Generator) -> CallResult) -> CallResult {
    GENERATORS.with(handle, |generator| {
        generator.numbers = None;
        f(generator)
    })?
}

/// `curandCreateGenerator`.
///
/// # Safety
/// `handle` must be null or writable.
pub unsafe fn create(handle: *mut Handle, kind: c_int) -> CallResult {
    // SAFETY: this function has the same contract.
    unsafe { add(handle, kind, false) }
}

/// `curandCreateGeneratorHost`.
///
/// # Safety
/// `handle` must be null or writable.
pub unsafe fn create_on_host(handle: *mut Handle, kind: c_int) -> CallResult {
    // SAFETY: this function has the same contract.
    unsafe { add(handle, kind, true) }
}

/// Creates a generator.
///
/// # Safety
/// `handle` must be null or writable.
unsafe fn add(handle: *mut Handle, kind: c_int, on_host: bool) -> CallResult {
    if handle.is_null() {
        return Err(NOT_INITIALIZED);
    }
    let generator = Generator {
        kind: Kind::new(kind)?,
        on_host,
        stream: Stream::NULL,
        seed: 0,
        offset: 0,
        ordering: ORDERING_DEFAULT,
        dimensions: 1,
        numbers: None,
    };
    // SAFETY: the pointer is writable, by this function's contract.
    unsafe { handle.write(GENERATORS.insert(generator)) };
    Ok(())
}

/// `curandDestroyGenerator`.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn destroy(handle: Handle) -> CallResult {
    GENERATORS.remove(handle).map(drop)
}

/// `curandGetVersion`.
///
/// # Safety
/// `version` must be null or writable.
pub unsafe fn version(version: *mut c_int) -> CallResult {
    // SAFETY: this function has the same contract.
    unsafe { write_output(version, VERSION, OUT_OF_RANGE) }
}

/// `curandGetProperty`.
///
/// # Safety
/// `value` must be null or writable.
pub unsafe fn property(property: c_int, value: *mut c_int) -> CallResult {
    let parts = [VERSION / 1000, VERSION % 1000 / 100, VERSION % 100];
    // SAFETY: this function has the same contract.
    unsafe { write_property(value, property, parts, OUT_OF_RANGE) }
}

/// `curandSetStream`.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_stream(handle: Handle, stream: CUstream) -> CallResult {
    GENERATORS.with(handle, |generator| generator.stream = Stream(stream))
}

/// `curandSetPseudoRandomGeneratorSeed`.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_seed(handle: Handle, seed: u64) -> CallResult {
    change(handle, |generator| {
        if generator.kind.is_quasi() {
            return Err(TYPE_ERROR);
        }
        generator.seed = seed;
        Ok(())
    })
}

/// `curandSetGeneratorOffset`.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_offset(handle: Handle, offset: u64) -> CallResult {
    change(handle, |generator| {
        if generator.kind == Kind::Mt19937 {
            return Err(TYPE_ERROR);
        }
        generator.offset = offset;
        Ok(())
    })
}

/// `curandSetGeneratorOrdering`. Orders for which cuRAND promises no sequence are the default one.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_ordering(handle: Handle, ordering: c_int) -> CallResult {
    change(handle, |generator| {
        let is_quasi = generator.kind.is_quasi();
        let is_valid = match ordering {
            ORDERING_QUASI => is_quasi,
            ORDERING_BEST | ORDERING_DEFAULT | ORDERING_LEGACY => !is_quasi,
            ORDERING_DYNAMIC => !is_quasi && generator.kind != Kind::Mt19937,
            ORDERING_SEEDED => generator.kind == Kind::Xorwow,
            _ => false,
        };
        if !is_valid {
            return Err(OUT_OF_RANGE);
        }
        generator.ordering = ordering;
        Ok(())
    })
}

/// `curandSetQuasiRandomGeneratorDimensions`.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_dimensions(handle: Handle, dimensions: c_uint) -> CallResult {
    change(handle, |generator| {
        if !generator.kind.is_quasi() {
            return Err(TYPE_ERROR);
        }
        let dimensions = dimensions as usize;
        if !(1..=DIMENSIONS).contains(&dimensions) {
            return Err(OUT_OF_RANGE);
        }
        generator.dimensions = dimensions;
        Ok(())
    })
}

/// `curandGenerateSeeds`: prepares the states, which the first generation does otherwise.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn generate_seeds(handle: Handle) -> CallResult {
    GENERATORS.with(handle, |generator| drop(generator.numbers()))
}

/// Operations per number for the estimate of the time.
const OPERATIONS_PER_NUMBER: f64 = 20.0;

/// Writes numbers to `to`, in stream order for a generator of the device.
///
/// # Safety
/// `to` must be an address of the device, or for a generator of the host a writable array of `n` numbers.
unsafe fn generate<T: Copy + 'static>(
    handle: Handle,
    to: *mut T,
    n: usize,
    fill: impl Fn(&mut Numbers, &mut [T]) + Send + Sync + 'static,
) -> CallResult {
    let (numbers, on_host, stream, dimensions) = GENERATORS.with(handle, |generator| {
        let numbers = generator.numbers();
        (
            numbers,
            generator.on_host,
            generator.stream,
            generator.dimensions,
        )
    })?;
    if !n.is_multiple_of(dimensions) {
        return Err(LENGTH_NOT_MULTIPLE);
    }
    if n == 0 {
        return Ok(());
    }
    if on_host {
        if to.is_null() {
            return Err(OUT_OF_RANGE);
        }
        // SAFETY: `to` is a writable array of `n` numbers, by this function's contract.
        fill(&mut numbers.lock(), unsafe {
            slice::from_raw_parts_mut(to, n)
        });
        return Ok(());
    }
    let address = to.addr() as u64;
    let operations = operations(Arithmetic::Single, OPERATIONS_PER_NUMBER * n as f64);
    let work = move |memory: &mut CallMemory<'_>| {
        let rows = MemoryRows::contiguous(address, (n * size_of::<T>()) as u64);
        let to = memory.write(rows)?.cast::<T>();
        // SAFETY: the call may write these bytes of the device's memory, and no other work runs now.
        fill(&mut numbers.lock(), unsafe {
            slice::from_raw_parts_mut(to, n)
        });
        Ok(())
    };
    stream.submit(vec![address], operations, work)
}

/// Writes numbers of a distribution.
///
/// # Safety
/// As for [`generate`].
unsafe fn distributed<D: Distribution>(
    handle: Handle,
    to: *mut D::Number,
    n: usize,
    distribution: D,
) -> CallResult {
    let kind = GENERATORS.with(handle, |generator| generator.kind)?;
    let in_pairs = matches!(kind, Kind::Xorwow | Kind::Mrg32k3a);
    if in_pairs && !n.is_multiple_of(D::GROUP) {
        return Err(LENGTH_NOT_MULTIPLE);
    }
    // SAFETY: this function has the same contract.
    unsafe {
        generate(handle, to, n, move |numbers, to| {
            numbers.fill(&distribution, to)
        })
    }
}

/// `curandGenerate`. A generator of 64 bits has no numbers of 32 bits.
///
/// # Safety
/// As for [`generate`].
pub unsafe fn bits(handle: Handle, to: *mut u32, n: usize) -> CallResult {
    if GENERATORS.with(handle, |generator| generator.kind == Kind::Sobol64)? {
        return Err(TYPE_ERROR);
    }
    // SAFETY: this function has the same contract.
    unsafe { distributed(handle, to, n, Bits) }
}

/// `curandGenerateLongLong`, only for generators of 64 bits.
///
/// # Safety
/// As for [`generate`].
pub unsafe fn long_bits(handle: Handle, to: *mut u64, n: usize) -> CallResult {
    if GENERATORS.with(handle, |generator| generator.kind != Kind::Sobol64)? {
        return Err(TYPE_ERROR);
    }
    let fill = |numbers: &mut Numbers, to: &mut [u64]| {
        if let Numbers::Sobol64(points) = numbers {
            points.fill_bits(to);
        }
    };
    // SAFETY: this function has the same contract.
    unsafe { generate(handle, to, n, fill) }
}

/// `curandGenerateUniform` and the function for doubles.
///
/// # Safety
/// As for [`generate`].
pub unsafe fn uniform<T: Real>(handle: Handle, to: *mut T, n: usize) -> CallResult {
    // SAFETY: this function has the same contract.
    unsafe { distributed(handle, to, n, Uniform(PhantomData)) }
}

/// `curandGenerateNormal` and the function for doubles.
///
/// # Safety
/// As for [`generate`].
pub unsafe fn normal<T: Real>(
    handle: Handle,
    to: *mut T,
    n: usize,
    mean: T,
    deviation: T,
) -> CallResult {
    // SAFETY: this function has the same contract.
    unsafe { distributed(handle, to, n, Normal { mean, deviation }) }
}

/// `curandGenerateLogNormal` and the function for doubles.
///
/// # Safety
/// As for [`generate`].
pub unsafe fn log_normal<T: Real>(
    handle: Handle,
    to: *mut T,
    n: usize,
    mean: T,
    deviation: T,
) -> CallResult {
    // SAFETY: this function has the same contract.
    unsafe { distributed(handle, to, n, LogNormal(Normal { mean, deviation })) }
}

/// `curandGeneratePoisson`.
///
/// # Safety
/// As for [`generate`].
pub unsafe fn poisson(handle: Handle, to: *mut u32, n: usize, mean: f64) -> CallResult {
    // Larger numbers may not fit into 32 bits.
    if !(mean > 0.0 && mean <= 400_000.0) {
        return Err(OUT_OF_RANGE);
    }
    // SAFETY: this function has the same contract.
    unsafe { distributed(handle, to, n, Poisson::new(mean)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those that C++'s standard states.
    #[test]
    fn mt19937_reaches_the_ten_thousandth_number_of_the_standard() {
        let mut engine = Mt19937::new(5489);
        assert_eq!(engine.bits(), 3_499_211_612);
        let numbers = std::iter::repeat_with(|| engine.bits());
        assert_eq!(numbers.take(9_999).last(), Some(4_123_659_995));
    }
}
