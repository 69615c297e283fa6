//! Video instructions, whose operands are parts of registers. SIMD video instructions (`vadd4`, `vabsdiff2` and others)
//! treat a register as four bytes or two halves; scalar ones (`vadd`, `vset`, `vmad` and others) read 32-bit registers, or
//! bytes or halves of them. Source: PTX ISA, sections "Scalar Video Instructions" and "SIMD Video Instructions".
//!
//! Intermediate results of scalar instructions have 33 bits or more, so that saturation and the secondary operation see the
//! exact sum.

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
    pub const ALL: [VideoOperation; 12] = [
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
    pub fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            VideoOperation::Add => a + b,
            VideoOperation::Sub => a - b,
            // Halves are rounded away from zero.
            VideoOperation::Average => (a + b + i64::from(a + b >= 0)) >> 1,
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

/// The part of a 32-bit register that a video instruction reads or replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Byte0,
    Byte1,
    Byte2,
    Byte3,
    Half0,
    Half1,
    Word,
}

impl Part {
    pub const ALL: [Part; 7] = [
        Part::Byte0,
        Part::Byte1,
        Part::Byte2,
        Part::Byte3,
        Part::Half0,
        Part::Half1,
        Part::Word,
    ];

    /// Returns the part that a selector names, without its dot; `None` if there is no such part.
    pub fn named(selector: &str) -> Option<Part> {
        let names = ["b0", "b1", "b2", "b3", "h0", "h1"];
        let index = names.iter().position(|name| *name == selector)?;
        Some(Part::ALL[index])
    }

    /// Returns the first bit and the number of bits.
    fn bits(self) -> (u32, u32) {
        match self {
            Part::Byte0 | Part::Byte1 | Part::Byte2 | Part::Byte3 => (8 * self as u32, 8),
            Part::Half0 => (0, 16),
            Part::Half1 => (16, 16),
            Part::Word => (0, 32),
        }
    }

    /// Returns the value of the part of a register.
    pub fn of(self, register: u32, signed: bool) -> i64 {
        let (first, length) = self.bits();
        let top = register << (32 - first - length);
        match signed {
            true => i64::from(top.cast_signed() >> (32 - length)),
            false => i64::from(top >> (32 - length)),
        }
    }

    /// Returns the smallest and the largest value that fit.
    pub fn range(self, signed: bool) -> (i64, i64) {
        let (_, length) = self.bits();
        match signed {
            true => (-1 << (length - 1), (1 << (length - 1)) - 1),
            false => (0, (1 << length) - 1),
        }
    }

    /// Returns `register` with this part replaced by the low bits of `value`.
    pub fn replaced(self, register: u32, value: i64) -> u32 {
        let (first, length) = self.bits();
        let mask = (u32::MAX >> (32 - length)) << first;
        register & !mask | (value as u32) << first & mask
    }
}

/// Writes fields of a few bits each into one number, lowest first.
#[derive(Default)]
struct Packer {
    bits: u64,
    length: u32,
}

impl Packer {
    fn push(&mut self, value: u64, width: u32) {
        self.bits |= value << self.length;
        self.length += width;
    }
}

/// Reads the fields that a [`Packer`] has written.
struct Unpacker(u64);

impl Unpacker {
    fn take(&mut self, width: u32) -> u64 {
        let value = self.0 & ((1 << width) - 1);
        self.0 >>= width;
        value
    }

    fn flag(&mut self) -> bool {
        self.take(1) == 1
    }

    fn part(&mut self) -> Part {
        Part::ALL[self.take(3) as usize % Part::ALL.len()]
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
    /// Mask of the elements that are computed; the others are those of c.
    pub mask: u32,
    /// The elements that are paired, as indices into the elements of a followed by those of b, for both sources.
    pub selected: [[u8; 4]; 2],
}

impl VideoForm {
    /// The selections of a form that does not name any: the elements of a, and those of b.
    pub fn default_selections(elements: u32) -> [[u8; 4]; 2] {
        match elements {
            2 => [[0, 1, 0, 0], [2, 3, 0, 0]],
            _ => [[0, 1, 2, 3], [4, 5, 6, 7]],
        }
    }

    /// Packs the form into the number stored in instructions.
    pub fn packed(self) -> u64 {
        let mut packer = Packer::default();
        packer.push(self.operation as u64, 4);
        packer.push(self.elements.into(), 3);
        for flag in self.signed {
            packer.push(flag.into(), 1);
        }
        packer.push(self.saturates.into(), 1);
        packer.push(self.accumulates.into(), 1);
        packer.push(self.mask.into(), 4);
        for element in self.selected.into_iter().flatten() {
            packer.push(element.into(), 3);
        }
        packer.bits
    }

    fn of(packed: u64) -> VideoForm {
        let mut fields = Unpacker(packed);
        VideoForm {
            operation: VideoOperation::ALL[fields.take(4) as usize],
            elements: fields.take(3) as u32,
            signed: std::array::from_fn(|_| fields.flag()),
            saturates: fields.flag(),
            accumulates: fields.flag(),
            mask: fields.take(4) as u32,
            selected: [(); 2].map(|()| std::array::from_fn(|_| fields.take(3) as u8)),
        }
    }

    /// Returns the result for one lane's operands.
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        let bits = 32 / self.elements;
        let [signed, a_signed, b_signed] = self.signed;
        let part = |n: u32| match self.elements {
            2 => Part::ALL[4 + n as usize % 2],
            _ => Part::ALL[n as usize % 4],
        };
        let selected = |index: u8, signed: bool| {
            let index = u32::from(index);
            match index < self.elements {
                true => part(index).of(a, signed),
                false => part(index - self.elements).of(b, signed),
            }
        };
        let (min_value, max_value) = part(0).range(signed);
        let mut sum = c;
        let mut merged = 0;
        for n in 0..self.elements {
            if self.mask >> n & 1 == 0 {
                merged |= c & ((1 << bits) - 1) << (bits * n);
                continue;
            }
            let [a, b] = self.selected.map(|selection| selection[n as usize]);
            let result = (self.operation).apply(selected(a, a_signed), selected(b, b_signed));
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

/// The operation on the two selected operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarOperation {
    /// An operation that SIMD video instructions have as well.
    Common(VideoOperation),
    ShiftLeft,
    ShiftRight,
}

/// The operation on the result and the third operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondaryOperation {
    None,
    Add,
    Min,
    Max,
}

/// A form of a scalar video instruction other than `vmad`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScalarForm {
    pub operation: ScalarOperation,
    /// True for a signed result, a and b.
    pub signed: [bool; 3],
    /// The part of the destination that is replaced, and the selected parts of a and b.
    pub parts: [Part; 3],
    pub saturates: bool,
    pub secondary: SecondaryOperation,
    /// True if shift amounts wrap at 32 (`.wrap`), false if they are clamped to 32.
    pub wraps: bool,
}

/// A form of `vmad`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MultiplyAddForm {
    /// True for signed a and b.
    pub signed: [bool; 2],
    /// The selected parts of a and b.
    pub parts: [Part; 2],
    pub negates_product: bool,
    pub negates_addend: bool,
    /// True if 1 is added (`.po`).
    pub plus_one: bool,
    /// The number of bits by which the result is shifted right: 0, 7 or 15.
    pub scale: u32,
    pub saturates: bool,
}

/// The shift operations are numbered after the common ones.
const SHIFT_LEFT: u64 = VideoOperation::ALL.len() as u64;

impl ScalarForm {
    /// Packs the form into the number stored in instructions.
    pub fn packed(self) -> u64 {
        let mut packer = Packer::default();
        let operation = match self.operation {
            ScalarOperation::Common(operation) => operation as u64,
            ScalarOperation::ShiftLeft => SHIFT_LEFT,
            ScalarOperation::ShiftRight => SHIFT_LEFT + 1,
        };
        packer.push(operation, 5);
        for signed in self.signed {
            packer.push(signed.into(), 1);
        }
        for part in self.parts {
            packer.push(part as u64, 3);
        }
        packer.push(self.saturates.into(), 1);
        packer.push(self.secondary as u64, 2);
        packer.push(self.wraps.into(), 1);
        packer.bits
    }

    fn of(packed: u64) -> ScalarForm {
        let mut fields = Unpacker(packed);
        ScalarForm {
            operation: match fields.take(5) {
                SHIFT_LEFT => ScalarOperation::ShiftLeft,
                number if number > SHIFT_LEFT => ScalarOperation::ShiftRight,
                number => ScalarOperation::Common(VideoOperation::ALL[number as usize]),
            },
            signed: std::array::from_fn(|_| fields.flag()),
            parts: std::array::from_fn(|_| fields.part()),
            saturates: fields.flag(),
            secondary: match fields.take(2) {
                0 => SecondaryOperation::None,
                1 => SecondaryOperation::Add,
                2 => SecondaryOperation::Min,
                _ => SecondaryOperation::Max,
            },
            wraps: fields.flag(),
        }
    }

    /// Returns the result for one lane's operands.
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        let [signed, a_signed, b_signed] = self.signed;
        let [to, a_part, b_part] = self.parts;
        let a = a_part.of(a, a_signed);
        let b = b_part.of(b, b_signed);
        let amount = match self.wraps {
            true => b & 31,
            false => b.min(32),
        };
        let result = match self.operation {
            ScalarOperation::Common(operation) => operation.apply(a, b),
            ScalarOperation::ShiftLeft => a << amount,
            ScalarOperation::ShiftRight => a >> amount,
        };
        let result = match self.saturates {
            true => {
                let (min_value, max_value) = to.range(signed);
                result.clamp(min_value, max_value)
            }
            false => result,
        };
        let addend = Part::Word.of(c, signed);
        let result = match self.secondary {
            SecondaryOperation::None => result,
            SecondaryOperation::Add => result + addend,
            SecondaryOperation::Min => result.min(addend),
            SecondaryOperation::Max => result.max(addend),
        };
        to.replaced(c, result)
    }
}

impl MultiplyAddForm {
    /// Packs the form into the number stored in instructions.
    pub fn packed(self) -> u64 {
        let mut packer = Packer::default();
        for signed in self.signed {
            packer.push(signed.into(), 1);
        }
        for part in self.parts {
            packer.push(part as u64, 3);
        }
        let flags = [
            self.negates_product,
            self.negates_addend,
            self.plus_one,
            self.saturates,
        ];
        for flag in flags {
            packer.push(flag.into(), 1);
        }
        packer.push(self.scale.into(), 4);
        packer.bits
    }

    fn of(packed: u64) -> MultiplyAddForm {
        let mut fields = Unpacker(packed);
        MultiplyAddForm {
            signed: std::array::from_fn(|_| fields.flag()),
            parts: std::array::from_fn(|_| fields.part()),
            negates_product: fields.flag(),
            negates_addend: fields.flag(),
            plus_one: fields.flag(),
            saturates: fields.flag(),
            scale: fields.take(4) as u32,
        }
    }

    /// Returns the result for one lane's operands.
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        let [a_signed, b_signed] = self.signed;
        let [a_part, b_part] = self.parts;
        let is_signed = a_signed || b_signed || self.negates_product || self.negates_addend;
        let product = i128::from(a_part.of(a, a_signed)) * i128::from(b_part.of(b, b_signed));
        let addend = i128::from(Part::Word.of(c, is_signed));
        let sum = match (self.negates_product, self.negates_addend) {
            (true, _) => addend - product,
            (false, true) => product - addend,
            (false, false) => product + addend + i128::from(self.plus_one),
        };
        let result = sum >> self.scale;
        let (min_value, max_value) = Part::Word.range(is_signed);
        match self.saturates {
            true => result.clamp(min_value.into(), max_value.into()) as u32,
            false => result as u32,
        }
    }
}

/// Runs a SIMD video instruction. Operands: d, a, b, c; `imm` is [`VideoForm::packed`].
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the operands are 32-bit rows.
pub unsafe fn simd(sm: &mut Sm, inst: &Inst) -> Next {
    let form = VideoForm::of(inst.imm);
    // SAFETY: the operands are 32-bit rows, as this function requires.
    unsafe { apply(sm, inst, |a, b, c| form.apply(a, b, c)) }
}

/// Runs a scalar video instruction. Operands: d, a, b, c; `imm` is [`ScalarForm::packed`].
///
/// # Safety
/// The requirements of [`simd`].
pub unsafe fn scalar(sm: &mut Sm, inst: &Inst) -> Next {
    let form = ScalarForm::of(inst.imm);
    // SAFETY: the operands are 32-bit rows, as this function requires.
    unsafe { apply(sm, inst, |a, b, c| form.apply(a, b, c)) }
}

/// Runs `vmad`. Operands: d, a, b, c; `imm` is [`MultiplyAddForm::packed`].
///
/// # Safety
/// The requirements of [`simd`].
pub unsafe fn multiply_add(sm: &mut Sm, inst: &Inst) -> Next {
    let form = MultiplyAddForm::of(inst.imm);
    // SAFETY: the operands are 32-bit rows, as this function requires.
    unsafe { apply(sm, inst, |a, b, c| form.apply(a, b, c)) }
}

/// Writes the result of each active lane.
///
/// # Safety
/// The requirements of [`simd`].
unsafe fn apply(sm: &mut Sm, inst: &Inst, of: impl Fn(u32, u32, u32) -> u32) -> Next {
    let mut d = [0; LANES];
    // SAFETY: the operands are 32-bit rows, as this function requires.
    unsafe {
        let [a, b, c] = [1, 2, 3].map(|operand| sm.row::<u32>(inst, operand));
        for lane in active(sm.mask) {
            d[lane] = of(a[lane], b[lane], c[lane]);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simd_forms_round_trip_through_packing() {
        for operation in VideoOperation::ALL {
            for bits in 0..64u32 {
                let flag = |bit: u32| bits >> bit & 1 == 1;
                let form = VideoForm {
                    operation,
                    elements: if flag(0) { 2 } else { 4 },
                    signed: [flag(1), flag(2), flag(3)],
                    saturates: flag(4),
                    accumulates: flag(5),
                    mask: bits % 15 + 1,
                    selected: [[3, 1, 7, 0], [bits as u8 % 8, 5, 0, 2]],
                };
                assert_eq!(VideoForm::of(form.packed()), form);
            }
        }
    }

    #[test]
    fn scalar_forms_round_trip_through_packing() {
        let operations = VideoOperation::ALL.map(ScalarOperation::Common);
        let shifts = [ScalarOperation::ShiftLeft, ScalarOperation::ShiftRight];
        let secondaries = [
            SecondaryOperation::None,
            SecondaryOperation::Add,
            SecondaryOperation::Min,
            SecondaryOperation::Max,
        ];
        for operation in operations.into_iter().chain(shifts) {
            for bits in 0..32_usize {
                let flag = |bit: usize| bits >> bit & 1 == 1;
                for secondary in secondaries {
                    let form = ScalarForm {
                        operation,
                        signed: [flag(0), flag(1), flag(2)],
                        parts: [0, 2, 5].map(|n| Part::ALL[(bits + n) % Part::ALL.len()]),
                        saturates: flag(3),
                        secondary,
                        wraps: flag(4),
                    };
                    assert_eq!(ScalarForm::of(form.packed()), form);
                }
                let form = MultiplyAddForm {
                    signed: [flag(0), flag(1)],
                    parts: [0, 3].map(|n| Part::ALL[(bits + n) % Part::ALL.len()]),
                    negates_product: flag(2),
                    negates_addend: flag(3),
                    plus_one: flag(4),
                    scale: [0, 7, 15][bits % 3],
                    saturates: flag(2),
                };
                assert_eq!(MultiplyAddForm::of(form.packed()), form);
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
            mask: (1 << elements) - 1,
            selected: VideoForm::default_selections(elements),
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
