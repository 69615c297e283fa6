//! The one line of advice on a launch: what to change first.
//!
//! Each rule knows how to see one kind of waste, and how many milliseconds of the modelled time it
//! comes to at most. The most costly is said, with the source line that has most of it. Where none
//! comes to a tenth of the time nothing stands out, and the line says what the kernel is at.
//!
//! Resources are busy at the same time, so that what keeps one busy for less than half of it hides
//! behind the others and is no waste.

use cuda_driver::LaunchRecord;
use cuda_driver::counters::{Access, LaunchProfile, LineProfile, Tally};
use cuda_driver::model::{OccupancyLimit, Resource};

use super::cost;
use super::number::{grouped, mean, percent};

/// What is less than this share of the time is not worth a word.
const LEAST: f64 = 0.1;

/// A resource that is busy for less than this share of the time is hidden by others.
const HIDDEN: f64 = 0.5;

/// Lanes of a warp.
const LANES: u64 = 32;

/// One kind of waste.
struct Rule {
    /// Milliseconds that there would be without it, at most.
    waste: fn(&Launch) -> f64,
    /// How much of it a line has.
    at: fn(&Tally) -> u64,
    /// What to say of it: of the line that has most, or of all where no line has any.
    says: fn(&Launch, &Tally) -> String,
}

/// A launch and its profile.
struct Launch<'a> {
    record: &'a LaunchRecord,
    profile: &'a LaunchProfile,
}

const RULES: &[Rule] = &[
    // Threads of a warp read different constants.
    Rule {
        waste: |launch| {
            let constant = &launch.total().constant;
            let spare = constant.requests.saturating_sub(constant.instructions);
            launch.ms(Resource::ConstantCache) * share(spare, constant.requests)
        },
        at: |tally| {
            tally
                .constant
                .requests
                .saturating_sub(tally.constant.instructions)
        },
        says: |_, tally| {
            let addresses = mean(tally.constant.requests, tally.constant.instructions);
            format!(
                "each warp reads {addresses} distinct constant addresses: {addresses} requests \
                 where 1 would do. Let all threads of a warp read the same one, or keep such data \
                 in global memory."
            )
        },
    },
    // Threads of a warp read global memory far apart.
    Rule {
        waste: |launch| launch.spare_sectors(&launch.total().global_loads),
        at: |tally| spare(&tally.global_loads),
        says: |_, tally| {
            format!(
                "{} Let neighbouring threads load neighbouring words.",
                sectors("load", &tally.global_loads)
            )
        },
    },
    // Or write it.
    Rule {
        waste: |launch| launch.spare_sectors(&launch.total().global_stores),
        at: |tally| spare(&tally.global_stores),
        says: |_, tally| {
            format!(
                "{} Let neighbouring threads store neighbouring words.",
                sectors("store", &tally.global_stores)
            )
        },
    },
    // Different words of one bank.
    Rule {
        waste: |launch| {
            launch.ms(Resource::L1Shared)
                * share(conflicts(launch.total()), cost::wavefronts(launch.total()))
        },
        at: conflicts,
        says: |_, tally| {
            let (kind, access) = most_conflicts(tally);
            format!(
                "every shared {kind} takes {} turns where {} would do: its threads use different \
                 words of the same bank. Pad the rows by a word, or let neighbouring threads use \
                 neighbouring words.",
                mean(access.wavefronts, access.requests),
                mean(
                    access.wavefronts.saturating_sub(access.conflicts),
                    access.requests
                ),
            )
        },
    },
    // Registers or arrays in local memory.
    Rule {
        waste: |launch| {
            let total = launch.total();
            let accesses = [&total.local_loads, &total.local_stores];
            let wavefronts = accesses.iter().map(|access| access.wavefronts).sum();
            let missed = accesses.map(|access| access.sectors.saturating_sub(access.hits));
            let first = launch.ms(Resource::L1Shared) * share(wavefronts, cost::wavefronts(total));
            first.max(launch.beyond_first(missed.iter().sum()))
        },
        at: |tally| tally.local_loads.requests + tally.local_stores.requests,
        says: |_, tally| {
            format!(
                "{} requests go to local memory: for arrays at indices that the compiler does not \
                 know, or for more values than there are registers. Unroll the loops over such \
                 arrays, or keep fewer values.",
                grouped(tally.local_loads.requests + tally.local_stores.requests)
            )
        },
    },
    // Lanes that wait for others of their warp.
    Rule {
        waste: |launch| match launch.total().divergent_branches {
            0 => 0.0,
            _ => launch.computing() * share(idle_lanes(launch.total()), lanes(launch.total())),
        },
        at: idle_lanes,
        says: |launch, tally| {
            let total = launch.total();
            format!(
                "{} of a warp's 32 lanes work here on average: at {} of {} branches its threads go \
                 different ways, one after the other. Let whole warps go one way.",
                mean(tally.thread_instructions, tally.instructions),
                grouped(total.divergent_branches),
                grouped(total.branches),
            )
        },
    },
    // Lanes that the block does not fill.
    Rule {
        waste: |launch| match launch.record.time.binding {
            Resource::Launch => 0.0,
            _ => {
                let spare = launch.warps() * LANES - launch.threads();
                launch.record.time.milliseconds * share(spare, launch.warps() * LANES)
            }
        },
        at: |_| 0,
        says: |launch, _| {
            format!(
                "blocks of {} threads fill {} of the {} lanes of their warps. Use a multiple of \
                 32 threads.",
                launch.threads(),
                percent(share(launch.threads(), launch.warps() * LANES)),
                launch.warps() * LANES,
            )
        },
    },
    // Too few warps to hide how long instructions take.
    Rule {
        waste: |launch| {
            let occupancy = launch.record.time.occupancy;
            let spare = occupancy.most_warps.saturating_sub(occupancy.warps);
            match launch.record.time.binding {
                Resource::Latency => {
                    launch.ms(Resource::Latency) * share(spare.into(), occupancy.most_warps.into())
                }
                _ => 0.0,
            }
        },
        at: |_| 0,
        says: |launch, _| {
            let occupancy = launch.record.time.occupancy;
            let change = match occupancy.limit {
                OccupancyLimit::Threads => "Use blocks that divide a multiprocessor's threads",
                OccupancyLimit::Blocks => "Use larger blocks",
                OccupancyLimit::SharedMemory => "Use less shared memory a block",
                OccupancyLimit::Registers => "Use fewer registers a thread, or smaller blocks",
                OccupancyLimit::Grid => "Give a launch more blocks",
            };
            format!(
                "warps wait, and a multiprocessor holds {} of {} that could take their turn ({} \
                 blocks; {} keep more out). {change}.",
                occupancy.warps, occupancy.most_warps, occupancy.blocks, occupancy.limit,
            )
        },
    },
    // Blocks so small that handing them out takes longest.
    Rule {
        waste: |launch| match launch.record.time.binding {
            Resource::Launch if launch.blocks() > 1 && launch.threads() < 128 => {
                launch.ms(Resource::Launch) - launch.next_ms()
            }
            _ => 0.0,
        },
        at: |_| 0,
        says: |launch, _| {
            format!(
                "handing out {} blocks of {} threads takes longer than their work. Use larger \
                 blocks.",
                grouped(launch.blocks()),
                launch.threads(),
            )
        },
    },
];

/// The advice on a launch, with the place it is about: `kernels/a.cu:7: each warp reads …`. `None`
/// where nothing was counted.
pub fn of(record: &LaunchRecord) -> Option<String> {
    let profile = record.profile.as_ref()?;
    let launch = Launch { record, profile };
    let wasted = RULES.iter().map(|rule| ((rule.waste)(&launch), rule));
    let worst = wasted
        .filter(|(waste, _)| *waste > 0.0 && *waste >= LEAST * record.time.milliseconds)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    let Some((_, rule)) = worst else {
        return Some(format!("nothing stands out: {}", at_its_limit(&launch)));
    };
    Some(match launch.line_with_most(rule.at) {
        Some(line) => format!("{}{}", place(line), (rule.says)(&launch, &line.tally)),
        None => (rule.says)(&launch, launch.total()),
    })
}

/// What a kernel does most where it wastes nothing, and what would make that less.
fn at_its_limit(launch: &Launch) -> String {
    let (does, change) = match launch.record.time.binding {
        Resource::Arithmetic => ("it computes", "Only fewer operations make it faster."),
        Resource::Issue => (
            "it issues instructions",
            "Unroll loops, and compute indices once.",
        ),
        Resource::L1Shared => (
            "it asks the first cache and shared memory",
            "Load more bytes at a time, or keep values in registers for longer.",
        ),
        Resource::ConstantCache => (
            "it asks the constant cache, once for a whole warp",
            "Let the compiler know the indices, or load 8 bytes at a time.",
        ),
        Resource::L2 => (
            "it asks the second cache",
            "Keep what a block shares in shared memory.",
        ),
        Resource::Memory => (
            "it moves bytes of device memory",
            "Only fewer bytes make it faster.",
        ),
        Resource::Latency => (
            "its warps wait for what they asked for",
            "Give each thread more to do that does not depend on it.",
        ),
        Resource::Launch => {
            return "it is as short as its launch. Give a launch more to do.".to_owned();
        }
    };
    let cost = |tally: &Tally| cost::of(launch.record.time.binding, tally);
    let line = launch.lines().iter().max_by_key(|line| cost(&line.tally));
    let busiest = line.map(|line| (line, share(cost(&line.tally), cost(launch.total()))));
    match busiest {
        Some((line, share)) if share >= LEAST && !line.file.is_empty() => {
            let share = percent(share);
            format!(
                "{does}, {share} of it in {}:{}. {change}",
                line.file, line.line
            )
        }
        _ => format!("{does}. {change}"),
    }
}

impl<'a> Launch<'a> {
    fn total(&self) -> &'a Tally {
        &self.profile.total
    }

    fn lines(&self) -> &'a [LineProfile] {
        &self.profile.lines
    }

    /// How long a resource is busy; nothing where that is hidden.
    fn ms(&self, resource: Resource) -> f64 {
        let time = &self.record.time;
        let mut parts = time.parts.iter();
        let part = parts.find(|part| part.resource == resource);
        part.map(|part| part.milliseconds)
            .filter(|&ms| ms >= HIDDEN * time.milliseconds)
            .unwrap_or(0.0)
    }

    /// How long the one after the busiest is.
    fn next_ms(&self) -> f64 {
        let parts = self.record.time.parts.iter();
        let others = parts.filter(|part| part.resource != self.record.time.binding);
        others.map(|part| part.milliseconds).fold(0.0, f64::max)
    }

    /// How long instructions take.
    fn computing(&self) -> f64 {
        self.ms(Resource::Issue).max(self.ms(Resource::Arithmetic))
    }

    /// How long some sectors keep the second cache or the memory busy.
    fn beyond_first(&self, sectors: u64) -> f64 {
        let level = &self.total().l2;
        let all = level.read_sectors + level.written_sectors;
        self.ms(Resource::L2).max(self.ms(Resource::Memory)) * share(sectors, all)
    }

    /// How long sectors that hold nothing of use take.
    fn spare_sectors(&self, access: &Access) -> f64 {
        let spare = spare(access);
        let wavefronts = access.wavefronts as f64 * share(spare, access.sectors);
        let all = cost::wavefronts(self.total()).max(1) as f64;
        let first = self.ms(Resource::L1Shared) * wavefronts / all;
        first.max(self.beyond_first(spare.min(access.sectors.saturating_sub(access.hits))))
    }

    fn blocks(&self) -> u64 {
        self.record.grid.map(u64::from).iter().product()
    }

    /// Threads of a block.
    fn threads(&self) -> u64 {
        self.record.block.map(u64::from).iter().product()
    }

    /// Warps of a block.
    fn warps(&self) -> u64 {
        self.threads().div_ceil(LANES)
    }

    /// The first of the lines with most of something; none where all have none.
    fn line_with_most(&self, of: fn(&Tally) -> u64) -> Option<&'a LineProfile> {
        let named = self.lines().iter().filter(|line| !line.file.is_empty());
        let most = named.rev().max_by_key(|line| of(&line.tally))?;
        (of(&most.tally) > 0).then_some(most)
    }
}

fn place(line: &LineProfile) -> String {
    format!("{}:{}: ", line.file, line.line)
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 {
        0.0
    } else {
        part as f64 / all as f64
    }
}

/// Sectors beyond those that as many words of 4 bytes fill. None where most of each line of 128
/// bytes is asked for, as by threads that load 16 bytes each.
fn spare(access: &Access) -> u64 {
    if access.sectors >= 3 * access.wavefronts {
        return 0;
    }
    access.sectors.saturating_sub(fewest(access))
}

/// As many sectors as the words of 4 bytes fill that threads ask for.
fn fewest(access: &Access) -> u64 {
    access.threads.div_ceil(8)
}

fn sectors(kind: &str, access: &Access) -> String {
    format!(
        "a global {kind} takes {} sectors where {} would do.",
        mean(access.sectors, access.requests),
        mean(fewest(access), access.requests),
    )
}

fn conflicts(tally: &Tally) -> u64 {
    let accesses = [
        tally.shared_loads,
        tally.shared_stores,
        tally.shared_atomics,
    ];
    accesses.iter().map(|access| access.conflicts).sum()
}

/// Which accesses to shared memory have most conflicts.
fn most_conflicts(tally: &Tally) -> (&'static str, Access) {
    let accesses = [
        ("load", tally.shared_loads),
        ("store", tally.shared_stores),
        ("atomic", tally.shared_atomics),
    ];
    let most = |one: (&'static str, Access), other: (&'static str, Access)| {
        if other.1.conflicts > one.1.conflicts {
            other
        } else {
            one
        }
    };
    accesses.into_iter().fold(accesses[0], most)
}

fn lanes(tally: &Tally) -> u64 {
    LANES * tally.instructions
}

fn idle_lanes(tally: &Tally) -> u64 {
    lanes(tally).saturating_sub(tally.thread_instructions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::sample;
    use cuda_driver::counters::{Constant, Level2};

    /// 1000 requests of full warps.
    fn access(sectors: u64, wavefronts: u64) -> Access {
        Access {
            requests: 1000,
            threads: 32_000,
            sectors,
            wavefronts,
            ..Access::default()
        }
    }

    fn shared(wavefronts: u64, conflicts: u64) -> Access {
        Access {
            conflicts,
            ..access(0, wavefronts)
        }
    }

    fn constant(requests: u64) -> Tally {
        Tally {
            constant: Constant {
                instructions: 1000,
                requests,
                hits: 0,
            },
            ..Tally::default()
        }
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
        let wanted = "nothing stands out: it asks the constant cache, once for a whole warp, 100.0 % \
                      of it in kernels/vector-add.cu:7. ";
        assert!(said.starts_with(wanted), "{said}");
    }

    #[test]
    fn scattered_loads_and_stores() {
        let scattered = access(32_000, 32_000);
        let level = Level2 {
            read_sectors: 32_000,
            written_sectors: 4000,
        };
        let loads = Tally {
            global_loads: scattered,
            l2: level,
            ..Tally::default()
        };
        let said = of_lines(&[(3, loads)], &[(Resource::Memory, 1.0)]);
        let wanted = "kernels/vector-add.cu:3: a global load takes 32 sectors where 4 would do.";
        assert!(said.starts_with(wanted), "{said}");

        let stores = Tally {
            global_stores: scattered,
            l2: Level2 {
                read_sectors: 0,
                written_sectors: 32_000,
            },
            ..Tally::default()
        };
        let said = of_lines(&[(3, stores)], &[(Resource::L2, 1.0)]);
        assert!(said.contains("a global store takes 32 sectors"), "{said}");
    }

    #[test]
    fn scattered_loads_that_the_first_cache_has_keep_only_that_busy() {
        let loads = Tally {
            global_loads: Access {
                hits: 32_000,
                ..access(32_000, 32_000)
            },
            l2: Level2 {
                read_sectors: 10,
                written_sectors: 4000,
            },
            ..Tally::default()
        };
        let said = of_total(loads, &[(Resource::Memory, 1.0)]);
        assert!(said.starts_with("nothing stands out"), "{said}");
        let said = of_total(loads, &[(Resource::L1Shared, 1.0)]);
        assert!(said.starts_with("a global load takes 32 sectors"), "{said}");
    }

    #[test]
    fn neighbouring_words_one_word_for_all_and_wide_loads_waste_nothing() {
        // 4 bytes a thread; all the same word; 16 bytes a thread.
        for (sectors, wavefronts) in [(4000, 1000), (1000, 1000), (16_000, 4000)] {
            let loads = Tally {
                global_loads: access(sectors, wavefronts),
                l2: Level2 {
                    read_sectors: sectors,
                    written_sectors: 0,
                },
                ..Tally::default()
            };
            let said = of_total(loads, &[(Resource::Memory, 1.0)]);
            let wanted = "nothing stands out: it moves bytes of device memory.";
            assert!(said.starts_with(wanted), "{sectors}: {said}");
        }
    }

    #[test]
    fn bank_conflicts() {
        let tally = Tally {
            shared_loads: shared(32_000, 31_000),
            shared_stores: shared(1000, 0),
            ..Tally::default()
        };
        let said = of_lines(&[(5, tally)], &[(Resource::L1Shared, 0.8)]);
        let wanted = "kernels/vector-add.cu:5: every shared load takes 32 turns where 1 would do";
        assert!(said.starts_with(wanted), "{said}");

        let tally = Tally {
            shared_loads: shared(1000, 0),
            shared_stores: shared(2000, 1000),
            ..Tally::default()
        };
        let said = of_total(tally, &[(Resource::L1Shared, 0.8)]);
        assert!(
            said.starts_with("every shared store takes 2 turns"),
            "{said}"
        );
    }

    #[test]
    fn local_memory() {
        let tally = Tally {
            local_loads: access(4000, 1000),
            local_stores: access(4000, 1000),
            ..Tally::default()
        };
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
            (OccupancyLimit::Blocks, "larger blocks"),
            (OccupancyLimit::SharedMemory, "less shared memory"),
            (OccupancyLimit::Registers, "fewer registers"),
            (OccupancyLimit::Grid, "more blocks"),
        ] {
            launch.time.occupancy.limit = limit;
            let said = of(&launch).unwrap();
            assert!(said.starts_with("warps wait"), "{said}");
            assert!(said.contains("holds 16 of 64"), "{said}");
            assert!(said.contains(change), "{limit:?}: {said}");
        }
        // Where other things bind the launch, more warps would not help.
        launch.time.binding = Resource::Memory;
        let said = of(&launch).unwrap();
        assert!(said.starts_with("nothing stands out"), "{said}");
    }

    #[test]
    fn blocks_so_small_that_handing_them_out_takes_longest() {
        let parts = [(Resource::Launch, 1.0), (Resource::Issue, 0.2)];
        let mut launch = sample::launch(Tally::default(), &parts);
        let said = of(&launch).unwrap();
        assert!(said.contains("it is as short as its launch"), "{said}");
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
            (Resource::L1Shared, "it asks the first cache"),
            (Resource::ConstantCache, "it asks the constant cache"),
            (Resource::L2, "it asks the second cache"),
            (Resource::Memory, "it moves"),
            (Resource::Latency, "its warps wait"),
            (Resource::Launch, "it is as short"),
        ] {
            let said = of_total(Tally::default(), &[(binding, 1.0)]);
            let said = said.strip_prefix("nothing stands out: ").unwrap();
            assert!(said.starts_with(wanted), "{said}");
        }
    }

    #[test]
    fn the_most_costly_is_said() {
        let tally = Tally {
            shared_loads: shared(2000, 1000),
            ..constant(32_000)
        };
        let parts = |constants, shared| {
            [
                (Resource::ConstantCache, constants),
                (Resource::L1Shared, shared),
            ]
        };
        assert!(of_total(tally, &parts(1.0, 0.9)).starts_with("each warp reads 32"));
        assert!(of_total(tally, &parts(0.3, 1.0)).starts_with("every shared load"));
        // Less than half of the time, whatever else takes the rest.
        assert!(of_total(tally, &parts(0.4, 0.4)).starts_with("nothing stands out"));
    }

    #[test]
    fn less_than_a_tenth_of_the_time_is_not_worth_a_word() {
        let tally = |conflicts| Tally {
            shared_loads: shared(1000, conflicts),
            ..Tally::default()
        };
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
}
