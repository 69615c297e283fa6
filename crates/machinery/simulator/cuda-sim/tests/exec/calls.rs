//! Device functions that are not inlined: arguments and results, recursion, pointers, the stack.

use crate::harness::*;
use cuda_sim::exec::FaultKind;

const PTX: &str = include_str!("../../kernels/ptx/calls.ptx");

#[test]
fn structs_are_passed_and_returned() {
    let (a, b, c) = (6.5f64, -40i32, [3i16, -4, 5]);
    let mut pair = [0u8; 24];
    pair[..8].copy_from_slice(&a.to_le_bytes());
    pair[8..12].copy_from_slice(&b.to_le_bytes());
    for (k, value) in c.iter().enumerate() {
        pair[12 + 2 * k..14 + 2 * k].copy_from_slice(&value.to_le_bytes());
    }
    type Pair = (f64, i32, [i16; 3]);
    let turn_pair = |(a, b, c): Pair, amount: i8| -> Pair {
        (
            f64::from(b) + f64::from(amount),
            a as i32,
            [c[2], c[0], c[1]],
        )
    };
    for block in BLOCK_SIZES {
        let mut machine = Machine::new(PTX);
        let out = machine.out::<f64>(block as usize);
        machine.run(
            "structs",
            1,
            block,
            vec![out.to_le_bytes().to_vec(), pair.to_vec()],
        );
        let expected: Vec<f64> = (0..block)
            .map(|t| {
                let mut q = turn_pair((a, b + t as i32, c), -3);
                if t & 1 == 1 {
                    q = turn_pair(q, t as i8);
                }
                let [x, y, z] = q.2.map(f64::from);
                q.0 * 1000.0 + f64::from(q.1) + x * 100.0 + y * 10.0 + z
            })
            .collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn lanes_recurse_to_different_depths() {
    let factorial = |n: u64| (1..=n).product::<u64>();
    let fibonacci = |n: u32| (0..n).fold((0u64, 1u64), |(a, b), _| (b, a + b)).0;
    for block in BLOCK_SIZES {
        let mut machine = Machine::new(PTX);
        let out = machine.out::<u64>(3 * block as usize);
        machine.run("recursion", 1, block, params![out]);
        let expected: Vec<u64> = (0..block)
            .flat_map(|t| {
                [
                    factorial(u64::from(t % 21)),
                    fibonacci(t % 11),
                    u64::from(t % 13 % 2 == 0),
                ]
            })
            .collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn uniform_and_divergent_function_pointers_are_called() {
    let apply = |function_index: i32, x: i32| match function_index {
        0 => x * 2,
        1 => x * x,
        _ => x + 7,
    };
    for block in BLOCK_SIZES.into_iter().filter(|&block| block <= 32) {
        for first in 0..3 {
            let function_index: Vec<i32> = (0..block as i32).map(|t| (t * t + first) % 3).collect();
            let mut machine = Machine::new(PTX);
            let out = machine.out::<i32>(2 * block as usize);
            let indices = machine.buffer(&function_index);
            machine.run("pointers", 1, block, params![out, indices]);
            let expected: Vec<i32> = (0..block as i32)
                .flat_map(|t| {
                    [
                        apply(function_index[0], t),
                        apply(function_index[t as usize], t),
                    ]
                })
                .collect();
            assert_memory(&machine, out, &expected, format!("blocks of {block}"));
        }
    }
}

#[test]
fn invalid_function_pointers_fault() {
    let mut machine = Machine::new(PTX);
    let out = machine.out::<i32>(32);
    let (table, _) = machine.program.variable("table").expect("no such variable");
    let function = machine.read::<u64>(table, 1)[0];
    machine.run("bad_pointer", 1, 32, params![out, function]);
    assert_eq!(machine.read::<i32>(out, 32), [2; 32]);
    // Device memory, null, between functions, far beyond the last one, a kernel.
    for address in [
        out,
        0,
        function + 1,
        function + (1 << 20),
        u64::MAX,
        (4 << 60) + 16 * 999,
    ] {
        let fault = machine.fault("bad_pointer", 1, 32, params![out, address]);
        assert_eq!(fault.kind, FaultKind::InvalidCall { address });
    }
    let kernels = (0..64).map(|k| (4u64 << 60) + 16 * k).filter(|&address| {
        matches!(machine.launch(&Launch::new("bad_pointer", 1, 1, params![out, address])),
            Err(fault) if fault.kind == FaultKind::InvalidCall { address })
    });
    assert!(kernels.count() >= machine.program.listing.kernels.len());
}

#[test]
fn deep_stack_overflows() {
    for block in [1, 33] {
        let mut machine = Machine::new(PTX);
        let out = machine.out::<u32>(block as usize);
        machine.run("depth", 1, block, params![out, 10u32]);
        assert_eq!(
            machine.read::<u32>(out, block as usize),
            vec![55; block as usize]
        );
        let fault = machine.fault("depth", 1, block, params![out, 100_000u32]);
        let FaultKind::StackOverflow { needed, limit } = fault.kind else {
            panic!("unexpected fault: {fault}")
        };
        assert!(needed > limit && limit == 1024, "{needed} {limit}");
        let source = &location(&fault).source;
        assert_eq!(source.file.as_deref(), Some("kernels/calls.cu"));
    }
}

#[test]
fn endless_recursion_without_frame_overflows() {
    let ptx = module_of(".func f; .func f { call f; ret; }", "call f;");
    let fault = words(&ptx, 32).expect_err("the stack did not overflow");
    assert!(
        matches!(fault.kind, FaultKind::StackOverflow { .. }),
        "{fault}"
    );
}

/// The prototype of an indirect call declares more parameter bytes than the function takes.
#[test]
fn prototype_larger_than_function_works_or_overflows() {
    for bytes in [64, 100_000] {
        let ptx = module_of(
            ".func (.param .b32 r) f(.param .b32 a) {
                .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret;
            }",
            &format!(
                "{{ .param .b8 large[{bytes}]; .param .b32 result;
                mov.u64 %d1, f;
                st.param.b32 [large], 9;
                PROTO: .callprototype (.param .b32 _) _ (.param .b8 _[{bytes}]);
                call (result), %d1, (large), PROTO;
                ld.param.b32 %r1, [result];
                st.global.u32 [%mine], %r1; }}"
            ),
        );
        match words(&ptx, 4) {
            Ok(words) => assert_eq!((words, bytes), (vec![9; 4], 64)),
            Err(fault) => {
                assert!(
                    matches!(fault.kind, FaultKind::StackOverflow { .. }),
                    "{fault}"
                );
                assert_eq!(bytes, 100_000);
            }
        }
    }
}

/// A function without parameters, called under a guard, must not change the caller's registers.
#[test]
fn callee_preserves_caller_registers() {
    let ptx = module_of(
        ".global .u32 calls;
        .func f {
            .reg .b32 %r<8>;
            mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3;
            add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
            red.global.add.u32 [calls], %r1;
            ret;
        }",
        "mov.u32 %r1, 10; mov.u32 %r2, 20; mov.u32 %r3, %t;
        setp.lt.u32 %p1, %t, 5;
        @%p1 call f;
        call f;
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
        bar.sync 0;
        ld.global.u32 %r4, [calls];
        mad.lo.u32 %r1, %r4, 1000, %r1;
        st.global.u32 [%mine], %r1;",
    );
    assert_words(&ptx, 40, |t| 45 * 6 * 1000 + 30 + t);
}

#[test]
fn barrier_inside_function_opens() {
    let ptx = module_of(
        ".shared .b32 tile[64];
        .func (.param .b32 r) swap(.param .b32 t) {
            .reg .b32 %x<4>; .reg .b64 %a<4>;
            ld.param.b32 %x1, [t];
            mov.u64 %a1, tile;
            mad.wide.u32 %a2, %x1, 4, %a1;
            st.shared.u32 [%a2], %x1;
            bar.sync 0;
            xor.b32 %x2, %x1, 63;
            mad.wide.u32 %a2, %x2, 4, %a1;
            ld.shared.u32 %x3, [%a2];
            st.param.b32 [r], %x3;
            ret;
        }",
        "{ .param .b32 a; .param .b32 r;
        st.param.b32 [a], %t;
        call (r), swap, (a);
        ld.param.b32 %r1, [r]; }
        st.global.u32 [%mine], %r1;",
    );
    assert_eq!(
        words(&ptx, 64).expect("the kernel faulted"),
        (0..64).rev().collect::<Vec<_>>()
    );
    assert!(words(&kernel_of("st.global.u32 [%mine], 1;"), 64).is_ok());
}
