//! Special registers: indices, dimensions, lane masks, clocks and sizes.

use crate::harness::*;

#[test]
fn indices_are_correct_in_three_dimensions() {
    let ptx = kernel_of(
        "mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
        mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z;
        mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %ctaid.z;
        mov.u32 %r9, %nctaid.x; mov.u32 %r10, %nctaid.y; mov.u32 %r11, %nctaid.z;
        // The block's number, the thread's number in it, the thread's in the grid.
        mad.lo.u32 %r12, %r8, %r10, %r7;
        mad.lo.u32 %r12, %r12, %r9, %r6;
        mad.lo.u32 %r13, %r2, %r4, %r1;
        mad.lo.u32 %r13, %r13, %r3, %t;
        mul.lo.u32 %r14, %r3, %r4;
        mul.lo.u32 %r14, %r14, %r5;
        mad.lo.u32 %r15, %r12, %r14, %r13;
        mad.wide.u32 %d1, %r15, 64, %out;
        st.global.v4.u32 [%d1], {%t, %r1, %r2, %r3};
        st.global.v4.u32 [%d1+16], {%r4, %r5, %r6, %r7};
        st.global.v4.u32 [%d1+32], {%r8, %r9, %r10, %r11};",
    );
    let shapes = [
        ([1, 1, 1], [1, 1, 1]),
        ([2, 3, 1], [5, 7, 1]),
        ([3, 2, 2], [33, 1, 3]),
        ([1, 5, 3], [1, 1, 64]),
        ([2, 1, 4], [7, 11, 5]),
        ([1, 1, 2], [16, 16, 4]),
    ];
    for (grid, block) in shapes {
        let mut machine = Machine::new(&ptx);
        let count = grid.iter().chain(&block).product::<u32>() as usize;
        let out = machine.out::<[u32; 16]>(count);
        machine.run("k", grid, block, params![out]);
        let actual = machine.read::<u32>(out, 16 * count);
        let mut rows = actual.chunks(16);
        for bz in 0..grid[2] {
            for by in 0..grid[1] {
                for bx in 0..grid[0] {
                    for z in 0..block[2] {
                        for y in 0..block[1] {
                            for x in 0..block[0] {
                                let row = &rows.next().expect("too few rows")[..12];
                                let expected = [[x, y, z], block, [bx, by, bz], grid].concat();
                                assert_eq!(row, expected, "{grid:?} of {block:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}

fn special(name: &str, threads: u32) -> Vec<u32> {
    let ptx = kernel_of(&format!("mov.u32 %r1, {name}; st.global.u32 [%mine], %r1;"));
    words(&ptx, threads).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

#[test]
fn lane_and_warp_registers_are_correct() {
    for threads in BLOCK_SIZES {
        let by_lane = |f: &dyn Fn(u32) -> u32| (0..threads).map(|t| f(t % 32)).collect::<Vec<_>>();
        assert_eq!(special("%laneid", threads), by_lane(&|lane| lane));
        assert_eq!(special("%lanemask_eq", threads), by_lane(&|lane| 1 << lane));
        assert_eq!(
            special("%lanemask_lt", threads),
            by_lane(&|lane| (1 << lane) - 1)
        );
        let le = |lane: u32| ((1u64 << (lane + 1)) - 1) as u32;
        assert_eq!(special("%lanemask_le", threads), by_lane(&le));
        assert_eq!(special("%lanemask_gt", threads), by_lane(&|lane| !le(lane)));
        assert_eq!(
            special("%lanemask_ge", threads),
            by_lane(&|lane| !((1 << lane) - 1))
        );
        let warps: Vec<u32> = (0..threads).map(|t| t / 32).collect();
        assert_eq!(special("%warpid", threads), warps);
    }
    assert_eq!(special("WARP_SZ", 3), [32; 3]);
    assert_eq!(special("%nsmid", 1), [132]);
}

#[test]
fn clock_advances_and_restarts_in_each_block() {
    let ptx = kernel_of(
        "mov.u64 %d1, %clock64;
        mov.u32 %r1, 0;
        L: add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, 50;
        @%p1 bra L;
        mov.u64 %d2, %clock64;
        mov.u64 %d3, %globaltimer;
        mov.u32 %r2, %ctaid.x;
        mad.wide.u32 %d4, %r2, 32, %out;
        st.global.v2.u64 [%d4], {%d1, %d2};
        st.global.u64 [%d4+16], %d3;",
    );
    let mut machine = Machine::new(&ptx);
    let out = machine.out::<[u64; 4]>(3);
    machine.run("k", 3, 1, params![out]);
    let actual = machine.read::<u64>(out, 12);
    for row in actual.chunks(4) {
        assert!(row[1] >= row[0] + 150 && row[1] < row[0] + 1000, "{row:?}");
        assert!(
            row[0] > 1 << 32,
            "the clock did not start with the kernel: {row:?}"
        );
        assert!(
            row[2] > 1_700_000_000_000_000_000,
            "nanoseconds since 1970: {row:?}"
        );
        assert_eq!(row[..3], actual[..3], "blocks do not see each other's time");
    }
}

/// Waits `%d3` cycles, and stores the cycles and the iterations of the wait in `%out[2 * index]` and the next.
fn wait(index: u32, in_loop: &str) -> String {
    format!(
        "mov.u64 %d1, %clock64;
        mov.u64 %d5, 0;
        L{index}: add.u64 %d5, %d5, 1;
        {in_loop}
        mov.u64 %d2, %clock64;
        sub.u64 %d4, %d2, %d1;
        setp.lt.u64 %p1, %d4, %d3;
        @%p1 bra L{index};
        st.global.v2.u64 [%out+{}], {{%d4, %d5}};",
        16 * index
    )
}

#[test]
fn delay_loops_end_early() {
    let long = format!("mov.u64 %d3, 10000000000; {}", wait(0, ""));
    let short = format!("mov.u64 %d3, 1000; {}", wait(1, ""));
    let mut machine = Machine::new(&kernel_of(&format!("{long} {short}")));
    let out = machine.out::<u64>(4);
    machine.run("k", 1, 96, params![out]);
    let [cycles, iterations, short_cycles, short_iterations] = machine.read::<u64>(out, 4)[..]
    else {
        unreachable!()
    };
    assert!(
        (10_000_000_000..10_700_000_000).contains(&cycles),
        "{cycles}"
    );
    assert!((50..1000).contains(&iterations), "{iterations}");
    assert!(
        (1000..1100).contains(&short_cycles),
        "the wait before does not count: {short_cycles}"
    );
    assert!((10..1000).contains(&short_iterations), "{short_iterations}");
}

#[test]
fn loops_that_observe_or_affect_other_threads_run_in_full() {
    for in_loop in [
        "ld.volatile.global.u32 %r1, [%out];",
        "st.global.u32 [%out], 1;",
        "atom.global.add.u32 %r1, [%out], 1;",
        "bar.sync 0;",
        "membar.gl;",
        "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
    ] {
        let ptx = kernel_of(&format!("mov.u64 %d3, 100000; {}", wait(1, in_loop)));
        let mut machine = Machine::new(&ptx);
        let out = machine.out::<u64>(4);
        machine.run("k", 1, 32, params![out]);
        let iterations = machine.read::<u64>(out, 4)[3];
        assert!(iterations > 5_000, "{in_loop}: {iterations}");
    }
}

#[test]
fn shared_memory_sizes_are_reported() {
    let ptx = kernel_of(
        ".shared .b8 tile[100];
        mov.u64 %d1, tile;
        st.shared.u8 [%d1], 1;
        mov.u32 %r1, %dynamic_smem_size;
        mov.u32 %r2, %total_smem_size;
        sub.u32 %r3, %r2, %r1;
        st.global.v2.u32 [%out], {%r1, %r3};",
    );
    for dynamic in [0, 4, 1000] {
        let mut machine = Machine::new(&ptx);
        let out = machine.out::<u32>(2);
        let launch = Launch::new("k", 1, 1, params![out]);
        machine.launch(&launch.shared(dynamic)).unwrap();
        let actual = machine.read::<u32>(out, 2);
        assert_eq!(actual[0], dynamic);
        assert!((100..=128).contains(&actual[1]), "{actual:?}");
    }
}
