//! Where elements lie, and sums against those of an H200.

use super::dot::Format;
use super::*;

/// Ones and twos and so on in the elements of a matrix, each lane's by its own index.
fn filled(shape: Shape, registers: usize, value: impl Fn(usize, usize) -> u32) -> [[u32; 32]; 4] {
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

/// Small whole numbers at the places that the figures of the ISA give for each form, against a
/// plain product.
#[test]
fn elements_lie_where_the_figures_say() {
    let a = |row: usize, k: usize| ((row * 7 + k * 3) % 11) as f32 - 5.0;
    let b = |k: usize, column: usize| ((k * 5 + column * 2) % 7) as f32 - 3.0;
    let c = |row: usize, column: usize| (row * 8 + column) as f32;
    for shape in SHAPES {
        let [results, first, second] = shape.registers();
        let of = |value| bits(shape.multiplicand, value);
        // As the ISA writes them: `i` is the element's number among those of its lane.
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
            of(match wide {
                true => b(thread + 4 * i, group),
                false => b(thread * 2 + i % 2 + if i >= 2 { 8 } else { 0 }, group),
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
        let found = product(shape, &in_a, &in_b, &in_c);
        for lane in 0..LANES {
            for i in 0..4 {
                let (row, column) = at(i, lane);
                let products = (0..shape.deep).map(|k| a(row, k) * b(k, column));
                let wanted = products.sum::<f32>() + c(row, column);
                let sum = match shape.accumulator {
                    Accumulator::F32 => f32::from_bits(found[i][lane]),
                    Accumulator::F16 => {
                        half::f16::from_bits((found[i / 2][lane] >> (16 * (i % 2))) as u16).to_f32()
                    }
                };
                assert_eq!(sum, wanted, "{shape:?} row {row} column {column}");
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

/// Numbers as `scripts/products.cu` makes them: exponents of what is multiplied and of what is added,
/// from the first to the second, for formats with 8 bits of exponent and for those with 5.
#[derive(Default)]
struct Numbers {
    name: &'static str,
    multiplied: [[i32; 2]; 2],
    added: [[i32; 2]; 2],
    /// Some are infinite, NaN or zero.
    special: bool,
    /// Every other product is the one before, negated; and now and then a little different.
    cancels: bool,
    /// Nothing is added: zeros of both signs.
    alone: bool,
}

fn all_numbers() -> Vec<Numbers> {
    let kind = |name, multiplied, added| Numbers {
        name,
        multiplied,
        added,
        ..Numbers::default()
    };
    vec![
        kind("alike", [[-2, 0], [-2, 0]], [[-2, 0], [-2, 0]]),
        kind("spread", [[-6, 6], [-6, 6]], [[-6, 6], [-6, 6]]),
        kind("added-far", [[-2, 2], [-2, 2]], [[-30, 29], [-14, 12]]),
        kind("far", [[-20, 20], [-14, 2]], [[-20, 20], [-14, 2]]),
        Numbers {
            cancels: true,
            ..kind(
                "cancelling",
                [[-20, 20], [-14, 2]],
                [[-40, -20], [-24, -14]],
            )
        },
        kind("small", [[-66, -55], [-15, -5]], [[-130, -100], [-15, -9]]),
        kind(
            "subnormal",
            [[-76, -60], [-15, -10]],
            [[-130, -120], [-15, -15]],
        ),
        Numbers {
            alone: true,
            ..kind("smallest", [[-78, -60], [-15, -10]], [[0, 0], [0, 0]])
        },
        kind("large", [[61, 64], [5, 8]], [[124, 127], [12, 15]]),
        Numbers {
            special: true,
            ..kind("special", [[-2, 2], [-2, 2]], [[-2, 2], [-2, 2]])
        },
        Numbers {
            special: true,
            ..kind("any", [[-127, 128], [-15, 16]], [[-127, 128], [-15, 16]])
        },
    ]
}

fn random_bits(n: u64) -> u32 {
    let n = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (n ^ n >> 32) as u32
}

impl Numbers {
    /// The element number `n`, counted through all matrices.
    fn element(&self, format: Format, added: bool, n: u64) -> u32 {
        let exponents = if added { self.added } else { self.multiplied };
        let [first, last] = exponents[usize::from(format.exponent_bits == 5)];
        let (one, two) = (random_bits(2 * n), random_bits(2 * n + 1));
        let special = format.special() as i32;
        let mut field = format.bias() + first + ((one >> 1) % (last - first + 1) as u32) as i32;
        let mut fraction = two & ((1 << format.fraction_bits) - 1);
        field = field.clamp(0, special - i32::from(!self.special));
        if self.special {
            (field, fraction) = match two >> 24 {
                0 => (special, fraction),
                1 | 2 => (special, 0),
                3 => (0, 0),
                _ => (field, fraction),
            };
        }
        if added && self.alone {
            (field, fraction) = (0, 0);
        }
        let field = field as u32;
        ((one & 1) << format.exponent_bits | field) << format.fraction_bits | fraction
    }
}

/// So many elements of each lane in registers that hold `packed` of them, element by element and
/// lane by lane.
fn in_registers(elements: usize, packed: usize, word: impl Fn(usize, usize) -> u32) -> Registers {
    let mut registers = [[0; LANES]; 4];
    for n in 0..elements {
        for lane in 0..LANES {
            registers[n / packed][lane] |= word(n, lane) << (32 / packed * (n % packed));
        }
    }
    registers
}

/// Bit for bit, eight columns at a time and one sum after the other: 65536 sums of each form and each
/// kind of numbers.
#[test]
fn sums_of_random_matrices_are_those_of_an_h200() {
    const PRODUCTS: usize = 512;
    let table = include_str!("h200.txt");
    let kinds = all_numbers();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (case, wanted) = line.split_once(" = ").expect("a case and its hash");
        let (form, kind) = case.split_once(' ').expect("a form and a kind of numbers");
        let shape = SHAPES
            .into_iter()
            .find(|shape| name(*shape) == form)
            .expect("a form");
        let numbers = kinds
            .iter()
            .find(|numbers| numbers.name == kind)
            .expect("a kind");
        let format = shape.multiplicand.format();
        let added_format = Dot::new(shape.accumulator).format;
        let deep = shape.deep;
        let (of_a, of_b, of_c) = (ROWS * deep, deep * COLUMNS, ROWS * COLUMNS);
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for product_number in 0..PRODUCTS {
            let first = (product_number * (of_a + of_b + of_c)) as u64;
            let make = |from: usize, count: usize, format, added| -> Vec<u32> {
                (from..from + count)
                    .map(|i| numbers.element(format, added, first + i as u64))
                    .collect()
            };
            let mut a = make(0, of_a, format, false);
            let mut b = make(of_a, of_b, format, false);
            let c = make(of_a + of_b, of_c, added_format, true);
            if numbers.cancels {
                let sign = format.exponent_bits + format.fraction_bits;
                for i in (1..of_a).step_by(2) {
                    a[i] = a[i - 1] ^ 1 << sign;
                }
                for i in (0..of_b).filter(|i| i / COLUMNS % 2 == 1) {
                    let less = random_bits((product_number * of_b + i) as u64).is_multiple_of(4);
                    b[i] = b[i - COLUMNS] ^ u32::from(less);
                }
            }
            let unused = shape.multiplicand.unused_bits();
            for (matrix, count) in [(&mut a, of_a), (&mut b, of_b)] {
                for (i, element) in matrix.iter_mut().enumerate() {
                    let below =
                        random_bits((product_number * count + i) as u64) & ((1 << unused) - 1);
                    *element = *element << unused | below;
                }
            }
            let packed = shape.packed();
            let wide = packed == 1;
            let [_, first, second] = shape.registers();
            let in_a = in_registers(first * packed, packed, |i, lane| {
                let (group, thread) = (lane / 4, lane % 4);
                let (row, k) = match wide {
                    true => (group + 8 * (i % 2), thread + 4 * (i / 2)),
                    false => (group + 8 * (i / 2 % 2), thread * 2 + i % 2 + i / 4 * 8),
                };
                a[row * deep + k]
            });
            let in_b = in_registers(second * packed, packed, |i, lane| {
                let (group, thread) = (lane / 4, lane % 4);
                let k = match wide {
                    true => thread + 4 * i,
                    false => thread * 2 + i % 2 + i / 2 * 8,
                };
                b[k * COLUMNS + group]
            });
            let place =
                |i: usize, lane: usize| (lane / 4 + 8 * (i / 2)) * COLUMNS + lane % 4 * 2 + i % 2;
            let half = shape.accumulator == Accumulator::F16;
            let in_c = in_registers(4, 1 + usize::from(half), |i, lane| c[place(i, lane)]);
            let d = product(shape, &in_a, &in_b, &in_c);
            let slowly = any_product(shape, &in_a, &in_b, &in_c);
            assert_eq!(d, slowly, "{case}, product {product_number}");
            let mut results = [0; ROWS * COLUMNS];
            for lane in 0..LANES {
                for i in 0..4 {
                    let (register, shift) = shape.accumulator.place(i);
                    let bits = d[register][lane] >> shift;
                    results[place(i, lane)] = if half { bits & 0xffff } else { bits };
                }
            }
            for word in results {
                hash = (hash ^ u64::from(word)).wrapping_mul(0x100_0000_01b3);
            }
        }
        compared += 1;
        if format!("{hash:016x}") != wanted {
            wrong.push(case);
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert_eq!(compared, SHAPES.len() * kinds.len());
}

/// As `scripts/products.cu` calls it.
fn name(shape: Shape) -> String {
    let ty = match shape.multiplicand {
        Multiplicand::Tf32 => "tf32",
        Multiplicand::F16 => "f16",
        Multiplicand::Bf16 => "bf16",
    };
    let to = match shape.accumulator {
        Accumulator::F32 => "f32",
        Accumulator::F16 => "f16",
    };
    format!("m16n8k{}.{ty}.{to}", shape.deep)
}
