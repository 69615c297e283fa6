//! Level 1: vectors.

use cuda_driver::{CallMemory, IllegalOperand, Operations};
use num_traits::{Float, One, Zero};

use super::arguments::{Scale, Vector, read_element, submit_with_result, write_element};
use super::handle::{Handle, Settings, settings};
use super::scalar::Scalar;
use super::*;
use crate::call::operations;
use crate::functions::CallResult;

/// Returns a number of operations per element.
fn per_element<T: Scalar>(length: usize, count: f64) -> Operations {
    operations(T::ARITHMETIC, length as f64 * count)
}

/// Submits a reduction of one vector. Its result is that of no elements if the increment is not positive.
///
/// # Safety
/// In the pointer mode of the host, `result` must be writable.
unsafe fn reduce<T: Scalar, R: Copy + Send + Sync + 'static>(
    handle: Handle,
    (length, x, increment): (c_int, *const T, c_int),
    result: *mut R,
    reduction: fn(&[T]) -> R,
) -> CallResult {
    let settings = settings(handle)?;
    let length = if increment > 0 { length } else { 0 };
    let vector = Vector::level1(x, length, increment);
    let operations = per_element::<T>(vector.length, 2.0);
    let work = move |memory: &mut CallMemory<'_>| Ok(reduction(&vector.read(memory)?));
    // SAFETY: the requirements are those of this function.
    unsafe { submit_with_result(&settings, result, vec![x as u64], operations, work) }
}

/// Returns the position, from 1, of the first element that `is_better` than all others; 0 if there are none.
fn extreme<T: Scalar>(elements: &[T], is_better: fn(&T::Real, &T::Real) -> bool) -> c_int {
    let mut best: Option<(usize, T::Real)> = None;
    for (index, element) in elements.iter().enumerate() {
        let magnitude = element.magnitude();
        if best.is_none_or(|(_, known)| is_better(&magnitude, &known)) {
            best = Some((index, magnitude));
        }
    }
    best.map_or(0, |(index, _)| index as c_int + 1)
}

/// Returns the sum of real numbers, with an accumulator of double precision.
fn sum<R: Scalar>(values: impl Iterator<Item = R>) -> R {
    // `sum` of no numbers would be -0.
    R::narrow(
        values
            .map(R::widen)
            .fold(R::Wide::zero(), |sum, value| sum + value),
    )
}

/// Returns the Euclidean norm, without overflow of the squares.
pub fn norm<T: Scalar>(elements: &[T]) -> T::Real {
    let parts = || elements.iter().flat_map(|x| [x.re(), x.im()]);
    let largest = parts().fold(T::Real::zero(), |largest, part| largest.max(part.abs()));
    if parts().any(Float::is_nan) {
        return T::Real::nan();
    }
    if largest.is_zero() || largest.is_infinite() {
        return largest;
    }
    let squares = parts().map(|part| (part / largest) * (part / largest));
    largest * sum(squares).sqrt()
}

/// Generates the reductions of one vector: name, type of the result, and reduction.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident, $result:ty, $reduction:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `result` must be writable in the pointer mode of the host.
        pub unsafe fn $name<T: Scalar>(
            handle: Handle, n: c_int, x: *const T, incx: c_int, result: *mut $result,
        ) -> CallResult {
            // SAFETY: the requirements are those of this function.
            unsafe { reduce(handle, (n, x, incx), result, $reduction) }
        }
    )*};
}

reductions! {
    /// `cublasI?amax`.
    amax, c_int, |x| extreme(x, |new, known| new > known);
    /// `cublasI?amin`.
    amin, c_int, |x| extreme(x, |new, known| new < known);
    /// `cublas?asum`.
    asum, T::Real, |x| sum(x.iter().map(|x| x.magnitude()));
    /// `cublas?nrm2`.
    nrm2, T::Real, norm;
}

/// Returns the dot product, with an accumulator of double precision.
pub fn inner<T: Scalar>(x: &[T], y: &[T], conjugated: bool) -> T {
    let products = x.iter().zip(y);
    let products = products.map(|(x, y)| x.conj_if(conjugated).widen() * y.widen());
    T::narrow(products.fold(T::Wide::zero(), |sum, product| sum + product))
}

/// Generates the dot products: name, and true for those that conjugate `x`.
macro_rules! dot_products {
    ($($(#[$doc:meta])* $name:ident, $conjugated:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `result` must be writable in the pointer mode of the host.
        pub unsafe fn $name<T: Scalar>(
            handle: Handle, n: c_int, x: *const T, incx: c_int, y: *const T, incy: c_int, result: *mut T,
        ) -> CallResult {
            let settings = settings(handle)?;
            let [x, y] = [Vector::level1(x, n, incx), Vector::level1(y, n, incy)];
            let operations = per_element::<T>(x.length, 2.0);
            let operands = vec![x.address, y.address];
            let work = move |memory: &mut CallMemory<'_>| {
                Ok(inner::<T>(&x.read(memory)?, &y.read(memory)?, $conjugated))
            };
            // SAFETY: the requirements are those of this function.
            unsafe { submit_with_result(&settings, result, operands, operations, work) }
        }
    )*};
}

dot_products! {
    /// `cublas?dot` and `cublas?dotu`.
    dotu, false;
    /// `cublas?dotc`.
    dotc, true;
}

/// Submits work that changes vectors of one length, unless they are empty, with `count` operations per element.
fn submit<T: Scalar>(
    settings: &Settings,
    vectors: &[Vector],
    count: f64,
    work: impl Fn(&mut CallMemory<'_>) -> Result<(), IllegalOperand> + Send + Sync + 'static,
) -> CallResult {
    let length = vectors[0].length;
    if length == 0 {
        return Ok(());
    }
    let operands = vectors.iter().map(|vector| vector.address).collect();
    let operations = per_element::<T>(length, count);
    settings.stream.submit(operands, operations, work)
}

/// Changes the pairs of elements of two vectors.
fn change_pairs<T: Scalar>(
    memory: &mut CallMemory<'_>,
    [x, y]: [Vector; 2],
    change: impl Fn(T, T) -> [T; 2],
) -> Result<(), IllegalOperand> {
    let (old_x, old_y) = (x.read(memory)?, y.read(memory)?);
    let changed = || old_x.iter().zip(&old_y).map(|(&x, &y)| change(x, y));
    x.write(memory, changed().map(|[x, _]| x))?;
    y.write(memory, changed().map(|[_, y]| y))
}

/// `cublas?axpy`.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
pub unsafe fn axpy<T: Scalar>(
    handle: Handle,
    n: c_int,
    alpha: *const T,
    x: *const T,
    incx: c_int,
    y: *mut T,
    incy: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    // SAFETY: the requirements are those of this function.
    let alpha = unsafe { Scale::new(&settings, alpha) }?;
    let [from, to] = [Vector::level1(x, n, incx), Vector::level1(y, n, incy)];
    submit::<T>(&settings, &[from, to], 2.0, move |memory| {
        let alpha = alpha.get(memory)?;
        let x = from.read::<T>(memory)?;
        let y = to.read::<T>(memory)?;
        to.write(memory, x.into_iter().zip(y).map(|(x, y)| alpha * x + y))
    })
}

/// `cublas?copy`.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn copy<T: Scalar>(
    handle: Handle,
    n: c_int,
    x: *const T,
    incx: c_int,
    y: *mut T,
    incy: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let [from, to] = [Vector::level1(x, n, incx), Vector::level1(y, n, incy)];
    submit::<T>(&settings, &[from, to], 0.0, move |memory| {
        let x = from.read::<T>(memory)?;
        to.write(memory, x)
    })
}

/// `cublas?swap`.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn swap<T: Scalar>(
    handle: Handle,
    n: c_int,
    x: *mut T,
    incx: c_int,
    y: *mut T,
    incy: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let vectors = [Vector::level1(x, n, incx), Vector::level1(y, n, incy)];
    submit::<T>(&settings, &vectors, 0.0, move |memory| {
        change_pairs(memory, vectors, |x: T, y| [y, x])
    })
}

/// A factor of a vector: a number of its type, or a real one.
pub trait FactorOf<T>: Scalar {
    fn of(self) -> T;
}

impl<T: Scalar> FactorOf<T> for T {
    fn of(self) -> T {
        self
    }
}

impl FactorOf<C32> for f32 {
    fn of(self) -> C32 {
        C32::from_real(self)
    }
}

impl FactorOf<C64> for f64 {
    fn of(self) -> C64 {
        C64::from_real(self)
    }
}

/// `cublas?scal` for vectors of `T` and factors of `U`.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
pub unsafe fn scal<T: Scalar, U: FactorOf<T>>(
    handle: Handle,
    n: c_int,
    alpha: *const U,
    x: *mut T,
    incx: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    // SAFETY: the requirements are those of this function.
    let alpha = unsafe { Scale::new(&settings, alpha) }?;
    let vector = Vector::level1(x, if incx > 0 { n } else { 0 }, incx);
    submit::<T>(&settings, &[vector], 1.0, move |memory| {
        let alpha = alpha.get(memory)?.of();
        let x = vector.read::<T>(memory)?;
        vector.write(memory, x.into_iter().map(|x| alpha * x))
    })
}

/// `cublas?rot` for vectors of `T` and sines of `U`.
///
/// # Safety
/// `c` and `s` must be readable in the pointer mode of the host.
pub unsafe fn rot<T: Scalar, U: FactorOf<T>>(
    handle: Handle,
    n: c_int,
    x: *mut T,
    incx: c_int,
    y: *mut T,
    incy: c_int,
    c: *const T::Real,
    s: *const U,
) -> CallResult {
    let settings = settings(handle)?;
    // SAFETY: the requirements are those of this function.
    let (cosine, sine) = unsafe { (Scale::new(&settings, c)?, Scale::new(&settings, s)?) };
    let vectors = [Vector::level1(x, n, incx), Vector::level1(y, n, incy)];
    submit::<T>(&settings, &vectors, 6.0, move |memory| {
        let (c, s) = (T::from_real(cosine.get(memory)?), sine.get(memory)?.of());
        change_pairs(memory, vectors, |x, y| {
            [c * x + s * y, c * y - s.conj() * x]
        })
    })
}

/// Runs a function of scalars in the memory that the pointer mode selects: it gets and changes the values of `pointers`.
///
/// # Safety
/// The pointers must be readable and writable in the pointer mode of the host.
unsafe fn change_scalars<T: Scalar, const N: usize>(
    settings: &Settings,
    pointers: [*mut T; N],
    change: fn([T; N]) -> [T; N],
) -> CallResult {
    if pointers.iter().any(|pointer| pointer.is_null()) {
        return Err(INVALID_VALUE);
    }
    if settings.pointer_mode == handle::PointerMode::Host {
        // SAFETY: the requirements are those of this function.
        let changed = change(pointers.map(|pointer| unsafe { pointer.read() }));
        for (pointer, value) in pointers.into_iter().zip(changed) {
            // SAFETY: the requirements are those of this function.
            unsafe { pointer.write(value) };
        }
        return Ok(());
    }
    let addresses = pointers.map(|pointer| pointer as u64);
    let operands = addresses.to_vec();
    settings
        .stream
        .submit(operands, per_element::<T>(1, 1.0), move |memory| {
            let mut values = [T::zero(); N];
            for (value, &address) in values.iter_mut().zip(&addresses) {
                *value = read_element(memory, address)?;
            }
            for (&address, value) in addresses.iter().zip(change(values)) {
                write_element(memory, address, value)?;
            }
            Ok(())
        })
}

/// `cublasSrotg` and `cublasDrotg`: computes the rotation that makes the second of two numbers zero.
///
/// # Safety
/// The pointers must be readable and writable in the pointer mode of the host.
pub unsafe fn rotg<T: Scalar<Real = T> + Float>(
    handle: Handle,
    a: *mut T,
    b: *mut T,
    c: *mut T,
    s: *mut T,
) -> CallResult {
    let settings = settings(handle)?;
    // SAFETY: the requirements are those of this function.
    unsafe {
        change_scalars(&settings, [a, b, c, s], |[a, b, _, _]| {
            let sign = if Float::abs(a) > Float::abs(b) {
                a.signum()
            } else {
                b.signum()
            };
            if a.is_zero() && b.is_zero() {
                return [T::zero(), T::zero(), T::one(), T::zero()];
            }
            let radius = sign * a.hypot(b);
            let (c, s) = (a / radius, b / radius);
            let z = if Float::abs(a) > Float::abs(b) {
                s
            } else if c.is_zero() {
                T::one()
            } else {
                c.recip()
            };
            [radius, z, c, s]
        })
    }
}

/// `cublasCrotg` and `cublasZrotg`.
///
/// # Safety
/// The pointers must be readable and writable in the pointer mode of the host.
pub unsafe fn rotg_complex<T: Scalar>(
    handle: Handle,
    a: *mut T,
    b: *mut T,
    c: *mut T::Real,
    s: *mut T,
) -> CallResult {
    let settings = settings(handle)?;
    let rotation = |a: T, b: T| {
        let [length_a, length_b] = [a, b].map(|x| x.re().hypot(x.im()));
        if length_a.is_zero() {
            return (b, T::Real::zero(), T::one());
        }
        let length = length_a.hypot(length_b);
        let direction = a / T::from_real(length_a);
        let sine = direction * b.conj() / T::from_real(length);
        (direction * T::from_real(length), length_a / length, sine)
    };
    if [a, b, s].iter().any(|pointer| pointer.is_null()) || c.is_null() {
        return Err(INVALID_VALUE);
    }
    if settings.pointer_mode == handle::PointerMode::Host {
        // SAFETY: the requirements are those of this function.
        unsafe {
            let (radius, cosine, sine) = rotation(a.read(), b.read());
            a.write(radius);
            c.write(cosine);
            s.write(sine);
        }
        return Ok(());
    }
    let [a, b, c, s] = [a as u64, b as u64, c as u64, s as u64];
    settings
        .stream
        .submit(vec![a, b, c, s], per_element::<T>(1, 1.0), move |memory| {
            let (x, y) = (read_element(memory, a)?, read_element(memory, b)?);
            let (radius, cosine, sine) = rotation(x, y);
            write_element(memory, a, radius)?;
            write_element(memory, c, cosine)?;
            write_element(memory, s, sine)
        })
}

/// Returns the matrix of a modified Givens rotation, `[h11, h21, h12, h22]`, from its parameters; `None` for the identity.
fn modified_rotation<T: Scalar<Real = T> + Float>(param: [T; 5]) -> Option<[T; 4]> {
    let [flag, h11, h21, h12, h22] = param;
    let one = <T as One>::one();
    if flag == -one {
        Some([h11, h21, h12, h22])
    } else if flag.is_zero() {
        Some([one, h21, h12, one])
    } else if flag == one {
        Some([h11, -one, one, h22])
    } else {
        None
    }
}

/// `cublasSrotm` and `cublasDrotm`.
///
/// # Safety
/// `param` must be five readable numbers in the pointer mode of the host.
pub unsafe fn rotm<T: Scalar<Real = T> + Float>(
    handle: Handle,
    n: c_int,
    x: *mut T,
    incx: c_int,
    y: *mut T,
    incy: c_int,
    param: *const T,
) -> CallResult {
    let settings = settings(handle)?;
    // SAFETY: the requirements are those of this function.
    let param = unsafe { Scale::new(&settings, param.cast::<[T; 5]>()) }?;
    let vectors = [Vector::level1(x, n, incx), Vector::level1(y, n, incy)];
    submit::<T>(&settings, &vectors, 6.0, move |memory| {
        let Some([h11, h21, h12, h22]) = modified_rotation(param.get(memory)?) else {
            return Ok(());
        };
        change_pairs(memory, vectors, |x: T, y| {
            [h11 * x + h12 * y, h21 * x + h22 * y]
        })
    })
}

/// `cublasSrotmg` and `cublasDrotmg`: computes a modified Givens rotation as the reference BLAS does.
///
/// # Safety
/// The pointers must be readable and writable in the pointer mode of the host; `param` points to five numbers.
pub unsafe fn rotmg<T: Scalar<Real = T> + Float>(
    handle: Handle,
    d1: *mut T,
    d2: *mut T,
    x1: *mut T,
    y1: *const T,
    param: *mut T,
) -> CallResult {
    let settings = settings(handle)?;
    if param.is_null() {
        return Err(INVALID_VALUE);
    }
    let element = |index: usize| param.wrapping_add(index);
    let pointers = [
        d1,
        d2,
        x1,
        y1.cast_mut(),
        element(0),
        element(1),
        element(2),
        element(3),
        element(4),
    ];
    // SAFETY: the requirements are those of this function.
    unsafe { change_scalars(&settings, pointers, rotation_parameters) }
}

/// Returns the scaled factors, the rotated number, and the parameters of the rotation, after d1, d2, x1 and y1. What is not
/// part of the result stays as it is.
fn rotation_parameters<T: Scalar<Real = T> + Float>(values: [T; 9]) -> [T; 9] {
    let number = |x: f64| T::narrow(<T as Scalar>::Wide::from_real(x));
    let (zero, one) = (<T as Zero>::zero(), <T as One>::one());
    let [
        mut d1,
        mut d2,
        mut x1,
        y1,
        _,
        mut h11,
        mut h21,
        mut h12,
        mut h22,
    ] = values;
    let gamma = number(4096.0);
    let [least, most] = [gamma.powi(-2), gamma.powi(2)];
    let two = one + one;
    if d1 < zero {
        return [zero, zero, zero, y1, -one, zero, zero, zero, zero];
    }
    let p2 = d2 * y1;
    if p2.is_zero() {
        return [d1, d2, x1, y1, -two, h11, h21, h12, h22];
    }
    let p1 = d1 * x1;
    let mut flag;
    let (q1, q2) = (p1 * x1, p2 * y1);
    if Float::abs(q1) > Float::abs(q2) {
        (h21, h12) = (-y1 / x1, p2 / p1);
        let u = one - h12 * h21;
        if u <= zero {
            return [zero, zero, zero, y1, -one, zero, zero, zero, zero];
        }
        flag = zero;
        (h11, h22) = (one, one);
        (d1, d2, x1) = (d1 / u, d2 / u, x1 * u);
    } else if q2 < zero {
        return [zero, zero, zero, y1, -one, zero, zero, zero, zero];
    } else {
        flag = one;
        (h11, h22) = (p1 / p2, x1 / y1);
        (h12, h21) = (one, -one);
        let u = one + h11 * h22;
        (d1, d2, x1) = (d2 / u, d1 / u, y1 * u);
    }
    let is_small = |d: T| !d.is_zero() && Float::abs(d) <= least;
    let is_large = |d: T| Float::abs(d) >= most;
    while is_small(d1) || is_large(d1) {
        flag = -one;
        let factor = if is_small(d1) { gamma } else { gamma.recip() };
        d1 = d1 * factor * factor;
        (x1, h11, h12) = (x1 / factor, h11 / factor, h12 / factor);
    }
    while is_small(d2) || is_large(d2) {
        flag = -one;
        let factor = if is_small(d2) { gamma } else { gamma.recip() };
        d2 = d2 * factor * factor;
        (h21, h22) = (h21 / factor, h22 / factor);
    }
    // Elements that the flag implies are not written.
    let [_, _, _, _, _, old_h11, old_h21, old_h12, old_h22] = values;
    if flag.is_zero() {
        (h11, h22) = (old_h11, old_h22);
    } else if flag == one {
        (h21, h12) = (old_h21, old_h12);
    }
    [d1, d2, x1, y1, flag, h11, h21, h12, h22]
}
