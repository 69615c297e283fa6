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
    let a = (0..registers).map(|r| format!("%r{0}, %r{0}", 8 + r));
    let a: Vec<String> = a.collect();
    let b: Vec<String> = (0..registers).map(|r| format!("%r{}", 16 + r)).collect();
    let is_f16 = form.ends_with(".f16");
    let (d, c) = if is_f16 {
        ("%r1, %r2", "%r5, %r5")
    } else {
        ("%r1, %r2, %r3, %r4", "%r5, %r5, %r5, %r5")
    };
    let addend = addend | if is_f16 { addend << 16 } else { 0 };
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
    // The form, the products and the addend, in hexadecimal.
    for (case, expected) in cases(
        "
        k8 f32.tf32.tf32.f32 4e665*e552 4de4b*4e219 e196*e707 4d8a8*dabd 4cf4a*4e683 d525*4d5b3 4da4b*d004 4cb55*4d7c5 0 => 80000131
        k8 f32.tf32.tf32.f32 4cc00*c86d d3df*4cdd5 4df28*4d2b6 d0ab*4d888 4e2fa*e38b 4d163*de67 4c966*4d80b cd1f*d06f 80000000 => 800001a3
        k4 f32.tf32.tf32.f32 d75a*d844 e0fd*4d546 de4d*4e5f2 4e4d5*4cf83 0 => 8000012c
        k4 f32.tf32.tf32.f32 4e021*dd84 4e772*4dd87 e0ca*d2a5 c9db*e6ce 0 => 107
        k4 f32.tf32.tf32.f32 c93e*4dac1 4dc84*cd0b 4d081*4d0d5 4d7c7*e2be 37 => 0
        k4 f32.tf32.tf32.f32 0*40000 0*40000 50ef8*0 2ed15*40000 80000000 => 0
        k8 f32.bf16.bf16.f32 9cb4*1c68 9b9a*9a23 9c34*1b03 1c00*1b4b 9ab4*1c37 9cb8*194f 196f*1a0c 9957*9b08 80000000 => 800002aa
        k8 f32.bf16.bf16.f32 1c74*9aff 1cc7*1c3b 19ea*9968 9906*99e6 9a01*1b6c 9a1a*1c46 9c8b*9c4e 99c3*1bb9 80000000 => 3b1
        k8 f16.f16.f16.f16 b898*a83b 3898*a83b a40*1774 8a40*1774 2fd3*3bff afd3*3bff bbff*2d04 3bff*2d05 8400 => 0
    ",
    ) {
        let fields: Vec<&str> = case.split(' ').collect();
        let [k, types, products @ .., addend] = &fields[..] else {
            panic!("{case}");
        };
        let form = format!("m16n8{k}.row.col.{types}");
        let packed = if types.contains("tf32") { 1 } else { 2 };
        let hexadecimal = |text| u32::from_str_radix(text, 16).expect("not hexadecimal");
        let products = products.iter().map(|product| {
            let (a, b) = product.split_once('*').expect("not a product");
            (hexadecimal(a), hexadecimal(b))
        });
        // A tf32 ignores the low 13 of its 32 bits.
        let shift = if packed == 1 { 13 } else { 0 };
        for low in [0, (1 << shift) - 1] {
            let products = products.clone();
            let products = products.map(|(a, b)| (a << shift | low, b << shift | low));
            let products: Vec<(u32, u32)> = products.collect();
            let actual = sum_of_products(&form, packed, &products, hexadecimal(addend));
            assert_eq!(actual, hexadecimal(expected), "{case}, low bits {low:x}: {actual:x}");
        }
    }
}

#[test]
fn infinities_and_nan_propagate() {
    let form = "m16n8k4.row.col.f32.tf32.tf32.f32";
    let (one, zero, infinity, nan) = (0x3f80_0000, 0, 0x7f80_0000, 0x7fc0_0000);
    let negative = infinity | 1 << 31;
    let large = 0x7f00_0000;
    // Two products; the others are 1 and 0.
    for (first, second, addend, expected) in [
        ((one, one), (one, infinity), one, infinity),
        ((one, one), (one, negative), negative, negative),
        ((one, one), (one, negative), infinity, 0x7fff_ffff),
        ((one, one), (zero, infinity), one, 0x7fff_ffff),
        ((one, nan), (zero, one), one, 0x7fff_ffff),
        ((large, large), (one, one), one, infinity),
    ] {
        let products = [first, second, (one, one), (zero, one)];
        let actual = sum_of_products(form, 1, &products, addend);
        assert_eq!(actual, expected, "{products:x?}");
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
    let wavefronts = (loads.requests, loads.wavefronts, loads.conflicts);
    assert_eq!(wavefronts, (1, 8, 4));
    assert_eq!((loads.threads, loads.bytes), (32, 512));
    assert_eq!(tally[AccessClass::SharedLoad].requests, 0);
    let fault = |step: u32, offset: u32, threads: u32| {
        let mut machine = Machine::new(&four_words(&load(step, offset)));
        let out = machine.out::<u32>(128);
        machine.fault("k", 1, threads, params![out])
    };
    for (step, offset) in [(16, 8), (128, 0)] {
        let fault = fault(step, offset, 32);
        let is_expected = match fault.kind {
            FaultKind::MisalignedAddress { bytes: 16, .. } => offset == 8,
            FaultKind::IllegalAddress { address: 2048, .. } => offset == 0,
            _ => false,
        };
        assert!(is_expected, "{fault}");
    }
    let alive = u32::MAX >> 1;
    assert_eq!(fault(16, 0, 31).kind, FaultKind::WarpIncomplete { alive });
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
    for (instruction, expected) in cases(
        r"
        TF32 {%r1, %r2}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4}; => expected a vector of 4 registers, found 2
        TF32 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}; => takes 4 operands
        TF32 {%d1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4}; => 64 bits wide
        mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2}; => is not simulated
        mma.sync.aligned.m16n8k8.row.row.f32.tf32.tf32.f32 %r1, %r2, %r3, %r4; => is not simulated
        ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1, %r2, %r3}, [tile]; => is not simulated
        ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [tile]; => a vector of 2 registers, found 1
        cvt.rn.tf32.f32 %r1, %r2; => .rna
    ",
    ) {
        let instruction = instruction.replace("TF32", tf32);
        assert_load_error_at(&four_words(&instruction), &instruction, expected);
    }
    let four = "{%r1, %r2, %r3, %r4}";
    let old = four_words(&format!("{tf32} {four}, {four}, {{%r1, %r2}}, {four};"));
    assert_load_error(&old.replace("sm_80", "sm_75"), "requires `.target sm_80`");
}

#[test]
fn module_for_sm_80_is_rejected_on_older_gpus() {
    for device in ["gtx970", "p2000"] {
        let device = DeviceSpec::named(device).expect("no such preset");
        let mut global = Global::new(1 << 20);
        let loaded = cuda_sim::lower::load(&four_words(""), device, &mut global);
        let message = loaded.err().expect("the module was loaded").to_string();
        assert!(message.contains("the module is for sm_80"), "{message}");
    }
}
