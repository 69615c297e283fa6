//! Modules that cannot be loaded: the error, and that nothing stays allocated.

use crate::harness::*;
use cuda_sim::device::DeviceSpec;
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::Global;

/// Returns the error message for a kernel body. The error must be on the line that contains `culprit`.
fn message(body: &str, culprit: &str) -> String {
    let ptx = kernel_of(body);
    let line = line_of(&ptx, culprit);
    let text = load_error(&ptx).to_string();
    assert!(text.starts_with(&format!("line {line}")), "{text}\n{ptx}");
    text
}

#[test]
fn unknown_instructions_name_their_required_capability() {
    // The second column is the required capability, if there is one.
    for (instruction, needs) in cases(
        r"
        wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1, %r2}, %d1, %d2, 1, 1, 1; => 90
        wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 {%r1, %r2}, %d1, %d2, 1, 1, 1; => 90
        mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2}; =>
        ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%d1]; =>
        setmaxnreg.inc.sync.aligned.u32 64; => 90
        tcgen05.fence::before_thread_sync; => 100
        tex.2dms.v4.f32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r5, %r6, %r7, %r8}]; =>
        frobnicate.u32 %r1, %r2; =>
    ",
    ) {
        let ptx = kernel_of(&format!("mov.u32 %r1, 0;\n{instruction}"));
        let line = match load_error(&ptx) {
            LoadError::UnknownInstruction {
                line,
                instruction: name,
                required_sm,
                not_in_ptx,
            } => {
                assert!(instruction.starts_with(&name), "{name} of {instruction}");
                let is_no_name = instruction.starts_with("frobnicate");
                assert_eq!(not_in_ptx.is_some(), is_no_name, "{instruction}");
                assert_eq!(
                    required_sm.map(|sm| sm.to_string()).unwrap_or_default(),
                    needs
                );
                line
            }
            // A form that the parser rejects is reported as a syntax error, with its line.
            LoadError::Syntax(error) => error.line,
            other => panic!("{instruction}: {other}"),
        };
        assert_eq!(line, line_of(&ptx, instruction), "{instruction}");
    }
}

/// The module of these tests has target 8.0, so the simulator lacks such instructions, not the GPU.
#[test]
fn instructions_of_the_own_target_need_no_other_target() {
    let ptx = kernel_of(
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};",
    );
    let text = load_error(&ptx).to_string();
    assert!(text.ends_with("is not simulated"), "{text}");
    let text = load_error(&ptx.replace("sm_80", "sm_70")).to_string();
    let expected = "(it requires compute capability 8.0)";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn unsupported_type_is_not_reported_as_missing() {
    let text = message("cvt.rn.satfinite.e4m3x2.f32 %h1, %r1, %r2;", "cvt");
    assert!(text.contains("`.e4m3x2` are not simulated"), "{text}");
    let text = message("add %r1, %r2, %r3;", "add ");
    assert!(text.contains("a type modifier is missing"), "{text}");
}

#[test]
fn variable_as_register_operand_is_rejected() {
    for (body, words) in cases(
        r"
        add.u64 %d1, p, 1; => `p` is a variable (`.param`)
        .shared .u32 s; add.u32 %r1, s, 1; => `s` is a variable (`.shared`)
        .local .u32 l; add.u32 %r1, l, 1; => `l` is a variable (`.local`
        .global .u32 g; add.u32 g, %r1, 1; => `g` is a variable (`.global`)
        add.u32 %r1, nothing, 1; => `nothing` is not a register declared here
    ",
    ) {
        assert_load_error(&kernel_of(body), words);
    }
}

#[test]
fn undeclared_names_are_rejected() {
    for (instruction, name) in [
        ("bra NOWHERE;", "NOWHERE"),
        ("mov.u32 %r1, %x;", "%x"),
        ("add.u32 %r1, %r99, 1;", "%r99"),
        ("@%q mov.u32 %r1, 1;", "%q"),
        ("ld.global.u32 %r1, [thing];", "thing"),
        ("mov.u64 %d1, thing;", "thing"),
        ("call thing;", "thing"),
        ("brx.idx %r1, TABLE;", "TABLE"),
        ("st.global.u32 [%mine], %r77;", "%r77"),
    ] {
        let ptx = kernel_of(instruction);
        let text = load_error(&ptx).to_string();
        assert!(text.contains(&format!("`{name}`")), "{instruction}: {text}");
        assert!(text.starts_with("line "), "{text}");
    }
}

#[test]
fn operands_of_wrong_width_kind_or_number_are_rejected() {
    for instruction in [
        "add.u32 %d1, %r1, %r2;",
        "add.u64 %d1, %r1, %d2;",
        "add.f32 %r1, %p1, %r2;",
        "mov.u32 %p1, %r1;",
        "setp.eq.u32 %r1, %r2, 0;",
        "ld.global.u64 %r1, [%d1];",
        "ld.global.u32 %p1, [%d1];",
        "ld.global.u32 %r1, [%p1];",
        "ld.global.v4.u32 {%r1, %r2}, [%d1];",
        "ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%d1];",
        "ld.global.u32 %r1;",
        "st.global.u32 [%d1], {%r1, %r2};",
        "st.global.u64 [%d1], %r1;",
        "st.const.u32 [%d1], %r1;",
        "st.param.u32 [p], %r1;",
        "ld.param.u32 %r1, [p+6];",
        "add.u32 %r1, %r2;",
        "add.u32 %r1, %r2, %r3, %r4;",
        "@%r1 mov.u32 %r1, 2;",
        "bar.sync;",
        "bar.arrive 1;",
        "shfl.sync.up.b32 %r1, %r2, 1;",
        "vote.sync.ballot.b32 %p1, %p2, -1;",
        "activemask.b32;",
        "activemask.u64 %d1;",
        "atom.global.add.u32 %r1, [%d1];",
        "atom.global.cas.b32 %r1, [%d1], 1;",
        "atom.const.add.u32 %r1, [%d1], 1;",
        "mov.u32 5, %r1;",
    ] {
        let text = message(instruction, instruction);
        assert!(text.len() > "line 17: ".len(), "{text}");
    }
}

/// A newer version or target is no reason to reject a module whose instructions are supported.
#[test]
fn newer_versions_and_targets_load() {
    let ptx = kernel_of("");
    let of_version = |version: &str| ptx.replace(".version 7.0", &format!(".version {version}"));
    for version in ["7.8", "8.8", "9.0", "9.4"] {
        assert_eq!(load_error_of(&of_version(version)), None, "{version}");
    }
    for (version, number) in [
        ("7.9", (7, 9)),
        ("8.9", (8, 9)),
        ("10.0", (10, 0)),
        ("99.1", (99, 1)),
    ] {
        let expected = LoadError::UnsupportedVersion(number);
        assert_eq!(
            load_error_of(&of_version(version)),
            Some(expected),
            "{version}"
        );
    }
    for target in [
        "sm_90a", "sm_100", "sm_100a", "sm_103f", "sm_120a", "sm_121f",
    ] {
        let text = of_version("9.0").replace("sm_80", target);
        assert_eq!(load_error_of(&text), None, "{target}");
    }
    let unknown = load_error_of(&ptx.replace("sm_80", "sm_999"));
    assert_eq!(unknown, Some(LoadError::UnsupportedTarget("sm_999".into())));
    let newer = load_error_of(&ptx.replace("sm_80", "sm_90")).unwrap();
    assert_eq!(
        newer.to_string(),
        "target sm_90 requires PTX version 7.8 or later"
    );
}

/// A variable that no module defines has memory, as in NVIDIA's driver; the linker reports it.
#[test]
fn undefined_variables_are_zero() {
    let ptx = module_of(
        ".extern .global .u32 elsewhere;",
        "ld.global.u32 %r1, [elsewhere]; add.u32 %r1, %r1, 5; st.global.u32 [%mine], %r1;",
    );
    assert_words(&ptx, 1, |_| 5);
}

/// As Dr.Jit writes its tables of functions, a module may declare a variable that it defines later.
#[test]
fn declared_variable_may_be_defined_in_the_same_module() {
    let ptx = module_of(
        ".extern .global .u32 table[2]; .extern .global .u32 table[2];
        .visible .global .align 8 .u32 table[2] = {3, 5};
        .extern .const .u32 addend; .const .u32 addend = 2;",
        "ld.global.u32 %r1, [table+4]; ld.const.u32 %r2, [addend]; add.u32 %r1, %r1, %r2;
        st.global.u32 [%mine], %r1;",
    );
    assert_words(&ptx, 1, |_| 7);
}

/// Returns the error of loading a module, or `None` if it loads.
fn load_error_of(ptx: &str) -> Option<LoadError> {
    cuda_sim::lower::load(ptx, &DeviceSpec::h200(), &mut Global::new(1 << 20)).err()
}

/// A module for sm_52 loads on older GPUs, too.
#[test]
fn target_is_checked_against_the_selected_gpu() {
    let ptx = kernel_of("").replace("sm_80", "sm_61");
    let load = |name: &str, ptx: &str| {
        let device = DeviceSpec::named(name).unwrap();
        cuda_sim::lower::load(ptx, device, &mut Global::new(1 << 20)).err()
    };
    assert_eq!(load("p2000", &ptx), None);
    assert_eq!(load("gtx280", &ptx.replace("sm_61", "sm_52")), None);
    for (name, newest) in [("gtx970", 52), ("gtx280", 52)] {
        match load(name, &ptx) {
            Some(LoadError::WrongTarget { sm, .. }) => assert_eq!(sm, newest, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn duplicate_declarations_are_rejected() {
    for body in [
        ".reg .b32 x; .reg .b32 x;",
        ".reg .b32 %r<4>;",
        "L: L: ret;",
        ".local .b32 a; .local .b64 a;",
        ".shared .b32 a; .shared .b64 a;",
    ] {
        assert_load_error(&kernel_of(body), "twice");
    }
    for before in [
        ".global .u32 a; .global .u64 a;",
        ".global .u32 a; .const .u32 a;",
        ".global .u32 k;",
        ".func f { ret; } .func f { ret; }",
        ".entry k() { ret; }",
    ] {
        assert_load_error(&module_of(before, ""), "twice");
    }
}

#[test]
fn excessive_memory_is_rejected() {
    let text = |before: &str, body: &str| load_error(&module_of(before, body));
    let (needed, limit) = (65537, 65536);
    let error = text(".const .b8 a[65536]; .const .b8 b[1];", "");
    assert_eq!(error, LoadError::ConstantMemory { needed, limit });
    let kernel = "k".to_owned();
    let (needed, limit) = (49153, 49152);
    let error = text("", ".shared .b8 a[49153]; st.shared.u8 [a], 1;");
    assert_eq!(
        error,
        LoadError::SharedMemory {
            kernel,
            needed,
            limit
        }
    );
    let variables = ".shared .b8 a[30000]; .shared .b8 b[30000];";
    match text(variables, "st.shared.u8 [a], 1; st.shared.u8 [b], 1;") {
        LoadError::SharedMemory {
            needed: 60000.., ..
        } => {}
        other => panic!("{other}"),
    }
    let error = text(".global .b8 a[4294967296];", "");
    assert_eq!(error, LoadError::OutOfMemory(4_294_967_296));
    for (before, body) in [
        (".global .b8 a[4294967296][4294967296];", ""),
        (".global .u32 a[2] = {1, 2, 3};", ""),
        (".global .u64 a = nothing;", ""),
        ("", ".local .b8 a[1000000];"),
        ("", ".global .u32 a[2] = {1, 2, 3};"),
        ("", ".extern .global .u32 a;"),
        ("", ".const .u32 a;"),
    ] {
        text(before, body);
    }
}

#[test]
fn mismatched_calls_are_rejected() {
    let f = ".func (.param .b32 r) f(.param .b32 a) { ret; }";
    let vprintf = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);";
    for (before, body) in [
        (f, "call f;"),
        (f, "{ .param .b32 x; call f, (x); }"),
        (f, "{ .param .b32 x; .param .b32 y; call (x), f, (y, y); }"),
        (f, "call (%d1), f, (%r2);"),
        (f, "call (%r1), f, (%p2);"),
        (f, "call (5), f, (%r2);"),
        (f, "call %d1;"),
        (f, "call %d1, NOTHING;"),
        (".func f;", "call f;"),
        (vprintf, "call vprintf;"),
    ] {
        let text = load_error(&module_of(before, body)).to_string();
        assert!(text.starts_with("line "), "{body}: {text}");
    }
}

#[test]
fn module_prefixes_load_or_are_rejected_without_leaks() {
    let source = include_str!("../../kernels/ptx/calls.ptx");
    let device = DeviceSpec::h200();
    let ends = source.char_indices().step_by(source.len() / 300);
    for (end, _) in ends {
        let mut global = Global::new(1 << 30);
        let loaded = cuda_sim::lower::load(&source[..end], &device, &mut global);
        if loaded.is_err() {
            assert_eq!(global.free_bytes(), 1 << 30, "cut off at {end}");
        }
    }
    let text = load_error(&source[..source.len() * 2 / 3]).to_string();
    assert!(text.starts_with("line "), "{text}");
}

#[test]
fn addresses_that_differ_between_kernels_are_no_initial_values() {
    let message = |declarations: &str, symbol: &str| {
        let list = format!(".global .align 8 .u64 list[1] = {{generic({symbol})}};");
        let function = ".func f() { .shared .align 4 .u32 tile[3]; st.shared.u32 [tile], 1; ret; }";
        let module = module_of(
            &format!("{declarations}\n{function}\n{list}"),
            ".shared .align 4 .u32 before[9]; .shared .align 4 .u32 tile[2];
            st.shared.u32 [before], 2;
            st.shared.u32 [tile], 2;
            call f;",
        );
        let text = load_error(&module).to_string();
        let line = line_of(&module, &list);
        assert!(text.starts_with(&format!("line {line}")), "{text}");
        text
    };
    let text = message("", "missing");
    assert!(text.ends_with("`missing` has no address here"), "{text}");
    let text = message("", "tile");
    assert!(text.contains("several functions"), "{text}");
    let text = message(".extern .shared .align 4 .b8 dynamic[];", "dynamic");
    assert!(text.contains("each kernel has others"), "{text}");
}
