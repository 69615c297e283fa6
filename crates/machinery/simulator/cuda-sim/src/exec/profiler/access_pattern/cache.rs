//! Cache of the access patterns of a program's instructions.

use super::AccessPattern;
use crate::lanes::LANES;

/// Number of mismatches in a row after which an access is analyzed only now and then.
const MAX_MISSES: u32 = 8;
/// Interval, in executions, of these later analyses.
const RETRY_INTERVAL: u32 = 64;

/// The cached access patterns of a program's instructions.
#[derive(Default)]
pub struct AccessPatterns {
    /// For each instruction address, the pattern of full gangs and the pattern of smaller gangs.
    cached: Vec<[Option<Box<AccessPattern>>; 2]>,
    /// Address of the instruction whose addresses were just compared, so the next lookup can skip that.
    just_verified: Option<u32>,
}

/// The cache key of an [`AccessPattern`].
#[derive(Clone, Copy)]
pub struct PatternKey {
    /// Address of the instruction, or of an earlier one in its basic block that accesses the same addresses
    /// plus a constant.
    pub address: u32,
    /// True if the gang has its maximum size.
    pub full: bool,
    /// True if `address` is an earlier instruction's.
    pub reuses_earlier: bool,
}

impl AccessPatterns {
    /// Creates an empty cache for a program of `instructions` instructions.
    pub fn new(instructions: usize) -> AccessPatterns {
        AccessPatterns {
            cached: std::iter::repeat_with(|| [None, None])
                .take(instructions)
                .collect(),
            just_verified: None,
        }
    }

    /// Prepares for another launch, in which no memory is marked as touched yet.
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

    /// Returns the pattern of an instruction's addresses, given as one row per warp, or `None` if some
    /// quarter warp is neither uniform nor contiguous. The pattern must be put back.
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

    /// Analyzes addresses that do not match the cached pattern.
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
            // This test rejects most other patterns early.
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

    /// Puts a pattern back that the same instruction takes again before any address changes.
    #[inline(always)]
    pub fn put_back_verified(&mut self, key: PatternKey, pattern: Box<AccessPattern>) {
        self.just_verified = Some(key.address);
        self.put_back(key, pattern);
    }

    /// Discards the knowledge that the addresses match, because they may have changed.
    #[inline(always)]
    pub fn invalidate_verification(&mut self) {
        self.just_verified = None;
    }

    /// Puts back a pattern returned by [`AccessPatterns::take`].
    #[inline(always)]
    pub fn put_back(&mut self, key: PatternKey, pattern: Box<AccessPattern>) {
        *self.at(key) = Some(pattern);
    }
}
