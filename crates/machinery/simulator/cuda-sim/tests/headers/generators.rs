//! MRG32k3a compared with its definition, and the Poisson distribution compared with its probabilities.

use crate::compiler::Compiler;
use sim_machine::{Machine, params};

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;

type Matrix = [[u64; 3]; 3];

/// One of the two recurrences: the matrix that computes the next state from the last three numbers, and the
/// modulus.
struct Recurrence {
    step: Matrix,
    modulus: u64,
}

const RECURRENCES: [Recurrence; 2] = [
    Recurrence {
        step: [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]],
        modulus: M1,
    },
    Recurrence {
        step: [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]],
        modulus: M2,
    },
];

fn multiply(a: &Matrix, b: &Matrix, modulus: u64) -> Matrix {
    let element = |i: usize, j: usize| {
        let sum: u128 = (0..3)
            .map(|k| u128::from(a[i][k]) * u128::from(b[k][j]))
            .sum();
        (sum % u128::from(modulus)) as u64
    };
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| element(i, j)))
}

impl Recurrence {
    /// Returns `state` after `count`·2^`doublings` steps.
    fn after(&self, state: [u64; 3], count: u64, doublings: u32) -> [u64; 3] {
        let mut step = self.step;
        for _ in 0..doublings {
            step = multiply(&step, &step, self.modulus);
        }
        let mut all = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
        for bit in 0..64 {
            if count >> bit & 1 == 1 {
                all = multiply(&all, &step, self.modulus);
            }
            step = multiply(&step, &step, self.modulus);
        }
        let column = multiply(&all, &state.map(|number| [number, 0, 0]), self.modulus);
        column.map(|row| row[0])
    }
}

/// Returns the generator of `seed` after skipping sequences, subsequences and numbers.
fn initial_states([seed, subsequence, offset, sequence]: [u64; 4]) -> [[u64; 3]; 2] {
    let low = (seed as u32 ^ 0x5555_5555) as u64;
    let high = ((seed >> 32) as u32 ^ 0xaaaa_aaaa) as u64;
    let [first, second] = match seed {
        0 => [[1; 3]; 2],
        _ => [[low, high, low], [high, low, high]],
    };
    let mut states = [
        first.map(|value| value * 12345 % M1),
        second.map(|value| value * 12345 % M2),
    ];
    for (state, recurrence) in states.iter_mut().zip(&RECURRENCES) {
        *state = recurrence.after(*state, subsequence, 76);
        *state = recurrence.after(*state, offset, 0);
        *state = recurrence.after(*state, sequence, 127);
    }
    states
}

fn next(states: &mut [[u64; 3]; 2]) -> u64 {
    for (state, recurrence) in states.iter_mut().zip(&RECURRENCES) {
        *state = recurrence.after(*state, 1, 0);
    }
    match (states[0][2] + M1 - states[1][2]) % M1 {
        0 => M1,
        number => number,
    }
}

pub fn mrg(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("generators.cu"));
    let seeds = [
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        [0x1234_5678_9abc_def0, 3, 1_000_003, 0],
        [7, (1 << 51) - 1, u64::MAX, 5],
        [42, 1 << 33, 1, 1 << 40],
    ];
    let seed_address = machine.buffer(&seeds.concat());
    let output = machine.buffer(&vec![0f64; 16 * seeds.len()]);
    let threads = seeds.len() as u32;
    machine.run("mrg", 1, threads, params![output, seed_address]);
    let actual: Vec<f64> = machine.read(output, 16 * seeds.len());
    for (seeds, actual) in seeds.iter().zip(actual.chunks(16)) {
        let mut states = initial_states(*seeds);
        let mut uniform = || next(&mut states) as f64 * 2.328_306_549_837_829e-10;
        for actual in &actual[..4] {
            let number = uniform() / 2.328_306_549_837_829e-10;
            assert_eq!(
                *actual,
                (number.round() * 1.000_000_048_662).floor(),
                "{seeds:?}"
            );
        }
        for actual in &actual[4..8] {
            assert!((uniform() - actual).abs() < 1e-15, "{seeds:?}");
        }
        for actual in &actual[8..10] {
            assert!((uniform() - actual).abs() < 1e-7, "{seeds:?}");
        }
        let mut normal = || {
            let (radius, angle) = ((-2.0 * uniform().ln()).sqrt(), uniform());
            let (sin, cos) = (angle * std::f64::consts::TAU).sin_cos();
            [sin * radius, cos * radius]
        };
        let [first, second] = normal();
        assert!((first - actual[10]).abs() < 1e-12 && (second - actual[11]).abs() < 1e-12);
        assert!((normal()[0] - actual[12]).abs() < 1e-5, "{seeds:?}");
        let log = (0.5 + 0.25 * normal()[0]).exp();
        assert!((log - actual[13]).abs() < 1e-12, "{seeds:?}");
    }
    // The first number for the seeds of the publication.
    let mut published = initial_states([0; 4]);
    let first = next(&mut published) as f64 / (M1 + 1) as f64;
    assert!((first - 0.127_011_122_046_577).abs() < 1e-14, "{first}");
}

/// Returns the probability of each number from 0 to `max` in a Poisson distribution.
fn probabilities(mean: f64, max: usize) -> Vec<f64> {
    let mut log = -mean;
    let values = (0..=max).map(|k| {
        if k > 0 {
            log += (mean / k as f64).ln();
        }
        log.exp()
    });
    values.collect()
}

/// Returns the chi-squared statistic of the numbers, with at least 20 expected per bin, and the number of bins.
fn chi_squared(actual: &[u32], mean: f64) -> (f64, usize) {
    let max = (mean + 10.0 * mean.sqrt() + 20.0) as usize;
    let mut counts = vec![0f64; max + 1];
    for &number in actual {
        counts[(number as usize).min(max)] += 1.0;
    }
    let (mut sum, mut bins, mut expected, mut observed) = (0.0, 0, 0.0, 0.0);
    for (probability, count) in probabilities(mean, max).iter().zip(counts) {
        expected += probability * actual.len() as f64;
        observed += count;
        if expected >= 20.0 {
            sum += (observed - expected) * (observed - expected) / expected;
            (bins, expected, observed) = (bins + 1, 0.0, 0.0);
        }
    }
    (sum, bins)
}

pub fn poisson(compiler: &Compiler) {
    const SAMPLES: usize = 256 * 64;
    let mut machine = Machine::new(&compiler.ptx("generators.cu"));
    for mean in [0.25, 3.0, 30.0, 64.0, 500.0, 4000.0, 9000.0] {
        let output = machine.buffer(&vec![0u32; 4 * SAMPLES]);
        machine.run("poisson", 1, 256, params![output, mean]);
        let actual: Vec<u32> = machine.read(output, 4 * SAMPLES);
        for (generator, actual) in actual.chunks(SAMPLES).enumerate() {
            let (sum, bins) = chi_squared(actual, mean);
            // The statistic's mean is the number of bins, and its variance twice that.
            let deviation = (sum - bins as f64) / (2.0 * bins as f64).sqrt();
            assert!(
                deviation.abs() < 5.0,
                "mean {mean}, generator {generator}: {sum} in {bins} bins"
            );
        }
    }
}
