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
use crate::number::{grouped, mean, percent};

/// What is less than this share of the time is not worth a word.
const LEAST: f64 = 0.1;

/// A resource that is busy for less than this share of the time is hidden by others.
const HIDDEN: f64 = 0.5;

/// Lanes of a warp.
const LANES: u64 = 32;

/// Bytes of a sector.
const SECTOR: u64 = 32;

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
    // Threads of a warp read global memory far apart, or a little beside sectors.
    Rule {
        waste: |launch| launch.spare_sectors(|tally| &tally.global_loads),
        at: |tally| spare(&tally.global_loads),
        says: |_, tally| sectors("load", &tally.global_loads),
    },
    // Or write it.
    Rule {
        waste: |launch| launch.spare_sectors(|tally| &tally.global_stores),
        at: |tally| spare(&tally.global_stores),
        says: |_, tally| sectors("store", &tally.global_stores),
    },
    // Different words of one bank.
    Rule {
        waste: |launch| {
            launch.ms(Resource::L1Shared) * share(conflicts(launch.total()), launch.wavefronts())
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
            let first = launch.ms(Resource::L1Shared) * share(wavefronts, launch.wavefronts());
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
            let why = match occupancy.limit {
                OccupancyLimit::Threads => {
                    "another would be too many threads. Use blocks that divide a multiprocessor's \
                     threads."
                }
                OccupancyLimit::Blocks => "it takes no more blocks. Use larger ones.",
                OccupancyLimit::SharedMemory => {
                    "another would be too much shared memory. Use less of it a block."
                }
                OccupancyLimit::Registers => {
                    "another would be too many registers. Use fewer a thread, or smaller blocks."
                }
                OccupancyLimit::Grid => "the grid has no more for it. Launch more blocks.",
            };
            let blocks = match occupancy.blocks {
                1 => "one block".to_owned(),
                blocks => format!("{blocks} blocks"),
            };
            format!(
                "warps wait, and a multiprocessor holds {} of the {} that could take turns, in \
                 {blocks}: {why}",
                occupancy.warps, occupancy.most_warps,
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
        Resource::L1Shared => {
            let shared = 2 * cost::shared_wavefronts(launch.total()) >= launch.wavefronts();
            let does = match shared {
                true => "it reads and writes shared memory",
                false => "it loads from the first cache",
            };
            let change = "Load 16 bytes at a time, or let a thread compute several results of \
                          what it loads.";
            (does, change)
        }
        Resource::ConstantCache => (
            "it asks the constant cache, once for a whole warp",
            "Unroll loops: at indices that the compiler knows, a constant takes no load of its \
             own.",
        ),
        Resource::L2 => (
            "it asks the second cache",
            "Keep what a block shares in shared memory.",
        ),
        Resource::Memory => (
            "it moves bytes of device memory, hardly any in vain",
            "Only fewer bytes make it faster.",
        ),
        Resource::Latency => (
            "its warps wait for what they load",
            "Give each thread several elements, so that more loads are under way at once.",
        ),
        Resource::Launch => {
            return "launching it takes longer than its work. Give a launch more to do.".to_owned();
        }
    };
    let cost = cost::of(launch.record.time.binding, launch.total()).of;
    let all = launch.lines().iter().map(|line| cost(&line.tally)).sum();
    let lines = launch.lines().iter().filter(|line| is_named(line));
    let line = lines.rev().max_by_key(|line| cost(&line.tally));
    let busiest = line.map(|line| (line, share(cost(&line.tally), all)));
    match busiest {
        Some((line, share)) if share >= LEAST => {
            let share = match share {
                1.0 => "all".to_owned(),
                share => percent(share),
            };
            format!(
                "{does}; {share} of that is in {}:{}. {change}",
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

    /// How long sectors take that accesses of a kind would not need if their bytes were neighbours.
    fn spare_sectors(&self, of: fn(&Tally) -> &Access) -> f64 {
        let access = of(self.total());
        // Line by line: where all threads read one word there is nothing to make up for others.
        let fewest: u64 = match self.lines() {
            [] => fewest(access),
            lines => lines.iter().map(|line| fewest(of(&line.tally))).sum(),
        };
        let spare = access.sectors.saturating_sub(fewest);
        let wavefronts = access.wavefronts as f64 * share(spare, access.sectors);
        let first = self.ms(Resource::L1Shared) * wavefronts / self.wavefronts().max(1) as f64;
        // What one line leaves unused of a sector, another may find in the first cache.
        let missed = access.sectors.saturating_sub(access.hits);
        first.max(self.beyond_first(missed.saturating_sub(fewest)))
    }

    fn wavefronts(&self) -> u64 {
        cost::wavefronts(self.total())
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
        let named = self.lines().iter().filter(|line| is_named(line));
        let most = named.rev().max_by_key(|line| of(&line.tally))?;
        (of(&most.tally) > 0).then_some(most)
    }
}

/// Whether the source has such a line: what the compiler added has none.
fn is_named(line: &LineProfile) -> bool {
    !line.file.is_empty() && line.line > 0
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

/// Sectors beyond those that the same bytes would fill.
fn spare(access: &Access) -> u64 {
    access.sectors - fewest(access)
}

/// As many sectors as the bytes that threads ask for would fill, at least one a request. Fewer
/// where threads share them.
fn fewest(access: &Access) -> u64 {
    let full = access.bytes.div_ceil(SECTOR).max(access.requests);
    full.min(access.sectors)
}

/// How many sectors accesses take, and what would make them fewer.
fn sectors(kind: &str, access: &Access) -> String {
    // One more than their bytes fill, and those are some: they are neighbours already.
    let beside = spare(access) <= access.requests && fewest(access) >= 2 * access.requests;
    let change = if beside {
        format!("Let a warp's first thread {kind} at a multiple of {SECTOR} bytes.")
    } else {
        format!("Let neighbouring threads {kind} neighbouring words.")
    };
    format!(
        "a global {kind} takes {} sectors where {} would do. {change}",
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

    /// 1000 requests of full warps, 4 bytes a thread.
    fn access(sectors: u64, wavefronts: u64) -> Access {
        Access {
            requests: 1000,
            threads: 32_000,
            bytes: 128_000,
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

    const MEMORY: (Resource, f64) = (Resource::Memory, 1.0);

    /// 1000 loads that all go to the second cache.
    fn loads(bytes: u64, sectors: u64, wavefronts: u64) -> Tally {
        Tally {
            global_loads: Access {
                bytes,
                ..access(sectors, wavefronts)
            },
            l2: Level2 {
                read_sectors: sectors,
                written_sectors: 0,
            },
            ..Tally::default()
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
        let wanted = "nothing stands out: it asks the constant cache, once for a whole warp; all of \
                      that is in kernels/vector-add.cu:7. ";
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
        // 4 bytes a thread; all the same word; 16 bytes a thread; a request of one thread.
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
            tally.global_loads.hits = hits;
            tally.l2.read_sectors -= hits;
            tally
        };
        let lines = [(3, member(0)), (4, member(12_000)), (5, member(12_000))];
        let said = of_lines(&lines, &[MEMORY]);
        assert!(said.starts_with("nothing stands out"), "{said}");
        // The first cache has three times the work.
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
            (Resource::L2, "it asks the second cache"),
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
        let both = Tally {
            shared_loads: shared(1000, 0),
            ..first
        };
        let parts = [(Resource::L1Shared, 1.0)];
        let said = of_total(first, &parts);
        assert!(said.contains(": it loads from the first cache"), "{said}");
        let said = of_total(both, &parts);
        assert!(said.contains(": it reads and writes shared"), "{said}");
    }

    #[test]
    fn shares_are_of_what_all_lines_take() {
        // Loads that the first cache has do not dilute those that it has not.
        let mut near = loads(128_000, 1000, 1000);
        near.global_loads.hits = 1000;
        let lines = [(3, loads(128_000, 4000, 1000)), (4, near)];
        let said = of_lines(&lines, &[(Resource::Latency, 1.0)]);
        let wanted =
            "its warps wait for what they load; all of that is in kernels/vector-add.cu:3.";
        assert!(said.contains(wanted), "{said}");
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
