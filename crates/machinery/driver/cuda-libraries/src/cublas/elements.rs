//! Elements in memory whose type is an argument (`cudaDataType`), and scalars of such types.

use half::bf16;

use cuda_driver::{CallMemory, IllegalOperand};

use super::arguments::read_element;
use super::handle::PointerMode;
use super::*;
use crate::call::Columns;

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
