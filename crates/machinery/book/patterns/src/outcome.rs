//! Runs an access pattern on the simulator, collects the address of each lane and the counters, and describes the pattern and
//! its result in sentences.

use std::collections::BTreeSet;

use cuda_sim::exec::Traced;
use cuda_sim::isa::{AccessSet, Memory};
use cuda_sim::profile::traffic::SECTOR;
use cuda_sim::profile::{METRICS, Tally};
use serde::Serialize;
use sim_machine::{Launch, params};

use crate::language::{Language, localize};
use crate::pattern::{Order, Pattern, Space};
use crate::trace::{self, Failure};

const PTX: &str = include_str!(env!("PATTERNS_PTX"));

/// The result of running a pattern.
pub struct Outcome {
    /// The loads, one per warp, ordered by warp.
    pub reads: Vec<Traced>,
    /// The address of the data; drawings show addresses relative to it.
    pub base: u64,
    pub counters: Vec<Counter>,
    pub sums: Sums,
}

/// A counter, with the metric name of Nsight Compute and a readable one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counter {
    pub name: &'static str,
    pub plain: &'static str,
    pub value: u64,
}

/// The totals over all warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Load requests: one per warp and load instruction.
    pub requests: u64,
    /// 32-byte sectors; zero unless global memory is read.
    pub sectors: u64,
    /// Passes through the data stage of the L1 cache; zero for constant memory.
    pub wavefronts: u64,
    /// Additional wavefronts caused by bank conflicts; zero unless shared memory is read.
    pub conflicts: u64,
    /// Distinct constant-memory addresses, summed over the loads.
    pub addresses: u64,
    /// Distinct bytes that the lanes of each load use, summed over the loads.
    pub used: u64,
    /// Bytes of all sectors loaded.
    pub moved: u64,
}

/// Runs a pattern on the simulator.
///
/// Fails if the device memory does not suffice or the kernel faults, for example by a misaligned load.
pub fn run(pattern: &Pattern) -> Result<Outcome, Failure> {
    let mut machine = trace::load(PTX)?;
    let threads: u32 = pattern.block.iter().product();
    let data = match pattern.space {
        Space::Global | Space::ReadOnly => machine.allocate(pattern.extent().max(1))?,
        Space::Shared | Space::Constant => 0,
    };
    let results = machine.allocate(4 * u64::from(threads))?;
    let order = [
        pattern.order.number(),
        pattern.pitch,
        pattern.stride,
        pattern.offset,
        pattern.elements(),
    ];
    let params = params![data, results, order];
    let kernel = format!("{}_{}", pattern.space.kernel(), pattern.element);
    let shared = match pattern.space {
        Space::Shared => pattern.extent() as u32,
        _ => 0,
    };
    let launch = Launch::new(&kernel, [1, 1], pattern.block, params).shared(shared);
    let trace = trace::run(&machine, &launch)?;
    let (memory, base) = match pattern.space {
        Space::Global | Space::ReadOnly => (Memory::Global, data),
        Space::Shared => (Memory::Shared, 0),
        Space::Constant => {
            let bytes = machine.variable("constant_bytes");
            (Memory::Constant, bytes.unwrap_or_default())
        }
    };
    let mut reads: Vec<Traced> = trace.loads(memory).cloned().collect();
    reads.sort_by_key(|read| read.warp);
    let used = reads.iter().map(distinct_bytes).sum();
    Ok(Outcome {
        sums: sums(memory, &trace.tally, used),
        counters: counters(pattern.space, &trace.tally),
        reads,
        base,
    })
}

/// Returns the number of distinct bytes that the lanes of an access use.
fn distinct_bytes(access: &Traced) -> u64 {
    let distinct: BTreeSet<u64> = access.lanes().map(|(_, address)| address).collect();
    distinct.len() as u64 * access.bytes
}

fn sums(memory: Memory, tally: &Tally, used: u64) -> Sums {
    let loads = tally.sum(AccessSet::loads(memory));
    Sums {
        requests: loads.requests,
        sectors: loads.sectors,
        wavefronts: loads.wavefronts,
        conflicts: loads.conflicts,
        addresses: loads.addresses,
        used,
        moved: loads.sectors * SECTOR,
    }
}

fn counters(space: Space, tally: &Tally) -> Vec<Counter> {
    let names: &[&str] = match space {
        Space::Global | Space::ReadOnly => &[
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        ],
        Space::Shared => &[
            "smsp__inst_executed_op_shared_ld.sum",
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        ],
        Space::Constant => &["idc__requests.sum"],
    };
    let selected = METRICS.iter().filter(|metric| names.contains(&metric.name));
    let counter = selected.map(|metric| Counter {
        name: metric.name,
        plain: metric.en,
        value: metric.value(tally),
    });
    counter.collect()
}

/// Formats a count with its noun: `1 sector`, `8 sectors`.
fn count(number: u64, singular: &str) -> String {
    match number {
        1 => format!("1 {singular}"),
        _ => format!("{number} {singular}s"),
    }
}

/// Summarizes the counters in a sentence.
pub fn describe_result(space: Space, sums: &Sums, language: Language) -> String {
    let Sums {
        requests,
        sectors,
        wavefronts,
        conflicts,
        addresses,
        used,
        moved,
    } = *sums;
    match space {
        Space::Global | Space::ReadOnly => language.pick(
            format!(
                "{}, {}: {used} of {moved} bytes used",
                count(requests, "request"),
                count(sectors, "sector")
            ),
            format!("{requests} 次请求，{sectors} 个扇区：加载 {moved} 字节，用到 {used} 字节"),
        ),
        Space::Shared => {
            let conflict_text = match conflicts {
                0 => language.pick("no bank conflicts".into(), "没有存储体冲突".into()),
                _ => language.pick(
                    format!("{conflicts} of them caused by bank conflicts"),
                    format!("其中 {conflicts} 个由存储体冲突造成"),
                ),
            };
            let (load_text, wavefront_text) =
                (count(requests, "load"), count(wavefronts, "wavefront"));
            language.pick(
                format!("{load_text}, {wavefront_text}, {conflict_text}"),
                format!("{requests} 次读取，{wavefronts} 个波前，{conflict_text}"),
            )
        }
        Space::Constant => language.pick(
            format!(
                "{}, {}: one per distinct address of a warp",
                count(requests, "load"),
                count(addresses, "request")
            ),
            format!("{requests} 次读取，{addresses} 次请求：线程束中每个不同的地址各一次"),
        ),
    }
}

/// Describes in a sentence which element each thread reads.
pub fn describe_pattern(pattern: &Pattern, language: Language) -> String {
    let Pattern {
        element,
        stride,
        offset,
        pitch,
        ..
    } = pattern;
    let index = |name: &str| {
        let product = match stride {
            1 => name.to_owned(),
            _ => format!("{stride} × {name}"),
        };
        match offset {
            0 => product,
            _ => format!("{offset} + {product}"),
        }
    };
    match pattern.order {
        Order::Rows if pattern.block[1] == 1 => language.pick(
            format!("Thread x reads element {} of {element} bytes", index("x")),
            format!("线程 x 读第 {} 个元素，每个 {element} 字节", index("x")),
        ),
        Order::Rows => localize!(
            language,
            "Thread (x, y) reads element {} of row y, of {element} bytes; rows are {pitch} bytes apart",
            "线程 (x, y) 读第 y 行的第 {} 个元素，每个 {element} 字节；相邻两行相距 {pitch} 字节";
            index("x")
        ),
        Order::Columns => localize!(
            language,
            "Thread (x, y) reads element {} of row x, of {element} bytes; rows are {pitch} bytes apart",
            "线程 (x, y) 读第 x 行的第 {} 个元素，每个 {element} 字节；相邻两行相距 {pitch} 字节";
            index("y")
        ),
        Order::One => language.pick(
            format!("All threads read element {offset}, of {element} bytes"),
            format!("所有线程都读第 {offset} 个元素（{element} 字节）"),
        ),
        Order::Random => localize!(
            language,
            "Threads read pseudo-random elements of {element} bytes, out of {} elements",
            "各线程在 {} 个元素中伪随机读取，每个元素 {element} 字节";
            pattern.elements()
        ),
    }
}
