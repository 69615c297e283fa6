//! A harness that runs one operation over columns of values, with every CPU feature level and with full and
//! partial warps, and compares the results with a reference.
//!
//! Tests of single instructions against the results of a GPU, bit for bit.

use crate::exec::cpu::Cpu;
use crate::exec::ops::{Form, FormError, Op};
use crate::exec::sm::test_support::random;
use crate::exec::sm::{Inst, Sm};
use crate::lanes::{FULL, LANES};
use crate::lower::function::instructions::{Lowering, find};
use crate::ptx::ast::Type;

/// A form as written, such as `"add.sat.s32"`, with the properties of its operands.
#[derive(Debug, Clone, Default)]
pub struct TestForm {
    pub text: String,
    pub lengths: Vec<usize>,
    pub def_bytes: Option<u32>,
    pub use_bytes: Option<u32>,
    /// The literal operand of `lop3`.
    pub literal: u64,
}

impl From<&str> for TestForm {
    fn from(text: &str) -> TestForm {
        TestForm {
            text: text.to_owned(),
            ..TestForm::default()
        }
    }
}

impl From<String> for TestForm {
    fn from(text: String) -> TestForm {
        TestForm {
            text,
            ..TestForm::default()
        }
    }
}

/// Returns the operation of a form, which must be a register instruction.
pub fn op(written: &TestForm, cpu: Cpu) -> Result<Op, FormError> {
    let mut parts = written.text.split('.');
    let mnemonic = parts.next().unwrap_or_default();
    let modifiers: Vec<&str> = parts.collect();
    let Some(Lowering::Registers(select)) = find(mnemonic, &modifiers).map(|entry| entry.lowering)
    else {
        panic!("{mnemonic} is no register instruction");
    };
    let mut form = Form::new(&modifiers, 3);
    if !written.lengths.is_empty() {
        form.operand_lengths.clone_from(&written.lengths);
    }
    form.def_bytes = written.def_bytes;
    form.use_bytes = written.use_bytes;
    select(&form, cpu)
}

/// Returns the error for an invalid form.
pub fn refusal(text: &str) -> FormError {
    match op(&text.into(), Cpu::Baseline) {
        Ok(_) => panic!("{text} was taken"),
        Err(error) => error,
    }
}

/// Returns the CPU feature levels to test.
fn cpus() -> Vec<Cpu> {
    let mut cpus = vec![Cpu::Baseline];
    cpus.extend((Cpu::detect() != Cpu::Baseline).then_some(Cpu::detect()));
    cpus
}

const ROW: usize = 256;
const UNTOUCHED: u64 = 0xa5a5_5a5a_c3c3_3c3c;

/// The registers of one instruction, one row each.
struct Frame(Vec<u64>);

impl Frame {
    fn write(&mut self, n: usize, ty: Type, values: &[u64; LANES]) {
        let row = &mut self.0[n * ROW / 8..][..ROW / 8];
        match ty {
            Type::Pred => row[0] = (0..LANES).map(|lane| (values[lane] & 1) << lane).sum(),
            _ if ty.bytes() == 8 => row.copy_from_slice(values),
            _ => {
                for (pair, two) in row.iter_mut().zip(values.chunks(2)) {
                    *pair = two[0] & 0xffff_ffff | two[1] << 32;
                }
            }
        }
    }

    fn read(&self, n: usize, ty: Type) -> [u64; LANES] {
        let row = &self.0[n * ROW / 8..][..ROW / 8];
        std::array::from_fn(|lane| match ty {
            Type::Pred => row[0] >> lane & 1,
            _ if ty.bytes() == 8 => row[lane],
            _ => row[lane / 2] >> (32 * (lane % 2)) & 0xffff_ffff,
        })
    }
}

/// Executes one warp instruction. `sources` and the result are lane values per operand. The carry, if any, is
/// the last destination and the first source.
fn execute_warp_inst(
    sm: &mut Sm,
    op: &Op,
    imm: u64,
    mask: u32,
    sources: &[[u64; LANES]],
) -> Vec<[u64; LANES]> {
    let carry: &[Type] = if op.carries { &[Type::Pred] } else { &[] };
    let defs = [&op.defs, carry].concat();
    let uses = [carry, &op.uses].concat();
    let mut frame = Frame(vec![0; 8 * ROW / 8]);
    for (n, ty) in defs.iter().enumerate() {
        frame.write(n, *ty, &[UNTOUCHED; LANES]);
    }
    assert_eq!(uses.len(), sources.len(), "sources of the operation");
    for (n, (ty, values)) in uses.iter().zip(sources).enumerate() {
        frame.write(defs.len() + n, *ty, values);
    }
    sm.frame = frame.0.as_mut_ptr().cast();
    sm.mask = mask;
    sm.lanes = crate::lanes::expand(mask);
    sm.blend = mask != FULL;
    let operands = std::array::from_fn(|n| (n * ROW) as u32);
    let inst = Inst {
        run: op.run.warp,
        operands,
        arg0: 0,
        arg1: 0,
        imm,
        uniform: 0,
        gang_scope: crate::exec::warp::gang_state::GangScope::Warps,
        reuse_distance: 0,
    };
    // SAFETY: each operand is the offset of a row of `ROW` bytes inside `frame`, which is wide enough for any
    // type, and `frame` outlives the call.
    let next = unsafe { (op.run.warp)(sm, &inst) };
    assert_eq!(next, inst.next(), "the next instruction follows");
    defs.iter()
        .enumerate()
        .map(|(n, ty)| frame.read(n, *ty))
        .collect()
}

/// Returns the operation's results: a row of destinations for each row of sources.
pub fn run(written: impl Into<TestForm>, rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let written = written.into();
    let mut sm = Sm::for_tests();
    let mut results: Option<Vec<Vec<u64>>> = None;
    for cpu in cpus() {
        let op = op(&written, cpu).unwrap_or_else(|error| panic!("{}: {error}", written.text));
        let imm = if op.literal { written.literal } else { op.imm };
        let mut cpu_results = Vec::new();
        for (n, warp) in rows.chunks(LANES).enumerate() {
            let sources: Vec<[u64; LANES]> = (0..warp[0].len())
                .map(|source| std::array::from_fn(|l| warp.get(l).map_or(0, |row| row[source])))
                .collect();
            let full = execute_warp_inst(&mut sm, &op, imm, FULL, &sources);
            let mask = 0x9e37_79b9u32.rotate_left(n as u32);
            let partial = execute_warp_inst(&mut sm, &op, imm, mask, &sources);
            let types = op.defs.iter().chain(op.carries.then_some(&Type::Pred));
            for ((full, partial), ty) in full.iter().zip(&partial).zip(types) {
                let untouched = match ty {
                    Type::Pred => UNTOUCHED & 1,
                    _ if ty.bytes() == 8 => UNTOUCHED,
                    _ => UNTOUCHED & 0xffff_ffff,
                };
                for lane in 0..LANES {
                    let expected = if mask >> lane & 1 == 1 {
                        full[lane]
                    } else {
                        untouched
                    };
                    assert_eq!(
                        partial[lane], expected,
                        "{}, lane {lane} of {mask:x}",
                        written.text
                    );
                }
            }
            cpu_results.extend((0..warp.len()).map(|l| full.iter().map(|def| def[l]).collect()));
        }
        match &results {
            None => results = Some(cpu_results),
            Some(first) => {
                for ((row, a), b) in rows.iter().zip(first).zip(&cpu_results) {
                    assert_eq!(a, b, "{} {row:x?} by CPU", written.text);
                }
            }
        }
    }
    results.unwrap_or_default()
}

/// Compares the first destination with a reference, bit for bit.
pub fn check(written: impl Into<TestForm>, rows: &[Vec<u64>], reference: impl Fn(&[u64]) -> u64) {
    check_all(written, rows, |row| vec![reference(row)]);
}

/// Compares all destinations with a reference, bit for bit.
pub fn check_all(
    written: impl Into<TestForm>,
    rows: &[Vec<u64>],
    reference: impl Fn(&[u64]) -> Vec<u64>,
) {
    let written = written.into();
    for (row, actual) in rows.iter().zip(run(written.clone(), rows)) {
        let expected = reference(row);
        assert_eq!(
            actual, expected,
            "{}: {row:x?} -> {actual:x?}, not {expected:x?}",
            written.text
        );
    }
}

/// Returns edge values of a type and a few random values.
pub fn edges(ty: Type) -> Vec<u64> {
    let bits = 8 * ty.bytes();
    let mut values: Vec<u64> = match ty {
        Type::F32 => [
            0,
            1,
            0x0040_0000,
            0x007f_ffff,
            0x0080_0000,
            0x0080_0001,
            0x3380_0000,
            0x3eff_ffff,
            0x3f00_0000,
            0x3f7f_ffff,
            0x3f80_0000,
            0x3f80_0001,
            0x3fc0_0000,
            0x4020_0000,
            0x40e0_0000,
            0x4b00_0001,
            0x4eff_ffff,
            0x4f00_0000,
            0x4f7f_ffff,
            0x4f80_0000,
            0x5eff_ffff,
            0x5f00_0000,
            0x5f80_0000,
            0x7e80_0000,
            0x7e80_0001,
            0x7f00_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0x7f80_0001,
            0x7fc0_0000,
            0x7fff_ffff,
        ]
        .into_iter()
        .flat_map(|x: u64| [x, x | 1 << 31])
        .collect(),
        Type::F64 => [
            0.0,
            5e-324,
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE / 2.0,
            1e-300,
            1e-40,
            0.49999999999999994,
            0.5,
            0.9999999999999999,
            1.0,
            1.0000000000000002,
            1.5,
            2.5,
            3.0,
            1.0000000596046448,
            65504.0,
            65520.0,
            16777217.0,
            2147483647.0,
            2147483647.5,
            2147483648.0,
            4294967295.0,
            4294967295.5,
            4294967296.0,
            9007199254740993.0,
            9.223372036854775e18,
            9.223372036854776e18,
            1.8446744073709552e19,
            3.4028235677973366e38,
            1e300,
            f64::MAX,
            f64::INFINITY,
        ]
        .into_iter()
        .map(f64::to_bits)
        .chain([
            0x7ff0_0000_0000_0001,
            0x7ff8_0000_0000_0000,
            0x7ff8_1234_5678_9abc,
        ])
        .flat_map(|x: u64| [x, x | 1 << 63])
        .collect(),
        Type::F16 => [
            0, 1, 0x01ff, 0x03ff, 0x0400, 0x0401, 0x37ff, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00,
            0x6400, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff,
        ]
        .into_iter()
        .flat_map(|x: u64| [x, x | 1 << 15])
        .collect(),
        Type::BF16 => [
            0, 1, 0x7f, 0x80, 0x81, 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0, 0x4b00, 0x7f7f, 0x7f80,
            0x7f81, 0x7fc0, 0x7fff,
        ]
        .into_iter()
        .flat_map(|x: u64| [x, x | 1 << 15])
        .collect(),
        Type::Pred => return vec![0, 1],
        _ => {
            let singles = u64::MAX >> (64 - bits);
            let top = 1u64 << (bits - 1);
            [
                0, 1, 2, 3, 5, 7, 8, 10, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256,
            ]
            .into_iter()
            .chain([
                top - 2,
                top - 1,
                top,
                top + 1,
                singles - 2,
                singles - 1,
                singles,
            ])
            .chain([
                1 << (bits / 2),
                (1 << (bits / 2)) - 1,
                (1 << (bits / 2)) + 1,
            ])
            .map(|x| x & singles)
            .collect()
        }
    };
    values.extend(random(8).map(|x| {
        if bits == 64 {
            x
        } else {
            x >> 11 & ((1 << bits) - 1)
        }
    }));
    values
}

/// Returns one column of edge values.
pub fn singles(ty: Type) -> Vec<Vec<u64>> {
    edges(ty).into_iter().map(|a| vec![a]).collect()
}

/// Returns all pairs of edge values.
pub fn pairs(a: Type, b: Type) -> Vec<Vec<u64>> {
    let second = edges(b);
    edges(a)
        .into_iter()
        .flat_map(|a| second.iter().map(move |&b| vec![a, b]))
        .collect()
}

/// Returns all pairs of edge values of the first two types, each with several values of the third.
pub fn triples(a: Type, b: Type, c: Type) -> Vec<Vec<u64>> {
    let third = edges(c);
    let mut turn = 0;
    let mut rows = Vec::new();
    for pair in pairs(a, b) {
        for _ in 0..third.len().min(3) {
            rows.push(vec![pair[0], pair[1], third[turn % third.len()]]);
            turn += 1;
        }
        turn += 1;
    }
    rows
}

#[test]
fn results_equal_an_h200s() {
    let mut compared = 0;
    let rows = include_str!("h200.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    for line in rows {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [form, def, source, operands, "=", result] = words[..] else {
            panic!("not a row of the table: {line}");
        };
        let number = |text| u64::from_str_radix(text, 16).expect("hexadecimal");
        let written = TestForm {
            def_bytes: def.parse().ok(),
            use_bytes: source.parse().ok(),
            ..TestForm::from(form)
        };
        let row: Vec<u64> = operands.split(',').map(number).collect();
        let actual = run(written, &[row])[0][0];
        assert_eq!(actual, number(result), "{line}: here {actual:x}");
        compared += 1;
    }
    assert!(compared > 500, "the table was read: {compared} rows");
}
