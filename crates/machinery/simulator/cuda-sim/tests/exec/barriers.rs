//! Barriers of a block, and the contents of shared memory after them.

use crate::harness::*;
use cuda_sim::exec::FaultKind;

const PTX: &str = include_str!("../../kernels/ptx/barriers.ptx");
const GRID: u32 = 3;

/// Runs `kernel` over noise with one word of shared memory per thread. Returns the input and the output.
fn run(kernel: &str, block: u32) -> (Vec<u32>, Vec<u32>) {
    let count = (GRID * block) as usize;
    let input = noise(count);
    let mut machine = Machine::new(PTX);
    let (out, source) = (machine.out::<u32>(count), machine.buffer(&input));
    let launch = Launch::new(kernel, GRID, block, params![out, source]).shared(4 * block);
    machine.launch(&launch).unwrap();
    (input, machine.read(out, count))
}

#[test]
fn reversal_through_shared_memory_is_correct() {
    for block in BLOCK_SIZES {
        let (input, output) = run("reverse", block);
        let blocks = input.chunks(block as usize);
        let expected: Vec<u32> = blocks
            .flat_map(|block| block.iter().rev().copied())
            .collect();
        assert_eq!(output, expected, "blocks of {block}");
    }
}

#[test]
fn prefix_sums_are_correct() {
    for block in BLOCK_SIZES.into_iter().chain([512, 1024]) {
        let (input, output) = run("scan", block);
        let expected: Vec<u32> = input
            .chunks(block as usize)
            .flat_map(|block| {
                block.iter().scan(0u32, |sum, &x| {
                    *sum = sum.wrapping_add(x);
                    Some(*sum)
                })
            })
            .collect();
        assert_eq!(output, expected, "blocks of {block}");
    }
}

#[test]
fn block_sums_are_correct() {
    for block in BLOCK_SIZES {
        let n = GRID * block - block / 3;
        let input = noise(n as usize);
        let mut machine = Machine::new(PTX);
        let (out, source) = (machine.out::<u32>(GRID as usize), machine.buffer(&input));
        let launch = Launch::new("reduce", GRID, block, params![out, source, n]).shared(4 * block);
        machine.launch(&launch).unwrap();
        let expected: Vec<u32> = input
            .chunks(block as usize)
            .map(|block| block.iter().fold(0u32, |sum, &x| sum.wrapping_add(x)))
            .collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn barrier_in_uniform_branch_opens() {
    for block in BLOCK_SIZES {
        let mut machine = Machine::new(PTX);
        let out = machine.out::<u32>((GRID * block) as usize);
        let launch = Launch::new("in_uniform_branch", GRID, block, params![out]).shared(4 * block);
        machine.launch(&launch).unwrap();
        let expected: Vec<u32> = (0..GRID * block)
            .map(|i| {
                if i / block == 1 {
                    (i % block + 1) % block
                } else {
                    i % block
                }
            })
            .collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn barriers_do_not_wait_for_exited_threads() {
    for block in BLOCK_SIZES {
        for participants in [1, block / 2 + 1, block] {
            let mut machine = Machine::new(PTX);
            let out = machine.out::<u32>(participants as usize);
            let launch =
                Launch::new("after_exits", 1, block, params![out, participants]).shared(4 * block);
            machine.launch(&launch).unwrap();
            let expected: Vec<u32> = (0..participants)
                .map(|t| (participants - 1 - t) * 3)
                .collect();
            assert_memory(
                &machine,
                out,
                &expected,
                format!("{participants} of {block}"),
            );
        }
    }
}

#[test]
fn barrier_reductions_count_and_vote() {
    for block in BLOCK_SIZES {
        for special in [None, Some(77), Some(5000)] {
            let mut input: Vec<u32> = (0..block).map(|t| t * 3 + 200).collect();
            if let Some(value) = special {
                input[block as usize / 2] = value;
            }
            let mut machine = Machine::new(PTX);
            let out = machine.out::<u32>(4 * block as usize);
            let source = machine.buffer(&input);
            machine.run("votes", 1, block, params![out, source]);
            let row = [
                input.iter().filter(|&x| x & 1 == 1).count() as u32,
                u32::from(input.iter().all(|&x| x < 1000)),
                u32::from(input.contains(&77)),
                u32::from(!input.contains(&77)),
            ];
            let expected = row.repeat(block as usize);
            assert_memory(&machine, out, &expected, format!("blocks of {block}"));
        }
    }
}

/// Two counted barriers, each for the threads of some warps.
#[test]
fn barriers_count_arrivals_separately() {
    let ptx = kernel_of(
        ".shared .b32 tile[128];
        shr.u32 %r1, %t, 5;
        and.b32 %r1, %r1, 1;
        add.u32 %r2, %r1, 1;
        mov.u64 %d1, tile;
        mad.wide.u32 %d2, %t, 4, %d1;
        st.shared.u32 [%d2], %t;
        bar.sync %r2, 64;
        xor.b32 %r3, %t, 64;
        mad.wide.u32 %d2, %r3, 4, %d1;
        ld.shared.u32 %r4, [%d2];
        st.global.u32 [%mine], %r4;",
    );
    assert_words(&ptx, 128, |t| t ^ 64);
}

/// Warps 1 to 3 produce and arrive; warp 0 waits and consumes.
#[test]
fn producers_arrive_and_consumer_waits() {
    let ptx = kernel_of(
        ".shared .b32 tile[128];
        mov.u64 %d1, tile;
        mad.wide.u32 %d2, %t, 4, %d1;
        mov.u32 %r5, 0;
        setp.lt.u32 %p1, %t, 32;
        @%p1 bra CONSUMER;
        ROUND: add.u32 %r6, %r5, %t;
        st.shared.u32 [%d2], %r6;
        bar.arrive 1, 128;
        bar.sync 2, 128;
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p2, %r5, 3;
        @%p2 bra ROUND;
        st.global.u32 [%mine], %r6;
        bra DONE;
        CONSUMER: mov.u32 %r7, 0;
        AGAIN: bar.sync 1, 128;
        ld.shared.u32 %r8, [%d2+128];
        add.u32 %r7, %r7, %r8;
        ld.shared.u32 %r8, [%d2+256];
        add.u32 %r7, %r7, %r8;
        bar.arrive 2, 128;
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p2, %r5, 3;
        @%p2 bra AGAIN;
        st.global.u32 [%mine], %r7;
        DONE:",
    );
    assert_words(&ptx, 128, |t| {
        if t < 32 {
            (0..3).map(|k| 2 * k + 2 * t + 96).sum()
        } else {
            t + 2
        }
    });
}

/// A counted barrier counts a partial warp as 32 threads.
#[test]
fn partial_warp_counts_as_whole() {
    let ptx = kernel_of("bar.sync 3, 64; st.global.u32 [%mine], %t;");
    assert_words(&ptx, 40, |t| t);
}

/// The lanes of a partial warp arrive one after another.
#[test]
fn partial_warp_with_divergent_lanes_counts_as_whole() {
    let ptx = kernel_of(
        "and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2;
        @%p1 bra ONE; @%p2 bra TWO;
        barrier.sync 3, 64; bra END;
        ONE: barrier.sync 3, 64; bra END;
        TWO: barrier.sync 3, 64;
        END: st.global.u32 [%mine], %t;",
    );
    assert_words(&ptx, 40, |t| t);
}

#[test]
fn guarded_barriers_apply_to_whole_warps() {
    // The guard is true for all threads, for none, or for whole warps with a count.
    for (guard, count) in [
        ("setp.lt.u32 %p1, %t, 999", ""),
        ("setp.lt.u32 %p1, %t, 64", ", 64"),
    ] {
        let ptx = kernel_of(&format!(
            ".shared .b32 tile[96];
            mov.u64 %d1, tile;
            mad.wide.u32 %d2, %t, 4, %d1;
            st.shared.u32 [%d2], %t;
            {guard};
            @%p1 bar.sync 0{count};
            sub.u32 %r1, 63, %t;
            mad.wide.u32 %d2, %r1, 4, %d1;
            setp.lt.u32 %p2, %t, 64;
            mov.u32 %r2, 7;
            @%p2 ld.shared.u32 %r2, [%d2];
            st.global.u32 [%mine], %r2;"
        ));
        assert_words(&ptx, 96, |t| if t < 64 { 63 - t } else { 7 });
    }
    let ptx = kernel_of("setp.gt.u32 %p1, %t, 999; @%p1 bar.sync 0; st.global.u32 [%mine], 4;");
    assert_words(&ptx, 64, |_| 4);
}

/// Each side of a branch has its own barrier instruction, and all threads arrive at barrier 0.
#[test]
fn one_barrier_opens_from_two_instructions() {
    let ptx = kernel_of(
        ".shared .b32 tile[64];
        mov.u64 %d1, tile;
        mad.wide.u32 %d2, %t, 4, %d1;
        xor.b32 %r1, %t, 1;
        mad.wide.u32 %d3, %r1, 4, %d1;
        and.b32 %r2, %t, 1;
        setp.eq.u32 %p1, %r2, 0;
        @%p1 bra EVEN;
        st.shared.u32 [%d2], 11;
        bar.sync 0;
        ld.shared.u32 %r3, [%d3];
        bra DONE;
        EVEN: st.shared.u32 [%d2], 22;
        bar.sync 0;
        ld.shared.u32 %r3, [%d3];
        DONE: st.global.u32 [%mine], %r3;",
    );
    assert_words(&ptx, 64, |t| if t & 1 == 0 { 11 } else { 22 });
}

#[test]
fn reductions_at_counted_barriers_cover_participants() {
    let ptx = kernel_of(
        "setp.lt.u32 %p1, %t, 64;
        mov.u32 %r1, 99;
        @!%p1 bra DONE;
        and.b32 %r2, %t, 3;
        setp.eq.u32 %p2, %r2, 1;
        bar.red.popc.u32 %r1, 4, 64, %p2;
        bar.red.and.pred %p3, 4, 64, !%p2;
        bar.red.or.pred %p4, 5, 64, %p2;
        @%p3 add.u32 %r1, %r1, 1000;
        @%p4 add.u32 %r1, %r1, 2000;
        DONE: st.global.u32 [%mine], %r1;",
    );
    assert_words(&ptx, 96, |t| if t < 64 { 2016 } else { 99 });
}

#[test]
fn barrier_that_some_threads_skip_faults() {
    for (block, arrived) in [(17, 16), (32, 16), (33, 17), (256, 240)] {
        let mut machine = Machine::new(PTX);
        let out = machine.out::<u32>(block as usize);
        let fault = machine.fault("missing_threads", 1, block, params![out]);
        let kind = FaultKind::BarrierNeverOpens {
            barrier: 0,
            arrived,
            expected: block,
        };
        assert_eq!(fault.kind, kind);
        let location = location(&fault);
        assert_eq!((location.block, location.thread), ([0; 3], [0; 3]));
        assert_eq!(location.source.file.as_deref(), Some("kernels/barriers.cu"));
        let source = include_str!("../../kernels/barriers.cu");
        let line = source.lines().position(|line| line.contains("// here"));
        assert_eq!(
            Some(location.source.line as usize),
            line.map(|line| line + 1)
        );
    }
}

#[test]
fn counted_barrier_with_too_few_arrivals_faults() {
    let fault = words(&kernel_of("bar.sync 2, 96;"), 64).expect_err("the barrier opened");
    let kind = FaultKind::BarrierNeverOpens {
        barrier: 2,
        arrived: 64,
        expected: 96,
    };
    assert_eq!(fault.kind, kind);
}

#[test]
fn invalid_barrier_numbers_and_counts_fault() {
    let body = "mov.u32 %r1, 16; bar.sync %r1;";
    let fault = words(&kernel_of(body), 32).expect_err("barrier 16 did not fault");
    assert_eq!(
        fault.kind,
        FaultKind::InvalidBarrier {
            barrier: 16,
            count: 0
        }
    );
    let body = "mov.u32 %r1, 33; bar.sync 1, %r1;";
    let fault = words(&kernel_of(body), 64).expect_err("a count of 33 did not fault");
    assert_eq!(
        fault.kind,
        FaultKind::InvalidBarrier {
            barrier: 1,
            count: 33
        }
    );
}

/// clang leaves a loop through a block that contains only a jump to the kernel's end.
#[test]
fn barrier_in_loop_with_divergent_exits_opens() {
    let ptx = kernel_of(
        "mov.u32 %r1, 0;
        AGAIN: bar.sync 0;
        add.u32 %r1, %r1, 1;
        st.global.u32 [%mine], %r1;
        setp.lt.u32 %p1, %r1, %t;
        @%p1 bra AGAIN;
        bra.uni DONE;
        DONE: ret;",
    );
    assert_words(&ptx, 96, |t: u32| t.max(1));
}
