//! Execution of a launch plan on the device: buffers, variables, launches and outputs.

use std::ffi::c_void;

use anyhow::{Result, bail};
use cust::error::CudaResult;
use cust::function::Function;
use cust::memory::bytemuck::Pod;
use cust::memory::{CopyDestination as _, DeviceBuffer, DeviceCopy, DeviceSlice};
use launch_plan::{Argument, Buffer, Element, Launch, ResolvedPlan};

use super::{OutputBuffer, ResolvedCase};
use crate::host::{Bench, Code, Output};

/// The number of zero words of 8 bytes behind each argument, and of extra arguments behind the last. A kernel
/// that is declared with more or longer parameters than it is launched with reads zeros instead of foreign
/// memory.
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
    let buffers = DeviceBuffers::new(bench, &bench.submission, true, resolved, optional)?;
    launch(
        bench,
        &bench.submission,
        &resolved.ready,
        &buffers.addresses,
        true,
    )?;
    read(&bench.submission, resolved, &buffers.results)
}

/// Runs the kernels of another module without registering inputs to watch, and clears its memory afterwards.
pub fn run_unwatched(
    bench: &Bench,
    code: &Code,
    resolved: &ResolvedCase,
    optional: &[String],
) -> Result<Vec<DeviceOutput>> {
    let mut buffers = DeviceBuffers::new(bench, code, false, resolved, optional)?;
    launch(bench, code, &resolved.ready, &buffers.addresses, false)?;
    let outputs = read(code, resolved, &buffers.results)?;
    // Freed memory is not cleared on a GPU, so a later allocation could read these results.
    for (_, memory) in &mut buffers.results {
        let zeros = vec![0; memory.len()];
        memory.copy_from(&zeros)?;
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

/// Device memory for the launches.
struct DeviceBuffers {
    /// The address of each buffer; 0 if no launch uses it.
    addresses: Vec<u64>,
    /// The outputs that are not variables, with their buffers' indices.
    results: Vec<(usize, DeviceBuffer<u8>)>,
    /// Inputs that are not watched; kept alive until the launches are done.
    _inputs: Vec<DeviceBuffer<u8>>,
}

impl DeviceBuffers {
    /// Fills the buffers and the module's variables. If `watched`, the bench checks that inputs are not
    /// modified.
    fn new(
        bench: &Bench,
        code: &Code,
        watched: bool,
        resolved: &ResolvedCase,
        optional: &[String],
    ) -> Result<DeviceBuffers> {
        let ready = &resolved.ready;
        let (mut addresses, mut results, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        for (number, buffer) in ready.buffers.iter().enumerate() {
            let output = resolved
                .outputs
                .iter()
                .find(|output| output.buffer == number);
            let mut address = 0;
            if buffer.symbol {
                // An output variable without a fill holds the submission's own initial value.
                let is_set = output.is_none_or(|output| output.is_filled);
                if is_set
                    && (!optional.contains(&buffer.name) || code.has_variable(&buffer.name)?)
                {
                    let watcher = (watched && output.is_none()).then_some(bench);
                    with_element_size!(buffer, set_variable(code, watcher, buffer))?;
                }
            } else if let Some(output) = output {
                let memory = allocate_output(buffer, output)?;
                address = memory.as_device_ptr().as_raw();
                results.push((number, memory));
            } else if is_launch_argument(ready, number) && watched {
                address = with_element_size!(buffer, allocate_input(bench, buffer))?;
            } else if is_launch_argument(ready, number) {
                let memory = DeviceBuffer::from_slice(&initial_bytes(buffer))?;
                address = memory.as_device_ptr().as_raw();
                inputs.push(memory);
            }
            addresses.push(address);
        }
        Ok(DeviceBuffers {
            addresses,
            results,
            _inputs: inputs,
        })
    }
}

/// Returns the initial contents of a buffer.
fn initial_bytes(buffer: &Buffer) -> Vec<u8> {
    let zeros = || vec![0; buffer.count * buffer.element.size()];
    buffer.initial.clone().unwrap_or_else(zeros)
}

fn elements<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let chunks = bytes.chunks_exact(size_of::<T>());
    let mut elements = vec![T::zeroed(); chunks.len()];
    let to: &mut [u8] = cust::memory::bytemuck::cast_slice_mut(&mut elements);
    to.copy_from_slice(&bytes[..to.len()]);
    elements
}

/// Allocates an output, filled as described or with the poison pattern that shows unwritten
/// elements.
fn allocate_output(buffer: &Buffer, output: &OutputBuffer) -> Result<DeviceBuffer<u8>> {
    let bytes = match output.is_filled {
        true => initial_bytes(buffer),
        false => vec![common::verify::POISON; buffer.count * buffer.element.size()],
    };
    Ok(DeviceBuffer::from_slice(&bytes)?)
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
    arguments.any(|argument| *argument == Argument::Buffer(number))
}

/// Performs all launches in order; measures their time if `timed` and the bench takes samples.
fn launch(
    bench: &Bench,
    code: &Code,
    ready: &ResolvedPlan,
    addresses: &[u64],
    timed: bool,
) -> Result<()> {
    let prepared = ready.launches.iter().map(|launch| {
        let kernel = code.kernel(&launch.kernel)?;
        let values: Vec<Vec<u64>> = launch
            .arguments
            .iter()
            .map(|argument| encode_argument(argument, addresses))
            .collect();
        Ok((launch, kernel, values))
    });
    let mut prepared = prepared.collect::<Result<Vec<_>>>()?;
    if prepared.is_empty() {
        return Ok(());
    }
    let mut launch_all = || {
        for (launch, kernel, values) in &mut prepared {
            for _ in 0..launch.times {
                launch_once(bench, launch, kernel, values)?;
            }
        }
        Ok(())
    };
    match timed {
        true => bench.launch(launch_all)?,
        false => launch_all()?,
    }
    bench.gpu.stream.synchronize()?;
    Ok(())
}

fn launch_once(
    bench: &Bench,
    launch: &Launch,
    kernel: &Function,
    values: &mut [Vec<u64>],
) -> CudaResult<()> {
    let [x, y, z] = launch.grid;
    let [width, height, depth] = launch.block;
    let mut padding = [0_u64; ZERO_WORDS];
    let mut pointers: Vec<*mut c_void> = values
        .iter_mut()
        .map(|value| value.as_mut_ptr().cast())
        .collect();
    pointers.resize(pointers.len() + ZERO_WORDS, padding.as_mut_ptr().cast());
    let stream = &bench.gpu.stream;
    // SAFETY: each pointer is to a value padded with `ZERO_WORDS` zero words, so it is longer than any
    // parameter that the kernel may declare. The simulator checks the memory that the kernel accesses.
    unsafe {
        stream.launch(
            kernel,
            (x, y, z),
            (width, height, depth),
            launch.shared,
            &pointers,
        )
    }
}

/// Encodes an argument followed by zeros. An integer is stored in 64 bits, whose low half is also the 32-bit
/// value.
fn encode_argument(argument: &Argument, addresses: &[u64]) -> Vec<u64> {
    use launch_plan::expression::Value;
    let mut words = match argument {
        Argument::Buffer(number) => vec![addresses[*number]],
        Argument::Number(Value::Integer(whole)) => vec![*whole as u64],
        Argument::Number(Value::Float(float)) => vec![u64::from((*float as f32).to_bits())],
        Argument::Structure(bytes) => {
            let mut bytes = bytes.clone();
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            elements(&bytes)
        }
    };
    words.resize(words.len() + ZERO_WORDS, 0);
    words
}

/// Reads all outputs.
fn read(
    code: &Code,
    resolved: &ResolvedCase,
    results: &[(usize, DeviceBuffer<u8>)],
) -> Result<Vec<DeviceOutput>> {
    let read = |memory: &DeviceSlice<u8>| {
        Ok(DeviceOutput {
            bytes: memory.as_host_vec()?,
            address: memory.as_device_ptr().as_raw(),
        })
    };
    let read_output = |output: &OutputBuffer| {
        let buffer = &resolved.ready.buffers[output.buffer];
        if buffer.symbol {
            let bytes = buffer.count * buffer.element.size();
            return read(&code.variable_memory::<u8>(&buffer.name, bytes)?);
        }
        match results.iter().find(|(number, _)| *number == output.buffer) {
            Some((_, memory)) => read(memory),
            None => bail!("the output {} has no memory", buffer.name),
        }
    };
    resolved.outputs.iter().map(read_output).collect()
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
