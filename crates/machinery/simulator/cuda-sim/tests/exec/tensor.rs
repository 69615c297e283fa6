//! Tensor cores: results compared with those of an H200, bit for bit, and rejected forms.

use crate::harness::*;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::FaultKind;
use cuda_sim::isa::AccessClass;
use cuda_sim::memory::global::Global;

/// Returns a kernel in which each thread stores four words.
fn four_words(body: &str) -> String {
    module_of(
        "",
        &format!(
            ".shared .align 16 .b16 tile[1024];
    {body}
    mad.wide.u32 %mine, %t, 16, %out;
    st.global.v4.b32 [%mine], {{%r1, %r2, %r3, %r4}};"
        ),
    )
}

fn run(body: &str) -> Vec<u32> {
    let mut machine = Machine::new(&four_words(body));
    let out = machine.out::<u32>(128);
    machine.run("k", 1, 32, params![out]);
    machine.read(out, 128)
}

/// Returns the sum of a row of products and an addend. All rows of A, and all columns of B, are equal.
fn sum_of_products(form: &str, packed: usize, products: &[(u32, u32)], addend: u32) -> u32 {
    // Element `k` is in thread `k % elements_per_group / packed` of each group of four.
    let elements_per_group = 4 * packed;
    let mut body = String::new();
    let registers = products.len() / elements_per_group;
    for register in 0..registers.max(1) {
        for (base, side) in [(8, 0), (16, 1)] {
            let target = base + register;
            body += &format!("mov.u32 %r{target}, 0; and.b32 %r20, %t, 3;\n");
            for thread in 0..4 {
                let mut bits = 0;
                for part in 0..packed {
                    let product = products[register * elements_per_group + thread * packed + part];
                    bits |= [product.0, product.1][side] << (16 * part);
                }
                body +=
                    &format!("setp.eq.u32 %p1, %r20, {thread}; @%p1 mov.u32 %r{target}, {bits};\n");
            }
        }
    }
    // Both halves of the rows of A are equal.
    let a: Vec<String> = (0..registers)
        .flat_map(|r| [r, r])
        .map(|r| format!("%r{}", 8 + r))
        .collect();
    let b: Vec<String> = (0..registers).map(|r| format!("%r{}", 16 + r)).collect();
    let is_f16 = form.ends_with(".f16");
    let (d, c) = if is_f16 {
        ("%r1, %r2", "%r5, %r5")
    } else {
        ("%r1, %r2, %r3, %r4", "%r5, %r5, %r5, %r5")
    };
    let addend = if is_f16 {
        addend << 16 | addend
    } else {
        addend
    };
    body += &format!(
        "mov.u32 %r5, {addend}; mov.u32 %r3, 0; mov.u32 %r4, 0;
    mma.sync.aligned.{form} {{{d}}}, {{{}}}, {{{}}}, {{{c}}};",
        a.join(", "),
        b.join(", ")
    );
    let actual = run(&body);
    let first = actual[0];
    for row in actual.chunks(4) {
        assert_eq!(row[0], first);
        assert_eq!(row[1], first);
    }
    if is_f16 { first & 0xffff } else { first }
}

/// Sums recorded on an NVIDIA H200: the cases in which almost correct rounding rules fail.
#[test]
fn sums_are_rounded_like_on_an_h200() {
    type Case<'a> = (&'a str, usize, u32, &'a [(u32, u32)], u32);
    let tf32 = "m16n8k4.row.col.f32.tf32.tf32.f32";
    let tf32_k8 = "m16n8k8.row.col.f32.tf32.tf32.f32";
    let bf16 = "m16n8k8.row.col.f32.bf16.bf16.f32";
    let f16 = "m16n8k8.row.col.f16.f16.f16.f16";
    let cases: [Case; 9] = [
        (
            tf32_k8,
            1,
            0x8000_0131,
            &[
                (0x4e665, 0xe552),
                (0x4de4b, 0x4e219),
                (0xe196, 0xe707),
                (0x4d8a8, 0xdabd),
                (0x4cf4a, 0x4e683),
                (0xd525, 0x4d5b3),
                (0x4da4b, 0xd004),
                (0x4cb55, 0x4d7c5),
            ],
            0,
        ),
        (
            tf32_k8,
            1,
            0x8000_01a3,
            &[
                (0x4cc00, 0xc86d),
                (0xd3df, 0x4cdd5),
                (0x4df28, 0x4d2b6),
                (0xd0ab, 0x4d888),
                (0x4e2fa, 0xe38b),
                (0x4d163, 0xde67),
                (0x4c966, 0x4d80b),
                (0xcd1f, 0xd06f),
            ],
            0x8000_0000,
        ),
        (
            tf32,
            1,
            0x8000_012c,
            &[
                (0xd75a, 0xd844),
                (0xe0fd, 0x4d546),
                (0xde4d, 0x4e5f2),
                (0x4e4d5, 0x4cf83),
            ],
            0,
        ),
        (
            tf32,
            1,
            0x0000_0107,
            &[
                (0x4e021, 0xdd84),
                (0x4e772, 0x4dd87),
                (0xe0ca, 0xd2a5),
                (0xc9db, 0xe6ce),
            ],
            0,
        ),
        (
            tf32,
            1,
            0,
            &[
                (0xc93e, 0x4dac1),
                (0x4dc84, 0xcd0b),
                (0x4d081, 0x4d0d5),
                (0x4d7c7, 0xe2be),
            ],
            0x37,
        ),
        (
            tf32,
            1,
            0,
            &[(0, 0x40000), (0, 0x40000), (0x50ef8, 0), (0x2ed15, 0x40000)],
            0x8000_0000,
        ),
        (
            bf16,
            2,
            0x8000_02aa,
            &[
                (0x9cb4, 0x1c68),
                (0x9b9a, 0x9a23),
                (0x9c34, 0x1b03),
                (0x1c00, 0x1b4b),
                (0x9ab4, 0x1c37),
                (0x9cb8, 0x194f),
                (0x196f, 0x1a0c),
                (0x9957, 0x9b08),
            ],
            0x8000_0000,
        ),
        (
            bf16,
            2,
            0x0000_03b1,
            &[
                (0x1c74, 0x9aff),
                (0x1cc7, 0x1c3b),
                (0x19ea, 0x9968),
                (0x9906, 0x99e6),
                (0x9a01, 0x1b6c),
                (0x9a1a, 0x1c46),
                (0x9c8b, 0x9c4e),
                (0x99c3, 0x1bb9),
            ],
            0x8000_0000,
        ),
        (
            f16,
            2,
            0,
            &[
                (0xb898, 0xa83b),
                (0x3898, 0xa83b),
                (0xa40, 0x1774),
                (0x8a40, 0x1774),
                (0x2fd3, 0x3bff),
                (0xafd3, 0x3bff),
                (0xbbff, 0x2d04),
                (0x3bff, 0x2d05),
            ],
            0x8400,
        ),
    ];
    for (form, packed, expected, products, addend) in cases {
        // A tf32 ignores the low 13 of its 32 bits.
        let shift = if packed == 1 { 13 } else { 0 };
        for low in [0, (1 << shift) - 1] {
            let products: Vec<(u32, u32)> = products
                .iter()
                .map(|&(a, b)| (a << shift | low, b << shift | low))
                .collect();
            let actual = sum_of_products(form, packed, &products, addend);
            assert_eq!(
                actual, expected,
                "{form} {products:x?} + {addend:#x}: {actual:#x}"
            );
        }
    }
}

#[test]
fn infinities_and_nan_propagate() {
    let form = "m16n8k4.row.col.f32.tf32.tf32.f32";
    let (one, zero, infinity, nan) = (0x3f80_0000, 0, 0x7f80_0000, 0x7fc0_0000);
    let negative = infinity | 1 << 31;
    for (products, addend, expected) in [
        (
            [(one, one), (one, infinity), (one, one), (zero, one)],
            one,
            infinity,
        ),
        (
            [(one, one), (one, negative), (one, one), (zero, one)],
            negative,
            negative,
        ),
        (
            [(one, one), (one, negative), (one, one), (zero, one)],
            infinity,
            0x7fff_ffff,
        ),
        (
            [(one, one), (zero, infinity), (one, one), (zero, one)],
            one,
            0x7fff_ffff,
        ),
        (
            [(one, nan), (zero, one), (one, one), (zero, one)],
            one,
            0x7fff_ffff,
        ),
        (
            [
                (0x7f00_0000, 0x7f00_0000),
                (one, one),
                (one, one),
                (zero, one),
            ],
            one,
            infinity,
        ),
    ] {
        assert_eq!(
            sum_of_products(form, 1, &products, addend),
            expected,
            "{products:x?}"
        );
    }
}

#[test]
fn ldmatrix_loads_rows_and_transposes() {
    // Element `i` of shared memory is `i`; rows are 16 bytes apart, in reverse order.
    let fill = "mov.u32 %r9, 0;
    FILL: mad.lo.u32 %r10, %r9, 32, %t; mov.u64 %d1, tile; mad.wide.u32 %d1, %r10, 2, %d1;
    cvt.u16.u32 %h1, %r10; st.shared.u16 [%d1], %h1;
    add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 32; @%p1 bra FILL;
    bar.warp.sync 0xffffffff;
    sub.u32 %r11, 31, %t; mov.u64 %d1, tile; mad.wide.u32 %d1, %r11, 16, %d1;
    mov.u32 %r1, 9; mov.u32 %r2, 9; mov.u32 %r3, 9; mov.u32 %r4, 9;";
    for (count, registers) in [(1, "%r1"), (2, "%r1, %r2"), (4, "%r1, %r2, %r3, %r4")] {
        for transposed in [false, true] {
            let trans = if transposed { ".trans" } else { "" };
            let body = format!(
                "{fill} ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{registers}}}, [%d1+0];"
            );
            let actual = run(&body);
            for lane in 0..32u32 {
                for matrix in 0..4 {
                    let element = |row: u32, column: u32| (31 - (matrix * 8 + row)) * 8 + column;
                    let (group, pair) = (lane / 4, lane % 4 * 2);
                    let expected = match (matrix < count, transposed) {
                        (false, _) => 9,
                        (true, false) => element(group, pair) | element(group, pair + 1) << 16,
                        (true, true) => element(pair, group) | element(pair + 1, group) << 16,
                    };
                    let index = (lane * 4 + matrix) as usize;
                    assert_eq!(
                        actual[index], expected,
                        "x{count}{trans} lane {lane} matrix {matrix}"
                    );
                }
            }
        }
    }
}

#[test]
fn ldmatrix_is_counted_and_checked() {
    let load = |step: u32, offset: u32| {
        format!(
            "mov.u64 %d1, tile; mad.wide.u32 %d1, %t, {step}, %d1; mov.u32 %r9, 0;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r1, %r2, %r3, %r4}}, [%d1+{offset}];"
        )
    };
    let mut machine = Machine::profiling(&four_words(&load(32, 0)));
    let out = machine.out::<u32>(128);
    let tally = total(&machine.run("k", 1, 32, params![out]));
    let loads = tally[AccessClass::MatrixLoad];
    assert_eq!(
        (loads.requests, loads.wavefronts, loads.conflicts),
        (1, 8, 4)
    );
    assert_eq!(
        (
            loads.threads,
            loads.bytes,
            tally[AccessClass::SharedLoad].requests
        ),
        (32, 512, 0)
    );
    for (step, offset) in [(16, 8), (128, 0)] {
        let mut machine = Machine::new(&four_words(&load(step, offset)));
        let out = machine.out::<u32>(128);
        let fault = machine.fault("k", 1, 32, params![out]);
        let is_expected = match fault.kind {
            FaultKind::MisalignedAddress { bytes: 16, .. } => offset == 8,
            FaultKind::IllegalAddress { address: 2048, .. } => offset == 0,
            _ => false,
        };
        assert!(is_expected, "{fault}");
    }
    let mut machine = Machine::new(&four_words(&load(16, 0)));
    let out = machine.out::<u32>(128);
    let fault = machine.fault("k", 1, 31, params![out]);
    assert_eq!(
        fault.kind,
        FaultKind::WarpIncomplete {
            alive: u32::MAX >> 1
        }
    );
}

#[test]
fn mma_is_counted_once_per_warp() {
    let body = "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
        {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4};
    mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, {%r1}, {%r1, %r2};";
    let mut machine = Machine::profiling(&four_words(body));
    let out = machine.out::<u32>(3 * 96 * 4);
    let report = machine.run("k", 3, 96, params![out]);
    let profile = record(&report).profile.as_ref();
    let profile = profile.expect("the launch has no profile");
    let counted = profile.metric("smsp__inst_executed_pipe_tensor_op_hmma.sum");
    assert_eq!(counted, Some(3 * 3 * 2));
}

#[test]
fn tf32_conversion_rounds_like_an_h200() {
    let mut cases = vec![
        (0x3f80_0fff, 0x3f80_0000),
        (0x3f80_1000, 0x3f80_2000),
        (0xbf80_1000, 0xbf80_2000),
        (0x3fff_ffff, 0x4000_0000),
        (0x7f7f_ffff, 0x7f80_0000),
        (0x7f7f_efff, 0x7f7f_e000),
        (0xff80_0000, 0xff80_0000),
        (0x007f_ffff, 0x0080_0000),
        (0x8000_0fff, 0x8000_0000),
        (0x7fff_ffff, 0x7fff_e000),
        (0x7f80_ffff, 0x7f80_e000),
        (0xffc0_1234, 0xffc0_0000),
    ];
    // The rounding error never exceeds half a unit of the kept bits.
    for bits in noise(64) {
        let bits = bits & 0x7eff_ffff;
        cases.push((bits, (bits + 0x1000) & !0x1fff));
    }
    for (bits, expected) in cases {
        let body =
            format!("mov.b32 %r2, {bits}; cvt.rna.tf32.f32 %r1, %r2; st.global.b32 [%mine], %r1;");
        let actual = words(&module_of("", &body), 1).unwrap();
        assert_eq!(actual, [expected], "{bits:#x}");
    }
}

#[test]
fn invalid_forms_are_rejected_with_their_line() {
    let tf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
    for (instruction, expected) in [
        (
            format!(
                "{tf32} {{%r1, %r2}}, {{%r1, %r2, %r3, %r4}}, {{%r1, %r2}}, {{%r1, %r2, %r3, %r4}};"
            ),
            "expected a vector of 4 registers, found 2",
        ),
        (
            format!("{tf32} {{%r1, %r2, %r3, %r4}}, {{%r1, %r2, %r3, %r4}}, {{%r1, %r2}};"),
            "takes 4 operands",
        ),
        (
            format!(
                "{tf32} {{%d1, %r2, %r3, %r4}}, {{%r1, %r2, %r3, %r4}}, {{%r1, %r2}}, {{%r1, %r2, %r3, %r4}};"
            ),
            "64 bits wide",
        ),
        (
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1, %d2}, {%d3}, {%d4}, {%d1, %d2};"
                .into(),
            "is not simulated",
        ),
        (
            "mma.sync.aligned.m16n8k8.row.row.f32.tf32.tf32.f32 %r1, %r2, %r3, %r4;".into(),
            "is not simulated",
        ),
        (
            "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1, %r2, %r3}, [tile];".into(),
            "is not simulated",
        ),
        (
            "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [tile];".into(),
            "a vector of 2 registers, found 1",
        ),
        ("cvt.rn.tf32.f32 %r1, %r2;".into(), ".rna"),
    ] {
        let ptx = four_words(&instruction);
        assert_load_error_at(&ptx, &instruction, expected);
    }
    let old = four_words(&format!(
        "{tf32} {{%r1, %r2, %r3, %r4}}, {{%r1, %r2, %r3, %r4}}, {{%r1, %r2}}, {{%r1, %r2, %r3, %r4}};"
    ));
    assert_load_error(&old.replace("sm_80", "sm_75"), "requires `.target sm_80`");
}

#[test]
fn module_for_sm_80_is_rejected_on_older_gpus() {
    for device in ["gtx970", "p2000"] {
        let device = DeviceSpec::named(device).expect("no such preset");
        let mut global = Global::new(1 << 20);
        let error = cuda_sim::lower::load(&four_words(""), device, &mut global)
            .err()
            .expect("the module was loaded");
        assert!(
            error.to_string().contains("the module is for sm_80"),
            "{error}"
        );
    }
}
