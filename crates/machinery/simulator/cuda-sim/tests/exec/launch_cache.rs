//! Cached state from earlier launches of a program must not change later launches.

use crate::harness::*;
use cuda_sim::launch::LaunchReport;

/// Sums `rounds` words, each from another cache line, and stores partial sums in local memory.
const PTX: &str = "
    .version 6.4 .target sm_52 .address_size 64
    .visible .entry work(.param .u64 out, .param .u64 from, .param .u32 rounds) {
        .local .align 4 .b8 kept[16];
        .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .pred %p<2>;
        ld.param.u64 %d1, [out]; ld.param.u64 %d2, [from]; ld.param.u32 %r1, [rounds];
        mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
        mad.lo.u32 %r5, %r2, %r3, %r4;
        mov.u32 %r6, 0;
        mov.u32 %r7, %r5;
        ld.local.u32 %r10, [kept+8];
        add.u32 %r6, %r6, %r10;
    L:  and.b32 %r8, %r7, 4095;
        mul.wide.u32 %d3, %r8, 4; add.u64 %d4, %d2, %d3;
        ld.global.u32 %r9, [%d4];
        add.u32 %r6, %r6, %r9;
        st.local.u32 [kept+8], %r6;
        add.u32 %r7, %r7, 33;
        sub.u32 %r1, %r1, 1;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra L;
        mul.wide.u32 %d5, %r5, 4; add.u64 %d6, %d1, %d5;
        st.global.u32 [%d6], %r6;
        ret;
    }";

const WORDS: usize = 4096;

fn loaded() -> (Machine, u64, u64) {
    let mut machine = Machine::new(PTX);
    let (out, from) = (machine.out::<u32>(WORDS), machine.buffer(&noise(WORDS)));
    (machine, out, from)
}

#[test]
fn repeated_launches_match_the_first() {
    let (mut machine, out, from) = loaded();
    // The last number of rounds makes a formerly short launch a long one.
    for (grid, block, rounds) in [
        (1, 32, 1),
        (1, 32, 1),
        (1, 256, 2),
        (4, 64, 1),
        (4, 64, 1),
        (3, 40, 5),
        (40, 64, 1),
        (1, 32, 1),
        (4, 64, 20_000),
        (1, 33, 3),
    ] {
        for profile in [false, true, false] {
            machine.options.profile = profile;
            let (mut fresh, new_out, new_from) = loaded();
            assert_eq!((new_out, new_from), (out, from));
            fresh.options.profile = profile;
            let [repeated, fresh_report]: [LaunchReport; 2] = [&machine, &fresh]
                .map(|machine| machine.run("work", grid, block, params![out, from, rounds]));
            let context = format!("{grid} × {block}, {rounds} rounds, profile: {profile}");
            assert_eq!(repeated.counts, fresh_report.counts, "{context}");
            assert_eq!(record(&repeated), record(&fresh_report), "{context}");
            let outputs =
                [&machine, &fresh].map(|machine| machine.read::<u32>(out, (grid * block) as usize));
            assert_eq!(outputs[0], outputs[1], "{context}");
        }
    }
}

/// Blocks must be able to wait for each other even if the launch is expected to be short.
#[test]
fn blocks_of_a_short_launch_can_wait_for_each_other() {
    let mut machine = Machine::new(include_str!("../../kernels/ptx/progress.ptx"));
    for blocks in [1, 2, 132, 2] {
        let (count, out) = (machine.buffer(&[0u32]), machine.out::<u32>(blocks));
        machine.run("grid_barrier", blocks as u32, 1, params![count, out]);
        assert_eq!(
            machine.read::<u32>(out, blocks),
            vec![blocks as u32; blocks]
        );
    }
}
