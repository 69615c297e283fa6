//! A harness that runs one operation over columns of values, with every CPU feature level and with full and
//! partial warps, and compares the results with a reference.
//!
//! Tests of single instructions against the results of a GPU, bit for bit.

use std::fmt::Display;

use crate::exec::cpu::Cpu;
use crate::exec::ops::{Form, FormError, Op};
use crate::exec::sm::test_support::random;
use crate::exec::sm::{Inst, Sm};
use crate::lanes::{FULL, LANES};
use crate::lower::function::instructions::{Lowering, find};
use crate::ptx::ast::Type::{self, *};

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

impl<T: Into<String>> From<T> for TestForm {
    fn from(text: T) -> TestForm {
        let text = text.into();
        TestForm {
            text,
            ..TestForm::default()
        }
    }
}

impl TestForm {
    /// Sets the number of registers of each operand.
    pub fn lengths(self, lengths: &[usize]) -> TestForm {
        let lengths = lengths.to_vec();
        TestForm { lengths, ..self }
    }

    /// Sets the bytes of the registers of the destination and of the first source; `None` for those of the types.
    pub fn widths(self, def_bytes: Option<u32>, use_bytes: Option<u32>) -> TestForm {
        TestForm {
            def_bytes,
            use_bytes,
            ..self
        }
    }
}

/// Returns the form of an instruction for a type.
pub fn named(instruction: impl Display, ty: Type) -> String {
    format!("{instruction}.{}", ty.modifier())
}

/// Returns the number whose bits below `width` satisfy a condition.
pub fn bits(width: u32, is_set: impl Fn(u32) -> bool) -> u64 {
    (0..width).map(|n| u64::from(is_set(n)) << n).sum()
}

/// Returns true if a bit is set.
pub fn bit(x: u64, n: u32) -> bool {
    x >> n & 1 == 1
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
            Pred => row[0] = (0..LANES).map(|lane| (values[lane] & 1) << lane).sum(),
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
            Pred => row[0] >> lane & 1,
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
    let carry: &[Type] = if op.carries { &[Pred] } else { &[] };
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
            let column = |n| std::array::from_fn(|l| warp.get(l).map_or(0, |row| row[n]));
            let sources: Vec<[u64; LANES]> = (0..warp[0].len()).map(column).collect();
            let full = execute_warp_inst(&mut sm, &op, imm, FULL, &sources);
            let mask = 0x9e37_79b9u32.rotate_left(n as u32);
            let partial = execute_warp_inst(&mut sm, &op, imm, mask, &sources);
            let types = op.defs.iter().chain(op.carries.then_some(&Pred));
            for ((full, partial), ty) in full.iter().zip(&partial).zip(types) {
                let untouched = match ty {
                    Pred => UNTOUCHED & 1,
                    _ => UNTOUCHED & low_bits(8 * ty.bytes().max(4)),
                };
                for lane in 0..LANES {
                    let is_active = mask >> lane & 1 == 1;
                    let expected = if is_active { full[lane] } else { untouched };
                    let text = &written.text;
                    assert_eq!(partial[lane], expected, "{text}, lane {lane} of {mask:x}");
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
pub fn check_all<R>(written: impl Into<TestForm>, rows: &[Vec<u64>], reference: R)
where
    R: Fn(&[u64]) -> Vec<u64>,
{
    let written = written.into();
    for (row, actual) in rows.iter().zip(run(written.clone(), rows)) {
        let expected = reference(row);
        let text = &written.text;
        assert_eq!(
            actual, expected,
            "{text}: {row:x?} -> {actual:x?}, not {expected:x?}"
        );
    }
}

/// Returns the number with the lowest `count` bits set.
pub fn low_bits(count: u32) -> u64 {
    u64::MAX >> (64 - count)
}

/// Returns edge values of a type and a few random values.
pub fn edges(ty: Type) -> Vec<u64> {
    let bits = 8 * ty.bytes();
    let values: Vec<u64> = match ty {
        F32 => vec![
            0, 1, 0x400000, 0x7fffff, 0x800000, 0x800001, 0x33800000, 0x3effffff, 0x3f000000,
            0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000, 0x40e00000, 0x4b000001,
            0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0x5f800000,
            0x7e800000, 0x7e800001, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000,
            0x7fffffff,
        ],
        F64 => {
            let finite = "0 5e-324 2.2250738585072014e-308 1.1125369292536007e-308 1e-300 1e-40 \
                0.49999999999999994 0.5 0.9999999999999999 1 1.0000000000000002 1.5 2.5 3 \
                1.0000000596046448 65504 65520 16777217 2147483647 2147483647.5 2147483648 4294967295 \
                4294967295.5 4294967296 9007199254740993 9.223372036854775e18 9.223372036854776e18 \
                1.8446744073709552e19 3.4028235677973366e38 1e300 1.7976931348623157e308";
            let finite = finite.split(' ').filter(|number| !number.is_empty());
            let finite = finite.map(|number| number.parse().map(f64::to_bits).expect("a number"));
            let special = [
                0x7ff0 << 48,
                0x7ff0 << 48 | 1,
                0x7ff8 << 48,
                0x7ff8_1234_5678_9abc,
            ];
            finite.chain(special).collect()
        }
        F16 => vec![
            0, 1, 0x01ff, 0x03ff, 0x0400, 0x0401, 0x37ff, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00,
            0x6400, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff,
        ],
        BF16 => vec![
            0, 1, 0x7f, 0x80, 0x81, 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0, 0x4b00, 0x7f7f, 0x7f80,
            0x7f81, 0x7fc0, 0x7fff,
        ],
        Pred => return vec![0, 1],
        _ => {
            let all = low_bits(bits);
            let (top, half) = (1u64 << (bits - 1), 1u64 << (bits / 2));
            let small = [
                0, 1, 2, 3, 5, 7, 8, 10, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256,
            ];
            let small = small.into_iter();
            let large = [top - 2, top - 1, top, top + 1, all - 2, all - 1, all];
            let values = small.chain(large).chain([half, half - 1, half + 1]);
            values.map(|x| x & all).collect()
        }
    };
    let signs = if ty.is_float() { vec![0, 1] } else { vec![0] };
    let values = values.into_iter();
    let values = values.flat_map(|x| signs.iter().map(move |sign| x | sign << (bits - 1)));
    let random_bits = |x| {
        if bits == 64 {
            x
        } else {
            x >> 11 & low_bits(bits)
        }
    };
    values.chain(random(8).map(random_bits)).collect()
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
        let written = TestForm::from(form).widths(def.parse().ok(), source.parse().ok());
        let row: Vec<u64> = operands.split(',').map(number).collect();
        let actual = run(written, &[row])[0][0];
        assert_eq!(actual, number(result), "{line}: here {actual:x}");
        compared += 1;
    }
    assert!(compared > 500, "the table was read: {compared} rows");
}
