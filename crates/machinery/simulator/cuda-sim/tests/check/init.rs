//! Reads of uninitialized memory.

use crate::*;

/// Runs `instruction` in two blocks of 32 threads, each of which loads a word of the same buffer of `bytes`
/// bytes. Only the first `initialized` bytes have been written.
fn read_from(instruction: &str, bytes: u64, initialized: u64) -> Checked {
    let ptx = kernel_of(&format!("{instruction} // here"));
    let mut machine = checking_machine(&ptx);
    let address = machine.global.allocate(bytes).unwrap();
    machine.global.track_initialization(address);
    if initialized > 0 {
        machine
            .global
            .mark_initialized(address, [(address, initialized)].into_iter());
    }
    machine.options.checks.race = false;
    (machine.run("k", 2, 32, params![address]).findings, ptx)
}

#[test]
fn reads_of_uninitialized_device_memory_are_reported() {
    let load = "add.u32 %r2, %r1, 1; ld.global.u32 %r1, [%mine];";
    let finding = read_from(load, 128, 0).single(UninitializedDevice, Error, 0, 64);
    assert_contains(&finding.details, "byte 0 of the 128-byte allocation");
    let finding = read_from(load, 128, 90).single(UninitializedDevice, Error, 22, 20);
    assert_contains(&finding.details, "byte 88 of");
    read_from(load, 128, 128).none();
    let finding =
        read_from("ld.global.u8 %r1, [%out];", 1, 0).single(UninitializedDevice, Error, 0, 64);
    assert_contains(&finding.details, "all of the 1-byte allocation");
    let vector_load = "add.u32 %r2, %r2, 1; ld.global.v2.u32 {%r1, %r2}, [%out+56];";
    read_from(vector_load, 128, 60).single(UninitializedDevice, Error, 0, 64);
    read_from(vector_load, 128, 64).none();
    // Memory that the thread has written itself.
    read_from(
        "st.global.u32 [%mine], 0; ld.global.u32 %r1, [%mine];",
        128,
        0,
    )
    .none();
    let half_word_store =
        "add.u32 %r2, %r1, 1; st.global.u16 [%mine+2], 0; ld.global.u32 %r1, [%mine];";
    read_from(half_word_store, 128, 0).single(UninitializedDevice, Error, 0, 64);
}

#[test]
fn atomics_on_uninitialized_memory_are_reported() {
    let count = "red.global.add.u32 [%out], 1;";
    let (findings, _) = read_from(count, 128, 0);
    assert_eq!(findings[0].kind, UninitializedDevice);
    assert_eq!(
        findings[0].count, 64,
        "an addition leaves memory uninitialized"
    );
    read_from(count, 128, 4).none();
    read_from("atom.global.exch.b32 %r1, [%mine], 1;", 128, 0).none();
}

#[test]
fn shared_memory_is_uninitialized_in_every_block() {
    let body = |store: &str| {
        format!(
            ".shared .align 4 .b32 tile[64];
        mov.u64 %d1, tile; mad.wide.u32 %d2, %t, 4, %d1;
        {store}
        bar.sync 0;
        ld.shared.u32 %r1, [%d2]; // here"
        )
    };
    check_kernel(&body("st.shared.u32 [%d2], 1;"), 64).none();
    let all_but_one = "setp.eq.u32 %p1, %t, 33; @!%p1 st.shared.u32 [%d2], 1;";
    let finding = check_kernel(&body(all_but_one), 64).single(UninitializedShared, Error, 33, 1);
    assert_contains(&finding.details, "offset 0x84");
    // Only the first block writes.
    let first = "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; @%p1 st.shared.u32 [%d2], 1;";
    let ptx = kernel_of(&body(first));
    let mut machine = checking_machine(&ptx);
    machine.use_threads(1);
    machine.options.checks.race = false;
    let out = machine.out::<u32>(1);
    let findings = machine.run("k", 3, 64, params![out]).findings;
    assert_eq!(
        (findings.len(), findings[0].count, findings[0].block),
        (1, 128, [1, 0, 0])
    );
    assert_eq!(findings[0].source.ptx_line, line_of(&ptx, "// here"));
}

#[test]
fn reads_through_generic_addresses_are_reported() {
    let body = ".shared .align 4 .b32 tile[64];
        mov.u64 %d1, tile; mad.wide.u32 %d2, %t, 4, %d1; cvta.shared.u64 %d3, %d2;
        ld.u32 %r1, [%d3]; // here";
    check_kernel(body, 64).single(UninitializedShared, Error, 0, 64);
    read_from("ld.u32 %r1, [%mine];", 128, 64).single(UninitializedDevice, Error, 16, 32);
}

#[test]
fn disabled_check_reports_nothing() {
    let ptx = kernel_of("ld.global.u32 %r1, [%mine];");
    let mut machine = Machine::checking(&ptx, "mem,race,sync".parse().unwrap());
    let address = machine.global.allocate(128).unwrap();
    machine.global.track_initialization(address);
    assert_eq!(machine.run("k", 1, 32, params![address]).findings, []);
}

#[test]
fn reads_of_uninitialized_local_memory_are_reported() {
    let module = |body: &str| {
        kernel_of(&format!(
            ".local .align 8 .b8 own[32];
        mov.u64 %d1, own;
        {body}
        st.global.u32 [%mine], %r1;"
        ))
    };
    let check = |body: &str| check_module(&module(body), 32);
    let kind = UninitializedLocal;
    let finding = check("ld.local.u32 %r1, [%d1+8]; // here").single(kind, Error, 0, 32);
    assert_contains(&finding.details, "offset 0x8 of local memory");
    // Some threads write the word, and others do not.
    let some_threads = "setp.lt.u32 %p1, %t, 5; @%p1 st.local.u32 [%d1+8], %t;
        ld.local.u32 %r1, [%d1+8]; // here";
    check(some_threads).single(kind, Error, 5, 27);
    // Through a generic address.
    let generic = "cvta.local.u64 %d2, %d1; ld.u32 %r1, [%d2+4]; // here";
    check(generic).single(kind, Error, 0, 32);
    check("st.local.u32 [%d1+8], %t; ld.local.u32 %r1, [%d1+8];").none();
    check("cvta.local.u64 %d2, %d1; st.u32 [%d2+4], %t; ld.local.u32 %r1, [%d1+4];").none();
    // Copies of structures whose padding is uninitialized are allowed.
    check("st.local.u8 [%d1+8], %h1; ld.local.u32 %r1, [%d1+8];").none();
}

/// Local memory is uninitialized again in each block.
#[test]
fn local_memory_is_uninitialized_in_every_block() {
    let ptx = kernel_of(
        ".local .align 4 .b8 own[4];
        mov.u64 %d1, own;
        mov.u32 %r2, %ctaid.x;
        setp.eq.u32 %p1, %r2, 0;
        @%p1 st.local.u32 [%d1], %t;
        ld.local.u32 %r1, [%d1]; // here
        @%p1 st.global.u32 [%mine], %r1;",
    );
    let mut machine = checking_machine(&ptx);
    machine.use_threads(1);
    let out = machine.out::<u32>(32);
    let findings = machine.run("k", 3, 32, params![out]).findings;
    let kinds: Vec<_> = findings
        .iter()
        .map(|finding| (finding.kind, finding.block, finding.count))
        .collect();
    assert_eq!(kinds, [(UninitializedLocal, [1, 0, 0], 64)]);
}

/// Runs `write` and `body` in a kernel for 32 threads, each of which has 16 bytes at `[%d1]` and `[%d2]` in two buffers whose
/// bytes are uninitialized.
fn move_structures(write: &str, body: &str) -> Checked {
    let ptx = kernel_of(&format!(
        ".shared .align 16 .b8 tile[1024];
        .local .align 16 .b8 own[32];
        mad.wide.u32 %d1, %t, 16, %out; add.u64 %d2, %d1, 512;
        mov.u64 %d5, tile; mad.wide.u32 %d5, %t, 16, %d5; mov.u64 %d6, own;
        {write}
        {body}"
    ));
    let mut machine = checking_machine(&ptx);
    let address = machine.global.allocate(1024).unwrap();
    machine.global.track_initialization(address);
    (machine.run("k", 1, 32, params![address]).findings, ptx)
}

/// Three members of 4 bytes, and padding of 4 bytes.
const MEMBERS: &str = "st.global.v2.u32 [%d1], {%t, %t}; st.global.u32 [%d1+8], %t;";

#[test]
fn padding_may_be_copied() {
    for body in [
        "ld.global.v2.u64 {%d3, %d4}, [%d1]; st.global.v2.u64 [%d2], {%d3, %d4};",
        // In parts, one of which is only padding.
        "ld.global.u32 %r1, [%d1+12]; ld.global.u64 %d3, [%d1]; ld.global.u32 %r2, [%d1+8];
        st.global.u32 [%d2+12], %r1; st.global.u64 [%d2], %d3; st.global.u32 [%d2+8], %r2;",
        // The first member is used, and one of two structures is selected.
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1]; add.u32 %r1, %r1, 1;
        setp.eq.u32 %p1, %r1, 3; selp.u32 %r4, %r4, %r3, %p1;
        st.global.v4.u32 [%d2], {%r1, %r2, %r3, %r4};",
        // The used member and the padding are in one register.
        "ld.global.u64 %d3, [%d1+8]; cvt.u32.u64 %r1, %d3; add.u32 %r1, %r1, 1; shl.b64 %d4, %d3, 32;
        shr.u64 %d4, %d4, 32; add.u64 %d4, %d4, 1; and.b64 %d4, %d3, 65535; add.u64 %d4, %d4, 1;
        mov.b64 {%r2, %r3}, %d3; add.u32 %r2, %r2, 1; st.global.u32 [%d2], %r3;",
        // Through shared and local memory.
        "ld.global.u64 %d3, [%d1]; ld.global.u64 %d4, [%d1+8];
        st.shared.u64 [%d5], %d3; st.shared.u64 [%d5+8], %d4; bar.sync 0;
        ld.shared.v2.u64 {%d3, %d4}, [%d5];
        st.local.v2.u64 [%d6], {%d3, %d4}; ld.local.u32 %r1, [%d6]; ld.local.u32 %r2, [%d6+12];
        st.global.u32 [%d2], %r1; st.global.u32 [%d2+12], %r2;",
        "ld.u64 %d3, [%d1]; ld.u64 %d4, [%d1+8]; st.u64 [%d2], %d3; st.u64 [%d2+8], %d4;",
        "cp.async.ca.shared.global [%d5], [%d1], 16; cp.async.wait_all; bar.sync 0;
        ld.shared.v2.u64 {%d3, %d4}, [%d5]; st.global.v2.u64 [%d2], {%d3, %d4};",
        "st.local.u32 [%d6], %t; ld.local.u64 %d3, [%d6+8]; ld.local.u64 %d4, [%d6];
        st.global.u64 [%d2], %d3; st.global.u64 [%d2+8], %d4;",
        // A byte of a loop, and a byte of a structure that the compiler keeps in registers.
        "add.u64 %d7, %d1, 14; ld.global.u8 %h1, [%d7]; st.global.u8 [%d2+14], %h1;",
        "ld.local.u8 %h1, [%d6]; st.global.u8 [%d2], %h1;",
    ] {
        move_structures(MEMBERS, body).none();
    }
}

#[test]
fn uses_of_padding_are_reported() {
    let kind = UninitializedDevice;
    // The last member is used although nothing has set it.
    for body in [
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1]; // here
        add.u32 %r4, %r4, 1; st.global.u32 [%d2], %r4;",
        "ld.global.u64 %d3, [%d1+8]; // here
        shr.u64 %d4, %d3, 32; cvt.u32.u64 %r1, %d4; add.u32 %r1, %r1, 1;",
        "ld.global.u64 %d3, [%d1+8]; // here
        mov.b64 {%r1, %r2}, %d3; selp.u32 %r2, %r2, %r1, %p1; add.u32 %r2, %r2, 1;",
        // Copied first.
        "ld.global.v2.u64 {%d3, %d4}, [%d1]; st.global.v2.u64 [%d2], {%d3, %d4};
        ld.global.u32 %r1, [%d2+12]; // here
        add.u32 %r1, %r1, 1;",
        "ld.global.u64 %d3, [%d1+8]; add.u64 %d4, %d2, 4; st.global.u64 [%d2], %d3;
        ld.global.u32 %r1, [%d4]; // here
        add.u32 %r1, %r1, 1;",
    ] {
        move_structures(MEMBERS, body).single(kind, Error, 0, 32);
    }
    // Through shared memory.
    for copy in [
        "ld.global.v2.u64 {%d3, %d4}, [%d1]; st.shared.v2.u64 [%d5], {%d3, %d4};",
        "cp.async.ca.shared.global [%d5], [%d1], 16; cp.async.wait_all;",
        "cp.async.ca.shared.global [%d5+8], [%d1+8], 8; cp.async.wait_all;",
    ] {
        let body = format!(
            "{copy} bar.sync 0; ld.shared.u32 %r1, [%d5+12]; // here
            add.u32 %r1, %r1, 1;"
        );
        move_structures(MEMBERS, &body).single(UninitializedShared, Error, 0, 32);
    }
    // Copies of elements none of whose bytes are initialized.
    for body in [
        "ld.global.u32 %r1, [%d1+12]; // here
        st.global.u32 [%d2], %r1;",
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d2]; // here
        st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};",
        "cp.async.ca.shared.global [%d5], [%d2], 16; // here",
    ] {
        move_structures(MEMBERS, body).single(kind, Error, 0, 32);
    }
}

#[test]
fn gaps_between_written_bytes_have_their_own_cause() {
    let ptx = kernel_of("ld.global.u32 %r1, [%out+12]; add.u32 %r1, %r1, 1; // here");
    let mut machine = checking_machine(&ptx);
    let address = machine.global.allocate(128).unwrap();
    machine.global.track_initialization(address);
    let written = [(address, 12), (address + 16, 12)];
    machine
        .global
        .mark_initialized(address, written.into_iter());
    let findings = machine.run("k", 1, 1, params![address]).findings;
    assert_eq!(findings[0].likely_cause, Some(Cause::GapsNotInitialized));
}
