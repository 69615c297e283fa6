//! Half, bfloat16 and random numbers, compared with the results of NVIDIA's headers on an H200
//! (`scripts/header-values`).

use crate::compiler::Compiler;
use sim_machine::{Machine, params};

const NARROW: &str = include_str!("narrow-h200.txt");
const RANDOM: &str = include_str!("random-h200.txt");

/// Splits the lines of a recorded file into words.
fn rows(recorded: &str) -> Vec<Vec<&str>> {
    recorded
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect()
}

pub fn narrow(compiler: &Compiler) {
    const RESULTS: usize = 80;
    let rows: Vec<Vec<u32>> = rows(NARROW)
        .iter()
        .map(|row| {
            row.iter()
                .map(|word| u32::from_str_radix(word, 16).unwrap())
                .collect()
        })
        .collect();
    let mut machine = Machine::new(&compiler.ptx("narrow_functions.cu"));
    let inputs: Vec<u32> = rows.iter().flat_map(|row| row[..3].to_vec()).collect();
    let input = machine.buffer(&inputs);
    let output = machine.buffer(&vec![0u32; RESULTS * rows.len()]);
    let blocks = rows.len() as u32 / 64;
    machine.run("narrow_functions", blocks, 64, params![input, output]);
    let actual: Vec<u32> = machine.read(output, RESULTS * rows.len());
    let mut mismatches = Vec::new();
    for (row, actual) in rows.iter().zip(actual.chunks(RESULTS)) {
        for (index, (expected, actual)) in row[3..].iter().zip(actual).enumerate() {
            if expected != actual {
                mismatches.push(format!(
                    "{:x} {:x} {:x}, result {index}: {actual:x}, on an H200 {expected:x}",
                    row[0], row[1], row[2]
                ));
            }
        }
    }
    assert!(
        mismatches.is_empty(),
        "{} differ:\n{}",
        mismatches.len(),
        mismatches[..mismatches.len().min(40)].join("\n")
    );
}

/// Returns the tolerance of a result of [`random`]. The generator's bits and uniform numbers must be equal;
/// for normal numbers, the logarithm and the sine may differ, in single or in double precision.
fn tolerance(index: usize) -> f64 {
    match index % 32 {
        _ if index < 64 => match index % 32 {
            12..=15 | 19..=20 | 23..=25 => 4e-6,
            16..=18 | 21..=22 | 26 => 4e-15,
            _ => 0.0,
        },
        15..=18 | 23..=26 => 4e-6,
        19..=22 => 4e-15,
        _ => 0.0,
    }
}

pub fn random(compiler: &Compiler) {
    const RESULTS: usize = 96;
    let rows = rows(RANDOM);
    let mut machine = Machine::new(&compiler.ptx("random_numbers.cu"));
    let inputs: Vec<u64> = rows
        .iter()
        .flat_map(|row| row[..3].iter().map(|word| word.parse::<u64>().unwrap()))
        .collect();
    let input = machine.buffer(&inputs);
    let output = machine.buffer(&vec![0f64; RESULTS * rows.len()]);
    let threads = rows.len() as u32;
    machine.run("random_numbers", 1, threads, params![input, output]);
    let actual: Vec<f64> = machine.read(output, RESULTS * rows.len());
    for (row, actual) in rows.iter().zip(actual.chunks(RESULTS)) {
        for (index, (word, actual)) in row[3..].iter().zip(actual).enumerate() {
            let expected: f64 = word.parse().unwrap();
            let max_error = tolerance(index) * expected.abs().max(1.0);
            assert!(
                (expected - actual).abs() <= max_error,
                "seed {}, sequence {}, offset {}, result {index}: {actual:e}, on an H200 {expected:e}",
                row[0],
                row[1],
                row[2]
            );
        }
    }
}
