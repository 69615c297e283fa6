//! The element types of BLAS, the matrix multiplication of the host that everything else uses, and elements whose type is
//! an argument (`cudaDataType`).

use std::iter::Sum;
use std::ops::{Neg, Range};

use cuda_driver::{Arithmetic, CallMemory, IllegalOperand};
use half::bf16;
use num_complex::Complex;
use num_traits::{Float, NumAssign};
use rayon::prelude::*;

use super::arguments::read_element;
use super::handle::PointerMode;
use super::*;
use crate::call::Columns;

/// `cuComplex`.
pub type C32 = Complex<f32>;
/// `cuDoubleComplex`.
pub type C64 = Complex<f64>;

/// A type of elements: a real or complex number in single or double precision.
pub trait Scalar: Copy + Send + Sync + NumAssign + Neg<Output = Self> + Sum + 'static {
    type Real: Scalar<Real = Self::Real> + Float;
    /// The type of sums of many elements.
    type Wide: Scalar<Real = f64, Wide = Self::Wide>;
    const ARITHMETIC: Arithmetic;
    const IS_COMPLEX: bool;

    fn conj(self) -> Self;
    fn from_real(real: Self::Real) -> Self;
    fn re(self) -> Self::Real;
    fn im(self) -> Self::Real;
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;

    /// Computes `c = alpha * a * b + beta * c` on one thread. If `beta` is zero, `c` is not read.
    ///
    /// # Safety
    /// The matrices must be valid for these sizes and strides, and `c` must not overlap the others.
    unsafe fn gemm(
        sizes: Sizes,
        alpha: Self,
        a: Strided<Self>,
        b: Strided<Self>,
        beta: Self,
        c: StridedMut<Self>,
    );

    /// Returns the sum of the absolute values of the real and the imaginary part.
    fn magnitude(self) -> Self::Real {
        self.re().abs() + self.im().abs()
    }

    /// Returns the conjugate if `conjugated` is true.
    fn conj_if(self, conjugated: bool) -> Self {
        match conjugated {
            true => self.conj(),
            false => self,
        }
    }
}

/// The sizes of a matrix multiplication: `c` has `m` rows and `n` columns, `a` has `k` columns.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

impl Sizes {
    /// Returns the number of operations on elements of this type.
    pub fn operations<T: Scalar>(self) -> f64 {
        let products = self.m as f64 * self.n as f64 * self.k as f64;
        products * if T::IS_COMPLEX { 8.0 } else { 2.0 }
    }
}

/// A matrix that is read: the pointer to its first element, and the distances between rows and between columns.
#[derive(Clone, Copy)]
pub struct Strided<T> {
    pub start: *const T,
    pub row: usize,
    pub column: usize,
}

// SAFETY: the threads that get a matrix only read it.
unsafe impl<T: Sync> Send for Strided<T> {}
// SAFETY: shared access only reads.
unsafe impl<T: Sync> Sync for Strided<T> {}

impl<T> Strided<T> {
    pub fn at(self, row: usize, column: usize) -> *const T {
        self.start
            .wrapping_add(row * self.row + column * self.column)
    }
}

/// A matrix that is written, with consecutive elements in a column.
#[derive(Clone, Copy)]
pub struct StridedMut<T> {
    pub start: *mut T,
    pub column: usize,
}

// SAFETY: each thread that gets a matrix writes elements of its own.
unsafe impl<T: Send> Send for StridedMut<T> {}
// SAFETY: each thread that gets a matrix writes elements of its own.
unsafe impl<T: Send> Sync for StridedMut<T> {}

impl<T> StridedMut<T> {
    fn at(self, row: usize, column: usize) -> *mut T {
        self.start.wrapping_add(row + column * self.column)
    }
}

/// Implements [`Scalar`]: the type, its real and wide types, the function of `matrixmultiply` with the arguments that come
/// first, the type of that function's elements, and conversions.
macro_rules! scalars {
    ($($type:ty, $real:ty, $wide:ty, $arithmetic:ident, $complex:literal,
        $gemm:ident ($($first:expr),*) $element:ty, $to_element:expr;
        |$value:ident| $conj:expr, $re:expr, $im:expr; |$other:ident| $from_real:expr; $widen:expr, $narrow:expr;)*) => {$(
        impl Scalar for $type {
            type Real = $real;
            type Wide = $wide;
            const ARITHMETIC: Arithmetic = Arithmetic::$arithmetic;
            const IS_COMPLEX: bool = $complex;

            fn conj(self) -> Self {
                let $value = self;
                $conj
            }

            fn from_real(real: $real) -> Self {
                let $other = real;
                $from_real
            }

            fn re(self) -> $real {
                let $value = self;
                $re
            }

            fn im(self) -> $real {
                let $value = self;
                let _ = $value;
                $im
            }

            fn widen(self) -> $wide {
                $widen(self)
            }

            fn narrow(wide: $wide) -> Self {
                $narrow(wide)
            }

            unsafe fn gemm(
                Sizes { m, n, k }: Sizes,
                alpha: Self,
                a: Strided<Self>,
                b: Strided<Self>,
                beta: Self,
                c: StridedMut<Self>,
            ) {
                let signed = |stride: usize| stride as isize;
                // SAFETY: the requirements are those of this function; complex numbers have the layout of two numbers.
                unsafe {
                    matrixmultiply::$gemm(
                        $($first,)* m, k, n, $to_element(alpha),
                        a.start.cast::<$element>(), signed(a.row), signed(a.column),
                        b.start.cast::<$element>(), signed(b.row), signed(b.column),
                        $to_element(beta), c.start.cast::<$element>(), 1, signed(c.column),
                    );
                }
            }
        }
    )*};
}

use matrixmultiply::CGemmOption::Standard;

scalars! {
    f32, f32, f64, Single, false, sgemm() f32, |x: f32| x;
        |x| x, x, 0.0; |x| x; f64::from, |x: f64| x as f32;
    f64, f64, f64, Double, false, dgemm() f64, |x: f64| x;
        |x| x, x, 0.0; |x| x; |x: f64| x, |x: f64| x;
    C32, f32, C64, Single, true, cgemm(Standard, Standard) [f32; 2], |x: C32| [x.re, x.im];
        |x| Complex::conj(&x), x.re, x.im; |x| C32::new(x, 0.0);
        |x: C32| C64::new(x.re.into(), x.im.into()), |x: C64| C32::new(x.re as f32, x.im as f32);
    C64, f64, C64, Double, true, zgemm(Standard, Standard) [f64; 2], |x: C64| [x.re, x.im];
        |x| Complex::conj(&x), x.re, x.im; |x| C64::new(x, 0.0); |x: C64| x, |x: C64| x;
}

/// A factor of a matrix multiplication, possibly conjugated.
#[derive(Clone, Copy)]
pub struct Factor<T> {
    pub matrix: Strided<T>,
    pub conjugated: bool,
}

impl<T> Factor<T> {
    /// Creates a factor from a matrix in column-major order.
    pub fn new(start: *const T, leading: usize, transposed: bool, conjugated: bool) -> Self {
        let (row, column) = match transposed {
            true => (leading, 1),
            false => (1, leading),
        };
        Self {
            matrix: Strided { start, row, column },
            conjugated,
        }
    }
}

/// The number of operations below which one thread multiplies matrices.
const PARALLEL: f64 = 1e6;

/// Columns or rows per thread, at least.
const MIN_PART: usize = 64;

/// Computes `c = alpha * a * b + beta * c`, on all threads if the matrices are large. The result does not depend on the
/// number of threads. If `beta` is zero, `c` is not read; if `alpha` is zero, `a` and `b` are not.
///
/// # Safety
/// The matrices must be valid for these sizes and strides, and `c` must not overlap the others.
pub unsafe fn multiply<T: Scalar>(
    sizes: Sizes,
    alpha: T,
    a: Factor<T>,
    b: Factor<T>,
    beta: T,
    c: StridedMut<T>,
) {
    let Sizes { m, n, k } = sizes;
    if k == 0 || alpha.is_zero() {
        for column in 0..n {
            for row in 0..m {
                let element = c.at(row, column);
                // SAFETY: the element is in the matrix.
                unsafe {
                    element.write(match beta.is_zero() {
                        true => T::zero(),
                        false => beta * element.read(),
                    });
                }
            }
        }
        return;
    }
    // SAFETY: the factors have these sizes.
    let [copied_a, copied_b] = unsafe { [conjugate_of(a, m, k), conjugate_of(b, k, n)] };
    let as_factor = |copy: &Option<Vec<T>>, factor: Factor<T>, rows: usize| match copy {
        Some(copy) => Strided {
            start: copy.as_ptr(),
            row: 1,
            column: rows,
        },
        None => factor.matrix,
    };
    let (a, b) = (as_factor(&copied_a, a, m), as_factor(&copied_b, b, k));
    let part = |rows: Range<usize>, columns: Range<usize>| {
        let sizes = Sizes {
            m: rows.len(),
            n: columns.len(),
            k,
        };
        let from = Strided {
            start: a.at(rows.start, 0),
            ..a
        };
        let by = Strided {
            start: b.at(0, columns.start),
            ..b
        };
        let to = StridedMut {
            start: c.at(rows.start, columns.start),
            ..c
        };
        // SAFETY: the parts are inside the matrices, and those of `c` do not overlap.
        unsafe { T::gemm(sizes, alpha, from, by, beta, to) };
    };
    let threads = rayon::current_num_threads();
    if sizes.operations::<T>() < PARALLEL || threads == 1 {
        return part(0..m, 0..n);
    }
    let split = |length: usize| {
        let length_of_part = length.div_ceil(threads).max(MIN_PART);
        let parts = (0..length.div_ceil(length_of_part)).into_par_iter();
        parts.map(move |i| i * length_of_part..length.min((i + 1) * length_of_part))
    };
    match n >= m {
        true => split(n).for_each(|columns| part(0..m, columns)),
        false => split(m).for_each(|rows| part(rows, 0..n)),
    }
}

/// Returns the elements of a conjugated complex factor in column-major order; `None` for other factors.
///
/// # Safety
/// The factor must have this many rows and columns.
unsafe fn conjugate_of<T: Scalar>(
    factor: Factor<T>,
    rows: usize,
    columns: usize,
) -> Option<Vec<T>> {
    if !(factor.conjugated && T::IS_COMPLEX) {
        return None;
    }
    let elements = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
    // SAFETY: the element is in the matrix.
    let element = |(row, column)| unsafe { factor.matrix.at(row, column).read() }.conj();
    Some(elements.map(element).collect())
}

/// A type of elements in memory.
pub trait Element: Copy + Send + Sync + 'static {
    const DATA_TYPE: DataType;

    /// Returns the real and the imaginary part.
    fn parts(self) -> [f64; 2];
    /// Rounds a number to the type.
    fn from_parts(parts: [f64; 2]) -> Self;
}

/// Implements [`Element`] for types with conversions from and to parts.
macro_rules! elements {
    ($($type:ty, $data_type:ident, |$value:ident| $parts:expr, |$re:ident, $im:ident| $from:expr;)*) => {$(
        impl Element for $type {
            const DATA_TYPE: DataType = DataType::$data_type;

            fn parts(self) -> [f64; 2] {
                let $value = self;
                $parts
            }

            fn from_parts([$re, $im]: [f64; 2]) -> Self {
                let _ = $im;
                $from
            }
        }
    )*};
}

elements! {
    f32, F32, |x| [x.into(), 0.0], |re, im| re as f32;
    f64, F64, |x| [x, 0.0], |re, im| re;
    f16, F16, |x| [x.to_f64(), 0.0], |re, im| f16::from_f64(re);
    bf16, Bf16, |x| [x.to_f64(), 0.0], |re, im| bf16::from_f64(re);
    i8, I8, |x| [x.into(), 0.0], |re, im| re as i8;
    i32, I32, |x| [x.into(), 0.0], |re, im| re as i32;
    C32, C32, |x| [x.re.into(), x.im.into()], |re, im| C32::new(re as f32, im as f32);
    C64, C64, |x| [x.re, x.im], |re, im| C64::new(re, im);
}

/// `cudaDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    F32,
    F64,
    F16,
    Bf16,
    I8,
    I32,
    C32,
    C64,
}

impl DataType {
    pub fn new(value: c_int) -> Result<Self, Status> {
        Ok(match value {
            0 => Self::F32,
            1 => Self::F64,
            2 => Self::F16,
            3 => Self::I8,
            4 => Self::C32,
            5 => Self::C64,
            10 => Self::I32,
            14 => Self::Bf16,
            _ => return Err(NOT_SUPPORTED),
        })
    }
}

/// Evaluates an expression in which a name stands for the element type of a [`DataType`].
macro_rules! with_element {
    ($data_type:expr, $name:ident => $value:expr) => {
        match $data_type {
            DataType::F32 => with_element!(@ $name, f32, $value),
            DataType::F64 => with_element!(@ $name, f64, $value),
            DataType::F16 => with_element!(@ $name, half::f16, $value),
            DataType::Bf16 => with_element!(@ $name, half::bf16, $value),
            DataType::I8 => with_element!(@ $name, i8, $value),
            DataType::I32 => with_element!(@ $name, i32, $value),
            DataType::C32 => with_element!(@ $name, $crate::cublas::C32, $value),
            DataType::C64 => with_element!(@ $name, $crate::cublas::C64, $value),
        }
    };
    (@ $name:ident, $type:ty, $value:expr) => {{
        type $name = $type;
        $value
    }};
}

pub(super) use with_element;

/// Evaluates an expression in which a name stands for the type that a call computes in.
macro_rules! with_scalar {
    ($data_type:expr, $name:ident => $value:expr) => {
        match $data_type {
            DataType::F32 => with_element!(@ $name, f32, $value),
            DataType::F64 => with_element!(@ $name, f64, $value),
            DataType::C32 => with_element!(@ $name, $crate::cublas::C32, $value),
            DataType::C64 => with_element!(@ $name, $crate::cublas::C64, $value),
            _ => Err(NOT_SUPPORTED),
        }
    };
}

pub(super) use with_scalar;

/// A scalar argument of any type.
#[derive(Clone, Copy)]
pub enum AnyScale {
    Value([f64; 2]),
    Device(u64, DataType),
}

impl AnyScale {
    /// Reads a scalar on the host, or keeps its address on the device.
    ///
    /// # Safety
    /// In the pointer mode of the host, `pointer` must be null or readable.
    pub unsafe fn new(
        mode: PointerMode,
        pointer: *const c_void,
        data_type: DataType,
    ) -> Result<Self, Status> {
        if pointer.is_null() {
            return Err(INVALID_VALUE);
        }
        Ok(match mode {
            PointerMode::Device => Self::Device(pointer as u64, data_type),
            PointerMode::Host => with_element!(data_type, E => {
                // SAFETY: the pointer is readable, by this function's contract.
                Self::Value(unsafe { pointer.cast::<E>().read_unaligned() }.parts())
            }),
        })
    }

    /// Reads two scalars as [`new`](Self::new) does.
    ///
    /// # Safety
    /// In the pointer mode of the host, the pointers must be null or readable.
    pub unsafe fn pair(
        mode: PointerMode,
        pointers: [*const c_void; 2],
        data_type: DataType,
    ) -> Result<[Self; 2], Status> {
        // SAFETY: the requirements are those of this function.
        let [first, second] =
            pointers.map(|pointer| unsafe { Self::new(mode, pointer, data_type) });
        Ok([first?, second?])
    }

    pub fn get<T: Element>(self, memory: &mut CallMemory<'_>) -> Result<T, IllegalOperand> {
        let parts = match self {
            Self::Value(parts) => parts,
            Self::Device(address, data_type) => {
                with_element!(data_type, E => read_element::<E>(memory, address)?.parts())
            }
        };
        Ok(T::from_parts(parts))
    }
}

/// Reads a matrix without gaps between its columns, and converts its elements.
pub fn read_as<T: Element>(
    memory: &mut CallMemory<'_>,
    columns: Columns,
    data_type: DataType,
) -> Result<Vec<T>, IllegalOperand> {
    let Columns {
        rows,
        columns: count,
        leading,
        ..
    } = columns;
    with_element!(data_type, E => {
        let start: *const E = columns.read(memory)?;
        let positions = (0..count).flat_map(|column| (0..rows).map(move |row| row + column * leading));
        // SAFETY: the element is in the matrix.
        let element = |position| unsafe { start.add(position).read_unaligned() };
        Ok(positions.map(|position| T::from_parts(element(position).parts())).collect())
    })
}

/// Converts elements without gaps between the columns and writes them to a matrix.
pub fn write_as<T: Element>(
    memory: &mut CallMemory<'_>,
    columns: Columns,
    data_type: DataType,
    elements: &[T],
) -> Result<(), IllegalOperand> {
    let Columns { rows, leading, .. } = columns;
    with_element!(data_type, E => {
        let start: *mut E = columns.write(memory)?;
        for (i, element) in elements.iter().enumerate() {
            let position = i % rows + i / rows * leading;
            // SAFETY: the element is in the matrix.
            unsafe { start.add(position).write_unaligned(E::from_parts(element.parts())) };
        }
        Ok(())
    })
}
