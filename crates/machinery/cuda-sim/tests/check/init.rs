//! Reads of memory that nobody has written.

use crate::harness::Machine;
use crate::{assert_one, assert_silent, checking, found, kernel_of, line_of, params};
use cuda_sim::check::Severity::Error;
use cuda_sim::check::{Finding, FindingKind};

/// Each of 64 threads, in blocks of 32 that all do the same, loads a word of `bytes` bytes that
/// only the first `written` of are written.
fn read_from(instruction: &str, bytes: u64, written: u64) -> (Vec<Finding>, String) {
    let ptx = kernel_of(&format!("{instruction} // here"));
    let mut machine = checking(&ptx);
    let from = machine.global.allocate(bytes).unwrap();
    machine.global.track_writes(from);
    if written > 0 {
        machine.global.wrote(from, [(from, written)].into_iter());
    }
    machine.checks.race = false;
    (machine.run("k", 2, 32, params![from]).findings, ptx)
}

#[test]
fn device_memory_that_was_not_copied_to() {
    let load = "ld.global.u32 %r1, [%mine];";
    let finding = assert_one(
        read_from(load, 128, 0),
        FindingKind::UnwrittenDevice,
        Error,
        0,
        64,
    );
    assert!(
        finding.what.contains("byte 0 of the 128-byte allocation"),
        "{finding}"
    );
    let finding = assert_one(
        read_from(load, 128, 90),
        FindingKind::UnwrittenDevice,
        Error,
        22,
        20,
    );
    assert!(finding.what.contains("byte 88 of"), "{finding}");
    assert_silent(read_from(load, 128, 128));
    let finding = assert_one(
        read_from("ld.global.u8 %r1, [%out];", 1, 0),
        FindingKind::UnwrittenDevice,
        Error,
        0,
        64,
    );
    assert!(
        finding.what.contains("all of the 1-byte allocation"),
        "{finding}"
    );
    let one = "ld.global.v2.u32 {%r1, %r2}, [%out+56];";
    assert_one(
        read_from(one, 128, 60),
        FindingKind::UnwrittenDevice,
        Error,
        0,
        64,
    );
    assert_silent(read_from(one, 128, 64));
    // What the thread wrote itself.
    assert_silent(read_from(
        "st.global.u32 [%mine], 0; ld.global.u32 %r1, [%mine];",
        128,
        0,
    ));
    let half = "st.global.u16 [%mine+2], 0; ld.global.u32 %r1, [%mine];";
    assert_one(
        read_from(half, 128, 0),
        FindingKind::UnwrittenDevice,
        Error,
        0,
        64,
    );
}

#[test]
fn atomics_read_too() {
    let count = "red.global.add.u32 [%out], 1;";
    let (findings, _) = read_from(count, 128, 0);
    assert_eq!(findings[0].kind, FindingKind::UnwrittenDevice);
    assert_eq!(
        findings[0].count, 64,
        "what is added to is as undefined as before"
    );
    assert_silent(read_from(count, 128, 4));
    assert_silent(read_from("atom.global.exch.b32 %r1, [%mine], 1;", 128, 0));
}

#[test]
fn shared_memory_is_new_in_every_block() {
    let body = |store: &str| {
        format!(
            ".shared .align 4 .b32 tile[64];
        mov.u64 %d1, tile; mad.wide.u32 %d2, %t, 4, %d1;
        {store}
        bar.sync 0;
        ld.shared.u32 %r1, [%d2]; // here"
        )
    };
    assert_silent(found(&body("st.shared.u32 [%d2], 1;"), 64));
    let partly = "setp.eq.u32 %p1, %t, 33; @!%p1 st.shared.u32 [%d2], 1;";
    let finding = assert_one(
        found(&body(partly), 64),
        FindingKind::UnwrittenShared,
        Error,
        33,
        1,
    );
    assert!(finding.what.contains("offset 0x84"), "{finding}");
    // Only the first block writes.
    let first = "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; @%p1 st.shared.u32 [%d2], 1;";
    let ptx = kernel_of(&body(first));
    let mut machine = checking(&ptx);
    machine.use_threads(1);
    machine.checks.race = false;
    let out = machine.out::<u32>(1);
    let findings = machine.run("k", 3, 64, params![out]).findings;
    assert_eq!(
        (findings.len(), findings[0].count, findings[0].block),
        (1, 128, [1, 0, 0])
    );
    assert_eq!(findings[0].source.ptx_line, line_of(&ptx, "// here"));
}

#[test]
fn generic_addresses_lead_to_the_same() {
    let body = ".shared .align 4 .b32 tile[64];
        mov.u64 %d1, tile; mad.wide.u32 %d2, %t, 4, %d1; cvta.shared.u64 %d3, %d2;
        ld.u32 %r1, [%d3]; // here";
    assert_one(found(body, 64), FindingKind::UnwrittenShared, Error, 0, 64);
    assert_one(
        read_from("ld.u32 %r1, [%mine];", 128, 64),
        FindingKind::UnwrittenDevice,
        Error,
        16,
        32,
    );
}

#[test]
fn without_the_check_nothing_is_said() {
    let ptx = kernel_of("ld.global.u32 %r1, [%mine];");
    let mut machine = Machine {
        checks: "mem,race,sync".parse().unwrap(),
        ..Machine::new(&ptx)
    };
    let from = machine.global.allocate(128).unwrap();
    machine.global.track_writes(from);
    assert_eq!(machine.run("k", 1, 32, params![from]).findings, []);
}
