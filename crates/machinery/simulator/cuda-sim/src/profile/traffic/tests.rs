//! Tests of the traffic rules against the counters of an H200, and of edge cases.

use super::{lanes_per_wavefront, max_lanes_per_bank, split, *};
use crate::isa::Update;
use crate::lanes::{FULL, active};

/// A row of the table: `shared load 16 ffffffff step 2 = 8 4`.
struct Case {
    operation: String,
    bytes: u64,
    mask: u32,
    addresses: [u64; LANES],
    /// The destination addresses of a copy.
    to: [u64; LANES],
    measured: Vec<u32>,
}

impl Case {
    fn read(line: &str) -> Case {
        let (case, measured) = line.split_once(" = ").expect("a case and its counters");
        let fields: Vec<&str> = case.split(' ').collect();
        let number = |text: &str| text.parse().expect("a number");
        let bytes = number(fields[2]);
        let (pattern, to) = match fields.iter().position(|&word| word == "to") {
            Some(to) => (&fields[4..to], &fields[to + 1..]),
            None => (&fields[4..], &["step", "0"][..]),
        };
        let addresses = |pattern| std::array::from_fn(|lane| unit(pattern, lane as u64) * bytes);
        Case {
            operation: fields[1].to_owned(),
            bytes,
            mask: u32::from_str_radix(fields[3], 16).expect("a mask"),
            addresses: addresses(pattern),
            to: addresses(to),
            measured: measured
                .split(' ')
                .map(|text| number(text) as u32)
                .collect(),
        }
    }
}

/// Returns the address of a lane in units of its bytes, as described in the table's head.
fn unit(pattern: &[&str], lane: u64) -> u64 {
    let number = |index: usize| -> u64 { pattern[index].parse().expect("a number") };
    let (mut at, first_modifier) = match pattern[0] {
        "step" => (lane * number(1), 2),
        "rows" => {
            let (row, column) = (lane / number(1), lane % number(1));
            (row * number(2) + column * number(3), 4)
        }
        "xor" => (lane ^ number(1), 2),
        "random" => {
            let key = (number(1) << 8 | (lane & number(3))) as u32;
            let bits = key.wrapping_mul(0x9e37_79b1);
            let bits = (bits ^ bits >> 15).wrapping_mul(0x85eb_ca77);
            (u64::from(bits ^ bits >> 13) % number(2), 4)
        }
        kind => panic!("no pattern: {kind}"),
    };
    for modifier in pattern[first_modifier..].chunks(2) {
        let value: u64 = modifier[1].parse().expect("a number");
        match modifier[0] {
            "from" => at += value,
            "but" => at += u64::from(lane == value),
            kind => panic!("no change to a pattern: {kind}"),
        }
    }
    at
}

/// Returns the traffic of a load or a store.
fn global_traffic(addresses: &[u64; LANES], mask: u32, bytes: u64, store: bool) -> GlobalTraffic {
    global(addresses, mask, bytes, store, &mut [(0, 0); LANES])
}

fn cases(memory: &str) -> impl Iterator<Item = (&'static str, Case)> {
    include_str!("h200.txt")
        .lines()
        .filter(move |line| line.starts_with(memory))
        .map(|line| (line, Case::read(line)))
}

#[test]
fn shared_memory_matches_the_h200() {
    let mut compared = 0;
    for (line, case) in cases("shared ") {
        let (addresses, mask, bytes) = (case.addresses, case.mask, case.bytes);
        let model = match case.operation.as_str() {
            "atomic" => shared_atomic(&addresses, mask, bytes, Update::default()),
            operation => shared(&addresses, mask, bytes, operation == "store"),
        };
        let model = [model.wavefronts, model.conflicts];
        assert_eq!(model, case.measured[..], "{line}");
        compared += 1;
    }
    assert!(compared > 700, "the table was read: {compared} rows");
}

#[test]
fn global_sectors_and_lines_match_the_h200() {
    let (mut compared, mut exact, mut model, mut hardware) = (0, 0, 0, 0);
    for (line, case) in cases("global ") {
        let (addresses, mask, bytes) = (case.addresses, case.mask, case.bytes);
        let actual = match case.operation.as_str() {
            "atomic" => global_atomic(&addresses, mask, bytes, Update::default()),
            operation => global_traffic(&addresses, mask, bytes, operation == "store"),
        };
        let &[wavefronts, sectors, ref lines @ ..] = &case.measured[..] else {
            panic!("counters are missing: {line}");
        };
        assert_eq!(actual.sectors, sectors, "{line}");
        // Hardware has no counter of a store's lines.
        if let [lines] = lines {
            assert_eq!(actual.lines, *lines, "{line}");
        }
        exact += u32::from(actual.wavefronts == wavefronts);
        model += actual.wavefronts;
        hardware += wavefronts;
        compared += 1;
    }
    assert!(compared > 500, "the table was read: {compared} rows");
    // The grouping of a scattered load's lines is only partly known.
    assert!(
        exact * 100 >= compared * 92,
        "{exact} of {compared} wavefronts"
    );
    let difference = model.abs_diff(hardware);
    assert!(
        difference * 20 < hardware,
        "{model} wavefronts, measured {hardware}"
    );
}

#[test]
fn asynchronous_copies_match_the_h200() {
    let (mut compared, mut both, mut model, mut hardware) = (0, 0, 0, 0);
    let (mut past_alike, mut past) = (0, 0);
    for (line, case) in cases("copy ") {
        let (from, to, mask, bytes) = (case.addresses, case.to, case.mask, case.bytes);
        let &[sectors, wavefronts] = &case.measured[..] else {
            panic!("counters are missing: {line}");
        };
        compared += 1;
        if case.operation == "past" {
            let actual = copy_past_l1(&from, &to, mask);
            assert_eq!(actual.sectors, sectors, "{line}");
            assert_eq!(actual.shared.conflicts, 0, "{line}");
            past_alike += u32::from(actual.shared.wavefronts == wavefronts);
            past += 1;
            continue;
        }
        let actual = copy(&from, &to, mask, bytes);
        assert_eq!(actual.sectors, sectors, "{line}");
        let collide = |at: &[u64; LANES]| {
            let mut phases = split(mask, lanes_per_wavefront(bytes));
            phases.any(|lanes| max_lanes_per_bank(at, lanes, bytes) > 1)
        };
        if collide(&from) && collide(&to) {
            assert!(actual.shared.wavefronts <= wavefronts, "{line}");
            both += 1;
            model += actual.shared.wavefronts;
            hardware += wavefronts;
        } else {
            assert_eq!(actual.shared.wavefronts, wavefronts, "{line}");
        }
    }
    assert!(compared >= 300, "the table was read: {compared} rows");
    // If both sides collide, the order in which hardware serves the lanes is not known.
    assert!(
        both > 0 && model * 100 >= hardware * 80,
        "{model} wavefronts of {both} cases, measured {hardware}"
    );
    assert!(past_alike * 100 >= past * 85, "{past_alike} of {past}");
}

#[test]
fn constant_requests_match_the_h200() {
    let mut compared = 0;
    for (line, case) in cases("constant ") {
        let mut actual = [0; LANES];
        let count = constant(&case.addresses, case.mask, case.bytes, &mut actual);
        assert_eq!(count as u32, case.measured[0], "{line}");
        for lane in active(case.mask) {
            assert!(actual[..count].contains(&case.addresses[lane]), "{line}");
        }
        compared += 1;
    }
    assert!(compared > 50, "the table was read: {compared} rows");
}

#[test]
fn lines_are_listed_with_their_sectors() {
    let mut actual = [(0, 0); LANES];
    let from = |start: u64, step: u64| std::array::from_fn(|lane| start + lane as u64 * step);
    // One address; contiguous words from the middle of a line; separate lanes, the last one first.
    assert_eq!(lines(&from(4160, 0), FULL, 4, &mut actual), 1);
    assert_eq!(actual[0], (32, 0b0100));
    assert_eq!(lines(&from(64, 4), FULL, 4, &mut actual), 2);
    assert_eq!(actual[..2], [(0, 0b1100), (1, 0b0011)]);
    let mut same_bank = from(0, 64);
    same_bank[0] = 1 << 40;
    assert_eq!(lines(&same_bank, 0b1111, 4, &mut actual), 3);
    assert_eq!(actual[..3], [(1 << 33, 0b0001), (0, 0b0100), (1, 0b0101)]);
    // 512 bytes from an unaligned address reach into a fifth line.
    assert_eq!(lines(&from(96, 16), FULL, 16, &mut actual), 5);
    assert_eq!(actual[4], (4, 0b0111));
}

#[test]
fn inactive_lanes_are_ignored() {
    let mut addresses: [u64; LANES] = std::array::from_fn(|lane| lane as u64 * 4);
    addresses[5] = 1 << 30;
    for (mask, lines) in [(!(1 << 5), 1), (FULL, 2)] {
        assert_eq!(global_traffic(&addresses, mask, 4, false).lines, lines);
    }
    assert_eq!(shared(&addresses, !(1 << 5), 4, false).conflicts, 0);
    assert_eq!(constant(&addresses, 1 << 5, 4, &mut [0; LANES]), 1);
}

/// Compares with `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm` and the corresponding counter
/// of bank conflicts on an H200.
#[test]
fn matrix_loads_match_the_h200() {
    let rows = |step: u64| std::array::from_fn(|lane| lane as u64 * step);
    let same_eight = std::array::from_fn(|lane| lane as u64 % 8 * 16);
    let adjacent = std::array::from_fn(|lane| lane as u64 % 8 * 128 + lane as u64 / 8 * 16);
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
        (adjacent, 4, 32, 28),
        (rows(144), 4, 4, 0),
    ] {
        let actual = matrices(&addresses, count);
        let actual = (actual.wavefronts, actual.conflicts);
        assert_eq!(actual, (wavefronts, conflicts));
    }
}

#[test]
fn cas_loops_report_their_costliest_iteration() {
    let of = |addresses: &[u64; LANES]| {
        let CasLoop { loads, swaps, .. } = cas_loop(addresses, FULL, 4, Update::default());
        let counts = |access: RepeatedAccess| {
            let wavefronts = access.traffic.wavefronts;
            (access.times, wavefronts, access.costliest.wavefronts)
        };
        (counts(loads), counts(swaps))
    };
    // All lanes at one word: one of them succeeds in each iteration.
    assert_eq!(of(&[64; LANES]), ((32, 32, 1), (32, 64, 2)));
    // All lanes on one bank: the first iteration loads 32 words, the last one loads one.
    let same_bank = std::array::from_fn(|lane| lane as u64 * 128);
    assert_eq!(of(&same_bank).0, (32, 32 * 33 / 2, 32));
}

#[test]
fn an_empty_mask_causes_no_traffic() {
    let addresses = &[4096; LANES];
    let update = Update::default();
    let no_global_traffic = GlobalTraffic::default();
    assert_eq!(global_traffic(addresses, 0, 4, false), no_global_traffic);
    assert_eq!(global_atomic(addresses, 0, 4, update), no_global_traffic);
    let no_shared_traffic = SharedTraffic::default();
    assert_eq!(shared(addresses, 0, 16, false), no_shared_traffic);
    assert_eq!(shared_atomic(addresses, 0, 8, update), no_shared_traffic);
    let no_copies = CopyTraffic::default();
    assert_eq!(copy(addresses, addresses, 0, 4), no_copies);
    assert_eq!(copy_past_l1(addresses, addresses, 0), no_copies);
    assert_eq!(constant(addresses, 0, 4, &mut [0; LANES]), 0);
}
