//! Tests of the shadow memory, with and without the fast paths.

use super::*;
use crate::check::happens_before::HappensBefore;
use crate::check::lane_runs::Addresses;
use crate::lanes::quarters;

/// A shadow memory and the conflicts it detected: the access's number, its lane, the other access, and
/// whether the other access wrote.
struct TestShadow(SharedShadow, Vec<(u64, usize, u32, bool)>);

impl TestShadow {
    fn new() -> TestShadow {
        TestShadow(SharedShadow::new(512, 4, Checks::ALL), Vec::new())
    }

    fn access(&mut self, number: u64, order: &HappensBefore, access: ShadowAccess, run: &LaneRun) {
        let TestShadow(shadow, conflicts) = self;
        if access.write {
            shadow.flush_reads(order);
        }
        if shadow.may_conflict(order, access, run, 4) {
            let new_conflicts = shadow
                .find_conflicts(order, access, run, 4, |_| true)
                .into_iter();
            conflicts.extend(new_conflicts.map(|c| (number, c.lane, c.other.0, c.other_wrote)));
        }
        shadow.record(order, access, run, 4);
    }
}

#[test]
fn logged_reads_conflict_like_reads_recorded_at_once() {
    let mut order = HappensBefore::default();
    order.begin(3);
    let (mut logged, mut immediate) = (TestShadow::new(), TestShadow::new());
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 33) % below
    };
    for number in 0..40_000 {
        let lanes = 1 + random(32);
        let run = LaneRun {
            start: random(96) * 4,
            first: random(33 - lanes) as usize,
            lanes: lanes as usize,
            contiguous: random(2) == 0 && lanes > 1,
        };
        let access = ShadowAccess {
            warp: random(3) as usize,
            site: random(9) as u32,
            write: random(6) == 0,
            ordered: false,
            atomic: false,
        };
        logged.access(number, &order, access, &run);
        immediate.access(number, &order, access, &run);
        immediate.0.flush_reads(&order);
        match random(40) {
            0..5 => order.complete_block_barrier(),
            5 => order.sync_warp(random(3) as usize),
            6 if random(20) == 0 => {
                for shadow in [&mut logged.0, &mut immediate.0] {
                    shadow.begin(false);
                }
                order.begin(3);
            }
            7 if random(20) == 0 => {
                logged.0.flush_reads(&order);
                order.fence(random(3) as usize);
            }
            _ => {}
        }
    }
    assert_eq!(logged.1, immediate.1);
    let reads = logged.1.iter().filter(|(.., wrote)| !wrote);
    assert!(reads.count() > 1000 && logged.1.len() > 5000);
}

#[test]
fn reads_beyond_the_logs_capacity_are_recorded() {
    let mut order = HappensBefore::default();
    order.begin(2);
    let mut shadow = TestShadow::new();
    let at = |start| LaneRun {
        start,
        first: 0,
        lanes: 1,
        contiguous: false,
    };
    let access = |warp, write| ShadowAccess {
        warp,
        site: 1,
        write,
        ordered: false,
        atomic: false,
    };
    shadow.access(0, &order, access(0, false), &at(64));
    for number in 1..10_000 {
        shadow.access(number, &order, access(0, false), &at(128));
    }
    shadow.access(10_000, &order, access(1, true), &at(64));
    assert_eq!(shadow.1.len(), 1);
}

#[test]
fn fast_path_takes_only_valid_initialized_reads() {
    let mut order = HappensBefore::default();
    order.begin(1);
    let mut shadow = SharedShadow::new(512, 4, Checks::ALL);
    shadow.written.set(0, 256);
    let access = ShadowAccess {
        warp: 0,
        site: 1,
        write: false,
        ordered: false,
        atomic: false,
    };
    let row = &std::array::from_fn(|lane| 4 * lane as u64);
    let mut takes = |offset, order: &HappensBefore| {
        shadow.try_log_read(order, access, Addresses { row, offset }, 4)
    };
    assert!(takes(0, &order) && takes(128, &order));
    assert!(!takes(132, &order), "its end is not written");
    assert!(!takes(2, &order), "misaligned");
    assert!(!takes(400, &order) && !takes(0u64.wrapping_sub(4), &order));
    let contiguous = &std::array::from_fn(|lane| 8 * lane as u64 % 248);
    let at = Addresses {
        row: contiguous,
        offset: 0,
    };
    assert!(
        !shadow.try_log_read(&order, access, at, 4),
        "in no quarters"
    );
    let written = LaneRun {
        start: 0,
        first: 0,
        lanes: 1,
        contiguous: false,
    };
    shadow.record(
        &order,
        ShadowAccess {
            write: true,
            ..access
        },
        &written,
        4,
    );
    let at = Addresses { row, offset: 0 };
    assert!(!shadow.try_log_read(&order, access, at, 4), "just written");
    order.complete_block_barrier();
    assert!(shadow.try_log_read(&order, access, at, 4));
}

#[test]
fn atomics_do_not_hide_plain_writes_and_other_warps_atomics() {
    let mut order = HappensBefore::default();
    order.begin(3);
    let at = LaneRun {
        start: 64,
        first: 0,
        lanes: 1,
        contiguous: false,
    };
    let access = |warp, site, write, ordered| ShadowAccess {
        warp,
        site,
        write,
        ordered,
        atomic: write && ordered,
    };
    let (store, atomic) = (access(0, 1, true, false), access(0, 2, true, true));
    let others = |shadow: &mut TestShadow| -> Vec<usize> {
        let conflicts = shadow.1.drain(..);
        conflicts
            .map(|(_, _, other, _)| Accessor(other).warp())
            .collect()
    };
    // Warp 0 stores and updates. Its update does not hide the store from warp 1.
    let mut shadow = TestShadow::new();
    shadow.access(0, &order, store, &at);
    order.sync_warp(0);
    shadow.access(1, &order, atomic, &at);
    let is_store = |other: Accessor| other.site() == 1;
    let current = access(1, 2, true, true);
    let conflicts = shadow.0.find_conflicts(&order, current, &at, 4, is_store);
    assert_eq!(conflicts.len(), 1);
    // Warp 1 updates and then reads: warp 0's update races with the read.
    order.complete_block_barrier();
    shadow.access(2, &order, atomic, &at);
    shadow.access(3, &order, current, &at);
    order.sync_warp(1);
    others(&mut shadow);
    shadow.access(4, &order, access(1, 3, false, false), &at);
    assert_eq!(others(&mut shadow), [0]);
    order.complete_block_barrier();
    shadow.access(5, &order, access(2, 3, false, false), &at);
    assert!(others(&mut shadow).is_empty());
}

#[test]
fn a_read_yields_the_runs_it_was_made_of() {
    let accessor = (1, Accessor::new(0, 0, 0));
    let runs = |read: Read| {
        let mut actual = Vec::new();
        read.runs(|run, bytes| actual.push((*run, bytes)));
        actual
    };
    for rows in [[0, 32, 64, 96], [0, 64, 128, 192], [64, 64, 0, 32]] {
        for bytes in [0, 4] {
            let row = &std::array::from_fn(|lane| {
                rows[lane / LANES_PER_QUARTER] + (lane % LANES_PER_QUARTER) as u64 * bytes
            });
            let at = Addresses { row, offset: 1024 };
            let expected: Vec<_> = LaneRuns::new(at, FULL, 4).map(|run| (run, 4)).collect();
            let actual = quarters(row, 1024, 4).unwrap();
            assert_eq!(runs(Read::of_quarters(accessor, &actual, 4)), expected);
            for (run, bytes) in expected {
                assert_eq!(runs(Read::of_run(accessor, &run, bytes)), [(run, bytes)]);
            }
        }
    }
}
