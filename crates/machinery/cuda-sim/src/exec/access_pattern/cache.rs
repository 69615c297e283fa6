//! What is remembered of how each instruction's addresses lie.

use super::AccessPattern;
use crate::lanes::LANES;

/// How often in a row the addresses of an access may lie otherwise; after that they are looked at only
/// now and then.
const MAX_MISSES: u32 = 8;
/// They are looked at one time in this many, then.
const RETRY_INTERVAL: u32 = 64;

/// What is remembered of the instructions of a program.
#[derive(Default)]
pub struct AccessPatterns {
    /// By the instruction's address: one for gangs of full size, and one for smaller gangs.
    cached: Vec<[Option<Box<AccessPattern>>; 2]>,
    /// The address of the instruction whose addresses were compared just now, and need not be again.
    just_verified: Option<u32>,
}

/// What a [`AccessPattern`] is remembered by.
#[derive(Clone, Copy)]
pub struct PatternKey {
    /// The instruction's address in the code; or, if an earlier one of its basic block had the same lanes'
    /// addresses but for a constant, that one's.
    pub address: u32,
    /// The gang has its full size.
    pub full: bool,
    /// `place` is an earlier instruction's.
    pub reuses_earlier: bool,
}

impl AccessPatterns {
    /// Nothing yet, of a program of so many instructions.
    pub fn new(instructions: usize) -> AccessPatterns {
        AccessPatterns {
            cached: std::iter::repeat_with(|| [None, None])
                .take(instructions)
                .collect(),
            just_verified: None,
        }
    }

    /// Another launch begins, in which nothing is marked as touched yet.
    pub fn start_launch(&mut self) {
        self.just_verified = None;
        for pattern in self.cached.iter_mut().flatten().flatten() {
            pattern.marked = None;
        }
    }

    #[inline(always)]
    fn at(&mut self, key: PatternKey) -> &mut Option<Box<AccessPattern>> {
        &mut self.cached[key.address as usize][usize::from(key.full)]
    }

    /// How the addresses of an instruction lie now, in `rows`, one a warp, of which there are so
    /// many: none where they do not lie in quarters. To be given back.
    #[inline(always)]
    pub fn take<'a>(
        &mut self,
        key: PatternKey,
        size: u64,
        warps: usize,
        rows: impl Fn(usize) -> &'a [u64; LANES] + Copy,
    ) -> Option<Box<AccessPattern>> {
        let just_verified = self.just_verified.take() == Some(key.address);
        let cached = self.at(key);
        if let Some(pattern) = cached
            && (just_verified
                || pattern.warps == warps
                    && (key.reuses_earlier && pattern.matched_last || pattern.matches(rows)))
        {
            pattern.misses = 0;
            pattern.matched_last = true;
            return cached.take();
        }
        self.analyze(key, size, (0..warps).map(rows))
    }

    /// The same of addresses that do not lie as before.
    #[inline(never)]
    fn analyze<'a>(
        &mut self,
        key: PatternKey,
        size: u64,
        mut rows: impl Iterator<Item = &'a [u64; LANES]>,
    ) -> Option<Box<AccessPattern>> {
        if let Some(pattern) = self.at(key) {
            pattern.matched_last = false;
        }
        let first = rows.next()?;
        if !matches!(first[1].wrapping_sub(first[0]), step if step == 0 || step == size) {
            // Most other patterns show here.
            return None;
        }
        let mut misses = 0;
        if let Some(pattern) = self.at(key) {
            pattern.misses += 1;
            misses = pattern.misses;
            if misses > MAX_MISSES && !misses.is_multiple_of(RETRY_INTERVAL) {
                return None;
            }
        }
        let pattern = AccessPattern::from_rows(std::iter::once(first).chain(rows), size)?;
        Some(Box::new(AccessPattern { misses, ..pattern }))
    }

    /// As [`AccessPatterns::put_back`], where the same instruction takes it again before anything changes.
    #[inline(always)]
    pub fn put_back_verified(&mut self, key: PatternKey, pattern: Box<AccessPattern>) {
        self.just_verified = Some(key.address);
        self.put_back(key, pattern);
    }

    /// Addresses may have changed.
    #[inline(always)]
    pub fn invalidate_verification(&mut self) {
        self.just_verified = None;
    }

    /// Keeps what [`AccessPatterns::take`] gave.
    #[inline(always)]
    pub fn put_back(&mut self, key: PatternKey, pattern: Box<AccessPattern>) {
        *self.at(key) = Some(pattern);
    }
}
