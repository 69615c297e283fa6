//! Reductions of bulk copies, `red.async`: their arithmetic, in shared and in device memory. Source: PTX ISA, sections
//! `cp.reduce.async.bulk` and `red.async`.

use crate::exec::ops::half::{self, HalfOperation};
use crate::exec::ops::rounding::{canonical, pass_nan};
use crate::exec::sm::bulk::{Operand, Operation, Reduction};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

/// Returns `operation` of two values of an integer type.
macro_rules! integer {
    ($ty:ty, $operation:expr, $old:expr, $new:expr) => {{
        let (old, new) = ($old as $ty, $new as $ty);
        let result = match $operation {
            Operation::Add => old.wrapping_add(new),
            Operation::Min => old.min(new),
            Operation::Max => old.max(new),
            Operation::Increment if old >= new => 0,
            Operation::Increment => old + 1,
            Operation::Decrement if old == 0 || old > new => new,
            Operation::Decrement => old - 1,
            Operation::And => old & new,
            Operation::Or => old | new,
            Operation::Xor => old ^ new,
        };
        result as u64
    }};
}

/// Returns the minimum or maximum of two 16-bit floats. A NaN is the result only of two.
fn half_extremum(reduction: Reduction, old: u16, new: u16) -> u16 {
    let widen = |bits: u16| match reduction.operand {
        Operand::BF16 => half::bf16(bits.into()),
        _ => half::f16(bits.into()),
    };
    let [a, b] = [old, new].map(widen);
    if a.is_nan() && b.is_nan() {
        return 0x7fff;
    }
    let is_less = a < b || a == b && a.is_sign_negative();
    let takes_old = b.is_nan() || !a.is_nan() && is_less == (reduction.operation == Operation::Min);
    if takes_old { old } else { new }
}

impl Reduction {
    /// Returns the result for the bits of an element of the destination and of one of the source.
    pub fn apply(self, old: u64, new: u64) -> u64 {
        let operation = self.operation;
        match self.operand {
            Operand::U32 => integer!(u32, operation, old, new),
            Operand::S32 => integer!(i32, operation, old, new) & u64::from(u32::MAX),
            Operand::U64 => integer!(u64, operation, old, new),
            Operand::S64 => integer!(i64, operation, old, new),
            Operand::F16 | Operand::BF16 if operation == Operation::Add => {
                half::apply_all(HalfOperation::Add, old, new, self.operand == Operand::BF16)
                    & 0xffff
            }
            Operand::F16 | Operand::BF16 => half_extremum(self, old as u16, new as u16).into(),
            Operand::F32 => {
                let [a, b] = [old, new].map(|bits| f32::from_bits(bits as u32));
                canonical(a + b).to_bits().into()
            }
            Operand::F64 => {
                let [a, b] = [old, new].map(f64::from_bits);
                pass_nan([a, b], a + b).to_bits()
            }
        }
    }

    /// Applies the reduction to the elements at `to`, each atomically, as other threads may access them.
    ///
    /// # Safety
    /// `to` must point to as many valid bytes as `data` has, whole elements, and be aligned to an element.
    pub unsafe fn apply_all(self, to: *mut u8, data: &[u8]) {
        let bytes = self.bytes() as usize;
        for (index, new) in data.chunks_exact(bytes).enumerate() {
            let mut word = [0; 8];
            word[..bytes].copy_from_slice(new);
            let new = u64::from_le_bytes(word);
            // SAFETY: the caller guarantees aligned elements.
            unsafe {
                let at = to.add(index * bytes);
                match bytes {
                    2 => {
                        let element = AtomicU16::from_ptr(at.cast());
                        let update = |old: u16| Some(self.apply(old.into(), new) as u16);
                        let _ = element.fetch_update(SeqCst, SeqCst, update);
                    }
                    4 => {
                        let element = AtomicU32::from_ptr(at.cast());
                        let update = |old: u32| Some(self.apply(old.into(), new) as u32);
                        let _ = element.fetch_update(SeqCst, SeqCst, update);
                    }
                    _ => {
                        let element = AtomicU64::from_ptr(at.cast());
                        let update = |old| Some(self.apply(old, new));
                        let _ = element.fetch_update(SeqCst, SeqCst, update);
                    }
                }
            }
        }
    }

    /// Returns true if the result depends on the order of several reductions.
    pub fn is_order_dependent(self) -> bool {
        let is_float = !matches!(
            self.operand,
            Operand::U32 | Operand::S32 | Operand::U64 | Operand::S64
        );
        is_float && self.operation == Operation::Add
            || matches!(self.operation, Operation::Increment | Operation::Decrement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_follow_the_type_of_their_elements() {
        use {Operand::*, Operation::*};
        let one_half = [0x3c00, 0x3800];
        for (operation, operand, [old, new], expected) in [
            (Add, U32, [u32::MAX.into(), 2], 1),
            (Add, S64, [u64::MAX, 2], 1),
            (Min, S32, [1, 0xffff_ffff], 0xffff_ffff),
            (Min, U32, [1, 0xffff_ffff], 1),
            (Max, U64, [1, u64::MAX], u64::MAX),
            (Increment, U32, [5, 5], 0),
            (Increment, U32, [4, 5], 5),
            (Decrement, U32, [0, 5], 5),
            (Decrement, U32, [3, 5], 2),
            (And, U32, [12, 10], 8),
            (Or, U64, [12, 10], 14),
            (Xor, U32, [12, 10], 6),
            (Add, F16, one_half, 0x3e00),
            (Max, F16, one_half, 0x3c00),
            (Min, F16, [0x7e00, 0x3800], 0x3800),
            (Min, BF16, [0x8000, 0], 0x8000),
            (Max, BF16, [0x8000, 0], 0),
            (Add, F32, [1, 1], 2),
            (
                Add,
                F32,
                [1.5f32.to_bits().into(), 2f32.to_bits().into()],
                3.5f32.to_bits().into(),
            ),
            (
                Add,
                F64,
                [1.5f64.to_bits(), 2f64.to_bits()],
                3.5f64.to_bits(),
            ),
        ] {
            let reduction = Reduction { operation, operand };
            assert_eq!(reduction.apply(old, new), expected, "{reduction:?}");
        }
    }
}
