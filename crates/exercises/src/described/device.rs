//! Buffers on the device, launches, and what came out of them.

use std::ffi::c_void;

use anyhow::{Result, bail};
use cust::error::CudaResult;
use cust::function::Function;
use cust::memory::bytemuck::Pod;
use cust::memory::{CopyDestination as _, DeviceBuffer, DeviceCopy, DeviceSlice};
use launch_plan::{Argument, Buffer, Element, Launch, Ready};

use super::{Known, Place};
use crate::host::{Bench, Code, Output};

/// Words of 8 bytes that stand behind every argument, and arguments behind the last: a kernel that is declared
/// with more or longer ones than it is launched with reads zeros there.
const MORE: usize = 32;

/// What came out: an output's bytes, and where they were in device memory.
pub struct Got {
    pub bytes: Vec<u8>,
    address: u64,
}

/// Runs the answer's kernels, and reads what came out.
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

/// The same for another module, whose kernels change nothing that is watched, and leave nothing behind.
pub fn run_apart(
    bench: &Bench,
    code: &Code,
    known: &Known,
    optional: &[String],
) -> Result<Vec<Got>> {
    let mut prepared = Prepared::new(bench, code, false, known, optional)?;
    launch(bench, code, &known.ready, &prepared.addresses, false)?;
    let all = read(code, known, &prepared.results)?;
    // Freed memory is not cleared on a GPU, and whoever is given it next could read it.
    for (_, memory) in &mut prepared.results {
        let zeros = vec![0; memory.len()];
        memory.copy_from(&zeros)?;
    }
    Ok(all)
}

/// Calls a function for elements of a buffer's size.
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

/// Memory for launches.
struct Prepared {
    /// Where each buffer is; 0 where no launch takes it.
    addresses: Vec<u64>,
    /// The outputs that are no variables, by their buffers' numbers.
    results: Vec<(usize, DeviceBuffer<u8>)>,
    /// Inputs that nobody watches, which are there as long as the launches run.
    _inputs: Vec<DeviceBuffer<u8>>,
}

impl Prepared {
    /// Fills buffers and a module's variables. Where it is `watched`, nothing may change what is only read.
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
                // An output that nothing is put into is what the answer says of itself.
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

/// What is in a buffer at first.
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

/// Memory for an output: what the description says is in it, or what shows that nobody wrote.
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

/// Whether a launch takes the buffer's address. Others are for expressions alone.
pub fn is_passed(ready: &Ready, number: usize) -> bool {
    let mut arguments = ready.launches.iter().flat_map(|it| &it.arguments);
    arguments.any(|it| *it == Argument::Buffer(number))
}

/// All launches, one after the other; timed where a time is asked.
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
    // SAFETY: behind each pointer is a value, longer than any that the kernel may take in its place. What it
    // does with memory the simulator watches.
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

/// An argument's bytes, and zeros behind them. A whole number is as good as one of 32 bits as of 64.
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

/// What is in all outputs.
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

/// An output beside its reference.
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
