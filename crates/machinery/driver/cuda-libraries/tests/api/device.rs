//! Device memory, deterministic numbers, and comparisons.

use std::ffi::c_int;
use std::sync::Once;

use cuda_libraries::cublas::{C32, C64, Scalar};
use cuda_libraries::cublas::{cublasCreate_v2, cublasDestroy_v2};
use cuda_runtime::{cudaDeviceSynchronize, cudaFree, cudaMalloc, cudaMemcpy};

/// Selects the simulator.
pub fn start() {
    static START: Once = Once::new();
    START.call_once(|| {
        // SAFETY: no other thread of the test reads the environment before the simulator has started.
        unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
        // SAFETY: freeing a null pointer starts the simulator.
        assert_eq!(unsafe { cudaFree(std::ptr::null_mut()) }, 0);
    });
}

/// A type of elements in tests.
pub trait Element: Scalar + std::fmt::Debug {
    /// The rounding error of the type.
    const EPSILON: f64;

    fn make(re: f64, im: f64) -> Self;
    fn exact(self) -> C64;
}

/// Implements [`Element`].
macro_rules! elements {
    ($($type:ty, $epsilon:expr, |$re:ident, $im:ident| $make:expr, |$value:ident| $exact:expr;)*) => {$(
        impl Element for $type {
            const EPSILON: f64 = $epsilon;

            fn make($re: f64, $im: f64) -> Self {
                let _ = $im;
                $make
            }

            fn exact(self) -> C64 {
                let $value = self;
                $exact
            }
        }
    )*};
}

elements! {
    f32, f32::EPSILON as f64, |re, im| re as f32, |x| C64::new(x.into(), 0.0);
    f64, f64::EPSILON, |re, im| re, |x| C64::new(x, 0.0);
    C32, f32::EPSILON as f64, |re, im| C32::new(re as f32, im as f32), |x| C64::new(x.re.into(), x.im.into());
    C64, f64::EPSILON, |re, im| C64::new(re, im), |x| x;
}

/// Returns numbers from -1 to 1.
pub fn numbers<T: Element>(count: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| T::make(next(), next())).collect()
}

/// An array in device memory.
pub struct Array<T> {
    pub address: *mut T,
    count: usize,
}

impl<T: Copy> Array<T> {
    pub fn new(elements: &[T]) -> Self {
        start();
        let mut address = std::ptr::null_mut();
        let bytes = size_of_val(elements).max(1);
        // SAFETY: the pointers are valid for the call.
        unsafe {
            assert_eq!(cudaMalloc(&mut address, bytes), 0);
            assert_eq!(
                cudaMemcpy(address, elements.as_ptr().cast(), size_of_val(elements), 1),
                0
            );
        }
        Self {
            address: address.cast(),
            count: elements.len(),
        }
    }

    /// Waits for all work and returns the elements.
    pub fn read(&self) -> Vec<T> {
        let mut elements: Vec<T> = Vec::with_capacity(self.count);
        // SAFETY: there is room for all elements, which the copy writes.
        unsafe {
            assert_eq!(cudaDeviceSynchronize(), 0);
            let bytes = self.count * size_of::<T>();
            assert_eq!(
                cudaMemcpy(elements.as_mut_ptr().cast(), self.address.cast(), bytes, 2),
                0
            );
            elements.set_len(self.count);
        }
        elements
    }
}

impl<T> Drop for Array<T> {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated by `cudaMalloc`.
        unsafe { cudaFree(self.address.cast()) };
    }
}

/// A handle of cuBLAS.
pub struct Handle(pub usize);

impl Handle {
    pub fn new() -> Self {
        start();
        let mut handle = 0;
        // SAFETY: the pointer is writable.
        assert_eq!(unsafe { cublasCreate_v2(&mut handle) }, 0);
        Self(handle)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is valid.
        unsafe { cublasDestroy_v2(self.0) };
    }
}

/// Asserts that results differ from exact ones by rounding errors only: `terms` of the largest result. NaN never passes.
pub fn assert_close<T: Element>(name: &str, actual: &[T], expected: &[C64], terms: usize) {
    assert_eq!(actual.len(), expected.len(), "{name}");
    let largest = expected.iter().map(|x| x.norm()).fold(1.0, f64::max);
    let tolerance = 4.0 * (terms + 4) as f64 * T::EPSILON * largest;
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let difference = (actual.exact() - expected).norm();
        assert!(
            difference <= tolerance,
            "{name}: element {index} is {actual:?}, expected {expected}"
        );
    }
}

/// The operations, with their values in C.
pub const OPS: [c_int; 3] = [0, 1, 2];

/// A matrix on the host with exact elements, in column-major order.
#[derive(Clone)]
pub struct Dense {
    pub rows: usize,
    pub columns: usize,
    pub elements: Vec<C64>,
}

impl Dense {
    pub fn new(rows: usize, columns: usize, element: impl Fn(usize, usize) -> C64) -> Self {
        let positions = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
        let elements = positions
            .map(|(row, column)| element(row, column))
            .collect();
        Self {
            rows,
            columns,
            elements,
        }
    }

    pub fn at(&self, row: usize, column: usize) -> C64 {
        self.elements[row + column * self.rows]
    }

    /// Applies an operation.
    pub fn op(&self, op: c_int) -> Self {
        match op {
            0 => self.clone(),
            1 => Self::new(self.columns, self.rows, |row, column| self.at(column, row)),
            _ => Self::new(self.columns, self.rows, |row, column| {
                self.at(column, row).conj()
            }),
        }
    }

    pub fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows);
        Self::new(self.rows, other.columns, |row, column| {
            (0..self.columns)
                .map(|i| self.at(row, i) * other.at(i, column))
                .sum()
        })
    }

    /// Returns `alpha` times this matrix plus `beta` times another.
    pub fn combined(&self, alpha: C64, other: &Self, beta: C64) -> Self {
        let elements = self.elements.iter().zip(&other.elements);
        Self {
            elements: elements.map(|(x, y)| alpha * x + beta * y).collect(),
            ..*self
        }
    }
}
