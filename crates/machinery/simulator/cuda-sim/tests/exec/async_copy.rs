//! Asynchronous copies to shared memory: their results before and after waiting, and rejected forms.

use crate::harness::*;
use cuda_sim::exec::{FaultKind, Traced, Tracing};
use cuda_sim::isa::{AccessClass, AccessKind, Memory};

/// Returns a kernel whose threads have `%to`, their 16 bytes of shared memory, filled with 7, and `%from`, 16
/// bytes each of a table that counts from 100. `%r1` at the end is the thread's result.
fn copy_kernel(body: &str) -> String {
    let table: Vec<String> = (100..356).map(|word: u32| word.to_string()).collect();
    module_of(
        &format!(
            ".global .align 16 .u32 table[256] = {{{}}};",
            table.join(", ")
        ),
        &format!(
            ".shared .align 16 .b32 tile[256];
    .reg .b64 %to, %from;
    mov.u64 %d1, tile; mad.wide.u32 %to, %t, 16, %d1;
    mov.u64 %d2, table; mad.wide.u32 %from, %t, 16, %d2;
    st.shared.v4.u32 [%to], {{7, 7, 7, 7}};
    {body}
    st.global.u32 [%mine], %r1;"
        ),
    )
}

fn run(body: &str, threads: u32) -> Vec<u32> {
    words(&copy_kernel(body), threads).unwrap_or_else(|fault| panic!("{body}: {fault}"))
}

#[test]
fn every_size_and_cache_operator_copies() {
    for (operands, last_word) in [
        ("ca.shared.global [%to], [%from], 4;", 0),
        ("ca.shared.global [%to], [%from], 8;", 1),
        ("ca.shared::cta.global [%to], [%from], 16;", 3),
        ("cg.shared.global [%to], [%from], 16;", 3),
        ("cg.shared.global.L2::128B [%to+0], [%from+0], 16;", 3),
    ] {
        for threads in [1, 31, 32, 33, 64] {
            for word in 0..4 {
                let wait = "cp.async.wait_all; ld.shared.u32 %r1, ";
                let body = format!("cp.async.{operands} {wait} [%to+{}];", word * 4);
                let ptx = copy_kernel(&body).replace(".version 7.0", ".version 7.4");
                let is_copied = word <= last_word;
                let copied = |t| 100 + t * 4 + word;
                assert_words(&ptx, threads, |t| if is_copied { copied(t) } else { 7 });
            }
        }
    }
}

#[test]
fn copies_are_invisible_until_waited_for() {
    let copy = |word: u32| {
        format!(
            "cp.async.ca.shared.global [%to+{0}], [%from+{0}], 4; cp.async.commit_group;",
            word * 4
        )
    };
    let three = copy(0) + &copy(1) + &copy(2);
    let repeated_waits = "cp.async.wait_group 9; cp.async.wait_group 2; cp.async.wait_group 2;";
    for (wait, visible) in [
        ("", 0),
        ("bar.sync 0;", 0),
        ("cp.async.wait_group 3;", 0),
        ("cp.async.wait_group 2;", 1),
        ("cp.async.wait_group 1;", 2),
        ("cp.async.wait_group 0;", 3),
        ("cp.async.wait_all;", 3),
        (repeated_waits, 1),
    ] {
        for word in 0..3 {
            let body = format!("{three} {wait} ld.shared.u32 %r1, [%to+{}];", word * 4);
            let copied = |t| 100 + t * 4 + word;
            let expected = |t| if word < visible { copied(t) } else { 7 };
            assert_words(&copy_kernel(&body), 33, expected);
        }
    }
    // A copy that was never committed is in no group: only `wait_all` waits for it.
    for (wait, visible) in [("wait_group 0", false), ("wait_all", true)] {
        let body = format!(
            "cp.async.ca.shared.global [%to], [%from], 4; cp.async.{wait}; ld.shared.u32 %r1, [%to];"
        );
        assert_eq!(run(&body, 1), [if visible { 100 } else { 7 }], "{wait}");
    }
}

#[test]
fn traces_show_the_bytes_of_copies_in_flight() {
    let load = "ld.shared.u32 %r1, [%to];";
    let copy = |size: u32| {
        format!(
            "mov.u32 %r2, {size}; cp.async.ca.shared.global [%to], [%from], 4, %r2; cp.async.commit_group;"
        )
    };
    let body = format!(
        "{load} {} {load} cp.async.wait_group 1; {load} cp.async.wait_group 0; {load} bar.sync 0; {load} {} {load}",
        copy(4),
        // A copy that reads nothing.
        copy(0)
    );
    let trace = traced(&body);
    let loads = trace
        .iter()
        .filter(|access| access.kind == AccessKind::Load && access.memory == Memory::Shared);
    let in_flight = loads.map(|access| {
        (
            access.phase,
            access.bytes_in_flight,
            access.phase_bytes_in_flight,
        )
    });
    let in_flight: Vec<(u32, u64, u64)> = in_flight.collect();
    // All bytes that are in flight at any time before the barrier, then none.
    assert_eq!(
        in_flight,
        [
            (0, 0, 4),
            (0, 4, 4),
            (0, 4, 4),
            (0, 0, 4),
            (1, 0, 0),
            (1, 0, 0)
        ]
    );
}

#[test]
fn copies_past_l1_are_traced() {
    let trace = traced("cp.async.cg.shared.global [%to], [%from], 16; cp.async.wait_all;");
    let copies = trace
        .iter()
        .filter(|access| access.kind == AccessKind::AsyncCopyBypassL1);
    assert_eq!(copies.count(), 1);
}

/// Returns the accesses of one thread of a [`copy_kernel`].
fn traced(body: &str) -> Vec<Traced> {
    let mut machine = Machine::new(&copy_kernel(body));
    machine.options.tracing = Some(Tracing::All);
    let out = machine.out::<u32>(1);
    machine.report(&Launch::new("k", 1, 1, params![out])).trace
}

#[test]
fn groups_are_per_thread() {
    // Odd threads commit another, empty group after their copy.
    let body = "and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 1;
    cp.async.ca.shared.global [%to], [%from], 4; cp.async.commit_group;
    @%p1 cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.u32 %r1, [%to];";
    let expected = |t: u32| if t % 2 == 1 { 100 + 4 * t } else { 7 };
    assert_words(&copy_kernel(body), 40, expected);
}

#[test]
fn bytes_beyond_source_size_are_zero() {
    for (size, word, expected) in [
        ("0", 0, 0),
        ("4", 0, 100),
        ("4", 1, 0),
        ("12", 3, 0),
        ("16", 3, 103),
    ] {
        let body = format!(
            "mov.u32 %r2, {size};
    cp.async.cg.shared.global [%to], [%from], 16, %r2; cp.async.wait_all;
    ld.shared.u32 %r1, [%to+{}];",
            word * 4
        );
        assert_eq!(run(&body, 1), [expected], "{size} bytes, word {word}");
    }
    // A source of zero bytes is not read, whatever its address.
    let body = "mov.u64 %from, 16; setp.eq.u32 %p1, %t, %t;
    cp.async.ca.shared.global [%to], [%from], 4, 0;
    cp.async.ca.shared.global [%to+4], [%from], 4, %p1; cp.async.wait_all;
    ld.shared.v2.u32 {%r2, %r3}, [%to]; or.b32 %r1, %r2, %r3;";
    assert_eq!(run(body, 3), [0; 3]);
}

#[test]
fn invalid_addresses_fault_like_loads_and_stores() {
    let fault = |change: &str| {
        let body = format!("{change} cp.async.cg.shared.global [%to], [%from], 16;");
        let mut machine = Machine::new(&copy_kernel(&body));
        let out = machine.out::<u32>(32);
        machine.fault("k", 1, 32, params![out])
    };
    for change in ["add.u64 %from, %from, 8;", "add.u64 %to, %to, 4;"] {
        let actual = fault(change);
        let is_expected = matches!(actual.kind, FaultKind::MisalignedAddress { bytes: 16, .. });
        assert!(is_expected, "{actual}");
    }
    let (memory, address, write) = illegal(&fault("add.u64 %to, %to, 1024;"));
    assert_eq!(
        (memory, address, write),
        (AddressedMemory::Shared, 1024, true)
    );
    let (memory, address, write) = illegal(&fault("mov.u64 %from, 16;"));
    assert_eq!(
        (memory, address, write),
        (AddressedMemory::Device, 16, false)
    );
}

#[test]
fn copies_count_global_reads_and_shared_writes() {
    let body = "cp.async.cg.shared.global [%to], [%from], 16; cp.async.wait_all; mov.u32 %r1, 0;";
    let tally = profiled(&copy_kernel(body), 64);
    let copies = tally[AccessClass::CopyReadBypassL1];
    assert_eq!((copies.requests, copies.sectors, copies.hits), (2, 32, 0));
    assert_eq!((copies.threads, copies.bytes), (64, 1024));
    let written = tally[AccessClass::CopyWrite];
    let written = (written.requests, written.wavefronts, written.conflicts);
    assert_eq!(written, (2, 8, 0));
}

/// As Nsight Compute counts on an H200: a lane that reads nothing is in no request, and a warp of such lanes
/// makes no request.
#[test]
fn lanes_that_read_nothing_make_no_request() {
    let half_of_lanes = "setp.lt.u32 %p1, %t, 16; selp.u32 %r2, 16, 0, %p1;";
    for (size, requests, sectors, threads) in [
        ("mov.u32 %r2, 16;", 1, 16, 32),
        ("mov.u32 %r2, 0;", 0, 0, 0),
        (half_of_lanes, 1, 8, 16),
        ("and.b32 %r2, %t, 1; shl.b32 %r2, %r2, 4;", 1, 16, 16),
        ("mov.u32 %r2, 8;", 1, 16, 32),
    ] {
        let body = format!(
            "{size} cp.async.cg.shared.global [%to], [%from], 16, %r2; cp.async.wait_all;
    mov.u32 %r1, 0;"
        );
        let tally = profiled(&copy_kernel(&body), 32);
        let reads = tally[AccessClass::CopyReadBypassL1];
        let actual = (reads.requests, reads.sectors, reads.threads);
        assert_eq!(actual, (requests, sectors, threads), "{size}");
        let written = tally[AccessClass::CopyWrite];
        assert_eq!((written.issued, written.threads), (1, 32), "{size}");
    }
}

#[test]
fn invalid_forms_are_rejected_with_their_line() {
    for (instruction, expected) in cases(
        r"
        cp.async.cg.shared.global [%to], [%from], 8; => `cp.async.cg` takes a literal size of 16 bytes
        cp.async.ca.shared.global [%to], [%from], 2; => `cp.async.ca` takes a literal size of 4, 8 or 16 bytes
        cp.async.ca.shared.global [%to], [%from], %r1; => `cp.async.ca` takes a literal size
        cp.async.ca.shared.global [%to], [%from]; => two addresses and a size
        cp.async.ca.shared.global [%to], [%from], 4, %d1; => 32-bit register
        cp.async.ca.shared.global [%to], [p], 4; => from global to shared
        cp.async.ca.shared.global.L2::64B [%to], [%from], 4; => requires `.version 7.4` or newer
        cp.async.ca.global.shared [%to], [%from], 4; => is not simulated
        cp.async.bulk.commit_group; => requires `.target sm_90` or newer
        cp.async.wait_group %r1; => takes a literal number of groups
        cp.async.wait_all 1; => takes no operands
    ",
    ) {
        let ptx = copy_kernel(instruction);
        assert_load_error_at(&ptx, instruction, expected);
    }
    let old = copy_kernel("cp.async.wait_all;").replace("sm_80", "sm_75");
    assert_load_error(
        &old,
        "requires `.target sm_80` or newer, but the module's target is sm_75",
    );
}
