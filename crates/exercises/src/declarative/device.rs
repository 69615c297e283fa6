//! Execution of a launch plan on the device: buffers, variables, launches and outputs.

use std::ffi::c_void;

use anyhow::Result;
use cust::function::Function;
use cust::memory::bytemuck::Pod;
use cust::memory::{DeviceBuffer, DeviceCopy};
use launch_plan::devices::{copy_from_device, copy_to_device};
use launch_plan::execute::PreparedLaunch;
use launch_plan::kernels::Parameter;
use launch_plan::{Argument, Buffer, Device, Element, Execution, Launch, ResolvedPlan};

use super::{OutputBuffer, ResolvedCase};
use crate::host::{Bench, Code, Output};

/// The number of extra arguments behind the last one, and of the zero words of 8 bytes that they point to. A kernel
/// that is declared with more parameters than it is launched with reads zeros instead of foreign memory.
const ZERO_WORDS: usize = 32;

/// An output's bytes and its address in device memory.
pub struct DeviceOutput {
    pub bytes: Vec<u8>,
    address: u64,
}

/// Runs the submission's kernels and reads the outputs.
pub fn run(
    bench: &Bench,
    resolved: &ResolvedCase,
    optional: &[String],
) -> Result<Vec<DeviceOutput>> {
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
pub fn run_unwatched(
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
pub fn is_launch_argument(ready: &ResolvedPlan, number: usize) -> bool {
    let mut arguments = ready.launches.iter().flat_map(|launch| &launch.arguments);
    arguments.any(|argument| matches!(argument, Argument::Buffer { index, .. } if *index == number))
}

/// Pairs an output with its reference.
pub fn pair(
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
