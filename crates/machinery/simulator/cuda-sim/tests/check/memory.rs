//! Findings about faulting addresses.

use crate::harness::{Machine, module_of};
use crate::{
    assert_no_findings, assert_single_finding, check_kernel, check_module, checking_machine, params,
};
use cuda_sim::check::FindingKind;
use cuda_sim::check::Severity::{Error, Warning};

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
        (128, "right past the end of the 128-byte allocation", "`<=`"),
        (132, "4 bytes past the end of the 128-byte", "if (i < n)"),
        (-4, "4 bytes before the 128-byte allocation", "halo"),
        (1 << 19, "524160 bytes past the end", "pitch for a width"),
        ((1 << 34) - 4, "2^32 elements past", "below zero"),
    ] {
        let finding = assert_single_finding(
            check_kernel(&store_at(offset), 32),
            FindingKind::OutOfBounds,
            Error,
            3,
            1,
        );
        assert!(finding.details.contains(details), "{offset}: {finding}");
        assert!(finding.details.contains("allocated 1st"), "{finding}");
        assert!(
            finding.likely_cause.contains(likely_cause),
            "{offset}: {finding}"
        );
    }
}

#[test]
fn invalid_addresses_are_classified() {
    for (address, kind, details) in [
        ("0", FindingKind::NullPointer, "the address is null"),
        ("12", FindingKind::NullPointer, "null plus 12 bytes"),
        ("0x7f0000001000", FindingKind::WrongSpace, "host's memory"),
        (
            "0x1000000000000010",
            FindingKind::WrongSpace,
            "shared memory",
        ),
        (
            "0x2000000000000010",
            FindingKind::WrongSpace,
            "thread's own memory",
        ),
    ] {
        let body = format!("mov.u64 %d1, {address}; ld.global.u32 %r1, [%d1]; // here");
        let finding = assert_single_finding(check_kernel(&body, 1), kind, Error, 0, 1);
        assert!(finding.details.contains(details), "{finding}");
    }
    let body = "add.s64 %d1, %out, 2; ld.global.u32 %r1, [%d1]; // here";
    let finding =
        assert_single_finding(check_kernel(body, 1), FindingKind::Misaligned, Error, 0, 1);
    assert!(
        finding.details.contains("2 bytes past an aligned address"),
        "{finding}"
    );
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
    assert_eq!(findings[0].kind, FindingKind::UninitializedShared);
    let finding = assert_single_finding(
        check_kernel(&shared(1028), 1),
        FindingKind::OutOfBounds,
        Error,
        0,
        1,
    );
    assert!(
        finding
            .details
            .contains("right past the end of the block's 1028 bytes"),
        "{finding}"
    );
    let empty_array = module_of(
        ".extern .shared .align 4 .b8 more[];",
        "mov.u64 %d1, more; st.shared.u32 [%d1], 1; // here",
    );
    let finding = assert_single_finding(
        check_module(&empty_array, 1),
        FindingKind::OutOfBounds,
        Error,
        0,
        1,
    );
    assert!(
        finding
            .likely_cause
            .contains("launch without dynamic shared memory"),
        "{finding}"
    );
    let local = ".local .align 4 .b8 own[64];
        mov.u64 %d1, own; st.local.u32 [%d1+64], 1; // here";
    let finding = assert_single_finding(
        check_kernel(local, 1),
        FindingKind::OutOfBounds,
        Error,
        0,
        1,
    );
    assert!(finding.details.contains("thread's 64 bytes"), "{finding}");
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
    assert_eq!(finding.kind, FindingKind::UseAfterFree);
    assert!(
        finding.details.contains("byte 4 of the 64-byte allocation"),
        "{finding}"
    );
    let (table, _) = machine.program.variable("table").unwrap();
    let finding = machine
        .fault("k", 1, 1, params![table + 64])
        .finding()
        .unwrap();
    assert!(
        finding
            .details
            .contains("past the end of `table` (64 bytes)"),
        "{finding}"
    );
}

#[test]
fn fault_message_has_the_finding_without_checks() {
    let mut machine = Machine::new(&crate::kernel_of(&store_at(128)));
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
        let ptx = crate::harness::module_of(
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
        crate::only_kind(crate::check_module(&ptx, 32), FindingKind::OtherArray)
    };
    let (kind, warning) = (FindingKind::OtherArray, Warning);
    let finding = assert_single_finding(check("", "%d1"), kind, warning, 31, 1);
    assert!(
        finding
            .details
            .contains("byte 128 of an array of 128 bytes"),
        "{finding}"
    );
    let finding = assert_single_finding(check("sub.s64 %d3, %d3, 8;", "%d2"), kind, warning, 0, 1);
    assert!(
        finding.details.contains("4 bytes before the start"),
        "{finding}"
    );
    // Both accesses stay inside their arrays.
    assert_no_findings(check("and.b64 %d3, %d3, 63;", "%d1"));
    assert_no_findings(check("sub.s64 %d3, %d3, 4;", "%d2"));
    // The array is selected at run time.
    let either = "setp.lt.u32 %p1, %t, 7; selp.b64 %d1, %d1, %d2, %p1; and.b64 %d3, %d3, 63;";
    assert_no_findings(check(either, "%d1"));
    // An address computed from both arrays belongs to neither.
    assert_no_findings(check("sub.s64 %d7, %d2, %d1; add.s64 %d3, %d7, 0;", "%d1"));
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
        let ptx = crate::harness::module_of(
            ".const .align 8 .u32 c[4] = {1, 2, 3, 4};",
            &format!("mov.u64 %d2, c; cvta.const.u64 %d1, %d2; {store} // here"),
        );
        for checks in [cuda_sim::check::Checks::NONE, cuda_sim::check::Checks::ALL] {
            let mut machine = crate::checking_machine(&ptx);
            machine.options.checks = checks;
            let out = machine.out::<u32>(256);
            let fault = machine.fault("k", 1, threads, crate::params![out]);
            let (_, _, write) = crate::harness::illegal(&fault);
            let location = fault.location.expect("no thread is named");
            assert!(write, "{store}");
            assert_eq!(
                location.source.ptx_line,
                crate::line_of(&ptx, "// here"),
                "{store}"
            );
        }
    }
}
