//! The execution of plans.

use cuda_driver::{Arithmetic, CallMemory, IllegalOperand};
use num_complex::Complex;
use rustfft::FftDirection;

use super::plan::{Form, Layout, Plan, planned};
use super::transform::{Real, complete, transform};
use super::*;
use crate::call::{Columns, Stream, operations};
use crate::functions::CallResult;

/// The rows of one input or output.
struct Rows {
    address: u64,
    layout: Layout,
    /// The rows per transform: two dimensions, and the elements of a row.
    sizes: [usize; 3],
    batch: usize,
}

impl Rows {
    /// Returns the memory of the rows, each as columns of elements of `size` bytes.
    fn columns(&self, size: usize) -> Vec<Columns> {
        let [outer, middle, last] = self.sizes;
        let Layout {
            embed,
            stride,
            distance,
        } = self.layout;
        let is_contiguous = stride == 1
            && (embed[2] == last || outer * middle == 1)
            && (embed[1] == middle || outer == 1)
            && (distance == outer * middle * last || self.batch == 1);
        if is_contiguous {
            let count = self.batch * outer * middle * last;
            return vec![Columns::contiguous(self.address, count)];
        }
        let (rows, columns, leading) = match stride {
            1 => (last, 1, last),
            _ => (1, last, stride),
        };
        let positions = (0..self.batch).flat_map(move |batch| {
            let row =
                move |z: usize, y: usize| batch * distance + (z * embed[1] + y) * embed[2] * stride;
            (0..outer).flat_map(move |z| (0..middle).map(move |y| row(z, y)))
        });
        let columns = positions.map(|position| Columns {
            address: self.address + (position * size) as u64,
            rows,
            columns,
            leading,
        });
        columns.collect()
    }

    fn read<E: Copy>(&self, memory: &mut CallMemory<'_>) -> Result<Vec<E>, IllegalOperand> {
        let mut elements = Vec::with_capacity(self.batch * self.sizes.iter().product::<usize>());
        for columns in self.columns(size_of::<E>()) {
            let start: *const E = columns.read(memory)?;
            let positions = (0..columns.columns).flat_map(|column| {
                (0..columns.rows).map(move |row| row + column * columns.leading)
            });
            // SAFETY: the element is in the row.
            elements
                .extend(positions.map(|position| unsafe { start.add(position).read_unaligned() }));
        }
        Ok(elements)
    }

    fn write<E: Copy>(
        &self,
        memory: &mut CallMemory<'_>,
        elements: impl Iterator<Item = E>,
    ) -> Result<(), IllegalOperand> {
        let mut elements = elements;
        for columns in self.columns(size_of::<E>()) {
            let start: *mut E = columns.write(memory)?;
            for column in 0..columns.columns {
                for (row, element) in elements.by_ref().take(columns.rows).enumerate() {
                    let position = row + column * columns.leading;
                    // SAFETY: the element is in the row.
                    unsafe { start.add(position).write_unaligned(element) };
                }
            }
        }
        Ok(())
    }
}

/// A transform to execute.
#[derive(Clone, Copy)]
struct Execution {
    plan: Plan,
    input: u64,
    output: u64,
    direction: FftDirection,
}

impl Execution {
    /// Computes the transforms of all batches.
    fn compute<F: Real>(self, memory: &mut CallMemory<'_>) -> Result<(), IllegalOperand> {
        let Plan {
            kind, sizes, batch, ..
        } = self.plan;
        let [outer, middle, last] = sizes;
        let half = self.plan.half();
        let layouts = self.plan.layouts(self.input == self.output);
        let rows = |address: u64, layout: Layout, row: usize| Rows {
            address,
            layout,
            sizes: [outer, middle, row],
            batch,
        };
        let [input, output] = match kind.form {
            Form::Complex => [last; 2],
            Form::FromReal => [last, half],
            Form::ToReal => [half, last],
        };
        let input = rows(self.input, layouts[0], input);
        let output = rows(self.output, layouts[1], output);
        let volume = outer * middle * last;
        let mut elements: Vec<Complex<F>> = match kind.form {
            Form::Complex => input.read(memory)?,
            Form::FromReal => {
                let real = input.read::<F>(memory)?;
                real.into_iter().map(Complex::from).collect()
            }
            Form::ToReal => {
                let stored = input.read::<Complex<F>>(memory)?;
                let spectra = stored.chunks(outer * middle * half);
                spectra
                    .flat_map(|spectrum| complete(spectrum, sizes, half))
                    .collect()
            }
        };
        for array in elements.chunks_mut(volume) {
            // Transforms of one dimension are done all at once below.
            if outer * middle > 1 {
                transform(array, sizes, self.direction);
            }
        }
        if outer * middle == 1 {
            transform(&mut elements, sizes, self.direction);
        }
        match kind.form {
            Form::Complex => output.write(memory, elements.into_iter()),
            Form::FromReal => {
                let first_half = elements.chunks(last).flat_map(|row| &row[..half]);
                output.write(memory, first_half.copied())
            }
            Form::ToReal => output.write(memory, elements.into_iter().map(|element| element.re)),
        }
    }

    /// Submits the transforms of a plan.
    fn submit(
        (plan, stream): (Plan, Stream),
        [input, output]: [*mut c_void; 2],
        direction: FftDirection,
    ) -> CallResult {
        let execution = Self {
            plan,
            input: input as u64,
            output: output as u64,
            direction,
        };
        if input.is_null() || output.is_null() {
            return Err(INVALID_VALUE);
        }
        let Plan {
            kind, sizes, batch, ..
        } = plan;
        let volume = sizes.iter().product::<usize>() as f64;
        // The usual count of a transform of complex elements; one of real ones needs half of it.
        let each = 5.0 * volume * volume.log2().max(1.0);
        let share = if kind.form == Form::Complex { 1.0 } else { 0.5 };
        let arithmetic = match kind.is_double {
            true => Arithmetic::Double,
            false => Arithmetic::Single,
        };
        let operations = operations(arithmetic, each * share * batch as f64);
        let operands = vec![execution.input, execution.output];
        stream.submit(operands, operations, move |memory| match kind.is_double {
            true => execution.compute::<f64>(memory),
            false => execution.compute::<f32>(memory),
        })
    }
}

/// Converts `CUFFT_FORWARD` or `CUFFT_INVERSE`.
fn direction(value: c_int) -> Result<FftDirection, Status> {
    match value {
        -1 => Ok(FftDirection::Forward),
        1 => Ok(FftDirection::Inverse),
        _ => Err(INVALID_VALUE),
    }
}

/// Submits the transforms of a plan, which must have this form and precision.
fn execute<F: Real>(
    handle: Handle,
    operands: [*mut c_void; 2],
    form: Form,
    direction: FftDirection,
) -> CallResult {
    let (plan, stream) = planned(handle)?;
    if plan.kind.form != form || plan.kind.is_double != F::IS_DOUBLE {
        return Err(INVALID_TYPE);
    }
    Execution::submit((plan, stream), operands, direction)
}

/// `cufftExecC2C` and `cufftExecZ2Z`.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn complex<F: Real>(
    plan: Handle,
    input: *mut c_void,
    output: *mut c_void,
    sign: c_int,
) -> CallResult {
    execute::<F>(plan, [input, output], Form::Complex, direction(sign)?)
}

/// `cufftExecR2C` and `cufftExecD2Z`.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn from_real<F: Real>(
    plan: Handle,
    input: *mut c_void,
    output: *mut c_void,
) -> CallResult {
    execute::<F>(plan, [input, output], Form::FromReal, FftDirection::Forward)
}

/// `cufftExecC2R` and `cufftExecZ2D`.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn to_real<F: Real>(
    plan: Handle,
    input: *mut c_void,
    output: *mut c_void,
) -> CallResult {
    execute::<F>(plan, [input, output], Form::ToReal, FftDirection::Inverse)
}

/// `cufftXtExec`: executes a plan of any kind. The direction matters for complex elements only.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn any(
    handle: Handle,
    input: *mut c_void,
    output: *mut c_void,
    sign: c_int,
) -> CallResult {
    let (plan, stream) = planned(handle)?;
    let direction = match plan.kind.form {
        Form::Complex => direction(sign)?,
        Form::FromReal => FftDirection::Forward,
        Form::ToReal => FftDirection::Inverse,
    };
    Execution::submit((plan, stream), [input, output], direction)
}
