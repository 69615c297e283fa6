//! Distributions, computed from the numbers of a generator.

use std::f32::consts::TAU;
use std::marker::PhantomData;

/// A pseudorandom generator's sequence.
pub trait Engine {
    /// Returns the next 32 bits.
    fn bits(&mut self) -> u32;

    /// Returns the next number above 0, up to 1.
    fn uniform(&mut self) -> f32 {
        uniform_32(self.bits())
    }

    /// Returns the next number above 0, up to 1, with 53 random bits.
    fn uniform_double(&mut self) -> f64 {
        let (x, y) = (self.bits(), self.bits());
        (combined(x, y) as f64).mul_add(UNIT_53, UNIT_53 / 2.0)
    }

    /// Returns the next two normal numbers.
    fn normal(&mut self) -> [f32; 2] {
        let x = self.uniform();
        const TURN: f32 = UNIT_32 * TAU;
        box_muller(x, (self.bits() as f32).mul_add(TURN, TURN / 2.0))
    }

    /// Returns the next two normal numbers.
    fn normal_double(&mut self) -> [f64; 2] {
        let x = self.uniform_double();
        let (y0, y1) = (self.bits(), self.bits());
        box_muller_double(x, (combined(y0, y1) as f64).mul_add(2.0 * UNIT_53, UNIT_53))
    }
}

const UNIT_32: f32 = 2.3283064e-10;
const UNIT_53: f64 = 1.1102230246251565e-16;
/// Two to the power of -32.
const UNIT: f64 = 1.0 / 4294967296.0;

/// Returns 53 random bits.
fn combined(x: u32, y: u32) -> u64 {
    u64::from(x) ^ u64::from(y) << 21
}

fn uniform_32(x: u32) -> f32 {
    (x as f32).mul_add(UNIT_32, UNIT_32 / 2.0)
}

/// Returns two normal numbers for a uniform number and an angle (Box–Muller transform).
pub fn box_muller(uniform: f32, angle: f32) -> [f32; 2] {
    let size = (-2.0 * uniform.ln()).sqrt();
    [angle.sin() * size, angle.cos() * size]
}

/// The same in double precision, for an angle in units of half a turn.
pub fn box_muller_double(uniform: f64, half_turns: f64) -> [f64; 2] {
    let size = (-2.0 * uniform.ln()).sqrt();
    let angle = half_turns * std::f64::consts::PI;
    [angle.sin() * size, angle.cos() * size]
}

/// A number of a quasirandom generator, as a fraction of 2^32 or 2^64.
#[derive(Clone, Copy)]
pub enum Fraction {
    Bits32(u32),
    Bits64(u64),
}

impl Fraction {
    /// Returns the number, above 0, up to 1.
    fn uniform(self) -> f32 {
        match self {
            Self::Bits32(x) => uniform_32(x),
            Self::Bits64(x) => uniform_32((x >> 32) as u32),
        }
    }

    /// Returns the number to 32 bits, in the middle between two of them.
    fn centered(self) -> f64 {
        let bits = Bits.at(self);
        f64::from(bits).mul_add(UNIT, UNIT / 2.0)
    }

    fn uniform_double(self) -> f64 {
        match self {
            Self::Bits32(x) => f64::from(x).mul_add(UNIT, UNIT),
            Self::Bits64(x) => ((x >> 11) as f64).mul_add(UNIT_53, UNIT_53 / 2.0),
        }
    }
}

/// A distribution.
pub trait Distribution: Send + Sync + 'static {
    type Number: Copy;
    /// The numbers that a pseudorandom generator draws together.
    const GROUP: usize = 1;
    /// The words of 32 bits that it uses for each.
    const WORDS: u64 = 1;

    /// Draws the numbers of one group.
    fn draw(&self, engine: &mut impl Engine, to: &mut [Self::Number]);

    /// Returns the number at this place of the distribution.
    fn at(&self, fraction: Fraction) -> Self::Number;
}

/// Uniform bits.
pub struct Bits;

impl Distribution for Bits {
    type Number = u32;

    fn draw(&self, engine: &mut impl Engine, to: &mut [u32]) {
        to.fill_with(|| engine.bits());
    }

    fn at(&self, fraction: Fraction) -> u32 {
        match fraction {
            Fraction::Bits32(x) => x,
            Fraction::Bits64(x) => (x >> 32) as u32,
        }
    }
}

/// A type of floating-point numbers.
pub trait Real: Copy + Send + Sync + 'static {
    /// The words of 32 bits for a random number.
    const WORDS: u64;
    fn uniform(engine: &mut impl Engine) -> Self;
    fn normal(engine: &mut impl Engine) -> [Self; 2];
    /// Returns the uniform number at a place.
    fn uniform_at(fraction: Fraction) -> Self;
    /// Returns the standard normal number at a place.
    fn normal_at(fraction: Fraction) -> Self;
    /// Returns the normal number with a mean and a standard deviation for a standard one.
    fn scaled(self, mean: Self, deviation: Self) -> Self;
    fn exp(self) -> Self;
}

impl Real for f32 {
    const WORDS: u64 = 1;

    fn uniform(engine: &mut impl Engine) -> Self {
        engine.uniform()
    }
    fn normal(engine: &mut impl Engine) -> [Self; 2] {
        engine.normal()
    }
    fn uniform_at(fraction: Fraction) -> Self {
        fraction.uniform()
    }
    fn normal_at(fraction: Fraction) -> Self {
        normal_quantile(fraction.centered()) as f32
    }
    fn scaled(self, mean: Self, deviation: Self) -> Self {
        self.mul_add(deviation, mean)
    }
    fn exp(self) -> Self {
        self.exp()
    }
}

impl Real for f64 {
    const WORDS: u64 = 2;

    fn uniform(engine: &mut impl Engine) -> Self {
        engine.uniform_double()
    }
    fn normal(engine: &mut impl Engine) -> [Self; 2] {
        engine.normal_double()
    }
    fn uniform_at(fraction: Fraction) -> Self {
        fraction.uniform_double()
    }
    fn normal_at(fraction: Fraction) -> Self {
        normal_quantile(match fraction {
            Fraction::Bits32(_) => fraction.centered(),
            Fraction::Bits64(_) => fraction.uniform_double(),
        })
    }
    fn scaled(self, mean: Self, deviation: Self) -> Self {
        self.mul_add(deviation, mean)
    }
    fn exp(self) -> Self {
        self.exp()
    }
}

/// Uniform numbers above 0, up to 1.
pub struct Uniform<T>(pub PhantomData<fn() -> T>);

impl<T: Real> Distribution for Uniform<T> {
    type Number = T;
    const WORDS: u64 = T::WORDS;

    fn draw(&self, engine: &mut impl Engine, to: &mut [T]) {
        to.fill_with(|| T::uniform(engine));
    }

    fn at(&self, fraction: Fraction) -> T {
        T::uniform_at(fraction)
    }
}

/// Normal numbers.
pub struct Normal<T> {
    pub mean: T,
    pub deviation: T,
}

impl<T: Real> Distribution for Normal<T> {
    type Number = T;
    const GROUP: usize = 2;
    const WORDS: u64 = T::WORDS;

    fn draw(&self, engine: &mut impl Engine, to: &mut [T]) {
        for pair in to.chunks_mut(2) {
            let normal = T::normal(engine);
            for (to, normal) in pair.iter_mut().zip(normal) {
                *to = normal.scaled(self.mean, self.deviation);
            }
        }
    }

    fn at(&self, fraction: Fraction) -> T {
        T::normal_at(fraction).scaled(self.mean, self.deviation)
    }
}

/// Numbers whose logarithms are normal numbers.
pub struct LogNormal<T>(pub Normal<T>);

impl<T: Real> Distribution for LogNormal<T> {
    type Number = T;
    const GROUP: usize = 2;
    const WORDS: u64 = T::WORDS;

    fn draw(&self, engine: &mut impl Engine, to: &mut [T]) {
        self.0.draw(engine, to);
        to.iter_mut().for_each(|number| *number = number.exp());
    }

    fn at(&self, fraction: Fraction) -> T {
        self.0.at(fraction).exp()
    }
}

/// Poisson-distributed numbers.
pub struct Poisson {
    /// The probability of a number up to each one, starting with `first`; the probability of smaller numbers is
    /// negligible.
    cumulative: Vec<f64>,
    first: u32,
}

impl Poisson {
    /// Creates the distribution with this mean.
    pub fn new(mean: f64) -> Self {
        // Ten standard deviations and more below and above the mean, the probabilities are below 1e-20.
        let width = 10.0 * mean.sqrt() + 30.0;
        let first = (mean - width).max(0.0).floor();
        let last = (mean + width).ceil();
        // Relative to the probability of the mean, so that none is too small.
        let mode = mean.floor();
        let mut weights = vec![1.0];
        let mut number = mode;
        while number > first {
            weights.push(weights[weights.len() - 1] * number / mean);
            number -= 1.0;
        }
        weights.reverse();
        number = mode;
        while number < last {
            number += 1.0;
            weights.push(weights[weights.len() - 1] * mean / number);
        }
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let cumulative = weights.iter().map(|weight| {
            sum += weight;
            sum / total
        });
        Self {
            cumulative: cumulative.collect(),
            first: first as u32,
        }
    }

    /// Returns the smallest number whose cumulative probability reaches this one.
    fn quantile(&self, probability: f64) -> u32 {
        let index = self.cumulative.partition_point(|&sum| sum < probability);
        self.first + index.min(self.cumulative.len() - 1) as u32
    }
}

impl Distribution for Poisson {
    type Number = u32;
    const WORDS: u64 = 2;

    fn draw(&self, engine: &mut impl Engine, to: &mut [u32]) {
        to.fill_with(|| self.quantile(engine.uniform_double()));
    }

    fn at(&self, fraction: Fraction) -> u32 {
        self.quantile(fraction.centered())
    }
}

/// Returns the standard normal number up to which the probability is `p`: Wichura, "The percentage points of the normal
/// distribution", Applied Statistics 37 (1988), algorithm AS 241 (PPND16).
#[expect(
    clippy::excessive_precision,
    reason = "the coefficients are as published"
)]
fn normal_quantile(p: f64) -> f64 {
    const NEAR: [[f64; 8]; 2] = [
        [
            3.3871328727963666080e0,
            1.3314166789178437745e2,
            1.9715909503065514427e3,
            1.3731693765509461125e4,
            4.5921953931549871457e4,
            6.7265770927008700853e4,
            3.3430575583588128105e4,
            2.5090809287301226727e3,
        ],
        [
            1.0,
            4.2313330701600911252e1,
            6.8718700749205790830e2,
            5.3941960214247511077e3,
            2.1213794301586595867e4,
            3.9307895800092710610e4,
            2.8729085735721942674e4,
            5.2264952788528545610e3,
        ],
    ];
    const MIDDLE: [[f64; 8]; 2] = [
        [
            1.42343711074968357734e0,
            4.63033784615654529590e0,
            5.76949722146069140550e0,
            3.64784832476320460504e0,
            1.27045825245236838258e0,
            2.41780725177450611770e-1,
            2.27238449892691845833e-2,
            7.74545014278341407640e-4,
        ],
        [
            1.0,
            2.05319162663775882187e0,
            1.67638483018380384940e0,
            6.89767334985100004550e-1,
            1.48103976427480074590e-1,
            1.51986665636164571966e-2,
            5.47593808499534494600e-4,
            1.05075007164441684324e-9,
        ],
    ];
    const FAR: [[f64; 8]; 2] = [
        [
            6.65790464350110377720e0,
            5.46378491116411436990e0,
            1.78482653991729133580e0,
            2.96560571828504891230e-1,
            2.65321895265761230930e-2,
            1.24266094738807843860e-3,
            2.71155556874348757815e-5,
            2.01033439929228813265e-7,
        ],
        [
            1.0,
            5.99832206555887937690e-1,
            1.36929880922735805310e-1,
            1.48753612908506148525e-2,
            7.86869131145613259100e-4,
            1.84631831751005468180e-5,
            1.42151175831644588870e-7,
            2.04426310338993978564e-15,
        ],
    ];
    let ratio = |[upper, lower]: &[[f64; 8]; 2], x: f64| {
        let polynomial = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum: f64, c| sum.mul_add(x, *c));
        polynomial(upper) / polynomial(lower)
    };
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&NEAR, 0.180625 - q * q);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-tail.ln()).sqrt();
    let size = if r <= 5.0 {
        ratio(&MIDDLE, r - 1.6)
    } else {
        ratio(&FAR, r - 5.0)
    };
    size.copysign(q)
}
