//! Accesses that fault on a GPU: the fault's kind and its location.

use crate::harness::*;
use cuda_sim::check::FindingKind;
use cuda_sim::exec::FaultKind;

const PTX: &str = include_str!("../../kernels/ptx/memory.ptx");

#[test]
fn out_of_bounds_store_names_kernel_block_thread_and_line() {
    let mut machine = Machine::new(PTX);
    let out = machine.out::<u32>(100);
    for (kernel_thread, index) in [(0, 100), (77, 1 << 20), (131, u32::MAX)] {
        let fault = machine.fault("store_at", 3, 50, params![out, kernel_thread, index]);
        let address = out + 4 * u64::from(index);
        assert_eq!(illegal(&fault), (AddressedMemory::Device, address, true));
        let location = location(&fault);
        assert_eq!(location.kernel, "store_at");
        assert_eq!(location.block, [kernel_thread / 50, 0, 0]);
        assert_eq!(location.thread, [kernel_thread % 50, 0, 0]);
        assert_eq!(location.source.file.as_deref(), Some("kernels/memory.cu"));
        let source = include_str!("../../kernels/memory.cu");
        let line = line_of(source, "out[far] = 1; // here");
        assert_eq!(location.source.line, line);
        let text = fault.to_string();
        for part in ["store_at", "write of 4 bytes", "kernels/memory.cu:"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    // The last word is inside.
    machine.run("store_at", 3, 50, params![out, 5u32, 99u32]);
    assert_eq!(machine.read::<u32>(out, 100)[99], 1);
}

#[test]
fn lowest_faulting_block_is_reported() {
    let mut machine = Machine::new(PTX);
    let source = machine.buffer(&[0u32; 64]);
    let index: Vec<u32> = (0..6400).map(|i| if i >= 3200 { i } else { 0 }).collect();
    let (out, indices) = (machine.out::<u32>(6400), machine.buffer(&index));
    for threads in [1, 2, 4] {
        machine.use_threads(threads);
        let fault = machine.fault("gather", 100, 64, params![out, source, indices, 6400u32]);
        assert_eq!(
            illegal(&fault),
            (AddressedMemory::Device, source + 4 * 3200, false)
        );
        assert_eq!(location(&fault).block, [50, 0, 0]);
    }
}

#[test]
fn freed_memory_and_null_are_illegal() {
    let mut machine = Machine::new(PTX);
    let (out, freed) = (machine.out::<u32>(32), machine.buffer(&[1u32; 32]));
    let index = machine.buffer(&[0u32; 32]);
    machine.run("gather", 1, 32, params![out, freed, index, 32u32]);
    machine.global.free(freed).expect("cannot free the buffer");
    for address in [freed, 0, 1 << 63, u64::MAX - 3] {
        let fault = machine.fault("gather", 1, 32, params![out, address, index, 32u32]);
        assert_eq!(illegal(&fault), (AddressedMemory::Device, address, false));
    }
}

/// Returns a kernel in which each thread accesses one element of `bytes` bytes at its index.
fn access(instruction: &str, bytes: u64) -> String {
    kernel_of(&format!(
        "mad.wide.u32 %d1, %t, {bytes}, %out;\n{instruction};"
    ))
}

const ACCESSES: [(&str, u64); 14] = [
    ("ld.global.u8 %r1, [%d1]", 1),
    ("ld.global.s16 %r1, [%d1]", 2),
    ("ld.global.f32 %r1, [%d1]", 4),
    ("ld.global.u64 %d2, [%d1]", 8),
    ("ld.global.v4.u8 {%r1, %r2, %r3, %r4}, [%d1]", 4),
    ("ld.global.v2.u16 {%r1, %r2}, [%d1]", 4),
    ("ld.global.nc.v4.f32 {%r1, %r2, %r3, %r4}, [%d1]", 16),
    ("ld.volatile.global.v2.f64 {%d2, %d3}, [%d1]", 16),
    ("ld.v2.u32 {%r1, %r2}, [%d1]", 8),
    ("st.global.u16 [%d1], %h1", 2),
    ("st.global.u32 [%d1], 5", 4),
    ("st.global.v4.u16 [%d1], {%h1, %h2, %h3, %h4}", 8),
    ("st.global.v4.f32 [%d1], {%r1, %r2, %r3, %r4}", 16),
    ("st.v2.u64 [%d1], {%d2, %d3}", 16),
];

#[test]
fn one_out_of_bounds_lane_faults() {
    for (instruction, bytes) in ACCESSES {
        let mut machine = Machine::new(&access(instruction, bytes));
        let in_bounds = machine.out::<u8>(32 * bytes as usize);
        machine.run("k", 1, 32, params![in_bounds]);
        let too_short = machine.out::<u8>(32 * bytes as usize - 1);
        let fault = machine.fault("k", 1, 32, params![too_short]);
        let (_, address, write) = illegal(&fault);
        let expected = (too_short + 31 * bytes, instruction.starts_with("st"));
        assert_eq!((address, write), expected, "{instruction}");
        assert_eq!(location(&fault).thread, [31, 0, 0]);
    }
}

#[test]
fn misaligned_addresses_fault() {
    for (instruction, bytes) in ACCESSES.into_iter().filter(|&(_, bytes)| bytes > 1) {
        let mut machine = Machine::new(&access(instruction, bytes));
        let out = machine.out::<u8>(64 * bytes as usize);
        for offset in [1, bytes / 2, bytes - 1] {
            let fault = machine.fault("k", 1, 32, params![out + offset]);
            let kind = FaultKind::MisalignedAddress {
                address: out + offset,
                bytes: bytes as u32,
            };
            assert_eq!(fault.kind, kind, "{instruction}");
        }
    }
}

#[test]
fn shared_local_and_constant_memory_have_bounds() {
    let mut machine = Machine::new(PTX);
    let out = machine.out::<u32>(32);
    // All eight words exist, the ninth does not.
    let fault = machine.fault("shared_out_of_bounds", 1, 32, params![out, 1u32]);
    assert_eq!(illegal(&fault), (AddressedMemory::Shared, 32, false));
    assert_eq!(location(&fault).thread, [7, 0, 0]);
    machine.run("shared_out_of_bounds", 1, 8, params![out, 0u32]);

    let fault = machine.fault("constant_out_of_bounds", 1, 32, params![out, 1u32 << 14]);
    assert_eq!(illegal(&fault).0, AddressedMemory::Constant);

    machine.run("local_out_of_bounds", 1, 32, params![out, 3u32]);
    let fault = machine.fault("local_out_of_bounds", 1, 32, params![out, 1u32 << 16]);
    assert_eq!(illegal(&fault).0, AddressedMemory::Local);
}

#[test]
fn generic_addresses_beyond_a_window_fault() {
    let cases = [
        (".shared .b32 tile[4];", "shared", "tile"),
        (".local .b32 own[4];", "local", "own"),
    ];
    for (variable, space, name) in cases {
        for (offset, faults) in [(12, false), (16, true), (-4, true)] {
            let ptx = kernel_of(&format!(
                "{variable}
                mov.u64 %d1, {name};
                cvta.{space}.u64 %d2, %d1;
                st.u32 [%d2+{offset}], 5;
                ld.u32 %r1, [%d2+{offset}];
                st.global.u32 [%mine], %r1;"
            ));
            match words(&ptx, 1) {
                Ok(words) => assert!(!faults && words == [5], "{space}+{offset}"),
                Err(fault) => {
                    assert!(faults, "{space}+{offset}: {fault}");
                    assert_eq!(illegal(&fault).0, AddressedMemory::Generic);
                }
            }
        }
    }
}

#[test]
fn writes_to_kernel_parameters_fault() {
    let ptx = kernel_of(
        "mov.u64 %d1, p;
        cvta.param.u64 %d2, %d1;
        ld.u64 %d3, [%d2];
        setp.ne.u64 %p1, %d3, %out;
        @%p1 trap;
        st.u32 [%d2], 5;",
    );
    let fault = words(&ptx, 32).expect_err("the write did not fault");
    assert!(illegal(&fault).2, "{fault}");
    let ptx = kernel_of(
        "mov.u64 %d1, p;
        cvta.param.u64 %d2, %d1;
        atom.add.u32 %r1, [%d2], 5;",
    );
    let fault = words(&ptx, 32).expect_err("the write did not fault");
    assert!(illegal(&fault).2, "{fault}");
}

#[test]
fn atomics_check_bounds_and_alignment() {
    for (offset, misaligned) in [(4 * 32, false), (2, true)] {
        for instruction in [
            "atom.global.add.u32 %r1,",
            "red.global.max.u32",
            "atom.add.u32 %r1,",
        ] {
            let ptx = kernel_of(&format!("{instruction} [%mine+{offset}], 1;"));
            let fault = words(&ptx, 32).expect_err("the address did not fault");
            match fault.kind {
                FaultKind::MisalignedAddress { bytes: 4, .. } => assert!(misaligned),
                FaultKind::IllegalAddress { write: true, .. } => assert!(!misaligned),
                _ => panic!("unexpected fault: {fault}"),
            }
        }
    }
}

#[test]
fn writes_to_constants_fault() {
    let kernel = |access: &str| {
        module_of(
            ".const .align 4 .u32 c[256] = {5, 6, 7};",
            &format!(
                "mov.u64 %d1, c;
        cvta.const.u64 %d2, %d1;
        mad.wide.u32 %d2, %t, 4, %d2;
        {access}
        ld.const.u32 %r1, [c+4];
        st.global.u32 [%mine], %r1;"
            ),
        )
    };
    for write in [
        "st.u32 [%d2+4], 77;",
        "st.global.u32 [%d2+4], 77;",
        "st.volatile.u32 [%d2+4], 77;",
        "atom.or.b32 %r2, [%d2+4], 0;",
        "red.global.add.u32 [%d2+4], 1;",
    ] {
        for threads in [1, 32, 128] {
            let fault = words(&kernel(write), threads).expect_err(write);
            assert!(illegal(&fault).2, "{write}: {fault}");
            let finding = fault.finding().expect("the fault has no finding");
            assert_eq!(finding.kind, FindingKind::WrongSpace, "{finding}");
            assert!(
                finding.details.to_string().contains("constant memory"),
                "{finding}"
            );
        }
    }
    // Reads through a generic address are allowed.
    let read = kernel("ld.u32 %r2, [%d2+4]; ld.global.u32 %r2, [%d2+8];");
    assert_words(&read, 64, |_| 6);
}
