//! Tests of the shadow memory, with and without the fast paths.

use super::*;
use crate::check::happens_before::HappensBefore;
use crate::check::lane_runs::Addresses;

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
            let new_conflicts = shadow.find_conflicts(order, access, run, 4).into_iter();
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
