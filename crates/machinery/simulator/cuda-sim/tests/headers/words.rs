//! Functions on words and half words, asynchronous copies, and `nextafter`, compared with plain Rust.

use crate::compiler::Compiler;
use sim_machine::{Machine, params};

type TernaryFunction = fn(i64, i64, i64) -> i64;

/// CUDA's `__vimax3`, `__vimin3`, `__viaddmax` and `__viaddmin`. [`halves`] and [`word`] truncate sums to the
/// operand's width before the comparison.
const TERNARY_FUNCTIONS: [(TernaryFunction, bool); 4] = [
    (|a, b, c| a.max(b).max(c), false),
    (|a, b, c| a.min(b).min(c), false),
    (|a, b, c| a.max(b).max(c), true),
    (|a, b, c| a.min(b).min(c), true),
];

/// Returns the value of the low `width` bits, signed or unsigned.
fn lane_value(bits: u32, width: u32, signed: bool) -> i64 {
    let low = i64::from(bits) & ((1 << width) - 1);
    match signed && low >> (width - 1) == 1 {
        true => low - (1 << width),
        false => low,
    }
}

/// Applies a function to one lane of each word.
fn lane(
    [a, b, c]: [u32; 3],
    width: u32,
    signed: bool,
    relu: bool,
    function: (TernaryFunction, bool),
) -> u32 {
    let [x, y, z] = [a, b, c].map(|word| lane_value(word, width, signed));
    let result = match function {
        // The sum a + b wraps around in the lane's width.
        (f, true) => {
            let sum = lane_value((x + y) as u32, width, signed);
            f(sum, sum, z)
        }
        (f, false) => f(x, y, z),
    };
    let result = if relu { result.max(0) } else { result };
    result as u32 & (((1u64 << width) - 1) as u32)
}

fn word(words: [u32; 3], signed: bool, relu: bool, function: (TernaryFunction, bool)) -> u32 {
    lane(words, 32, signed, relu, function)
}

fn halves(words: [u32; 3], signed: bool, relu: bool, function: (TernaryFunction, bool)) -> u32 {
    let high = lane(words.map(|word| word >> 16), 16, signed, relu, function);
    high << 16 | lane(words, 16, signed, relu, function)
}

/// Returns true if the function selects the first of two values, which the kernel reports in a bit.
fn selects_first([a, b]: [u32; 2], width: u32, signed: bool, maximum: bool) -> bool {
    let [a, b] = [a, b].map(|word| lane_value(word, width, signed));
    if maximum { a >= b } else { a <= b }
}

fn expected([a, b, c]: [u32; 3]) -> Vec<u32> {
    let mut out = Vec::new();
    for function in TERNARY_FUNCTIONS {
        let words = [a, b, c];
        out.extend([
            word(words, true, false, function),
            word(words, false, false, function),
            halves(words, true, false, function),
            halves(words, false, false, function),
            word(words, true, true, function),
            halves(words, true, true, function),
        ]);
    }
    let (maximum, minimum) = (TERNARY_FUNCTIONS[0], TERNARY_FUNCTIONS[1]);
    out.extend([
        word([a, b, b], true, true, maximum),
        word([a, b, b], true, true, minimum),
        halves([a, b, b], true, true, maximum) ^ halves([a, c, c], true, true, minimum),
    ]);
    let word_selection = |signed: bool, is_most: bool| {
        let function = if is_most { maximum } else { minimum };
        let selection_bit = u32::from(selects_first([a, b], 32, signed, is_most)) << 31;
        word([a, b, b], signed, false, function) ^ selection_bit
    };
    let half_selection = |signed: bool, is_most: bool| {
        let function = if is_most { maximum } else { minimum };
        let high = u32::from(selects_first([a >> 16, b >> 16], 16, signed, is_most)) << 31;
        let low = u32::from(selects_first([a, b], 16, signed, is_most)) << 15;
        halves([a, b, b], signed, false, function) ^ high ^ low
    };
    out.extend([
        word_selection(true, true),
        word_selection(false, false),
        half_selection(true, true),
        half_selection(false, false),
        half_selection(true, false) ^ half_selection(false, true),
    ]);
    out
}

/// Tests all of CUDA's DPX functions, with values at the ends of their ranges and others.
pub fn dpx(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("words.cu"));
    let corner_cases = [
        0u32,
        1,
        0xffff_ffff,
        0x8000_0000,
        0x7fff_ffff,
        0x8000_7fff,
        0x7fff_8000,
        0x1234_fedc,
    ];
    let mut words = Vec::new();
    for a in corner_cases {
        for b in corner_cases {
            words.extend(corner_cases.iter().flat_map(|&c| [a, b, c]));
        }
    }
    let mut state = 1u32;
    for _ in 0..512 * 3 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        words.push(state.rotate_left(state >> 27));
    }
    let threads = words.len() as u32 / 3;
    let input = machine.buffer(&words);
    let output = machine.buffer(&vec![0u32; threads as usize * 32]);
    machine.run("dpx", threads / 64, 64, params![output, input]);
    let actual: Vec<u32> = machine.read(output, threads as usize * 32);
    for (triple, actual) in words.chunks(3).zip(actual.chunks(32)) {
        let triple = [triple[0], triple[1], triple[2]];
        assert_eq!(actual, expected(triple), "of {triple:#x?}");
    }
}

pub fn copies(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("words.cu"));
    let input: Vec<i32> = (1..=256).collect();
    let (input_address, output) = (machine.buffer(&input), machine.buffer(&[0i32; 256]));
    machine.run("copies", 1, 64, params![output, input_address]);
    let expected = input.chunks(4).rev();
    let expected: Vec<i32> = expected
        .flat_map(|four| [four[0], four[1], four[2], 0])
        .collect();
    assert_eq!(machine.read::<i32>(output, 256), expected);
}

pub fn neighbours(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("words.cu"));
    let (floats, doubles) = (machine.buffer(&[0f32; 4]), machine.buffer(&[0f64; 2]));
    machine.run("neighbours", 1, 1, params![floats, doubles]);
    let minimum = f32::from_bits(1);
    assert_eq!(
        machine.read::<f32>(floats, 4),
        [1f32.next_up(), 1f32.next_down(), -minimum, 2.0]
    );
    assert_eq!(
        machine.read::<f64>(doubles, 2),
        [1f64.next_down(), 3f64.next_up()]
    );
}
