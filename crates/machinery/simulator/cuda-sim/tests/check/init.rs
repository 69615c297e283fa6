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
    let load = "ld.global.u32 %r1, [%mine];";
    let finding = read_from(load, 128, 0).single(UninitializedDevice, Error, 0, 64);
    assert_contains(&finding.details, "byte 0 of the 128-byte allocation");
    let finding = read_from(load, 128, 90).single(UninitializedDevice, Error, 22, 20);
    assert_contains(&finding.details, "byte 88 of");
    read_from(load, 128, 128).none();
    let finding =
        read_from("ld.global.u8 %r1, [%out];", 1, 0).single(UninitializedDevice, Error, 0, 64);
    assert_contains(&finding.details, "all of the 1-byte allocation");
    let vector_load = "ld.global.v2.u32 {%r1, %r2}, [%out+56];";
    read_from(vector_load, 128, 60).single(UninitializedDevice, Error, 0, 64);
    read_from(vector_load, 128, 64).none();
    // Memory that the thread has written itself.
    read_from(
        "st.global.u32 [%mine], 0; ld.global.u32 %r1, [%mine];",
        128,
        0,
    )
    .none();
    let half_word_store = "st.global.u16 [%mine+2], 0; ld.global.u32 %r1, [%mine];";
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
