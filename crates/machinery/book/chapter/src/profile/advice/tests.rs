//! Tests of the advice on launches with different kinds of waste.

use super::*;
use crate::profile::sample;

/// Returns 1000 requests of full warps, 4 bytes per thread.
fn access(sectors: u64, wavefronts: u64) -> AccessCounts {
    AccessCounts {
        requests: 1000,
        threads: 32_000,
        bytes: 128_000,
        sectors,
        wavefronts,
        ..AccessCounts::default()
    }
}

fn shared(wavefronts: u64, conflicts: u64) -> AccessCounts {
    AccessCounts {
        conflicts,
        ..access(0, wavefronts)
    }
}

const MEMORY: (Resource, f64) = (Resource::Memory, 1.0);

/// Returns 1000 loads that all miss the L1 cache.
fn loads(bytes: u64, sectors: u64, wavefronts: u64) -> Tally {
    let loads = AccessCounts {
        bytes,
        ..access(sectors, wavefronts)
    };
    Tally::of([(AccessClass::GlobalLoad, loads)])
}

fn constant(addresses: u64) -> Tally {
    let loads = AccessCounts {
        requests: 1000,
        addresses,
        ..AccessCounts::default()
    };
    Tally::of([(AccessClass::ConstantLoad, loads)])
}

fn of_lines(lines: &[(u32, Tally)], parts: &[(Resource, f64)]) -> String {
    for_launch(&sample::by_lines(lines, parts), Lang::En).unwrap()
}

fn of_total(total: Tally, parts: &[(Resource, f64)]) -> String {
    for_launch(&sample::launch(total, parts), Lang::En).unwrap()
}

#[track_caller]
fn assert_starts(message: &str, expected: &str) {
    assert!(message.starts_with(expected), "{message}");
}

#[track_caller]
fn assert_has(message: &str, expected: &str) {
    assert!(message.contains(expected), "{message}");
}

#[test]
fn distinct_constants_in_a_warp_are_reported() {
    let lines = [(7, constant(1000)), (9, constant(32_000))];
    let message = of_lines(&lines, &[(Resource::ConstantCache, 0.9)]);
    let expected = "kernels/vector-add.cu:9: each warp reads 32 distinct constant addresses: 32 \
                  requests where 1 would do. ";
    assert_starts(&message, expected);
    let launch = sample::by_lines(&lines, &[(Resource::ConstantCache, 0.9)]);
    let expected = "kernels/vector-add.cu:9: 每个线程束读取 32 个不同的常量地址，需要 32 次请求，本来 1 次就够。";
    assert_starts(&for_launch(&launch, Lang::Zh).unwrap(), expected);
}

#[test]
fn severe_waste_is_reported_even_if_launching_hides_it() {
    let launch = [(Resource::Launch, 1.0), (Resource::ConstantCache, 0.01)];
    let lines = [(7, constant(1000)), (9, constant(32_000))];
    let message = of_lines(&lines, &launch);
    let expected = "hidden at this size, because launching it takes longer than its work: \
                    kernels/vector-add.cu:9: each warp reads 32 distinct constant addresses";
    assert_starts(&message, expected);
    let conflicts = Tally::of([(AccessClass::SharedLoad, shared(32_000, 31_000))]);
    let message = of_lines(&[(3, conflicts)], &launch);
    assert_has(
        &message,
        "kernels/vector-add.cu:3: every shared load takes 32 wavefronts",
    );
    // Two-way conflicts are common and cheap.
    let conflicts = Tally::of([(AccessClass::SharedLoad, shared(2000, 1000))]);
    let message = of_lines(&[(3, conflicts)], &launch);
    assert_starts(&message, "no waste found: launching it");
}

#[test]
fn broadcast_constants_waste_nothing() {
    let message = of_lines(&[(7, constant(1000))], &[(Resource::ConstantCache, 1.0)]);
    let expected = "no waste found: it is bound by the constant cache, with one request per warp; all of \
                  that is in kernels/vector-add.cu:7. ";
    assert_starts(&message, expected);
}

#[test]
fn scattered_loads_and_stores() {
    let scattered = access(32_000, 32_000);
    let loads = Tally::of([
        (AccessClass::GlobalLoad, scattered),
        (AccessClass::GlobalStore, access(4000, 1000)),
    ]);
    let message = of_lines(&[(3, loads)], &[(Resource::Memory, 1.0)]);
    let expected = "kernels/vector-add.cu:3: a global load takes 32 sectors where 4 would do.";
    assert_starts(&message, expected);

    let stores = Tally::of([(AccessClass::GlobalStore, scattered)]);
    let message = of_lines(&[(3, stores)], &[(Resource::L2, 1.0)]);
    assert_has(&message, "a global store takes 32 sectors");
}

#[test]
fn scattered_l1_hits_keep_only_the_l1_cache_busy() {
    let loads = AccessCounts {
        hits: 31_990,
        ..access(32_000, 32_000)
    };
    let loads = Tally::of([
        (AccessClass::GlobalLoad, loads),
        (AccessClass::GlobalStore, access(4000, 1000)),
    ]);
    let message = of_total(loads, &[(Resource::Memory, 1.0)]);
    assert_starts(&message, "no waste found");
    let message = of_total(loads, &[(Resource::L1Shared, 1.0)]);
    assert_starts(&message, "a global load takes 32 sectors");
}

#[test]
fn coalesced_broadcast_and_wide_loads_waste_nothing() {
    // 4 bytes per thread; all the same word; 16 bytes per thread; requests of one thread.
    for (bytes, sectors, wavefronts) in [
        (128_000, 4000, 1000),
        (128_000, 1000, 1000),
        (512_000, 16_000, 4000),
        (4000, 1000, 1000),
    ] {
        let message = of_total(loads(bytes, sectors, wavefronts), &[MEMORY]);
        assert_starts(&message, "no waste found: it is memory-bound");
    }
}

#[test]
fn strided_words_waste_sectors() {
    for (bytes, sectors, wavefronts, expected) in [
        (128_000, 8000, 2000, "8 sectors where 4 would do"),
        (128_000, 12_000, 3000, "12 sectors where 4 would do"),
        (256_000, 16_000, 4000, "16 sectors where 8 would do"),
    ] {
        let message = of_total(loads(bytes, sectors, wavefronts), &[MEMORY]);
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("load neighbouring words"), "{message}");
    }
}

#[test]
fn structure_members_found_in_the_l1_cache_waste_no_memory_bandwidth() {
    let member = |hits| {
        let mut tally = loads(128_000, 12_000, 3000);
        tally[AccessClass::GlobalLoad].hits = hits;
        tally
    };
    let lines = [(3, member(0)), (4, member(12_000)), (5, member(12_000))];
    let message = of_lines(&lines, &[MEMORY]);
    assert_starts(&message, "no waste found");
    // The L1 cache has to serve three times as many sectors.
    let message = of_lines(&lines, &[(Resource::L1Shared, 1.0)]);
    assert!(message.contains("12 sectors where 4 would do"), "{message}");
}

#[test]
fn broadcast_loads_do_not_compensate_for_scattered_ones() {
    let lines = [
        (3, loads(128_000, 32_000, 32_000)),
        (4, loads(1_280_000, 10_000, 10_000)),
    ];
    let message = of_lines(&lines, &[MEMORY]);
    let expected = "kernels/vector-add.cu:3: a global load takes 32 sectors where 4 would do";
    assert_starts(&message, expected);
}

#[test]
fn misaligned_contiguous_loads() {
    let message = of_total(loads(128_000, 5000, 2000), &[MEMORY]);
    let expected = "a global load takes 5 sectors where 4 would do. Let a warp's first thread \
                  load at a multiple of 32 bytes.";
    assert_eq!(message, expected);
}

#[test]
fn bank_conflicts() {
    let tally = Tally::of([
        (AccessClass::SharedLoad, shared(32_000, 31_000)),
        (AccessClass::SharedStore, shared(1000, 0)),
    ]);
    let message = of_lines(&[(5, tally)], &[(Resource::L1Shared, 0.8)]);
    let expected =
        "kernels/vector-add.cu:5: every shared load takes 32 wavefronts where 1 would do";
    assert_starts(&message, expected);

    let tally = Tally::of([
        (AccessClass::SharedLoad, shared(1000, 0)),
        (AccessClass::SharedStore, shared(2000, 1000)),
    ]);
    let message = of_total(tally, &[(Resource::L1Shared, 0.8)]);
    assert_starts(&message, "every shared store takes 2 wavefronts");
}

#[test]
fn scattered_copies() {
    let tally = Tally::of([
        (AccessClass::CopyReadBypassL1, access(32_000, 0)),
        (AccessClass::CopyWrite, shared(1000, 0)),
    ]);
    let message = of_lines(&[(3, tally)], &[MEMORY]);
    let expected = "kernels/vector-add.cu:3: a global load takes 32 sectors where 4 would do.";
    assert_starts(&message, expected);
}

#[test]
fn bank_conflicts_of_matrix_loads() {
    let tally = Tally::of([
        (AccessClass::SharedLoad, shared(1000, 0)),
        (AccessClass::MatrixLoad, shared(8000, 4000)),
    ]);
    let message = of_total(tally, &[(Resource::L1Shared, 0.8)]);
    let expected = "every matrix load takes 8 wavefronts where 4 would do";
    assert_starts(&message, expected);
}

#[test]
fn local_memory_is_reported() {
    let tally = Tally::of([
        (AccessClass::LocalLoad, access(4000, 1000)),
        (AccessClass::LocalStore, access(4000, 1000)),
    ]);
    let message = of_lines(&[(2, tally)], &[(Resource::L1Shared, 1.0)]);
    let expected = "kernels/vector-add.cu:2: 2 000 requests go to local memory";
    assert_starts(&message, expected);
}

#[test]
fn divergent_branches_are_reported() {
    let tally = Tally {
        instructions: 1000,
        thread_instructions: 8000,
        branches: 100,
        divergent_branches: 50,
        ..Tally::default()
    };
    let message = of_lines(&[(4, tally)], &[(Resource::Issue, 1.0)]);
    let expected = "kernels/vector-add.cu:4: 8 of a warp's 32 lanes are active here on average: \
                  50 of 100 branches diverge";
    assert_starts(&message, expected);
}

#[test]
fn partially_filled_warps_are_reported() {
    let mut launch = sample::launch(Tally::default(), &[(Resource::Issue, 1.0)]);
    launch.block = [7, 5, 1];
    let message = for_launch(&launch, Lang::En).unwrap();
    let expected = "blocks of 35 threads fill 54.7 % of the 64 lanes of their warps.";
    assert_starts(&message, expected);
}

#[test]
fn low_occupancy_is_reported() {
    let mut launch = sample::launch(Tally::default(), &[(Resource::Latency, 1.0)]);
    launch.time.occupancy.warps = 16;
    for (limit, change) in [
        (OccupancyLimit::Threads, "that divides"),
        (OccupancyLimit::Blocks, "larger blocks"),
        (OccupancyLimit::SharedMemory, "Use less of it"),
        (OccupancyLimit::Registers, "Use fewer per thread"),
        (OccupancyLimit::Grid, "Launch more blocks"),
    ] {
        launch.time.occupancy.limit = limit;
        let message = for_launch(&launch, Lang::En).unwrap();
        assert_starts(&message, "too few warps");
        assert!(message.contains("holds 16 of at most 64"), "{message}");
        assert!(message.contains(change), "{limit:?}: {message}");
    }
    // More warps would not help a launch that is bound by another resource.
    launch.time.binding = Resource::Memory;
    let message = for_launch(&launch, Lang::En).unwrap();
    assert_starts(&message, "no waste found");
}

#[test]
fn blocks_too_small_to_outweigh_their_scheduling() {
    let parts = [(Resource::Launch, 1.0), (Resource::Issue, 0.2)];
    let mut launch = sample::launch(Tally::default(), &parts);
    let message = for_launch(&launch, Lang::En).unwrap();
    assert!(message.contains("launching it takes longer"), "{message}");
    launch.block = [32, 1, 1];
    let message = for_launch(&launch, Lang::En).unwrap();
    let expected = "scheduling 1 000 blocks of 32 threads takes longer than their work.";
    assert_starts(&message, expected);
}

#[test]
fn without_waste_the_bound_is_reported() {
    for (binding, expected) in [
        (Resource::Arithmetic, "it is compute-bound"),
        (Resource::Issue, "it is bound by instruction"),
        (Resource::L1Shared, "it is bound by shared"),
        (Resource::ConstantCache, "it is bound by the constant cache"),
        (Resource::L2, "it is bound by the L2 cache"),
        (Resource::Memory, "it is memory-bound"),
        (Resource::Latency, "its warps wait"),
        (Resource::Launch, "launching it"),
    ] {
        let message = of_total(Tally::default(), &[(binding, 1.0)]);
        let message = message.strip_prefix("no waste found: ").unwrap();
        assert_starts(message, expected);
    }
}

#[test]
fn l1_loads_and_shared_memory_are_distinguished() {
    let first = loads(128_000, 4000, 1000);
    let mut both = first;
    both[AccessClass::SharedLoad] = shared(1000, 0);
    let parts = [(Resource::L1Shared, 1.0)];
    let message = of_total(first, &parts);
    assert_has(&message, ": it is bound by loads from the L1 cache");
    let message = of_total(both, &parts);
    assert!(message.contains(": it is bound by shared"), "{message}");
}

#[test]
fn shares_are_relative_to_the_sum_of_all_lines() {
    // Loads that hit the L1 cache must not dilute those that miss it.
    let mut near = loads(128_000, 1000, 1000);
    near[AccessClass::GlobalLoad].hits = 1000;
    let lines = [(3, loads(128_000, 4000, 1000)), (4, near)];
    let message = of_lines(&lines, &[(Resource::Latency, 1.0)]);
    let expected = "its warps wait for their loads; all of that is in kernels/vector-add.cu:3.";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn the_most_costly_waste_is_reported() {
    let mut tally = constant(32_000);
    tally[AccessClass::SharedLoad] = shared(2000, 1000);
    let parts = |constants, shared| {
        [
            (Resource::ConstantCache, constants),
            (Resource::L1Shared, shared),
        ]
    };
    assert!(of_total(tally, &parts(1.0, 0.9)).starts_with("each warp reads 32"));
    assert!(of_total(tally, &parts(0.3, 1.0)).starts_with("every shared load"));
    // Each takes less than half of the time, so it is hidden by the rest.
    assert!(of_total(tally, &parts(0.4, 0.4)).starts_with("no waste found"));
}

#[test]
fn waste_below_a_tenth_of_the_time_is_not_reported() {
    let tally = |conflicts| Tally::of([(AccessClass::SharedLoad, shared(1000, conflicts))]);
    let message = |conflicts| of_total(tally(conflicts), &[(Resource::L1Shared, 1.0)]);
    assert!(message(100).starts_with("every shared load"));
    assert!(message(99).starts_with("no waste found"));
}

#[test]
fn the_first_of_two_equal_lines_is_named() {
    let lines = [(7, constant(32_000)), (9, constant(32_000))];
    let message = of_lines(&lines, &[(Resource::ConstantCache, 1.0)]);
    assert_starts(&message, "kernels/vector-add.cu:7: ");
}

#[test]
fn there_is_no_advice_without_counters() {
    let mut launch = sample::launch(Tally::default(), &[(Resource::Issue, 1.0)]);
    launch.profile = None;
    assert_eq!(for_launch(&launch, Lang::En), None);
}
