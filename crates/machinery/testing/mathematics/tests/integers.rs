//! Integer functions, SIMD functions, conversions and directed rounding, compared with Rust's implementations.

use mathematics::functions::Device;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// A function of three words and its reference. Float results that are NaN need not have the same bits.
struct Reference {
    name: &'static str,
    is_float: bool,
    reference: fn([u32; 3]) -> u32,
}

macro_rules! references {
    ($($kind:ident $name:literal: |$x:ident| $value:expr;)*) => {
        [$(Reference {
            name: $name,
            is_float: stringify!($kind) == "float",
            reference: { fn reference($x: [u32; 3]) -> u32 { $value } reference },
        }),*]
    };
}

fn f(x: u32) -> f32 {
    f32::from_bits(x)
}

fn d(x: [u32; 3]) -> f64 {
    f64::from_bits(join(x, 0))
}

fn join(x: [u32; 3], index: usize) -> u64 {
    u64::from(x[index]) << 32 | u64::from(x[index + 1])
}

/// Sign-extends the lowest 24 bits.
fn low24(x: u32) -> u32 {
    ((x << 8) as i32 >> 8) as u32
}

fn bytes(x: u32) -> [u8; 4] {
    x.to_le_bytes()
}

/// Converts to float, rounding toward zero.
fn round_toward_zero(x: u32) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) > f64::from(x) {
        nearest.next_down()
    } else {
        nearest
    }
}

/// Converts to double, rounding up.
fn round_up(x: i64) -> f64 {
    let nearest = x as f64;
    if (nearest as i128) < i128::from(x) {
        nearest.next_up()
    } else {
        nearest
    }
}

/// Converts to float, rounding down.
fn round_down(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) > x {
        nearest.next_down()
    } else {
        nearest
    }
}

/// Rounds a product of two floats toward zero. The double product is exact unless it is very small.
fn toward_zero(exact: f64) -> f32 {
    let nearest = exact as f32;
    match f64::from(nearest).abs() > exact.abs() {
        true => f32::from_bits(nearest.to_bits() - 1),
        false => nearest,
    }
}

/// Adds with rounding up, using the rounding error of the nearest sum.
fn sum_up(a: f32, b: f32) -> f32 {
    let nearest = a + b;
    if !nearest.is_finite() || !a.is_finite() || !b.is_finite() {
        // A sum that overflows downwards rounds up to the smallest float.
        return match nearest == f32::NEG_INFINITY && a.is_finite() && b.is_finite() {
            true => f32::MIN,
            false => nearest,
        };
    }
    let b_rounded = nearest - a;
    let rounding_error = (a - (nearest - b_rounded)) + (b - b_rounded);
    match rounding_error > 0.0 {
        true => nearest.next_up(),
        // A sum that cancels exactly is 0, not -0.
        false => nearest,
    }
}

fn funnel_shift(lo: u32, hi: u32, shift: u32, left: bool) -> u32 {
    let joined = u64::from(hi) << 32 | u64::from(lo);
    if left {
        (joined << shift >> 32) as u32
    } else {
        (joined >> shift) as u32
    }
}

/// Extracts the 16-bit or 8-bit lanes of a word, sign- or zero-extended.
fn lanes(x: u32, bits: u32, signed: bool) -> Vec<i32> {
    let lane = |index: u32| {
        let word = x >> (index * bits) << (32 - bits);
        if signed {
            word as i32 >> (32 - bits)
        } else {
            (word >> (32 - bits)) as i32
        }
    };
    (0..32 / bits).map(lane).collect()
}

/// An operation on two lanes.
type Lane = fn(i32, i32) -> i32;

fn map_lanes(x: [u32; 3], bits: u32, signed: bool, reference: impl Fn(i32, i32) -> i32) -> u32 {
    let mask = u32::MAX >> (32 - bits);
    let pairs = lanes(x[0], bits, signed)
        .into_iter()
        .zip(lanes(x[1], bits, signed));
    pairs.enumerate().fold(0, |word, (index, (a, b))| {
        word | (reference(a, b) as u32 & mask) << (index as u32 * bits)
    })
}

fn saturate(x: i32, bits: u32, signed: bool) -> i32 {
    match signed {
        true => x.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => x.clamp(0, (1 << bits) - 1),
    }
}

/// The name, whether lanes are signed, whether results saturate, and the operation.
const LANES: [(&str, bool, bool, Lane); 25] = [
    ("add", false, false, |a, b| a + b),
    ("addss", true, true, |a, b| a + b),
    ("addus", false, true, |a, b| a + b),
    ("sub", false, false, |a, b| a - b),
    ("subss", true, true, |a, b| a - b),
    ("subus", false, true, |a, b| a - b),
    ("avgs", true, false, |a, b| (a + b + 1) >> 1),
    ("avgu", false, false, |a, b| (a + b + 1) >> 1),
    ("haddu", false, false, |a, b| (a + b) >> 1),
    ("maxs", true, false, i32::max),
    ("maxu", false, false, i32::max),
    ("mins", true, false, i32::min),
    ("minu", false, false, i32::min),
    ("absdiffs", true, false, |a, b| (a - b).abs()),
    ("absdiffu", false, false, |a, b| (a - b).abs()),
    ("abs", true, false, |a, _| a.abs()),
    ("absss", true, true, |a, _| a.abs()),
    ("neg", true, false, |a, _| -a),
    ("negss", true, true, |a, _| -a),
    ("seteq", false, false, |a, b| i32::from(a == b)),
    ("setlts", true, false, |a, b| i32::from(a < b)),
    ("setltu", false, false, |a, b| i32::from(a < b)),
    ("cmpne", false, false, |a, b| -i32::from(a != b)),
    ("cmpges", true, false, |a, b| -i32::from(a >= b)),
    ("cmpgtu", false, false, |a, b| -i32::from(a > b)),
];

/// Returns random words, among them extreme values, neighbours, and floats of ordinary magnitude.
fn test_words() -> Vec<u32> {
    let edge_words = [
        0,
        1,
        u32::MAX,
        0x8000_0000,
        0x7fff_ffff,
        0x8080_8080,
        0x7f7f_ff80,
        0x8000_7fff,
        40,
    ];
    let mut random = Pcg64Mcg::new(7);
    let mut words: Vec<u32> = Vec::new();
    for a in edge_words {
        for b in edge_words {
            words.extend([a, b, random.next_u32() % 70]);
        }
    }
    for _ in 0..3000 {
        let word = random.next_u32();
        words.extend([word, random.next_u32(), random.next_u32() % 64]);
        words.extend([
            word,
            word ^ 1 << (random.next_u32() % 32),
            random.next_u32(),
        ]);
        let mut float = || (0.01 * (random.next_u32() % 100_000) as f32 - 500.0).to_bits();
        words.extend([float(), float(), float()]);
    }
    words
}

fn check(device: &mut Device, name: &str, is_float: bool, reference: impl Fn([u32; 3]) -> u32) {
    let words = test_words();
    let results = device.evaluate(name, &words, 3).expect("runs");
    for (x, result) in words.chunks(3).zip(results) {
        let x = [x[0], x[1], x[2]];
        let expected = reference(x);
        let nan = is_float && f(result).is_nan() && f(expected).is_nan();
        assert!(
            nan || result == expected,
            "{name}{x:x?} is {result:x}, expected {expected:x}"
        );
    }
}

#[test]
fn integers_conversions_and_rounded_arithmetic_match_rust() {
    let references = references! {
        word "__mul24": |x| low24(x[0]).wrapping_mul(low24(x[1]));
        word "__umul24": |x| (x[0] & 0xff_ffff).wrapping_mul(x[1] & 0xff_ffff);
        word "__mulhi": |x| ((i64::from(x[0] as i32) * i64::from(x[1] as i32)) >> 32) as u32;
        word "__umulhi": |x| ((u64::from(x[0]) * u64::from(x[1])) >> 32) as u32;
        word "__clz": |x| x[0].leading_zeros();
        word "__ffs": |x| if x[0] == 0 { 0 } else { x[0].trailing_zeros() + 1 };
        word "__popc": |x| x[0].count_ones();
        word "__brev": |x| x[0].reverse_bits();
        word "__hadd": |x| ((i64::from(x[0] as i32) + i64::from(x[1] as i32)) >> 1) as u32;
        word "__rhadd": |x| ((i64::from(x[0] as i32) + i64::from(x[1] as i32) + 1) >> 1) as u32;
        word "__uhadd": |x| ((u64::from(x[0]) + u64::from(x[1])) >> 1) as u32;
        word "__urhadd": |x| ((u64::from(x[0]) + u64::from(x[1]) + 1) >> 1) as u32;
        word "__sad": |x| (x[0] as i32).abs_diff(x[1] as i32).wrapping_add(x[2]);
        word "__usad": |x| x[0].abs_diff(x[1]).wrapping_add(x[2]);
        word "__byte_perm": |x| {
            let eight = [bytes(x[0]), bytes(x[1])].concat();
            u32::from_le_bytes([0, 4, 8, 12].map(|index| eight[(x[2] >> index & 7) as usize]))
        };
        word "__funnelshift_l": |x| funnel_shift(x[0], x[1], x[2] & 31, true);
        word "__funnelshift_lc": |x| if x[2] > 31 { x[0] } else { funnel_shift(x[0], x[1], x[2], true) };
        word "__funnelshift_r": |x| funnel_shift(x[0], x[1], x[2] & 31, false);
        word "__funnelshift_rc": |x| funnel_shift(x[0], x[1], x[2].min(32), false);
        word "__dp4a": |x| (0..4).fold(x[2], |sum, i| {
            let product = i32::from(bytes(x[0])[i] as i8) * i32::from(bytes(x[1])[i] as i8);
            sum.wrapping_add(product as u32)
        });
        word "__dp4a_unsigned": |x| (0..4).fold(x[2], |sum, i| {
            sum.wrapping_add(u32::from(bytes(x[0])[i]) * u32::from(bytes(x[1])[i]))
        });
        word "__dp2a_lo": |x| (0..2).fold(x[2], |sum, i| {
            let half = i32::from((x[0] >> (16 * i)) as i16);
            sum.wrapping_add((half * i32::from(bytes(x[1])[i as usize] as i8)) as u32)
        });
        word "__dp2a_hi_unsigned": |x| (0..2).fold(x[2], |sum, i| {
            let half = u32::from((x[0] >> (16 * i)) as u16);
            sum.wrapping_add(half * u32::from(bytes(x[1])[2 + i as usize]))
        });
        word "__clzll": |x| join(x, 0).leading_zeros();
        word "__ffsll": |x| if join(x, 0) == 0 { 0 } else { join(x, 0).trailing_zeros() + 1 };
        word "__popcll": |x| join(x, 0).count_ones();
        word "__brevll": |x| (join(x, 0).reverse_bits() >> 16) as u32;
        word "__umul64hi": |x| ((u128::from(join(x, 0)) * u128::from(join(x, 1))) >> 64) as u32;
        word "__mul64hi": |x| ((i128::from(join(x, 0) as i64) * i128::from(join(x, 1) as i64)) >> 64) as u32;
        word "__float2int_rn": |x| f(x[0]).round_ties_even() as i32 as u32;
        word "__float2int_rd": |x| f(x[0]).floor() as i32 as u32;
        word "__float2uint_ru": |x| f(x[0]).ceil() as u32;
        word "__double2int_rz": |x| if d(x).is_nan() { 1 << 31 } else { d(x) as i32 as u32 };
        float "__double2float_rn": |x| (d(x) as f32).to_bits();
        word "__int2float_rn": |x| (x[0] as i32 as f32).to_bits();
        word "__uint2float_rz": |x| round_toward_zero(x[0]).to_bits();
        word "__ll2float_rn": |x| (join(x, 0) as i64 as f32).to_bits();
        word "__ll2double_ru": |x| round_up(join(x, 0) as i64).to_bits() as u32;
        float "__double2float_rd": |x| round_down(d(x)).to_bits();
        float "__fmul_rz": |x| toward_zero(f64::from(f(x[0])) * f64::from(f(x[1]))).to_bits();
        word "__double2hiint": |x| x[0];
        word "__double2loint": |x| x[1];
        float "__fadd_rn": |x| (f(x[0]) + f(x[1])).to_bits();
        float "__fadd_ru": |x| sum_up(f(x[0]), f(x[1])).to_bits();
        float "__fmul_rn_then_sum": |x| (f(x[0]) * f(x[1]) + f(x[2])).to_bits();
        float "__fmaf_rn": |x| f(x[0]).mul_add(f(x[1]), f(x[2])).to_bits();
        float "__fdiv_rn": |x| (f(x[0]) / f(x[1])).to_bits();
        float "__frcp_rn": |x| (1.0 / f(x[0])).to_bits();
        float "__fsqrt_rn": |x| f(x[0]).sqrt().to_bits();
        float "__frsqrt_rn": |x| ((1.0 / f64::from(f(x[0])).sqrt()) as f32).to_bits();
        word "__saturatef": |x| if f(x[0]) > 0.0 { f(x[0]).min(1.0).to_bits() } else { 0 };
    };
    let mut device = Device::integers().expect("loaded");
    for function in references {
        check(
            &mut device,
            function.name,
            function.is_float,
            function.reference,
        );
    }
}

#[test]
fn simd_functions_match_rust() {
    let mut device = Device::integers().expect("loaded");
    for (name, signed, saturates, reference) in LANES {
        for (number, bits) in [(2, 16), (4, 8)] {
            let expected = |x| {
                map_lanes(x, bits, signed, |a, b| match saturates {
                    true => saturate(reference(a, b), bits, signed),
                    false => reference(a, b),
                })
            };
            check(&mut device, &format!("__v{name}{number}"), false, expected);
        }
    }
    for (number, bits) in [(2, 16), (4, 8)] {
        for (letter, signed) in [("s", true), ("u", false)] {
            let total = |x: [u32; 3]| {
                let pairs = lanes(x[0], bits, signed)
                    .into_iter()
                    .zip(lanes(x[1], bits, signed));
                pairs.map(|(a, b)| (a - b).unsigned_abs()).sum()
            };
            check(
                &mut device,
                &format!("__vsad{letter}{number}"),
                false,
                total,
            );
        }
    }
}
