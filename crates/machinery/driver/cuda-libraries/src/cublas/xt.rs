//! cuBLASXt: level 3 for matrices in the memory of the host or a device. Each call computes on copies of the host's
//! matrices in device memory, with the functions of cuBLAS, and returns when the result is complete.

use std::ptr::null_mut;

use cuda_driver::{current_function, functions as cu, warn};

use super::arguments::{Fill, Op, Side, leading};
use super::handle::{self, Handle};
use super::level1::FactorOf;
use super::scalar::Element;
use super::*;
use crate::call::check;
use crate::functions::{CallResult, write_output};

/// `cublasXtHandle_t`.
pub type XtHandle = usize;

/// The settings of a handle. Block size and pinning mode have no effect here; programs can read them back.
#[derive(Clone, Copy)]
struct Settings {
    cublas: Handle,
    /// The device that computes, or `None` before the program has selected one.
    device: Option<c_int>,
    block_size: c_int,
    pinning_mode: c_int,
}

static HANDLES: Handles<Settings> = Handles::new(NOT_INITIALIZED);

/// The block size of new handles, measured with cuBLAS 13.1.
const BLOCK_SIZE: c_int = 1024;

/// `cublasXtCreate`.
///
/// # Safety
/// `handle` must be null or writable.
pub unsafe fn create(handle: *mut XtHandle) -> CallResult {
    if handle.is_null() {
        return Err(INVALID_VALUE);
    }
    let mut cublas = 0;
    // SAFETY: `cublas` is writable.
    unsafe { handle::create(&mut cublas) }?;
    let created = HANDLES.insert(Settings {
        cublas,
        device: None,
        block_size: BLOCK_SIZE,
        pinning_mode: 0,
    });
    // SAFETY: the pointer is writable, by this function's contract.
    unsafe { handle.write(created) };
    Ok(())
}

/// `cublasXtDestroy`.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn destroy(handle: XtHandle) -> CallResult {
    let settings = HANDLES.remove(handle)?;
    // SAFETY: the handle of cuBLAS exists as long as this one.
    unsafe { handle::destroy(settings.cublas) }
}

/// Returns the number of devices.
fn device_count() -> Result<c_int, Status> {
    let mut count = 0;
    // SAFETY: `count` is writable.
    check(unsafe { cuda_runtime::cudaGetDeviceCount(&mut count) })?;
    Ok(count)
}

/// `cublasXtGetNumBoards`: each simulated device is a board of its own.
///
/// # Safety
/// `devices` must be null or have `count` elements, and `boards` must be null or writable.
pub unsafe fn boards(count: c_int, devices: *const c_int, boards: *mut c_int) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe {
        first_device(count, devices)?;
        write_output(boards, count, INVALID_VALUE)
    }
}

/// `cublasXtMaxBoards`.
///
/// # Safety
/// `boards` must be null or writable.
pub unsafe fn max_boards(boards: *mut c_int) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe { write_output(boards, device_count()?, INVALID_VALUE) }
}

/// Checks a list of devices, and returns the first.
///
/// # Safety
/// `devices` must be null or have `count` elements.
unsafe fn first_device(count: c_int, devices: *const c_int) -> Result<c_int, Status> {
    if count <= 0 || devices.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the list has this length, by this function's contract.
    let devices = unsafe { std::slice::from_raw_parts(devices, count as usize) };
    let available = 0..device_count()?;
    match devices.iter().all(|device| available.contains(device)) {
        true => Ok(devices[0]),
        false => Err(INVALID_VALUE),
    }
}

/// `cublasXtDeviceSelect`: all work is done on the first device.
///
/// # Safety
/// `devices` must be null or have `count` elements.
pub unsafe fn select_devices(handle: XtHandle, count: c_int, devices: *const c_int) -> CallResult {
    // SAFETY: the requirements are those of this function.
    let device = unsafe { first_device(count, devices) }?;
    HANDLES.with(handle, |settings| settings.device = Some(device))
}

/// `cublasXtSetBlockDim`.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_block_size(handle: XtHandle, size: c_int) -> CallResult {
    if size <= 0 {
        return Err(INVALID_VALUE);
    }
    HANDLES.with(handle, |settings| settings.block_size = size)
}

/// `cublasXtGetBlockDim`.
///
/// # Safety
/// `size` must be null or writable.
pub unsafe fn get_block_size(handle: XtHandle, size: *mut c_int) -> CallResult {
    let value = HANDLES.with(handle, |settings| settings.block_size)?;
    // SAFETY: the requirements are those of this function.
    unsafe { write_output(size, value, INVALID_VALUE) }
}

/// `cublasXtSetPinningMemMode`.
///
/// # Safety
/// None: the handle is looked up.
pub unsafe fn set_pinning_mode(handle: XtHandle, mode: c_int) -> CallResult {
    if !(0..=1).contains(&mode) {
        return Err(INVALID_VALUE);
    }
    HANDLES.with(handle, |settings| settings.pinning_mode = mode)
}

/// `cublasXtGetPinningMemMode`.
///
/// # Safety
/// `mode` must be null or writable.
pub unsafe fn get_pinning_mode(handle: XtHandle, mode: *mut c_int) -> CallResult {
    let value = HANDLES.with(handle, |settings| settings.pinning_mode)?;
    // SAFETY: the requirements are those of this function.
    unsafe { write_output(mode, value, INVALID_VALUE) }
}

/// Checks a `cublasXtBlasOp_t` and a `cublasXtOpType_t`.
fn check_routine(handle: XtHandle, routine: c_int, kind: c_int) -> CallResult {
    HANDLES.with(handle, |_| ())?;
    match (0..12).contains(&routine) && (0..4).contains(&kind) {
        true => Ok(()),
        false => Err(INVALID_VALUE),
    }
}

/// `cublasXtSetCpuRoutine`: the program's function is not called.
///
/// # Safety
/// None: the function is ignored.
pub unsafe fn set_cpu_routine(
    handle: XtHandle,
    routine: c_int,
    kind: c_int,
    _: *mut c_void,
) -> CallResult {
    check_routine(handle, routine, kind)
}

/// `cublasXtSetCpuRatio`: the device does all of the work.
///
/// # Safety
/// None.
pub unsafe fn set_cpu_ratio(handle: XtHandle, routine: c_int, kind: c_int, _: f32) -> CallResult {
    check_routine(handle, routine, kind)
}

/// A call on the selected device, which is the thread's current device until this is dropped.
struct Call {
    cublas: Handle,
    previous_device: c_int,
}

impl Call {
    fn start(handle: XtHandle) -> Result<Self, Status> {
        let settings = HANDLES.with(handle, |settings| *settings)?;
        let Some(device) = settings.device else {
            warn(format_args!(
                "{}: no device is selected, with which NVIDIA's library crashes; call cublasXtDeviceSelect first",
                current_function().unwrap_or_default()
            ));
            return Err(NOT_INITIALIZED);
        };
        let mut previous_device = 0;
        // SAFETY: `previous_device` is writable.
        check(unsafe { cuda_runtime::cudaGetDevice(&mut previous_device) })?;
        // SAFETY: the function has no requirements.
        check(unsafe { cuda_runtime::cudaSetDevice(device) })?;
        Ok(Self {
            cublas: settings.cublas,
            previous_device,
        })
    }

    /// Waits for the result, and copies it to its place.
    fn finish<T>(self, result: &DeviceMatrix<T>) -> CallResult {
        Stream::NULL.synchronize()?;
        result.copy_back()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // SAFETY: the function has no requirements.
        unsafe { cuda_runtime::cudaSetDevice(self.previous_device) };
    }
}

/// Converts sizes and leading dimensions.
fn integers<const N: usize>(sizes: [usize; N]) -> Result<[c_int; N], Status> {
    let mut integers = [0; N];
    for (integer, size) in integers.iter_mut().zip(sizes) {
        *integer = c_int::try_from(size).map_err(|_| NOT_SUPPORTED)?;
    }
    Ok(integers)
}

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`.
const MEMORY_TYPE: c_int = 2;
/// `CU_MEMORYTYPE_DEVICE`, which is also that of managed memory.
const DEVICE_MEMORY: u32 = 2;
/// `cudaMemcpyHostToDevice` and `cudaMemcpyDeviceToHost`.
const TO_DEVICE: c_int = 1;
const TO_HOST: c_int = 2;

fn is_on_device(address: *const c_void) -> bool {
    let (mut kind, mut attribute) = (0_u32, MEMORY_TYPE);
    let mut values = [(&raw mut kind).cast::<c_void>()];
    // SAFETY: the arrays have one element, and `kind` is writable.
    let code = unsafe {
        cu::cuPointerGetAttributes(1, &raw mut attribute, values.as_mut_ptr(), address as u64)
    };
    code == 0 && kind == DEVICE_MEMORY
}

/// A matrix in device memory: the program's own, or a copy of one in the host's memory.
struct DeviceMatrix<T> {
    address: *mut T,
    /// The matrix of which this is a copy, or null.
    original: *mut T,
    bytes: usize,
}

impl<T> DeviceMatrix<T> {
    /// Copies a matrix to the device, unless it is there.
    ///
    /// # Safety
    /// The matrix must be readable, by the host or the device, unless it is empty.
    unsafe fn new(
        matrix: *const T,
        [rows, columns]: [usize; 2],
        leading_dimension: c_int,
    ) -> Result<Self, Status> {
        let leading = leading(leading_dimension, rows)?;
        let matrix = matrix.cast_mut();
        if rows == 0 || columns == 0 || is_on_device(matrix.cast()) {
            return Ok(Self {
                address: matrix,
                original: null_mut(),
                bytes: 0,
            });
        }
        if matrix.is_null() {
            return Err(INVALID_VALUE);
        }
        let bytes = (leading * (columns - 1) + rows) * size_of::<T>();
        let mut address = null_mut();
        // SAFETY: `address` is writable.
        check(unsafe { cuda_runtime::cudaMalloc(&mut address, bytes) })?;
        let copy = Self {
            address: address.cast(),
            original: matrix,
            bytes,
        };
        // SAFETY: the matrix has these bytes, by this function's contract, and so has the allocation.
        check(unsafe { cuda_runtime::cudaMemcpy(address, matrix.cast(), bytes, TO_DEVICE) })?;
        Ok(copy)
    }

    fn copy_back(&self) -> CallResult {
        if self.original.is_null() {
            return Ok(());
        }
        // SAFETY: both matrices have these bytes.
        check(unsafe {
            cuda_runtime::cudaMemcpy(
                self.original.cast(),
                self.address.cast(),
                self.bytes,
                TO_HOST,
            )
        })
    }
}

impl<T> Drop for DeviceMatrix<T> {
    fn drop(&mut self) {
        if !self.original.is_null() {
            // SAFETY: this is an allocation of its own, which nothing uses any more.
            unsafe { cuda_runtime::cudaFree(self.address.cast()) };
        }
    }
}

/// Returns the order of a square matrix on one side of a matrix of this shape.
fn order(side: c_int, [m, n]: [usize; 2]) -> Result<usize, Status> {
    Ok(match Side::new(side)? {
        Side::Left => m,
        Side::Right => n,
    })
}

/// `cublasXt?gemm`.
///
/// # Safety
/// The scalars and matrices must be accessible for these sizes, as the documentation of NVIDIA's function requires.
pub unsafe fn gemm<T: Element>(
    handle: XtHandle,
    transa: c_int,
    transb: c_int,
    m: usize,
    n: usize,
    k: usize,
    alpha: *const T,
    a: *const T,
    lda: usize,
    b: *const T,
    ldb: usize,
    beta: *const T,
    c: *mut T,
    ldc: usize,
) -> CallResult {
    let call = Call::start(handle)?;
    let [rows, columns, length, lda, ldb, ldc] = integers([m, n, k, lda, ldb, ldc])?;
    // SAFETY: the requirements are those of this function.
    unsafe {
        let a = DeviceMatrix::new(a, Op::new(transa)?.stored([m, k]), lda)?;
        let b = DeviceMatrix::new(b, Op::new(transb)?.stored([k, n]), ldb)?;
        let c = DeviceMatrix::new(c, [m, n], ldc)?;
        let (first, second, result) = (a.address, b.address, c.address);
        gemm::gemm(
            call.cublas,
            transa,
            transb,
            rows,
            columns,
            length,
            alpha,
            first,
            lda,
            second,
            ldb,
            beta,
            result,
            ldc,
        )?;
        call.finish(&c)
    }
}

/// Generates the products with a symmetric or Hermitian matrix.
macro_rules! selfadjoint_products {
    ($($name:ident)*) => {$(
        /// The function of cuBLASXt with this name.
        ///
        /// # Safety
        /// The requirements are those of [`gemm`].
        pub unsafe fn $name<T: Scalar>(
            handle: XtHandle, side: c_int, uplo: c_int, m: usize, n: usize, alpha: *const T,
            a: *const T, lda: usize, b: *const T, ldb: usize, beta: *const T, c: *mut T, ldc: usize,
        ) -> CallResult {
            let call = Call::start(handle)?;
            let [rows, columns, lda, ldb, ldc] = integers([m, n, lda, ldb, ldc])?;
            let order = order(side, [m, n])?;
            // SAFETY: the requirements are those of this function.
            unsafe {
                let a = DeviceMatrix::new(a, [order, order], lda)?;
                let b = DeviceMatrix::new(b, [m, n], ldb)?;
                let c = DeviceMatrix::new(c, [m, n], ldc)?;
                let (square, general, result) = (a.address, b.address, c.address);
                level3::$name(
                    call.cublas, side, uplo, rows, columns, alpha, square, lda, general, ldb, beta,
                    result, ldc,
                )?;
                call.finish(&c)
            }
        }
    )*};
}

selfadjoint_products! { symm hemm }

/// `cublasXt?spmm`: the product with a symmetric matrix of which one triangle is stored column by column.
///
/// # Safety
/// The requirements are those of [`gemm`].
pub unsafe fn spmm<T: Scalar>(
    handle: XtHandle,
    side: c_int,
    uplo: c_int,
    m: usize,
    n: usize,
    alpha: *const T,
    packed: *const T,
    b: *const T,
    ldb: usize,
    beta: *const T,
    c: *mut T,
    ldc: usize,
) -> CallResult {
    let order = order(side, [m, n])?;
    let fill = Fill::new(uplo)?;
    if packed.is_null() && order > 0 {
        return Err(INVALID_VALUE);
    }
    let mut square = vec![T::zero(); order * order];
    let mut next = packed;
    for column in 0..order {
        let rows = match fill {
            Fill::Upper => 0..column + 1,
            Fill::Lower => column..order,
        };
        // SAFETY: the triangle has `order * (order + 1) / 2` elements in the host's memory, which NVIDIA requires.
        unsafe {
            let stored = std::slice::from_raw_parts(next, rows.len());
            next = next.add(rows.len());
            square[column * order..][rows].copy_from_slice(stored);
        }
    }
    let leading = order.max(1);
    // SAFETY: the requirements are those of this function.
    unsafe {
        symm(
            handle,
            side,
            uplo,
            m,
            n,
            alpha,
            square.as_ptr(),
            leading,
            b,
            ldb,
            beta,
            c,
            ldc,
        )
    }
}

/// Generates the products of a matrix with its own transpose; `$scale` is the type of the scalars.
macro_rules! rank_k_updates {
    ($($name:ident $scale:ty;)*) => {$(
        /// The function of cuBLASXt with this name.
        ///
        /// # Safety
        /// The requirements are those of [`gemm`].
        pub unsafe fn $name<T: Scalar>(
            handle: XtHandle, uplo: c_int, trans: c_int, n: usize, k: usize, alpha: *const $scale,
            a: *const T, lda: usize, beta: *const $scale, c: *mut T, ldc: usize,
        ) -> CallResult
        where
            T::Real: FactorOf<T>,
        {
            let call = Call::start(handle)?;
            let [order, length, lda, ldc] = integers([n, k, lda, ldc])?;
            // SAFETY: the requirements are those of this function.
            unsafe {
                let a = DeviceMatrix::new(a, Op::new(trans)?.stored([n, k]), lda)?;
                let c = DeviceMatrix::new(c, [n, n], ldc)?;
                let (factor, result) = (a.address, c.address);
                level3::$name(
                    call.cublas, uplo, trans, order, length, alpha, factor, lda, beta, result, ldc,
                )?;
                call.finish(&c)
            }
        }
    )*};
}

rank_k_updates! {
    syrk T;
    herk T::Real;
}

/// Generates the updates with two matrices; `$scale` is the type of `beta`.
macro_rules! rank_2k_updates {
    ($($name:ident $scale:ty;)*) => {$(
        /// The function of cuBLASXt with this name.
        ///
        /// # Safety
        /// The requirements are those of [`gemm`].
        pub unsafe fn $name<T: Scalar>(
            handle: XtHandle, uplo: c_int, trans: c_int, n: usize, k: usize, alpha: *const T,
            a: *const T, lda: usize, b: *const T, ldb: usize, beta: *const $scale, c: *mut T, ldc: usize,
        ) -> CallResult
        where
            T::Real: FactorOf<T>,
        {
            let call = Call::start(handle)?;
            let [order, length, lda, ldb, ldc] = integers([n, k, lda, ldb, ldc])?;
            let shape = Op::new(trans)?.stored([n, k]);
            // SAFETY: the requirements are those of this function.
            unsafe {
                let a = DeviceMatrix::new(a, shape, lda)?;
                let b = DeviceMatrix::new(b, shape, ldb)?;
                let c = DeviceMatrix::new(c, [n, n], ldc)?;
                let (first, second, result) = (a.address, b.address, c.address);
                level3::$name(
                    call.cublas, uplo, trans, order, length, alpha, first, lda, second, ldb, beta,
                    result, ldc,
                )?;
                call.finish(&c)
            }
        }
    )*};
}

rank_2k_updates! {
    syr2k T;
    syrkx T;
    her2k T::Real;
    herkx T::Real;
}

/// `cublasXt?trmm`.
///
/// # Safety
/// The requirements are those of [`gemm`].
pub unsafe fn trmm<T: Scalar>(
    handle: XtHandle,
    side: c_int,
    uplo: c_int,
    trans: c_int,
    diag: c_int,
    m: usize,
    n: usize,
    alpha: *const T,
    a: *const T,
    lda: usize,
    b: *const T,
    ldb: usize,
    c: *mut T,
    ldc: usize,
) -> CallResult {
    let call = Call::start(handle)?;
    let [rows, columns, lda, ldb, ldc] = integers([m, n, lda, ldb, ldc])?;
    let order = order(side, [m, n])?;
    // SAFETY: the requirements are those of this function.
    unsafe {
        let a = DeviceMatrix::new(a, [order, order], lda)?;
        let b = DeviceMatrix::new(b, [m, n], ldb)?;
        let c = DeviceMatrix::new(c, [m, n], ldc)?;
        let (square, general, result) = (a.address, b.address, c.address);
        level3::trmm(
            call.cublas,
            side,
            uplo,
            trans,
            diag,
            rows,
            columns,
            alpha,
            square,
            lda,
            general,
            ldb,
            result,
            ldc,
        )?;
        call.finish(&c)
    }
}

/// `cublasXt?trsm`.
///
/// # Safety
/// The requirements are those of [`gemm`].
pub unsafe fn trsm<T: Scalar>(
    handle: XtHandle,
    side: c_int,
    uplo: c_int,
    trans: c_int,
    diag: c_int,
    m: usize,
    n: usize,
    alpha: *const T,
    a: *const T,
    lda: usize,
    b: *mut T,
    ldb: usize,
) -> CallResult {
    let call = Call::start(handle)?;
    let [rows, columns, lda, ldb] = integers([m, n, lda, ldb])?;
    let order = order(side, [m, n])?;
    // SAFETY: the requirements are those of this function.
    unsafe {
        let a = DeviceMatrix::new(a, [order, order], lda)?;
        let b = DeviceMatrix::new(b, [m, n], ldb)?;
        let (square, general) = (a.address, b.address);
        level3::trsm(
            call.cublas,
            side,
            uplo,
            trans,
            diag,
            rows,
            columns,
            alpha,
            square,
            lda,
            general,
            ldb,
        )?;
        call.finish(&b)
    }
}
