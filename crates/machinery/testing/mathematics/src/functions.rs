//! The functions, their documented errors, and their evaluation on the simulator.

use anyhow::{Context as _, Result, ensure};
use bytemuck::Pod;
use sim_machine::{Launch, Machine, params};

/// Bytes of device memory per module.
const MEMORY_BYTES: u64 = 256 << 20;

/// Threads per block.
const BLOCK_SIZE: u32 = 128;

/// A function in both formats. The name of the float version has an `f` appended.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub name: &'static str,
    /// Number of arguments.
    pub arity: usize,
    pub single: Bound,
    pub double: Bound,
    /// The arguments to which the bounds apply.
    pub range: Range,
}

/// The maximum difference from the correctly rounded result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// In units in the last place (ulp).
    Ulps(u64),
    /// As an absolute difference.
    Absolute(f64),
    /// Not documented.
    Unknown,
}

/// The arguments for which errors are documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    All,
    /// Magnitudes below 8.
    Near,
    /// Magnitudes of at least 8.
    Far,
    /// All except the interval with the negative zeros of lgamma.
    WithoutZeros,
    /// Pairs of an order and a sufficiently larger number.
    Order,
}

impl Range {
    pub fn contains(self, arguments: &[f64]) -> bool {
        let first = arguments[0];
        match self {
            Range::All => true,
            Range::Near => first.is_nan() || first.is_infinite() || first.abs() < 8.0,
            Range::Far => first.abs() >= 8.0 && first.abs() <= 1e7,
            Range::WithoutZeros => first.is_nan() || !(-23.0001..=-2.2637).contains(&first),
            Range::Order => arguments[1] > 1.5 * first,
        }
    }
}

/// Describes a function with errors in ulp.
const fn ulps(name: &'static str, arity: usize, single: u64, double: u64) -> Function {
    Function {
        name,
        arity,
        single: Bound::Ulps(single),
        double: Bound::Ulps(double),
        range: Range::All,
    }
}

const fn with_range(function: Function, range: Range) -> Function {
    Function { range, ..function }
}

/// Describes a function with absolute errors: Bessel functions far from 0.
const fn absolute(name: &'static str, arity: usize, range: Range) -> Function {
    Function {
        name,
        arity,
        single: Bound::Absolute(2.2e-6),
        double: Bound::Absolute(5e-12),
        range,
    }
}

const fn unknown(name: &'static str, arity: usize) -> Function {
    Function {
        name,
        arity,
        single: Bound::Unknown,
        double: Bound::Unknown,
        range: Range::All,
    }
}

/// All functions with an error. The bounds are those of the tables in "Mathematical Functions" of the CUDA C++
/// Programming Guide for CUDA 12.
pub const FUNCTIONS: [Function; 61] = [
    ulps("exp", 1, 2, 1),
    ulps("exp2", 1, 2, 1),
    ulps("exp10", 1, 2, 1),
    ulps("expm1", 1, 1, 1),
    ulps("log", 1, 1, 1),
    ulps("log2", 1, 1, 1),
    ulps("log10", 1, 2, 1),
    ulps("log1p", 1, 1, 1),
    ulps("pow", 2, 4, 2),
    ulps("sinh", 1, 3, 2),
    ulps("cosh", 1, 2, 1),
    ulps("tanh", 1, 2, 1),
    ulps("asinh", 1, 3, 3),
    ulps("acosh", 1, 4, 3),
    ulps("atanh", 1, 3, 2),
    ulps("sqrt", 1, 0, 0),
    ulps("rsqrt", 1, 2, 1),
    ulps("cbrt", 1, 1, 1),
    ulps("rcbrt", 1, 1, 1),
    ulps("hypot", 2, 3, 2),
    ulps("rhypot", 2, 2, 1),
    ulps("norm3d", 3, 3, 2),
    ulps("rnorm3d", 3, 2, 1),
    ulps("norm4d", 4, 3, 2),
    ulps("rnorm4d", 4, 2, 1),
    unknown("norm", 4),
    unknown("rnorm", 4),
    ulps("sin", 1, 2, 2),
    ulps("cos", 1, 2, 2),
    ulps("sincos_first", 1, 2, 2),
    ulps("sincos_second", 1, 2, 2),
    ulps("tan", 1, 4, 2),
    ulps("sinpi", 1, 1, 2),
    ulps("cospi", 1, 1, 2),
    ulps("sincospi_first", 1, 1, 2),
    ulps("sincospi_second", 1, 1, 2),
    ulps("asin", 1, 2, 2),
    ulps("acos", 1, 2, 2),
    ulps("atan", 1, 2, 2),
    ulps("atan2", 2, 3, 2),
    ulps("erf", 1, 2, 2),
    ulps("erfc", 1, 4, 5),
    ulps("erfcx", 1, 4, 4),
    ulps("erfinv", 1, 2, 5),
    ulps("erfcinv", 1, 4, 6),
    ulps("normcdf", 1, 5, 5),
    ulps("normcdfinv", 1, 5, 8),
    with_range(ulps("lgamma", 1, 6, 4), Range::WithoutZeros),
    ulps("tgamma", 1, 5, 10),
    with_range(ulps("j0", 1, 9, 7), Range::Near),
    with_range(ulps("j1", 1, 9, 7), Range::Near),
    with_range(ulps("y0", 1, 9, 7), Range::Near),
    with_range(ulps("y1", 1, 9, 7), Range::Near),
    absolute("j0", 1, Range::Far),
    absolute("j1", 1, Range::Far),
    absolute("y0", 1, Range::Far),
    absolute("y1", 1, Range::Far),
    absolute("jn", 2, Range::All),
    absolute("yn", 2, Range::Order),
    ulps("cyl_bessel_i0", 1, 6, 6),
    ulps("cyl_bessel_i1", 1, 6, 6),
];

impl Function {
    /// Returns the name in the table of doubles.
    pub fn label(&self) -> String {
        match self.range {
            Range::Far => format!("{}_far", self.name),
            _ => self.name.to_owned(),
        }
    }

    /// Returns the name of the kernel for floats: `sincosf_first` for `sincos_first`.
    pub fn single_name(&self) -> String {
        match self.name.split_once('_') {
            Some((name, part @ ("first" | "second"))) => format!("{name}f_{part}"),
            // norm3d and similar functions become norm3df.
            _ => format!("{}f", self.name),
        }
    }
}

/// The modules for each format, in alphabetical order.
const SINGLE: [&str; 4] = [
    include_str!(env!("MATHEMATICS_ELEMENTARY_FLOAT_PTX")),
    include_str!(env!("MATHEMATICS_EXACT_FLOAT_PTX")),
    include_str!(env!("MATHEMATICS_SPECIAL_FLOAT_PTX")),
    include_str!(env!("MATHEMATICS_TRIGONOMETRIC_FLOAT_PTX")),
];
const DOUBLE: [&str; 4] = [
    include_str!(env!("MATHEMATICS_ELEMENTARY_DOUBLE_PTX")),
    include_str!(env!("MATHEMATICS_EXACT_DOUBLE_PTX")),
    include_str!(env!("MATHEMATICS_SPECIAL_DOUBLE_PTX")),
    include_str!(env!("MATHEMATICS_TRIGONOMETRIC_DOUBLE_PTX")),
];

const INTEGERS: [&str; 1] = [include_str!(env!("MATHEMATICS_INTEGERS_PTX"))];

/// Simulated GPUs, one for each module of a format.
pub struct Device {
    modules: Vec<Machine>,
}

impl Device {
    /// Loads the functions of floats.
    pub fn single() -> Result<Device> {
        Device::load(&SINGLE)
    }

    /// Loads the functions of doubles.
    pub fn double() -> Result<Device> {
        Device::load(&DOUBLE)
    }

    /// Loads the integer functions and conversions.
    pub fn integers() -> Result<Device> {
        Device::load(&INTEGERS)
    }

    fn load(modules: &[&str]) -> Result<Device> {
        let load = |ptx: &&str| Ok(Machine::load(ptx, MEMORY_BYTES)?);
        let modules = modules.iter().map(load).collect::<Result<_>>()?;
        Ok(Device { modules })
    }

    /// Evaluates a function. `arguments` holds `arity` arguments for each result.
    pub fn evaluate<T: Pod>(
        &mut self,
        function: &str,
        arguments: &[T],
        arity: usize,
    ) -> Result<Vec<T>> {
        let kernel = format!("of_{function}");
        let module = self
            .modules
            .iter_mut()
            .find(|module| module.has_kernel(&kernel));
        let module = module.with_context(|| format!("kernel not found: {kernel}"))?;
        let count = arguments.len() / arity;
        ensure!(
            count * arity == arguments.len(),
            "{kernel} takes {arity} arguments"
        );
        let input = module.buffer(arguments);
        let output = module.out::<T>(count);
        let blocks = u32::try_from(count)?.div_ceil(BLOCK_SIZE).max(1);
        let params = params![input, output, count as u32];
        let launch = Launch::new(&kernel, blocks, BLOCK_SIZE, params);
        module.launch(&launch).map_err(Box::new)?;
        let results = module.read(output, count);
        module.global.free(input)?;
        module.global.free(output)?;
        Ok(results)
    }
}
