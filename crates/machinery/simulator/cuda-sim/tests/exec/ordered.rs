//! Ordered accesses and fences: they transfer the same values as plain accesses, and they order the accesses of
//! blocks on several host threads.

use crate::harness::*;

/// Returns a kernel in which thread i copies element i, of `elements` parts, between the buffers whose
/// addresses are at `%out`.
fn copy_kernel(
    load: &str,
    store: &str,
    ty: &str,
    store_type: &str,
    elements: usize,
    bytes: usize,
) -> String {
    let wide = if bytes == 8 { "%w" } else { "%v" };
    let rows: Vec<String> = (1..=elements).map(|part| format!("{wide}{part}")).collect();
    let (vector, value) = match elements {
        1 => (String::new(), rows[0].clone()),
        _ => (format!(".v{elements}"), format!("{{{}}}", rows.join(", "))),
    };
    kernel_of(&format!(
        ".reg .b32 %v<5>;
        .reg .b64 %w<5>;
        mul.wide.u32 %d1, %t, {size};
        ld.global.u64 %d2, [%out];
        ld.global.u64 %d3, [%out+8];
        add.s64 %d2, %d2, %d1;
        add.s64 %d3, %d3, %d1;
        {load}{vector}.{ty} {value}, [%d2];
        {store}{vector}.{store_type} [%d3], {value};",
        size = bytes * elements,
    ))
}

#[test]
fn ordered_accesses_copy_like_plain_ones() {
    let access_pairs = [
        ("ld.volatile.global", "st.volatile.global"),
        ("ld.relaxed.gpu.global", "st.relaxed.sys.global"),
        ("ld.acquire.sys", "st.release.gpu"),
        ("ld.volatile", "st.volatile"),
    ];
    let types = [
        ("u8", "u8", 1),
        ("s8", "u8", 1),
        ("b16", "b16", 2),
        ("s16", "b16", 2),
        ("u32", "u32", 4),
        ("f32", "f32", 4),
        ("s64", "s64", 8),
    ];
    let source: Vec<u8> = noise(64 * 16).into_iter().map(|word| word as u8).collect();
    for (load, store) in access_pairs {
        for (ty, store_type, bytes) in types {
            for elements in [1, 2, 4]
                .into_iter()
                .filter(|elements| elements * bytes <= 16)
            {
                for threads in [1, 31, 64] {
                    let mut machine =
                        Machine::new(&copy_kernel(load, store, ty, store_type, elements, bytes));
                    let copied = threads * elements * bytes;
                    let from = machine.buffer(&source[..copied]);
                    let to = machine.out::<u8>(copied + 1);
                    let poison = machine.read::<u8>(to, 1);
                    let pointers = machine.buffer(&[from, to]);
                    machine.run("k", 1, threads as u32, params![pointers]);
                    let actual = machine.read::<u8>(to, copied + 1);
                    let context = format!("{load} {ty} of {elements} parts, {threads} threads");
                    assert_eq!(actual[..copied], source[..copied], "{context}");
                    assert_eq!(actual[copied..], poison, "{context}");
                }
            }
        }
    }
}

#[test]
fn narrow_loads_are_extended_by_type() {
    for (load, extended) in [
        ("s8", 0xffff_ff80),
        ("u8", 0x80),
        ("s16", 0xffff_8080),
        ("u16", 0x8080),
    ] {
        let mut machine = Machine::new(&kernel_of(&format!(
            "ld.volatile.global.{load} %r1, [%mine]; st.volatile.global.u32 [%mine], %r1;"
        )));
        let words = machine.buffer(&[0x1234_8080u32; 3]);
        machine.run("k", 1, 3, params![words]);
        assert_eq!(machine.read::<u32>(words, 3), [extended; 3], "{load}");
    }
}

/// Generic addresses to shared and local memory work too.
#[test]
fn ordered_accesses_work_in_every_space() {
    let ptx = module_of(
        ".shared .align 4 .b8 tile[256];",
        ".local .align 4 .b8 own[8];
        cvta.shared.u64 %d1, tile;
        mul.wide.u32 %d2, %t, 4;
        add.s64 %d1, %d1, %d2;
        cvta.local.u64 %d3, own;
        st.volatile.u32 [%d1], %t;
        ld.volatile.u32 %r1, [%d1];
        add.u32 %r1, %r1, 1;
        st.volatile.u32 [%d3+4], %r1;
        ld.volatile.u32 %r2, [%d3+4];
        st.volatile.shared.u32 [tile], %r2;
        ld.volatile.shared.u32 %r3, [tile];
        st.relaxed.gpu.u32 [%mine], %r3;",
    );
    let mut machine = Machine::new(&ptx);
    let out = machine.out::<u32>(32);
    machine.run("k", 1, 32, params![out]);
    // The highest lane's value remains.
    assert_eq!(machine.read::<u32>(out, 32), [32; 32]);
}

#[test]
fn out_of_bounds_and_misaligned_accesses_fault() {
    for (access, write) in [
        ("ld.acquire.gpu.global.u32 %r1, [%mine+4];", false),
        ("st.release.gpu.global.u32 [%mine+4], %t;", true),
    ] {
        let mut machine = Machine::new(&kernel_of(access));
        let out = machine.out::<u32>(40);
        let fault = machine.fault("k", 1, 40, params![out]);
        let thread = fault.location.as_ref().map(|thread| thread.thread);
        assert_eq!(thread, Some([39, 0, 0]), "{access}");
        assert_eq!(illegal(&fault), (AddressedMemory::Device, out + 160, write));
    }
    let mut machine = Machine::new(&kernel_of("ld.volatile.global.u32 %r1, [%mine+2];"));
    let out = machine.out::<u32>(8);
    let fault = machine.fault("k", 1, 4, params![out]);
    assert!(fault.to_string().contains("misaligned"), "{fault}");
}

/// Block b waits until the counter is b, reads with plain loads what the previous blocks wrote with plain
/// stores, and then increments the counter.
#[test]
fn release_publishes_earlier_writes() {
    let access_pairs = [
        ("ld.acquire.gpu.global.u32", "st.release.gpu.global.u32", ""),
        (
            "ld.volatile.global.u32",
            "st.volatile.global.u32",
            "membar.gl;",
        ),
        (
            "ld.relaxed.gpu.u32",
            "st.relaxed.gpu.u32",
            "fence.acq_rel.gpu;",
        ),
    ];
    for (load, store, fence) in access_pairs {
        let ptx = kernel_of(&format!(
            "mov.u32 %r1, %ctaid.x;
        WAIT:
            {load} %r2, [%out];
            setp.ne.u32 %p1, %r2, %r1;
            @%p1 bra WAIT;
            {fence}
            ld.global.v2.u32 {{%r3, %r4}}, [%out+8];
            add.u32 %r3, %r3, %r1;
            add.u32 %r4, %r4, 1;
            st.global.v2.u32 [%out+8], {{%r3, %r4}};
            {fence}
            add.u32 %r1, %r1, 1;
            {store} [%out], %r1;"
        ));
        for (threads, blocks) in [(1, 20), (3, 1), (3, 2), (4, 50)] {
            let mut machine = Machine::new(&ptx);
            machine.use_threads(threads);
            let words = machine.buffer(&[0u32; 4]);
            machine.run("k", blocks, 1, params![words]);
            let sum = blocks * (blocks - 1) / 2;
            let actual = machine.read::<u32>(words, 4);
            assert_eq!(
                actual,
                [blocks, 0, sum, blocks],
                "{load}, {threads} threads"
            );
        }
    }
}

/// Each of two blocks increments a word of its own and after each step reads the other's word. With a fence in
/// between, at least one of them must see the other's step (store buffering).
#[test]
fn fence_orders_store_before_load() {
    const STEPS: usize = if cfg!(miri) { 20 } else { 5000 };
    let mut machine = Machine::new(&kernel_of(&format!(
        "mov.u32 %r1, %ctaid.x;
        mul.wide.u32 %d1, %r1, 128;
        add.s64 %d1, %out, %d1;
        xor.b32 %r2, %r1, 1;
        mul.wide.u32 %d2, %r2, 128;
        add.s64 %d2, %out, %d2;
        mul.wide.u32 %d3, %r1, {bytes};
        add.s64 %d3, %out, %d3;
        mov.u32 %r3, 0;
    STEP:
        add.u32 %r3, %r3, 1;
        st.volatile.global.u32 [%d1], %r3;
        membar.gl;
        ld.volatile.global.u32 %r4, [%d2];
        st.global.u32 [%d3+256], %r4;
        add.s64 %d3, %d3, 4;
        setp.lt.u32 %p1, %r3, {STEPS};
        @%p1 bra STEP;",
        bytes = 4 * STEPS,
    )));
    machine.use_threads(2);
    for _ in 0..5 {
        let words = machine.buffer(&vec![0u32; 64 + 2 * STEPS]);
        machine.run("k", 2, 1, params![words]);
        let observed = machine.read::<u32>(words + 256, 2 * STEPS);
        let (first, second) = observed.split_at(STEPS);
        for (step, (first, second)) in (1u32..).zip(first.iter().zip(second)) {
            assert!(*first >= step || *second >= step, "both missed step {step}");
        }
    }
}

/// Blocks that race on one word leave the value of one of them, and a reader sees the value of one of them.
/// A race between the host's threads must do nothing else to memory.
#[test]
#[cfg_attr(miri, ignore = "a race on purpose")]
fn racing_blocks_leave_one_of_their_values() {
    const BLOCKS: u32 = 300;
    let mut machine = Machine::new(&kernel_of(
        "mov.u32 %r1, %ctaid.x;
        mul.lo.u32 %r1, %r1, 0x01010101;
        st.global.u32 [%out], %r1;
        ld.global.u32 %r2, [%out];
        mov.u32 %r1, %ctaid.x;
        mul.wide.u32 %d1, %r1, 4;
        add.s64 %d1, %out, %d1;
        st.global.u32 [%d1+4], %r2;",
    ));
    machine.use_threads(4);
    let words = machine.buffer(&vec![0u32; 1 + BLOCKS as usize]);
    machine.run("k", BLOCKS, 1, params![words]);
    for word in machine.read::<u32>(words, 1 + BLOCKS as usize) {
        let is_written = (0..BLOCKS).any(|block| block.wrapping_mul(0x0101_0101) == word);
        assert!(is_written, "{word:#x} is of no block");
    }
}
