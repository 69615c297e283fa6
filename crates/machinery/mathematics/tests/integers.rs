//! The functions of whole numbers, of halves and bytes of them, conversions and rounded arithmetic, against Rust's own.

use mathematics::machine::Machine;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// A function of three words; of what is a float, whether a result is NaN is all that counts.
struct Known {
    name: &'static str,
    is_float: bool,
    of: fn([u32; 3]) -> u32,
}

macro_rules! known {
    ($($kind:ident $name:literal: |$x:ident| $value:expr;)*) => {
        [$(Known {
            name: $name,
            is_float: stringify!($kind) == "float",
            of: { fn of($x: [u32; 3]) -> u32 { $value } of },
        }),*]
    };
}

fn f(x: u32) -> f32 {
    f32::from_bits(x)
}

fn d(x: [u32; 3]) -> f64 {
    f64::from_bits(long(x, 0))
}

fn long(x: [u32; 3], at: usize) -> u64 {
    u64::from(x[at]) << 32 | u64::from(x[at + 1])
}

/// The lowest 24 bits with their sign.
fn low24(x: u32) -> u32 {
    ((x << 8) as i32 >> 8) as u32
}

fn bytes(x: u32) -> [u8; 4] {
    x.to_le_bytes()
}

/// Towards 0.
fn cut(x: u32) -> f32 {
    let near = x as f32;
    if f64::from(near) > f64::from(x) {
        near.next_down()
    } else {
        near
    }
}

/// Upwards.
fn up(x: i64) -> f64 {
    let near = x as f64;
    if (near as i128) < i128::from(x) {
        near.next_up()
    } else {
        near
    }
}

/// Downwards.
fn below(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) > x {
        near.next_down()
    } else {
        near
    }
}

/// The product of two floats, which a double holds exactly unless it is very small.
fn toward_zero(exact: f64) -> f32 {
    let near = exact as f32;
    match f64::from(near).abs() > exact.abs() {
        true => f32::from_bits(near.to_bits() - 1),
        false => near,
    }
}

/// The sum, rounded up: by what the nearest has lost.
fn sum_up(a: f32, b: f32) -> f32 {
    let near = a + b;
    if !near.is_finite() || !a.is_finite() || !b.is_finite() {
        // What overflows to below is the smallest number.
        return match near == f32::NEG_INFINITY && a.is_finite() && b.is_finite() {
            true => f32::MIN,
            false => near,
        };
    }
    let of_b = near - a;
    let lost = (a - (near - of_b)) + (b - of_b);
    match lost > 0.0 {
        true => near.next_up(),
        // Of two that cancel it is 0, not -0.
        false => near,
    }
}

fn shifted(lo: u32, hi: u32, by: u32, left: bool) -> u32 {
    let both = u64::from(hi) << 32 | u64::from(lo);
    if left {
        (both << by >> 32) as u32
    } else {
        (both >> by) as u32
    }
}

/// The halves, or bytes, of two words as numbers with a sign or without.
fn lanes(x: u32, bits: u32, signed: bool) -> Vec<i32> {
    let lane = |at: u32| {
        let word = x >> (at * bits) << (32 - bits);
        if signed {
            word as i32 >> (32 - bits)
        } else {
            (word >> (32 - bits)) as i32
        }
    };
    (0..32 / bits).map(lane).collect()
}

/// What a function does to a lane of one word and the one of another.
type Lane = fn(i32, i32) -> i32;

fn each(x: [u32; 3], bits: u32, signed: bool, of: impl Fn(i32, i32) -> i32) -> u32 {
    let mask = u32::MAX >> (32 - bits);
    let pairs = lanes(x[0], bits, signed)
        .into_iter()
        .zip(lanes(x[1], bits, signed));
    pairs.enumerate().fold(0, |word, (at, (a, b))| {
        word | (of(a, b) as u32 & mask) << (at as u32 * bits)
    })
}

fn within(x: i32, bits: u32, signed: bool) -> i32 {
    match signed {
        true => x.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => x.clamp(0, (1 << bits) - 1),
    }
}

/// Each of them, whether it takes signs, whether results that are too large become the largest.
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

/// Words drawn at random, among them those at the ends, near each other, and floats of ordinary sizes.
fn words() -> Vec<u32> {
    let ends = [
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
    for a in ends {
        for b in ends {
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

fn check(machine: &mut Machine, name: &str, is_float: bool, of: impl Fn([u32; 3]) -> u32) {
    let words = words();
    let results = machine.evaluate(name, &words, 3).expect("runs");
    for (x, result) in words.chunks(3).zip(results) {
        let x = [x[0], x[1], x[2]];
        let expected = of(x);
        let nan = is_float && f(result).is_nan() && f(expected).is_nan();
        assert!(
            nan || result == expected,
            "{name}{x:x?} is {result:x}, not {expected:x}"
        );
    }
}

#[test]
fn whole_numbers_conversions_and_rounded_arithmetic() {
    let known = known! {
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
            u32::from_le_bytes([0, 4, 8, 12].map(|at| eight[(x[2] >> at & 7) as usize]))
        };
        word "__funnelshift_l": |x| shifted(x[0], x[1], x[2] & 31, true);
        word "__funnelshift_lc": |x| if x[2] > 31 { x[0] } else { shifted(x[0], x[1], x[2], true) };
        word "__funnelshift_r": |x| shifted(x[0], x[1], x[2] & 31, false);
        word "__funnelshift_rc": |x| shifted(x[0], x[1], x[2].min(32), false);
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
        word "__clzll": |x| long(x, 0).leading_zeros();
        word "__ffsll": |x| if long(x, 0) == 0 { 0 } else { long(x, 0).trailing_zeros() + 1 };
        word "__popcll": |x| long(x, 0).count_ones();
        word "__brevll": |x| (long(x, 0).reverse_bits() >> 16) as u32;
        word "__umul64hi": |x| ((u128::from(long(x, 0)) * u128::from(long(x, 1))) >> 64) as u32;
        word "__mul64hi": |x| ((i128::from(long(x, 0) as i64) * i128::from(long(x, 1) as i64)) >> 64) as u32;
        word "__float2int_rn": |x| f(x[0]).round_ties_even() as i32 as u32;
        word "__float2int_rd": |x| f(x[0]).floor() as i32 as u32;
        word "__float2uint_ru": |x| f(x[0]).ceil() as u32;
        word "__double2int_rz": |x| if d(x).is_nan() { 1 << 31 } else { d(x) as i32 as u32 };
        float "__double2float_rn": |x| (d(x) as f32).to_bits();
        word "__int2float_rn": |x| (x[0] as i32 as f32).to_bits();
        word "__uint2float_rz": |x| cut(x[0]).to_bits();
        word "__ll2float_rn": |x| (long(x, 0) as i64 as f32).to_bits();
        word "__ll2double_ru": |x| up(long(x, 0) as i64).to_bits() as u32;
        float "__double2float_rd": |x| below(d(x)).to_bits();
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
    let mut machine = Machine::whole().expect("loaded");
    for function in known {
        check(&mut machine, function.name, function.is_float, function.of);
    }
}

#[test]
fn halves_and_bytes() {
    let mut machine = Machine::whole().expect("loaded");
    for (name, signed, saturates, of) in LANES {
        for (number, bits) in [(2, 16), (4, 8)] {
            let limited = |x| {
                each(x, bits, signed, |a, b| match saturates {
                    true => within(of(a, b), bits, signed),
                    false => of(a, b),
                })
            };
            check(&mut machine, &format!("__v{name}{number}"), false, limited);
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
                &mut machine,
                &format!("__vsad{letter}{number}"),
                false,
                total,
            );
        }
    }
}
