//! Arguments for the functions of floats: all over their range, and where they are special.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// Zero, infinity, NaN, the ends of the range, and what lies around whole numbers.
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

/// About `count` arguments for each of `arity` places, one behind the other.
pub fn of_floats(count: usize, arity: usize) -> Vec<f32> {
    let mut numbers = Numbers(Pcg64Mcg::new(0x5eed));
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
        // Which of more numbers is special is drawn.
        _ => points.extend((0..60 * arity).map(|k| match k % 3 {
            0 => signed[numbers.word() as usize % signed.len()],
            _ => numbers.within(4.0),
        })),
    }
    for point in 0..count {
        let mut draw = || match point % 5 {
            // Any bits are a number; these are of all sizes, evenly.
            0 | 1 => f32::from_bits(numbers.word()),
            2 => numbers.within(1.0),
            3 => numbers.within(12.0),
            _ => numbers.within(110.0),
        };
        points.extend((0..arity).map(|_| draw()));
    }
    points
}

/// Orders from 2 to 128, and numbers: for the functions that take both.
pub fn of_orders(count: usize) -> Vec<f32> {
    let mut numbers = Numbers(Pcg64Mcg::new(0x5eed));
    let mut pair = |point| {
        let order = if point % 3 == 0 {
            128
        } else {
            2 + numbers.word() % 60
        };
        [order as f32, numbers.within(300.0)]
    };
    (0..count).flat_map(&mut pair).collect()
}

/// Numbers drawn at random, the same each time.
struct Numbers(Pcg64Mcg);

impl Numbers {
    fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// From -`most` to `most`.
    fn within(&mut self, most: f32) -> f32 {
        let unit = f64::from(self.word()) / f64::from(u32::MAX);
        ((2.0 * unit - 1.0) * f64::from(most)) as f32
    }
}
