//! Tensor cores: `mma.sync`, multiplications of small matrices held in the registers of a warp; and `ldmatrix` and
//! `stmatrix`, which move 8×8 matrices between shared memory and registers in the same layout. Source: PTX ISA, section
//! 9.7.14.5, whose figures define which lane holds which element.

mod bytes;
mod dot;
mod fast_path;
#[cfg(test)]
mod tests;
pub mod warpgroup;

use super::cpu::Cpu;
use super::memory::access::translate_lane;
use super::memory::state_space::{SharedSpace, SpaceAccess as _};
use super::ops::rounding::pass_nan;
use super::sm::{Handler, Inst, Next, Sm};
use super::sync::converge;
use crate::check::FaultKind;
use crate::lanes::{FULL, LANES};
pub use bytes::{Byte, ByteShape, floats, integers};
pub use dot::{Accumulator, Multiplicand};
use dot::{Dot, Unpacked};
use fast_path::Left;

/// Rows of matrix A and of the result (m), and columns of matrix B (n).
const ROWS: usize = 16;
const COLUMNS: usize = 8;
/// Maximum number of columns of matrix A (k).
const MAX_K: usize = 16;

/// A shape of `mma`, `m16n8k` with this `k`, and the element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProductShape {
    pub k: usize,
    pub multiplicand: Multiplicand,
    pub accumulator: Accumulator,
}

/// All supported shapes, indexed by the number stored in instructions.
pub const SHAPES: [ProductShape; 8] = {
    use Accumulator as A;
    use Multiplicand as M;
    const fn shape(k: usize, multiplicand: M, accumulator: A) -> ProductShape {
        ProductShape {
            k,
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
    /// Returns the number of multiplicand elements per register.
    const fn packed(self) -> usize {
        4 / self.multiplicand.bytes()
    }

    /// Returns the number of registers per lane for the result, matrix A and matrix B. Matrix C takes as many
    /// as the result.
    pub const fn registers(self) -> [usize; 3] {
        let result = match self.accumulator {
            Accumulator::F32 => 4,
            Accumulator::F16 => 2,
        };
        let k = self.k / self.packed();
        [result, ROWS * k / LANES, COLUMNS * k / LANES]
    }

    /// Returns the number of additions and multiplications per thread.
    pub fn operations(self) -> u32 {
        (2 * ROWS * COLUMNS * self.k / LANES) as u32
    }
}

/// A matrix in the registers of a warp: one word per lane in each register.
type Registers = [[u32; LANES]; 4];

/// Maximum number of registers of an instruction.
const MAX_REGISTERS: usize = 20;

/// Returns the handler of `mma.sync.aligned` with the shape at index `form` of [`SHAPES`]. The instruction's
/// operand list `imm` holds the registers of the result and of matrices A, B and C.
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
        // SAFETY: the caller guarantees the requirements of `Handler`, and the lowering made every entry of
        // the operand list a 32-bit row.
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
        // SAFETY: as required by `multiply_add`, every list entry is a 32-bit row; chosen only on CPUs with
        // AVX2.
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

/// Computes `D = A × B + C`, given the number of registers per lane of the result, A and B.
///
/// # Safety
/// The requirements of [`Handler`]; every entry of the operand list is a 32-bit row.
#[inline(always)]
unsafe fn multiply_add(
    sm: &mut Sm,
    inst: &Inst,
    [results, a_registers, b_registers]: [usize; 3],
    product: impl Fn(&Registers, &Registers, &Registers) -> Registers,
) -> Next {
    if let Some(fault) = incomplete_warp_fault(sm) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    converge(sm, inst, FULL, |sm| {
        let mut offsets = [0; MAX_REGISTERS];
        let list = &sm.grid.program.operand_lists[inst.imm as usize];
        offsets[..list.len()].copy_from_slice(list);
        // SAFETY: the lowering placed these registers, all 32-bit rows, inside the frame. All lanes are
        // active, so whole rows may be written.
        let row = |n: usize| unsafe { &mut *sm.frame.add(offsets[n] as usize).cast() };
        let read = |from: usize, count: usize| {
            let mut registers: Registers = [[0; LANES]; 4];
            for n in 0..count {
                registers[n] = *row(from + n);
            }
            registers
        };
        let a = read(results, a_registers);
        let b = read(results + a_registers, b_registers);
        let c = read(results + a_registers + b_registers, results);
        let d = product(&a, &b, &c);
        for n in 0..results {
            *row(n) = d[n];
        }
    })
}

/// A shape of `mma` with doubles. Matrix B has 8 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoubleShape {
    /// Rows of matrix A: 8 or 16.
    pub rows: u32,
    /// Columns of matrix A: 4, 8 or 16.
    pub k: u32,
}

impl DoubleShape {
    /// Returns the number of registers per lane for the result, matrix A and matrix B.
    pub fn registers(self) -> [usize; 3] {
        let (rows, k) = (self.rows as usize, self.k as usize);
        [rows * COLUMNS, rows * k, COLUMNS * k].map(|elements| elements / LANES)
    }

    /// Packs the shape into the number stored in instructions.
    pub fn packed(self) -> u32 {
        self.rows | self.k << 8
    }
}

/// Runs `mma` on doubles. `arg0` is [`DoubleShape::packed`]; the operand list is `imm`. Each sum is a chain of fused
/// multiply-adds in the order of k, starting from C, as on an H200.
///
/// # Safety
/// The requirements of [`Handler`]; every entry of the operand list is a 64-bit row.
pub unsafe fn doubles(sm: &mut Sm, inst: &Inst) -> Next {
    if let Some(fault) = incomplete_warp_fault(sm) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    let shape = DoubleShape {
        rows: inst.arg0 & 0xff,
        k: inst.arg0 >> 8,
    };
    converge(sm, inst, FULL, |sm| {
        let mut offsets = [0; MAX_REGISTERS];
        let list = &sm.grid.program.operand_lists[inst.imm as usize];
        offsets[..list.len()].copy_from_slice(list);
        let row = |n: usize| -> *mut [f64; LANES] {
            // SAFETY: the lowering placed these registers, all 64-bit rows, inside the frame.
            unsafe { sm.frame.add(offsets[n] as usize).cast() }
        };
        let [results, a_registers, b_registers] = shape.registers();
        let (a, b) = (results, results + a_registers);
        let c = b + b_registers;
        let groups = shape.rows as usize / 8;
        // SAFETY: all lanes are active, so whole rows may be read and written.
        let element = |n: usize, lane: usize| unsafe { (*row(n))[lane] };
        let mut d = [[0.0; LANES]; 4];
        for m in 0..shape.rows as usize {
            for n in 0..COLUMNS {
                let (register, lane) = (m / 8 * 2 + n % 2, m % 8 * 4 + n / 2);
                let start = element(c + register, lane);
                let sum = (0..shape.k as usize).fold(start, |sum, k| {
                    let left = element(a + k / 4 * groups + m / 8, m % 8 * 4 + k % 4);
                    let right = element(b + k / 4, n * 4 + k % 4);
                    pass_nan([right, sum, left], left.mul_add(right, sum))
                });
                d[register][lane] = sum;
            }
        }
        for (n, d) in d[..results].iter().enumerate() {
            // SAFETY: as above.
            unsafe { *row(n) = *d };
        }
    })
}

/// Bytes per row of a matrix that `ldmatrix` and `stmatrix` move, and rows per matrix.
const MATRIX_ROW: usize = 16;
const MATRIX_ROWS: usize = 8;

/// Packs the number of matrices and their transposition into `arg0`.
pub fn packed_matrices(matrices: usize, transposed: bool) -> u32 {
    matrices as u32 | u32::from(transposed) << 8
}

/// Runs `ldmatrix`. Operands: a destination for each matrix, then the address row, to which `imm` is added.
/// Lanes `8 m` to `8 m + 7` hold the addresses of the rows of matrix `m`. `arg0`: see [`packed_matrices`].
///
/// # Safety
/// The requirements of [`Handler`].
pub unsafe fn load_matrices(sm: &mut Sm, inst: &Inst) -> Next {
    move_matrices(sm, inst, |sm, matrices, transposed| {
        // SAFETY: the operand after the destinations is a 64-bit row.
        let addresses = *unsafe { sm.row::<u64>(inst, matrices) };
        let mut rows = [[0u8; MATRIX_ROW]; LANES];
        for (lane, row) in rows[..matrices * MATRIX_ROWS].iter_mut().enumerate() {
            let address = addresses[lane].wrapping_add(inst.imm);
            let row_bytes = MATRIX_ROW as u64;
            match translate_lane::<SharedSpace>(sm, inst, lane, address, row_bytes, false) {
                // SAFETY: `translate_lane` checked the bytes of a row.
                Some(host) => unsafe { host.copy_to_nonoverlapping(row.as_mut_ptr(), MATRIX_ROW) },
                None => return,
            }
        }
        SharedSpace::count(sm, false, 1, LANES as u64);
        for (n, matrix) in rows.chunks_exact(MATRIX_ROWS).take(matrices).enumerate() {
            let half = |row: usize, column: usize| {
                u32::from(u16::from_ne_bytes([
                    matrix[row][2 * column],
                    matrix[row][2 * column + 1],
                ]))
            };
            let values = std::array::from_fn(|lane| {
                let (group, pair) = (lane / 4, lane % 4 * 2);
                if transposed {
                    half(pair, group) | half(pair + 1, group) << 16
                } else {
                    half(group, pair) | half(group, pair + 1) << 16
                }
            });
            // SAFETY: the destinations are 32-bit rows.
            unsafe { sm.write::<u32>(inst, n, values) };
        }
    })
}

/// Runs `stmatrix`. Operands: the address row, to which `imm` is added, then a source for each matrix; the
/// address lanes are those of [`load_matrices`]. `arg0`: see [`packed_matrices`].
///
/// # Safety
/// The requirements of [`load_matrices`].
pub unsafe fn store_matrices(sm: &mut Sm, inst: &Inst) -> Next {
    move_matrices(sm, inst, |sm, matrices, transposed| {
        // SAFETY: operand 0 is a 64-bit row.
        let addresses = *unsafe { sm.row::<u64>(inst, 0) };
        for n in 0..matrices {
            // SAFETY: the sources are 32-bit rows.
            let values = *unsafe { sm.row::<u32>(inst, 1 + n) };
            let mut rows = [[0u16; MATRIX_ROW / 2]; MATRIX_ROWS];
            for (lane, word) in values.into_iter().enumerate() {
                let (group, pair) = (lane / 4, lane % 4 * 2);
                for (part, half) in [word as u16, (word >> 16) as u16].into_iter().enumerate() {
                    if transposed {
                        rows[pair + part][group] = half
                    } else {
                        rows[group][pair + part] = half
                    }
                }
            }
            for (row, values) in rows.iter().enumerate() {
                let lane = n * MATRIX_ROWS + row;
                let address = addresses[lane].wrapping_add(inst.imm);
                let row_bytes = MATRIX_ROW as u64;
                match translate_lane::<SharedSpace>(sm, inst, lane, address, row_bytes, true) {
                    // SAFETY: `translate_lane` checked the bytes of a row.
                    Some(host) => unsafe {
                        values
                            .as_ptr()
                            .cast::<u8>()
                            .copy_to_nonoverlapping(host, MATRIX_ROW);
                    },
                    None => return,
                }
            }
        }
        SharedSpace::count(sm, true, 1, LANES as u64);
    })
}

/// Runs `ldmatrix` or `stmatrix` with all lanes. `body` gets the number of matrices, and true if they are transposed.
fn move_matrices(sm: &mut Sm, inst: &Inst, body: impl FnOnce(&mut Sm, usize, bool)) -> Next {
    if let Some(fault) = incomplete_warp_fault(sm) {
        return sm.fail(inst, sm.mask.trailing_zeros() as usize, fault);
    }
    let (matrices, transposed) = (inst.arg0 as usize & 0xff, inst.arg0 >> 8 == 1);
    let next = converge(sm, inst, FULL, |sm| body(sm, matrices, transposed));
    if sm.fault.is_some() {
        return std::ptr::null();
    }
    next
}

/// Returns the fault of a warp-wide instruction if some of the warp's 32 lanes do not exist or have ended.
fn incomplete_warp_fault(sm: &Sm) -> Option<FaultKind> {
    let alive = sm.block.warp().alive;
    (alive != FULL).then_some(FaultKind::WarpIncomplete { alive })
}

/// Computes `A × B + C` of matrices in the registers of a warp.
#[inline(always)]
fn product(shape: ProductShape, a: &Registers, b: &Registers, c: &Registers) -> Registers {
    product_with(shape, a, &Left::of(shape, a), b, c)
}

/// Computes `A × B + C` with matrix A also in prepared form.
#[inline(always)]
fn product_with(
    shape: ProductShape,
    a: &Registers,
    left: &Left,
    b: &Registers,
    c: &Registers,
) -> Registers {
    fast_path::product(shape, left, b, c).unwrap_or_else(|| product_general(shape, a, b, c))
}

/// Computes `A × B + C` for any numbers, one sum after the other.
#[cold]
fn product_general(shape: ProductShape, a: &Registers, b: &Registers, c: &Registers) -> Registers {
    let mut rows = [[Unpacked::default(); MAX_K]; ROWS];
    let mut columns = [[Unpacked::default(); MAX_K]; COLUMNS];
    for (row, elements) in rows.iter_mut().enumerate() {
        for (k, element) in elements[..shape.k].iter_mut().enumerate() {
            // The upper eight rows first, then the lower; then the next columns.
            let (register, lane, half) = element_location(shape, row % 8, k);
            let register = 2 * register + row / 8;
            *element = Unpacked::of(shape.multiplicand, a[register][lane] >> half);
        }
    }
    for (column, elements) in columns.iter_mut().enumerate() {
        for (k, element) in elements[..shape.k].iter_mut().enumerate() {
            let (register, lane, half) = element_location(shape, column, k);
            *element = Unpacked::of(shape.multiplicand, b[register][lane] >> half);
        }
    }
    let dot = Dot::new(shape.accumulator);
    let mut d = [[0; LANES]; 4];
    for (row, left) in rows.iter().enumerate() {
        for (column, right) in columns.iter().enumerate() {
            let lane = row % 8 * 4 + column / 2;
            let (register, half) = shape.accumulator.location(row / 8 * 2 + column % 2);
            let added = c[register][lane] >> half;
            let sum = dot.sum(&left[..shape.k], &right[..shape.k], added);
            d[register][lane] |= sum << half;
        }
    }
    d
}

/// Returns the location of element `k` of a row of A, or of a column of B: the register among those of that
/// row, the lane, and the bit offset in the register.
fn element_location(shape: ProductShape, row: usize, k: usize) -> (usize, usize, usize) {
    let packed = shape.packed();
    let across = 4 * packed;
    let lane = row * 4 + k % across / packed;
    (k / across, lane, k % packed * 16)
}
