//! Arguments for the float functions: random ones of all magnitudes, and special ones.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// Zero, infinity, NaN, the limits of the range, and neighbours of integers.
const SPECIAL: [f32; 20] = [
    0.0,
    f32::INFINITY,
    f32::NAN,
    f32::MAX,
    f32::MIN_POSITIVE,
    1e-45,
    1.1e-40,
    1.0,
    0.999_999_94,
    1.000_000_1,
    0.5,
    0.499_999_97,
    1.5,
    2.0,
    2.5,
    3.0,
    8_388_607.5,
    16_777_216.0,
    1e22,
    105_615.0,
];

/// Returns about `count` tuples of `arity` arguments, concatenated.
pub fn float_arguments(count: usize, arity: usize) -> Vec<f32> {
    let mut random = RandomNumbers(Pcg64Mcg::new(0x5eed));
    let signed: Vec<f32> = SPECIAL.iter().flat_map(|&x| [x, -x]).collect();
    let mut points = Vec::new();
    match arity {
        1 => points.extend(&signed),
        2 => {
            let pairs = signed
                .iter()
                .flat_map(|&x| signed.iter().map(move |&y| [x, y]));
            points.extend(pairs.flatten());
        }
        // With three or more arguments, a random subset is special.
        _ => points.extend((0..60 * arity).map(|k| match k % 3 {
            0 => signed[random.bits() as usize % signed.len()],
            _ => random.symmetric(4.0),
        })),
    }
    for point in 0..count {
        let mut next = || match point % 5 {
            // Every bit pattern is a float; the exponents are uniformly distributed.
            0 | 1 => f32::from_bits(random.bits()),
            2 => random.symmetric(1.0),
            3 => random.symmetric(12.0),
            _ => random.symmetric(110.0),
        };
        points.extend((0..arity).map(|_| next()));
    }
    points
}

/// Returns pairs of an order from 2 to 128 and a number, for functions that take both.
pub fn order_arguments(count: usize) -> Vec<f32> {
    let mut random = RandomNumbers(Pcg64Mcg::new(0x5eed));
    let mut pair = |point| {
        let order = if point % 3 == 0 {
            128
        } else {
            2 + random.bits() % 60
        };
        [order as f32, random.symmetric(300.0)]
    };
    (0..count).flat_map(&mut pair).collect()
}

/// Pseudo-random numbers, the same in every run.
struct RandomNumbers(Pcg64Mcg);

impl RandomNumbers {
    fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Returns a number between -`max` and `max`.
    fn symmetric(&mut self, max: f32) -> f32 {
        let unit = f64::from(self.bits()) / f64::from(u32::MAX);
        ((2.0 * unit - 1.0) * f64::from(max)) as f32
    }
}
