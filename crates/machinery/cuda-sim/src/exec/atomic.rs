//! Atomics and reductions: `atom` and `red`. Lanes take their turns in order.
//!
//! Source: PTX ISA sections 9.7.13.5 (`atom`) and 9.7.13.6 (`red`).

use super::access::reach_atomic;
use super::lanes::{LANES, active};
use super::sm::Sm;
use super::space::Space;
use crate::program::code::{Handler, Inst, Next};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

/// What an atomic does to the value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    /// `old >= b ? 0 : old + 1`
    Increment,
    /// `old == 0 || old > b ? b : old - 1`
    Decrement,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    AddFloat,
}

impl Atomic {
    /// Whether the value left in memory depends on who comes first.
    pub fn order_shows(self) -> bool {
        use Atomic::*;
        matches!(self, Exchange | CompareAndSwap | Increment | Decrement | AddFloat)
    }

    fn apply32(self, old: u32, b: u32, c: u32) -> u32 {
        match self {
            Atomic::Add => old.wrapping_add(b),
            Atomic::And => old & b,
            Atomic::Or => old | b,
            Atomic::Xor => old ^ b,
            Atomic::Exchange => b,
            Atomic::CompareAndSwap => if old == b { c } else { old },
            Atomic::Increment => if old >= b { 0 } else { old + 1 },
            Atomic::Decrement => if old == 0 || old > b { b } else { old - 1 },
            Atomic::MinUnsigned => old.min(b),
            Atomic::MaxUnsigned => old.max(b),
            Atomic::MinSigned => (old as i32).min(b as i32) as u32,
            Atomic::MaxSigned => (old as i32).max(b as i32) as u32,
            Atomic::AddFloat => (f32::from_bits(old) + f32::from_bits(b)).to_bits(),
        }
    }

    fn apply64(self, old: u64, b: u64, c: u64) -> u64 {
        match self {
            Atomic::Add => old.wrapping_add(b),
            Atomic::And => old & b,
            Atomic::Or => old | b,
            Atomic::Xor => old ^ b,
            Atomic::Exchange => b,
            Atomic::CompareAndSwap => if old == b { c } else { old },
            Atomic::Increment => if old >= b { 0 } else { old + 1 },
            Atomic::Decrement => if old == 0 || old > b { b } else { old - 1 },
            Atomic::MinUnsigned => old.min(b),
            Atomic::MaxUnsigned => old.max(b),
            Atomic::MinSigned => (old as i64).min(b as i64) as u64,
            Atomic::MaxSigned => (old as i64).max(b as i64) as u64,
            Atomic::AddFloat => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        }
    }

    const ALL: [Atomic; 13] = [
        Atomic::Add,
        Atomic::And,
        Atomic::Or,
        Atomic::Xor,
        Atomic::Exchange,
        Atomic::CompareAndSwap,
        Atomic::Increment,
        Atomic::Decrement,
        Atomic::MinUnsigned,
        Atomic::MaxUnsigned,
        Atomic::MinSigned,
        Atomic::MaxSigned,
        Atomic::AddFloat,
    ];
}

/// A 32-bit atomic: operands old value (or a sink), address, b, c; `x` the [`Atomic`], `imm` is
/// added to the address.
pub fn atomic32<S: Space + 'static>() -> Handler {
    unsafe fn run<S: Space>(sm: &mut Sm, inst: &Inst) -> Next {
        let operation = Atomic::ALL[inst.x as usize];
        // SAFETY: operand 1 is a 64-bit row; 0, 2 and 3 are 32-bit rows.
        let (addresses, b, c) = unsafe {
            (sm.row::<u64>(inst, 1), sm.row::<u32>(inst, 2), sm.row::<u32>(inst, 3))
        };
        let mut result = [0; LANES];
        for lane in active(sm.mask) {
            let address = addresses[lane].wrapping_add(inst.imm);
            let host = match reach_atomic::<S>(sm, inst, lane, address, 4) {
                Ok(host) => host.cast::<u32>(),
                Err(stop) => return stop,
            };
            // SAFETY: in bounds and aligned: both were checked, and allocations are aligned.
            let place = unsafe { AtomicU32::from_ptr(host) };
            result[lane] = place
                .fetch_update(SeqCst, SeqCst, |old| {
                    Some(operation.apply32(old, b[lane], c[lane]))
                })
                .unwrap_or_else(|old| old);
        }
        sm.counts.atomics += 1;
        // SAFETY: operand 0 is a 32-bit row.
        unsafe { sm.write(inst, 0, result) };
        inst.next()
    }
    run::<S>
}

/// A 64-bit atomic, as [`atomic32`].
pub fn atomic64<S: Space + 'static>() -> Handler {
    unsafe fn run<S: Space>(sm: &mut Sm, inst: &Inst) -> Next {
        let operation = Atomic::ALL[inst.x as usize];
        // SAFETY: all operands are 64-bit rows.
        let (addresses, b, c) = unsafe {
            (sm.row::<u64>(inst, 1), sm.row::<u64>(inst, 2), sm.row::<u64>(inst, 3))
        };
        let mut result = [0; LANES];
        for lane in active(sm.mask) {
            let address = addresses[lane].wrapping_add(inst.imm);
            let host = match reach_atomic::<S>(sm, inst, lane, address, 8) {
                Ok(host) => host.cast::<u64>(),
                Err(stop) => return stop,
            };
            // SAFETY: in bounds and aligned: both were checked, and allocations are aligned.
            let place = unsafe { AtomicU64::from_ptr(host) };
            result[lane] = place
                .fetch_update(SeqCst, SeqCst, |old| {
                    Some(operation.apply64(old, b[lane], c[lane]))
                })
                .unwrap_or_else(|old| old);
        }
        sm.counts.atomics += 1;
        // SAFETY: operand 0 is a 64-bit row.
        unsafe { sm.write(inst, 0, result) };
        inst.next()
    }
    run::<S>
}
