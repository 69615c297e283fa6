//! The execution of plans: transforms on the host, with `rustfft`.

use cuda_driver::{Arithmetic, CallMemory, IllegalOperand};
use num_complex::Complex;
use parking_lot::Mutex;
use rayon::prelude::*;
use rustfft::{FftDirection, FftNum, FftPlanner};

use super::plan::{Form, Layout, Plan, planned};
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

/// A real type of transforms.
pub trait Real: FftNum + num_traits::Float {
    const IS_DOUBLE: bool;

    /// Calls `f` with the planner of this type, which keeps the tables of earlier transforms.
    fn with_planner<R>(f: impl FnOnce(&mut FftPlanner<Self>) -> R) -> R;
}

/// Implements [`Real`].
macro_rules! reals {
    ($($type:ty, $is_double:literal;)*) => {$(
        impl Real for $type {
            const IS_DOUBLE: bool = $is_double;

            fn with_planner<R>(f: impl FnOnce(&mut FftPlanner<Self>) -> R) -> R {
                static PLANNER: Mutex<Option<FftPlanner<$type>>> = Mutex::new(None);
                f(PLANNER.lock().get_or_insert_with(FftPlanner::new))
            }
        }
    )*};
}

reals! {
    f32, false;
    f64, true;
}

/// Elements per task of a thread, at least.
const MIN_TASK: usize = 1 << 14;

/// Transforms contiguous arrays of three dimensions, without scaling.
pub fn transform<F: Real>(elements: &mut [Complex<F>], sizes: [usize; 3], direction: FftDirection) {
    let mut inner = 1;
    for length in sizes.into_iter().rev() {
        if length > 1 {
            transform_axis(elements, length, inner, direction);
        }
        inner *= length;
    }
}

/// Transforms all sequences of `length` elements at the distance `inner`.
fn transform_axis<F: Real>(
    elements: &mut [Complex<F>],
    length: usize,
    inner: usize,
    direction: FftDirection,
) {
    let fft = F::with_planner(|planner| planner.plan_fft(length, direction));
    let task = length * (MIN_TASK / length).max(1);
    if inner == 1 {
        elements
            .par_chunks_mut(task)
            .for_each(|chunk| fft.process(chunk));
        return;
    }
    for block in elements.chunks_mut(length * inner) {
        // The sequences of the block one after another.
        let mut columns: Vec<Complex<F>> = (0..inner)
            .into_par_iter()
            .flat_map_iter(|column| (0..length).map(move |row| column + row * inner))
            .map(|position| block[position])
            .collect();
        columns
            .par_chunks_mut(task)
            .for_each(|chunk| fft.process(chunk));
        block
            .par_chunks_mut(inner)
            .enumerate()
            .for_each(|(row, elements)| {
                for (column, element) in elements.iter_mut().enumerate() {
                    *element = columns[row + column * length];
                }
            });
    }
}

/// Returns all elements of a spectrum of real data from its first half, in which the last dimension has `half` elements.
pub fn complete<F: Real>(
    half_spectrum: &[Complex<F>],
    sizes: [usize; 3],
    half: usize,
) -> Vec<Complex<F>> {
    let [outer, middle, last] = sizes;
    let at = |z: usize, y: usize, x: usize| half_spectrum[(z * middle + y) * half + x];
    let mut full = Vec::with_capacity(outer * middle * last);
    for z in 0..outer {
        for y in 0..middle {
            full.extend((0..half).map(|x| at(z, y, x)));
            let mirror = |position: usize, size: usize| (size - position) % size;
            full.extend(
                (half..last).map(|x| at(mirror(z, outer), mirror(y, middle), last - x).conj()),
            );
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes a transform by its definition.
    fn expected(elements: &[Complex<f64>], sizes: [usize; 3], sign: f64) -> Vec<Complex<f64>> {
        let [outer, middle, last] = sizes;
        let positions: Vec<[usize; 3]> = (0..outer * middle * last)
            .map(|i| [i / last / middle, i / last % middle, i % last])
            .collect();
        let term = |k: &[usize; 3], n: &[usize; 3]| {
            let turns: f64 = (0..3)
                .map(|d| (k[d] * n[d] % sizes[d]) as f64 / sizes[d] as f64)
                .sum();
            Complex::from_polar(1.0, sign * std::f64::consts::TAU * turns)
        };
        let sum = |k| {
            positions
                .iter()
                .zip(elements)
                .map(|(n, x)| x * term(k, n))
                .sum()
        };
        positions.iter().map(sum).collect()
    }

    #[test]
    fn transforms_follow_the_definition() {
        for sizes in [[1, 1, 1], [1, 1, 7], [1, 4, 6], [3, 2, 5]] {
            let count = sizes.iter().product::<usize>();
            let elements: Vec<Complex<f64>> = (0..count)
                .map(|i| Complex::new((i * i % 11) as f64 - 4.0, (i % 5) as f64))
                .collect();
            for (direction, sign) in [(FftDirection::Forward, -1.0), (FftDirection::Inverse, 1.0)] {
                let mut actual = elements.clone();
                transform(&mut actual, sizes, direction);
                for (actual, expected) in actual.iter().zip(expected(&elements, sizes, sign)) {
                    assert!(
                        (actual - expected).norm() < 1e-10,
                        "{sizes:?}: {actual} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn spectra_of_real_data_are_completed() {
        for sizes in [[1, 1, 6], [1, 3, 5], [2, 3, 4]] {
            let count = sizes.iter().product::<usize>();
            let mut full: Vec<Complex<f64>> = (0..count)
                .map(|i| Complex::new((i * 7 % 13) as f64, 0.0))
                .collect();
            transform(&mut full, sizes, FftDirection::Forward);
            let half = sizes[2] / 2 + 1;
            let first: Vec<_> = full
                .chunks(sizes[2])
                .flat_map(|row| &row[..half])
                .copied()
                .collect();
            for (actual, expected) in complete(&first, sizes, half).iter().zip(&full) {
                assert!((actual - expected).norm() < 1e-10);
            }
        }
    }
}
