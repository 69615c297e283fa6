//! Which blocks of a launch are observed, and how a multiprocessor's caches go from one of its
//! blocks to the next.
//!
//! A profiled launch is observed whole. Any other is observed on a few of the modelled GPU's
//! multiprocessors: enough for the time model, which reads rates off these blocks even where more
//! are known, so that profiling changes no time. Which multiprocessors these are is the same each time,
//! unless the launch asks for a choice that a kernel cannot foretell.
//!
//! Block `n` belongs to multiprocessor `n` modulo their number, whatever host thread runs it, and
//! finds the caches as the block before it there left them: so what they had does not depend on
//! scheduling.

use super::profiler::Caches;
use super::trace::Trace;
use crate::device::DeviceSpec;
use crate::profile::collect::LaunchPart;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// One multiprocessor in so many is observed.
const SM_INTERVAL: u64 = 64;

/// Launches of at most so many blocks are observed whole.
const MAX_SMALL_LAUNCH: u64 = 16;

/// Launches of at most so many blocks are observed whole where a kernel is not to foretell what is.
const MAX_FULLY_SAMPLED: u64 = 1 << 15;

/// One multiprocessor in so many is observed of larger ones.
const RANDOM_SM_FRACTION: usize = 8;

/// How much of a launch is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileMode {
    /// Nothing. The modelled time then leaves out memory: this is for benchmarks of what observing
    /// costs.
    Off,
    /// As much as the time model needs.
    Sample,
    /// Every block, so that the launch has a profile.
    Full,
    /// The same, and each access is told of by itself: for launches of a few blocks, whose warps then
    /// run one by one.
    Trace,
    /// As [`Self::Trace`], but of each instruction only the costliest access is told of, so that the
    /// launch may have any number of blocks.
    TraceCostliest,
}

/// What of a launch is observed.
pub struct Sample {
    mode: ProfileMode,
    /// Which multiprocessors the time model looks at.
    sampled: SampledSms,
    device: DeviceSpec,
    /// Bytes of the L1 cache that shared memory takes.
    shared_bytes: u64,
    chains: Vec<Chain>,
    spare: Mutex<SpareCaches>,
}

/// Caches that earlier launches have left, to be emptied and used again.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "they are handed on in their boxes")]
pub struct SpareCaches(Vec<Box<Caches>>);

/// The multiprocessors that the time model looks at.
enum SampledSms {
    All,
    /// One in [`SM_INTERVAL`].
    EveryNth,
    /// For each multiprocessor, whether it does.
    Random(Vec<bool>),
}

/// The caches of one multiprocessor, on their way from block to block.
#[derive(Default)]
struct Chain {
    state: Mutex<ChainState>,
    changed: Condvar,
}

#[derive(Default)]
struct ChainState {
    /// Blocks of this multiprocessor that have passed its caches on.
    passed: u64,
    caches: Option<Box<Caches>>,
}

impl Sample {
    /// Of a launch of `blocks` blocks, which take `shared_bytes` bytes of a multiprocessor. `seed`: that of a
    /// choice that a kernel cannot foretell, if it asked for one.
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

    /// Caches that an earlier launch left may be emptied and used again.
    pub fn reuse(&mut self, spare: SpareCaches) {
        self.spare = Mutex::new(spare);
    }

    /// What is left of caches where the launch is over and was a small one, for another.
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

    /// Whether accesses are told of.
    pub fn traces(&self) -> bool {
        matches!(self.mode, ProfileMode::Trace | ProfileMode::TraceCostliest)
    }

    /// What they are to be noted in, where they are told of.
    pub fn trace(&self) -> Option<Box<Trace>> {
        let costliest = self.mode == ProfileMode::TraceCostliest;
        self.traces().then(|| Box::new(Trace::new(costliest)))
    }

    /// What part a block is in.
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
                LaunchPart::Rest
            }
        }
    }

    /// The caches for an observed block: those of the block before it on its multiprocessor, once
    /// that has passed them on.
    pub fn take(&self, block: u64) -> Box<Caches> {
        let (chain, turn) = self.chain(block);
        let mut state = lock(&chain.state);
        while state.passed < turn {
            state = chain
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let caches = state.caches.take();
        caches.unwrap_or_else(|| self.empty_caches())
    }

    /// Empty caches.
    fn empty_caches(&self) -> Box<Caches> {
        let spare = lock(&self.spare).0.pop();
        let spare = spare.and_then(|mut caches| {
            caches
                .empty(&self.device, self.shared_bytes)
                .then_some(caches)
        });
        spare.unwrap_or_else(|| Box::new(Caches::new(&self.device, self.shared_bytes)))
    }

    /// An observed block is over, or put aside: the next one may begin, with these caches or with
    /// empty ones. Every observed block has to do this once, even one that never ran.
    pub fn pass_on(&self, block: u64, caches: Option<Box<Caches>>) {
        let (chain, turn) = self.chain(block);
        let mut state = lock(&chain.state);
        // A block that will not run does not wait for those before it.
        state.passed = state.passed.max(turn + 1);
        state.caches = caches;
        chain.changed.notify_all();
    }

    /// Lets every block begin that waits: one will never pass its caches on.
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

/// Which of a device's multiprocessors the time model looks at, in a launch of `blocks` blocks.
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
            LaunchPart::Rest
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
        // One that was skipped passes on before its turn.
        sample.pass_on(6 + 132, None);
        sample.pass_on(6, None);
        sample.take(6 + 264);
        // After a panic nobody waits.
        sample.abandon();
        sample.take(7 + 132);
        // One that was put aside leaves empty ones.
        sample.pass_on(5 + 132, None);
        assert!(!sample.take(5 + 264).access_for_test(7));
    }
}
