//! `mbarrier`: barriers in shared memory for any set of threads of a block, which can also wait for
//! asynchronous copies. Source: PTX ISA, section 9.7.13.15.
//!
//! The layout of the 64-bit barrier object is opaque in PTX; here it is that of [`Phase`].

use super::access::translate_lane;
use super::bulk;
use super::state_space::SharedSpace;
use crate::check::{FaultKind, MbarrierMisuse};
use crate::exec::fault::PendingBarrier;
use crate::exec::schedule::ATOMIC_SPIN_LIMIT;
use crate::exec::sm::cluster::rank_and_offset;
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::warp::BarrierWait;
use crate::lanes::{LANES, active};

/// The effect of an instruction on a barrier, stored in `arg0`. The numbers differ from those of atomics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Arrive,
    /// Arrives and leaves the following phases.
    Drop,
    /// Expects more bytes (expect-tx).
    Expect,
    /// Bytes have been copied (complete-tx).
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
    /// Number of the first variant.
    const FIRST: u32 = 64;

    /// Returns the number stored in instructions.
    pub fn number(self) -> u32 {
        Change::FIRST + self as u32
    }
}

/// Bits of a thread count, and the maximum count.
const COUNT_BITS: u32 = 20;
const MAX_COUNT: u32 = (1 << COUNT_BITS) - 1;
/// Bits of the pending byte count (tx-count), which is signed.
const BYTES_BITS: u32 = 22;

/// The decoded state of a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Phase {
    /// True in odd phases.
    odd: bool,
    /// Number of pending arrivals.
    pending: u32,
    /// Number of arrivals expected in each phase.
    expected: u32,
    /// Number of pending bytes.
    bytes: i32,
}

impl Phase {
    fn of(word: u64) -> Phase {
        let low = |shift: u32| (word >> shift) as u32;
        Phase {
            odd: word >> 63 == 1,
            pending: low(0) & MAX_COUNT,
            expected: low(COUNT_BITS) & MAX_COUNT,
            bytes: ((low(2 * COUNT_BITS) << (32 - BYTES_BITS)) as i32) >> (32 - BYTES_BITS),
        }
    }

    /// Returns the description of a barrier at an address in this phase.
    fn at(self, address: u64) -> PendingBarrier {
        PendingBarrier {
            offset: rank_and_offset(address).1,
            pending: self.pending,
            expected: self.expected,
            bytes: self.bytes,
        }
    }

    fn word(self) -> u64 {
        u64::from(self.pending)
            | u64::from(self.expected) << COUNT_BITS
            | u64::from(self.bytes as u32 & ((1 << BYTES_BITS) - 1)) << (2 * COUNT_BITS)
            | u64::from(self.odd) << 63
    }

    /// Records the arrival of `count` threads.
    fn arrive(self, count: u32, may_complete: bool) -> Result<Phase, MbarrierMisuse> {
        let pending = self
            .pending
            .checked_sub(count)
            .ok_or(MbarrierMisuse::TooManyArrivals)?;
        let arrived = Phase { pending, ..self };
        match arrived.next() {
            next if next != arrived && !may_complete => Err(MbarrierMisuse::CompletesPhase),
            next => Ok(next),
        }
    }

    /// Returns the next phase if no arrivals or bytes are pending, otherwise this one.
    fn next(self) -> Phase {
        if self.pending == 0 && self.bytes == 0 {
            Phase {
                odd: !self.odd,
                pending: self.expected,
                ..self
            }
        } else {
            self
        }
    }

    /// Adds expected bytes, or subtracts arrived ones if `bytes` is negative.
    fn expect(self, bytes: i64) -> Result<Phase, MbarrierMisuse> {
        let limit = 1 << (BYTES_BITS - 2);
        let bytes = i64::from(self.bytes) + bytes;
        if (1 - limit..limit).contains(&bytes) {
            Ok(Phase {
                bytes: bytes as i32,
                ..self
            })
        } else {
            Err(MbarrierMisuse::TooManyBytes)
        }
    }

    fn drop(self, count: u32, may_complete: bool) -> Result<Phase, MbarrierMisuse> {
        let expected = self
            .expected
            .checked_sub(count)
            .ok_or(MbarrierMisuse::TooManyArrivals)?;
        Phase { expected, ..self }.arrive(count, may_complete)
    }

    fn apply(
        self,
        change: Change,
        count: u32,
        may_complete: bool,
    ) -> Result<Phase, MbarrierMisuse> {
        let bytes = i64::from(count);
        match change {
            Change::Arrive => self.arrive(count, may_complete),
            Change::Drop => self.drop(count, may_complete),
            Change::Expect => self.expect(bytes),
            Change::Complete => self.expect(-bytes).map(Phase::next),
            Change::ExpectAndArrive => self.expect(bytes)?.arrive(1, true),
            Change::ExpectAndDrop => self.expect(bytes)?.drop(1, true),
        }
    }
}

/// Runs `mbarrier.pending_count`: returns the pending arrivals of a state.
pub fn pending(state: u64) -> u32 {
    Phase::of(state).pending
}

/// Writes the data of bulk copies that report to the barrier at an address, and applies their bytes to the barrier.
fn complete_copies(sm: &mut Sm, address: u64, host: *mut u64) -> Result<(), MbarrierMisuse> {
    for delivery in sm.block.take_deliveries(address) {
        bulk::deliver(sm, &delivery);
        // SAFETY: the caller has found the barrier at `host`, in a block that no other host thread runs.
        unsafe {
            let phase = Phase::of(host.read());
            let bytes = delivery.data.len() as u32;
            host.write(phase.apply(Change::Complete, bytes, true)?.word());
        }
    }
    Ok(())
}

/// Applies `change` to the barrier of each lane in order. Returns the previous words, or faults. If `completes_copies` is
/// true, the bulk copies in flight that report to the barrier complete first.
///
/// # Safety
/// Operand `at` must be a 64-bit row, to which `imm` is added.
unsafe fn update_each(
    sm: &mut Sm,
    inst: &Inst,
    at: usize,
    completes_copies: bool,
    change: impl Fn(u64, usize) -> Result<u64, MbarrierMisuse>,
) -> Result<[u64; LANES], Next> {
    // SAFETY: the caller guarantees that operand `at` is a 64-bit row.
    let addresses = *unsafe { sm.row::<u64>(inst, at) };
    let mut before = [0; LANES];
    for lane in active(sm.mask) {
        let address = addresses[lane].wrapping_add(inst.imm);
        let Some(host) = translate_lane::<SharedSpace>(sm, inst, lane, address, 8, true) else {
            return Err(std::ptr::null());
        };
        let host = host.cast::<u64>();
        // SAFETY: `translate_lane` checked eight aligned bytes, of a block that no other host thread runs.
        let mut word = unsafe { host.read() };
        // The bytes of copies end a phase for which no arrival is pending.
        let only_awaits_bytes = Phase::of(word).pending == 0;
        if completes_copies || only_awaits_bytes {
            if let Err(misuse) = complete_copies(sm, address, host) {
                return Err(sm.fail(inst, lane, FaultKind::Mbarrier(misuse)));
            }
            // SAFETY: as above.
            word = unsafe { host.read() };
        }
        before[lane] = word;
        match change(word, lane) {
            // SAFETY: `translate_lane` checked eight aligned bytes, of a block that no other host thread runs.
            Ok(after) => unsafe { host.write(after) },
            Err(misuse) => return Err(sm.fail(inst, lane, FaultKind::Mbarrier(misuse))),
        }
    }
    Ok(before)
}

/// Runs `mbarrier.init`. Operands: address row, number of threads expected in each phase.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]. All handlers in this file share them.
pub unsafe fn init(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 1 is a 32-bit row, operand 0 the address row.
    let made = unsafe {
        let counts = *sm.row::<u32>(inst, 1);
        update_each(sm, inst, 0, false, |_, lane| match counts[lane] {
            count @ 1..=MAX_COUNT => Ok(Phase {
                odd: false,
                pending: count,
                expected: count,
                bytes: 0,
            }
            .word()),
            _ => Err(MbarrierMisuse::InvalidCount),
        })
    };
    made.map_or_else(|stop| stop, |_| inst.next())
}

/// Runs `mbarrier.inval`. Operand 0 is the address row. Later arrivals at the barrier are faults.
///
/// # Safety
/// As for [`init`].
pub unsafe fn invalidate(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is the address row.
    let done = unsafe { update_each(sm, inst, 0, false, |_, _| Ok(0)) };
    done.map_or_else(|stop| stop, |_| inst.next())
}

/// Runs `mbarrier.arrive` and related instructions. Operands: the state before, the address row, the number of
/// threads or bytes; `arg0` is the [`Change`], `arg1` is 1 if the instruction must not complete the phase.
///
/// # Safety
/// As for [`init`].
pub unsafe fn change(sm: &mut Sm, inst: &Inst) -> Next {
    let change = Change::ALL[(inst.arg0 - Change::FIRST) as usize];
    // SAFETY: operand 0 is a 64-bit row, 2 a 32-bit row, and 1 the address row.
    unsafe {
        let counts = *sm.row::<u32>(inst, 2);
        let apply = update_each(sm, inst, 1, false, |word, lane| {
            let phase = Phase::of(word).apply(change, counts[lane], inst.arg1 == 0)?;
            Ok(phase.word())
        });
        match apply {
            Ok(before) => sm.write(inst, 0, before),
            Err(stop) => return stop,
        }
    }
    inst.next()
}

/// Runs `mbarrier.test_wait` and `try_wait`. Predicate 0 becomes true if the phase is over whose state is
/// operand 2 or, if `arg0` is 1, whose parity is operand 2; operand 1 is the address row. If the phase is not
/// over and `arg1` is 1, the warp yields at once. If it is over, all other waiting warps see that before any
/// of them continues and can initialize the barrier again, because on a GPU they poll continuously.
///
/// # Safety
/// As for [`init`].
pub unsafe fn wait(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 1 is the address row, operand 2 a row of the width in `arg0`.
    let (words, odd) = unsafe {
        let odd = match inst.arg0 {
            1 => sm.row::<u32>(inst, 2).map(|parity| parity & 1 == 1),
            _ => sm.row::<u64>(inst, 2).map(|state| Phase::of(state).odd),
        };
        match update_each(sm, inst, 1, true, |word, _| Ok(word)) {
            Ok(words) => (words, odd),
            Err(stop) => return stop,
        }
    };
    let is_over = |&lane: &usize| Phase::of(words[lane]).odd != odd[lane];
    let over = (active(sm.mask).filter(is_over)).fold(0, |lanes, lane| lanes | 1 << lane);
    sm.counts.reads += 1;
    if over != sm.mask {
        let limit = if inst.arg1 == 1 { 1 } else { ATOMIC_SPIN_LIMIT };
        let lane = (sm.mask & !over).trailing_zeros() as usize % LANES;
        // SAFETY: operand 1 is the address row.
        let address = unsafe { sm.row::<u64>(inst, 1) }[lane].wrapping_add(inst.imm);
        sm.record_probe(inst, address, words[lane], limit);
        sm.block.warp_mut().barrier_wait = Some(BarrierWait {
            lanes: sm.mask & !over,
            barrier: Phase::of(words[lane]).at(address),
        });
        sm.yield_to_cluster();
    } else {
        sm.block.warp_mut().barrier_wait = None;
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
            (true, MAX_COUNT, MAX_COUNT, (1 << 20) - 1),
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
        let initial = Phase {
            odd: false,
            pending: 3,
            expected: 3,
            bytes: 0,
        };
        let partial = initial.apply(Change::Arrive, 2, true).unwrap();
        assert_eq!((partial.odd, partial.pending), (false, 1));
        assert_eq!(
            partial.apply(Change::Arrive, 1, false),
            Err(MbarrierMisuse::CompletesPhase)
        );
        assert_eq!(
            partial.apply(Change::Arrive, 2, true),
            Err(MbarrierMisuse::TooManyArrivals)
        );
        let complete = partial.apply(Change::Arrive, 1, true).unwrap();
        assert_eq!((complete.odd, complete.pending), (true, 3));
        let pending_bytes = partial.apply(Change::ExpectAndArrive, 64, true).unwrap();
        assert_eq!(
            (
                pending_bytes.odd,
                pending_bytes.pending,
                pending_bytes.bytes
            ),
            (false, 0, 64)
        );
        let halfway = pending_bytes.apply(Change::Complete, 16, true).unwrap();
        assert!(!halfway.odd);
        assert!(halfway.apply(Change::Complete, 48, true).unwrap().odd);
        let dropped = initial.apply(Change::Drop, 1, true).unwrap();
        assert_eq!((dropped.pending, dropped.expected), (2, 2));
        assert_eq!(
            initial.apply(Change::Expect, 1 << 20, true),
            Err(MbarrierMisuse::TooManyBytes)
        );
    }
}
