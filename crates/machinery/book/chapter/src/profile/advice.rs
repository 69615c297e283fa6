//! One line of advice per launch: what to change first.
//!
//! Each rule detects one kind of waste and estimates an upper bound on the milliseconds of the modelled time
//! that it costs. The most costly kind is reported, with the source line that contributes most. If no kind
//! costs a tenth of the time, the line says that no waste found and what the kernel spends its time on.
//!
//! Resources are busy at the same time, so a resource that is busy for less than half of the time is hidden
//! behind the others and wastes nothing.

use cuda_driver::counters::{AccessCounts, LaunchProfile, LineProfile, Tally};
use cuda_driver::model::{OccupancyLimit, Resource};
use cuda_driver::{AccessClass, AccessSet, LaunchRecord, Memory};

use super::cost;
use crate::lang::Lang;
use crate::number::{grouped, mean, percent};

/// Minimum share of the time that is worth reporting.
const MIN_SHARE: f64 = 0.1;

/// A resource that is busy for less than this share of the time is hidden by others.
const MIN_BUSY_SHARE: f64 = 0.5;

/// The factor from which waste that costs no time is reported.
const SEVERE: u64 = 4;

/// Lanes per warp.
const LANES: u64 = 32;

/// Bytes per sector.
const SECTOR: u64 = 32;

/// Accesses to local memory.
const LOCAL: AccessSet = AccessSet::in_memory(Memory::Local);

/// One kind of waste.
struct Rule {
    /// Returns the milliseconds that could be saved without it, at most.
    wasted_ms: fn(&Launch) -> f64,
    /// Returns true for a waste that is worth a report even where it costs no time, because it would in a larger
    /// launch.
    is_severe: fn(&Tally) -> bool,
    /// Returns a line's share of it, as a count.
    contribution: fn(&Tally) -> u64,
    /// Returns the advice, for the line that contributes most, or for the whole launch if no line does.
    advice: fn(&Launch, &Tally, Lang) -> String,
}

/// A launch and its profile.
struct Launch<'a> {
    record: &'a LaunchRecord,
    profile: &'a LaunchProfile,
}

const RULES: &[Rule] = &[
    // Threads of a warp read different constants.
    Rule {
        wasted_ms: |launch| {
            let total = launch.total();
            let addresses = total[AccessClass::ConstantLoad].addresses;
            launch.ms(Resource::ConstantCache) * share(excess_addresses(total), addresses)
        },
        is_severe: |total| {
            let constants = total[AccessClass::ConstantLoad];
            constants.addresses >= SEVERE * constants.requests.max(1)
        },
        contribution: excess_addresses,
        advice: |_, tally, lang| {
            let constants = tally[AccessClass::ConstantLoad];
            let addresses = mean(constants.addresses, constants.requests);
            localize!(
                lang,
                "each warp reads {0} distinct constant addresses: {0} requests where 1 would do. Let all \
                 threads of a warp read the same address, or keep such data in global memory.",
                "每个线程束读取 {0} 个不同的常量地址，需要 {0} 次请求，本来 1 次就够。请让线程束的所有线程读取同一地址，\
                 或者把这类数据放在全局内存中。";
                addresses
            )
        },
    },
    // Threads of a warp load scattered or slightly misaligned addresses of global memory.
    Rule {
        wasted_ms: |launch| launch.excess_sectors_ms(AccessSet::loads(Memory::Global)),
        is_severe: |_| false,
        contribution: |tally| excess_sectors(&tally.sum(AccessSet::loads(Memory::Global))),
        advice: |_, tally, lang| {
            sectors(
                lang.pick("load", "读取"),
                &tally.sum(AccessSet::loads(Memory::Global)),
                lang,
            )
        },
    },
    // Threads of a warp store to scattered or slightly misaligned addresses of global memory.
    Rule {
        wasted_ms: |launch| launch.excess_sectors_ms(AccessSet::stores(Memory::Global)),
        is_severe: |_| false,
        contribution: |tally| excess_sectors(&tally.sum(AccessSet::stores(Memory::Global))),
        advice: |_, tally, lang| {
            sectors(
                lang.pick("store", "写入"),
                &tally.sum(AccessSet::stores(Memory::Global)),
                lang,
            )
        },
    },
    // Bank conflicts.
    Rule {
        wasted_ms: |launch| {
            launch.ms(Resource::L1Shared) * share(conflicts(launch.total()), launch.wavefronts())
        },
        is_severe: |total| {
            let (_, access) = worst_conflicts(total);
            access.wavefronts >= SEVERE * access.wavefronts.saturating_sub(access.conflicts).max(1)
        },
        contribution: conflicts,
        advice: |_, tally, lang| {
            let (class, access) = worst_conflicts(tally);
            localize!(
                lang,
                "every {} takes {} wavefronts where {} would do: its threads access different \
                 words of the same bank. Pad the rows by one word, or let neighbouring threads access \
                 neighbouring words.",
                "每次{}需要 {} 个波前，本来 {} 个就够：各线程访问同一存储体（bank）中不同的字。\
                 请在每行末尾补一个字，或者让相邻的线程访问相邻的字。";
                lang.pick(class.row().name, shared_name_zh(class)),
                mean(access.wavefronts, access.requests),
                mean(
                    access.wavefronts.saturating_sub(access.conflicts),
                    access.requests
                ),
            )
        },
    },
    // Spilled registers or arrays in local memory.
    Rule {
        wasted_ms: |launch| {
            let local = launch.total().sum(LOCAL);
            let share = share(local.wavefronts, launch.wavefronts());
            let first = launch.ms(Resource::L1Shared) * share;
            first.max(launch.beyond_l1_ms(local.misses()))
        },
        is_severe: |_| false,
        contribution: |tally| tally.sum(LOCAL).requests,
        advice: |_, tally, lang| {
            localize!(
                lang,
                "{} requests go to local memory: arrays with indices unknown at compile time, or \
                 spilled registers. Unroll the loops over such arrays, or keep fewer values per \
                 thread.",
                "有 {} 次请求访问局部内存：数组的下标在编译时未知，或者寄存器溢出。请展开遍历这些数组的循环，\
                 或者减少每个线程保存的值。";
                grouped(tally.sum(LOCAL).requests)
            )
        },
    },
    // Divergence: lanes wait for other lanes of their warp.
    Rule {
        wasted_ms: |launch| match launch.total().divergent_branches {
            0 => 0.0,
            _ => launch.instruction_ms() * share(idle_lanes(launch.total()), lanes(launch.total())),
        },
        is_severe: |_| false,
        contribution: idle_lanes,
        advice: |launch, tally, lang| {
            let total = launch.total();
            localize!(
                lang,
                "{} of a warp's 32 lanes are active here on average: {} of {} branches diverge, and \
                 their paths are serialized. Let all threads of a warp take the same path.",
                "这里平均每个线程束的 32 个线程中有 {0} 个活跃：{2} 次分支中有 {1} 次发散，各条路径依次执行。\
                 请让同一线程束的线程走相同的路径。";
                mean(tally.thread_instructions, tally.instructions),
                grouped(total.divergent_branches),
                grouped(total.branches),
            )
        },
    },
    // Lanes without a thread, because the block size is not a multiple of the warp size.
    Rule {
        wasted_ms: |launch| match launch.record.time.binding {
            Resource::Launch => 0.0,
            _ => {
                let excess_sectors = launch.warps() * LANES - launch.threads();
                launch.record.time.milliseconds * share(excess_sectors, launch.warps() * LANES)
            }
        },
        is_severe: |_| false,
        contribution: |_| 0,
        advice: |launch, _, lang| {
            localize!(
                lang,
                "blocks of {} threads fill {} of the {} lanes of their warps. Use a multiple of \
                 32 threads.",
                "每块 {0} 个线程只占其线程束全部 {2} 个通道的 {1}。请把线程数取为 32 的整数倍。";
                launch.threads(),
                percent(share(launch.threads(), launch.warps() * LANES)),
                launch.warps() * LANES,
            )
        },
    },
    // Low occupancy: too few warps to hide latency.
    Rule {
        wasted_ms: |launch| {
            let occupancy = launch.record.time.occupancy;
            let excess_sectors = occupancy.max_warps.saturating_sub(occupancy.warps);
            match launch.record.time.binding {
                Resource::Latency => {
                    launch.ms(Resource::Latency)
                        * share(excess_sectors.into(), occupancy.max_warps.into())
                }
                _ => 0.0,
            }
        },
        is_severe: |_| false,
        contribution: |_| 0,
        advice: |launch, _, lang| {
            let occupancy = launch.record.time.occupancy;
            let (reason, reason_zh) = match occupancy.limit {
                OccupancyLimit::Threads => (
                    "another block would exceed the threads. Use a block size that divides the \
                     threads of an SM.",
                    "再加一块就会超出线程数的上限。请让线程块的大小能整除一个 SM 的线程数。",
                ),
                OccupancyLimit::Blocks => (
                    "the limit of blocks is reached. Use larger blocks.",
                    "线程块数已达上限。请增大线程块。",
                ),
                OccupancyLimit::SharedMemory => (
                    "another block would exceed the shared memory. Use less of it per block.",
                    "再加一块就会超出共享内存。请减少每块使用的共享内存。",
                ),
                OccupancyLimit::Registers => (
                    "another block would exceed the registers. Use fewer per thread, or smaller blocks.",
                    "再加一块就会超出寄存器。请减少每个线程的寄存器，或者减小线程块。",
                ),
                OccupancyLimit::Grid => (
                    "the grid has no more blocks. Launch more blocks.",
                    "网格中没有更多的线程块。请启动更多的线程块。",
                ),
            };
            let blocks = match occupancy.blocks {
                1 => localize!(lang, "one block", "1 个线程块"),
                blocks => localize!(lang, "{} blocks", "{} 个线程块"; blocks),
            };
            localize!(
                lang,
                "too few warps hide latency: an SM holds {} of at most {} warps, in {}: {}",
                "线程束太少，不足以掩盖延迟：一个 SM 容纳 {} 个线程束（上限 {} 个），来自 {}：{}";
                occupancy.warps, occupancy.max_warps, blocks, lang.pick(reason, reason_zh),
            )
        },
    },
    // Blocks so small that scheduling them takes longer than running them.
    Rule {
        wasted_ms: |launch| match launch.record.time.binding {
            Resource::Launch if launch.blocks() > 1 && launch.threads() < 128 => {
                launch.ms(Resource::Launch) - launch.second_busiest_ms()
            }
            _ => 0.0,
        },
        is_severe: |_| false,
        contribution: |_| 0,
        advice: |launch, _, lang| {
            localize!(
                lang,
                "scheduling {} blocks of {} threads takes longer than their work. Use larger \
                 blocks.",
                "调度 {} 个各有 {} 个线程的线程块，用时超过其工作本身。请增大线程块。";
                grouped(launch.blocks()),
                launch.threads(),
            )
        },
    },
];

/// Returns the advice on a launch, prefixed with its source line: `kernels/a.cu:7: each warp reads …`. `None`
/// if the launch has no counters.
pub fn for_launch(record: &LaunchRecord, lang: Lang) -> Option<String> {
    let profile = record.profile.as_ref()?;
    let launch = Launch { record, profile };
    let wasted = RULES.iter().map(|rule| ((rule.wasted_ms)(&launch), rule));
    let worst = wasted
        .filter(|(wasted_ms, _)| {
            *wasted_ms > 0.0 && *wasted_ms >= MIN_SHARE * record.time.milliseconds
        })
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    if let Some((_, rule)) = worst {
        return Some(launch.advice(rule, lang));
    }
    let is_launch_bound = record.time.binding == Resource::Launch;
    let hidden = RULES
        .iter()
        .find(|rule| is_launch_bound && (rule.is_severe)(launch.total()));
    Some(match hidden {
        Some(rule) => localize!(
            lang,
            "hidden at this size, because {}: {}",
            "在这个规模下不影响用时，因为{}：{}";
            lang.pick(LAUNCH_BOUND, LAUNCH_BOUND_ZH), launch.advice(rule, lang)
        ),
        None => localize!(
            lang,
            "no waste found: {}",
            "没有明显的浪费：{}";
            describe_bound(&launch, lang)
        ),
    })
}

/// The reason for which the time of a short kernel does not depend on its work.
const LAUNCH_BOUND: &str = "launching it takes longer than its work";
const LAUNCH_BOUND_ZH: &str = "启动的开销大于其工作本身";

/// Describes what a kernel without waste spends its time on, and what would reduce that.
fn describe_bound(launch: &Launch, lang: Lang) -> String {
    let (bound, change) = match launch.record.time.binding {
        Resource::Arithmetic => (
            lang.pick("it is compute-bound", "瓶颈是计算（compute-bound）"),
            lang.pick(
                "Only fewer operations make it faster.",
                "只有减少运算才能更快。",
            ),
        ),
        Resource::Issue => (
            lang.pick("it is bound by instruction issue", "瓶颈是指令发射"),
            lang.pick(
                "Unroll loops, and compute indices once.",
                "请展开循环，并且只计算一次下标。",
            ),
        ),
        Resource::L1Shared => {
            let shared = 2 * cost::shared_wavefronts(launch.total()) >= launch.wavefronts();
            let bound = if shared {
                lang.pick(
                    "it is bound by shared memory accesses",
                    "瓶颈是共享内存的访问",
                )
            } else {
                lang.pick(
                    "it is bound by loads from the L1 cache",
                    "瓶颈是从 L1 缓存读取",
                )
            };
            let change = lang.pick(
                "Load 16 bytes at a time, or let a thread compute several results from \
                          what it loads.",
                "请一次读取 16 字节，或者让一个线程用读到的数据算出几个结果。",
            );
            (bound, change)
        }
        Resource::ConstantCache => (
            lang.pick(
                "it is bound by the constant cache, with one request per warp",
                "瓶颈是常量缓存，每个线程束一次请求",
            ),
            lang.pick(
                "Unroll loops: at an index known at compile time, a constant is an operand and needs \
                 no load.",
                "请展开循环：下标在编译时已知时，常量就是指令的操作数，无需读取。",
            ),
        ),
        Resource::L2 => (
            lang.pick("it is bound by the L2 cache", "瓶颈是 L2 缓存"),
            lang.pick(
                "Keep data that a block reuses in shared memory.",
                "请把线程块重复使用的数据放在共享内存中。",
            ),
        ),
        Resource::Memory => (
            lang.pick(
                "it is memory-bound, and uses nearly all bytes that it moves",
                "瓶颈是设备内存的带宽（memory-bound），传输的字节几乎都用到了",
            ),
            lang.pick(
                "Only fewer bytes make it faster.",
                "只有减少字节数才能更快。",
            ),
        ),
        Resource::Latency => (
            lang.pick("its warps wait for their loads", "线程束在等待读取完成"),
            lang.pick(
                "Give each thread several elements, so that more loads are in flight at once.",
                "请让每个线程处理几个元素，使更多的读取同时进行。",
            ),
        ),
        Resource::Launch => {
            return localize!(
                lang,
                "{}. Give each launch more work.",
                "{}。请让每次启动做更多的工作。";
                lang.pick(LAUNCH_BOUND, LAUNCH_BOUND_ZH)
            );
        }
    };
    let cost = cost::for_resource(launch.record.time.binding, launch.total()).amount;
    let all = launch.lines().iter().map(|line| cost(&line.tally)).sum();
    let lines = launch.lines().iter().filter(|line| is_in_source(line));
    let line = lines.rev().max_by_key(|line| cost(&line.tally));
    let busiest = line.map(|line| (line, share(cost(&line.tally), all)));
    match busiest {
        Some((line, share)) if share >= MIN_SHARE => {
            let share = match share {
                1.0 => lang.pick("all", "全部").to_owned(),
                share => percent(share),
            };
            localize!(
                lang,
                "{}; {} of that is in {}:{}. {}",
                "{}，其中 {} 在 {}:{}。{}";
                bound, share, line.file, line.line, change
            )
        }
        _ => localize!(lang, "{}. {}", "{}。{}"; bound, change),
    }
}

impl<'a> Launch<'a> {
    fn total(&self) -> &'a Tally {
        &self.profile.total
    }

    fn lines(&self) -> &'a [LineProfile] {
        &self.profile.lines
    }

    /// Returns the milliseconds that a resource is busy; 0 if that is hidden by others.
    fn ms(&self, resource: Resource) -> f64 {
        let time = &self.record.time;
        let mut parts = time.resources.iter();
        let part = parts.find(|part| part.resource == resource);
        part.map(|part| part.milliseconds)
            .filter(|&ms| ms >= MIN_BUSY_SHARE * time.milliseconds)
            .unwrap_or(0.0)
    }

    /// Returns the milliseconds that the second-busiest resource is busy.
    fn second_busiest_ms(&self) -> f64 {
        let parts = self.record.time.resources.iter();
        let others = parts.filter(|part| part.resource != self.record.time.binding);
        others.map(|part| part.milliseconds).fold(0.0, f64::max)
    }

    /// Returns the milliseconds that instructions take.
    fn instruction_ms(&self) -> f64 {
        self.ms(Resource::Issue).max(self.ms(Resource::Arithmetic))
    }

    /// Returns the milliseconds for which some sectors keep the L2 cache or device memory busy.
    fn beyond_l1_ms(&self, sectors: u64) -> f64 {
        let level = self.total().l2();
        let all = level.read_sectors + level.written_sectors;
        self.ms(Resource::L2).max(self.ms(Resource::Memory)) * share(sectors, all)
    }

    /// Returns the milliseconds spent on sectors that accesses of a kind would not need if their bytes were
    /// contiguous.
    fn excess_sectors_ms(&self, classes: AccessSet) -> f64 {
        let access = &self.total().sum(classes);
        // Per line, because a line whose threads all read one word must not compensate for others.
        let min_sectors: u64 = match self.lines() {
            [] => min_sectors(access),
            lines => lines
                .iter()
                .map(|line| min_sectors(&line.tally.sum(classes)))
                .sum(),
        };
        let excess_sectors = access.sectors.saturating_sub(min_sectors);
        let wavefronts = self
            .total()
            .sum(classes.intersection(AccessSet::DATA_STAGE))
            .wavefronts;
        let wavefronts = wavefronts as f64 * share(excess_sectors, access.sectors);
        let first = self.ms(Resource::L1Shared) * wavefronts / self.wavefronts().max(1) as f64;
        // The unused part of a sector may be used by another line if the sector stays in the L1 cache.
        let missed = access.misses();
        first.max(self.beyond_l1_ms(missed.saturating_sub(min_sectors)))
    }

    fn wavefronts(&self) -> u64 {
        cost::wavefronts(self.total())
    }

    fn blocks(&self) -> u64 {
        self.record.grid.map(u64::from).iter().product()
    }

    /// Returns the threads per block.
    fn threads(&self) -> u64 {
        self.record.block.map(u64::from).iter().product()
    }

    /// Returns the warps per block.
    fn warps(&self) -> u64 {
        self.threads().div_ceil(LANES)
    }

    /// Returns a rule's advice on the launch, prefixed with the source line.
    fn advice(&self, rule: &Rule, lang: Lang) -> String {
        match self.line_with_max(rule.contribution) {
            Some(line) => {
                format!(
                    "{}{}",
                    location(line),
                    (rule.advice)(self, &line.tally, lang)
                )
            }
            None => (rule.advice)(self, self.total(), lang),
        }
    }

    /// Returns the first of the lines with the largest value of `of`; `None` if it is 0 for all lines.
    fn line_with_max(&self, amount: fn(&Tally) -> u64) -> Option<&'a LineProfile> {
        let named = self.lines().iter().filter(|line| is_in_source(line));
        let line = named.rev().max_by_key(|line| amount(&line.tally))?;
        (amount(&line.tally) > 0).then_some(line)
    }
}

/// Returns true if the line exists in the source, unlike code that the compiler added.
fn is_in_source(line: &LineProfile) -> bool {
    !line.file.is_empty() && line.line > 0
}

fn location(line: &LineProfile) -> String {
    format!("{}:{}: ", line.file, line.line)
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 {
        0.0
    } else {
        part as f64 / all as f64
    }
}

/// Returns the number of sectors beyond the minimum for the accessed bytes.
fn excess_sectors(access: &AccessCounts) -> u64 {
    access.sectors - min_sectors(access)
}

/// Returns the minimum number of sectors for the bytes that threads access, at least one per request. It is
/// no larger than the actual number, which is smaller if threads share sectors.
fn min_sectors(access: &AccessCounts) -> u64 {
    let full = access.bytes.div_ceil(SECTOR).max(access.requests);
    full.min(access.sectors)
}

/// Formats the advice on accesses that take too many sectors; `kind` is `load` or `store` in the language.
fn sectors(kind: &str, access: &AccessCounts, lang: Lang) -> String {
    // One sector more than needed, and at least two are needed: the words are contiguous but misaligned.
    let is_misaligned =
        excess_sectors(access) <= access.requests && min_sectors(access) >= 2 * access.requests;
    let change = if is_misaligned {
        localize!(
            lang,
            "Let a warp's first thread {} at a multiple of {} bytes.",
            "请让线程束的第一个线程{}的地址是 {} 字节的整数倍。";
            kind, SECTOR
        )
    } else {
        localize!(
            lang,
            "Let neighbouring threads {} neighbouring words.",
            "请让相邻的线程{}相邻的字。";
            kind
        )
    };
    localize!(
        lang,
        "a global {} takes {} sectors where {} would do. {}",
        "一次全局内存{}需要 {} 个扇区，本来 {} 个就够。{}";
        kind,
        mean(access.sectors, access.requests),
        mean(min_sectors(access), access.requests),
        change
    )
}

/// Returns the number of requests to the constant cache beyond one per load.
fn excess_addresses(tally: &Tally) -> u64 {
    let constants = tally[AccessClass::ConstantLoad];
    constants.addresses.saturating_sub(constants.requests)
}

fn conflicts(tally: &Tally) -> u64 {
    tally.sum(cost::SHARED).conflicts
}

/// Returns the kind of access to shared memory with the most bank conflicts: its name and counts.
fn worst_conflicts(tally: &Tally) -> (AccessClass, AccessCounts) {
    let worse = |a: AccessClass, b: AccessClass| {
        if tally[b].conflicts > tally[a].conflicts {
            b
        } else {
            a
        }
    };
    let worst = cost::SHARED.iter().fold(AccessClass::SharedLoad, worse);
    (worst, tally[worst])
}

/// Returns the Chinese name of a kind of access to shared memory.
fn shared_name_zh(class: AccessClass) -> &'static str {
    match class {
        AccessClass::SharedLoad => "共享内存读取",
        AccessClass::SharedStore => "共享内存写入",
        _ => "共享内存原子操作",
    }
}

fn lanes(tally: &Tally) -> u64 {
    LANES * tally.instructions
}

fn idle_lanes(tally: &Tally) -> u64 {
    lanes(tally).saturating_sub(tally.thread_instructions)
}

#[cfg(test)]
mod tests;
