//! `mbarrier`: barriers that lie in shared memory, for any threads of a block and for what they wait for
//! beside each other. Source: PTX ISA, section 9.7.13.15.
//!
//! A barrier is 64 bits whose meaning is the hardware's own; here they are [`Phase`]'s.

use super::access::translate;
use super::fault::FaultKind;
use super::sm::{Inst, Next, Sm};
use super::spin::ATOMIC_SPIN_LIMIT;
use super::state_space::SharedSpace;
use crate::lanes::{LANES, active};

/// What an instruction does to a barrier: its `x`. The numbers are none of an atomic's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Arrive,
    /// Arrives, and no longer belongs to the phases to come.
    Drop,
    /// More bytes are expected.
    Expect,
    /// Bytes have come.
    Complete,
    ExpectAndArrive,
    ExpectAndDrop,
}

impl Change {
    const ALL: [Change; 6] = [
        Change::Arrive,
        Change::Drop,
        Change::Expect,
        Change::Complete,
        Change::ExpectAndArrive,
        Change::ExpectAndDrop,
    ];
    /// The number of the first.
    const FIRST: u32 = 64;

    /// As an instruction has it.
    pub fn number(self) -> u32 {
        Change::FIRST + self as u32
    }
}

/// Bits of a count of threads, and the most that one may be.
const COUNT_BITS: u32 = 20;
const MOST: u32 = (1 << COUNT_BITS) - 1;
/// Bits of the bytes that are still to come, a number with a sign.
const BYTES_BITS: u32 = 22;

/// A barrier's word, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Phase {
    /// Whether it is an odd one.
    odd: bool,
    /// Arrivals it waits for yet.
    pending: u32,
    /// Arrivals each phase waits for.
    expected: u32,
    /// Bytes it waits for yet.
    bytes: i32,
}

const TOO_MANY: &str =
    "more threads arrive than its phase waits for: is it initialised, with their number?";
const COMPLETES: &str = "an arrival that may not complete the phase (noComplete) completes it";
const TOO_MUCH: &str = "more bytes are to come than it can count";
const NO_COUNT: &str = "it is to wait for no thread, or for more than 1048575";

impl Phase {
    fn of(word: u64) -> Phase {
        let low = |shift: u32| (word >> shift) as u32;
        Phase {
            odd: word >> 63 == 1,
            pending: low(0) & MOST,
            expected: low(COUNT_BITS) & MOST,
            bytes: ((low(2 * COUNT_BITS) << (32 - BYTES_BITS)) as i32) >> (32 - BYTES_BITS),
        }
    }

    fn word(self) -> u64 {
        u64::from(self.pending)
            | u64::from(self.expected) << COUNT_BITS
            | u64::from(self.bytes as u32 & ((1 << BYTES_BITS) - 1)) << (2 * COUNT_BITS)
            | u64::from(self.odd) << 63
    }

    /// So many threads arrive.
    fn arrive(self, count: u32, may_complete: bool) -> Result<Phase, &'static str> {
        let pending = self.pending.checked_sub(count).ok_or(TOO_MANY)?;
        let arrived = Phase { pending, ..self };
        match arrived.next() {
            next if next != arrived && !may_complete => Err(COMPLETES),
            next => Ok(next),
        }
    }

    /// The next phase, if nobody and nothing is waited for any more.
    fn next(self) -> Phase {
        match self.pending == 0 && self.bytes == 0 {
            true => Phase {
                odd: !self.odd,
                pending: self.expected,
                ..self
            },
            false => self,
        }
    }

    /// Bytes are expected, or have come where there are fewer than none.
    fn expect(self, bytes: i64) -> Result<Phase, &'static str> {
        let most = 1 << (BYTES_BITS - 2);
        let bytes = i64::from(self.bytes) + bytes;
        match (1 - most..most).contains(&bytes) {
            true => Ok(Phase {
                bytes: bytes as i32,
                ..self
            }),
            false => Err(TOO_MUCH),
        }
    }

    fn drop(self, count: u32, may_complete: bool) -> Result<Phase, &'static str> {
        let expected = self.expected.checked_sub(count).ok_or(TOO_MANY)?;
        Phase { expected, ..self }.arrive(count, may_complete)
    }

    fn changed(self, how: Change, count: u32, may_complete: bool) -> Result<Phase, &'static str> {
        let bytes = i64::from(count);
        match how {
            Change::Arrive => self.arrive(count, may_complete),
            Change::Drop => self.drop(count, may_complete),
            Change::Expect => self.expect(bytes),
            Change::Complete => self.expect(-bytes).map(Phase::next),
            Change::ExpectAndArrive => self.expect(bytes)?.arrive(1, true),
            Change::ExpectAndDrop => self.expect(bytes)?.drop(1, true),
        }
    }
}

/// How many arrivals the phase waited for whose state this is: `mbarrier.pending_count`.
pub fn pending(state: u64) -> u32 {
    Phase::of(state).pending
}

/// Does something to the barrier of each lane in turn: its words before, or why one cannot be.
///
/// # Safety
/// Operand `at` is a 64-bit row, to which `imm` is added.
unsafe fn each(
    sm: &mut Sm,
    inst: &Inst,
    at: usize,
    change: impl Fn(u64, usize) -> Result<u64, &'static str>,
) -> Result<[u64; LANES], Next> {
    // SAFETY: the caller's promise.
    let addresses = *unsafe { sm.row::<u64>(inst, at) };
    let mut before = [0; LANES];
    for lane in active(sm.mask) {
        let address = addresses[lane].wrapping_add(inst.imm);
        let place = match translate::<SharedSpace>(sm, lane, address, 8, 8, true) {
            Ok(place) => place.cast::<u64>(),
            Err(kind) => return Err(sm.fail(inst, lane, kind)),
        };
        // SAFETY: `translate` found eight aligned bytes, of a block that no other host thread runs.
        let word = unsafe { place.read() };
        before[lane] = word;
        match change(word, lane) {
            // SAFETY: likewise.
            Ok(after) => unsafe { place.write(after) },
            Err(why) => return Err(sm.fail(inst, lane, FaultKind::Mbarrier(why))),
        }
    }
    Ok(before)
}

/// `mbarrier.init`: operand 0 the address row, operand 1 how many threads each phase waits for.
///
/// # Safety
/// As for [`crate::exec::sm::Handler`]; so for every handler here.
pub unsafe fn init(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 1 is a 32-bit row, operand 0 the addresses'.
    let made = unsafe {
        let counts = *sm.row::<u32>(inst, 1);
        each(sm, inst, 0, |_, lane| match counts[lane] {
            count @ 1..=MOST => Ok(Phase {
                odd: false,
                pending: count,
                expected: count,
                bytes: 0,
            }
            .word()),
            _ => Err(NO_COUNT),
        })
    };
    made.map_or_else(|stop| stop, |_| inst.next())
}

/// `mbarrier.inval`: operand 0 the address row. Who arrives afterwards finds nothing.
///
/// # Safety
/// As for [`init`].
pub unsafe fn invalidate(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is the addresses'.
    let done = unsafe { each(sm, inst, 0, |_, _| Ok(0)) };
    done.map_or_else(|stop| stop, |_| inst.next())
}

/// `mbarrier.arrive` and its kind: operand 0 the state before, 1 the address row, 2 how many threads or
/// bytes; `x` the [`Change`], `y` 1 where a phase may not be completed by it.
///
/// # Safety
/// As for [`init`].
pub unsafe fn change(sm: &mut Sm, inst: &Inst) -> Next {
    let how = Change::ALL[(inst.arg0 - Change::FIRST) as usize];
    // SAFETY: operand 0 is a 64-bit row, 2 a 32-bit one, and 1 the addresses'.
    unsafe {
        let counts = *sm.row::<u32>(inst, 2);
        let changed = each(sm, inst, 1, |word, lane| {
            let phase = Phase::of(word).changed(how, counts[lane], inst.arg1 == 0)?;
            Ok(phase.word())
        });
        match changed {
            Ok(before) => sm.write(inst, 0, before),
            Err(stop) => return stop,
        }
    }
    inst.next()
}

/// `mbarrier.test_wait` and `try_wait`: predicate 0, whether the phase is over that operand 2 is the state
/// of, or, with `x` 1, the last one whose parity is operand 2; operand 1 the address row. `y` 1 gives way
/// at once where it is not. Where it is, all others that ask see it too before any of them goes on, and may
/// make the barrier anew: on a GPU they ask all the while.
///
/// # Safety
/// As for [`init`].
pub unsafe fn wait(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 1 is the addresses', operand 2 a row of the width that `x` says.
    let (words, odd) = unsafe {
        let odd = match inst.arg0 {
            1 => sm.row::<u32>(inst, 2).map(|parity| parity & 1 == 1),
            _ => sm.row::<u64>(inst, 2).map(|state| Phase::of(state).odd),
        };
        match each(sm, inst, 1, |word, _| Ok(word)) {
            Ok(words) => (words, odd),
            Err(stop) => return stop,
        }
    };
    let over = active(sm.mask).filter(|&lane| Phase::of(words[lane]).odd != odd[lane]);
    let over = over.fold(0, |lanes, lane| lanes | 1 << lane);
    sm.counts.reads += 1;
    if over != sm.mask {
        let patience = if inst.arg1 == 1 { 1 } else { ATOMIC_SPIN_LIMIT };
        let lane = sm.mask.trailing_zeros() as usize % LANES;
        // SAFETY: as above.
        let address = unsafe { sm.row::<u64>(inst, 1) }[lane].wrapping_add(inst.imm);
        sm.record_probe(inst, address, words[lane], patience);
    } else {
        sm.end_turn();
    }
    // SAFETY: operand 0 is a predicate.
    unsafe { sm.set_predicate(inst, 0, over) };
    inst.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_all_of_a_phase() {
        for (odd, pending, expected, bytes) in [
            (false, 1, 1, 0),
            (true, MOST, MOST, (1 << 20) - 1),
            (false, 3, 70_000, 1 - (1 << 20)),
            (true, 0, 5, -1),
        ] {
            let phase = Phase {
                odd,
                pending,
                expected,
                bytes,
            };
            assert_eq!(Phase::of(phase.word()), phase);
        }
    }

    #[test]
    fn a_phase_ends_when_all_have_arrived_and_all_bytes_have_come() {
        let begun = Phase {
            odd: false,
            pending: 3,
            expected: 3,
            bytes: 0,
        };
        let one = begun.changed(Change::Arrive, 2, true).unwrap();
        assert_eq!((one.odd, one.pending), (false, 1));
        assert_eq!(one.changed(Change::Arrive, 1, false), Err(COMPLETES));
        assert_eq!(one.changed(Change::Arrive, 2, true), Err(TOO_MANY));
        let all = one.changed(Change::Arrive, 1, true).unwrap();
        assert_eq!((all.odd, all.pending), (true, 3));
        let waits = one.changed(Change::ExpectAndArrive, 64, true).unwrap();
        assert_eq!((waits.odd, waits.pending, waits.bytes), (false, 0, 64));
        let some = waits.changed(Change::Complete, 16, true).unwrap();
        assert!(!some.odd);
        assert!(some.changed(Change::Complete, 48, true).unwrap().odd);
        let less = begun.changed(Change::Drop, 1, true).unwrap();
        assert_eq!((less.pending, less.expected), (2, 2));
        assert_eq!(begun.changed(Change::Expect, 1 << 20, true), Err(TOO_MUCH));
    }
}
