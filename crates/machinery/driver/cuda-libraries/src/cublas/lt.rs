//! cuBLASLt: matrix multiplications with descriptors, layouts and epilogues.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};

use cuda_driver::types::CUstream;
use cuda_driver::{CallMemory, IllegalOperand};

use super::arguments::Op;
use super::gemm::Types;
use super::handle::{PointerMode, VERSION};
use super::scalar::{
    AnyScale, DataType, Element, Factor, Scalar, Sizes, StridedMut, multiply, read_as,
    with_element, with_scalar, write_as,
};
use super::{EXECUTION_FAILED, INTERNAL_ERROR, INVALID_VALUE, NOT_INITIALIZED, NOT_SUPPORTED};
use crate::call::{Columns, Stream, operations};
use crate::functions::{CallResult, Handles, Status};
use crate::nvidia::Library;

static CUBLAS_LT: Library = Library::new(
    "cuBLASLt",
    &[
        "libcublasLt.so.13",
        "libcublasLt.so.12",
        "libcublasLt.so.11",
    ],
    ["nvidia-cublas-cu12", "libcublas"],
    [NOT_INITIALIZED.0, EXECUTION_FAILED.0, INTERNAL_ERROR.0],
);

functions! { CUBLAS_LT;
    [cublasLtCreate] (handle: *mut usize) => create;
    [cublasLtDestroy] (handle: usize) => destroy;
    [cublasLtGetVersion] () -> usize => version, local;
    [cublasLtMatmulDescCreate] (description: *mut usize, compute: c_int, scale: c_int) => create_description;
    [cublasLtMatmulPreferenceCreate] (preference: *mut usize) => create_preference;
    [cublasLtMatrixLayoutCreate] (layout: *mut usize, kind: c_int, rows: u64, columns: u64, leading: i64) => create_layout;
    [cublasLtMatmulDescDestroy, cublasLtMatmulPreferenceDestroy, cublasLtMatrixLayoutDestroy] (object: usize) => destroy_object;
    [cublasLtMatmulDescSetAttribute, cublasLtMatmulPreferenceSetAttribute, cublasLtMatrixLayoutSetAttribute] (object: usize, attribute: c_int, value: *const c_void, bytes: usize) => set_attribute;
    [cublasLtMatmulDescGetAttribute, cublasLtMatmulPreferenceGetAttribute, cublasLtMatrixLayoutGetAttribute] (object: usize, attribute: c_int, value: *mut c_void, bytes: usize, written: *mut usize) => get_attribute;
    [cublasLtMatmulAlgoGetHeuristic] (handle: usize, description: usize, a: usize, b: usize, c: usize, d: usize, preference: usize, requested: c_int, results: *mut Heuristic, count: *mut c_int) => heuristic;
    [cublasLtMatmul] (handle: usize, description: usize, alpha: *const c_void, a: *const c_void, a_layout: usize, b: *const c_void, b_layout: usize, beta: *const c_void, c: *const c_void, c_layout: usize, d: *mut c_void, d_layout: usize, algorithm: *const c_void, workspace: *mut c_void, bytes: usize, stream: CUstream) => matmul;
}

/// The attributes of a description, a layout or a preference, by number, as C has passed them.
#[derive(Clone, Default)]
struct Attributes(BTreeMap<c_int, Vec<u8>>);

impl Attributes {
    /// Returns an attribute.
    fn get<V: Copy>(&self, attribute: c_int) -> Option<V> {
        let bytes = self.0.get(&attribute)?;
        // SAFETY: the type is an integer, of which there are enough bytes.
        (bytes.len() >= size_of::<V>())
            .then(|| unsafe { bytes.as_ptr().cast::<V>().read_unaligned() })
    }

    fn with(mut self, attribute: c_int, bytes: &[u8]) -> Self {
        self.0.insert(attribute, bytes.to_vec());
        self
    }
}

static OBJECTS: Handles<Attributes> = Handles::new(INVALID_VALUE);

/// The numbers of a matrix layout's attributes.
mod layout {
    pub const TYPE: i32 = 0;
    pub const ORDER: i32 = 1;
    pub const ROWS: i32 = 2;
    pub const COLUMNS: i32 = 3;
    pub const LEADING: i32 = 4;
    pub const BATCH_COUNT: i32 = 5;
    pub const BATCH_STRIDE: i32 = 6;
}

/// The numbers of a multiplication's attributes.
mod description {
    pub const COMPUTE_TYPE: i32 = 0;
    pub const SCALE_TYPE: i32 = 1;
    pub const POINTER_MODE: i32 = 2;
    pub const TRANSPOSE_A: i32 = 3;
    pub const TRANSPOSE_B: i32 = 4;
    pub const EPILOGUE: i32 = 7;
    pub const BIAS: i32 = 8;
    pub const AUXILIARY: i32 = 11;
    pub const AUXILIARY_LEADING: i32 = 12;
    pub const AUXILIARY_TYPE: i32 = 22;
    pub const BIAS_TYPE: i32 = 26;
}

/// Writes a new handle.
///
/// # Safety
/// `handle` must be null or writable.
unsafe fn add(handle: *mut usize, attributes: Attributes) -> CallResult {
    if handle.is_null() {
        return Err(INVALID_VALUE);
    }
    let created = OBJECTS.insert(attributes);
    // SAFETY: the pointer is writable, by this function's contract.
    unsafe { handle.write(created) };
    Ok(())
}

/// `cublasLtCreate`: a handle has no state.
///
/// # Safety
/// `handle` must be null or writable.
unsafe fn create(handle: *mut usize) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe { add(handle, Attributes::default()) }
}

/// `cublasLtDestroy`.
///
/// # Safety
/// None: the handle is looked up.
unsafe fn destroy(handle: usize) -> CallResult {
    OBJECTS.remove(handle).map_err(|_| NOT_INITIALIZED)?;
    Ok(())
}

/// `cublasLtGetVersion`.
///
/// # Safety
/// None.
unsafe fn version() -> usize {
    VERSION as usize
}

/// `cublasLtMatmulDescCreate`.
///
/// # Safety
/// `description` must be null or writable.
unsafe fn create_description(description: *mut usize, compute: c_int, scale: c_int) -> CallResult {
    let attributes = Attributes::default()
        .with(description::COMPUTE_TYPE, &compute.to_ne_bytes())
        .with(description::SCALE_TYPE, &scale.to_ne_bytes());
    // SAFETY: the requirements are those of this function.
    unsafe { add(description, attributes) }
}

/// `cublasLtMatmulPreferenceCreate`.
///
/// # Safety
/// `preference` must be null or writable.
unsafe fn create_preference(preference: *mut usize) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe { add(preference, Attributes::default()) }
}

/// `cublasLtMatrixLayoutCreate`.
///
/// # Safety
/// `layout` must be null or writable.
unsafe fn create_layout(
    layout: *mut usize,
    kind: c_int,
    rows: u64,
    columns: u64,
    leading: i64,
) -> CallResult {
    let attributes = Attributes::default()
        .with(layout::TYPE, &kind.to_ne_bytes())
        .with(layout::ROWS, &rows.to_ne_bytes())
        .with(layout::COLUMNS, &columns.to_ne_bytes())
        .with(layout::LEADING, &leading.to_ne_bytes());
    // SAFETY: the requirements are those of this function.
    unsafe { add(layout, attributes) }
}

/// `cublasLtMatrixLayoutDestroy` and the like.
///
/// # Safety
/// None: the handle is looked up.
unsafe fn destroy_object(object: usize) -> CallResult {
    OBJECTS.remove(object)?;
    Ok(())
}

/// `cublasLtMatmulDescSetAttribute` and the like.
///
/// # Safety
/// `value` must be null or `bytes` readable bytes.
unsafe fn set_attribute(
    object: usize,
    attribute: c_int,
    value: *const c_void,
    bytes: usize,
) -> CallResult {
    if value.is_null() || bytes == 0 {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the bytes are readable, by this function's contract.
    let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) };
    OBJECTS.with(object, |attributes| {
        attributes.0.insert(attribute, value.to_vec())
    })?;
    Ok(())
}

/// `cublasLtMatmulDescGetAttribute` and the like.
///
/// # Safety
/// `value` must be null or `bytes` writable bytes, and `written` must be null or writable.
unsafe fn get_attribute(
    object: usize,
    attribute: c_int,
    value: *mut c_void,
    bytes: usize,
    written: *mut usize,
) -> CallResult {
    let known = OBJECTS.with(object, |attributes| attributes.0.get(&attribute).cloned())?;
    let known = known.ok_or(INVALID_VALUE)?;
    if !written.is_null() {
        // SAFETY: the pointer is writable, by this function's contract.
        unsafe { written.write(known.len()) };
    }
    if bytes == 0 && !written.is_null() {
        return Ok(());
    }
    if value.is_null() || bytes < known.len() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: there is room for the bytes, by this function's contract and the check above.
    unsafe {
        value
            .cast::<u8>()
            .copy_from_nonoverlapping(known.as_ptr(), known.len())
    };
    Ok(())
}

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
pub struct Heuristic {
    algorithm: [u64; 8],
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

/// `cublasLtMatmulAlgoGetHeuristic`: there is one algorithm, which needs no workspace.
///
/// # Safety
/// `results` must be null or have room for `requested` results, and `count` must be null or writable.
unsafe fn heuristic(
    _: usize,
    description: usize,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    _: usize,
    requested: c_int,
    results: *mut Heuristic,
    count: *mut c_int,
) -> CallResult {
    Multiplication::new(description, [a, b, c, d])?;
    if requested < 1 || results.is_null() || count.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: both are writable, by this function's contract.
    unsafe {
        results.write(Heuristic {
            algorithm: [0; 8],
            workspace: 0,
            state: 0,
            waves: 1.0,
            reserved: [0; 4],
        });
        count.write(1);
    }
    Ok(())
}

/// A matrix of a multiplication.
#[derive(Clone, Copy)]
struct Layout {
    data_type: DataType,
    is_row_major: bool,
    rows: usize,
    columns: usize,
    leading: usize,
    count: usize,
    /// Elements from one matrix of a batch to the next.
    stride: i64,
}

impl Layout {
    fn new(handle: usize) -> Result<Self, Status> {
        let attributes = OBJECTS.with(handle, |attributes| attributes.clone())?;
        let size = |attribute| {
            let value: u64 = attributes.get(attribute).ok_or(INVALID_VALUE)?;
            usize::try_from(value).map_err(|_| INVALID_VALUE)
        };
        let is_row_major = match attributes.get::<c_int>(layout::ORDER) {
            None | Some(0) => false,
            Some(1) => true,
            Some(_) => return Err(NOT_SUPPORTED),
        };
        let layout = Self {
            data_type: DataType::new(attributes.get(layout::TYPE).ok_or(INVALID_VALUE)?)?,
            is_row_major,
            rows: size(layout::ROWS)?,
            columns: size(layout::COLUMNS)?,
            leading: size(layout::LEADING)?,
            count: attributes
                .get::<c_int>(layout::BATCH_COUNT)
                .unwrap_or(1)
                .max(1) as usize,
            stride: attributes.get(layout::BATCH_STRIDE).unwrap_or(0),
        };
        match layout.leading < layout.stored()[0] {
            true => Err(INVALID_VALUE),
            false => Ok(layout),
        }
    }

    /// Returns the elements per column and the number of columns in memory, where rows of row-major order are columns.
    fn stored(&self) -> [usize; 2] {
        match self.is_row_major {
            true => [self.columns, self.rows],
            false => [self.rows, self.columns],
        }
    }

    /// Returns the memory of a matrix of the batch.
    fn memory(&self, address: u64, index: usize) -> Columns {
        let bytes = with_element!(self.data_type, E => size_of::<E>());
        let offset = self.stride * index as i64 * bytes as i64;
        let [rows, columns] = self.stored();
        Columns {
            address: address.wrapping_add_signed(offset),
            rows,
            columns,
            leading: self.leading,
        }
    }

    /// Converts elements between the order in memory and column-major order.
    fn reorder<T: Copy>(&self, elements: Vec<T>, to_memory: bool) -> Vec<T> {
        if !self.is_row_major {
            return elements;
        }
        let (rows, columns) = (self.rows, self.columns);
        let position = |i: usize| match to_memory {
            true => i / columns + i % columns * rows,
            false => i / rows + i % rows * columns,
        };
        (0..elements.len()).map(|i| elements[position(i)]).collect()
    }
}

/// The function that is applied to the results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Activation {
    None,
    Relu,
    Gelu,
    /// The derivative of GELU at the auxiliary matrix, as a factor.
    GeluGradient,
}

/// The sum that is written to the bias.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gradient {
    None,
    /// Sums of the rows of op(A).
    OfA,
    /// Sums of the columns of op(B).
    OfB,
    /// Sums of the rows of the results.
    OfResults,
}

/// `cublasLtEpilogue_t`, with its operands.
#[derive(Clone, Copy)]
struct Epilogue {
    activation: Activation,
    adds_bias: bool,
    gradient: Gradient,
    /// True if the input of the activation is written to the auxiliary matrix.
    writes_auxiliary: bool,
    bias: (u64, DataType),
    auxiliary: (u64, DataType),
    auxiliary_leading: usize,
}

impl Epilogue {
    fn new(attributes: &Attributes, result: DataType) -> Result<Self, Status> {
        use Activation::{Gelu, GeluGradient, Relu};
        let none = Activation::None;
        // The numbers are sums of flags: 2 ReLU, 4 bias, 16 gradient of the bias, 32 GELU, 64 derivative, 128 auxiliary
        // matrix, 256 and 512 gradients of the biases of A and B.
        let (activation, adds_bias, gradient, writes_auxiliary) =
            match attributes.get::<c_int>(description::EPILOGUE).unwrap_or(1) {
                1 => (none, false, Gradient::None, false),
                2 => (Relu, false, Gradient::None, false),
                4 => (none, true, Gradient::None, false),
                6 => (Relu, true, Gradient::None, false),
                32 => (Gelu, false, Gradient::None, false),
                36 => (Gelu, true, Gradient::None, false),
                160 => (Gelu, false, Gradient::None, true),
                164 => (Gelu, true, Gradient::None, true),
                192 => (GeluGradient, false, Gradient::None, false),
                208 => (GeluGradient, false, Gradient::OfResults, false),
                256 => (none, false, Gradient::OfA, false),
                512 => (none, false, Gradient::OfB, false),
                _ => return Err(NOT_SUPPORTED),
            };
        let operand = |pointer, data_type| {
            let known = attributes
                .get::<c_int>(data_type)
                .filter(|&number| number >= 0);
            let data_type = known.map_or(Ok(result), DataType::new)?;
            Ok::<_, Status>((attributes.get::<u64>(pointer).unwrap_or(0), data_type))
        };
        let epilogue = Self {
            activation,
            adds_bias,
            gradient,
            writes_auxiliary,
            bias: operand(description::BIAS, description::BIAS_TYPE)?,
            auxiliary: operand(description::AUXILIARY, description::AUXILIARY_TYPE)?,
            auxiliary_leading: attributes
                .get::<u64>(description::AUXILIARY_LEADING)
                .unwrap_or(0) as usize,
        };
        let needs_bias = adds_bias || gradient != Gradient::None;
        let needs_auxiliary = writes_auxiliary || activation == GeluGradient;
        if needs_bias && epilogue.bias.0 == 0 || needs_auxiliary && epilogue.auxiliary.0 == 0 {
            return Err(INVALID_VALUE);
        }
        Ok(epilogue)
    }

    fn auxiliary_memory(&self, [rows, columns]: [usize; 2]) -> Columns {
        Columns {
            address: self.auxiliary.0,
            rows,
            columns,
            leading: self.auxiliary_leading.max(rows),
        }
    }

    /// Changes the results in column-major order, and writes the other outputs.
    fn apply<T: Scalar + Element>(
        &self,
        memory: &mut CallMemory<'_>,
        results: &mut [T],
        shape: [usize; 2],
        [a_sums, b_sums]: [&dyn Fn() -> Vec<T>; 2],
    ) -> Result<(), IllegalOperand> {
        let rows = shape[0];
        if self.adds_bias {
            let bias: Vec<T> =
                read_as(memory, Columns::contiguous(self.bias.0, rows), self.bias.1)?;
            for (i, result) in results.iter_mut().enumerate() {
                *result += bias[i % rows];
            }
        }
        if self.writes_auxiliary {
            write_as(
                memory,
                self.auxiliary_memory(shape),
                self.auxiliary.1,
                results,
            )?;
        }
        let each = |results: &mut [T], function: fn(f64) -> f64| {
            for result in results {
                *result = T::from_parts([function(result.parts()[0]), 0.0]);
            }
        };
        match self.activation {
            Activation::None => {}
            Activation::Relu => each(results, |x| if x > 0.0 || x.is_nan() { x } else { 0.0 }),
            Activation::Gelu => each(results, gelu),
            Activation::GeluGradient => {
                let inputs: Vec<T> =
                    read_as(memory, self.auxiliary_memory(shape), self.auxiliary.1)?;
                for (result, input) in results.iter_mut().zip(inputs) {
                    let factor = gelu_derivative(input.parts()[0]);
                    *result *= T::from_parts([factor, 0.0]);
                }
            }
        }
        let sums = match self.gradient {
            Gradient::None => return Ok(()),
            Gradient::OfA => a_sums(),
            Gradient::OfB => b_sums(),
            Gradient::OfResults => {
                let mut sums = vec![T::zero(); rows];
                for (i, &result) in results.iter().enumerate() {
                    sums[i % rows] += result;
                }
                sums
            }
        };
        write_as(
            memory,
            Columns::contiguous(self.bias.0, sums.len()),
            self.bias.1,
            &sums,
        )
    }
}

/// The factor in the approximation of GELU by a hyperbolic tangent: the square root of 2/π.
const GELU_SCALE: f64 = 0.797_884_560_802_865_4;
const GELU_CUBIC: f64 = 0.044_715;

fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + (GELU_SCALE * (x + GELU_CUBIC * x * x * x)).tanh())
}

fn gelu_derivative(x: f64) -> f64 {
    let tanh = (GELU_SCALE * (x + GELU_CUBIC * x * x * x)).tanh();
    let slope = GELU_SCALE * (1.0 + 3.0 * GELU_CUBIC * x * x);
    0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * slope
}

/// A multiplication: `D = epilogue(alpha * op(A) * op(B) + beta * C)`.
#[derive(Clone, Copy)]
struct Multiplication {
    sizes: Sizes,
    ops: [Op; 2],
    /// The layouts of A, B, C and D.
    layouts: [Layout; 4],
    types: Types,
    mode: PointerMode,
    epilogue: Epilogue,
}

impl Multiplication {
    fn new(description: usize, layouts: [usize; 4]) -> Result<Self, Status> {
        let attributes = OBJECTS.with(description, |attributes| attributes.clone())?;
        let op = |attribute| Op::new(attributes.get(attribute).unwrap_or(0));
        let ops = [op(description::TRANSPOSE_A)?, op(description::TRANSPOSE_B)?];
        let [a, b, c, d] = layouts.map(Layout::new);
        let [a, b, c, d] = [a?, b?, c?, d?];
        let [m, k] = ops[0].stored([a.rows, a.columns]);
        let [inner, n] = ops[1].stored([b.rows, b.columns]);
        let is_consistent = inner == k
            && [d.rows, d.columns] == [m, n]
            && [c.rows, c.columns] == [m, n]
            && [a, b, c].iter().all(|layout| layout.count == d.count);
        if !is_consistent {
            return Err(INVALID_VALUE);
        }
        let compute = attributes
            .get(description::COMPUTE_TYPE)
            .ok_or(INVALID_VALUE)?;
        let types = Types::of([a.data_type, b.data_type, d.data_type], compute)?;
        let mode = attributes
            .get::<c_int>(description::POINTER_MODE)
            .unwrap_or(0);
        Ok(Self {
            sizes: Sizes { m, n, k },
            ops,
            layouts: [a, b, c, d],
            types,
            mode: PointerMode::new(mode).map_err(|_| NOT_SUPPORTED)?,
            epilogue: Epilogue::new(&attributes, d.data_type)?,
        })
    }

    /// Computes the results of one matrix of the batch.
    fn compute<T: Scalar + Element>(
        &self,
        memory: &mut CallMemory<'_>,
        addresses: [u64; 4],
        index: usize,
        [alpha, beta]: [T; 2],
    ) -> Result<(), IllegalOperand> {
        let Sizes { m, n, k } = self.sizes;
        let mut operand = |i: usize| {
            let layout = &self.layouts[i];
            read_as::<T>(memory, layout.memory(addresses[i], index), layout.data_type)
        };
        let (a, b) = (operand(0)?, operand(1)?);
        let mut results = match beta.is_zero() {
            true => vec![T::zero(); m * n],
            false => self.layouts[2].reorder(operand(2)?, false),
        };
        let factor = |elements: &[T], i: usize| {
            let layout = &self.layouts[i];
            let is_transposed = self.ops[i].is_transposed() != layout.is_row_major;
            Factor::new(
                elements.as_ptr(),
                layout.stored()[0],
                is_transposed,
                self.ops[i].is_conjugated(),
            )
        };
        let (left, right) = (factor(&a, 0), factor(&b, 1));
        let target = StridedMut {
            start: results.as_mut_ptr(),
            column: m,
        };
        // SAFETY: the vectors have these sizes.
        unsafe { multiply(self.sizes, alpha, left, right, beta, target) };
        // SAFETY: the element is in the factor, whose vector lives as long as the closures.
        let at = |factor: &Factor<T>, row, column| unsafe { factor.matrix.at(row, column).read() };
        let a_sums = || {
            (0..m)
                .map(|row| (0..k).map(|i| at(&left, row, i)).sum())
                .collect()
        };
        let b_sums = || {
            (0..n)
                .map(|column| (0..k).map(|i| at(&right, i, column)).sum())
                .collect()
        };
        self.epilogue
            .apply(memory, &mut results, [m, n], [&a_sums, &b_sums])?;
        let output = &self.layouts[3];
        let results = output.reorder(results, true);
        write_as(
            memory,
            output.memory(addresses[3], index),
            output.data_type,
            &results,
        )
    }
}

/// `cublasLtMatmul`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
unsafe fn matmul(
    _: usize,
    description: usize,
    alpha: *const c_void,
    a: *const c_void,
    a_layout: usize,
    b: *const c_void,
    b_layout: usize,
    beta: *const c_void,
    c: *const c_void,
    c_layout: usize,
    d: *mut c_void,
    d_layout: usize,
    _: *const c_void,
    _: *mut c_void,
    _: usize,
    stream: CUstream,
) -> CallResult {
    let call = Multiplication::new(description, [a_layout, b_layout, c_layout, d_layout])?;
    let Multiplication { mode, types, .. } = call;
    // SAFETY: the requirements are those of this function.
    let [alpha, beta] = unsafe { AnyScale::pair(mode, [alpha, beta], types.scale) }?;
    if call.sizes.m == 0 || call.sizes.n == 0 {
        return Ok(());
    }
    let addresses = [a as u64, b as u64, c as u64, d as u64];
    with_scalar!(types.compute, T => {
        let count = call.layouts[3].count;
        let operations = operations(types.arithmetic(), call.sizes.operations::<T>() * count as f64);
        let epilogue = &call.epilogue;
        let operands = addresses.into_iter().chain([epilogue.bias.0, epilogue.auxiliary.0]).collect();
        Stream(stream).submit(operands, operations, move |memory| {
            let scales = [alpha.get::<T>(memory)?, beta.get(memory)?];
            (0..count).try_for_each(|index| call.compute(memory, addresses, index, scales))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivative_of_gelu_is_its_slope() {
        for x in [-3.0, -0.5, 0.0, 0.75, 2.0] {
            let slope = (gelu(x + 1e-6) - gelu(x - 1e-6)) / 2e-6;
            assert!((slope - gelu_derivative(x)).abs() < 1e-8, "{x}");
        }
        assert!((gelu(1.0) - 0.841_191_99).abs() < 1e-6);
    }
}
