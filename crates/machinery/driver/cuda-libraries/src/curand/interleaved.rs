//! Pseudorandom generators whose numbers come in turns from many subsequences, as if each GPU thread had one.

use super::distributions::{Distribution, Engine};

/// A generator with subsequences.
pub trait Subsequences: Clone {
    /// Skips numbers.
    fn skip(&mut self, count: u64);
    /// Skips a subsequence.
    fn skip_subsequence(&mut self);
}

/// The generators of all subsequences.
pub struct Interleaved<E> {
    engines: Vec<E>,
    /// The engine of the next number.
    next: usize,
}

impl<E: Engine + Subsequences> Interleaved<E> {
    /// Creates the generators of this number of subsequences, which continue `first`. Skips `offset` numbers.
    pub fn new(first: E, count: usize, offset: u64) -> Self {
        let next_subsequence = |engine: &E| {
            let mut engine = engine.clone();
            engine.skip_subsequence();
            Some(engine)
        };
        let engines = std::iter::successors(Some(first), next_subsequence);
        let mut engines: Vec<E> = engines.take(count).collect();
        let next = (offset % count as u64) as usize;
        for (index, engine) in engines.iter_mut().enumerate() {
            engine.skip(offset / count as u64 + u64::from(index < next));
        }
        Self { engines, next }
    }

    /// Writes the next numbers.
    pub fn fill<D: Distribution>(&mut self, distribution: &D, to: &mut [D::Number]) {
        for group in to.chunks_mut(D::GROUP) {
            distribution.draw(&mut self.engines[self.next], group);
            self.next = (self.next + 1) % self.engines.len();
        }
    }
}
