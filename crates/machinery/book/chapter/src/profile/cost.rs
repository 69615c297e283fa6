//! The share of each source line in the work of the resource that bounds a launch.

use cuda_driver::counters::Tally;
use cuda_driver::model::Resource;
use cuda_driver::{AccessClass, AccessSet, Memory};

/// A measure of the work that instructions cause for one resource.
pub struct Cost {
    /// The unit, in the plural.
    pub unit: &'static str,
    /// The unit in Chinese.
    pub unit_zh: &'static str,
    /// Returns the work of some instructions. The values of all lines may not add up to that of the total, so
    /// shares are relative to the sum over the lines.
    pub amount: fn(&Tally) -> u64,
}

/// Returns the measure for `resource`, for the lines of a launch with this total.
pub fn for_resource(resource: Resource, total: &Tally) -> Cost {
    let (unit, unit_zh, amount): (_, _, fn(&Tally) -> u64) = match resource {
        Resource::Arithmetic | Resource::Issue | Resource::Launch => {
            ("warp instructions", "线程束指令数", |tally| {
                tally.instructions
            })
        }
        Resource::L1Shared => ("wavefronts", "波前数", wavefronts),
        Resource::ConstantCache => ("constant requests", "常量请求数", |tally| {
            tally[AccessClass::ConstantLoad].addresses
        }),
        Resource::L2 | Resource::Memory => {
            ("sectors of the L2 cache", "L2 缓存扇区数", |tally| {
                let level = tally.l2();
                level.read_sectors + level.written_sectors
            })
        }
        // A miss in the L1 cache stalls a warp far longer than anything else does.
        Resource::Latency if l1_misses(total) > 0 => (
            "loads that miss the L1 cache",
            "未命中 L1 缓存的读取次数",
            l1_misses,
        ),
        Resource::Latency => ("loads and barriers", "读取和同步次数", loads_and_barriers),
    };
    Cost {
        unit,
        unit_zh,
        amount,
    }
}

/// Counts the requests for which a warp waits for the L2 cache or device memory.
fn l1_misses(tally: &Tally) -> u64 {
    let misses_of = |memory: Memory| {
        let reads = tally.sum(AccessSet::loads(memory));
        let weighted = u128::from(reads.requests) * u128::from(reads.misses());
        match reads.sectors {
            0 => 0,
            // Misses are counted in sectors; the same fraction of the requests missed.
            sectors => weighted.div_ceil(sectors.into()) as u64,
        }
    };
    let atomics = tally.sum(AccessSet::atomics(Memory::Global)).requests;
    misses_of(Memory::Global) + misses_of(Memory::Local) + atomics
}

/// Counts the accesses and barriers that a warp waits for without a miss in the L1 cache.
fn loads_and_barriers(tally: &Tally) -> u64 {
    let classes = AccessSet::of(AccessClass::SharedAtomic)
        .union(AccessSet::loads(Memory::Global))
        .union(AccessSet::loads(Memory::Local))
        .union(AccessSet::loads(Memory::Shared));
    let constants = tally[AccessClass::ConstantLoad].addresses;
    tally.sum(classes).requests + constants + tally.barriers
}

/// Accesses to shared memory.
pub const SHARED: AccessSet = AccessSet::in_memory(Memory::Shared);

/// Returns the passes through the data stage of the L1 cache, which shared memory uses too.
pub fn wavefronts(tally: &Tally) -> u64 {
    tally.sum(AccessSet::DATA_STAGE).wavefronts
}

/// Returns the passes through the data stage that access shared memory.
pub fn shared_wavefronts(tally: &Tally) -> u64 {
    tally.sum(SHARED).wavefronts
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_driver::counters::AccessCounts;

    fn access(requests: u64, wavefronts: u64) -> AccessCounts {
        AccessCounts {
            requests,
            wavefronts,
            ..AccessCounts::default()
        }
    }

    fn tally() -> Tally {
        let constants = AccessCounts {
            requests: 1,
            addresses: 7,
            ..AccessCounts::default()
        };
        Tally {
            instructions: 100,
            barriers: 1,
            ..Tally::of([
                (AccessClass::GlobalLoad, access(1, 2)),
                (AccessClass::SharedStore, access(4, 30)),
                (AccessClass::ConstantLoad, constants),
            ])
        }
    }

    fn cost(resource: Resource, tally: &Tally) -> u64 {
        (for_resource(resource, tally).amount)(tally)
    }

    #[test]
    fn costs_depend_on_the_resource() {
        let tally = tally();
        assert_eq!(cost(Resource::Issue, &tally), 100);
        assert_eq!(cost(Resource::L1Shared, &tally), 32);
        assert_eq!(cost(Resource::ConstantCache, &tally), 7);
        assert_eq!(cost(Resource::Latency, &tally), 1 + 7 + 1);
        let mut moved = tally;
        moved[AccessClass::GlobalLoad].sectors = 11;
        moved[AccessClass::GlobalStore].sectors = 13;
        assert_eq!(cost(Resource::Memory, &moved), 24);
    }

    #[test]
    fn matrix_loads_count_as_shared_memory_loads() {
        let tally = Tally::of([(AccessClass::MatrixLoad, access(3, 12))]);
        assert_eq!(cost(Resource::L1Shared, &tally), 12);
        assert_eq!(cost(Resource::Latency, &tally), 3);
        assert_eq!(shared_wavefronts(&tally), 12);
    }

    #[test]
    fn copies_pass_the_data_stage_once_and_cause_waits() {
        let read = AccessCounts {
            sectors: 16,
            hits: 8,
            ..access(4, 4)
        };
        let tally = Tally::of([
            (AccessClass::CopyRead, read),
            (AccessClass::CopyWrite, access(4, 20)),
        ]);
        assert_eq!(cost(Resource::L1Shared, &tally), 20);
        assert_eq!(cost(Resource::Memory, &tally), 8);
        assert_eq!(cost(Resource::Latency, &tally), 2);
    }

    #[test]
    fn warps_wait_for_l1_misses() {
        let mut tally = tally();
        tally[AccessClass::SharedLoad] = access(1000, 1000);
        tally[AccessClass::GlobalLoad] = AccessCounts {
            sectors: 400,
            hits: 300,
            ..access(100, 100)
        };
        assert_eq!(
            for_resource(Resource::Latency, &tally).unit,
            "loads that miss the L1 cache"
        );
        assert_eq!(cost(Resource::Latency, &tally), 25);
        tally[AccessClass::GlobalAtomic].requests = 3;
        assert_eq!(cost(Resource::Latency, &tally), 28);
        // All loads hit and there are no atomics, so all loads count.
        tally[AccessClass::GlobalAtomic].requests = 0;
        tally[AccessClass::GlobalLoad].hits = 400;
        assert_eq!(
            for_resource(Resource::Latency, &tally).unit,
            "loads and barriers"
        );
        assert_eq!(cost(Resource::Latency, &tally), 100 + 1000 + 7 + 1);
    }
}
