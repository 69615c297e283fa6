//! Half, bfloat16 and random numbers, compared with the results of NVIDIA's headers on an H200
//! (`scripts/header-values`).

use crate::compiler::Compiler;
use crate::machine::{Machine, addresses};

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
    let from = machine.buffer(&inputs);
    let to = machine.buffer(&vec![0u32; RESULTS * rows.len()]);
    let grid = [rows.len() as u32 / 64, 64];
    machine.run("narrow_functions", grid, false, &addresses(&[from, to]));
    let found: Vec<u32> = machine.read(to, RESULTS * rows.len());
    let mut wrong = Vec::new();
    for (row, found) in rows.iter().zip(found.chunks(RESULTS)) {
        for (place, (expected, found)) in row[3..].iter().zip(found).enumerate() {
            if expected != found {
                wrong.push(format!(
                    "{:x} {:x} {:x}, result {place}: {found:x}, on an H200 {expected:x}",
                    row[0], row[1], row[2]
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}

/// Returns the tolerance of a result of [`random`]. The generator's bits and uniform numbers must be equal;
/// for normal numbers, the logarithm and the sine may differ, in single or in double precision.
fn tolerance(place: usize) -> f64 {
    match place % 32 {
        _ if place < 64 => match place % 32 {
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
    let from = machine.buffer(&inputs);
    let to = machine.buffer(&vec![0f64; RESULTS * rows.len()]);
    let grid = [1, rows.len() as u32];
    machine.run("random_numbers", grid, false, &addresses(&[from, to]));
    let found: Vec<f64> = machine.read(to, RESULTS * rows.len());
    for (row, found) in rows.iter().zip(found.chunks(RESULTS)) {
        for (place, (word, found)) in row[3..].iter().zip(found).enumerate() {
            let expected: f64 = word.parse().unwrap();
            let most = tolerance(place) * expected.abs().max(1.0);
            assert!(
                (expected - found).abs() <= most,
                "seed {}, sequence {}, offset {}, result {place}: {found:e}, on an H200 {expected:e}",
                row[0],
                row[1],
                row[2]
            );
        }
    }
}
