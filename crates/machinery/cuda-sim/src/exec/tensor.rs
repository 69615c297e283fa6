//! Tensor cores: `mma.sync`, products of small matrices that a warp holds together. Source: PTX ISA,
//! section 9.7.14.5, whose figures say which lane holds which element.

mod bytes;
mod descriptor;
mod dot;
mod usual;
pub mod warpgroup;

use super::cpu::Cpu;
use super::fault::FaultKind;
use super::sm::{Handler, Inst, Next, Sm};
use super::sync::converge;
use crate::lanes::{FULL, LANES};
pub use bytes::{Byte, ByteShape, floats, whole};
pub use dot::{Accumulator, Multiplicand};
use dot::{Dot, Unpacked};
use usual::Left;

/// Rows of the first matrix and of the result, columns of the second.
const ROWS: usize = 16;
const COLUMNS: usize = 8;
/// The most columns of the first matrix.
const MOST_DEEP: usize = 16;

/// A form of `mma`: `m16n8kDEEP`, and the types of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProductShape {
    pub deep: usize,
    pub multiplicand: Multiplicand,
    pub accumulator: Accumulator,
}

/// Every form there is here, by the number that an instruction carries.
pub const SHAPES: [ProductShape; 8] = {
    use Accumulator as A;
    use Multiplicand as M;
    const fn shape(deep: usize, multiplicand: M, accumulator: A) -> ProductShape {
        ProductShape {
            deep,
            multiplicand,
            accumulator,
        }
    }
    [
        shape(4, M::Tf32, A::F32),
        shape(8, M::Tf32, A::F32),
        shape(8, M::F16, A::F32),
        shape(16, M::F16, A::F32),
        shape(8, M::F16, A::F16),
        shape(16, M::F16, A::F16),
        shape(8, M::Bf16, A::F32),
        shape(16, M::Bf16, A::F32),
    ]
};

impl ProductShape {
    /// Elements of a multiplicand in a register.
    const fn packed(self) -> usize {
        4 / self.multiplicand.bytes()
    }

    /// Registers of a lane for the result, the first matrix and the second. What is added to the
    /// product takes as many as the result.
    pub const fn registers(self) -> [usize; 3] {
        let result = match self.accumulator {
            Accumulator::F32 => 4,
            Accumulator::F16 => 2,
        };
        let deep = self.deep / self.packed();
        [result, ROWS * deep / LANES, COLUMNS * deep / LANES]
    }

    /// Additions and multiplications that are a thread's part of it.
    pub fn operations(self) -> u32 {
        (2 * ROWS * COLUMNS * self.deep / LANES) as u32
    }
}

/// Matrices as a warp has them: registers, and in each of them a word a lane.
type Registers = [[u32; LANES]; 4];

/// The most registers of an instruction.
const MOST_REGISTERS: usize = 14;

/// The handler of `mma.sync.aligned` of the form at a place in [`SHAPES`]. Its operand list `imm` has
/// the registers of the result, of the two matrices and of what is added.
pub fn handler(cpu: Cpu, form: usize) -> Handler {
    const FORMS: [fn(Cpu) -> Handler; SHAPES.len()] = [
        of_form::<0>,
        of_form::<1>,
        of_form::<2>,
        of_form::<3>,
        of_form::<4>,
        of_form::<5>,
        of_form::<6>,
        of_form::<7>,
    ];
    FORMS[form](cpu)
}

fn of_form<const FORM: usize>(cpu: Cpu) -> Handler {
    unsafe fn plain<const FORM: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        // SAFETY: as for any handler.
        unsafe {
            multiply_add(sm, inst, const { SHAPES[FORM].registers() }, |a, b, c| {
                product(SHAPES[FORM], a, b, c)
            })
        }
    }
    #[cfg(target_arch = "x86_64")]
    unsafe fn avx2<const FORM: usize>(sm: &mut Sm, inst: &Inst) -> Next {
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn wide<const FORM: usize>(
            a: &Registers,
            b: &Registers,
            c: &Registers,
        ) -> Registers {
            product(SHAPES[FORM], a, b, c)
        }
        // SAFETY: as for any handler; chosen only where the CPU has AVX2.
        unsafe {
            multiply_add(sm, inst, const { SHAPES[FORM].registers() }, |a, b, c| {
                wide::<FORM>(a, b, c)
            })
        }
    }
    match cpu {
        #[cfg(target_arch = "x86_64")]
        Cpu::Avx2 => avx2::<FORM>,
        _ => plain::<FORM>,
    }
}

/// A product of two matrices plus a third, in so many registers of a lane for the result, the first and the
/// second.
///
/// # Safety
/// As for [`Handler`]; every entry of the operand list is a 32-bit row.
#[inline(always)]
unsafe fn multiply_add(
    sm: &mut Sm,
    inst: &Inst,
    [results, first, second]: [usize; 3],
    product: impl Fn(&Registers, &Registers, &Registers) -> Registers,
) -> Next {
    if let Some(fault) = whole_warp(sm) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    converge(sm, inst, FULL, |sm| {
        let mut places = [0; MOST_REGISTERS];
        let list = &sm.grid.program.operand_lists[inst.imm as usize];
        places[..list.len()].copy_from_slice(list);
        // SAFETY: the lowering put these registers, all 32-bit rows, inside the frame. Every lane
        // runs, so that whole rows are written.
        let row = |n: usize| unsafe { &mut *sm.frame.add(places[n] as usize).cast() };
        let read = |from: usize, count: usize| {
            let mut registers: Registers = [[0; LANES]; 4];
            for n in 0..count {
                registers[n] = *row(from + n);
            }
            registers
        };
        let a = read(results, first);
        let b = read(results + first, second);
        let c = read(results + first + second, results);
        let d = product(&a, &b, &c);
        for n in 0..results {
            *row(n) = d[n];
        }
    })
}

/// The fault it is to come to an instruction of the whole warp where some of its 32 lanes do not
/// exist or have ended.
pub fn whole_warp(sm: &Sm) -> Option<FaultKind> {
    let alive = sm.block.warp().alive;
    (alive != FULL).then_some(FaultKind::WarpIncomplete { alive })
}

/// The product of two matrices plus a third, all in the registers of a warp.
#[inline(always)]
fn product(shape: ProductShape, a: &Registers, b: &Registers, c: &Registers) -> Registers {
    product_of(shape, a, &Left::of(shape, a), b, c)
}

/// The same with what was prepared of the first matrix.
#[inline(always)]
fn product_of(
    shape: ProductShape,
    a: &Registers,
    left: &Left,
    b: &Registers,
    c: &Registers,
) -> Registers {
    usual::product(shape, left, b, c).unwrap_or_else(|| any_product(shape, a, b, c))
}

/// The same of any numbers, one sum after the other.
#[cold]
fn any_product(shape: ProductShape, a: &Registers, b: &Registers, c: &Registers) -> Registers {
    let mut rows = [[Unpacked::default(); MOST_DEEP]; ROWS];
    let mut columns = [[Unpacked::default(); MOST_DEEP]; COLUMNS];
    for (row, elements) in rows.iter_mut().enumerate() {
        for (k, element) in elements[..shape.deep].iter_mut().enumerate() {
            // The upper eight rows first, then the lower; then the next columns.
            let (register, lane, half) = place(shape, row % 8, k);
            let register = 2 * register + row / 8;
            *element = Unpacked::of(shape.multiplicand, a[register][lane] >> half);
        }
    }
    for (column, elements) in columns.iter_mut().enumerate() {
        for (k, element) in elements[..shape.deep].iter_mut().enumerate() {
            let (register, lane, half) = place(shape, column, k);
            *element = Unpacked::of(shape.multiplicand, b[register][lane] >> half);
        }
    }
    let dot = Dot::new(shape.accumulator);
    let mut d = [[0; LANES]; 4];
    for (row, left) in rows.iter().enumerate() {
        for (column, right) in columns.iter().enumerate() {
            let lane = row % 8 * 4 + column / 2;
            let (register, half) = shape.accumulator.place(row / 8 * 2 + column % 2);
            let added = c[register][lane] >> half;
            let sum = dot.sum(&left[..shape.deep], &right[..shape.deep], added);
            d[register][lane] |= sum << half;
        }
    }
    d
}

/// Where element `k` of a row of the first matrix, or of a column of the second, lies: the register
/// among those of that row, the lane, and the bits before it.
fn place(shape: ProductShape, row: usize, k: usize) -> (usize, usize, usize) {
    let packed = shape.packed();
    let across = 4 * packed;
    let lane = row * 4 + k % across / packed;
    (k / across, lane, k % packed * 16)
}

#[cfg(test)]
mod tests;
