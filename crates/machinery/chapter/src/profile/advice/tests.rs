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
    of(&sample::by_lines(lines, parts)).unwrap()
}

fn of_total(total: Tally, parts: &[(Resource, f64)]) -> String {
    of(&sample::launch(total, parts)).unwrap()
}

#[test]
fn different_constants_in_a_warp() {
    let lines = [(7, constant(1000)), (9, constant(32_000))];
    let said = of_lines(&lines, &[(Resource::ConstantCache, 0.9)]);
    let wanted = "kernels/vector-add.cu:9: each warp reads 32 distinct constant addresses: 32 \
                  requests where 1 would do. ";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn one_constant_for_a_warp_is_at_its_limit() {
    let said = of_lines(&[(7, constant(1000))], &[(Resource::ConstantCache, 1.0)]);
    let wanted = "nothing stands out: it asks the constant cache, once for a whole warp; all of \
                  that is in kernels/vector-add.cu:7. ";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn scattered_loads_and_stores() {
    let scattered = access(32_000, 32_000);
    let loads = Tally::of([
        (AccessClass::GlobalLoad, scattered),
        (AccessClass::GlobalStore, access(4000, 1000)),
    ]);
    let said = of_lines(&[(3, loads)], &[(Resource::Memory, 1.0)]);
    let wanted = "kernels/vector-add.cu:3: a global load takes 32 sectors where 4 would do.";
    assert!(said.starts_with(wanted), "{said}");

    let stores = Tally::of([(AccessClass::GlobalStore, scattered)]);
    let said = of_lines(&[(3, stores)], &[(Resource::L2, 1.0)]);
    assert!(said.contains("a global store takes 32 sectors"), "{said}");
}

#[test]
fn scattered_loads_that_the_first_cache_has_keep_only_that_busy() {
    let loads = AccessCounts {
        hits: 31_990,
        ..access(32_000, 32_000)
    };
    let loads = Tally::of([
        (AccessClass::GlobalLoad, loads),
        (AccessClass::GlobalStore, access(4000, 1000)),
    ]);
    let said = of_total(loads, &[(Resource::Memory, 1.0)]);
    assert!(said.starts_with("nothing stands out"), "{said}");
    let said = of_total(loads, &[(Resource::L1Shared, 1.0)]);
    assert!(said.starts_with("a global load takes 32 sectors"), "{said}");
}

#[test]
fn neighbouring_words_one_word_for_all_and_wide_loads_waste_nothing() {
    // 4 bytes per thread; all the same word; 16 bytes per thread; requests of one thread.
    for (bytes, sectors, wavefronts) in [
        (128_000, 4000, 1000),
        (128_000, 1000, 1000),
        (512_000, 16_000, 4000),
        (4000, 1000, 1000),
    ] {
        let said = of_total(loads(bytes, sectors, wavefronts), &[MEMORY]);
        let wanted = "nothing stands out: it moves bytes of device memory";
        assert!(said.starts_with(wanted), "{bytes}, {sectors}: {said}");
    }
}

#[test]
fn every_other_word_and_one_of_a_structure_waste_sectors() {
    for (bytes, sectors, wavefronts, wanted) in [
        (128_000, 8000, 2000, "8 sectors where 4 would do"),
        (128_000, 12_000, 3000, "12 sectors where 4 would do"),
        (256_000, 16_000, 4000, "16 sectors where 8 would do"),
    ] {
        let said = of_total(loads(bytes, sectors, wavefronts), &[MEMORY]);
        assert!(said.contains(wanted), "{said}");
        assert!(said.contains("load neighbouring words"), "{said}");
    }
}

#[test]
fn members_of_a_structure_that_others_find_in_the_first_cache_are_no_waste_of_memory() {
    let member = |hits| {
        let mut tally = loads(128_000, 12_000, 3000);
        tally[AccessClass::GlobalLoad].hits = hits;
        tally
    };
    let lines = [(3, member(0)), (4, member(12_000)), (5, member(12_000))];
    let said = of_lines(&lines, &[MEMORY]);
    assert!(said.starts_with("nothing stands out"), "{said}");
    // The L1 cache has to serve three times as many sectors.
    let said = of_lines(&lines, &[(Resource::L1Shared, 1.0)]);
    assert!(said.contains("12 sectors where 4 would do"), "{said}");
}

#[test]
fn a_word_for_all_does_not_make_up_for_scattered_ones() {
    let lines = [
        (3, loads(128_000, 32_000, 32_000)),
        (4, loads(1_280_000, 10_000, 10_000)),
    ];
    let said = of_lines(&lines, &[MEMORY]);
    let wanted = "kernels/vector-add.cu:3: a global load takes 32 sectors where 4 would do";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn neighbours_that_begin_between_sectors() {
    let said = of_total(loads(128_000, 5000, 2000), &[MEMORY]);
    let wanted = "a global load takes 5 sectors where 4 would do. Let a warp's first thread \
                  load at a multiple of 32 bytes.";
    assert_eq!(said, wanted);
}

#[test]
fn bank_conflicts() {
    let tally = Tally::of([
        (AccessClass::SharedLoad, shared(32_000, 31_000)),
        (AccessClass::SharedStore, shared(1000, 0)),
    ]);
    let said = of_lines(&[(5, tally)], &[(Resource::L1Shared, 0.8)]);
    let wanted = "kernels/vector-add.cu:5: every shared load takes 32 turns where 1 would do";
    assert!(said.starts_with(wanted), "{said}");

    let tally = Tally::of([
        (AccessClass::SharedLoad, shared(1000, 0)),
        (AccessClass::SharedStore, shared(2000, 1000)),
    ]);
    let said = of_total(tally, &[(Resource::L1Shared, 0.8)]);
    assert!(
        said.starts_with("every shared store takes 2 turns"),
        "{said}"
    );
}

#[test]
fn scattered_copies() {
    let tally = Tally::of([
        (AccessClass::CopyReadPastL1, access(32_000, 0)),
        (AccessClass::CopyWrite, shared(1000, 0)),
    ]);
    let said = of_lines(&[(3, tally)], &[MEMORY]);
    let wanted = "kernels/vector-add.cu:3: a global load takes 32 sectors where 4 would do.";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn bank_conflicts_of_matrix_loads() {
    let tally = Tally::of([
        (AccessClass::SharedLoad, shared(1000, 0)),
        (AccessClass::MatrixLoad, shared(8000, 4000)),
    ]);
    let said = of_total(tally, &[(Resource::L1Shared, 0.8)]);
    let wanted = "every matrix load takes 8 turns where 4 would do";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn local_memory() {
    let tally = Tally::of([
        (AccessClass::LocalLoad, access(4000, 1000)),
        (AccessClass::LocalStore, access(4000, 1000)),
    ]);
    let said = of_lines(&[(2, tally)], &[(Resource::L1Shared, 1.0)]);
    let wanted = "kernels/vector-add.cu:2: 2 000 requests go to local memory";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn lanes_that_wait_for_others() {
    let tally = Tally {
        instructions: 1000,
        thread_instructions: 8000,
        branches: 100,
        divergent_branches: 50,
        ..Tally::default()
    };
    let said = of_lines(&[(4, tally)], &[(Resource::Issue, 1.0)]);
    let wanted = "kernels/vector-add.cu:4: 8 of a warp's 32 lanes work here on average: at 50 \
                  of 100 branches";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn lanes_that_blocks_do_not_fill() {
    let mut launch = sample::launch(Tally::default(), &[(Resource::Issue, 1.0)]);
    launch.block = [7, 5, 1];
    let said = of(&launch).unwrap();
    let wanted = "blocks of 35 threads fill 54.7 % of the 64 lanes of their warps.";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn too_few_warps_to_wait_with() {
    let mut launch = sample::launch(Tally::default(), &[(Resource::Latency, 1.0)]);
    launch.time.occupancy.warps = 16;
    for (limit, change) in [
        (OccupancyLimit::Threads, "that divide"),
        (OccupancyLimit::Blocks, "larger ones"),
        (OccupancyLimit::SharedMemory, "Use less of it"),
        (OccupancyLimit::Registers, "Use fewer a thread"),
        (OccupancyLimit::Grid, "Launch more blocks"),
    ] {
        launch.time.occupancy.limit = limit;
        let said = of(&launch).unwrap();
        assert!(said.starts_with("warps wait"), "{said}");
        assert!(said.contains("holds 16 of the 64"), "{said}");
        assert!(said.contains(change), "{limit:?}: {said}");
    }
    // More warps would not help a launch that is bound by another resource.
    launch.time.binding = Resource::Memory;
    let said = of(&launch).unwrap();
    assert!(said.starts_with("nothing stands out"), "{said}");
}

#[test]
fn blocks_so_small_that_handing_them_out_takes_longest() {
    let parts = [(Resource::Launch, 1.0), (Resource::Issue, 0.2)];
    let mut launch = sample::launch(Tally::default(), &parts);
    let said = of(&launch).unwrap();
    assert!(said.contains("launching it takes longer"), "{said}");
    launch.block = [32, 1, 1];
    let said = of(&launch).unwrap();
    let wanted = "handing out 1 000 blocks of 32 threads takes longer than their work.";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn what_a_kernel_is_at_where_nothing_is_wasted() {
    for (binding, wanted) in [
        (Resource::Arithmetic, "it computes"),
        (Resource::Issue, "it issues"),
        (Resource::L1Shared, "it reads and writes shared"),
        (Resource::ConstantCache, "it asks the constant cache"),
        (Resource::L2, "it asks the L2 cache"),
        (Resource::Memory, "it moves"),
        (Resource::Latency, "its warps wait"),
        (Resource::Launch, "launching it"),
    ] {
        let said = of_total(Tally::default(), &[(binding, 1.0)]);
        let said = said.strip_prefix("nothing stands out: ").unwrap();
        assert!(said.starts_with(wanted), "{said}");
    }
}

#[test]
fn the_first_cache_is_told_from_shared_memory() {
    let first = loads(128_000, 4000, 1000);
    let mut both = first;
    both[AccessClass::SharedLoad] = shared(1000, 0);
    let parts = [(Resource::L1Shared, 1.0)];
    let said = of_total(first, &parts);
    assert!(said.contains(": it loads from the L1 cache"), "{said}");
    let said = of_total(both, &parts);
    assert!(said.contains(": it reads and writes shared"), "{said}");
}

#[test]
fn shares_are_of_what_all_lines_take() {
    // Loads that hit the L1 cache must not dilute those that miss it.
    let mut near = loads(128_000, 1000, 1000);
    near[AccessClass::GlobalLoad].hits = 1000;
    let lines = [(3, loads(128_000, 4000, 1000)), (4, near)];
    let said = of_lines(&lines, &[(Resource::Latency, 1.0)]);
    let wanted = "its warps wait for what they load; all of that is in kernels/vector-add.cu:3.";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn the_most_costly_is_said() {
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
    assert!(of_total(tally, &parts(0.4, 0.4)).starts_with("nothing stands out"));
}

#[test]
fn less_than_a_tenth_of_the_time_is_not_worth_a_word() {
    let tally = |conflicts| Tally::of([(AccessClass::SharedLoad, shared(1000, conflicts))]);
    let said = |conflicts| of_total(tally(conflicts), &[(Resource::L1Shared, 1.0)]);
    assert!(said(100).starts_with("every shared load"));
    assert!(said(99).starts_with("nothing stands out"));
}

#[test]
fn the_first_of_two_equal_lines_is_named() {
    let lines = [(7, constant(32_000)), (9, constant(32_000))];
    let said = of_lines(&lines, &[(Resource::ConstantCache, 1.0)]);
    assert!(said.starts_with("kernels/vector-add.cu:7: "), "{said}");
}

#[test]
fn nothing_is_said_where_nothing_was_counted() {
    let mut launch = sample::launch(Tally::default(), &[(Resource::Issue, 1.0)]);
    launch.profile = None;
    assert_eq!(of(&launch), None);
}
