//! Execution of a launch plan on the device: buffers, variables, launches and outputs.

use std::ffi::c_void;

use anyhow::{Result, bail};
use cust::error::CudaResult;
use cust::function::Function;
use cust::memory::bytemuck::Pod;
use cust::memory::{CopyDestination as _, DeviceBuffer, DeviceCopy, DeviceSlice};
use launch_plan::{Argument, Buffer, Element, Launch, Ready};

use super::{Known, Place};
use crate::host::{Bench, Code, Output};

/// The number of zero words of 8 bytes behind each argument, and of extra arguments behind the last. A kernel
/// that is declared with more or longer parameters than it is launched with reads zeros instead of foreign
/// memory.
const MORE: usize = 32;

/// An output's bytes and its address in device memory.
pub struct Got {
    pub bytes: Vec<u8>,
    address: u64,
}

/// Runs the submission's kernels and reads the outputs.
pub fn run(bench: &Bench, known: &Known, optional: &[String]) -> Result<Vec<Got>> {
    let prepared = Prepared::new(bench, &bench.answer, true, known, optional)?;
    launch(
        bench,
        &bench.answer,
        &known.ready,
        &prepared.addresses,
        true,
    )?;
    read(&bench.answer, known, &prepared.results)
}

/// Runs the kernels of another module without registering inputs to watch, and clears its memory afterwards.
pub fn run_apart(
    bench: &Bench,
    code: &Code,
    known: &Known,
    optional: &[String],
) -> Result<Vec<Got>> {
    let mut prepared = Prepared::new(bench, code, false, known, optional)?;
    launch(bench, code, &known.ready, &prepared.addresses, false)?;
    let all = read(code, known, &prepared.results)?;
    // Freed memory is not cleared on a GPU, so a later allocation could read these results.
    for (_, memory) in &mut prepared.results {
        let zeros = vec![0; memory.len()];
        memory.copy_from(&zeros)?;
    }
    Ok(all)
}

/// Calls a function with the integer type of a buffer's element size.
macro_rules! each_size {
    ($buffer:expr, $function:ident($($argument:expr),*)) => {
        match $buffer.of.size() {
            1 => $function::<u8>($($argument),*),
            2 => $function::<u16>($($argument),*),
            4 => $function::<u32>($($argument),*),
            _ => $function::<u64>($($argument),*),
        }
    };
}

/// Device memory for the launches.
struct Prepared {
    /// The address of each buffer; 0 if no launch uses it.
    addresses: Vec<u64>,
    /// The outputs that are not variables, with their buffers' indices.
    results: Vec<(usize, DeviceBuffer<u8>)>,
    /// Inputs that are not watched; kept alive until the launches are done.
    _inputs: Vec<DeviceBuffer<u8>>,
}

impl Prepared {
    /// Fills the buffers and the module's variables. If `watched`, the bench checks that inputs are not
    /// modified.
    fn new(
        bench: &Bench,
        code: &Code,
        watched: bool,
        known: &Known,
        optional: &[String],
    ) -> Result<Prepared> {
        let ready = &known.ready;
        let (mut addresses, mut results, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        for (number, buffer) in ready.buffers.iter().enumerate() {
            let output = known.outputs.iter().find(|it| it.buffer == number);
            let mut address = 0;
            if buffer.symbol {
                // An output variable without a fill holds the submission's own initial value.
                let is_set = output.is_none_or(|place| place.is_filled);
                if is_set
                    && (!optional.contains(&buffer.name) || code.has_variable(&buffer.name)?)
                {
                    let watcher = (watched && output.is_none()).then_some(bench);
                    each_size!(buffer, set_variable(code, watcher, buffer))?;
                }
            } else if let Some(place) = output {
                let memory = memory(buffer, place)?;
                address = memory.as_device_ptr().as_raw();
                results.push((number, memory));
            } else if is_passed(ready, number) && watched {
                address = each_size!(buffer, input(bench, buffer))?;
            } else if is_passed(ready, number) {
                let memory = DeviceBuffer::from_slice(&start(buffer))?;
                address = memory.as_device_ptr().as_raw();
                inputs.push(memory);
            }
            addresses.push(address);
        }
        Ok(Prepared {
            addresses,
            results,
            _inputs: inputs,
        })
    }
}

/// Returns the initial contents of a buffer.
fn start(buffer: &Buffer) -> Vec<u8> {
    let zeros = || vec![0; buffer.count * buffer.of.size()];
    buffer.start.clone().unwrap_or_else(zeros)
}

fn elements<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let each = bytes.chunks_exact(size_of::<T>());
    let mut all = vec![T::zeroed(); each.len()];
    let to: &mut [u8] = cust::memory::bytemuck::cast_slice_mut(&mut all);
    to.copy_from_slice(&bytes[..to.len()]);
    all
}

/// Allocates an output, filled as the description says or with the poison pattern that shows unwritten
/// elements.
fn memory(buffer: &Buffer, place: &Place) -> Result<DeviceBuffer<u8>> {
    let bytes = match place.is_filled {
        true => start(buffer),
        false => vec![common::verify::POISON; buffer.count * buffer.of.size()],
    };
    Ok(DeviceBuffer::from_slice(&bytes)?)
}

fn input<T: Pod + DeviceCopy + 'static>(bench: &Bench, buffer: &Buffer) -> Result<u64> {
    let memory = bench.input::<T>(&buffer.name, &elements(&start(buffer)))?;
    Ok(memory.as_device_ptr().as_raw())
}

fn set_variable<T: Pod + DeviceCopy>(
    code: &Code,
    watched: Option<&Bench>,
    buffer: &Buffer,
) -> Result<()> {
    let values = elements::<T>(&start(buffer));
    match watched {
        Some(bench) => bench.input_variable(&buffer.name, &values),
        None => code.set_variable(&buffer.name, &values),
    }
}

/// Returns true if a launch takes the buffer's address. Other buffers occur only in expressions.
pub fn is_passed(ready: &Ready, number: usize) -> bool {
    let mut arguments = ready.launches.iter().flat_map(|it| &it.arguments);
    arguments.any(|it| *it == Argument::Buffer(number))
}

/// Performs all launches in order; measures their time if `timed` and the bench takes samples.
fn launch(bench: &Bench, code: &Code, ready: &Ready, addresses: &[u64], timed: bool) -> Result<()> {
    let prepared = ready.launches.iter().map(|launch| {
        let kernel = code.kernel(&launch.kernel)?;
        let values: Vec<Vec<u64>> = launch
            .arguments
            .iter()
            .map(|it| value(it, addresses))
            .collect();
        Ok((launch, kernel, values))
    });
    let mut prepared = prepared.collect::<Result<Vec<_>>>()?;
    if prepared.is_empty() {
        return Ok(());
    }
    let mut all = || {
        for (launch, kernel, values) in &mut prepared {
            for _ in 0..launch.times {
                start_one(bench, launch, kernel, values)?;
            }
        }
        Ok(())
    };
    match timed {
        true => bench.launch(all)?,
        false => all()?,
    }
    bench.gpu.stream.synchronize()?;
    Ok(())
}

fn start_one(
    bench: &Bench,
    launch: &Launch,
    kernel: &Function,
    values: &mut [Vec<u64>],
) -> CudaResult<()> {
    let [x, y, z] = launch.grid;
    let [across, down, deep] = launch.block;
    let mut nothing = [0_u64; MORE];
    let mut places: Vec<*mut c_void> = values.iter_mut().map(|it| it.as_mut_ptr().cast()).collect();
    places.resize(places.len() + MORE, nothing.as_mut_ptr().cast());
    let stream = &bench.gpu.stream;
    // SAFETY: each pointer is to a value padded with `MORE` zero words, so it is longer than any parameter
    // that the kernel may declare. The simulator checks the memory that the kernel accesses.
    unsafe {
        stream.launch(
            kernel,
            (x, y, z),
            (across, down, deep),
            launch.shared,
            &places,
        )
    }
}

/// Encodes an argument followed by zeros. An integer is stored in 64 bits, whose low half is also the 32-bit
/// value.
fn value(argument: &Argument, addresses: &[u64]) -> Vec<u64> {
    use launch_plan::expression::Value;
    let mut words = match argument {
        Argument::Buffer(number) => vec![addresses[*number]],
        Argument::Number(Value::Whole(whole)) => vec![*whole as u64],
        Argument::Number(Value::Float(float)) => vec![u64::from((*float as f32).to_bits())],
        Argument::Structure(bytes) => {
            let mut bytes = bytes.clone();
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            elements(&bytes)
        }
    };
    words.resize(words.len() + MORE, 0);
    words
}

/// Reads all outputs.
fn read(code: &Code, known: &Known, results: &[(usize, DeviceBuffer<u8>)]) -> Result<Vec<Got>> {
    let got = |memory: &DeviceSlice<u8>| {
        Ok(Got {
            bytes: memory.as_host_vec()?,
            address: memory.as_device_ptr().as_raw(),
        })
    };
    let of = |place: &Place| {
        let buffer = &known.ready.buffers[place.buffer];
        if buffer.symbol {
            let bytes = buffer.count * buffer.of.size();
            return got(&code.place::<u8>(&buffer.name, bytes)?);
        }
        match results.iter().find(|(number, _)| *number == place.buffer) {
            Some((_, memory)) => got(memory),
            None => bail!("the output {} has no memory", buffer.name),
        }
    };
    known.outputs.iter().map(of).collect()
}

/// Pairs an output with its reference.
pub fn output(place: &Place, of: Element, got: &Got, expected: &[u8]) -> Result<Output> {
    let Place { name, shape, .. } = place;
    let bytes = &got.bytes;
    let output = match of {
        Element::F32 => Output::of::<f32>(name, shape, elements(bytes), elements(expected)),
        Element::I32 => Output::of::<i32>(name, shape, elements(bytes), elements(expected)),
        _ => Output::of::<u32>(name, shape, elements(bytes), elements(expected)),
    };
    Ok(Output {
        address: Some(got.address),
        ..output?
    })
}
