//! Atomics and reductions: `atom` and `red`. Lanes are processed in order.
//!
//! Source: PTX ISA sections 9.7.13.5 (`atom`) and 9.7.13.6 (`red`).

use super::access::translate_lane;
use super::state_space::SpaceAccess;
use crate::exec::ops::half::{self, HalfOperation};
use crate::exec::ops::rounding::{canonical, flush, pass_nan};
use crate::exec::schedule::ATOMIC_SPIN_LIMIT;
use crate::exec::sm::{Handler, Inst, Next, Sm};
use crate::lanes::{LANES, active};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

/// The operation of an atomic.
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
    /// Addition of one `.f16`, or of two in a register.
    AddHalf,
    /// Addition of one `.bf16`, or of two in a register.
    AddBrain,
    /// The minimum of one `.f16`, or of two in a register; likewise the next three.
    MinHalf,
    MaxHalf,
    MinBrain,
    MaxBrain,
}

impl Atomic {
    /// Returns true if the final value in memory depends on the order of the atomics.
    pub fn is_order_dependent(self) -> bool {
        use Atomic::*;
        matches!(
            self,
            Exchange | CompareAndSwap | Increment | Decrement | AddFloat | AddHalf | AddBrain
        )
    }

    /// Returns true for a minimum or a maximum.
    pub fn is_extremum(self) -> bool {
        use Atomic::*;
        matches!(
            self,
            MinUnsigned
                | MaxUnsigned
                | MinSigned
                | MaxSigned
                | MinHalf
                | MaxHalf
                | MinBrain
                | MaxBrain
        )
    }

    /// Returns the operation of an instruction.
    pub fn of(inst: &Inst) -> Atomic {
        Atomic::from_code(inst.arg0)
    }

    /// Returns the operation with a number, as stored in instructions; [`Atomic::Add`] for invalid numbers.
    pub fn from_code(number: u32) -> Atomic {
        Atomic::ALL
            .get(number as usize)
            .copied()
            .unwrap_or(Atomic::Add)
    }

    /// Returns true if PTX has a form that does not return the old value (`red`).
    pub fn has_reduction(self) -> bool {
        use Atomic::*;
        !matches!(self, Exchange | CompareAndSwap | Increment | Decrement)
    }

    /// Returns the function of an atomic on 16-bit floats, and true for `.bf16`.
    fn on_halves(self) -> (HalfOperation, bool) {
        match self {
            Atomic::MinHalf => (HalfOperation::Min, false),
            Atomic::MaxHalf => (HalfOperation::Max, false),
            Atomic::MinBrain => (HalfOperation::Min, true),
            Atomic::MaxBrain => (HalfOperation::Max, true),
            _ => (HalfOperation::Add, self == Atomic::AddBrain),
        }
    }

    const ALL: [Atomic; 19] = [
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
        Atomic::AddHalf,
        Atomic::AddBrain,
        Atomic::MinHalf,
        Atomic::MaxHalf,
        Atomic::MinBrain,
        Atomic::MaxBrain,
    ];
}

// NaN results are those of an NVIDIA H200.

/// Adds `f32`. In device memory, subnormal numbers are flushed to zero (PTX ISA, 9.7.13.5).
fn add_single(old: u32, b: u32, in_device: bool) -> u32 {
    let [a, b] = [old, b].map(f32::from_bits);
    let sum = if in_device {
        flush(flush(a) + flush(b))
    } else {
        a + b
    };
    canonical(sum).to_bits()
}

/// Adds `f64`. Atomics on device memory propagate a NaN unchanged, that of `b` first; atomics on shared memory,
/// executed by the SM, propagate that of `old` first, made quiet.
fn add_double(old: u64, b: u64, in_device: bool) -> u64 {
    let [a, x] = [old, b].map(f64::from_bits);
    match (a.is_nan(), x.is_nan()) {
        (_, true) if in_device => b,
        (true, _) if in_device => old,
        _ => pass_nan([a, x], a + x).to_bits(),
    }
}

/// Placeholder for 16-bit floats, whose additions are [`Atomic::AddHalf`] and [`Atomic::AddBrain`].
fn add_none(old: u16, _: u16, _: bool) -> u16 {
    old
}

/// Defines `$name`, which returns the handler for one width: values of `$bits` in rows of `$row`, `$signed`
/// as the signed type, `$add` for the addition of floats.
macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident, $bits:ident, $row:ident, $signed:ident, $add:ident, $host:ident) => {
        $(#[$doc])*
        pub fn $name<S: SpaceAccess + 'static>() -> Handler {
            fn apply(operation: Atomic, old: $bits, b: $bits, c: $bits, in_device: bool) -> $bits {
                match operation {
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
                    Atomic::MinSigned => (old as $signed).min(b as $signed) as $bits,
                    Atomic::MaxSigned => (old as $signed).max(b as $signed) as $bits,
                    Atomic::AddFloat => $add(old, b, in_device),
                    Atomic::AddHalf
                    | Atomic::AddBrain
                    | Atomic::MinHalf
                    | Atomic::MaxHalf
                    | Atomic::MinBrain
                    | Atomic::MaxBrain => {
                        let (function, bfloat) = operation.on_halves();
                        half::apply_all(function, u64::from(old), u64::from(b), bfloat) as $bits
                    }
                }
            }
            unsafe fn run<S: SpaceAccess>(sm: &mut Sm, inst: &Inst) -> Next {
                let operation = Atomic::of(inst);
                // SAFETY: operand 1 is a 64-bit row; 0, 2 and 3 are rows of this width.
                let (addresses, b, c) = unsafe {
                    (sm.row::<u64>(inst, 1), sm.row::<$row>(inst, 2), sm.row::<$row>(inst, 3))
                };
                let mut result: [$row; LANES] = [0; LANES];
                let mut changed = false;
                for lane in active(sm.mask) {
                    let address = addresses[lane].wrapping_add(inst.imm);
                    let bytes = size_of::<$bits>() as u64;
                    let Some(host) = translate_lane::<S>(sm, inst, lane, address, bytes, true)
                    else {
                        return std::ptr::null();
                    };
                    let host = host.cast::<$bits>();
                    // SAFETY: `translate_lane` checked bounds and alignment, and host allocations are
                    // aligned.
                    let word = unsafe { $host::from_ptr(host) };
                    let in_device = S::in_device(address);
                    result[lane] = word
                        .fetch_update(SeqCst, SeqCst, |old| {
                            let (b, c) = (b[lane] as $bits, c[lane] as $bits);
                            let new = apply(operation, old, b, c, in_device);
                            changed |= new != old;
                            Some(new)
                        })
                        .unwrap_or_else(|old| old)
                        .into();
                }
                if !changed {
                    let lane = sm.mask.trailing_zeros() as usize % LANES;
                    let address = addresses[lane].wrapping_add(inst.imm);
                    sm.record_probe(inst, address, result[lane].into(), ATOMIC_SPIN_LIMIT);
                } else {
                    sm.waiting.atomic_changed_memory = true;
                }
                sm.counts.atomics += 1;
                sm.counts.reads += 1;
                // SAFETY: operand 0 is a row of this width.
                unsafe { sm.write(inst, 0, result) };
                inst.next()
            }
            run::<S>
        }
    };
}

atomic!(
    /// Returns the handler of 32-bit atomics. Operands: old value (or a sink), address, b, c; `arg0` is the
    /// [`Atomic`], `imm` is added to the address.
    atomic32, u32, u32, i32, add_single, AtomicU32);
atomic!(
    /// Returns the handler of 16-bit atomics, with operands as for [`atomic32`].
    atomic16, u16, u32, i16, add_none, AtomicU16);
atomic!(
    /// Returns the handler of 64-bit atomics, with operands as for [`atomic32`].
    atomic64, u64, u64, i64, add_double, AtomicU64);
