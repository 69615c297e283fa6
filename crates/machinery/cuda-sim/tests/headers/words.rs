//! Functions on words and half words, asynchronous copies, and `nextafter`, compared with plain Rust.

use crate::compiler::Compiler;
use crate::machine::{Machine, addresses};

type Of3 = fn(i64, i64, i64) -> i64;

/// CUDA's `__vimax3`, `__vimin3`, `__viaddmax` and `__viaddmin`. [`halves`] and [`word`] truncate sums to the
/// operand's width before the comparison.
const THREE: [(Of3, bool); 4] = [
    (|a, b, c| a.max(b).max(c), false),
    (|a, b, c| a.min(b).min(c), false),
    (|a, b, c| a.max(b).max(c), true),
    (|a, b, c| a.min(b).min(c), true),
];

/// Returns the value of the low `width` bits, signed or unsigned.
fn number(bits: u32, width: u32, signed: bool) -> i64 {
    let low = i64::from(bits) & ((1 << width) - 1);
    match signed && low >> (width - 1) == 1 {
        true => low - (1 << width),
        false => low,
    }
}

/// Applies a function to one lane of each word.
fn lane([a, b, c]: [u32; 3], width: u32, signed: bool, relu: bool, of: (Of3, bool)) -> u32 {
    let [x, y, z] = [a, b, c].map(|word| number(word, width, signed));
    let result = match of {
        // The sum a + b wraps around in the lane's width.
        (f, true) => {
            let sum = number((x + y) as u32, width, signed);
            f(sum, sum, z)
        }
        (f, false) => f(x, y, z),
    };
    let result = if relu { result.max(0) } else { result };
    result as u32 & (((1u64 << width) - 1) as u32)
}

fn word(words: [u32; 3], signed: bool, relu: bool, of: (Of3, bool)) -> u32 {
    lane(words, 32, signed, relu, of)
}

fn halves(words: [u32; 3], signed: bool, relu: bool, of: (Of3, bool)) -> u32 {
    let high = lane(words.map(|word| word >> 16), 16, signed, relu, of);
    high << 16 | lane(words, 16, signed, relu, of)
}

/// Returns true if the function selects the first of two values, which the kernel reports in a bit.
fn first([a, b]: [u32; 2], width: u32, signed: bool, most: bool) -> bool {
    let [a, b] = [a, b].map(|word| number(word, width, signed));
    if most { a >= b } else { a <= b }
}

fn expected([a, b, c]: [u32; 3]) -> Vec<u32> {
    let mut out = Vec::new();
    for of in THREE {
        let words = [a, b, c];
        out.extend([
            word(words, true, false, of),
            word(words, false, false, of),
            halves(words, true, false, of),
            halves(words, false, false, of),
            word(words, true, true, of),
            halves(words, true, true, of),
        ]);
    }
    let (most, least) = (THREE[0], THREE[1]);
    out.extend([
        word([a, b, b], true, true, most),
        word([a, b, b], true, true, least),
        halves([a, b, b], true, true, most) ^ halves([a, c, c], true, true, least),
    ]);
    let whole = |signed: bool, is_most: bool| {
        let of = if is_most { most } else { least };
        let marks = u32::from(first([a, b], 32, signed, is_most)) << 31;
        word([a, b, b], signed, false, of) ^ marks
    };
    let two = |signed: bool, is_most: bool| {
        let of = if is_most { most } else { least };
        let high = u32::from(first([a >> 16, b >> 16], 16, signed, is_most)) << 31;
        let low = u32::from(first([a, b], 16, signed, is_most)) << 15;
        halves([a, b, b], signed, false, of) ^ high ^ low
    };
    out.extend([
        whole(true, true),
        whole(false, false),
        two(true, true),
        two(false, false),
        two(true, false) ^ two(false, true),
    ]);
    out
}

/// Tests all of CUDA's DPX functions, with values at the ends of their ranges and others.
pub fn dpx(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("words.cu"));
    let ends = [
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
    for a in ends {
        for b in ends {
            words.extend(ends.iter().flat_map(|&c| [a, b, c]));
        }
    }
    let mut state = 1u32;
    for _ in 0..512 * 3 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        words.push(state.rotate_left(state >> 27));
    }
    let threads = words.len() as u32 / 3;
    let from = machine.buffer(&words);
    let to = machine.buffer(&vec![0u32; threads as usize * 32]);
    machine.run("dpx", [threads / 64, 64], false, &addresses(&[to, from]));
    let found: Vec<u32> = machine.read(to, threads as usize * 32);
    for (three, found) in words.chunks(3).zip(found.chunks(32)) {
        let three = [three[0], three[1], three[2]];
        assert_eq!(found, expected(three), "of {three:#x?}");
    }
}

pub fn copies(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("words.cu"));
    let from: Vec<i32> = (1..=256).collect();
    let (from_at, to) = (machine.buffer(&from), machine.buffer(&[0i32; 256]));
    machine.run("copies", [1, 64], false, &addresses(&[to, from_at]));
    let expected = from.chunks(4).rev();
    let expected: Vec<i32> = expected
        .flat_map(|four| [four[0], four[1], four[2], 0])
        .collect();
    assert_eq!(machine.read::<i32>(to, 256), expected);
}

pub fn neighbours(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("words.cu"));
    let (floats, doubles) = (machine.buffer(&[0f32; 4]), machine.buffer(&[0f64; 2]));
    machine.run("neighbours", [1, 1], false, &addresses(&[floats, doubles]));
    let least = f32::from_bits(1);
    assert_eq!(
        machine.read::<f32>(floats, 4),
        [1f32.next_up(), 1f32.next_down(), -least, 2.0]
    );
    assert_eq!(
        machine.read::<f64>(doubles, 2),
        [1f64.next_down(), 3f64.next_up()]
    );
}
