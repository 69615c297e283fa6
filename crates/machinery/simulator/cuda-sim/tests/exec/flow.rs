//! Control flow that compilers rarely emit: branch tables, loops with two entries, guards.

use crate::harness::*;
use cuda_sim::exec::FaultKind;

/// Runs a kernel body at every block size and compares each thread's word.
fn compare(ptx: &str, expected: impl Fn(u32) -> u32) {
    for block in BLOCK_SIZES {
        assert_words(ptx, block, &expected);
    }
}

const TABLE: &str = "
    TARGETS: .branchtargets A, B, A, C;
    brx.idx %r1, TARGETS;
    A: mov.u32 %r2, 10; bra DONE;
    B: mov.u32 %r2, 20; add.u32 %r2, %r2, %t;
    C: add.u32 %r2, %t, 30;
    DONE: add.u32 %r2, %r2, 1000;
    st.global.u32 [%mine], %r2;";

#[test]
fn branch_tables_select_targets() {
    let ptx = kernel_of(&format!("and.b32 %r1, %t, 3; {TABLE}"));
    compare(&ptx, |t| match t & 3 {
        0 | 2 => 1010,
        _ => 1030 + t,
    });
}

#[test]
fn index_beyond_branch_table_faults() {
    let fault = words(&kernel_of(&format!("mov.u32 %r1, %t; {TABLE}")), 8)
        .expect_err("index 4 did not fault");
    assert_eq!(fault.kind, FaultKind::InvalidCall { address: 4 });
    assert_eq!(location(&fault).thread, [4, 0, 0]);
}

/// Odd threads enter the loop in its middle.
#[test]
fn loop_with_two_entries_is_correct() {
    let ptx = kernel_of(
        "mov.u32 %r1, 0;
        mov.u32 %r2, %t;
        and.b32 %r3, %t, 1;
        setp.ne.u32 %p1, %r3, 0;
        @%p1 bra MIDDLE;
        TOP: add.u32 %r1, %r1, 5;
        setp.gt.u32 %p3, %r1, 400;
        @%p3 bra OUT;
        MIDDLE: add.u32 %r1, %r1, 3;
        sub.u32 %r2, %r2, 1;
        setp.gt.s32 %p2, %r2, 0;
        @%p2 bra TOP;
        OUT: st.global.u32 [%mine], %r1;",
    );
    compare(&ptx, |t| {
        let (mut sum, mut remaining) = (0, t as i32);
        let mut skip_first = t & 1 == 1;
        loop {
            if !skip_first {
                sum += 5;
                if sum > 400 {
                    return sum;
                }
            }
            skip_first = false;
            sum += 3;
            remaining -= 1;
            if remaining <= 0 {
                return sum;
            }
        }
    });
}

/// Two loops that jump into each other, with exits from both.
#[test]
fn irreducible_loops_are_correct() {
    let ptx = kernel_of(
        "mov.u32 %r1, %t;
        mov.u32 %r2, 0;
        A: add.u32 %r2, %r2, 1;
        and.b32 %r3, %r1, 1;
        shr.u32 %r1, %r1, 1;
        setp.eq.u32 %p1, %r3, 1;
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra OUT;
        @%p1 bra A;
        B: add.u32 %r2, %r2, 100;
        and.b32 %r3, %r1, 1;
        shr.u32 %r1, %r1, 1;
        setp.eq.u32 %p1, %r3, 1;
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra OUT;
        @%p1 bra A;
        bra B;
        OUT: st.global.u32 [%mine], %r2;",
    );
    compare(&ptx, |t| {
        let (mut x, mut sum, mut in_first_loop) = (t, 0, true);
        loop {
            sum += if in_first_loop { 1 } else { 100 };
            let odd = x & 1 == 1;
            x >>= 1;
            if x == 0 {
                return sum;
            }
            in_first_loop = odd;
        }
    });
}

#[test]
fn guarded_instructions_do_not_affect_other_lanes() {
    // Lanes whose guard is false have an invalid address, which must not be accessed.
    let ptx = kernel_of(
        "and.b32 %r1, %t, 3;
        setp.eq.u32 %p1, %r1, 0;
        setp.lt.u32 %p2, %t, 7;
        mov.u32 %r2, 5;
        mov.u64 %d1, 64;
        @%p1 mov.u64 %d1, %mine;
        @%p1 add.u32 %r2, %t, 100;
        @!%p1 mul.lo.u32 %r2, %r2, 3;
        @%p1 st.global.u32 [%d1], %r2;
        mov.u32 %r3, 7;
        @%p1 ld.global.u32 %r3, [%d1];
        @%p1 ld.global.u8 %r4, [%d1];
        mov.u64 %d2, 9;
        @%p1 ld.global.u8 %d2, [%d1];
        @%p1 ld.global.u32 _, [%d1];
        cvt.u32.u64 %r5, %d2;
        @!%p2 setp.eq.u32 %p2, %r1, 3;
        @%p1 cvt.u32.u64 %r6, %d2;
        add.u32 %r3, %r3, %r2;
        add.u32 %r3, %r3, %r5;
        @%p2 add.u32 %r3, %r3, 10000;
        @!%p1 mov.u64 %d1, %mine;
        st.global.u32 [%d1], %r3;",
    );
    compare(&ptx, |t| {
        let (first, second) = if t & 3 == 0 {
            (t + 100, t + 100 + ((t + 100) & 255))
        } else {
            (15, 7 + 9)
        };
        let flag = t < 7 || t & 3 == 3;
        first + second + if flag { 10000 } else { 0 }
    });
}

#[test]
fn guarded_atomics_do_not_affect_other_lanes() {
    let ptx = kernel_of(
        "and.b32 %r1, %t, 1;
        setp.eq.u32 %p1, %r1, 0;
        mov.u64 %d1, 64;
        @%p1 mov.u64 %d1, %mine;
        @%p1 st.global.u32 [%d1], %t;
        mov.u32 %r2, 77;
        @%p1 red.global.add.u32 [%d1], 1000;
        @%p1 atom.global.add.u32 %r2, [%d1], 5;
        @%p1 atom.global.add.u32 _, [%d1], 5;
        @!%p1 st.global.u32 [%mine], %r2;",
    );
    compare(&ptx, |t| if t & 1 == 0 { t + 1010 } else { 77 });
}

#[test]
fn guards_apply_to_carries_vectors_and_shuffles() {
    let ptx = kernel_of(
        "and.b32 %r1, %t, 1;
        setp.eq.u32 %p1, %r1, 0;
        mov.u32 %r2, 1;
        mov.u32 %r3, 0;
        @%p1 add.cc.u32 %r2, %r2, -1;
        @%p1 addc.u32 %r3, %r3, 0;
        mov.b64 %d1, {%r2, %r3};
        @!%p1 mov.b64 {%r4, %r3}, %d1;
        mov.u32 %r5, %t;
        @%p1 shfl.sync.bfly.b32 %r5, %t, 2, 31, 0x55555555;
        shl.b32 %r5, %r5, 8;
        or.b32 %r3, %r3, %r5;
        st.global.u32 [%mine], %r3;",
    );
    assert_words(
        &ptx,
        32,
        |t| if t & 1 == 0 { 1 | (t ^ 2) << 8 } else { t << 8 },
    );
}

/// `ret` and `exit` under a guard, inside a function and in the kernel.
#[test]
fn guarded_returns_and_exits_are_correct() {
    let ptx = module_of(
        ".func (.param .b32 r) f(.param .b32 a) {
            .reg .pred %p<4>; .reg .b32 %x<4>;
            ld.param.u32 %x1, [a];
            st.param.b32 [r], 1;
            setp.lt.u32 %p1, %x1, 5;
            @%p1 ret;
            st.param.b32 [r], 2;
            setp.gt.u32 %p2, %x1, 20;
            @%p2 exit;
            and.b32 %x2, %x1, 1;
            setp.eq.u32 %p3, %x2, 1;
            @%p3 ret;
            st.param.b32 [r], 3;
        }",
        "st.global.u32 [%mine], 99;
        setp.eq.u32 %p1, %t, 7;
        @%p1 ret;
        setp.ne.u32 %p2, %t, 9;
        mov.u32 %r2, 50;
        { .param .b32 a0; .param .b32 r0;
        st.param.b32 [a0], %t;
        @%p2 call (r0), f, (a0);
        @%p2 ld.param.b32 %r2, [r0]; }
        st.global.u32 [%mine], %r2;",
    );
    compare(&ptx, |t| match t {
        7 => 99,
        9 => 50,
        0..5 => 1,
        21.. => 99,
        t if t & 1 == 1 => 2,
        _ => 3,
    });
}

/// Blocks that contain only a label, and a branch to the next instruction.
#[test]
fn branches_to_the_next_instruction_are_correct() {
    let ptx = kernel_of(
        "setp.lt.u32 %p1, %t, 5;
        mov.u32 %r1, 1;
        @%p1 bra L1;
        L1: L2:
        @%p1 bra L3;
        bra L3;
        L3: add.u32 %r1, %r1, %t;
        st.global.u32 [%mine], %r1;
        @%p1 bra END;
        st.global.u32 [%mine], 3;
        END:",
    );
    compare(&ptx, |t| if t < 5 { t + 1 } else { 3 });
}

/// Each side of a branch uses the same registers for different values.
#[test]
fn divergent_lanes_keep_separate_registers() {
    let ptx = kernel_of(
        "mov.u32 %r9, %t;
            and.b32 %r1, %t, 1;
            setp.eq.u32 %p1, %r1, 0;
            @%p1 bra EVEN;
            mul.lo.u32 %r2, %t, 3;
            mul.lo.u32 %r3, %r2, 5;
            add.u32 %r9, %r3, %r2;
            bra JOIN;
            EVEN: setp.gt.u32 %p2, %t, 10;
            @%p2 bra LARGE;
            add.u32 %r4, %t, 1000;
            add.u32 %r9, %r9, %r4;
            bra JOIN;
            LARGE: sub.u32 %r5, 5000, %t;
            add.u32 %r9, %r9, %r5;
            JOIN: st.global.u32 [%mine], %r9;",
    );
    compare(&ptx, |t| match t {
        t if t & 1 == 1 => t * 18,
        t if t > 10 => 5000,
        t => 2 * t + 1000,
    });
}

#[test]
fn traps_and_breakpoints_name_the_thread() {
    for (instruction, kind) in [("trap", FaultKind::Trap), ("brkpt", FaultKind::Breakpoint)] {
        let ptx = kernel_of(&format!("setp.eq.u32 %p1, %t, 37;\n@%p1 {instruction};"));
        let mut machine = Machine::new(&ptx);
        let out = machine.out::<u32>(64);
        let fault = machine.fault("k", 3, 64, params![out]);
        assert_eq!(fault.kind, kind);
        let location = location(&fault);
        assert_eq!((location.block, location.thread), ([0, 0, 0], [37, 0, 0]));
        assert_eq!(location.kernel, "k");
        assert_eq!(location.source.ptx_line, line_of(&ptx, "@%p1"));
    }
}

#[test]
fn grid_barrier_outside_a_cooperative_launch_is_named() {
    // As in the headers: the barrier traps if the driver has passed no address.
    let barrier = "mov.u32 %r1, %envreg2;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 trap;
        st.global.u32 [%mine], %r1;";
    let ptx = kernel_of(barrier);
    let mut machine = Machine::new(&ptx);
    let out = machine.out::<u32>(32);
    let fault = machine.fault("k", 2, 32, params![out]);
    assert_eq!(fault.kind, FaultKind::GridBarrier);
    let text = fault.to_string();
    assert!(text.contains("cudaLaunchCooperativeKernel"), "{text}");
    // A trap of another kernel of the module.
    let other = ".visible .entry other() { trap; }";
    let ptx = ptx.replace(".visible .entry k", &format!("{other}\n.visible .entry k"));
    let fault = Machine::new(&ptx).fault("other", 1, 32, params![]);
    assert_eq!(fault.kind, FaultKind::Trap);
}

/// A launch ends before the next one starts, so everything it depends on is complete.
#[test]
fn programmatic_dependent_launch_is_a_no_op() {
    let ptx = |instruction: &str| {
        kernel_of(&format!(
            "griddepcontrol.launch_dependents;
            setp.lt.u32 %p1, %t, 7;
            @%p1 {instruction}
            add.u32 %r1, %t, 5;
            st.global.u32 [%mine], %r1;"
        ))
        .replace(".version 7.0\n.target sm_80", ".version 7.8\n.target sm_90")
    };
    compare(&ptx("griddepcontrol.wait;"), |t| t + 5);
    for instruction in [
        "griddepcontrol;",
        "griddepcontrol.begin;",
        "griddepcontrol.wait %r1;",
        "griddepcontrol.wait.launch_dependents;",
    ] {
        assert_load_error(&ptx(instruction), "is not simulated");
    }
    let old = ptx("griddepcontrol.wait;").replace("sm_90", "sm_80");
    assert_load_error(&old, "sm_90");
}
