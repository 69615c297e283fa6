//! Kernels whose threads access memory at `base + stride × thread`: a launch must succeed if every address is
//! inside an allocation and aligned, and fault otherwise.

use crate::support::{allocate, own_context};
use crate::{in_quiet_child, kernel, launch, load_module};

/// Size of the allocation in bytes: a multiple of 8 and of no greater power of two.
const BYTES: u64 = 8200;

/// Size of a block's shared memory in bytes.
const SHARED: u64 = 4096;

/// An instruction that accesses the address `%a`, and the size of its access in bytes.
type Form = (&'static str, u64);

const GLOBAL: [Form; 16] = [
    ("ld.global.u8 %r1, [%a];", 1),
    ("ld.global.u16 %h1, [%a];", 2),
    ("ld.global.u32 %r1, [%a];", 4),
    ("ld.global.v2.u32 {%r1, %r2}, [%a];", 8),
    ("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a];", 16),
    ("ld.global.nc.u32 %r1, [%a];", 4),
    ("ld.volatile.global.u32 %r1, [%a];", 4),
    ("ld.acquire.sys.global.u64 %b1, [%a];", 8),
    ("ld.global.u32 %r1, [%a+1048576];", 4),
    ("st.global.u8 [%a], %r1;", 1),
    ("st.global.v4.u32 [%a], {%r1, %r2, %r3, %r4};", 16),
    ("st.release.gpu.global.u32 [%a], %r1;", 4),
    ("atom.global.add.u32 %r1, [%a], 1;", 4),
    ("atom.global.cas.b64 %b1, [%a], %b1, %b2;", 8),
    ("red.global.add.u32 [%a], 1;", 4),
    (
        "cp.async.cg.shared.global [%s], [%a], 16;\ncp.async.wait_all;",
        16,
    ),
];

const IN_SHARED: [Form; 7] = [
    ("ld.shared.u32 %r1, [%a];", 4),
    ("ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%a];", 16),
    ("ld.volatile.shared.u32 %r1, [%a];", 4),
    ("st.shared.u32 [%a], %r1;", 4),
    ("st.shared.v4.u32 [%a], {%r1, %r2, %r3, %r4};", 16),
    ("atom.shared.add.u32 %r1, [%a], 1;", 4),
    ("atom.shared.cas.b64 %b1, [%a], %b1, %b2;", 8),
];

const STRIDES: [u64; 11] = [
    0,
    1,
    4,
    16,
    128,
    4_u64.wrapping_neg(),
    1 << 20,
    1 << 31,
    1 << 46,
    1 << 63,
    0x0808_0808_0808_0808,
];

const THREADS: [u32; 4] = [1, 5, 33, 64];

/// Returns a kernel with this instruction.
fn kernel_ptx(instruction: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 base, .param .u64 stride) {{\n\
         .shared .align 16 .b8 sm[{SHARED}];\n\
         .reg .b16 %h<2>;\n.reg .b32 %r<5>;\n.reg .b32 %t;\n.reg .b32 %s;\n.reg .b64 %a;\n.reg .b64 %q;\n\
         .reg .b64 %b<3>;\n\
         ld.param.u64 %a, [base];\nld.param.u64 %q, [stride];\nmov.u32 %t, %tid.x;\ncvt.u64.u32 %b1, %t;\n\
         mul.lo.u64 %q, %q, %b1;\nadd.u64 %a, %a, %q;\nmov.u32 %s, sm;\nshl.b32 %r1, %t, 4;\n\
         add.u32 %s, %s, %r1;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
         mov.u64 %b1, 0;\nmov.u64 %b2, 0;\n{instruction}\nret;\n}}\n\0"
    )
}

/// Launches a form with all strides and thread counts from all of these offsets, and checks that exactly the
/// valid launches succeed. After an error, continues with a new context and allocation.
fn check_all(
    form: Form,
    bases: impl Fn(u64) -> Vec<u64>,
    limit: u64,
    at: impl Fn(u64) -> u64,
) -> [u32; 2] {
    let (instruction, size) = form;
    let mut counted = [0; 2];
    for stride in STRIDES {
        for threads in THREADS {
            let mut next = 0;
            while next < bases(0).len() {
                let context = own_context();
                let function = kernel(load_module(&kernel_ptx(instruction)));
                let memory = allocate(BYTES as usize);
                let (start, bases) = (at(memory), bases(memory));
                while let Some(&base) = bases.get(next) {
                    next += 1;
                    let inside = |thread: u32| {
                        let address = base.wrapping_add(stride.wrapping_mul(u64::from(thread)));
                        let offset = address.wrapping_sub(start);
                        address.is_multiple_of(size) && offset < limit && limit - offset >= size
                    };
                    let succeeds = (0..threads).all(inside);
                    let moved = match instruction.contains("+1048576") {
                        true => base.wrapping_sub(1 << 20),
                        false => base,
                    };
                    let result = launch(function, threads, &[moved, stride]);
                    let works = result == 0;
                    assert_eq!(
                        works, succeeds,
                        "{instruction} from {base:#x} by {stride:#x}, {threads} threads: {result:?}"
                    );
                    counted[usize::from(works)] += 1;
                    if !works {
                        break;
                    }
                }
                drop(context);
            }
        }
    }
    counted
}

#[test]
fn accesses_outside_a_global_allocation_fault() {
    in_quiet_child(
        "accesses::accesses_outside_a_global_allocation_fault",
        || {
            for form in GLOBAL {
                let bases = |p: u64| {
                    let within = [0, 4, 16, BYTES - 16, BYTES - 4, BYTES - 256, BYTES];
                    let before = [1, 4, 16].map(|bytes| p.wrapping_sub(bytes));
                    let nobodys = [
                        8,
                        u64::MAX - 3,
                        u64::MAX - 15,
                        1 << 40,
                        3 << 60,
                        0x7fff_ffff_f000,
                    ];
                    let within = within.map(|bytes| p.wrapping_add(bytes));
                    [&within[..], &before, &nobodys].concat()
                };
                let [refused, worked] = check_all(form, bases, BYTES, |memory| memory);
                assert!(refused > 100 && worked > 10, "{form:?}: {refused} {worked}");
            }
        },
    );
}

#[test]
fn accesses_outside_shared_memory_fault() {
    in_quiet_child("accesses::accesses_outside_shared_memory_fault", || {
        for form in IN_SHARED {
            let bases = |_| {
                vec![
                    0,
                    4,
                    60,
                    SHARED - 16,
                    SHARED - 4,
                    SHARED - 1,
                    SHARED,
                    65_532,
                    1 << 19,
                    (1 << 32) - 16,
                    1 << 40,
                    u64::MAX - 15,
                ]
            };
            let [refused, worked] = check_all(form, bases, SHARED, |_| 0);
            assert!(refused > 100 && worked > 10, "{form:?}: {refused} {worked}");
        }
    });
}

/// Instructions whose operands may have any value: they succeed or fault, but never crash the simulator.
const ARBITRARY: [&str; 20] = [
    "ld.param.u32 %r1, [%a];",
    "ld.local.u32 %r1, [%a];",
    "st.local.v4.u32 [%a], {%r1, %r2, %r3, %r4};",
    "add.u64 %a, %a, 0x1000000000000000;\natom.add.u32 %r1, [%a], 1;",
    "add.u64 %a, %a, 0x2000000000000000;\nst.v4.u32 [%a], {%r1, %r2, %r3, %r4};",
    "add.u64 %a, %a, 0x3000000000000000;\nst.u32 [%a], %r1;",
    "{ P: .callprototype _ (); call %a, (), P; }",
    "cvt.u32.u64 %r1, %a;\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nA: ret;\nB: ret;",
    "cvt.u32.u64 %r1, %a;\nand.b32 %r1, %r1, 15;\nbar.sync %r1;",
    "cvt.u32.u64 %r1, %a;\nbar.sync 3, %r1;",
    "cvt.u32.u64 %r1, %a;\nbar.arrive 3, %r1;",
    "cvt.u32.u64 %r1, %a;\nshfl.sync.idx.b32 %r2, %r1, %r1, %r1, %r1;",
    "cvt.u32.u64 %r1, %a;\nmatch.any.sync.b32 %r2, %r1, %r1;",
    "cvt.u32.u64 %r1, %a;\nredux.sync.add.s32 %r2, %r1, %r1;",
    "cvt.u32.u64 %r1, %a;\nbfe.s32 %r2, %r1, %r1, %r1;\nbfi.b64 %b1, %b2, %b1, %r1, %r1;\nprmt.b32 %r2, %r1, %r1, %r1;",
    "cvt.u32.u64 %r1, %a;\nshl.b64 %b1, %b2, %r1;\nshf.l.wrap.b32 %r3, %r1, %r1, %r1;",
    "div.s32 %r2, %r1, 0;\nrem.u64 %b1, %a, 0;\ndiv.s64 %b1, %a, -1;",
    "prefetch.global.L2 [%a];\nprefetchu.L1 [%a];",
    "cvta.to.shared.u64 %b1, %a;\ncvta.local.u64 %b2, %a;",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%a];",
];

/// `CUDA_ERROR_UNKNOWN`
const UNKNOWN: i32 = 999;

#[test]
fn arbitrary_operands_succeed_or_fault() {
    in_quiet_child("accesses::arbitrary_operands_succeed_or_fault", || {
        for instruction in ARBITRARY {
            for base in [
                0,
                4,
                4095,
                4096,
                65_535,
                1 << 31,
                (1 << 32) - 16,
                1 << 40,
                1 << 63,
                u64::MAX,
            ] {
                for stride in [0, 1, 16, 4_u64.wrapping_neg(), 1 << 32] {
                    let context = own_context();
                    let function = kernel(load_module(&kernel_ptx(instruction)));
                    let result = launch(function, 64, &[base, stride]);
                    assert_ne!(
                        result, UNKNOWN,
                        "{instruction} from {base:#x} by {stride:#x}"
                    );
                    drop(context);
                }
            }
        }
    });
}
