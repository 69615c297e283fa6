//! Matrix multiply-accumulates with 8-bit elements, compared with those of an H200, bit for bit.

use crate::harness::*;
use crate::mma::{COLUMNS, F32, Format, LANES, Numbers, PRODUCT_COUNT, all_numbers, random_bits};
use std::fmt::Write as _;

/// The output of `scripts/products.cu` on an H200.
const H200: &str = include_str!("products-of-bytes-h200.txt");

/// A form, as written at the start of a line of the record: `m16n8k32.satfinite.s8.u8.s32`.
struct Form<'a> {
    name: &'a str,
    rows: usize,
    k: usize,
    saturates: bool,
    types: [&'a str; 3],
}

impl<'a> Form<'a> {
    fn parse(name: &'a str) -> Form<'a> {
        let parts: Vec<&str> = name.split('.').collect();
        let [shape, .., a, b, d] = parts[..] else {
            panic!("expected a shape and three types");
        };
        let (rows, k) = match shape {
            "m8n8k16" => (8, 16),
            "m16n8k16" => (16, 16),
            "m16n8k32" => (16, 32),
            other => panic!("{other}"),
        };
        Form {
            name,
            rows,
            k,
            saturates: parts.contains(&"satfinite"),
            types: [a, b, d],
        }
    }

    /// Returns the format of a matrix's elements, or `None` for integers.
    fn format(&self, matrix: usize) -> Option<Format> {
        match self.types[matrix] {
            "e4m3" => Some(Format::new(4, 3, 0)),
            "e5m2" => Some(Format::new(5, 2, 0)),
            "f32" => Some(F32),
            _ => None,
        }
    }

    /// Returns the registers per lane of A, of B, and of the result.
    fn registers(&self) -> [usize; 3] {
        [
            self.rows * self.k / 128,
            COLUMNS * self.k / 128,
            self.rows / 4,
        ]
    }

    /// Returns a kernel that loads a warp's registers, multiplies, and stores the registers of the result.
    fn ptx(&self) -> String {
        let registers = self.registers();
        let mut body = "mov.u32 %r30, %ctaid.x;\n".to_owned();
        let names: Vec<String> = ["a", "b", "c"]
            .iter()
            .zip(registers)
            .enumerate()
            .map(|(matrix, (base, count))| {
                let names = (0..count).map(|n| {
                    let register = 8 * matrix + n;
                    let _ = writeln!(
                        body,
                        "ld.param.u64 %d1, [{base}]; mad.lo.u32 %r31, %r30, {}, %t; \
                         mad.wide.u32 %d1, %r31, 4, %d1; ld.global.b32 %r{register}, [%d1+{}];",
                        count * LANES,
                        4 * n * LANES
                    );
                    format!("%r{register}")
                });
                names.collect::<Vec<_>>().join(", ")
            })
            .collect();
        let [a, b, d] = self.types;
        let saturates = if self.saturates { ".satfinite" } else { "" };
        let shape = self.name.split('.').next().unwrap_or_default();
        let results: Vec<String> = (0..registers[2]).map(|n| format!("%r{}", 24 + n)).collect();
        let _ = write!(
            body,
            "mma.sync.aligned.{shape}.row.col{saturates}.{d}.{a}.{b}.{d} {{{}}}, {{{}}}, {{{}}}, {{{}}};
            mad.lo.u32 %r31, %r30, {}, %t; mad.wide.u32 %d1, %r31, 4, %out;",
            results.join(", "),
            names[0],
            names[1],
            names[2],
            registers[2] * LANES
        );
        for (n, register) in results.iter().enumerate() {
            let _ = write!(body, "st.global.b32 [%d1+{}], {register};", 4 * n * LANES);
        }
        let parameters = ".param .u64 p, .param .u64 a, .param .u64 b, .param .u64 c";
        module_of("", &body)
            .replace(".param .u64 p", parameters)
            .replace(".version 7.0\n.target sm_80", ".version 8.7\n.target sm_90")
    }

    /// Returns the matrices of all products, in row-major order, one element per word.
    fn matrices(&self, numbers_kind: &str) -> [Vec<u32>; 3] {
        let counts = [self.rows * self.k, self.k * COLUMNS, self.rows * COLUMNS];
        let numbers = all_numbers();
        let numbers = numbers.iter().find(|numbers| numbers.name == numbers_kind);
        let mut n = 0..;
        let mut read_matrix = |matrix: usize| -> Vec<u32> {
            let numbers_of_matrix = n.by_ref().take(PRODUCT_COUNT * counts[matrix]);
            numbers_of_matrix
                .map(|n| self.element(numbers, numbers_kind, matrix, n))
                .collect()
        };
        let mut matrices = [read_matrix(0), read_matrix(1), read_matrix(2)];
        if numbers.is_some_and(|numbers| numbers.cancels) {
            for i in (1..matrices[0].len()).step_by(2) {
                matrices[0][i] = matrices[0][i - 1] ^ 0x80;
            }
            for i in (0..matrices[1].len()).filter(|i| i / COLUMNS % 2 == 1) {
                let changed = random_bits(i as u64).is_multiple_of(4);
                matrices[1][i] = matrices[1][i - COLUMNS] ^ u32::from(changed);
            }
        }
        matrices
    }

    fn element(&self, numbers: Option<&Numbers>, numbers_kind: &str, matrix: usize, n: u64) -> u32 {
        if let (Some(numbers), Some(format)) = (numbers, self.format(matrix)) {
            return numbers.element(format, matrix == 2, n);
        }
        let word = random_bits(n);
        match (matrix, numbers_kind) {
            (2, "limit") => 0x7fff_ffff ^ (word >> 31).wrapping_mul(u32::MAX) ^ (word & 0xffff),
            (2, _) => word,
            _ => word >> 24,
        }
    }
}

/// Returns the index, in a row-major matrix, of a lane's result `i`.
fn accumulator_index(i: usize, lane: usize) -> usize {
    (lane / 4 + 8 * (i / 2)) * COLUMNS + lane % 4 * 2 + i % 2
}

/// Returns a hash of the bits of all results.
fn hash(form: &Form, numbers_kind: &str) -> u64 {
    let [a, b, c] = form.matrices(numbers_kind);
    let [first, second, result] = form.registers();
    let groups = form.rows / 8;
    let mut inputs = [Vec::new(), Vec::new(), Vec::new()];
    for product in 0..PRODUCT_COUNT {
        let packed =
            |byte: &dyn Fn(usize) -> u32| (0..4).fold(0, |word, n| word | byte(n) << (8 * n));
        for register in 0..first {
            let (part, lower) = (register / groups, register % groups);
            inputs[0].extend((0..LANES).map(|lane| {
                let row = product * form.rows + lane / 4 + 8 * lower;
                packed(&|n| a[row * form.k + part * 16 + lane % 4 * 4 + n])
            }));
        }
        for part in 0..second {
            inputs[1].extend((0..LANES).map(|lane| {
                let row = product * form.k + part * 16 + lane % 4 * 4;
                packed(&|n| b[(row + n) * COLUMNS + lane / 4])
            }));
        }
        for i in 0..result {
            let added = |lane| c[product * form.rows * COLUMNS + accumulator_index(i, lane)];
            inputs[2].extend((0..LANES).map(added));
        }
    }
    let mut machine = Machine::new(&form.ptx());
    let [a, b, c] = inputs.map(|words| machine.buffer(&words));
    let words = result * LANES;
    let out = machine.out::<u32>(PRODUCT_COUNT * words);
    machine.run(
        "k",
        PRODUCT_COUNT as u32,
        LANES as u32,
        params![out, a, b, c],
    );
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for d in machine
        .read::<u32>(out, PRODUCT_COUNT * words)
        .chunks(words)
    {
        let mut results = vec![0; form.rows * COLUMNS];
        for lane in 0..LANES {
            for i in 0..result {
                results[accumulator_index(i, lane)] = d[i * LANES + lane];
            }
        }
        for word in results {
            hash = (hash ^ u64::from(word)).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

#[test]
fn mma_sums_of_8_bit_elements_match_an_h200() {
    let expected: Vec<&str> = H200.lines().filter(|line| !line.starts_with('#')).collect();
    // Four pairs of integer types in six forms; four of floating-point types, and a shorter form of one.
    assert_eq!(expected.len(), 4 * 6 * 2 + 5 * all_numbers().len());
    let mismatches: Vec<String> = expected
        .into_iter()
        .filter_map(|line| {
            let (name, _) = line.split_once(" = ")?;
            let (form, numbers_kind) = name.split_once(' ')?;
            let actual = format!("{name} = {:016x}", hash(&Form::parse(form), numbers_kind));
            (actual != line).then_some(actual)
        })
        .collect();
    assert!(mismatches.is_empty(), "{mismatches:#?}");
}

#[test]
fn nonexistent_forms_are_rejected() {
    for (form, expected) in cases(
        r"
        m16n8k32.row.col.f32.e4m3.s8.f32 => is not simulated
        m16n8k32.row.col.satfinite.f32.e4m3.e4m3.f32 => is not simulated
        m16n8k32.row.col.f16.e4m3.e4m3.f16 => is not simulated
        m8n8k16.row.col.f32.e4m3.e4m3.f32 => is not simulated
        m16n8k16.row.col.satfinite.f32.f16.f16.f32 => is not simulated
        m16n8k64.row.col.s32.s8.s8.s32 => is not simulated
        m16n8k32.row.col.s32.s8.s8.f32 => is not simulated
        m16n8k32.row.col.s32.s8.s8.s32 => expected a vector of 4 registers, found 1
    ",
    ) {
        let body = format!("mma.sync.aligned.{form} {{%r1}}, {{%r1}}, {{%r1}}, {{%r1}};");
        assert_load_error(&module_of("", &body), expected);
    }
}
