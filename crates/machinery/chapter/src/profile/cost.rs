//! What a line of a kernel asks of the resource that its launch is bound by.

use cuda_driver::counters::{Access, Tally};
use cuda_driver::model::Resource;

/// How the instructions of a launch share in what one resource has to do.
pub struct Cost {
    /// What is counted: a word or two for many of it.
    pub unit: &'static str,
    /// How much of it some instructions take. Of lines this may not add up to that of the total:
    /// shares are of the lines' sum.
    pub of: fn(&Tally) -> u64,
}

/// The cost in terms of `resource`, for the lines of a launch with this total.
pub fn of(resource: Resource, total: &Tally) -> Cost {
    let (unit, of): (_, fn(&Tally) -> u64) = match resource {
        Resource::Arithmetic | Resource::Issue | Resource::Launch => {
            ("warp instructions", |tally| tally.instructions)
        }
        Resource::L1Shared => ("wavefronts", wavefronts),
        Resource::ConstantCache => ("constant requests", |tally| tally.constant.requests),
        Resource::L2 | Resource::Memory => ("sectors of the second cache", |tally| {
            tally.l2.read_sectors + tally.l2.written_sectors
        }),
        // A warp waits far longer for what the first cache does not have than for anything else.
        Resource::Latency if far_loads(total) > 0 => ("loads beyond the first cache", far_loads),
        Resource::Latency => ("loads and barriers", near_loads),
    };
    Cost { unit, of }
}

/// Requests for which a warp waits until the second cache or device memory answers.
fn far_loads(tally: &Tally) -> u64 {
    let missed = |access: &Access| match access.sectors {
        0 => 0,
        // As large a part of the requests as of the sectors.
        sectors => {
            let missed = u128::from(sectors.saturating_sub(access.hits));
            (u128::from(access.requests) * missed).div_ceil(sectors.into()) as u64
        }
    };
    missed(&tally.global_loads) + missed(&tally.local_loads) + tally.global_atomics.requests
}

/// What a warp may wait for nearer by.
fn near_loads(tally: &Tally) -> u64 {
    tally.global_loads.requests
        + tally.local_loads.requests
        + tally.shared_loads.requests
        + tally.shared_atomics.requests
        + tally.constant.requests
        + tally.barriers
}

/// Passes through the first cache's data stage, which is shared memory's too.
pub fn wavefronts(tally: &Tally) -> u64 {
    let accesses = [
        tally.global_loads,
        tally.global_stores,
        tally.global_atomics,
        tally.local_loads,
        tally.local_stores,
    ];
    let wavefronts: u64 = accesses.iter().map(|access| access.wavefronts).sum();
    wavefronts + shared_wavefronts(tally)
}

/// Those of them that are shared memory's.
pub fn shared_wavefronts(tally: &Tally) -> u64 {
    let accesses = [
        tally.shared_loads,
        tally.shared_stores,
        tally.shared_atomics,
    ];
    accesses.iter().map(|access| access.wavefronts).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_driver::counters::{Constant, Level2};

    fn access(requests: u64, wavefronts: u64) -> Access {
        Access {
            requests,
            wavefronts,
            ..Access::default()
        }
    }

    fn tally() -> Tally {
        Tally {
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
        }
    }

    fn cost(resource: Resource, tally: &Tally) -> u64 {
        (of(resource, tally).of)(tally)
    }

    #[test]
    fn each_resource_has_its_own_unit() {
        let tally = tally();
        assert_eq!(cost(Resource::Issue, &tally), 100);
        assert_eq!(cost(Resource::L1Shared, &tally), 32);
        assert_eq!(cost(Resource::ConstantCache, &tally), 7);
        assert_eq!(cost(Resource::Memory, &tally), 24);
        assert_eq!(cost(Resource::Latency, &tally), 1 + 7 + 1);
    }

    #[test]
    fn warps_wait_for_what_the_first_cache_does_not_have() {
        let mut tally = tally();
        tally.shared_loads = access(1000, 1000);
        tally.global_loads = Access {
            sectors: 400,
            hits: 300,
            ..access(100, 100)
        };
        assert_eq!(
            of(Resource::Latency, &tally).unit,
            "loads beyond the first cache"
        );
        assert_eq!(cost(Resource::Latency, &tally), 25);
        tally.global_atomics.requests = 3;
        assert_eq!(cost(Resource::Latency, &tally), 28);
        // All of them hit, and there is no atomic: then for all loads alike.
        tally.global_atomics.requests = 0;
        tally.global_loads.hits = 400;
        assert_eq!(of(Resource::Latency, &tally).unit, "loads and barriers");
        assert_eq!(cost(Resource::Latency, &tally), 100 + 1000 + 7 + 1);
    }
}
