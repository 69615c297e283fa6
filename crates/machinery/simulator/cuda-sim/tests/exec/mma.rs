//! Tensor-core sums compared with those of an H200, bit for bit: 65536 sums for each form of `mma` and each
//! kind of numbers.

use crate::harness::*;
use std::fmt::Write as _;

use crate::wgmma::for_hopper;

/// The output of `scripts/products.cu` on an H200.
const H200: &str = include_str!("products-h200.txt");

pub const PRODUCT_COUNT: usize = 512;
/// Rows of A and of the result, and columns of B.
pub const ROWS: usize = 16;
pub const COLUMNS: usize = 8;
pub const LANES: usize = 32;

/// The bits of a floating-point format, and the number of unused bits below them in an element.
#[derive(Clone, Copy, PartialEq)]
pub struct Format {
    exponent_bits: u32,
    fraction_bits: u32,
    unused_bits: u32,
}

impl Format {
    pub const fn new(exponent_bits: u32, fraction_bits: u32, unused_bits: u32) -> Self {
        Format {
            exponent_bits,
            fraction_bits,
            unused_bits,
        }
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// Returns the exponent field of infinities and NaNs.
    fn special(self) -> i32 {
        (1 << self.exponent_bits) - 1
    }
}

const TF32: Format = Format::new(8, 10, 13);
const F16: Format = Format::new(5, 10, 0);
const BF16: Format = Format::new(8, 7, 0);
pub const F32: Format = Format::new(8, 23, 0);

/// A form of `mma`.
struct Form {
    name: &'static str,
    /// Columns of A (the k of the shape).
    k: usize,
    factors: Format,
    addend: Format,
}

const fn form(name: &'static str, k: usize, factors: Format, addend: Format) -> Form {
    Form {
        name,
        k,
        factors,
        addend,
    }
}

const FORMS: [Form; 8] = [
    form("m16n8k4.tf32.f32", 4, TF32, F32),
    form("m16n8k8.tf32.f32", 8, TF32, F32),
    form("m16n8k8.f16.f32", 8, F16, F32),
    form("m16n8k16.f16.f32", 16, F16, F32),
    form("m16n8k8.f16.f16", 8, F16, F16),
    form("m16n8k16.f16.f16", 16, F16, F16),
    form("m16n8k8.bf16.f32", 8, BF16, F32),
    form("m16n8k16.bf16.f32", 16, BF16, F32),
];

impl Form {
    /// Returns the elements per register of the factors A and B, and of the accumulator.
    fn packed(&self) -> [usize; 2] {
        [self.factors, self.addend].map(|format| {
            match format.exponent_bits + format.fraction_bits {
                15 => 2,
                _ => 1,
            }
        })
    }

    /// Returns the registers per lane of A, of B, and of the result.
    fn registers(&self) -> [usize; 3] {
        let [packed, packed_result] = self.packed();
        let elements = [ROWS * self.k, COLUMNS * self.k];
        let [first, second] = elements.map(|count| count / packed / LANES);
        [first, second, 4 / packed_result]
    }

    /// Returns a kernel that loads a warp's registers, multiplies, and stores the registers of the result.
    /// With `wgmma`, four warps all do the same.
    fn ptx(&self, with_wgmma: bool) -> String {
        let [first, second, result] = self.registers();
        let mut body = "mov.u32 %r30, %ctaid.x; and.b32 %t, %t, 31;\n".to_owned();
        let mut load = |register: usize, base: &str, count: usize, n: usize| {
            let _ = writeln!(
                body,
                "ld.param.u64 %d1, [{base}]; mad.lo.u32 %r31, %r30, {}, %t; \
                 mad.wide.u32 %d1, %r31, 4, %d1; ld.global.b32 %r{register}, [%d1+{}];",
                count * LANES,
                4 * n * LANES
            );
            format!("%r{register}")
        };
        let a: Vec<String> = (0..first).map(|n| load(n, "a", first, n)).collect();
        let b: Vec<String> = (0..second).map(|n| load(8 + n, "b", second, n)).collect();
        let c: Vec<String> = (0..result).map(|n| load(16 + n, "c", result, n)).collect();
        let d: Vec<String> = (0..result).map(|n| format!("%r{}", 24 + n)).collect();
        let d = if with_wgmma { &c } else { &d };
        let [shape, factors, addend] = self.name.split('.').collect::<Vec<_>>()[..] else {
            panic!("expected a shape and two types");
        };
        body += &match with_wgmma {
            true => self.wgmma_code(&a, &b, &c),
            false => format!(
                "mma.sync.aligned.{shape}.row.col.{addend}.{factors}.{factors}.{addend} \
                 {{{}}}, {{{}}}, {{{}}}, {{{}}};",
                d.join(", "),
                a.join(", "),
                b.join(", "),
                c.join(", ")
            ),
        };
        let _ = write!(
            body,
            "mad.lo.u32 %r31, %r30, {}, %t; mad.wide.u32 %d1, %r31, 4, %out;",
            result * LANES
        );
        for (n, register) in d.iter().enumerate() {
            let _ = write!(body, "st.global.b32 [%d1+{}], {register};", 4 * n * LANES);
        }
        let parameters = ".param .u64 p, .param .u64 a, .param .u64 b, .param .u64 c";
        let ptx = module_of("", &body).replace(".param .u64 p", parameters);
        match with_wgmma {
            true => for_hopper(&ptx),
            false => ptx,
        }
    }

    /// Stores B to shared memory and multiplies with `wgmma`.
    fn wgmma_code(&self, a: &[String], b: &[String], c: &[String]) -> String {
        let k = self.k;
        let ty = self.name.split('.').nth(1).expect("the form has no type");
        let transposed = if k == 16 { ", 0" } else { "" };
        format!(
            // The second 16 bytes of all columns follow the first.
            ".shared .align 128 .b8 tile[256];
    mov.u64 %d3, tile; mad.wide.u32 %d2, %t, 4, %d3;
    st.shared.b32 [%d2], {}; st.shared.b32 [%d2+128], {};
    fence.proxy.async; bar.sync 0;
    shr.u64 %d3, %d3, 4; or.b64 %d3, %d3, {};
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k{k}.f32.{ty}.{ty} {{{}}}, {{{}}}, %d3, 1, 1, 1{transposed};
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n",
            b[0],
            b[1],
            (128 >> 4) << 16,
            c.join(", "),
            a.join(", "),
        )
    }
}

/// Number distributions, as in `scripts/products.cu`: the ranges of the exponents of factors and of addends,
/// for formats with 8 bits of exponent and for those with fewer.
#[derive(Default)]
pub struct Numbers {
    pub name: &'static str,
    factors: [[i32; 2]; 2],
    addend: [[i32; 2]; 2],
    /// True if some are infinite, NaN or zero.
    special: bool,
    /// True if every second product negates the previous one, and sometimes differs a little.
    pub cancels: bool,
    /// True if the addend is a zero of either sign.
    zero_addend: bool,
}

pub fn all_numbers() -> Vec<Numbers> {
    let numbers = |name, factors, addend| Numbers {
        name,
        factors,
        addend,
        ..Numbers::default()
    };
    vec![
        numbers("alike", [[-2, 0], [-2, 0]], [[-2, 0], [-2, 0]]),
        numbers("spread", [[-6, 6], [-6, 6]], [[-6, 6], [-6, 6]]),
        numbers("added-far", [[-2, 2], [-2, 2]], [[-30, 29], [-14, 12]]),
        numbers("far", [[-20, 20], [-14, 2]], [[-20, 20], [-14, 2]]),
        Numbers {
            cancels: true,
            ..numbers(
                "cancelling",
                [[-20, 20], [-14, 2]],
                [[-40, -20], [-24, -14]],
            )
        },
        numbers("small", [[-66, -55], [-15, -5]], [[-130, -100], [-15, -9]]),
        numbers(
            "subnormal",
            [[-76, -60], [-15, -10]],
            [[-130, -120], [-15, -15]],
        ),
        Numbers {
            zero_addend: true,
            ..numbers("smallest", [[-78, -60], [-15, -10]], [[0, 0], [0, 0]])
        },
        numbers("large", [[61, 64], [5, 8]], [[124, 127], [12, 15]]),
        Numbers {
            special: true,
            ..numbers("special", [[-2, 2], [-2, 2]], [[-2, 2], [-2, 2]])
        },
        Numbers {
            special: true,
            ..numbers("any", [[-127, 128], [-15, 16]], [[-127, 128], [-15, 16]])
        },
    ]
}

pub fn random_bits(n: u64) -> u32 {
    let n = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (n ^ n >> 32) as u32
}

impl Numbers {
    /// Returns element number `n`, counted through all matrices.
    pub fn element(&self, format: Format, addend: bool, n: u64) -> u32 {
        let exponents = if addend { self.addend } else { self.factors };
        let [first, last] = exponents[usize::from(format.exponent_bits <= 5)];
        let (sign_word, fraction_word) = (random_bits(2 * n), random_bits(2 * n + 1));
        let special = format.special();
        let mut field =
            format.bias() + first + ((sign_word >> 1) % (last - first + 1) as u32) as i32;
        let mut fraction = fraction_word & ((1 << format.fraction_bits) - 1);
        field = field.clamp(0, special - i32::from(!self.special));
        if self.special {
            (field, fraction) = match fraction_word >> 24 {
                0 => (special, fraction),
                1 | 2 => (special, 0),
                3 => (0, 0),
                _ => (field, fraction),
            };
        }
        if addend && self.zero_addend {
            (field, fraction) = (0, 0);
        }
        let field = field as u32;
        ((sign_word & 1) << format.exponent_bits | field) << format.fraction_bits | fraction
    }

    /// Returns the matrices of a product, in row-major order: two factors and the addend.
    fn matrices(&self, form: &Form, number: usize) -> [Vec<u32>; 3] {
        let counts = [ROWS * form.k, form.k * COLUMNS, ROWS * COLUMNS];
        let first = number * counts.iter().sum::<usize>();
        let matrix = |from: usize, count: usize, format, addend| -> Vec<u32> {
            let elements = (from..from + count).map(|i| (first + i) as u64);
            elements.map(|n| self.element(format, addend, n)).collect()
        };
        let mut a = matrix(0, counts[0], form.factors, false);
        let mut b = matrix(counts[0], counts[1], form.factors, false);
        let c = matrix(counts[0] + counts[1], counts[2], form.addend, true);
        if self.cancels {
            let sign = form.factors.exponent_bits + form.factors.fraction_bits;
            for i in (1..a.len()).step_by(2) {
                a[i] = a[i - 1] ^ 1 << sign;
            }
            for i in (0..b.len()).filter(|i| i / COLUMNS % 2 == 1) {
                let changed = random_bits((number * counts[1] + i) as u64).is_multiple_of(4);
                b[i] = b[i - COLUMNS] ^ u32::from(changed);
            }
        }
        // The tensor core ignores the unused bits, so they are random.
        let unused = form.factors.unused_bits;
        for matrix in [&mut a, &mut b] {
            let count = matrix.len();
            for (i, element) in matrix.iter_mut().enumerate() {
                let unused_bits_value =
                    random_bits((number * count + i) as u64) & ((1 << unused) - 1);
                *element = *element << unused | unused_bits_value;
            }
        }
        [a, b, c]
    }
}

/// Returns a warp's registers, lane by lane. Each register packs `packed` of a lane's `elements` elements.
fn pack_registers(
    elements: usize,
    packed: usize,
    element: impl Fn(usize, usize) -> u32,
) -> impl Iterator<Item = u32> {
    (0..elements / packed).flat_map(move |register| {
        let words = (0..LANES).map(|lane| {
            let parts =
                (0..packed).map(|part| element(register * packed + part, lane) << (16 * part));
            parts.fold(0, |word, part| word | part)
        });
        words.collect::<Vec<_>>()
    })
}

/// Returns the index, in a row-major matrix, of a lane's element `i` of the accumulator.
fn accumulator_index(i: usize, lane: usize) -> usize {
    (lane / 4 + 8 * (i / 2)) * COLUMNS + lane % 4 * 2 + i % 2
}

/// Distributes the matrices over the lanes' registers: PTX ISA, section 9.7.14.5, the figures of each form.
fn registers_of(form: &Form, [a, b, c]: &[Vec<u32>; 3]) -> [Vec<u32>; 3] {
    let [packed, packed_result] = form.packed();
    let [first, second, _] = form.registers();
    let wide = packed == 1;
    let in_a = pack_registers(first * packed, packed, |i, lane| {
        let (group, thread) = (lane / 4, lane % 4);
        let (row, k) = match wide {
            true => (group + 8 * (i % 2), thread + 4 * (i / 2)),
            false => (group + 8 * (i / 2 % 2), thread * 2 + i % 2 + i / 4 * 8),
        };
        a[row * form.k + k]
    });
    let in_b = pack_registers(second * packed, packed, |i, lane| {
        let (group, thread) = (lane / 4, lane % 4);
        let k = match wide {
            true => thread + 4 * i,
            false => thread * 2 + i % 2 + i / 2 * 8,
        };
        b[k * COLUMNS + group]
    });
    let in_c = pack_registers(4, packed_result, |i, lane| c[accumulator_index(i, lane)]);
    [in_a.collect(), in_b.collect(), in_c.collect()]
}

/// Returns a hash of the bits of all results.
fn hash(form: &Form, numbers: &Numbers, with_wgmma: bool) -> u64 {
    let mut inputs = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..PRODUCT_COUNT {
        let registers = registers_of(form, &numbers.matrices(form, number));
        for (input, registers) in inputs.iter_mut().zip(registers) {
            input.extend(registers);
        }
    }
    let mut machine = Machine::new(&form.ptx(with_wgmma));
    let [a, b, c] = inputs.map(|words| machine.buffer(&words));
    let [_, packed] = form.packed();
    let words = 4 / packed * LANES;
    let out = machine.out::<u32>(PRODUCT_COUNT * words);
    let warps = if with_wgmma { 4 } else { 1 };
    let threads = (warps * LANES) as u32;
    machine.run("k", PRODUCT_COUNT as u32, threads, params![out, a, b, c]);

    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for d in machine
        .read::<u32>(out, PRODUCT_COUNT * words)
        .chunks(words)
    {
        let mut results = [0; ROWS * COLUMNS];
        for lane in 0..LANES {
            for i in 0..4 {
                let word = d[i / packed * LANES + lane] >> (16 * (i % packed));
                results[accumulator_index(i, lane)] =
                    if packed == 2 { word & 0xffff } else { word };
            }
        }
        for word in results {
            hash = (hash ^ u64::from(word)).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

#[test]
fn mma_sums_match_an_h200() {
    let mut actual = String::new();
    for form in &FORMS {
        for numbers in &all_numbers() {
            let _ = writeln!(
                actual,
                "{} {} = {:016x}",
                form.name,
                numbers.name,
                hash(form, numbers, false)
            );
        }
    }
    let expected = H200.lines().filter(|line| !line.starts_with('#'));
    assert!(expected.clone().count() == FORMS.len() * all_numbers().len());
    let mismatches: Vec<_> = expected
        .zip(actual.lines())
        .filter(|(a, b)| a != b)
        .collect();
    assert!(mismatches.is_empty(), "{mismatches:#?}");
}

/// `wgmma` rounds sums as `mma` does. It takes 32 bytes of each row.
#[test]
fn wgmma_sums_match_an_h200() {
    let forms = FORMS.iter().filter(|form| form.addend == F32);
    let forms = forms.filter(|form| form.k * 4 / form.packed()[0] == 32);
    let mut lines = forms.flat_map(|form| {
        all_numbers().into_iter().map(move |numbers| {
            let hash = hash(form, &numbers, true);
            format!("{} {} = {hash:016x}", form.name, numbers.name)
        })
    });
    let mismatches = lines.find(|line| !H200.lines().any(|expected| expected == line));
    assert_eq!(mismatches, None);
}

/// Returns double number `n`: of any size within 2^±20, sometimes infinite or NaN.
fn double(n: usize) -> f64 {
    let bits =
        u64::from(random_bits(2 * n as u64)) << 32 | u64::from(random_bits(2 * n as u64 + 1));
    match bits % 97 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        _ => f64::from_bits(bits & 0x800f_ffff_ffff_ffff | (1003 + bits % 41) << 52),
    }
}

/// Sums of doubles are chains of fused multiply-adds in the order of k. (An H200 computes the same, bit for bit.)
#[test]
fn mma_of_doubles_adds_in_order() {
    for (rows, k) in [(8, 4), (16, 4), (16, 8), (16, 16)] {
        let counts = [
            rows * k / LANES,
            k * COLUMNS / LANES,
            rows * COLUMNS / LANES,
        ];
        let [a, b, c]: [Vec<f64>; 3] = [(0, rows * k), (1000, k * COLUMNS), (2000, rows * COLUMNS)]
            .map(|(first, count)| (first..first + count).map(double).collect());
        // The figures of PTX ISA section 9.7.14.5: the registers of a lane, one after the other.
        let of_lanes = |count: usize, element: &dyn Fn(usize, usize, usize) -> f64| -> Vec<f64> {
            let of_lane = |lane: usize| (0..count).map(move |i| (i, lane / 4, lane % 4));
            let all = (0..LANES).flat_map(of_lane);
            all.map(|(i, group, thread)| element(i, group, thread))
                .collect()
        };
        let groups = rows / 8;
        let in_a = of_lanes(counts[0], &|i, group, thread| {
            a[(group + 8 * (i % groups)) * k + thread + 4 * (i / groups)]
        });
        let in_b = of_lanes(counts[1], &|i, group, thread| {
            b[(thread + 4 * i) * COLUMNS + group]
        });
        let at = |i: usize, group: usize, thread: usize| {
            (group + 8 * (i / 2)) * COLUMNS + 2 * thread + i % 2
        };
        let in_c = of_lanes(counts[2], &|i, group, thread| c[at(i, group, thread)]);

        let mut machine = Machine::new(&double_ptx(rows, k, counts));
        let [p, q, r] = [in_a, in_b, in_c].map(|values| machine.buffer(&values));
        let out = machine.out::<f64>(rows * COLUMNS);
        machine.run("k", 1, LANES as u32, params![out, p, q, r]);
        let actual = machine.read::<f64>(out, rows * COLUMNS);
        let expected = of_lanes(counts[2], &|i, group, thread| {
            let index = at(i, group, thread);
            let (row, column) = (index / COLUMNS, index % COLUMNS);
            (0..k).fold(c[index], |sum, n| {
                a[row * k + n].mul_add(b[n * COLUMNS + column], sum)
            })
        });
        let mut numbers = 0;
        for (actual, expected) in actual.iter().zip(&expected) {
            assert!(
                actual.to_bits() == expected.to_bits() || actual.is_nan() && expected.is_nan(),
                "m{rows}n8k{k}: {actual} instead of {expected}"
            );
            numbers += u32::from(expected.is_finite());
        }
        assert!(numbers > 0);
    }
}

/// Returns a kernel that loads the registers of each lane from `a`, `b` and `c`, multiplies and stores the result to `p`.
fn double_ptx(rows: usize, k: usize, [first, second, results]: [usize; 3]) -> String {
    let mut body = String::from(
        ".reg .f64 %a<8>, %b<4>, %c<4>, %e<4>; .reg .u64 %q<4>; .reg .u32 %l;\nmov.u32 %l, %tid.x;\n",
    );
    let list = |name: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("%{name}{i}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    for (n, (name, count)) in [("a", first), ("b", second), ("c", results), ("p", results)]
        .into_iter()
        .enumerate()
    {
        let _ = writeln!(
            body,
            "ld.param.u64 %q{n}, [{name}]; mad.wide.u32 %q{n}, %l, {}, %q{n};",
            8 * count
        );
        if name != "p" {
            for i in 0..count {
                let _ = writeln!(body, "ld.global.f64 %{name}{i}, [%q{n}+{}];", 8 * i);
            }
        }
    }
    let [a, b, c, d] = [("a", first), ("b", second), ("c", results), ("e", results)]
        .map(|(name, count)| list(name, count));
    let _ = writeln!(
        body,
        "mma.sync.aligned.m{rows}n8k{k}.row.col.f64.f64.f64.f64 {d}, {a}, {b}, {c};"
    );
    for i in 0..results {
        let _ = writeln!(body, "st.global.f64 [%q3+{}], %e{i};", 8 * i);
    }
    let parameters = ".param .u64 p, .param .u64 a, .param .u64 b, .param .u64 c";
    for_hopper(&module_of("", &body).replace(".param .u64 p", parameters))
}
