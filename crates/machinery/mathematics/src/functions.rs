//! Which functions there are, and how large their errors may be: the CUDA C++ Programming Guide's tables,
//! "Mathematical Functions", of CUDA 12.

/// A function that both formats have; a float's has an f behind its name.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub name: &'static str,
    /// How many numbers it takes.
    pub arity: usize,
    pub single: Bound,
    pub double: Bound,
    /// Where the bound holds.
    pub range: Range,
}

/// How far a result may be from the correctly rounded one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// So many of that one's last digits.
    Ulps(u64),
    /// So much.
    Absolute(f64),
    /// Nothing is documented.
    Unknown,
}

/// The arguments for which something is documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    All,
    /// Smaller than 8 in magnitude.
    Near,
    /// From 8 in magnitude on.
    Far,
    /// Not where lgamma has its zeros below 0.
    WithoutZeros,
    /// An order and a number that is larger.
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

/// For how many arguments: what the constants below take.
const fn ulps(name: &'static str, arity: usize, single: u64, double: u64) -> Function {
    Function {
        name,
        arity,
        single: Bound::Ulps(single),
        double: Bound::Ulps(double),
        range: Range::All,
    }
}

const fn within(function: Function, range: Range) -> Function {
    Function { range, ..function }
}

/// An error that is not counted in digits, of the waves far from 0.
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

/// All of them that have an error.
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
    within(ulps("lgamma", 1, 6, 4), Range::WithoutZeros),
    ulps("tgamma", 1, 5, 10),
    within(ulps("j0", 1, 9, 7), Range::Near),
    within(ulps("j1", 1, 9, 7), Range::Near),
    within(ulps("y0", 1, 9, 7), Range::Near),
    within(ulps("y1", 1, 9, 7), Range::Near),
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
    /// Its name in the table of doubles, and what it is listed as.
    pub fn label(&self) -> String {
        match self.range {
            Range::Far => format!("{}_far", self.name),
            _ => self.name.to_owned(),
        }
    }

    /// The kernel that calls it for floats: sincos_first is that of sincosf.
    pub fn single_name(&self) -> String {
        match self.name.split_once('_') {
            Some((name, which @ ("first" | "second"))) => format!("{name}f_{which}"),
            // norm3d and its like are norm3df.
            _ => format!("{}f", self.name),
        }
    }
}
