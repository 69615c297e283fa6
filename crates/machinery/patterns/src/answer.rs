//! A pattern run on the simulator: which addresses each lane asks for, and what they come to.

use std::collections::BTreeSet;

use cuda_sim::exec::Traced;
use cuda_sim::isa::{AccessSet, Direction, Memory};
use cuda_sim::profile::traffic::SECTOR;
use cuda_sim::profile::{METRICS, Tally};
use serde::Serialize;

use crate::machine::{Failure, Job, Machine, Param, params};
use crate::pattern::{Pattern, Space};

const PTX: &str = include_str!(env!("PATTERNS_PTX"));

/// What a pattern came to.
pub struct Answer {
    /// The reads, one a warp, in the order of the warps.
    pub reads: Vec<Traced>,
    /// Where the data begins: addresses are relative to it.
    pub base: u64,
    pub counters: Vec<Counter>,
    pub sums: Sums,
}

/// A counter, under the name that Nsight Compute has for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counter {
    pub name: &'static str,
    pub plain: &'static str,
    pub value: u64,
}

/// The counters in a few numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Warps' loads.
    pub requests: u64,
    /// Distinct sectors; zero unless global memory was read.
    pub sectors: u64,
    /// Passes through the data stage; zero for constant memory.
    pub wavefronts: u64,
    /// Of shared memory: those that bank conflicts add.
    pub conflicts: u64,
    /// Distinct constant addresses.
    pub addresses: u64,
    /// Distinct bytes that lanes asked for, load by load.
    pub used: u64,
    /// Bytes of the sectors.
    pub moved: u64,
}

/// Runs a pattern.
pub fn answer(pattern: &Pattern) -> Result<Answer, Failure> {
    let mut machine = Machine::load(PTX)?;
    let threads: u32 = pattern.block.iter().product();
    let data = match pattern.space {
        Space::Global | Space::ReadOnly => machine.buffer(pattern.reach())?,
        Space::Shared | Space::Constant => 0,
    };
    let seen = machine.buffer(4 * u64::from(threads))?;
    let trace = machine.run(&Job {
        kernel: &format!("{}_{}", pattern.space.kernel(), pattern.element),
        grid: [1, 1],
        block: pattern.block,
        shared: match pattern.space {
            Space::Shared => pattern.reach() as u32,
            _ => 0,
        },
        params: &params(&[
            Param::Long(data),
            Param::Long(seen),
            Param::Word(pattern.order.number()),
            Param::Word(pattern.pitch),
            Param::Word(pattern.stride),
            Param::Word(pattern.offset),
            Param::Word(pattern.elements()),
        ]),
    })?;
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
    let used = reads.iter().map(used).sum();
    Ok(Answer {
        sums: sums(memory, &trace.tally, used),
        counters: counters(pattern.space, &trace.tally),
        reads,
        base,
    })
}

/// Distinct bytes that the lanes of an access ask for.
pub fn used(access: &Traced) -> u64 {
    let distinct: BTreeSet<u64> = access.lanes().map(|(_, address)| address).collect();
    distinct.len() as u64 * access.bytes
}

fn sums(memory: Memory, tally: &Tally, used: u64) -> Sums {
    let loads = AccessSet::to(memory).and(AccessSet::that(Direction::Reads));
    let loads = tally.sum(loads);
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
    let shown = METRICS.iter().filter(|metric| names.contains(&metric.name));
    let counter = shown.map(|metric| Counter {
        name: metric.name,
        plain: metric.plain,
        value: metric.value(tally),
    });
    counter.collect()
}
