//! Tensor cores: `mma.sync`, products of small matrices that a warp holds together. Source: PTX ISA,
//! section 9.7.14.5, whose figures say which lane holds which element.

mod dot;

use super::fault::FaultKind;
use super::lanes::{FULL, LANES};
use super::sm::Sm;
use super::sync::together;
use crate::program::code::{Inst, Next};
pub use dot::{Accumulator, Multiplicand};
use dot::{Dot, Parts};

/// Rows of the first matrix and of the result, columns of the second.
const ROWS: usize = 16;
const COLUMNS: usize = 8;
/// The most columns of the first matrix.
const MOST_DEEP: usize = 16;

/// A form of `mma`: `m16n8kDEEP`, and the types of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub deep: usize,
    pub multiplicand: Multiplicand,
    pub accumulator: Accumulator,
}

/// Every form there is here, by the number that an instruction carries.
pub const SHAPES: [Shape; 8] = {
    use {Accumulator as A, Multiplicand as M};
    const fn shape(deep: usize, multiplicand: M, accumulator: A) -> Shape {
        Shape {
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

impl Shape {
    /// Elements of a multiplicand in a register.
    fn packed(self) -> usize {
        4 / self.multiplicand.bytes()
    }

    /// Registers of a lane for the result, the first matrix and the second. What is added to the
    /// product takes as many as the result.
    pub fn registers(self) -> [usize; 3] {
        let result = match self.accumulator {
            Accumulator::F32 => 4,
            Accumulator::F16 => 2,
        };
        let elements = |rows: usize| rows * self.deep / LANES / self.packed();
        [result, elements(ROWS), elements(COLUMNS)]
    }

    /// Additions and multiplications that are a thread's part of it.
    pub fn operations(self) -> u32 {
        (2 * ROWS * COLUMNS * self.deep / LANES) as u32
    }
}

/// `mma.sync.aligned`: the operand list `imm` has the registers of the result, of the two matrices
/// and of what is added. `x`: the form's place in [`SHAPES`].
///
/// # Safety
/// As for [`crate::program::code::Handler`]; every entry of the list is a 32-bit row.
pub unsafe fn multiply_add(sm: &mut Sm, inst: &Inst) -> Next {
    if let Some(fault) = whole_warp(sm) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    together(sm, inst, FULL, |sm| {
        let shape = SHAPES[inst.x as usize % SHAPES.len()];
        let grid = sm.grid.clone();
        let list = &grid.program.operand_lists[inst.imm as usize];
        let [results, first, second] = shape.registers();
        // SAFETY: the lowering put these registers, all 32-bit rows, inside the frame. Every lane
        // runs, so that whole rows are written.
        let row = |n: usize| unsafe { &mut *sm.frame.add(list[n] as usize).cast::<[u32; LANES]>() };
        let read = |from: usize, count: usize| -> [[u32; LANES]; 4] {
            std::array::from_fn(|n| {
                if n < count {
                    *row(from + n)
                } else {
                    [0; LANES]
                }
            })
        };
        let a = read(results, first);
        let b = read(results + first, second);
        let c = read(results + first + second, results);
        let d = product(shape, &a, &b, &c);
        for (n, values) in d[..results].iter().enumerate() {
            *row(n) = *values;
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
fn product(
    shape: Shape,
    a: &[[u32; LANES]; 4],
    b: &[[u32; LANES]; 4],
    c: &[[u32; LANES]; 4],
) -> [[u32; LANES]; 4] {
    let mut rows = [[Parts::default(); MOST_DEEP]; ROWS];
    let mut columns = [[Parts::default(); MOST_DEEP]; COLUMNS];
    for (row, elements) in rows.iter_mut().enumerate() {
        for (k, element) in elements[..shape.deep].iter_mut().enumerate() {
            // The upper eight rows first, then the lower; then the next columns.
            let (register, lane, half) = place(shape, row % 8, k);
            let register = 2 * register + row / 8;
            *element = Parts::of(shape.multiplicand, a[register][lane] >> half);
        }
    }
    for (column, elements) in columns.iter_mut().enumerate() {
        for (k, element) in elements[..shape.deep].iter_mut().enumerate() {
            let (register, lane, half) = place(shape, column, k);
            *element = Parts::of(shape.multiplicand, b[register][lane] >> half);
        }
    }
    let dot = Dot::new(shape.accumulator);
    let mut d = [[0; LANES]; 4];
    for (row, left) in rows.iter().enumerate() {
        for (column, right) in columns.iter().enumerate() {
            let lane = row % 8 * 4 + column / 2;
            let (register, half) = match shape.accumulator {
                Accumulator::F32 => (row / 8 * 2 + column % 2, 0),
                Accumulator::F16 => (row / 8, column % 2 * 16),
            };
            let added = c[register][lane] >> half;
            let sum = dot.sum(&left[..shape.deep], &right[..shape.deep], added);
            d[register][lane] |= sum << half;
        }
    }
    d
}

/// Where element `k` of a row of the first matrix, or of a column of the second, lies: the register
/// among those of that row, the lane, and the bits before it.
fn place(shape: Shape, row: usize, k: usize) -> (usize, usize, usize) {
    let packed = shape.packed();
    let across = 4 * packed;
    let lane = row * 4 + k % across / packed;
    (k / across, lane, k % packed * 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ones and twos and so on in the elements of a matrix, each lane's by its own index.
    fn filled(
        shape: Shape,
        registers: usize,
        value: impl Fn(usize, usize) -> u32,
    ) -> [[u32; 32]; 4] {
        let mut rows = [[0; LANES]; 4];
        for (register, row) in rows[..registers].iter_mut().enumerate() {
            for (lane, bits) in row.iter_mut().enumerate() {
                for part in 0..shape.packed() {
                    *bits |= value(register * shape.packed() + part, lane) << (16 * part);
                }
            }
        }
        rows
    }

    fn bits(multiplicand: Multiplicand, value: f32) -> u32 {
        match multiplicand {
            Multiplicand::Tf32 => value.to_bits(),
            Multiplicand::F16 => half::f16::from_f32(value).to_bits().into(),
            Multiplicand::Bf16 => value.to_bits() >> 16,
        }
    }

    /// Small whole numbers at the places that the figures of the ISA give for each form, against a
    /// plain product.
    #[test]
    fn elements_lie_where_the_figures_say() {
        let a = |row: usize, k: usize| ((row * 7 + k * 3) % 11) as f32 - 5.0;
        let b = |k: usize, column: usize| ((k * 5 + column * 2) % 7) as f32 - 3.0;
        let c = |row: usize, column: usize| (row * 8 + column) as f32;
        for shape in SHAPES {
            let [results, first, second] = shape.registers();
            let of = |value| bits(shape.multiplicand, value);
            // As the ISA writes them: `i` is the element's number among those of its lane.
            let wide = shape.multiplicand == Multiplicand::Tf32;
            let in_a = filled(shape, first, |i, lane| {
                let (group, thread) = (lane / 4, lane % 4);
                of(match (wide, i) {
                    (true, _) => a(group + 8 * (i % 2), thread + 4 * (i / 2)),
                    (false, _) => a(
                        group + 8 * (i / 2 % 2),
                        thread * 2 + i % 2 + if i >= 4 { 8 } else { 0 },
                    ),
                })
            });
            let in_b = filled(shape, second, |i, lane| {
                let (group, thread) = (lane / 4, lane % 4);
                of(match wide {
                    true => b(thread + 4 * i, group),
                    false => b(thread * 2 + i % 2 + if i >= 2 { 8 } else { 0 }, group),
                })
            });
            let at = |i: usize, lane: usize| (lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2);
            let mut in_c = [[0; LANES]; 4];
            for lane in 0..LANES {
                for i in 0..4 {
                    let (row, column) = at(i, lane);
                    match shape.accumulator {
                        Accumulator::F32 => in_c[i][lane] = c(row, column).to_bits(),
                        Accumulator::F16 => {
                            in_c[i / 2][lane] |=
                                bits(Multiplicand::F16, c(row, column)) << (16 * (i % 2));
                        }
                    }
                }
            }
            let found = product(shape, &in_a, &in_b, &in_c);
            for lane in 0..LANES {
                for i in 0..4 {
                    let (row, column) = at(i, lane);
                    let products = (0..shape.deep).map(|k| a(row, k) * b(k, column));
                    let wanted = products.sum::<f32>() + c(row, column);
                    let sum = match shape.accumulator {
                        Accumulator::F32 => f32::from_bits(found[i][lane]),
                        Accumulator::F16 => {
                            half::f16::from_bits((found[i / 2][lane] >> (16 * (i % 2))) as u16)
                                .to_f32()
                        }
                    };
                    assert_eq!(sum, wanted, "{shape:?} row {row} column {column}");
                }
            }
            assert_eq!(
                results,
                if shape.accumulator == Accumulator::F16 {
                    2
                } else {
                    4
                }
            );
        }
    }
}
