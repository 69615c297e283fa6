//! Communication between the lanes of a warp.

use crate::harness::*;
use cuda_sim::exec::FaultKind;

const PTX: &str = include_str!("../../kernels/ptx/warp.ptx");

fn run<T: bytemuck::Pod>(
    kernel: &str,
    threads: u32,
    input: &[T],
    words_per_thread: usize,
) -> Vec<T> {
    let mut machine = Machine::new(PTX);
    let count = threads as usize * words_per_thread;
    let (out, source) = (machine.out::<T>(count), machine.buffer(input));
    machine.run(kernel, 1, threads, params![out, source]);
    machine.read(out, count)
}

#[test]
fn shuffles_respect_segments_of_every_width() {
    let input: Vec<i32> = noise(64).into_iter().map(|x| x as i32).collect();
    for width in [32, 16, 8, 4, 2, 1] {
        for delta in [0u32, 1, 2, 5, 16, 31, 33] {
            let mut machine = Machine::new(PTX);
            let (out, source) = (machine.out::<i32>(256), machine.buffer(&input));
            machine.run("shuffles", 1, 64, params![out, source, delta, width as i32]);
            let expected: Vec<i32> = (0..64u32)
                .flat_map(|t| {
                    let (lane, begin) = (t & 31, (t & 31) / width * width);
                    let inside = |other: u32| (begin..begin + width).contains(&other);
                    // The distance is taken modulo 32.
                    let delta = delta & 31;
                    let up = lane - if lane >= begin + delta { delta } else { 0 };
                    let down = lane + if inside(lane + delta) { delta } else { 0 };
                    // A butterfly shuffle may read from earlier segments, but not from later ones.
                    let other = lane ^ delta;
                    let xor = if other < begin + width { other } else { lane };
                    let index = begin + (t * delta) % width;
                    [up, down, xor, index].map(|lane| input[((t & 32) + lane) as usize])
                })
                .collect();
            let actual = machine.read::<i32>(out, 256);
            if delta < 32 {
                assert_eq!(actual, expected, "width {width}, delta {delta}");
            } else {
                // Only the index shuffle multiplies its argument before the modulo.
                let first_three = |values: &[i32]| -> Vec<i32> {
                    values.chunks(4).flat_map(|row| row[..3].to_vec()).collect()
                };
                let (actual, expected) = (first_three(&actual), first_three(&expected));
                assert_eq!(actual, expected, "width {width}, delta {delta}");
            }
        }
    }
}

#[test]
fn doubles_are_shuffled_as_two_words() {
    let input: Vec<f64> = (0..32).map(|k| f64::from(k) * 1e100 - 0.3).collect();
    let expected: Vec<f64> = (0..32).map(|k| input[k ^ 5]).collect();
    assert_eq!(run("wide_shuffle", 32, &input, 1), expected);
}

#[test]
fn votes_and_ballots_are_correct() {
    let even: Vec<u32> = (0..64).map(|t| t % 13 * 2).collect();
    let mut with_special = even.clone();
    (with_special[3], with_special[40]) = (7, 500);
    for input in [even, with_special, noise(64)] {
        let expected: Vec<u32> = (0..64)
            .flat_map(|t| {
                let warp = &input[t / 32 * 32..][..32];
                let ballot = |predicate: &dyn Fn(usize) -> bool| {
                    let bits = (0..32).map(|lane| u32::from(predicate(lane)) << lane);
                    bits.sum::<u32>()
                };
                let branch_ballot = ballot(&|lane| lane & 4 != 0 && warp[lane] & 2 != 0);
                [
                    ballot(&|lane| warp[lane] & 1 != 0),
                    u32::from(warp.contains(&7)),
                    u32::from(warp.iter().all(|&x| x < 100)),
                    if t & 4 != 0 { branch_ballot } else { 0 },
                ]
            })
            .collect();
        assert_eq!(run("votes", 64, &input, 4), expected);
    }
}

#[test]
fn active_mask_matches_the_branch() {
    for threads in [1, 31, 32, 45] {
        let input = noise(threads as usize);
        let mask = |t: usize, bits: u32| {
            let warp = &input[t / 32 * 32..input.len().min(t / 32 * 32 + 32)];
            let lanes = warp.iter().enumerate().filter(|(_, x)| **x & bits == bits);
            lanes.map(|(lane, _)| 1u32 << lane).sum::<u32>()
        };
        let expected: Vec<u32> = (0..threads as usize)
            .map(|t| match input[t] & 3 {
                3 => mask(t, 1) ^ mask(t, 3),
                1 => mask(t, 1),
                _ => 0,
            })
            .collect();
        let actual = run("active", threads, &input, 1);
        assert_eq!(actual, expected, "{threads} threads");
    }
}

#[test]
fn warp_sums_and_prefix_sums_are_correct() {
    let input = noise(96).into_iter();
    let input: Vec<i32> = input.map(|x| (x >> 8) as i32 - (1 << 22)).collect();
    let expected: Vec<i32> = (0..96)
        .flat_map(|t| {
            let warp = &input[t / 32 * 32..][..32];
            [warp.iter().sum(), warp[..=t % 32].iter().sum()]
        })
        .collect();
    assert_eq!(run("reduce_and_scan", 96, &input, 2), expected);
}

#[test]
fn lanes_may_arrive_one_by_one() {
    for threads in [32, 64] {
        let input = noise(threads as usize);
        let expected: Vec<u32> = (0..threads as usize)
            .map(|t| {
                let warp = &input[t / 32 * 32..][..32];
                let lanes = warp.iter().enumerate();
                lanes.map(|(lane, x)| (x & 1) << lane).sum()
            })
            .collect();
        assert_eq!(run("late_lanes", threads, &input, 1), expected);
    }
}

#[test]
fn syncwarp_opens_from_two_instructions() {
    let expected_word = |t: u32| {
        if t < 16 {
            (t + 16) * 7
        } else {
            (t - 16) * 5 + 1
        }
    };
    let expected: Vec<u32> = (0..32).map(expected_word).collect();
    let mut machine = Machine::new(PTX);
    let out = machine.out::<u32>(32);
    machine.run("two_sides", 1, 32, params![out]);
    assert_eq!(machine.read::<u32>(out, 32), expected);
}

#[test]
fn exited_lanes_are_not_waited_for() {
    for odd_first in [false, true] {
        let input: Vec<u32> = (0..32).map(|t| (t & 1) ^ u32::from(odd_first)).collect();
        let lanes = input.iter().enumerate();
        let staying = lanes.map(|(t, x)| (1 - x) << t).sum::<u32>();
        let actual = run("leavers", 32, &input, 1);
        let expected = (0..32).map(|t| match input[t as usize] {
            0 => staying,
            _ => 1 + t * (t + 1) / 2,
        });
        assert_eq!(actual, expected.collect::<Vec<_>>());
    }
}

#[test]
fn mask_with_absent_lanes_faults() {
    let mut machine = Machine::new(PTX);
    let (out, flag) = (machine.out::<u32>(32), machine.buffer(&[0u32]));
    let fault = machine.fault("absent_lanes", 1, 32, params![out, flag]);
    let members = u32::MAX;
    assert_eq!(fault.kind, FaultKind::WarpSyncNeverOpens { members });
    let location = location(&fault);
    assert_eq!(location.thread, [0, 0, 0]);
    assert_eq!(location.source.file.as_deref(), Some("kernels/warp.cu"));
    // Likewise for a barrier of the warp.
    let ptx = kernel_of(
        "setp.lt.u32 %p1, %t, 4;
        @%p1 bra A;
        bar.sync 0;
        bra B;
        A: bar.warp.sync 0xff;
        B: st.global.u32 [%mine], 1;",
    );
    let fault = words(&ptx, 32).expect_err("the barrier opened without lanes 4 to 7");
    assert_eq!(fault.kind, FaultKind::WarpSyncNeverOpens { members: 0xff });
}

#[test]
fn match_any_and_match_all_are_correct() {
    let ptx = kernel_of(
        "rem.u32 %r1, %t, 5;
        match.any.sync.b32 %r2, %r1, -1;
        cvt.u64.u32 %d1, %r1;
        shl.b64 %d1, %d1, 40;
        match.any.sync.b64 %r3, %d1, -1;
        setp.ne.u32 %p1, %r2, %r3;
        @%p1 trap;
        match.all.sync.b32 %r4|%p2, %r1, -1;
        @%p2 trap;
        setp.ne.u32 %p1, %r4, 0;
        @%p1 trap;
        mov.u32 %r5, 9;
        match.all.sync.b32 %r6|%p3, %r5, -1;
        @!%p3 trap;
        setp.ne.u32 %p1, %r6, -1;
        @%p1 trap;
        st.global.u32 [%mine], %r2;",
    );
    assert_words(&ptx, 32, |t| {
        let same = (0..32).filter(|other| other % 5 == t % 5);
        same.map(|other| 1u32 << other).sum()
    });
}

#[test]
fn redux_reduces_masked_lanes() {
    type Fold = fn(&[i32]) -> u32;
    let cases: [(&str, Fold); 8] = [
        ("add.s32", |x| x.iter().sum::<i32>() as u32),
        ("min.s32", |x| *x.iter().min().expect("no lanes") as u32),
        ("max.s32", |x| *x.iter().max().expect("no lanes") as u32),
        ("min.u32", |x| {
            x.iter().fold(u32::MAX, |a, &b| a.min(b as u32))
        }),
        ("max.u32", |x| x.iter().fold(0, |a, &b| a.max(b as u32))),
        ("and.b32", |x| x.iter().fold(-1, |a, b| a & b) as u32),
        ("or.b32", |x| x.iter().fold(0, |a, b| a | b) as u32),
        ("xor.b32", |x| x.iter().fold(0, |a, b| a ^ b) as u32),
    ];
    let values: Vec<i32> = (0..32).map(|t| t * 37 - 500).collect();
    for (operation, expected) in cases {
        let ptx = kernel_of(&format!(
            "mul.lo.u32 %r1, %t, 37;
            sub.u32 %r1, %r1, 500;
            and.b32 %r4, %t, 1;
            setp.eq.u32 %p1, %r4, 0;
            redux.sync.{operation} %r2, %r1, -1;
            @%p1 redux.sync.{operation} %r2, %r1, 0x55555555;
            st.global.u32 [%mine], %r2;"
        ));
        let evens: Vec<i32> = values.iter().step_by(2).copied().collect();
        let actual = words(&ptx, 32).expect("the kernel faulted");
        for (t, &word) in actual.iter().enumerate() {
            let members = if t % 2 == 0 { &evens } else { &values };
            assert_eq!(word, expected(members), "{operation} in lane {t}");
        }
    }
}

/// Tests the predicate of a shuffle, and a vote whose mask excludes some of the lanes that execute it.
#[test]
fn shuffle_predicates_and_votes_are_correct() {
    let ptx = kernel_of(
        "shfl.sync.up.b32 %r1|%p1, %t, 3, 0, -1;
        selp.u32 %r2, 100, 200, %p1;
        setp.lt.u32 %p2, %t, 16;
        vote.sync.uni.pred %p3, %p2, 0xffff;
        vote.sync.any.pred %p4, !%p2, -1;
        @%p3 add.u32 %r2, %r2, 1000;
        @%p4 add.u32 %r2, %r2, 2000;
        add.u32 %r2, %r2, %r1;
        st.global.u32 [%mine], %r2;",
    );
    assert_words(&ptx, 32, |t| if t < 3 { 3200 + t } else { 3100 + t - 3 });
}

#[test]
fn elect_picks_the_lowest_lane() {
    let ptx = kernel_of(
        "st.global.u32 [%mine], 7;
        elect.sync %r1|%p1, 0xfffffff0;
        @%p1 add.u32 %r1, %r1, 100;
        st.global.u32 [%mine], %r1;",
    )
    .replace(".target sm_80", ".target sm_90")
    .replace(".version 7.0", ".version 8.0");
    assert_words(&ptx, 32, |t| if t == 4 { 104 } else { 4 });
}

/// Both halves of a warp name all its lanes in shuffles at different places. As the PTX ISA specifies, each
/// half continues once the other has reached its shuffle, and shuffles among its own lanes. One loop is
/// longer.
#[test]
fn matching_shuffles_at_different_places_make_progress() {
    let body = |last_shuffle: &str| {
        format!(
            "setp.lt.u32 %p1, %t, 16;
        selp.u32 %r3, 1, 3, %p1;
        mov.u32 %r1, %t;
        mov.u32 %r4, 0;
    again:
        shfl.sync.idx.b32 %r1, %r1, 5, 0x100f, -1;
        add.u32 %r4, %r4, %r1;
        sub.u32 %r3, %r3, 1;
        setp.ne.u32 %p2, %r3, 0;
        @%p2 bra again;
        shfl.sync.{last_shuffle} %r2, %t, 2, 0x100f, -1;
        add.u32 %r4, %r4, %r2;
        st.global.u32 [%mine], %r4;"
        )
    };
    let ptx = kernel_of(&body("idx.b32"));
    assert_words(&ptx, 32, |t| if t < 16 { 5 + 2 } else { 3 * 21 + 18 });
    // With different qualifiers, no lane ever reaches an instruction that matches the waiting one.
    let fault = words(&kernel_of(&body("bfly.b32")), 32).unwrap_err();
    let expected_kind = FaultKind::WarpSyncNeverOpens { members: u32::MAX };
    assert_eq!(fault.kind, expected_kind);
}
