//! The host side of exercises whose `exercise.toml` describes the launches, in the format of
//! `docs/records/launch-plan.md`, and the execution of these launches on the device. Expected results come from the
//! description or from running the solution.

use std::cell::{OnceCell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use anyhow::{Context as _, Error, Result, anyhow};
use cust::function::Function;
use cust::memory::bytemuck::Pod;
use cust::memory::{DeviceBuffer, DeviceCopy};
use launch_plan::contents::evaluate;
use launch_plan::devices::{copy_from_device, copy_to_device};
use launch_plan::execute::PreparedLaunch;
use launch_plan::expression::{Binding, Expression, Operator};
use launch_plan::kernels::Parameter;
use launch_plan::plan::{Fill, FillTable, Number};
use launch_plan::{
    Argument, Buffer, Device, Element, Execution, Launch, Limits, PlanError, ResolvedPlan,
};
use thiserror::Error as ThisError;

use crate::data::{self, Data};
use crate::host::{Bench, Case, Code, Host, InputValues, Output, Terms};

/// A host side that executes the description in `exercise.toml`.
pub struct DeclarativeHost<'a> {
    data: &'a Data,
    /// The text of `exercise.toml`, for the lines of errors.
    toml: &'a str,
    /// Recently resolved descriptions: a submission runs several times at each size.
    cache: RefCell<Vec<(Case, Rc<ResolvedCase>)>>,
}

/// A description resolved at one size.
struct ResolvedCase {
    ready: ResolvedPlan,
    outputs: Vec<OutputBuffer>,
    /// The expected bytes of each output, once known.
    expected: OnceCell<Vec<Vec<u8>>>,
}

/// An output.
struct OutputBuffer {
    /// The index of its buffer.
    buffer: usize,
    name: String,
    shape: Vec<usize>,
    /// The labels of its elements, if they are predicted.
    labels: Vec<String>,
    /// True if the description initializes the buffer before the launch.
    is_filled: bool,
}

/// The maximum number of elements of an exercise's buffers at one size, 512 MiB of floats.
const MAX_ELEMENTS: usize = 1 << 27;

/// The maximum number of operations to check an exercise's expressions, which take less than a second.
const MAX_STEPS: u128 = 100_000_000;

/// The capacity of the cache of cases, enough for all runs of one submission.
const CACHE_CAPACITY: usize = 64;

impl<'a> DeclarativeHost<'a> {
    /// Creates a host side from the data in `exercise.toml` and the text of that file.
    pub fn new(data: &'a Data, toml: &'a str) -> DeclarativeHost<'a> {
        DeclarativeHost {
            data,
            toml,
            cache: RefCell::default(),
        }
    }

    /// Checks that the description can be resolved at all sizes of the tests, the largest random one, and the graded
    /// one.
    ///
    /// # Errors
    ///
    /// Fails with the first error in the description and its line.
    pub fn verify(&self) -> Result<()> {
        let limits = Limits::new(MAX_ELEMENTS, MAX_STEPS);
        let sizes = &self.data.sizes;
        for size in sizes
            .tests
            .iter()
            .chain([&sizes.random.to])
            .chain(&sizes.graded)
        {
            let case = Case {
                size: size.clone(),
                seed: 1,
            };
            self.resolve(&case, &limits)
                .with_context(|| format!("at the size {size:?}"))?;
        }
        Ok(())
    }

    fn resolved(&self, case: &Case) -> Result<Rc<ResolvedCase>> {
        let mut cache = self.cache.borrow_mut();
        if let Some((_, resolved)) = cache.iter().find(|(of, _)| of == case) {
            return Ok(Rc::clone(resolved));
        }
        // The process that grades has a time limit of its own.
        let limits = Limits::new(MAX_ELEMENTS, u128::MAX);
        let resolved = Rc::new(self.resolve(case, &limits)?);
        if cache.len() >= CACHE_CAPACITY {
            cache.remove(0);
        }
        cache.push((case.clone(), Rc::clone(&resolved)));
        Ok(resolved)
    }

    fn resolve(&self, case: &Case, limits: &Limits) -> Result<ResolvedCase> {
        let data = self.data;
        let draw = (case.seed ^ case.seed >> 32) as u32;
        let numbers = data.sizes.named(&case.size);
        let mut plan = data.plan();
        if data.sizes.is_beyond_tests(&case.size) {
            // Evaluating `expect` for this many elements would take longer than the rest of the grading. Run
            // the solution instead, which the tests compare with the description.
            plan.buffer
                .iter_mut()
                .for_each(|buffer| buffer.expect = None);
        }
        if data.sizes.tests.contains(&case.size) {
            // The fixed sizes come first, so messages mostly show their numbers, which should be easy to read.
            for buffer in &mut plan.buffer {
                let fill = buffer.fill.as_mut().map(toml::Spanned::get_mut);
                if let Some(Fill::Table(FillTable::Random(random))) = fill {
                    random.exponents = None;
                    random.huge = None;
                }
            }
        }
        let ready = ResolvedPlan::within(&plan, self.toml, &numbers, draw, limits);
        let ready = ready.map_err(|error| plan_error(&error))?;
        let resolve_output = |output: &data::Output| {
            let buffer = ready
                .buffers
                .iter()
                .position(|buffer| buffer.name == output.buffer);
            let buffer = buffer.context("the data has been validated")?;
            let shape = shape(output, &ready, buffer, limits)?;
            Ok(OutputBuffer {
                buffer,
                name: output.buffer.clone(),
                shape,
                labels: prediction_labels(output, ready.buffers[buffer].count)?,
                is_filled: data.buffer[buffer].fill.is_some(),
            })
        };
        let outputs = data
            .outputs
            .iter()
            .map(resolve_output)
            .collect::<Result<_>>()?;
        Ok(ResolvedCase {
            ready,
            outputs,
            expected: OnceCell::new(),
        })
    }
}

/// Converts a plan's error, which contains the line.
fn plan_error(error: &PlanError) -> anyhow::Error {
    anyhow!("{error}")
}

/// Evaluates the lengths of an output's dimensions.
fn shape(
    output: &data::Output,
    ready: &ResolvedPlan,
    buffer: usize,
    limits: &Limits,
) -> Result<Vec<usize>> {
    let count = ready.buffers[buffer].count;
    if output.shape.is_empty() {
        return Ok(vec![count]);
    }
    let length = |number: &Number| {
        let value = evaluate(number, &limits.scope(ready)).map_err(|error| anyhow!(error))?;
        usize::try_from(value.to_integer()).context("a length below 0")
    };
    let lengths = output.shape.iter().map(length).collect::<Result<Vec<_>>>();
    let lengths = lengths.with_context(|| format!("[[output]] {}: shape", output.buffer))?;
    anyhow::ensure!(
        lengths
            .iter()
            .try_fold(1, |all: usize, &length| all.checked_mul(length))
            == Some(count),
        "[[output]] {}: shape {lengths:?} does not match its {count} elements",
        output.buffer
    );
    Ok(lengths)
}

/// Returns the labels of a predicted output's elements.
fn prediction_labels(output: &data::Output, count: usize) -> Result<Vec<String>> {
    let names = output.predicts.len();
    anyhow::ensure!(
        names == 0 || names == count,
        "[[output]] {}: predicts has {names} names, but there are {count} elements",
        output.buffer
    );
    Ok(output.predicts.clone())
}

impl Host for DeclarativeHost<'_> {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (optional, resolved) = (&self.data.optional, self.resolved(case)?);
        let actual = run(bench, &resolved, optional)?;
        let expected = expected_outputs(bench, &resolved, optional)?;
        let outputs = resolved.outputs.iter().zip(actual).zip(expected);
        outputs
            .map(|((buffer, actual), expected)| {
                let of = resolved.ready.buffers[buffer.buffer].element;
                let output = pair(buffer, of, &actual, expected)?;
                Ok(output.predicted(&buffer.labels))
            })
            .collect()
    }

    /// Returns the description's number `bytes`.
    fn bytes(&self, case: &Case) -> u64 {
        let resolved = self.resolved(case).ok();
        let bytes = resolved.and_then(|resolved| resolved.ready.numbers.get("bytes").copied());
        bytes.map_or(0, |bytes| u64::try_from(bytes.to_integer()).unwrap_or(0))
    }

    fn terms(&self, case: &Case, output: &str, indices: &[usize]) -> Option<Vec<Terms>> {
        let resolved = self.resolved(case).ok()?;
        let buffer = resolved
            .ready
            .buffers
            .iter()
            .find(|buffer| buffer.name == output)?;
        sum_terms(&buffer.expected.as_ref()?.text, &resolved.ready, indices)
    }

    fn input_values(&self, case: &Case) -> Vec<InputValues> {
        let Ok(resolved) = self.resolved(case) else {
            return Vec::new();
        };
        let is_output = |number| {
            resolved
                .outputs
                .iter()
                .any(|output| output.buffer == number)
        };
        let buffers = resolved.ready.buffers.iter().enumerate();
        let inputs = buffers.filter(|&(number, buffer)| {
            !is_output(number) && (buffer.symbol || is_launch_argument(&resolved.ready, number))
        });
        let inputs = inputs.filter_map(|(_, buffer)| {
            let bytes = buffer.initial.as_ref()?.chunks_exact(buffer.element.size());
            Some(InputValues {
                name: buffer.name.clone(),
                values: bytes
                    .map(|bytes| buffer.element.value(bytes).to_float())
                    .collect(),
            })
        });
        inputs.collect()
    }
}

/// Returns the expected bytes of each output. The solution runs after the submission, whose kernels therefore
/// cannot find its results in memory.
fn expected_outputs<'a>(
    bench: &Bench,
    resolved: &'a ResolvedCase,
    optional: &[String],
) -> Result<&'a [Vec<u8>]> {
    if let Some(expected) = resolved.expected.get() {
        return Ok(expected);
    }
    let all = resolved.outputs.iter().map(|output| {
        let buffer = &resolved.ready.buffers[output.buffer];
        let expected = buffer.expected.as_ref()?;
        let bytes = expected
            .values
            .iter()
            .flat_map(|&value| buffer.element.bytes(value));
        Some(bytes.collect::<Vec<u8>>())
    });
    let described: Vec<Option<Vec<u8>>> = all.collect();
    let expected = match described.iter().all(Option::is_some) {
        true => described.into_iter().flatten().collect(),
        false => {
            let computed = bench.uncounted(|| {
                let solution = bench.solution()?;
                run_unwatched(bench, &solution, resolved, optional)
            });
            let computed = computed.map_err(|error| solution_failed(bench, error))?;
            let both = described.into_iter().zip(computed);
            both.map(|(described, computed)| described.unwrap_or(computed.bytes))
                .collect()
        }
    };
    Ok(resolved.expected.get_or_init(|| expected))
}

/// The error that the solution itself does not run. It is not a verdict on the submission.
#[derive(Debug, ThisError)]
#[error("the solution failed to run, so nothing can be graded: {0}")]
pub struct SolutionFailed(String);

fn solution_failed(bench: &Bench, error: Error) -> Error {
    let reason = match bench.take_fault() {
        Some(fault) => fault.to_string(),
        None => format!("{error:#}"),
    };
    SolutionFailed(reason).into()
}

/// Returns the terms of these elements; `None` if `expect` is not a sum.
fn sum_terms(expect: &str, ready: &ResolvedPlan, indices: &[usize]) -> Option<Vec<Terms>> {
    let sum = Expression::parse(expect).ok()?;
    let equal = with_equality(&sum);
    let terms_of = |&index: &usize| {
        let values = Binding::of_index(index, ready);
        let terms = sum.terms(&values)?.ok()?;
        let equal = equal.as_ref().and_then(|equal| equal.value(&values).ok());
        Some(Terms {
            values: terms.iter().map(|term| term.to_float()).collect(),
            equal: equal.map(|equal| equal.to_float()),
        })
    };
    indices.iter().map(terms_of).collect()
}

/// Returns the sum with `==` instead of the ordering comparison in each term; `None` if the terms are no
/// ordering comparisons.
fn with_equality(sum: &Expression) -> Option<Expression> {
    use Operator::{Greater, GreaterOrEqual, Less, LessOrEqual};
    let Expression::Sum(name, operands) = sum else {
        return None;
    };
    let [from, to, of] = (**operands).clone();
    let Expression::Binary(Greater | GreaterOrEqual | Less | LessOrEqual, both) = of else {
        return None;
    };
    let equal = Expression::Binary(Operator::Equal, both);
    Some(Expression::Sum(name.clone(), Box::new([from, to, equal])))
}

/// The number of extra arguments behind the last one, and of the zero words of 8 bytes that they point to. A kernel
/// that is declared with more parameters than it is launched with reads zeros instead of foreign memory.
const ZERO_WORDS: usize = 32;

/// An output's bytes and its address in device memory.
pub struct DeviceOutput {
    pub bytes: Vec<u8>,
    address: u64,
}

/// Runs the submission's kernels and reads the outputs.
fn run(bench: &Bench, resolved: &ResolvedCase, optional: &[String]) -> Result<Vec<DeviceOutput>> {
    let device = BenchDevice::new(bench, &bench.submission, true, resolved, optional);
    let mut execution = Execution::new(&resolved.ready, device)?;
    let launches = prepare(&mut execution, resolved)?;
    if !launches.is_empty() {
        bench.launch(|| launch_all(&mut execution, &launches))?;
        bench.gpu.stream.synchronize()?;
    }
    read(&mut execution, resolved)
}

/// Runs the kernels of another module without registering inputs to watch, and clears its memory afterwards.
fn run_unwatched(
    bench: &Bench,
    code: &Code,
    resolved: &ResolvedCase,
    optional: &[String],
) -> Result<Vec<DeviceOutput>> {
    let device = BenchDevice::new(bench, code, false, resolved, optional);
    let mut execution = Execution::new(&resolved.ready, device)?;
    let launches = prepare(&mut execution, resolved)?;
    if !launches.is_empty() {
        launch_all(&mut execution, &launches)?;
        bench.gpu.stream.synchronize()?;
    }
    let outputs = read(&mut execution, resolved)?;
    // Freed memory is not cleared on a GPU, so a later allocation could read these results.
    for output in &resolved.outputs {
        let buffer = &resolved.ready.buffers[output.buffer];
        if !buffer.symbol {
            let address = execution.addresses[output.buffer];
            execution.device.write(address, &vec![0; buffer.size()])?;
        }
    }
    Ok(outputs)
}

/// Prepares all launches, so that only the launches themselves are timed.
fn prepare<'a>(
    execution: &mut Execution<BenchDevice<'a>>,
    resolved: &ResolvedCase,
) -> Result<Vec<PreparedLaunch<Function<'a>>>> {
    let launches = resolved.ready.launches.iter();
    launches.map(|launch| execution.prepare(launch)).collect()
}

/// Performs all launches in order.
fn launch_all<'a>(
    execution: &mut Execution<BenchDevice<'a>>,
    launches: &[PreparedLaunch<Function<'a>>],
) -> Result<()> {
    launches
        .iter()
        .try_for_each(|launch| execution.launch(launch))
}

/// Reads all outputs.
fn read(
    execution: &mut Execution<BenchDevice>,
    resolved: &ResolvedCase,
) -> Result<Vec<DeviceOutput>> {
    let mut outputs = Vec::new();
    for output in &resolved.outputs {
        let buffer = &resolved.ready.buffers[output.buffer];
        let address = if buffer.symbol {
            execution.device.variable(&buffer.name, buffer.size())?
        } else {
            execution.addresses[output.buffer]
        };
        let mut bytes = vec![0; buffer.size()];
        execution.device.read(address, &mut bytes)?;
        outputs.push(DeviceOutput { bytes, address });
    }
    Ok(outputs)
}

/// Calls a function with the integer type of a buffer's element size.
macro_rules! with_element_size {
    ($buffer:expr, $function:ident($($argument:expr),*)) => {
        match $buffer.element.size() {
            1 => $function::<u8>($($argument),*),
            2 => $function::<u16>($($argument),*),
            4 => $function::<u32>($($argument),*),
            _ => $function::<u64>($($argument),*),
        }
    };
}

/// The bench as a device for plans: it checks that inputs are not modified, and fills outputs with a poison pattern.
struct BenchDevice<'a> {
    bench: &'a Bench,
    code: &'a Code,
    /// True to register inputs, which the bench then checks.
    watched: bool,
    resolved: &'a ResolvedCase,
    /// The variables that a submission may declare but need not.
    optional: &'a [String],
    /// Outputs, and inputs that are not watched; kept alive until the outputs are read.
    memory: Vec<DeviceBuffer<u8>>,
}

impl<'a> BenchDevice<'a> {
    fn new(
        bench: &'a Bench,
        code: &'a Code,
        watched: bool,
        resolved: &'a ResolvedCase,
        optional: &'a [String],
    ) -> Self {
        BenchDevice {
            bench,
            code,
            watched,
            resolved,
            optional,
            memory: Vec::new(),
        }
    }

    /// Allocates memory with these contents.
    fn upload(&mut self, bytes: &[u8]) -> Result<u64> {
        let memory = DeviceBuffer::from_slice(bytes)?;
        let address = memory.as_device_ptr().as_raw();
        self.memory.push(memory);
        Ok(address)
    }
}

impl<'a> Device for BenchDevice<'a> {
    type Kernel = Function<'a>;

    /// Returns a kernel whose parameters are unknown: a submission may declare others than the description.
    fn kernel(&mut self, name: &str) -> Result<(Function<'a>, Option<Vec<Parameter>>)> {
        Ok((self.code.kernel(name)?, None))
    }

    fn allocate(&mut self, bytes: usize) -> Result<u64> {
        self.upload(&vec![0; bytes])
    }

    fn variable(&mut self, name: &str, bytes: usize) -> Result<u64> {
        let variable = self.code.variable_memory::<u8>(name, bytes)?;
        Ok(variable.as_device_ptr().as_raw())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        Ok(copy_to_device(address, bytes)?)
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<()> {
        Ok(copy_from_device(bytes, address)?)
    }

    unsafe fn launch(
        &mut self,
        kernel: &Function<'a>,
        launch: &Launch,
        arguments: &[Vec<u8>],
    ) -> Result<()> {
        let [x, y, z] = launch.grid;
        let [width, height, depth] = launch.block;
        let mut padding = [0_u64; ZERO_WORDS];
        let pointers = arguments.iter().map(|value| value.as_ptr().cast());
        let mut pointers: Vec<*mut c_void> = pointers.map(<*const c_void>::cast_mut).collect();
        pointers.resize(pointers.len() + ZERO_WORDS, padding.as_mut_ptr().cast());
        let stream = &self.bench.gpu.stream;
        // SAFETY: each pointer is to a value that the executor has padded with zeros because the parameters are
        // unknown, or to `padding`, so it is longer than any parameter that the kernel may declare. The driver only
        // reads them. The simulator checks the memory that the kernel accesses.
        let launched = unsafe {
            stream.launch(
                kernel,
                (x, y, z),
                (width, height, depth),
                launch.shared,
                &pointers,
            )
        };
        Ok(launched?)
    }

    fn synchronize(&mut self) -> Result<()> {
        Ok(self.bench.gpu.stream.synchronize()?)
    }

    /// Fills a buffer or a variable of the module, and returns the buffer's address; 0 for a variable, and for a
    /// buffer that no launch uses.
    fn create(&mut self, index: usize, buffer: &Buffer) -> Result<u64> {
        let resolved = self.resolved;
        let mut outputs = resolved.outputs.iter();
        let output = outputs.find(|output| output.buffer == index);
        if buffer.symbol {
            // An output variable without a fill holds the submission's own initial value.
            let is_set = output.is_none_or(|output| output.is_filled);
            let is_declared =
                !self.optional.contains(&buffer.name) || self.code.has_variable(&buffer.name)?;
            if is_set && is_declared {
                let watcher = (self.watched && output.is_none()).then_some(self.bench);
                with_element_size!(buffer, set_variable(self.code, watcher, buffer))?;
            }
            return Ok(0);
        }
        match output {
            Some(output) if output.is_filled => self.upload(&initial_bytes(buffer)),
            Some(_) => self.upload(&vec![common::verify::POISON; buffer.size()]),
            None if !is_launch_argument(&resolved.ready, index) => Ok(0),
            None if self.watched => {
                with_element_size!(buffer, allocate_input(self.bench, buffer))
            }
            None => self.upload(&initial_bytes(buffer)),
        }
    }
}

/// Returns the initial contents of a buffer.
fn initial_bytes(buffer: &Buffer) -> Vec<u8> {
    let zeros = || vec![0; buffer.size()];
    buffer.initial.clone().unwrap_or_else(zeros)
}

fn elements<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let chunks = bytes.chunks_exact(size_of::<T>());
    let mut elements = vec![T::zeroed(); chunks.len()];
    let to: &mut [u8] = cust::memory::bytemuck::cast_slice_mut(&mut elements);
    to.copy_from_slice(&bytes[..to.len()]);
    elements
}

fn allocate_input<T: Pod + DeviceCopy + 'static>(bench: &Bench, buffer: &Buffer) -> Result<u64> {
    let memory = bench.input::<T>(&buffer.name, &elements(&initial_bytes(buffer)))?;
    Ok(memory.as_device_ptr().as_raw())
}

fn set_variable<T: Pod + DeviceCopy>(
    code: &Code,
    watched: Option<&Bench>,
    buffer: &Buffer,
) -> Result<()> {
    let values = elements::<T>(&initial_bytes(buffer));
    match watched {
        Some(bench) => bench.input_variable(&buffer.name, &values),
        None => code.set_variable(&buffer.name, &values),
    }
}

/// Returns true if a launch takes the buffer's address. Other buffers occur only in expressions.
fn is_launch_argument(ready: &ResolvedPlan, number: usize) -> bool {
    let mut arguments = ready.launches.iter().flat_map(|launch| &launch.arguments);
    arguments.any(|argument| matches!(argument, Argument::Buffer { index, .. } if *index == number))
}

/// Pairs an output with its reference.
fn pair(
    output: &OutputBuffer,
    of: Element,
    actual: &DeviceOutput,
    expected: &[u8],
) -> Result<Output> {
    let OutputBuffer { name, shape, .. } = output;
    let bytes = &actual.bytes;
    let output = match of {
        Element::F32 => {
            Output::from_values::<f32>(name, shape, elements(bytes), elements(expected))
        }
        Element::I32 => {
            Output::from_values::<i32>(name, shape, elements(bytes), elements(expected))
        }
        _ => Output::from_values::<u32>(name, shape, elements(bytes), elements(expected)),
    };
    Ok(Output {
        address: Some(actual.address),
        ..output?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_count_equal_pairs() {
        let text = "[[buffer]]\nname = \"in\"\ntype = \"int\"\ncount = 4\nfill = { values = [3, 5, 3, 1] }\n";
        let plan = toml::from_str(text).unwrap();
        let ready = ResolvedPlan::within(&plan, text, &[], 0, &Limits::none()).unwrap();
        let sum_terms = |expect| sum_terms(expect, &ready, &[0, 3]);
        let terms = sum_terms("sum(k, i, 4, in[k] > 3)").unwrap();
        assert_eq!(terms[0].values, [0.0, 1.0, 0.0, 0.0]);
        assert_eq!((terms[0].equal, terms[1].equal), (Some(2.0), Some(0.0)));
        let terms = sum_terms("sum(k, i, 4, in[k])").unwrap();
        assert_eq!((&terms[1].values[..], terms[1].equal), (&[1.0][..], None));
        assert!(sum_terms("in[i]").is_none());
    }
}
