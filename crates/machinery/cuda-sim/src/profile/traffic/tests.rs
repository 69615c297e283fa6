//! The rules against what an H200 counts, and the ends of each.

use super::banks::{lanes_a_bank, lanes_at_once, split};
use super::*;
use crate::isa::Update;
use crate::lanes::{FULL, active};

/// A row of the table: `shared load 16 ffffffff step 2 = 8 4`.
struct Case {
    operation: String,
    bytes: u64,
    mask: u32,
    addresses: [u64; LANES],
    /// Where a copy goes.
    to: [u64; LANES],
    measured: Vec<u32>,
}

impl Case {
    fn read(line: &str) -> Case {
        let (case, measured) = line.split_once(" = ").expect("a case and its counters");
        let words: Vec<&str> = case.split(' ').collect();
        let number = |text: &str| text.parse().expect("a number");
        let bytes = number(words[2]);
        let (pattern, to) = match words.iter().position(|&word| word == "to") {
            Some(to) => (&words[4..to], &words[to + 1..]),
            None => (&words[4..], &["step", "0"][..]),
        };
        let places = |pattern| std::array::from_fn(|lane| unit(pattern, lane as u64) * bytes);
        Case {
            operation: words[1].to_owned(),
            bytes,
            mask: u32::from_str_radix(words[3], 16).expect("a mask"),
            addresses: places(pattern),
            to: places(to),
            measured: measured
                .split(' ')
                .map(|text| number(text) as u32)
                .collect(),
        }
    }
}

/// Where a lane goes, in units of the bytes it moves: as the table's head describes.
fn unit(pattern: &[&str], lane: u64) -> u64 {
    let number = |place: usize| -> u64 { pattern[place].parse().expect("a number") };
    let (mut at, rest) = match pattern[0] {
        "step" => (lane * number(1), 2),
        "rows" => (
            lane / number(1) * number(2) + lane % number(1) * number(3),
            4,
        ),
        "xor" => (lane ^ number(1), 2),
        "random" => {
            let key = (number(1) << 8 | (lane & number(3))) as u32;
            let bits = key.wrapping_mul(0x9e37_79b1);
            let bits = (bits ^ bits >> 15).wrapping_mul(0x85eb_ca77);
            (u64::from(bits ^ bits >> 13) % number(2), 4)
        }
        kind => panic!("no pattern: {kind}"),
    };
    for more in pattern[rest..].chunks(2) {
        let value: u64 = more[1].parse().expect("a number");
        match more[0] {
            "from" => at += value,
            "but" => at += u64::from(lane == value),
            kind => panic!("no change to a pattern: {kind}"),
        }
    }
    at
}

fn cases(memory: &str) -> impl Iterator<Item = (&'static str, Case)> {
    include_str!("h200.txt")
        .lines()
        .filter(move |line| line.starts_with(memory))
        .map(|line| (line, Case::read(line)))
}

#[test]
fn shared_memory_is_as_an_h200_counts_it() {
    let mut compared = 0;
    for (line, case) in cases("shared ") {
        let Case {
            addresses,
            mask,
            bytes,
            ..
        } = case;
        let ours = match case.operation.as_str() {
            "atomic" => shared_atomic(&addresses, mask, bytes, Update::default()),
            operation => shared(&addresses, mask, bytes, operation == "store"),
        };
        assert_eq!(
            [ours.wavefronts, ours.conflicts],
            case.measured[..],
            "{line}"
        );
        compared += 1;
    }
    assert!(compared > 700, "the table was read: {compared} rows");
}

#[test]
fn sectors_and_lines_are_as_an_h200_counts_them() {
    let (mut compared, mut alike, mut ours, mut theirs) = (0, 0, 0, 0);
    for (line, case) in cases("global ") {
        let Case {
            addresses,
            mask,
            bytes,
            ..
        } = case;
        let found = match case.operation.as_str() {
            "atomic" => global_atomic(&addresses, mask, bytes, Update::default()),
            operation => global(
                &addresses,
                mask,
                bytes,
                operation == "store",
                &mut [(0, 0); LANES],
            ),
        };
        let &[wavefronts, sectors, ref lines @ ..] = &case.measured[..] else {
            panic!("counters are missing: {line}");
        };
        assert_eq!(found.sectors, sectors, "{line}");
        // Hardware has no counter of a store's lines.
        if let [lines] = lines {
            assert_eq!(found.lines, *lines, "{line}");
        }
        alike += u32::from(found.wavefronts == wavefronts);
        ours += found.wavefronts;
        theirs += wavefronts;
        compared += 1;
    }
    assert!(compared > 500, "the table was read: {compared} rows");
    // Which lines of a scattered load go together is known in part only.
    assert!(
        alike * 100 >= compared * 92,
        "{alike} of {compared} wavefronts"
    );
    assert!(
        ours.abs_diff(theirs) * 20 < theirs,
        "{ours} wavefronts, measured {theirs}"
    );
}

#[test]
fn asynchronous_copies_are_as_an_h200_counts_them() {
    let (mut compared, mut both, mut ours, mut theirs) = (0, 0, 0, 0);
    let (mut past_alike, mut past) = (0, 0);
    for (line, case) in cases("copy ") {
        let Case {
            addresses: from,
            to,
            mask,
            bytes,
            ..
        } = case;
        let &[sectors, wavefronts] = &case.measured[..] else {
            panic!("counters are missing: {line}");
        };
        compared += 1;
        if case.operation == "past" {
            let found = copy_past_l1(&from, &to, mask);
            assert_eq!(
                (found.sectors, found.shared.conflicts),
                (sectors, 0),
                "{line}"
            );
            past_alike += u32::from(found.shared.wavefronts == wavefronts);
            past += 1;
            continue;
        }
        let found = copy(&from, &to, mask, bytes);
        assert_eq!(found.sectors, sectors, "{line}");
        let collide = |at: &[u64; LANES]| {
            let mut phases = split(mask, lanes_at_once(bytes));
            phases.any(|lanes| lanes_a_bank(at, lanes, bytes) > 1)
        };
        if collide(&from) && collide(&to) {
            assert!(found.shared.wavefronts <= wavefronts, "{line}");
            both += 1;
            ours += found.shared.wavefronts;
            theirs += wavefronts;
        } else {
            assert_eq!(found.shared.wavefronts, wavefronts, "{line}");
        }
    }
    assert!(compared >= 300, "the table was read: {compared} rows");
    // Where both sides collide hardware's order of turns is not known.
    assert!(
        both > 0 && ours * 100 >= theirs * 80,
        "{ours} wavefronts of {both} cases, measured {theirs}"
    );
    assert!(past_alike * 100 >= past * 85, "{past_alike} of {past}");
}

#[test]
fn distinct_constant_addresses_are_as_an_h200_counts_them() {
    let mut compared = 0;
    for (line, case) in cases("constant ") {
        let mut found = [0; LANES];
        let count = constant(&case.addresses, case.mask, case.bytes, &mut found);
        assert_eq!(count as u32, case.measured[0], "{line}");
        for lane in active(case.mask) {
            assert!(found[..count].contains(&case.addresses[lane]), "{line}");
        }
        compared += 1;
    }
    assert!(compared > 50, "the table was read: {compared} rows");
}

#[test]
fn lines_are_listed_with_their_sectors() {
    let mut found = [(0, 0); LANES];
    let from = |start: u64, step: u64| std::array::from_fn(|lane| start + lane as u64 * step);
    // One address; a warp's words from the middle of a line; lanes apart, the last one first.
    assert_eq!(lines(&from(4160, 0), FULL, 4, &mut found), 1);
    assert_eq!(found[0], (32, 0b0100));
    assert_eq!(lines(&from(64, 4), FULL, 4, &mut found), 2);
    assert_eq!(found[..2], [(0, 0b1100), (1, 0b0011)]);
    let mut apart = from(0, 64);
    apart[0] = 1 << 40;
    assert_eq!(lines(&apart, 0b1111, 4, &mut found), 3);
    assert_eq!(found[..3], [(1 << 33, 0b0001), (0, 0b0100), (1, 0b0101)]);
    // 512 bytes from an odd place reach into a fifth line.
    assert_eq!(lines(&from(96, 16), FULL, 16, &mut found), 5);
    assert_eq!(found[4], (4, 0b0111));
}

#[test]
fn a_mask_hides_what_lanes_outside_it_want() {
    let mut addresses: [u64; LANES] = std::array::from_fn(|lane| lane as u64 * 4);
    addresses[5] = 1 << 30;
    assert_eq!(
        global(&addresses, !(1 << 5), 4, false, &mut [(0, 0); LANES]).lines,
        1
    );
    assert_eq!(
        global(&addresses, FULL, 4, false, &mut [(0, 0); LANES]).lines,
        2
    );
    assert_eq!(shared(&addresses, !(1 << 5), 4, false).conflicts, 0);
    assert_eq!(constant(&addresses, 1 << 5, 4, &mut [0; LANES]), 1);
}

/// What `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm` and its twin for bank conflicts
/// count on an H200.
#[test]
fn matrices_are_loaded_as_an_h200_counts_them() {
    let rows = |step: u64| std::array::from_fn(|lane| lane as u64 * step);
    let same_eight = std::array::from_fn(|lane| lane as u64 % 8 * 16);
    let beside = std::array::from_fn(|lane| lane as u64 % 8 * 128 + lane as u64 / 8 * 16);
    for (addresses, count, wavefronts, conflicts) in [
        (rows(16), 1, 1, 0),
        (rows(16), 2, 2, 0),
        (rows(16), 4, 4, 0),
        (rows(128), 1, 8, 7),
        (rows(128), 2, 16, 14),
        (rows(128), 4, 32, 28),
        (rows(80), 4, 4, 0),
        (rows(32), 4, 8, 4),
        (rows(64), 4, 16, 12),
        (rows(0), 1, 1, 0),
        (rows(0), 4, 4, 0),
        (same_eight, 4, 4, 0),
        (beside, 4, 32, 28),
        (rows(144), 4, 4, 0),
    ] {
        let found = matrices(&addresses, count);
        assert_eq!((found.wavefronts, found.conflicts), (wavefronts, conflicts));
    }
}

#[test]
fn of_a_loop_around_a_swap_one_round_is_told() {
    let of = |addresses: &[u64; LANES]| {
        let Retried { loads, swaps, .. } = retried(addresses, FULL, 4, Update::default());
        let one = |it: Repeated| (it.times, it.traffic.wavefronts, it.costliest.wavefronts);
        (one(loads), one(swaps))
    };
    // All lanes at one word: one of them is done in each round.
    assert_eq!(of(&[64; LANES]), ((32, 32, 1), (32, 64, 2)));
    // All at one bank: the first round loads 32 words, the last one.
    let apart = std::array::from_fn(|lane| lane as u64 * 128);
    assert_eq!(of(&apart).0, (32, 32 * 33 / 2, 32));
}

#[test]
fn no_lane_is_no_traffic() {
    let addresses = [4096; LANES];
    assert_eq!(
        global(&addresses, 0, 4, false, &mut [(0, 0); LANES]),
        GlobalTraffic::default()
    );
    assert_eq!(
        global_atomic(&addresses, 0, 4, Update::default()),
        GlobalTraffic::default()
    );
    assert_eq!(shared(&addresses, 0, 16, false), SharedTraffic::default());
    assert_eq!(
        shared_atomic(&addresses, 0, 8, Update::default()),
        SharedTraffic::default()
    );
    assert_eq!(copy(&addresses, &addresses, 0, 4), CopyTraffic::default());
    assert_eq!(
        copy_past_l1(&addresses, &addresses, 0),
        CopyTraffic::default()
    );
    assert_eq!(constant(&addresses, 0, 4, &mut [0; LANES]), 0);
}
