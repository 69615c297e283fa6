//! What a line of a kernel asks of the resource that its launch is bound by.

use cuda_driver::counters::Tally;
use cuda_driver::model::Resource;

/// How much of `resource` the instructions of `tally` take, in its own unit: only shares of a
/// launch's total mean something.
pub fn of(resource: Resource, tally: &Tally) -> u64 {
    match resource {
        Resource::Arithmetic | Resource::Issue | Resource::Launch => tally.instructions,
        Resource::L1Shared => wavefronts(tally),
        Resource::ConstantCache => tally.constant.requests,
        Resource::L2 | Resource::Memory => tally.l2.read_sectors + tally.l2.written_sectors,
        // What a warp may wait for.
        Resource::Latency => {
            tally.global_loads.requests
                + tally.global_atomics.requests
                + tally.local_loads.requests
                + tally.shared_loads.requests
                + tally.shared_atomics.requests
                + tally.constant.requests
                + tally.barriers
        }
    }
}

/// What that unit is, for one and all.
pub fn unit(resource: Resource) -> &'static str {
    match resource {
        Resource::Arithmetic | Resource::Issue | Resource::Launch => "warp instructions",
        Resource::L1Shared => "wavefronts",
        Resource::ConstantCache => "constant requests",
        Resource::L2 | Resource::Memory => "sectors of the second cache",
        Resource::Latency => "loads and barriers",
    }
}

/// Passes through the first cache's data stage, which is shared memory's too.
pub fn wavefronts(tally: &Tally) -> u64 {
    let accesses = [
        tally.global_loads,
        tally.global_stores,
        tally.global_atomics,
        tally.local_loads,
        tally.local_stores,
        tally.shared_loads,
        tally.shared_stores,
        tally.shared_atomics,
    ];
    accesses.iter().map(|access| access.wavefronts).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_driver::counters::{Access, Constant, Level2};

    #[test]
    fn each_resource_has_its_own_unit() {
        let access = |requests, wavefronts| Access {
            requests,
            wavefronts,
            ..Access::default()
        };
        let tally = Tally {
            instructions: 100,
            global_loads: access(1, 2),
            shared_stores: access(4, 30),
            constant: Constant {
                instructions: 1,
                requests: 7,
                hits: 0,
            },
            l2: Level2 {
                read_sectors: 11,
                written_sectors: 13,
            },
            barriers: 1,
            ..Tally::default()
        };
        assert_eq!(of(Resource::Issue, &tally), 100);
        assert_eq!(of(Resource::L1Shared, &tally), 32);
        assert_eq!(of(Resource::ConstantCache, &tally), 7);
        assert_eq!(of(Resource::Memory, &tally), 24);
        assert_eq!(of(Resource::Latency, &tally), 1 + 7 + 1);
    }
}
