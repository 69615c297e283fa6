//! The conditions under which launches run. A program may request unusual ones, to find out whether a
//! kernel's results depend on them.

use cuda_sim::exec::Conditions;

use super::queue::{self, WaitTarget};
use super::{SIMULATOR, lock_driver, lock_mutex};

/// Runs later launches on the simulator in a random order (seeded): all blocks that fit on the device at a
/// time are resident at once, and before any access to memory shared with other threads a warp may be delayed
/// for as long as others can make progress. The lanes of a warp stay in lockstep.
///
/// A correct kernel still gives correct results; one that lacks an atomic or a barrier gives wrong results
/// with most seeds. The same seed gives the same order. Launches take several times as long, on one host
/// thread. Their counters and modelled times are meaningless, and they have no profile.
///
/// Stream operations and graph nodes are shuffled too, within the order that streams, events and edges allow.
/// A wait for a stream completes no more operations of other streams than it needs.
///
/// `None` restores the default order. Has no effect on a GPU.
pub fn shuffle(seed: Option<u64>) {
    update(|conditions| conditions.shuffle = seed);
}

/// Sets the word that fills uninitialized memory on the simulator: device memory allocated after this call,
/// shared memory when a block starts, local memory when a thread starts. A result that differs between two
/// such words depends on uninitialized memory. Module variables always start with their initializer or zero.
/// `None` fills with zero. Has no effect on a GPU.
pub fn poison(word: Option<u32>) {
    update(|conditions| conditions.poison = word);
}

/// Randomizes the sample of blocks whose caches are simulated for the time model, so that a kernel cannot
/// predict it: all blocks, or in large grids those of SMs drawn from the seed. `None` samples the blocks of
/// the same few SMs each time. Has no effect on a GPU.
pub fn set_sample_seed(seed: Option<u64>) {
    update(|conditions| conditions.sample_seed = seed);
}

/// Returns the conditions of later launches.
pub fn conditions() -> Conditions {
    *lock_mutex(&SIMULATOR.conditions)
}

fn update(change: impl FnOnce(&mut Conditions)) {
    queue::wait(WaitTarget::All);
    queue::restart_shuffle();
    let mut conditions = lock_mutex(&SIMULATOR.conditions);
    change(&mut conditions);
    if let Ok(mut driver) = lock_driver() {
        driver.set_conditions(*conditions);
    }
}
