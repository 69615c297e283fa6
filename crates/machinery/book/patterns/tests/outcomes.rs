//! Tests of the counters of patterns, and that the recorded accesses add up to the counters.

use cuda_sim::exec::Traced;
use cuda_sim::isa::{AccessClass, Memory};
use patterns::language::Language;
use patterns::outcome::{Outcome, run};
use patterns::page;
use patterns::pattern::{Pattern, Problem};
use patterns::trace::{self, Failure};
use sim_machine::{Launch, params};

fn run_pattern(pattern: &str) -> Outcome {
    let pattern: Pattern = pattern.parse().expect("a pattern");
    run(&pattern).expect("cannot run the pattern")
}

fn parse_error(pattern: &str) -> Problem {
    pattern.parse::<Pattern>().expect_err("no pattern")
}

/// Returns the address of each lane relative to the data.
fn relative_addresses(read: &Traced, base: u64) -> Vec<u64> {
    read.lanes().map(|(_, address)| address - base).collect()
}

#[test]
fn sectors_of_a_warps_load() {
    // The counts of an H200; see docs/results and the notes on coalescing.
    for (pattern, sectors, used, moved) in [
        ("", 4, 128, 128),
        ("offset=1", 5, 128, 160),
        ("offset=8", 4, 128, 128),
        ("stride=2", 8, 128, 256),
        ("stride=8", 32, 128, 1024),
        ("stride=32", 32, 128, 1024),
        ("order=one", 1, 4, 32),
        ("order=columns", 32, 128, 1024),
        ("element=1", 1, 32, 32),
        ("element=16", 16, 512, 512),
        ("block=1x1", 1, 4, 32),
        ("block=33x1", 5, 132, 160),
        ("block=16x2 pitch=1024", 4, 128, 128),
        ("space=read-only stride=2", 8, 128, 256),
    ] {
        let sums = run_pattern(pattern).sums;
        let actual = (sums.sectors, sums.used, sums.moved);
        assert_eq!(actual, (sectors, used, moved), "{pattern}");
    }
}

#[test]
fn wavefronts_of_shared_memory_are_counted() {
    for (pattern, wavefronts, conflicts) in [
        ("", 1, 0),
        ("stride=2", 2, 1),
        ("stride=32", 32, 31),
        ("stride=33", 1, 0),
        ("order=columns pitch=128", 32, 31),
        ("order=columns pitch=132", 1, 0),
        ("order=one", 1, 0),
        ("element=8", 2, 0),
        ("element=16", 4, 0),
    ] {
        let sums = run_pattern(&format!("space=shared {pattern}")).sums;
        let actual = (sums.wavefronts, sums.conflicts);
        assert_eq!(actual, (wavefronts, conflicts), "{pattern}");
    }
}

#[test]
fn requests_of_constant_memory_are_counted() {
    for (pattern, requests) in [
        ("order=one", 1),
        ("", 32),
        ("order=random", 32),
        ("block=64x1", 64),
        ("block=5x1", 5),
        ("stride=0", 1),
    ] {
        let sums = run_pattern(&format!("space=constant {pattern}")).sums;
        assert_eq!(sums.addresses, requests, "{pattern}");
    }
}

#[test]
fn every_lane_address_is_recorded() {
    let rows = run_pattern("block=16x4 pitch=512 stride=3 offset=2");
    assert_eq!(rows.reads.len(), 2);
    for (warp, read) in rows.reads.iter().enumerate() {
        let expected = (0..32).map(|lane| {
            let (x, y) = (lane % 16, 2 * warp as u64 + lane / 16);
            y * 512 + (2 + 3 * x) * 4
        });
        assert_eq!(
            relative_addresses(read, rows.base),
            expected.collect::<Vec<_>>()
        );
    }
    let columns = run_pattern("space=shared order=columns block=33x1 pitch=132");
    let expected: Vec<u64> = (0..32).map(|lane| lane * 132).collect();
    assert_eq!(
        relative_addresses(&columns.reads[0], columns.base),
        expected
    );
    assert_eq!(
        relative_addresses(&columns.reads[1], columns.base),
        [32 * 132]
    );
    assert_eq!(columns.reads[1].mask, 1);
    let scattered = run_pattern("space=constant order=random");
    let expected: Vec<u64> = (0..32).map(|lane| lane * 1357 % 16384 * 4).collect();
    assert_eq!(
        relative_addresses(&scattered.reads[0], scattered.base),
        expected
    );
}

#[test]
fn recorded_accesses_add_up_to_the_counters() {
    for space in ["global", "read-only", "shared", "constant"] {
        for order in ["rows", "columns", "one", "random"] {
            for rest in [
                "block=100x3 stride=5 pitch=2048 element=2",
                "block=7x9 pitch=96",
            ] {
                let pattern = format!("space={space} order={order} {rest}");
                let Ok(pattern) = pattern.parse::<Pattern>() else {
                    continue;
                };
                let Outcome { reads, sums, .. } = run(&pattern).expect("cannot run the pattern");
                let sum =
                    |field: fn(&Traced) -> u32| reads.iter().map(field).map(u64::from).sum::<u64>();
                let units = sum(|read| read.units);
                let recorded = match reads[0].memory {
                    Memory::Constant => (units, 0, 0),
                    _ => (
                        units,
                        sum(|read| read.wavefronts),
                        sum(|read| read.conflicts),
                    ),
                };
                let counters = (
                    sums.sectors + sums.addresses,
                    sums.wavefronts,
                    sums.conflicts,
                );
                assert_eq!(recorded, counters, "{pattern:?}");
                assert_eq!(reads.len() as u64, sums.requests, "{pattern:?}");
            }
        }
    }
}

#[test]
fn accesses_are_ordered_by_block() {
    let mut machine = trace::load(include_str!("../../../../../kernels/ptx/patterns.ptx")).unwrap();
    let (blocks, threads) = (300, 96);
    let [data, results] = [
        machine.allocate(4096).unwrap(),
        machine.allocate(4096).unwrap(),
    ];
    let params = params![data, results, [0u32, 512, 1, 3, 0]];
    let launch = Launch::new("read_global_4", blocks, threads, params);
    let trace = trace::run(&machine, &launch).unwrap();
    // Each of the three warps of a block loads and stores once.
    let recorded: Vec<_> = trace
        .accesses
        .iter()
        .map(|access| (access.block, access.mask))
        .collect();
    let expected = (0..u64::from(blocks)).flat_map(|block| [(block, u32::MAX); 6]);
    assert_eq!(recorded, expected.collect::<Vec<_>>());
    let reads: Vec<_> = trace.loads(Memory::Global).collect();
    let sectors = reads.iter().map(|read| u64::from(read.units)).sum::<u64>();
    let counters = trace.tally[AccessClass::GlobalLoad];
    assert_eq!(
        (counters.requests, counters.sectors),
        (reads.len() as u64, sectors)
    );
    let lines: Vec<_> = reads.iter().map(|read| &read.source.file).collect();
    assert!(
        lines
            .iter()
            .all(|file| file.as_deref() == Some("kernels/patterns.cu"))
    );
    // A second run has the same trace.
    assert_eq!(
        trace::run(&machine, &launch).unwrap().accesses,
        trace.accesses
    );
    let missing = Launch {
        kernel: "read_global_3",
        ..launch
    };
    assert!(matches!(
        trace::run(&machine, &missing),
        Err(Failure::NoKernel(_))
    ));
}

#[test]
fn invalid_patterns_are_rejected() {
    assert_eq!(parse_error("strides=2"), Problem::Unknown("strides".into()));
    for (name, value) in [
        ("space", "texture"),
        ("order", ""),
        ("element", "3"),
        ("block", "32"),
        ("block", "32x-1"),
        ("stride", "4294967296"),
    ] {
        let expected = Problem::Value(name.into(), value.into());
        assert_eq!(parse_error(&format!("{name}={value}")), expected);
    }
    assert_eq!(parse_error("block=0x1"), Problem::Threads(0));
    assert_eq!(parse_error("block=1025x1"), Problem::Threads(1025));
    assert_eq!(
        parse_error("block=4294967295x4294967295"),
        Problem::Threads(u64::from(u32::MAX).pow(2))
    );
    let shared = "space=shared order=columns pitch=2048";
    assert_eq!(
        parse_error(shared),
        Problem::TooFar(31 * 2048 + 4, 48 << 10)
    );
    assert_eq!(
        parse_error("space=constant order=random offset=1"),
        Problem::TooFar(65540, 65536)
    );
    for language in Language::ALL {
        for problem in [
            parse_error("strides=2"),
            parse_error("element=3"),
            parse_error("block=0x1"),
            parse_error(shared),
        ] {
            assert!(!problem.message(language).is_empty());
        }
    }
}

#[test]
fn misaligned_read_faults() {
    let pattern: Pattern = "order=columns pitch=130".parse().expect("a pattern");
    let Err(Failure::Fault(fault)) = run(&pattern) else {
        panic!("it ran");
    };
    assert!(fault.to_string().contains("misaligned"), "{fault}");
}

#[test]
fn text_reply_has_sentences_and_counters() {
    let text = page::text("space=constant order=random block=64x1").expect("cannot draw the page");
    let (words, counter) = text.rsplit_once('\n').expect("more than a line");
    assert!(words.ends_with("2 loads, 64 requests: one per distinct address of a warp"));
    assert_eq!(counter, "    64  constant requests (idc__requests.sum)");
    let message = page::text("lang=zh element=3").expect_err("no pattern");
    assert_eq!(message, "`element` 的值 `3` 无效");
}

#[test]
fn page_replies_in_both_languages() {
    let reply = |query: &str| -> serde_json::Value {
        serde_json::from_str(&page::json(query)).expect("JSON")
    };
    let english = reply("stride=2&lang=en");
    assert_eq!(
        english["result"],
        "1 request, 8 sectors: 128 of 256 bytes used"
    );
    assert_eq!(english["sums"]["sectors"], 8);
    let chinese = reply("stride=2&lang=zh");
    assert_eq!(chinese["sums"], english["sums"]);
    assert_ne!(chinese["pattern"], english["pattern"]);
    let last = reply("block=64x1&warp=9");
    assert_eq!((&last["warp"], &last["warps"]), (&1.into(), &2.into()));
    for (query, expected) in [
        ("lang=en&element=3", "invalid value `3` for `element`"),
        ("lang=zh&element=3", "`element` 的值 `3` 无效"),
    ] {
        assert_eq!(reply(query)["problem"], expected);
    }
    let fault = reply("lang=zh&order=columns&pitch=130");
    let fault = fault["problem"].as_str().expect("text");
    assert!(
        fault.starts_with("核函数出错") && fault.contains("misaligned"),
        "{fault}"
    );
}
