//! What a shadow finds, and what it does without a closer look.

use super::*;
use crate::check::order::Order;
use crate::check::runs::Addresses;

/// A shadow, and all that it found: for each access that conflicts, its number, the lane, and
/// the other's name.
struct Watched(SharedShadow, Vec<(u64, usize, u32, bool)>);

impl Watched {
    fn new() -> Watched {
        Watched(SharedShadow::new(512, 4, Checks::ALL), Vec::new())
    }

    fn access(&mut self, number: u64, order: &Order, now: Now, run: &LaneRun) {
        let Watched(shadow, found) = self;
        if now.write {
            shadow.settle(order);
        }
        if shadow.is_suspect(order, now, run, 4) {
            let conflicts = shadow.look_closely(order, now, run, 4).into_iter();
            found.extend(conflicts.map(|c| (number, c.lane, c.other.0, c.other_wrote)));
        }
        shadow.note(order, now, run, 4);
    }
}

#[test]
fn reads_that_are_put_down_count_as_those_noted_at_once() {
    let mut order = Order::default();
    order.begin(3);
    let (mut late, mut at_once) = (Watched::new(), Watched::new());
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
            apart: random(2) == 0 && lanes > 1,
        };
        let now = Now {
            warp: random(3) as usize,
            site: random(9) as u32,
            write: random(6) == 0,
        };
        late.access(number, &order, now, &run);
        at_once.access(number, &order, now, &run);
        at_once.0.settle(&order);
        match random(40) {
            0..5 => order.open_for_all(),
            5 => order.meet(random(3) as usize),
            6 if random(20) == 0 => {
                for shadow in [&mut late.0, &mut at_once.0] {
                    shadow.begin(false);
                }
                order.begin(3);
            }
            7 if random(20) == 0 => {
                late.0.settle(&order);
                order.fence(random(3) as usize);
            }
            _ => {}
        }
    }
    assert_eq!(late.1, at_once.1);
    let reads = late.1.iter().filter(|(.., wrote)| !wrote);
    assert!(reads.count() > 1000 && late.1.len() > 5000);
}

#[test]
fn more_reads_than_there_is_room_for_are_noted() {
    let mut order = Order::default();
    order.begin(2);
    let mut watched = Watched::new();
    let at = |start| LaneRun {
        start,
        first: 0,
        lanes: 1,
        apart: false,
    };
    let now = |warp, write| Now {
        warp,
        site: 1,
        write,
    };
    watched.access(0, &order, now(0, false), &at(64));
    for number in 1..10_000 {
        watched.access(number, &order, now(0, false), &at(128));
    }
    watched.access(10_000, &order, now(1, true), &at(64));
    assert_eq!(watched.1.len(), 1);
}

#[test]
fn a_plain_read_is_inside_and_of_what_is_written() {
    let mut order = Order::default();
    order.begin(1);
    let mut shadow = SharedShadow::new(512, 4, Checks::ALL);
    shadow.written.set(0, 256);
    let now = Now {
        warp: 0,
        site: 1,
        write: false,
    };
    let row = &std::array::from_fn(|lane| 4 * lane as u64);
    let mut plain =
        |offset, order: &Order| shadow.note_plain_read(order, now, Addresses { row, offset }, 4);
    assert!(plain(0, &order) && plain(128, &order));
    assert!(!plain(132, &order), "its end is not written");
    assert!(!plain(2, &order), "misaligned");
    assert!(!plain(400, &order) && !plain(0u64.wrapping_sub(4), &order));
    let apart = &std::array::from_fn(|lane| 8 * lane as u64 % 248);
    let at = Addresses {
        row: apart,
        offset: 0,
    };
    assert!(
        !shadow.note_plain_read(&order, now, at, 4),
        "in no quarters"
    );
    let written = LaneRun {
        start: 0,
        first: 0,
        lanes: 1,
        apart: false,
    };
    shadow.note(&order, Now { write: true, ..now }, &written, 4);
    let at = Addresses { row, offset: 0 };
    assert!(!shadow.note_plain_read(&order, now, at, 4), "just written");
    order.open_for_all();
    assert!(shadow.note_plain_read(&order, now, at, 4));
}
