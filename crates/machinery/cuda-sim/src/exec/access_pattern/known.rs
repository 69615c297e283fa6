//! What is remembered of how each instruction's addresses lie.

use super::Spread;
use crate::lanes::LANES;

/// How often in a row the addresses of an access may lie otherwise; after that they are looked at only
/// now and then.
const PATIENCE: u32 = 8;
/// They are looked at one time in this many, then.
const NOW_AND_THEN: u32 = 64;

/// What is remembered of the instructions of a program.
#[derive(Default)]
pub struct Spreads {
    /// By the instruction's address: one for gangs of full size, and one for smaller gangs.
    known: Vec<[Option<Box<Spread>>; 2]>,
    /// The address of the instruction whose addresses were compared just now, and need not be again.
    proven: Option<u32>,
}

/// What a [`Spread`] is remembered by.
#[derive(Clone, Copy)]
pub struct SpreadKey {
    /// The instruction's address in the code; or, if an earlier one of its basic block had the same lanes'
    /// addresses but for a constant, that one's.
    pub place: u32,
    /// The gang has its full size.
    pub full: bool,
    /// `place` is an earlier instruction's.
    pub follows: bool,
}

impl Spreads {
    /// Nothing yet, of a program of so many instructions.
    pub fn new(instructions: usize) -> Spreads {
        Spreads {
            known: std::iter::repeat_with(|| [None, None])
                .take(instructions)
                .collect(),
            proven: None,
        }
    }

    /// Another launch begins, in which nothing is marked as touched yet.
    pub fn begin(&mut self) {
        self.proven = None;
        for spread in self.known.iter_mut().flatten().flatten() {
            spread.marked = None;
        }
    }

    #[inline(always)]
    fn at(&mut self, key: SpreadKey) -> &mut Option<Box<Spread>> {
        &mut self.known[key.place as usize][usize::from(key.full)]
    }

    /// How the addresses of an instruction lie now, in `rows`, one a warp, of which there are so
    /// many: none where they do not lie in quarters. To be given back.
    #[inline(always)]
    pub fn take<'a>(
        &mut self,
        key: SpreadKey,
        size: u64,
        warps: usize,
        rows: impl Fn(usize) -> &'a [u64; LANES] + Copy,
    ) -> Option<Box<Spread>> {
        let proven = self.proven.take() == Some(key.place);
        let known = self.at(key);
        if let Some(spread) = known
            && (proven
                || spread.warps == warps && (key.follows && spread.holds || spread.fits(rows)))
        {
            spread.misses = 0;
            spread.holds = true;
            return known.take();
        }
        self.look(key, size, (0..warps).map(rows))
    }

    /// The same of addresses that do not lie as before.
    #[inline(never)]
    fn look<'a>(
        &mut self,
        key: SpreadKey,
        size: u64,
        mut rows: impl Iterator<Item = &'a [u64; LANES]>,
    ) -> Option<Box<Spread>> {
        if let Some(spread) = self.at(key) {
            spread.holds = false;
        }
        let first = rows.next()?;
        if !matches!(first[1].wrapping_sub(first[0]), step if step == 0 || step == size) {
            // Most other patterns show here.
            return None;
        }
        let mut misses = 0;
        if let Some(spread) = self.at(key) {
            spread.misses += 1;
            misses = spread.misses;
            if misses > PATIENCE && !misses.is_multiple_of(NOW_AND_THEN) {
                return None;
            }
        }
        let spread = Spread::of(std::iter::once(first).chain(rows), size)?;
        Some(Box::new(Spread { misses, ..spread }))
    }

    /// As [`Spreads::keep`], where the same instruction takes it again before anything changes.
    #[inline(always)]
    pub fn keep_proven(&mut self, key: SpreadKey, spread: Box<Spread>) {
        self.proven = Some(key.place);
        self.keep(key, spread);
    }

    /// Addresses may have changed.
    #[inline(always)]
    pub fn prove_nothing(&mut self) {
        self.proven = None;
    }

    /// Keeps what [`Spreads::take`] gave.
    #[inline(always)]
    pub fn keep(&mut self, key: SpreadKey, spread: Box<Spread>) {
        *self.at(key) = Some(spread);
    }
}
