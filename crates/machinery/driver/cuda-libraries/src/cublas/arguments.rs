//! Arguments of C: enums, sizes, scalars on the host or the device, and vectors.

use std::ffi::c_int;
use std::sync::Arc;

use cuda_driver::{CallMemory, IllegalOperand, MemoryRows, Operations};
use parking_lot::Mutex;

use super::handle::{PointerMode, Settings};
use super::{EXECUTION_FAILED, INVALID_VALUE};
use crate::call::Columns;
use crate::functions::{CallResult, Status};

/// An enum of C.
macro_rules! enums {
    ($($(#[$meta:meta])* $name:ident { $($variant:ident = $value:literal),* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($variant),*
        }

        impl $name {
            /// Converts a value of C.
            pub fn new(value: c_int) -> Result<Self, Status> {
                match value {
                    $($value => Ok(Self::$variant),)*
                    _ => Err(INVALID_VALUE),
                }
            }
        }
    )*};
}

enums! {
    /// `cublasOperation_t`.
    Op { None = 0, Transpose = 1, Conjugate = 2 }
    /// `cublasFillMode_t`.
    Fill { Lower = 0, Upper = 1 }
    /// `cublasSideMode_t`.
    Side { Left = 0, Right = 1 }
    /// `cublasDiagType_t`.
    Diagonal { Stored = 0, Unit = 1 }
}

impl Op {
    pub fn is_transposed(self) -> bool {
        self != Op::None
    }

    pub fn is_conjugated(self) -> bool {
        self == Op::Conjugate
    }

    /// Returns the rows and columns of the stored matrix, given those of the operand.
    pub fn stored(self, [rows, columns]: [usize; 2]) -> [usize; 2] {
        match self.is_transposed() {
            true => [columns, rows],
            false => [rows, columns],
        }
    }
}

/// Converts a size, which may not be negative.
pub fn size(value: c_int) -> Result<usize, Status> {
    usize::try_from(value).map_err(|_| INVALID_VALUE)
}

/// Converts a leading dimension, which may not be less than the rows or 1.
pub fn leading(value: c_int, rows: usize) -> Result<usize, Status> {
    let value = size(value)?;
    match value >= rows.max(1) {
        true => Ok(value),
        false => Err(INVALID_VALUE),
    }
}

/// A scalar argument.
#[derive(Clone, Copy)]
pub enum Scale<T> {
    Value(T),
    /// The address of a scalar in device memory, which is read when the call executes.
    Device(u64),
}

impl<T: Copy + Send + Sync + 'static> Scale<T> {
    /// Reads a scalar on the host, or keeps its address on the device.
    ///
    /// # Safety
    /// In the pointer mode of the host, `pointer` must be null or readable.
    pub unsafe fn new(settings: &Settings, pointer: *const T) -> Result<Self, Status> {
        if pointer.is_null() {
            return Err(INVALID_VALUE);
        }
        Ok(match settings.pointer_mode {
            // SAFETY: the pointer is readable, by this function's contract.
            PointerMode::Host => Scale::Value(unsafe { pointer.read_unaligned() }),
            PointerMode::Device => Scale::Device(pointer as u64),
        })
    }

    /// Reads two scalars as [`new`](Self::new) does.
    ///
    /// # Safety
    /// In the pointer mode of the host, the pointers must be null or readable.
    pub unsafe fn pair(settings: &Settings, pointers: [*const T; 2]) -> Result<[Self; 2], Status> {
        // SAFETY: the requirements are those of this function.
        let [first, second] = pointers.map(|pointer| unsafe { Self::new(settings, pointer) });
        Ok([first?, second?])
    }

    /// Returns the scalar.
    pub fn get(self, memory: &mut CallMemory<'_>) -> Result<T, IllegalOperand> {
        match self {
            Scale::Value(value) => Ok(value),
            Scale::Device(address) => read_element(memory, address),
        }
    }
}

/// Reads an element in device memory.
pub fn read_element<T: Copy>(
    memory: &mut CallMemory<'_>,
    address: u64,
) -> Result<T, IllegalOperand> {
    let element = memory.read(MemoryRows::contiguous(address, size_of::<T>() as u64))?;
    // SAFETY: these are the bytes of an element.
    Ok(unsafe { element.cast::<T>().read_unaligned() })
}

/// Writes an element in device memory.
pub fn write_element<T: Copy>(
    memory: &mut CallMemory<'_>,
    address: u64,
    value: T,
) -> Result<(), IllegalOperand> {
    let element = memory.write(MemoryRows::contiguous(address, size_of::<T>() as u64))?;
    // SAFETY: these are the bytes of an element.
    unsafe { element.cast::<T>().write_unaligned(value) };
    Ok(())
}

/// Submits work with a result, which it writes to device memory, or to the host's before this function returns.
///
/// # Safety
/// In the pointer mode of the host, `result` must be writable.
pub unsafe fn submit_with_result<R: Copy + Send + Sync + 'static>(
    settings: &Settings,
    result: *mut R,
    mut operands: Vec<u64>,
    operations: Operations,
    work: impl Fn(&mut CallMemory<'_>) -> Result<R, IllegalOperand> + Send + Sync + 'static,
) -> CallResult {
    if result.is_null() {
        return Err(INVALID_VALUE);
    }
    let stream = settings.stream;
    if settings.pointer_mode == PointerMode::Device {
        let address = result as u64;
        operands.push(address);
        return stream.submit(operands, operations, move |memory| {
            let value = work(memory)?;
            write_element(memory, address, value)
        });
    }
    let computed = Arc::new(Mutex::new(None));
    let output = computed.clone();
    stream.submit(operands, operations, move |memory| {
        *output.lock() = Some(work(memory)?);
        Ok(())
    })?;
    stream.synchronize()?;
    let value = computed.lock().ok_or(EXECUTION_FAILED)?;
    // SAFETY: the pointer is writable, by this function's contract.
    unsafe { result.write_unaligned(value) };
    Ok(())
}

/// A vector in device memory.
#[derive(Clone, Copy)]
pub struct Vector {
    pub address: u64,
    pub length: usize,
    /// The distance between elements; if it is negative, the last element comes first in memory.
    pub increment: isize,
}

impl Vector {
    /// Creates a vector with any increment.
    pub fn new(address: u64, length: usize, increment: c_int) -> Self {
        Self {
            address,
            length,
            increment: increment as isize,
        }
    }

    /// Creates a vector of BLAS level 1, which is empty if its length is not positive.
    pub fn level1<T>(address: *const T, length: c_int, increment: c_int) -> Self {
        Self::new(address as u64, length.max(0) as usize, increment)
    }

    /// Creates a vector of BLAS level 2, whose increment may not be 0.
    pub fn level2<T>(address: *const T, length: usize, increment: c_int) -> Result<Self, Status> {
        match increment {
            0 => Err(INVALID_VALUE),
            _ => Ok(Self::new(address as u64, length, increment)),
        }
    }

    /// Returns the elements in memory as columns of one element.
    fn columns(self) -> Columns {
        let (rows, columns) = match self.increment {
            1 | -1 => (self.length, 1),
            0 => (self.length.min(1), 1),
            _ => (1, self.length),
        };
        Columns {
            address: self.address,
            rows,
            columns,
            leading: self.increment.unsigned_abs().max(rows),
        }
    }

    /// Returns the position in memory of an element.
    fn position(self, index: usize) -> usize {
        match self.increment < 0 {
            true => (self.length - 1 - index) * self.increment.unsigned_abs(),
            false => index * self.increment.unsigned_abs(),
        }
    }

    /// Reads the elements in order.
    pub fn read<T: Copy>(self, memory: &mut CallMemory<'_>) -> Result<Vec<T>, IllegalOperand> {
        let start: *const T = self.columns().read(memory)?;
        let elements = (0..self.length).map(|index| {
            // SAFETY: the element is in the vector.
            unsafe { start.add(self.position(index)).read_unaligned() }
        });
        Ok(elements.collect())
    }

    /// Writes the elements in order.
    pub fn write<T: Copy>(
        self,
        memory: &mut CallMemory<'_>,
        elements: impl IntoIterator<Item = T>,
    ) -> Result<(), IllegalOperand> {
        let start: *mut T = self.columns().write(memory)?;
        for (index, element) in elements.into_iter().take(self.length).enumerate() {
            // SAFETY: the element is in the vector.
            unsafe { start.add(self.position(index)).write_unaligned(element) };
        }
        Ok(())
    }
}
