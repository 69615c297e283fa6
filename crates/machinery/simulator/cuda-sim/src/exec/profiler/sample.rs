//! The choice of the blocks that are profiled, and the passing of an SM's caches from block to block.
//!
//! A launch with a profile is profiled whole. Any other launch is profiled on a sample of the modelled GPU's
//! SMs, from which the time model takes its rates. The model uses the sample even if the whole launch is
//! profiled, so that profiling does not change the modelled time. The sample is the same each time unless the
//! launch requests a random one that a kernel cannot predict.
//!
//! Block `n` belongs to SM `n` modulo their number, on whichever host thread it runs, and starts with the
//! caches that the previous block of that SM left. Cache contents therefore do not depend on host scheduling.

use super::Caches;
use super::trace::Trace;
use crate::device::DeviceSpec;
use crate::memory::lock;
use crate::profile::collect::LaunchPart;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::sync::{Condvar, Mutex, PoisonError};

/// One in this many SMs is sampled by default.
const SM_INTERVAL: u64 = 64;

/// Maximum number of blocks of a launch that is sampled whole by default.
const MAX_SMALL_LAUNCH: u64 = 16;

/// Maximum number of blocks of a launch that is sampled whole with a random sample.
const MAX_FULLY_SAMPLED: u64 = 1 << 15;

/// One in this many SMs is sampled in larger launches with a random sample.
const RANDOM_SM_FRACTION: usize = 8;

/// The extent to which a launch is profiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileMode {
    /// Not at all; the modelled time then excludes memory. For benchmarks of the cost of profiling.
    Off,
    /// The sample that the time model needs.
    Sample,
    /// Every block, which gives the launch a profile.
    Full,
    /// Every block, with a record of each access. For launches of a few blocks, whose warps then run one by
    /// one.
    Trace,
    /// Every block, with a record of each instruction's costliest access, for launches of any size.
    TraceCostliest,
}

/// The sample of a launch, and the caches of its SMs.
pub struct Sample {
    mode: ProfileMode,
    /// SMs on which the time model is based.
    sampled: SampledSms,
    device: DeviceSpec,
    /// Bytes of L1 used as shared memory.
    shared_bytes: u64,
    chains: Vec<Chain>,
    spare: Mutex<SpareCaches>,
}

/// Caches left by earlier launches, for reuse.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "they are handed on in their boxes")]
pub struct SpareCaches(Vec<Box<Caches>>);

impl SpareCaches {
    /// Adds the caches of another launch.
    pub fn add(&mut self, other: SpareCaches) {
        self.0.extend(other.0);
    }
}

/// A set of sampled SMs.
enum SampledSms {
    All,
    /// One in [`SM_INTERVAL`].
    EveryNth,
    /// For each SM, true if it is in the sample.
    Random(Vec<bool>),
}

/// The caches of one SM on their way from block to block.
#[derive(Default)]
struct Chain {
    state: Mutex<ChainState>,
    changed: Condvar,
}

#[derive(Default)]
struct ChainState {
    /// Number of blocks of this SM that have passed its caches on.
    passed: u64,
    caches: Option<Box<Caches>>,
    /// Number of waiting threads. Lets us skip `notify_all`, a system call, when it is zero.
    waiters: usize,
}

impl Sample {
    /// Prepares the sample of a launch of `blocks` blocks that use `shared_bytes` bytes of an SM's shared
    /// memory. `seed` selects a random sample, if the launch requested one.
    pub fn new(
        mode: ProfileMode,
        seed: Option<u64>,
        blocks: u64,
        device: &DeviceSpec,
        shared_bytes: u64,
    ) -> Sample {
        let count = u64::from(device.multiprocessors).min(blocks) as usize;
        Sample {
            mode,
            sampled: choose_sampled(seed, blocks, device.multiprocessors as usize),
            device: device.clone(),
            shared_bytes,
            chains: std::iter::repeat_with(Chain::default).take(count).collect(),
            spare: Mutex::default(),
        }
    }

    /// Provides caches of an earlier launch for reuse.
    pub fn reuse(&mut self, spare: SpareCaches) {
        self.spare = Mutex::new(spare);
    }

    /// Takes the remaining caches after a small launch, for reuse by another.
    pub fn take_spare_caches(&self) -> SpareCaches {
        let mut spare = std::mem::take(&mut *lock(&self.spare));
        if self.chains.len() as u64 <= MAX_SMALL_LAUNCH {
            spare.0.extend(
                self.chains
                    .iter()
                    .filter_map(|chain| lock(&chain.state).caches.take()),
            );
        }
        spare
    }

    /// Returns true if accesses are recorded.
    pub fn traces(&self) -> bool {
        matches!(self.mode, ProfileMode::Trace | ProfileMode::TraceCostliest)
    }

    /// Creates the recorder of accesses, or returns `None` if they are not recorded.
    pub fn trace(&self) -> Option<Box<Trace>> {
        let costliest = self.mode == ProfileMode::TraceCostliest;
        self.traces().then(|| Box::new(Trace::new(costliest)))
    }

    /// Returns the part of the launch to which a block belongs.
    pub fn part(&self, block: u64) -> LaunchPart {
        let multiprocessor = block % u64::from(self.device.multiprocessors);
        let sampled = match &self.sampled {
            SampledSms::All => true,
            SampledSms::EveryNth => multiprocessor.is_multiple_of(SM_INTERVAL),
            SampledSms::Random(chosen) => chosen[multiprocessor as usize],
        };
        match self.mode {
            ProfileMode::Off => LaunchPart::Plain,
            _ if sampled => LaunchPart::Sample,
            ProfileMode::Sample => LaunchPart::Plain,
            ProfileMode::Full | ProfileMode::Trace | ProfileMode::TraceCostliest => {
                LaunchPart::Unsampled
            }
        }
    }

    /// Returns the caches for a profiled block: those of the previous block on its SM, once it has passed
    /// them on.
    pub fn take(&self, block: u64) -> Box<Caches> {
        let (chain, turn) = self.chain(block);
        let mut state = lock(&chain.state);
        while state.passed < turn {
            state.waiters += 1;
            state = chain
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiters -= 1;
        }
        let caches = state.caches.take();
        caches.unwrap_or_else(|| self.empty_caches())
    }

    /// Returns empty caches, reused ones if possible.
    fn empty_caches(&self) -> Box<Caches> {
        let spare = lock(&self.spare).0.pop();
        let reusable = spare.and_then(|mut caches| {
            caches
                .empty(&self.device, self.shared_bytes)
                .then_some(caches)
        });
        reusable.unwrap_or_else(|| Box::new(Caches::new(&self.device, self.shared_bytes)))
    }

    /// Lets the SM's next block start with these caches, or with empty ones. Every profiled block must call
    /// this once, when it ends or is paused, even if it never ran.
    pub fn pass_on(&self, block: u64, caches: Option<Box<Caches>>) {
        let (chain, turn) = self.chain(block);
        let mut state = lock(&chain.state);
        // A block that will not run does not wait for its predecessors.
        state.passed = state.passed.max(turn + 1);
        state.caches = caches;
        if state.waiters > 0 {
            chain.changed.notify_all();
        }
    }

    /// Releases all waiting blocks, because some block will never pass its caches on.
    pub fn abandon(&self) {
        for chain in &self.chains {
            lock(&chain.state).passed = u64::MAX;
            chain.changed.notify_all();
        }
    }

    fn chain(&self, block: u64) -> (&Chain, u64) {
        let multiprocessors = u64::from(self.device.multiprocessors);
        let chain = &self.chains[(block % multiprocessors) as usize];
        (chain, block / multiprocessors)
    }
}

/// Chooses the SMs on which the time model is based, for a launch of `blocks` blocks.
fn choose_sampled(seed: Option<u64>, blocks: u64, multiprocessors: usize) -> SampledSms {
    let seed = match seed {
        None if blocks > MAX_SMALL_LAUNCH => return SampledSms::EveryNth,
        Some(seed) if blocks > MAX_FULLY_SAMPLED => seed,
        _ => return SampledSms::All,
    };
    let mut random = Pcg32::seed_from_u64(seed);
    let mut sampled = vec![false; multiprocessors];
    let mut remaining = multiprocessors.div_ceil(RANDOM_SM_FRACTION);
    while remaining > 0 {
        let index = random.next_u32() as usize % multiprocessors;
        remaining -= usize::from(!std::mem::replace(&mut sampled[index], true));
    }
    SampledSms::Random(sampled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_64th_multiprocessor_is_sampled() {
        let device = DeviceSpec::h200();
        let sample = Sample::new(ProfileMode::Sample, None, 1000, &device, 0);
        let sampled = (0..132).filter(|&block| sample.part(block) == LaunchPart::Sample);
        assert_eq!(sampled.collect::<Vec<_>>(), [0, 64, 128]);
        assert_eq!(sample.part(132 + 64), LaunchPart::Sample);
        assert_eq!(sample.part(1), LaunchPart::Plain);
        assert_eq!(
            Sample::new(ProfileMode::Full, None, 1000, &device, 0).part(1),
            LaunchPart::Unsampled
        );
        assert_eq!(
            Sample::new(ProfileMode::Sample, None, 16, &device, 0).part(1),
            LaunchPart::Sample
        );
    }

    #[test]
    fn a_seed_samples_every_block_of_small_launches_and_random_sms_of_large_ones() {
        let device = DeviceSpec::h200();
        let sampled_by = |seed, blocks| {
            let sample = Sample::new(ProfileMode::Sample, Some(seed), blocks, &device, 0);
            let sampled = (0..132).filter(|&block| sample.part(block) == LaunchPart::Sample);
            sampled.collect::<Vec<_>>()
        };
        assert_eq!(sampled_by(1, MAX_FULLY_SAMPLED).len(), 132);
        let chosen = sampled_by(1, MAX_FULLY_SAMPLED + 1);
        assert_eq!(chosen.len(), 17);
        assert_eq!(sampled_by(1, MAX_FULLY_SAMPLED + 1), chosen);
        assert_ne!(sampled_by(2, MAX_FULLY_SAMPLED + 1), chosen);
    }

    #[test]
    fn a_block_waits_for_its_predecessor_on_the_same_sm() {
        let sample = Sample::new(ProfileMode::Full, None, 1000, &DeviceSpec::h200(), 0);
        let mut first = sample.take(5);
        first.access_for_test(7);
        let outcome = std::thread::scope(|threads| {
            let second = threads.spawn(|| sample.take(5 + 132));
            std::thread::sleep(Duration::from_millis(20));
            let early = second.is_finished();
            sample.pass_on(5, Some(first));
            (early, second.join().unwrap())
        });
        let (early, mut second) = outcome;
        assert!(!early, "it did not wait");
        assert!(second.access_for_test(7), "these are other caches");
        // A skipped block passes on before its turn.
        sample.pass_on(6 + 132, None);
        sample.pass_on(6, None);
        sample.take(6 + 264);
        // No block waits after a panic.
        sample.abandon();
        sample.take(7 + 132);
        // A paused block leaves empty caches.
        sample.pass_on(5 + 132, None);
        assert!(!sample.take(5 + 264).access_for_test(7));
    }
}
