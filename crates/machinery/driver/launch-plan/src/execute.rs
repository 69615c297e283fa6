//! The executor of launch plans: creates the buffers, encodes the arguments, launches the kernels and reads the
//! results. A [`Device`] provides the memory and runs the kernels.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::contents::Element;
use crate::expression::Value;
use crate::kernels::Parameter;
use crate::resolve::{Argument, Buffer, Launch, ResolvedPlan};

/// The number of zero bytes behind each argument of a kernel whose parameters are unknown. A kernel that declares
/// longer parameters than it is launched with reads zeros instead of foreign memory.
const ZERO_BYTES: usize = 256;

/// A device with one module loaded. Memory is denoted by its device address.
pub trait Device {
    /// A kernel of the module.
    type Kernel;

    /// Returns the kernel with this name, and its parameters if they are known.
    ///
    /// # Errors
    ///
    /// Fails if there is no such kernel.
    fn kernel(&mut self, name: &str) -> Result<(Self::Kernel, Option<Vec<Parameter>>)>;

    /// Allocates uninitialized memory, which lives as long as the device.
    ///
    /// # Errors
    ///
    /// Fails if memory is exhausted.
    fn allocate(&mut self, bytes: usize) -> Result<u64>;

    /// Returns the address of a variable of the module that has at least `bytes` bytes.
    ///
    /// # Errors
    ///
    /// Fails if there is no such variable or it is smaller.
    fn variable(&mut self, name: &str, bytes: usize) -> Result<u64>;

    /// Writes to memory.
    ///
    /// # Errors
    ///
    /// Fails if the copy does.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()>;

    /// Reads from memory.
    ///
    /// # Errors
    ///
    /// Fails if the copy does.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<()>;

    /// Launches a kernel, without waiting for it.
    ///
    /// # Errors
    ///
    /// Fails if the launch is rejected.
    ///
    /// # Safety
    ///
    /// Each of `arguments` must have at least as many bytes as the kernel's parameter in its place.
    unsafe fn launch(
        &mut self,
        kernel: &Self::Kernel,
        launch: &Launch,
        arguments: &[Vec<u8>],
    ) -> Result<()>;

    /// Waits for the launched kernels.
    ///
    /// # Errors
    ///
    /// Fails if a kernel has failed.
    fn synchronize(&mut self) -> Result<()>;

    /// Provides the memory of the plan's buffer with this index, with its initial contents, and returns its address.
    ///
    /// # Errors
    ///
    /// Fails if the memory cannot be provided.
    fn create(&mut self, _index: usize, buffer: &Buffer) -> Result<u64> {
        let name = &buffer.name;
        let address = if buffer.symbol {
            self.variable(name, buffer.size())?
        } else {
            let allocated = self.allocate(buffer.size());
            allocated.with_context(|| format!("cannot allocate {name} on the GPU"))?
        };
        if let Some(initial) = &buffer.initial
            && !initial.is_empty()
        {
            self.write(address, initial)
                .with_context(|| format!("cannot write {name}"))?;
        }
        Ok(address)
    }
}

/// A plan whose buffers are on a device.
pub struct Execution<D> {
    pub device: D,
    /// The address of each buffer.
    pub addresses: Vec<u64>,
    /// The plan's file, which errors name.
    file: Option<PathBuf>,
}

/// A launch whose kernel has been found and whose arguments are encoded.
pub struct PreparedLaunch<K> {
    launch: Launch,
    kernel: K,
    arguments: Vec<Vec<u8>>,
}

impl<D: Device> Execution<D> {
    /// Creates the buffers of a plan, in their order.
    ///
    /// # Errors
    ///
    /// Fails if a buffer cannot be created.
    pub fn new(plan: &ResolvedPlan, device: D) -> Result<Self> {
        let mut execution = Execution {
            device,
            addresses: Vec::new(),
            file: plan.file.clone(),
        };
        for (index, buffer) in plan.buffers.iter().enumerate() {
            let address = execution.device.create(index, buffer);
            let address = execution.locate(buffer.line, address)?;
            execution.addresses.push(address);
        }
        Ok(execution)
    }

    /// Runs all launches of the plan in order, and waits after each.
    ///
    /// # Errors
    ///
    /// Fails if the plan does not match the kernels, or a launch fails.
    pub fn run(&mut self, plan: &ResolvedPlan) -> Result<()> {
        for launch in &plan.launches {
            let prepared = self.prepare(launch)?;
            self.launch(&prepared)?;
            let finished = self.device.synchronize();
            finished.with_context(|| format!("{} failed", launch.kernel))?;
        }
        Ok(())
    }

    /// Prepares a launch of the plan.
    ///
    /// # Errors
    ///
    /// Fails if there is no such kernel, or the arguments do not match its parameters.
    pub fn prepare(&mut self, launch: &Launch) -> Result<PreparedLaunch<D::Kernel>> {
        let prepared = self.device.kernel(&launch.kernel);
        let prepared = prepared.and_then(|(kernel, parameters)| {
            let arguments = match &parameters {
                Some(parameters) => encode(launch, parameters, &self.addresses)?,
                None => encode_untyped(launch, &self.addresses),
            };
            Ok(PreparedLaunch {
                launch: launch.clone(),
                kernel,
                arguments,
            })
        });
        self.locate(launch.line, prepared)
    }

    /// Launches a kernel as often as the plan says, without waiting for it.
    ///
    /// # Errors
    ///
    /// Fails if a launch is rejected.
    pub fn launch(&mut self, prepared: &PreparedLaunch<D::Kernel>) -> Result<()> {
        let PreparedLaunch {
            launch,
            kernel,
            arguments,
        } = prepared;
        for _ in 0..launch.times {
            // SAFETY: `prepare` has encoded the arguments with the sizes of the kernel's parameters, or with
            // `ZERO_BYTES` more bytes each.
            let launched = unsafe { self.device.launch(kernel, launch, arguments) };
            self.locate(launch.line, launched)?;
        }
        Ok(())
    }

    /// Reads the buffer with this index.
    ///
    /// # Errors
    ///
    /// Fails if the copy does.
    pub fn read(&mut self, index: usize, buffer: &Buffer) -> Result<Vec<u8>> {
        let mut bytes = vec![0; buffer.size()];
        if !bytes.is_empty() {
            let read = self.device.read(self.addresses[index], &mut bytes);
            read.with_context(|| format!("cannot read {}", buffer.name))?;
        }
        Ok(bytes)
    }

    /// Adds the plan's file and a line to an error, if the plan has a file.
    fn locate<T>(&self, line: usize, result: Result<T>) -> Result<T> {
        match &self.file {
            Some(file) => result.with_context(|| format!("{}:{line}", file.display())),
            None => result,
        }
    }
}

/// Encodes a launch's arguments as the bytes of the kernel's parameters.
fn encode(launch: &Launch, parameters: &[Parameter], addresses: &[u64]) -> Result<Vec<Vec<u8>>> {
    let (parameter_count, argument_count) = (parameters.len(), launch.arguments.len());
    ensure!(
        parameter_count == argument_count,
        "{} takes {parameter_count} arguments, but the launch plan passes {argument_count}",
        launch.kernel
    );
    let pairs = launch.arguments.iter().zip(parameters).enumerate();
    let values = pairs.map(|(index, (argument, parameter))| {
        let bytes = match (argument, parameter) {
            (Argument::Buffer { index, offset }, Parameter::Number(ty)) if ty.ends_with("64") => {
                Ok((addresses[*index] + offset).to_le_bytes().to_vec())
            }
            (Argument::Buffer { .. }, _) => Err("is not a pointer".to_owned()),
            (Argument::Number(value), Parameter::Number(ty)) => {
                let ty = ty.replace(['s', 'b'], "u");
                Element::named(&ty).map(|element| element.bytes(*value))
            }
            (Argument::Structure { bytes, pointers }, Parameter::Bytes(length))
                if bytes.len() == *length =>
            {
                Ok(structure(bytes, pointers, addresses))
            }
            (_, Parameter::Bytes(length)) => Err(format!(
                "is a structure of {length} bytes; write its members as [{{ f32 = 1 }}, {{ u32 = 2 }}]"
            )),
            (Argument::Structure { .. }, Parameter::Number(_)) => Err("is not a structure".to_owned()),
        };
        bytes.map_err(|reason| anyhow!("argument {} of {} {reason}", index + 1, launch.kernel))
    });
    values.collect()
}

/// Encodes a structure, whose members at these offsets are the addresses of buffers.
fn structure(bytes: &[u8], pointers: &[(usize, usize)], addresses: &[u64]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for &(offset, index) in pointers {
        bytes[offset..][..size_of::<u64>()].copy_from_slice(&addresses[index].to_le_bytes());
    }
    bytes
}

/// Encodes arguments for a kernel whose parameters are unknown, each followed by zeros. An integer is stored in 64
/// bits, whose low half is also the 32-bit value.
fn encode_untyped(launch: &Launch, addresses: &[u64]) -> Vec<Vec<u8>> {
    let encode = |argument: &Argument| {
        let mut bytes = match argument {
            Argument::Buffer { index, offset } => {
                (addresses[*index] + offset).to_le_bytes().to_vec()
            }
            Argument::Number(Value::Integer(whole)) => (*whole as u64).to_le_bytes().to_vec(),
            Argument::Number(Value::Float(float)) => (*float as f32).to_le_bytes().to_vec(),
            Argument::Structure { bytes, pointers } => structure(bytes, pointers, addresses),
        };
        bytes.resize(bytes.len().next_multiple_of(8) + ZERO_BYTES, 0);
        bytes
    };
    launch.arguments.iter().map(encode).collect()
}
