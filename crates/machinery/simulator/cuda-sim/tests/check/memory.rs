//! Findings about faulting addresses.

use crate::*;
use cuda_sim::exec::FaultModel;

/// Returns a body in which thread 3 stores at `%out` plus an offset. The output has 32 words.
fn store_at(offset: i64) -> String {
    format!(
        "setp.ne.u32 %p1, %t, 3;
        add.s64 %d1, %out, {offset};
        @!%p1 st.global.u32 [%d1], 1; // here"
    )
}

#[test]
fn out_of_bounds_finding_gives_distance_and_likely_cause() {
    for (offset, details, likely_cause) in [
        (
            128,
            "right past the end of the 128-byte allocation",
            Cause::NoBoundsCheck,
        ),
        (
            132,
            "4 bytes past the end of the 128-byte",
            Cause::NoBoundsCheck,
        ),
        (
            -4,
            "4 bytes before the 128-byte allocation",
            Cause::NegativeIndex,
        ),
        (1 << 19, "524160 bytes past the end", Cause::WrongUnits),
        ((1 << 34) - 4, "2^32 elements past", Cause::WrappedIndex),
    ] {
        let finding = check_kernel(&store_at(offset), 32).single(OutOfBounds, Error, 3, 1);
        assert_contains(&finding.details, details);
        assert_contains(&finding.details, "allocated 1st");
        assert_eq!(
            finding.likely_cause,
            Some(likely_cause),
            "{offset}: {finding}"
        );
    }
}

#[test]
fn cause_depends_on_the_shape_of_the_launch() {
    // Each thread reads the word of its index past the end, or the first of a row of 40 words.
    let read = |index: &str| {
        kernel_of(&format!(
            "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; {index}
            mul.wide.u32 %d1, %r3, 4;
            add.s64 %d1, %out, %d1;
            ld.global.u32 %r1, [%d1]; // here"
        ))
    };
    let own_element = "mov.u32 %r3, %r1;";
    let row = "mad.lo.s32 %r3, %r1, 40, %r2;";
    for (index, block, cause) in [
        (own_element, [256, 1, 1], Cause::NoBoundsCheck),
        (row, [256, 1, 1], Cause::LoopBounds),
        (row, [16, 16, 1], Cause::MatrixBounds),
    ] {
        let mut machine = checking_machine(&read(index));
        let out = machine.out::<u32>(200);
        let launch = Launch {
            block,
            ..Launch::new("k", 1, 256, params![out])
        };
        let finding = &machine.report(&launch).findings[0];
        assert_eq!(finding.likely_cause, Some(cause), "{finding}");
    }
}

#[test]
fn invalid_addresses_are_classified() {
    for (address, kind, details) in [
        ("0", NullPointer, "the address is null"),
        ("12", NullPointer, "null plus 12 bytes"),
        ("0x7f0000001000", WrongSpace, "host's memory"),
        ("0x1000000000000010", WrongSpace, "shared memory"),
        ("0x2000000000000010", WrongSpace, "thread's own memory"),
    ] {
        let body = format!("mov.u64 %d1, {address}; ld.global.u32 %r1, [%d1]; // here");
        let finding = check_kernel(&body, 1).single(kind, Error, 0, 1);
        assert_contains(&finding.details, details);
    }
    let body = "add.s64 %d1, %out, 2; ld.global.u32 %r1, [%d1]; // here";
    let finding = check_kernel(body, 1).single(Misaligned, Error, 0, 1);
    assert_contains(&finding.details, "2 bytes past an aligned address");
}

#[test]
fn shared_and_local_memory_bounds_are_checked() {
    let shared = |offset: u32| {
        format!(
            ".shared .align 4 .b8 tile[1028];
            mov.u64 %d1, tile; ld.shared.u32 %r1, [%d1+{offset}]; // here"
        )
    };
    let (findings, _) = check_kernel(&shared(1024), 1);
    assert_eq!(findings[0].kind, UninitializedShared);
    let finding = check_kernel(&shared(1028), 1).single(OutOfBounds, Error, 0, 1);
    assert_contains(
        &finding.details,
        "right past the end of the array `tile` of 1028 bytes",
    );
    let before = ".shared .align 4 .b8 tile[1028];
        mov.u64 %d1, tile; ld.shared.u32 %r1, [%d1+-8]; // here";
    let finding = check_kernel(before, 1).single(OutOfBounds, Error, 0, 1);
    let details = "8 bytes before the start of the array `tile` of 1028 bytes";
    assert_contains(&finding.details, details);
    assert_eq!(finding.likely_cause, Some(Cause::NegativeIndex));
    let empty_array = module_of(
        ".extern .shared .align 4 .b8 more[];",
        "mov.u64 %d1, more; st.shared.u32 [%d1], 1; // here",
    );
    let finding = check_module(&empty_array, 1).single(OutOfBounds, Error, 0, 1);
    let cause = Some(Cause::NoDynamicSharedMemory);
    assert_eq!(finding.likely_cause, cause, "{finding}");
    let local = ".local .align 4 .b8 own[64];
        mov.u64 %d1, own; st.local.u32 [%d1+64], 1; // here";
    let finding = check_kernel(local, 1).single(OutOfBounds, Error, 0, 1);
    assert_contains(&finding.details, "thread's 64 bytes");
}

/// The size of a thread's stack is rounded up to 16 bytes, and a frame also holds the arguments of calls.
#[test]
fn local_arrays_end_at_their_last_byte() {
    let access = |instruction: &str| {
        module_of(
            ".func f(.param .b64 q) { ret; }",
            &format!(
                ".local .align 4 .b8 own[20];
                mov.u64 %d1, own;
                cvta.local.u64 %d2, %d1;
                st.local.u32 [%d1+16], 1;
                {instruction}; // here
                {{ .param .b64 q0; st.param.b64 [q0], %d2; call f, (q0); }}"
            ),
        )
    };
    check_module(&access("st.u32 [%d2+16], 1"), 1).none();
    for instruction in ["st.local.u32 [%d1+20], 1", "ld.u32 %r1, [%d2+20]"] {
        let finding = check_module(&access(instruction), 1).single(OutOfBounds, Error, 0, 1);
        let details = "right past the end of the thread's 20 bytes of local memory";
        assert_contains(&finding.details, details);
    }
    let across = access("st.local.v2.u32 [%d1+16], {%r1, %r2}");
    let finding = check_module(&across, 1).single(OutOfBounds, Error, 0, 1);
    let details = "it starts 4 bytes before the end of the thread's 20 bytes";
    assert_contains(&finding.details, details);
}

#[test]
fn a_function_stays_in_the_local_arrays_of_its_callers() {
    let access = |offset: u32| {
        module_of(
            &format!(
                ".func f(.param .b64 q) {{
                    .local .align 4 .b8 mine[4];
                    .reg .b64 %d<2>;
                    mov.u64 %d1, mine; st.local.u32 [%d1], 1;
                    ld.param.b64 %d1, [q];
                    st.u32 [%d1+{offset}], 1; // here
                    ret;
                }}"
            ),
            ".local .align 4 .b8 own[20];
            mov.u64 %d1, own;
            cvta.local.u64 %d2, %d1;
            { .param .b64 q0; st.param.b64 [q0], %d2; call f, (q0); }",
        )
    };
    check_module(&access(16), 1).none();
    let finding = check_module(&access(20), 1).single(OutOfBounds, Error, 0, 1);
    let details = "past the end of the local variables of a function that has called this one";
    assert_contains(&finding.details, details);
}

#[test]
fn a_gpu_does_not_detect_accesses_past_a_local_array() {
    let mut machine = checking_machine(&module_of(
        "",
        ".local .align 4 .b8 own[20]; mov.u64 %d1, own; st.local.u32 [%d1+20], 1; // here",
    ));
    machine.options.fault_model = FaultModel::Hardware;
    let out = machine.out::<u32>(1);
    let report = machine.report(&Launch::new("k", 1, 1, params![out]));
    assert!(report.result.is_ok());
    assert_contains(&report.findings[0].details, "multiples of 16 bytes");
}

#[test]
fn freed_memory_and_variables_are_named() {
    let ptx = module_of(
        ".global .align 4 .b8 table[64];",
        "ld.global.u32 %r1, [%out]; // here",
    );
    let mut machine = checking_machine(&ptx);
    let freed = machine.out::<u32>(16);
    machine.global.free(freed).unwrap();
    let fault = machine.fault("k", 1, 1, params![freed + 4]);
    let finding = fault.finding().unwrap();
    assert_eq!(finding.kind, UseAfterFree);
    assert_contains(&finding.details, "byte 4 of the 64-byte allocation");
    let (table, _) = machine.program.variable("table").unwrap();
    let finding = machine
        .fault("k", 1, 1, params![table + 64])
        .finding()
        .unwrap();
    assert_contains(&finding.details, "past the end of `table` (64 bytes)");
}

#[test]
fn fault_message_has_the_finding_without_checks() {
    let mut machine = Machine::new(&kernel_of(&store_at(128)));
    let out = machine.out::<u32>(32);
    let text = machine.fault("k", 1, 32, params![out]).to_string();
    for part in [
        "write of 4 bytes",
        "right past the end of the 128-byte",
        "likely cause: `<=`",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn index_into_another_shared_array_is_reported() {
    let check = |index: &str, array: &str| {
        let ptx = module_of(
            ".shared .align 4 .b8 a[128]; .shared .align 4 .b8 b[128];",
            &format!(
                "mov.u64 %d1, a; mov.u64 %d2, b;
        mul.wide.u32 %d3, %t, 4;
        add.s64 %d4, %d1, %d3;
        add.s64 %d5, %d2, %d3;
        st.shared.u32 [%d4], %t;
        st.shared.u32 [%d5], %t;
        {index}
        add.s64 %d6, {array}, %d3;
        ld.shared.u32 %r1, [%d6+4]; // here
        st.global.u32 [%mine], %r1;"
            ),
        );
        check_module(&ptx, 32).only(OtherArray)
    };
    let (kind, warning) = (OtherArray, Warning);
    let finding = check("", "%d1").single(kind, warning, 31, 1);
    assert_contains(&finding.details, "byte 128 of the array `a` of 128 bytes");
    let finding = check("sub.s64 %d3, %d3, 8;", "%d2").single(kind, warning, 0, 1);
    let details = "4 bytes before the start of the array `b` of 128 bytes";
    assert_contains(&finding.details, details);
    assert_eq!(finding.likely_cause, Some(Cause::NegativeIndex));
    // Both accesses stay inside their arrays.
    check("and.b64 %d3, %d3, 63;", "%d1").none();
    check("sub.s64 %d3, %d3, 4;", "%d2").none();
    // The array is selected at run time.
    let either = "setp.lt.u32 %p1, %t, 7; selp.b64 %d1, %d1, %d2, %p1; and.b64 %d3, %d3, 63;";
    check(either, "%d1").none();
    // An address computed from both arrays belongs to neither.
    check("sub.s64 %d7, %d2, %d1; add.s64 %d3, %d7, 0;", "%d1").none();
}

#[test]
fn writes_to_constants_through_generic_addresses_fault() {
    for (store, threads) in [
        ("st.u32 [%d1], %t;", 1),
        ("st.global.u32 [%d1], %t;", 32),
        ("st.v2.u32 [%d1], {%t, %t};", 256),
        ("red.add.u32 [%d1], %t;", 1),
        ("red.global.add.u32 [%d1], %t;", 64),
        ("atom.exch.b32 %r1, [%d1], %t;", 33),
        ("atom.cas.b64 %d3, [%d1], %d1, %d1;", 1),
    ] {
        let ptx = module_of(
            ".const .align 8 .u32 c[4] = {1, 2, 3, 4};",
            &format!("mov.u64 %d2, c; cvta.const.u64 %d1, %d2; {store} // here"),
        );
        for checks in [Checks::NONE, Checks::ALL] {
            let mut machine = checking_machine(&ptx);
            machine.options.checks = checks;
            let out = machine.out::<u32>(256);
            let fault = machine.fault("k", 1, threads, params![out]);
            let (_, _, write) = illegal(&fault);
            let location = fault.location.expect("no thread is named");
            assert!(write, "{store}");
            assert_eq!(
                location.source.ptx_line,
                line_of(&ptx, "// here"),
                "{store}"
            );
        }
    }
}
