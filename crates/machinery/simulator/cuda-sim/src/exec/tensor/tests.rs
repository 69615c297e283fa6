//! Tests of element locations and of the equality of both implementations. (Sums are compared with those of
//! an H200 in `tests/exec/mma.rs`.)

use super::*;
use crate::exec::sm::test_support::random;

/// Fills the elements of a matrix with `value`, called with the element's index in its lane and the lane.
fn filled(
    shape: ProductShape,
    registers: usize,
    value: impl Fn(usize, usize) -> u32,
) -> [[u32; 32]; 4] {
    let mut rows = [[0; LANES]; 4];
    for (register, row) in rows[..registers].iter_mut().enumerate() {
        for (lane, bits) in row.iter_mut().enumerate() {
            for part in 0..shape.packed() {
                *bits |= value(register * shape.packed() + part, lane) << (16 * part);
            }
        }
    }
    rows
}

fn bits(multiplicand: Multiplicand, value: f32) -> u32 {
    match multiplicand {
        Multiplicand::Tf32 => value.to_bits(),
        Multiplicand::F16 => half::f16::from_f32(value).to_bits().into(),
        Multiplicand::Bf16 => value.to_bits() >> 16,
    }
}

/// Fills small integers into the locations that the figures of the PTX ISA give, and compares with a plain
/// matrix multiplication.
#[test]
fn elements_are_located_as_in_the_isa_figures() {
    let a = |row: usize, k: usize| ((row * 7 + k * 3) % 11) as f32 - 5.0;
    let b = |k: usize, column: usize| ((k * 5 + column * 2) % 7) as f32 - 3.0;
    let c = |row: usize, column: usize| (row * 8 + column) as f32;
    for shape in SHAPES {
        let [results, first, second] = shape.registers();
        let of = |value| bits(shape.multiplicand, value);
        // As in the PTX ISA: `i` is the element's index in its lane.
        let wide = shape.multiplicand == Multiplicand::Tf32;
        let in_a = filled(shape, first, |i, lane| {
            let (group, thread) = (lane / 4, lane % 4);
            of(match (wide, i) {
                (true, _) => a(group + 8 * (i % 2), thread + 4 * (i / 2)),
                (false, _) => a(
                    group + 8 * (i / 2 % 2),
                    thread * 2 + i % 2 + if i >= 4 { 8 } else { 0 },
                ),
            })
        });
        let in_b = filled(shape, second, |i, lane| {
            let (group, thread) = (lane / 4, lane % 4);
            of(if wide {
                b(thread + 4 * i, group)
            } else {
                b(thread * 2 + i % 2 + if i >= 2 { 8 } else { 0 }, group)
            })
        });
        let at = |i: usize, lane: usize| (lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2);
        let mut in_c = [[0; LANES]; 4];
        for lane in 0..LANES {
            for i in 0..4 {
                let (row, column) = at(i, lane);
                match shape.accumulator {
                    Accumulator::F32 => in_c[i][lane] = c(row, column).to_bits(),
                    Accumulator::F16 => {
                        in_c[i / 2][lane] |=
                            bits(Multiplicand::F16, c(row, column)) << (16 * (i % 2));
                    }
                }
            }
        }
        let actual = product(shape, &in_a, &in_b, &in_c);
        for lane in 0..LANES {
            for i in 0..4 {
                let (row, column) = at(i, lane);
                let products = (0..shape.k).map(|k| a(row, k) * b(k, column));
                let expected = products.sum::<f32>() + c(row, column);
                let sum = match shape.accumulator {
                    Accumulator::F32 => f32::from_bits(actual[i][lane]),
                    Accumulator::F16 => {
                        half::f16::from_bits((actual[i / 2][lane] >> (16 * (i % 2))) as u16)
                            .to_f32()
                    }
                };
                assert_eq!(sum, expected, "{shape:?} row {row} column {column}");
            }
        }
        assert_eq!(
            results,
            if shape.accumulator == Accumulator::F16 {
                2
            } else {
                4
            }
        );
    }
}

/// Half of the numbers have exponents near each other, which take the fast path; the others are arbitrary.
#[test]
fn the_fast_path_equals_the_general_one() {
    let mut words = random(SHAPES.len() * 200 * 12 * LANES);
    let mut word = || words.next().expect("enough random words") as u32;
    for shape in SHAPES {
        let mut fast = 0;
        for number in 0..200 {
            let mut registers = || -> Registers {
                std::array::from_fn(|_| {
                    std::array::from_fn(|_| match number % 2 {
                        0 => word() & !0x7000_7000 | 0x3000_3000,
                        _ => word(),
                    })
                })
            };
            let (a, b, c) = (registers(), registers(), registers());
            let expected = product_general(shape, &a, &b, &c);
            assert_eq!(product(shape, &a, &b, &c), expected, "{shape:?}, {number}");
            fast += usize::from(fast_path::product(shape, &Left::of(shape, &a), &b, &c).is_some());
        }
        assert!((1..200).contains(&fast), "{shape:?}: {fast}");
    }
}
