//! PTX syntax other than instructions: vectors of registers, functions with register parameters, aliases of
//! functions, variables in functions, single bytes of addresses.

use crate::harness::*;

/// Returns the word that each thread of the kernel with this body stores.
fn run(before: &str, body: &str, threads: u32) -> Vec<u32> {
    words(&module_of(before, body), threads).expect("the kernel faulted")
}

/// Returns the expected word of each thread.
fn expected_words(threads: u32, f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..threads).map(f).collect()
}

#[test]
fn register_vectors_are_read_and_written() {
    for threads in BLOCK_SIZES {
        let body = "
            .reg .v4 .b32 v, %w<3>;
            .reg .v2 .u32 pair;
            .shared .align 16 .b32 tile[1024];
            shl.b32 %r1, %t, 4; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;
            mov.b32 v.x, %t; add.u32 v.y, %t, 10; add.u32 v.b, v.y, 10; mov.b32 v.w, 7;
            st.shared.v4.b32 [%r2], v;
            ld.shared.v4.b32 %w2, [%r2];
            ld.shared.v2.u32 pair, [%r2+8];
            mad.lo.u32 %r3, %w2.r, 1000000, pair.x;
            mad.lo.u32 %r3, %w2.y, 1000, %r3;
            add.u32 %r3, %r3, pair.y;
            setp.gt.u32 %p1, %t, 3;
            @%p1 add.u32 %r3, %r3, %w2.a;
            st.global.u32 [%mine], %r3;";
        assert_words(&module_of("", body), threads, |t| {
            let sum = t * 1_000_000 + t + 20 + (t + 10) * 1000 + 7;
            if t > 3 { sum + 7 } else { sum }
        });
    }
}

#[test]
fn invalid_vector_elements_are_rejected() {
    for body in [
        ".reg .v2 .b32 v; mov.b32 %r1, v.z;",
        ".reg .v2 .b32 v; mov.b32 %r1, v.q;",
        ".reg .v2 .b32 %v<2>; mov.b32 %r1, %v2.x;",
        ".reg .v4 .b32 v; ld.global.v2.b32 v, [%out];",
        ".reg .v4 .b32 v; add.u32 v, %r1, %r2;",
        ".reg .v4 .b32 v; .reg .v2 .b32 v;",
        "mov.b32 %r1, %r2.x;",
    ] {
        let error = load_error(&kernel_of(body)).to_string();
        assert!(error.starts_with("line "), "{body}: {error}");
    }
}

const SPLIT_PTX: &str = "
    .func (.reg .u32 quotient, .reg .u32 rest, .reg .pred even) split(
        .reg .u32 a, .reg .u32 b, .reg .pred swap) {
        @swap add.u32 b, b, 1;
        div.u32 quotient, a, b;
        rem.u32 rest, a, b;
        and.b32 a, quotient, 1;
        setp.eq.u32 even, a, 0;
        @even ret;
        add.u32 rest, rest, 100;
        ret;
    }";

/// Returns the results of `split_reference`, combined into one number.
fn split_reference(a: u32, b: u32, swap: bool) -> u32 {
    let b = b + u32::from(swap);
    let (quotient, remainder) = (a / b, a % b);
    let even = quotient % 2 == 0;
    quotient * 1_000_000 + (if even { remainder } else { remainder + 100 }) * 10 + u32::from(even)
}

#[test]
fn functions_take_and_return_registers() {
    for threads in BLOCK_SIZES {
        let body = "
            and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1;
            add.u32 %r2, %t, 500;
            call (%r3, %r4, %p2), split, (%r2, 7, %p1);
            selp.u32 %r5, 1, 0, %p2;
            mad.lo.u32 %r5, %r4, 10, %r5;
            mad.lo.u32 %r5, %r3, 1000000, %r5;
            st.global.u32 [%mine], %r5;";
        assert_words(&module_of(SPLIT_PTX, body), threads, |t| {
            split_reference(t + 500, 7, t % 2 == 1)
        });
    }
}

#[test]
fn register_parameters_work_in_indirect_and_nested_calls() {
    let before = format!(
        "{SPLIT_PTX}
        .func (.reg .b64 wide) again(.reg .b16 small, .reg .f64 real) {{
            .reg .b32 %q<4>; .reg .pred %p<3>; .reg .b64 %l;
            cvt.u32.u16 %q1, small;
            setp.ne.b32 %p1, %q1, %q1;
            call (%q2, %q3, %p2), split, (%q1, 3, %p1);
            mad.wide.u32 %l, %q2, 1000, 0;
            cvt.rni.u64.f64 wide, real;
            add.u64 wide, wide, %l;
        }}"
    );
    let body = "
        mov.u64 %d1, again;
        cvt.u16.u32 %h1, %t;
        call (%d2), %d1, (%h1, 0d4010000000000000), NAMED;
        NAMED: .callprototype (.reg .b64 _) _ (.reg .b16 _, .reg .f64 _);
        cvt.u32.u64 %r1, %d2;
        st.global.u32 [%mine], %r1;";
    // The prototype must precede the call.
    let (call, remainder) = body.split_once("NAMED;").expect("no such text");
    let (prototype, remainder) = remainder.split_once("_);").expect("no such text");
    let (moves, call) = call.split_once("call").expect("no such text");
    let body = format!("{moves} {prototype}_); call{call}NAMED; {remainder}");
    assert_words(&module_of(&before, &body), 100, |t| t / 3 * 1000 + 4);
}

#[test]
fn alias_calls_the_aliased_function() {
    let before = "
        .visible .func (.param .b32 r) twice(.param .b32 a) {
            .reg .b32 %q; ld.param.b32 %q, [a]; shl.b32 %q, %q, 1; st.param.b32 [r], %q; ret; }
        .visible .func (.param .b32 r) doubled(.param .b32 a);
        .alias doubled, twice;";
    let body = "{ .param .b32 x; .param .b32 y;
        st.param.b32 [x], %t; call (y), doubled, (x); ld.param.b32 %r1, [y]; }
        st.global.u32 [%mine], %r1;";
    assert_words(&module_of(before, body), 33, |t| 2 * t);
    let before = ".func f() { ret; } .func g; .alias g, missing;";
    assert_load_error(&module_of(before, ""), "`missing` is not a function");
}

#[test]
fn function_global_variables_are_shared_and_scoped() {
    let before = "
        .func (.param .b32 r) count() {
            .global .u32 calls = 40; .reg .b32 %q;
            atom.global.add.u32 %q, [calls], 1; st.param.b32 [r], %q; ret; }";
    let body = "
        .global .align 4 .u32 calls[2] = {5, 6};
        { .param .b32 x; call (x), count; ld.param.b32 %r1, [x]; }
        mov.u64 %d1, calls; ld.global.u32 %r2, [%d1+4];
        mad.lo.u32 %r1, %r2, 100, %r1;
        st.global.u32 [%mine], %r1;";
    let mut sums = run(before, body, 32);
    sums.sort_unstable();
    assert_eq!(sums, expected_words(32, |t| 640 + t));
}

#[test]
fn initializers_may_use_single_address_bytes() {
    let before = "
        .visible .global .attribute(.managed) .align 8 .u32 there[4] = {1, 2, 77, 4};
        .global .align 1 .b8 packed[9] = {9, 0xFF(there+8), 0xFF00(there+8), 0xFF0000(there+8),
            0xFF000000(there+8), 0xFF00000000(generic(there)+8), 0xFF0000000000(there+8),
            0xFF000000000000(there+8), 0xFF00000000000000(there+8)};";
    let mut body = "mov.u64 %d1, packed; mov.u64 %d2, 0;".to_owned();
    for byte in 0..8 {
        body += &format!(
            "ld.global.u8 %d3, [%d1+{}]; shl.b64 %d3, %d3, {}; or.b64 %d2, %d2, %d3;",
            byte + 1,
            8 * byte
        );
    }
    body += "ld.global.u32 %r1, [%d2]; st.global.u32 [%mine], %r1;";
    assert_eq!(run(before, &body, 1), [77]);
}

#[test]
fn driver_defined_registers_read_zero() {
    for name in [
        "%envreg0",
        "%envreg31",
        "%tid.w",
        "%ntid.w",
        "%nctaid.w",
        "%pm7",
    ] {
        let body = format!("mov.u32 %r1, {name}; st.global.u32 [%mine], %r1;");
        assert_eq!(run("", &body, 2), [0, 0], "{name}");
    }
    assert_load_error(&kernel_of("mov.u32 %r1, %envreg32;"), "%envreg32");
}

#[test]
fn file_names_may_contain_quotes_and_backslashes() {
    for name in [r#"C:\kernels\"#, r#"a\"b.cu"#, r"C:\kernels\k.cu"] {
        let file = format!(".file 1 \"{name}\"\n.file 2 \"other.cu\"");
        let body = ".loc 1 2 3\nst.global.u32 [%mine], %t;";
        assert_eq!(run(&file, body, 3), [0, 1, 2], "{name}");
    }
}

#[test]
fn cache_policies_change_no_result() {
    let body = "
        createpolicy.fractional.L2::evict_last.b64 %d1, 0.5;
        createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d1;
        createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d2, [%out], 64, 128;
        createpolicy.cvt.L2.b64 %d3, %d2;
        st.global.L2::cache_hint.u32 [%mine], %t, %d1;
        red.global.add.L2::cache_hint.u32 [%mine], 5, %d1;
        atom.global.add.L2::cache_hint.u32 %r1, [%mine], 5, %d2;
        ld.global.L1::evict_last.L2::cache_hint.u32 %r2, [%mine], %d3;
        add.u32 %r1, %r1, %r2;
        st.global.L2::evict_last.u32 [%mine], %r1;";
    assert_words(&module_of("", body), 33, |t| 2 * t + 15);
    for body in [
        "ld.global.L2::cache_hint.u32 %r1, [%out];",
        "ld.global.L2::cache_hint.u32 %r1, [%out], %r2;",
        "st.global.u32 [%out], %r1, %d1;",
        "createpolicy.fractional.L2::evict_last.b64;",
        "createpolicy.L2::evict_last.b64 %d1;",
        "createpolicy.range.L2::evict_last.b64 %d1, 5;",
    ] {
        let error = load_error(&kernel_of(body)).to_string();
        assert!(error.starts_with("line "), "{body}: {error}");
    }
}

#[test]
fn ldmatrix_takes_generic_addresses() {
    let body = |space: &str, address: &str| {
        format!(
            ".shared .align 16 .b32 tile[32];
            mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r2, %r1, %r2;
            mul.lo.u32 %r3, %t, 65537; st.shared.u32 [%r2], %r3;
            bar.warp.sync -1;
            and.b32 %r4, %t, 7; shl.b32 %r4, %r4, 4; add.u32 %r4, %r1, %r4;
            cvt.u64.u32 %d1, %r4; cvta.shared.u64 %d2, %d1;
            ldmatrix.sync.aligned.m8n8.x1{space}.b16 {{%r5}}, [{address}];
            st.global.u32 [%mine], %r5;"
        )
    };
    let explicit = run("", &body(".shared", "%d1"), 32);
    assert_eq!(run("", &body("", "%d2"), 32), explicit);
    assert_eq!(explicit, expected_words(32, |t| t * 65537));
    let fault = words(&kernel_of(&body("", "%out")), 32).expect_err("the address did not fault");
    illegal(&fault);
}

#[test]
fn f32x2_and_three_input_min_max_are_correct() {
    let body = "
        cvt.rn.f32.u32 %r1, %t; mov.b64 %d1, {%r1, 0f3F000000};
        mov.b64 %d2, {0f40000000, 0f40400000};
        add.f32x2 %d3, %d1, %d2; mul.rn.f32x2 %d3, %d3, %d2;
        sub.rz.ftz.f32x2 %d3, %d3, %d1; fma.rn.f32x2 %d3, %d3, %d2, %d1;
        mov.b64 {%r2, %r3}, %d3;
        max.f32 %r4, %r2, %r3, 0f42C80000; min.NaN.abs.f32 %r5, %r2, %r3, 0fC1100000;
        add.f32 %r4, %r4, %r5;
        cvt.rzi.u32.f32 %r4, %r4; st.global.u32 [%mine], %r4;";
    let ptx = kernel_of(body).replace(
        ".version 7.0\n.target sm_80",
        ".version 8.6\n.target sm_100a",
    );
    assert_words(&ptx, 33, |t| {
        let packed_result = |a: f32, b: f32| ((a + b) * b - a).mul_add(b, a);
        let (low, high) = (packed_result(t as f32, 2.0), packed_result(0.5, 3.0));
        (low.max(high).max(100.0) + low.min(high).min(9.0)) as u32
    });
}

#[test]
fn redux_of_floats_is_correct() {
    let run = |form: &str| {
        let body = format!(
            "cvt.rn.f32.u32 %r1, %t; sub.f32 %r1, %r1, 0f41A00000;
            setp.eq.u32 %p1, %t, 5; @%p1 mov.b32 %r1, 0x7fc00001;
            redux.sync.{form}.f32 %r2, %r1, -1;
            st.global.u32 [%mine], %r2;"
        );
        let ptx = kernel_of(&body).replace(
            ".version 7.0\n.target sm_80",
            ".version 8.6\n.target sm_100a",
        );
        let results = words(&ptx, 32).expect("the kernel faulted");
        assert!(
            results.iter().all(|word| *word == results[0]),
            "{form}: {results:x?}"
        );
        results[0]
    };
    // The values are -20 to 11, and a NaN.
    assert_eq!(run("max"), 11f32.to_bits());
    assert_eq!(run("min"), (-20f32).to_bits());
    assert_eq!(run("max.abs"), 20f32.to_bits());
    assert_eq!(run("min.abs"), 0f32.to_bits());
    assert_eq!(run("max.NaN"), 0x7fff_ffff);
    assert_eq!(run("min.abs.NaN"), 0x7fff_ffff);
    let error = load_error(&kernel_of("redux.sync.max.abs.s32 %r1, %r2, -1;"));
    assert!(error.to_string().contains("redux"), "{error}");
}

#[test]
fn mixed_precision_sums_are_correct() {
    let body = "
        cvt.rn.f32.u32 %r1, %t; cvt.rn.f16.f32 %h1, %r1; cvt.rn.bf16.f32 %h2, %r1;
        add.rn.f32.f16 %r2, %h1, 0f3E800000; sub.rz.f32.bf16 %r3, %h2, %r2;
        fma.rn.f32.f16 %r4, %h1, %h1, %r2; fma.rp.f32.bf16 %r5, %h2, %h2, %r3;
        add.sat.f32.bf16 %r6, %h2, %r3;
        add.f32 %r4, %r4, %r5; add.f32 %r4, %r4, %r6; st.global.f32 [%mine], %r4;";
    let ptx = kernel_of(body).replace(
        ".version 7.0\n.target sm_80",
        ".version 8.6\n.target sm_100a",
    );
    assert_words(&ptx, 33, |t| {
        let t = t as f32;
        let (positive, negative) = (t + 0.25, -0.25);
        ((t * t + positive) + (t * t + negative) + (t + negative).clamp(0.0, 1.0)).to_bits()
    });
    for body in [
        "add.f32.f64 %r1, %d1, %r2;",
        "fma.f32.f16 %r1, %h1, %h2, %r2;",
        "mul.f32.f16 %r1, %h1, %r2;",
    ] {
        let error = load_error(&kernel_of(body)).to_string();
        assert!(error.starts_with("line "), "{body}: {error}");
    }
}

/// Compute capability 1 has no other rounding, so its modules do not name one.
#[test]
fn mad_for_compute_capability_1_is_fused_and_flushes_subnormals() {
    let body = "
        mov.f32 %f1, 0f3F800001; // 1 + 2^-23
        mov.f32 %f2, 0fBF800002; // -(1 + 2^-22)
        mad.f32 %f3, %f1, %f1, %f2; // 2^-46
        mov.f32 %f1, 0f00000001;
        mov.f32 %f2, 0f3F800000;
        mov.f32 %f4, 0f00000000;
        mad.f32 %f5, %f1, %f2, %f4;
        mov.b32 %r1, %f3; mov.b32 %r2, %f5;
        add.u32 %r1, %r1, %r2;
        st.global.u32 [%mine], %r1;";
    let old = module_of("", &format!(".reg .f32 %f<6>;{body}"))
        .replace(".version 7.0\n.target sm_80", ".version 1.4\n.target sm_10");
    assert_words(&old, 1, |_| 2.0_f32.powi(-46).to_bits());
    let error =
        load_error(&old.replace(".version 1.4\n.target sm_10", ".version 2.0\n.target sm_20"))
            .to_string();
    assert!(
        error.contains("`mad.f32`: a modifier is missing"),
        "{error}"
    );
}

#[test]
fn words_split_into_bytes_and_are_joined() {
    for threads in BLOCK_SIZES {
        let body = "
            .reg .b8 %b<8>; .reg .v4 .b8 v;
            mad.lo.u32 %r1, %t, 0x01030507, 0x80402010;
            mov.b32 {%b0, %b1, %b2, %b3}, %r1;
            mov.b32 %r2, {%b3, %b2, %b1, %b0};
            cvt.u16.u32 %h1, %r2;
            mov.b16 {%b4, %b5}, %h1;
            mov.b16 %h2, {%b5, %b4};
            mov.b32 v, %r2;
            cvt.s32.s8 %r3, v.w;
            cvt.u32.u16 %r4, %h2;
            mad.lo.u32 %r2, %r3, 77, %r2;
            xor.b32 %r2, %r2, %r4;
            st.global.u32 [%mine], %r2;";
        assert_words(&module_of("", body), threads, |t| {
            let word = t.wrapping_mul(0x0103_0507).wrapping_add(0x8040_2010);
            let reversed = word.swap_bytes();
            let signed = i32::from((reversed >> 24) as u8 as i8) as u32;
            let low = u32::from((reversed as u16).swap_bytes());
            signed.wrapping_mul(77).wrapping_add(reversed) ^ low
        });
    }
    for (body, words) in cases(
        r"
        .reg .b8 %b<4>; mov.b64 {%b0, %b1, %b2, %b3}, %d1; => `%b0` is 8 bits wide
        .reg .b8 %b<4>; mov.b16 {%b0, %b1, %b2, %b3}, %h1; => `b16` does not split into 4 registers
        mov.b32 {%r1, %r2, %r3, %r4}, %r5; => `%r1` is 32 bits wide
    ",
    ) {
        assert_load_error(&kernel_of(body), words);
    }
}

#[test]
fn registers_index_arrays_by_element() {
    let before = "
        .global .align 4 .u32 words[512];
        .global .align 8 .u64 longs[512];
        .const .align 2 .u16 halves[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        .shared .align 4 .b32 tile[512];";
    let body = "
        .local .align 8 .b64 own[4];
        st.global.u32 words[%t], %t;
        ld.global.u32 %r1, words[%t];
        cvt.u64.u32 %d1, %t;
        st.global.u64 longs[%d1+4], %d1;
        ld.global.u64 %d2, longs[%t+4];
        and.b32 %r2, %t, 3;
        ld.const.u16 %h1, halves[%r2+1];
        cvt.u32.u16 %r3, %h1;
        st.shared.b32 tile[%t+7], %r3;
        sub.u32 %r9, %t, 3;
        ld.shared.b32 %r4, tile[%r9+10];
        st.local.b64 own[%r2], %d2;
        neg.s32 %r5, %r2;
        ld.local.b64 %d3, own[%r2];
        cvt.u32.u64 %r6, %d3;
        mov.u64 %d4, words[%r2];
        mov.u64 %d5, words;
        sub.u64 %d4, %d4, %d5;
        cvt.u32.u64 %r7, %d4;
        cvta.global.u64 %d6, words[%t];
        ld.u32 %r8, [%d6];
        mad.lo.u32 %r1, %r4, 1000, %r1;
        mad.lo.u32 %r1, %r6, 100000, %r1;
        mad.lo.u32 %r1, %r7, 7, %r1;
        add.u32 %r1, %r1, %r8;
        st.global.u32 [%mine], %r1;";
    for threads in BLOCK_SIZES {
        assert_words(&module_of(before, body), threads, |t| {
            let low = t & 3;
            t + (low + 2) * 1000 + t * 100_000 + 4 * low * 7 + t
        });
    }
    let error = ".global .u32 grid[4][4];";
    assert_load_error(
        &module_of(error, "ld.global.u32 %r1, grid[%r2];"),
        "`grid` is not a one-dimensional array",
    );
}

#[test]
fn labels_belong_to_their_blocks() {
    let body = "
        mov.u32 %r1, 0;
        {
            setp.gt.u32 %p1, %t, 4;
            @%p1 bra done;
            add.u32 %r1, %r1, 1;
            {
                setp.gt.u32 %p2, %t, 2;
                @%p2 bra done;
                add.u32 %r1, %r1, 10;
            done:
            }
            add.u32 %r1, %r1, 100;
        done:
        }
        {
        again:
            add.u32 %r1, %r1, 1000;
            setp.lt.u32 %p1, %r1, 3000;
            @%p1 bra again;
            bra done;
        }
        add.u32 %r1, %r1, 100000;
    done:
        st.global.u32 [%mine], %r1;";
    for threads in BLOCK_SIZES {
        assert_words(&module_of("", body), threads, |t| {
            let inner = if t <= 2 { 10 } else { 0 };
            let mut sum = if t <= 4 { 101 + inner } else { 0 };
            loop {
                sum += 1000;
                if sum >= 3000 {
                    return sum;
                }
            }
        });
    }
    for (body, words) in cases(
        r"
        { bra out; inner: } bra inner; out: => label `inner` is not defined
        { a: } { a: a: bra a; } => label `a` is defined twice
    ",
    ) {
        assert_load_error(&kernel_of(body), words);
    }
}

#[test]
fn parameterized_names_declare_variables() {
    let before = "
        .global .align 8 .b32 word<3>;
        .shared .b32 near<300>;
        .func (.param .b32 r) sum(.param .b64 a, .param .b32 b) {
            .reg .b64 %x; .reg .b32 %y; .reg .b32 %z;
            ld.param.b64 %x, [a]; ld.param.b32 %y, [b];
            cvt.u32.u64 %z, %x; add.u32 %z, %z, %y;
            st.param.b32 [r], %z; ret; }";
    let body = "
        .local .b16 own<4>;
        cvt.u16.u32 %h1, %t;
        st.local.b16 [own1], %h1;
        st.local.b16 [own3], 9;
        { .param .b64 wide<1>; .param .b32 narrow<2>; .param .b32 out<2>;
            cvt.u64.u32 %d1, %t;
            st.param.b64 [wide0], %d1;
            st.param.b32 [narrow1], 5;
            call.uni (out1), sum, (wide0, narrow1);
            ld.param.b32 %r1, [out1]; }
        ld.local.b16 %h2, [own1];
        cvt.u32.u16 %r2, %h2;
        st.global.b32 [word2], 3;
        ld.global.b32 %r3, [word2];
        st.shared.b32 [near299], 4;
        ld.shared.b32 %r4, [near299];
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;
        st.global.u32 [%mine], %r1;";
    for threads in BLOCK_SIZES {
        assert_words(&module_of(before, body), threads, |t| 2 * t + 12);
    }
    for (before, words) in cases(
        r"
        .global .b32 a<3>[2]; => can be neither an array nor initialized
        .global .b32 a<2> = 1; => can be neither an array nor initialized
        .global .b32 a<70000>; => limited to 65536 variables
        .global .b32 a<2>; .global .b32 a1; => `a1` is defined twice
    ",
    ) {
        assert_load_error(&module_of(before, ""), words);
    }
    let outside = module_of("", ".local .b32 a<2>; st.local.b32 [a2], 1;");
    assert_load_error(&outside, "`a2` is not declared");
}

#[test]
fn vectors_of_registers_are_moved() {
    let body = "
        .reg .v2 .u32 %v, w; .reg .v4 .f32 q; .reg .v2 .b64 wide;
        mov.v2.u32 %v, {%t, -1};
        mov.u32 %v.y, 40;
        mov.v2.u32 w, %v;
        mov.v2.b32 {w.x, w.y}, {w.y, w.x};
        mov.v4.f32 q, {0f3f800000, 0f40000000, 0f40400000, 0f40800000};
        cvt.rzi.u32.f32 %r1, q.a;
        cvt.u64.u32 %d1, w.x;
        mov.v2.b64 wide, {%d1, 6};
        setp.lt.u32 %p1, %t, 3;
        @%p1 mov.v2.u32 w, {7, 8};
        cvt.u32.u64 %r2, wide.y;
        mad.lo.u32 %r3, w.x, 1000, w.y;
        mad.lo.u32 %r3, %r1, 100000, %r3;
        mad.lo.u32 %r3, %r2, 1000000, %r3;
        st.global.u32 [%mine], %r3;";
    for threads in BLOCK_SIZES {
        assert_words(&module_of("", body), threads, |t| {
            let (x, y) = if t < 3 { (7, 8) } else { (40, t) };
            x * 1000 + y + 4 * 100_000 + 6 * 1_000_000
        });
    }
    for (body, words) in cases(
        r"
        .reg .v2 .u32 v; mov.v4.u32 v, {1, 2, 3, 4}; => takes vectors of 4 registers
        .reg .v2 .u32 v; mov.v2.u32 v, 1; => takes vectors of 2 registers
        .reg .v2 .u32 v; mov.v2.u64 v, {1, 2}; => `v` is 32 bits wide
    ",
    ) {
        assert_load_error(&kernel_of(body), words);
    }
}

#[test]
fn functions_are_declared_before_they_are_defined() {
    let before = "
        .func (.param .b32 r) twice(.param .b32 a);
        .visible .func (.param .b32 r) doubled(.param .b32 a);
        .visible .func (.param .b32 r) doubled(.param .b32 a) {
            .reg .b32 %q; ld.param.b32 %q, [a];
            { .param .b32 x; .param .b32 y; st.param.b32 [x], %q;
                call (y), twice, (x); ld.param.b32 %q, [y]; }
            st.param.b32 [r], %q; ret; }
        .func (.param .b32 r) twice(.param .b32 a) {
            .reg .b32 %q; ld.param.b32 %q, [a]; shl.b32 %q, %q, 1; st.param.b32 [r], %q; ret; }";
    let body = "{ .param .b32 x; .param .b32 y;
        st.param.b32 [x], %t; call (y), doubled, (x); ld.param.b32 %r1, [y]; }
        st.global.u32 [%mine], %r1;";
    for threads in BLOCK_SIZES {
        assert_words(&module_of(before, body), threads, |t| 2 * t);
    }
    let before = ".func f(.param .b32 a);
        .func f(.param .b64 a) { ret; }";
    assert_load_error(
        &module_of(before, ""),
        "function `f` is declared with other parameters than it is defined with",
    );
}
