//! SIMD video instructions: `vadd4`, `vabsdiff2` and others, which treat a register as four bytes or two halves.
//! Source: PTX ISA, section "SIMD Video Instructions".

use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};

/// The operation on each pair of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VideoOperation {
    Add,
    Sub,
    Average,
    AbsDiff,
    Min,
    Max,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl VideoOperation {
    const ALL: [VideoOperation; 12] = [
        VideoOperation::Add,
        VideoOperation::Sub,
        VideoOperation::Average,
        VideoOperation::AbsDiff,
        VideoOperation::Min,
        VideoOperation::Max,
        VideoOperation::Equal,
        VideoOperation::NotEqual,
        VideoOperation::Less,
        VideoOperation::LessEqual,
        VideoOperation::Greater,
        VideoOperation::GreaterEqual,
    ];

    /// Returns the operation of a mnemonic without its element count (`vadd`) and of `vset`'s comparison.
    pub fn of(mnemonic: &str, comparison: Option<&str>) -> Option<VideoOperation> {
        Some(match (mnemonic, comparison) {
            ("vadd", None) => VideoOperation::Add,
            ("vsub", None) => VideoOperation::Sub,
            ("vavrg", None) => VideoOperation::Average,
            ("vabsdiff", None) => VideoOperation::AbsDiff,
            ("vmin", None) => VideoOperation::Min,
            ("vmax", None) => VideoOperation::Max,
            ("vset", Some("eq")) => VideoOperation::Equal,
            ("vset", Some("ne")) => VideoOperation::NotEqual,
            ("vset", Some("lt")) => VideoOperation::Less,
            ("vset", Some("le")) => VideoOperation::LessEqual,
            ("vset", Some("gt")) => VideoOperation::Greater,
            ("vset", Some("ge")) => VideoOperation::GreaterEqual,
            _ => return None,
        })
    }

    /// Returns the result for two elements.
    fn apply(self, a: i32, b: i32) -> i32 {
        match self {
            VideoOperation::Add => a + b,
            VideoOperation::Sub => a - b,
            // Halves are rounded away from zero.
            VideoOperation::Average => (a + b + i32::from(a + b >= 0)) >> 1,
            VideoOperation::AbsDiff => (a - b).abs(),
            VideoOperation::Min => a.min(b),
            VideoOperation::Max => a.max(b),
            VideoOperation::Equal => (a == b).into(),
            VideoOperation::NotEqual => (a != b).into(),
            VideoOperation::Less => (a < b).into(),
            VideoOperation::LessEqual => (a <= b).into(),
            VideoOperation::Greater => (a > b).into(),
            VideoOperation::GreaterEqual => (a >= b).into(),
        }
    }
}

/// A form of a SIMD video instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VideoForm {
    pub operation: VideoOperation,
    /// Elements in a register: 2 or 4.
    pub elements: u32,
    /// True for signed elements of the result, of a and of b.
    pub signed: [bool; 3],
    /// True if results that do not fit are clamped.
    pub saturates: bool,
    /// True if the results are summed and added to c.
    pub accumulates: bool,
}

impl VideoForm {
    /// Packs the form into the number stored in instructions.
    pub fn packed(self) -> u32 {
        let flags = [
            self.elements == 4,
            self.signed[0],
            self.signed[1],
            self.signed[2],
            self.saturates,
            self.accumulates,
        ];
        let flags = flags.iter().enumerate();
        flags.fold((self.operation as u32) << 8, |packed, (bit, flag)| {
            packed | u32::from(*flag) << bit
        })
    }

    fn of(packed: u32) -> VideoForm {
        let flag = |bit: u32| packed >> bit & 1 == 1;
        VideoForm {
            operation: VideoOperation::ALL[(packed >> 8) as usize],
            elements: if flag(0) { 4 } else { 2 },
            signed: [flag(1), flag(2), flag(3)],
            saturates: flag(4),
            accumulates: flag(5),
        }
    }

    /// Returns the result for one lane's operands.
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        let bits = 32 / self.elements;
        let element = |word: u32, n: u32, signed: bool| {
            let top = word << (32 - bits * (n + 1));
            if signed {
                top as i32 >> (32 - bits)
            } else {
                (top >> (32 - bits)) as i32
            }
        };
        let [signed, a_signed, b_signed] = self.signed;
        let (min_value, max_value) = match signed {
            true => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        };
        let mut sum = c;
        let mut merged = 0;
        for n in 0..self.elements {
            let result = self
                .operation
                .apply(element(a, n, a_signed), element(b, n, b_signed));
            // Sums are of whole results, which may not fit in an element.
            sum = sum.wrapping_add(result as u32);
            let result = if self.saturates {
                result.clamp(min_value, max_value)
            } else {
                result
            };
            merged |= (result as u32 & ((1 << bits) - 1)) << (bits * n);
        }
        if self.accumulates { sum } else { merged }
    }
}

/// Runs a SIMD video instruction. Operands: d, a, b, c; `arg0` is [`VideoForm::packed`].
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the operands are 32-bit rows.
pub unsafe fn run(sm: &mut Sm, inst: &Inst) -> Next {
    let form = VideoForm::of(inst.arg0);
    let mut d = [0u32; LANES];
    // SAFETY: the operands are 32-bit rows, as this function requires.
    unsafe {
        let [a, b, c] = [1, 2, 3].map(|operand| sm.row::<u32>(inst, operand));
        for lane in active(sm.mask) {
            d[lane] = form.apply(a[lane], b[lane], c[lane]);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_round_trip_through_packing() {
        for operation in VideoOperation::ALL {
            for bits in 0..64u32 {
                let flag = |bit: u32| bits >> bit & 1 == 1;
                let form = VideoForm {
                    operation,
                    elements: if flag(0) { 2 } else { 4 },
                    signed: [flag(1), flag(2), flag(3)],
                    saturates: flag(4),
                    accumulates: flag(5),
                };
                assert_eq!(VideoForm::of(form.packed()), form);
            }
        }
    }

    #[test]
    fn elements_are_separate() {
        let form = |operation, elements, signed, saturates, accumulates| VideoForm {
            operation,
            elements,
            signed: [signed; 3],
            saturates,
            accumulates,
        };
        use VideoOperation::{AbsDiff, Add, Average, GreaterEqual, Max, Sub};
        for (form, [a, b, c], expected) in [
            (
                form(Add, 4, false, false, false),
                [0x01ff_7f80, 0x0101_0180, 9],
                0x0200_8000,
            ),
            (
                form(Add, 4, false, true, false),
                [0x01ff_7f80, 0x0101_0180, 9],
                0x02ff_80ff,
            ),
            (
                form(Add, 4, true, true, false),
                [0x01ff_7f80, 0x0101_0180, 9],
                0x0200_7f80,
            ),
            (
                form(Sub, 2, true, true, false),
                [0x8000_0005, 0x0001_0007, 9],
                0x8000_fffe,
            ),
            (
                form(AbsDiff, 4, false, false, true),
                [0x0403_0201, 0x0005_0000, 3],
                12,
            ),
            (
                form(AbsDiff, 2, true, false, true),
                [0xffff_0001, 0x0001_ffff, 0],
                4,
            ),
            (
                form(Average, 4, true, false, false),
                [0x01ff_fe02, 0x02fe_fd02, 0],
                0x02fe_fd02,
            ),
            (
                form(Max, 2, false, false, false),
                [0x8000_0001, 0x7fff_0002, 0],
                0x8000_0002,
            ),
            (
                form(GreaterEqual, 4, false, false, false),
                [0x0102_0304, 0x0201_0304, 0],
                0x0001_0101,
            ),
            (
                form(GreaterEqual, 4, false, false, true),
                [0x0102_0304, 0x0201_0304, 7],
                10,
            ),
        ] {
            assert_eq!(form.apply(a, b, c), expected, "{form:?}");
        }
    }
}
