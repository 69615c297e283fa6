//! Kernels without a host program, launched by a launch plan.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};
use common::Gpu;
use common::error::note;
use cust::memory::{CopyDestination as _, DeviceBuffer};
use launch_plan::{Argument, Buffer, Element, Launch, PlanError, ResolvedPlan, comment, verify};
use telemetry::wire::{Event, EventWriter};

use crate::entry_points::{self, EntryPoint, Parameter};
use crate::module::{self, Module};

/// A file with a launch plan.
pub struct PlanFile {
    /// The kernel's file, or a file that contains only the plan.
    file: PathBuf,
    text: String,
    set: Vec<(String, String)>,
}

impl PlanFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or a `--set` is not of the form `NAME=VALUE`.
    pub fn open(file: &Path, set: &[String]) -> Result<Self> {
        let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let set = set.iter().map(|set| {
            let (name, value) = set
                .split_once('=')
                .with_context(|| format!("--set {set}: write NAME=VALUE"))?;
            Ok((name.to_owned(), value.to_owned()))
        });
        Ok(PlanFile {
            file: file.to_owned(),
            text: String::from_utf8_lossy(&text).into_owned(),
            set: set.collect::<Result<_>>()?,
        })
    }

    /// Resolves the plan.
    ///
    /// # Errors
    ///
    /// Fails if the plan is not valid, with the line of the error.
    pub fn resolve(&self) -> Result<ResolvedPlan> {
        let directory = self.file.parent().unwrap_or(Path::new(""));
        let is_plan_only = self
            .file
            .extension()
            .is_some_and(|extension| extension == "toml");
        let text = match is_plan_only {
            true => Some(comment::Text {
                text: &self.text,
                lines_before: 0,
            }),
            false => comment::find(&self.text).map_err(|error| self.with_location(&error))?,
        };
        let text = text.ok_or_else(|| {
            anyhow!(
                "{} has no launch plan, a comment that begins with /* cuda-run",
                self.file.display()
            )
        })?;
        ResolvedPlan::read(&text, directory, &self.set).map_err(|error| self.with_location(&error))
    }

    /// Adds the file and the line to an error: `add.cu:12: …`.
    fn with_location(&self, error: &PlanError) -> anyhow::Error {
        let file = self.file.display();
        match error.line {
            0 => anyhow!("{file}: {}", error.message),
            line => anyhow!("{file}:{line}: {}", error.message),
        }
    }

    /// Adds the file and this line to the error of a result.
    fn with_line<T>(&self, line: usize, result: Result<T>) -> Result<T> {
        result.with_context(|| format!("{}:{line}", self.file.display()))
    }
}

/// Launches the kernels of a PTX file and prints the requested buffers. Returns true if all results are as
/// expected.
///
/// # Errors
///
/// Fails if the plan does not match the kernels, or if a CUDA call fails.
pub fn run(plan_file: &PlanFile, ptx: &Path, writer: &EventWriter) -> Result<bool> {
    let plan = plan_file.resolve()?;
    let ptx = fs::read_to_string(ptx).context("cannot read the PTX")?;
    let entries = entry_points::parse(&ptx);
    let gpu = Gpu::open()?;
    let module = Module::new(&ptx)?;
    let mut storages = Vec::new();
    for buffer in &plan.buffers {
        storages.push(plan_file.with_line(buffer.line, Storage::new(buffer, &module))?);
    }
    writer.write(&Event::Started);
    for launch in &plan.launches {
        let launch_all = || -> Result<()> {
            let entry = entry_points::find(&entries, &launch.kernel)?;
            let mut values = arguments(launch, entry, &storages)?;
            let shape = [launch.grid, launch.block];
            for _ in 0..launch.times {
                // SAFETY: `values` has the sizes of the kernel's parameters. An invalid access of the kernel
                // can only affect device memory.
                let launched = unsafe {
                    module.launch(
                        &entry.symbol,
                        shape,
                        launch.shared,
                        &gpu.stream,
                        &mut values,
                    )
                };
                launched.with_context(|| format!("cannot launch {}", launch.kernel))?;
            }
            Ok(())
        };
        plan_file.with_line(launch.line, launch_all())?;
        let finished = gpu.stream.synchronize();
        finished.with_context(|| format!("{} failed", launch.kernel))?;
    }
    let mut all_correct = true;
    for (buffer, storage) in plan.buffers.iter().zip(&storages) {
        let verification = verify::verify(buffer, &storage.read(buffer)?);
        if let Some(printed) = verification.printed {
            println!("{printed}");
        }
        match verification.comparison {
            None => {}
            Some(Ok(equal)) => println!("{equal}"),
            Some(Err(mismatch)) => {
                note(format_args!("error: {mismatch}"));
                writer.write(&Event::Mismatch(mismatch));
                all_correct = false;
            }
        }
    }
    Ok(all_correct)
}

/// The device memory of a buffer.
enum Storage {
    Allocated(DeviceBuffer<u8>),
    /// A variable in the kernel's file.
    Variable(u64),
}

impl Storage {
    /// Allocates a buffer, or looks up its variable, and writes its initial contents.
    fn new(buffer: &Buffer, module: &Module) -> Result<Storage> {
        let bytes = buffer.count * buffer.element.size();
        if buffer.symbol {
            let address = module.global(&buffer.name, bytes)?;
            if let Some(initial) = buffer
                .initial
                .as_ref()
                .filter(|initial| !initial.is_empty())
            {
                // SAFETY: `global` has checked that the variable has at least `bytes` bytes.
                unsafe { module::copy_to_device(address, initial) }
                    .with_context(|| format!("cannot write {}", buffer.name))?;
            }
            return Ok(Storage::Variable(address));
        }
        let context = || format!("cannot allocate {} on the GPU", buffer.name);
        let memory = match &buffer.initial {
            Some(initial) => DeviceBuffer::from_slice(initial),
            // SAFETY: the plan requests uninitialized memory, and any bytes are a valid `u8` on the device.
            None => unsafe { DeviceBuffer::uninitialized(bytes) },
        };
        Ok(Storage::Allocated(memory.with_context(context)?))
    }

    fn address(&self) -> u64 {
        match self {
            Storage::Allocated(memory) => memory.as_device_ptr().as_raw(),
            Storage::Variable(address) => *address,
        }
    }

    fn read(&self, buffer: &Buffer) -> Result<Vec<u8>> {
        let mut bytes = vec![0; buffer.count * buffer.element.size()];
        let context = || format!("cannot read {}", buffer.name);
        match self {
            _ if bytes.is_empty() => {}
            Storage::Allocated(memory) => memory.copy_to(&mut bytes).with_context(context)?,
            Storage::Variable(address) => {
                // SAFETY: `global` has checked that the variable has at least `bytes.len()` bytes.
                unsafe { module::copy_from_device(&mut bytes, *address) }.with_context(context)?
            }
        }
        Ok(bytes)
    }
}

/// Returns the launch's arguments as the bytes of the kernel's parameters.
fn arguments(launch: &Launch, entry: &EntryPoint, storages: &[Storage]) -> Result<Vec<Vec<u8>>> {
    let (parameter_count, argument_count) = (entry.parameters.len(), launch.arguments.len());
    ensure!(
        parameter_count == argument_count,
        "{} takes {parameter_count} arguments, but the launch plan passes {argument_count}",
        launch.kernel
    );
    let pairs = launch.arguments.iter().zip(&entry.parameters).enumerate();
    let values = pairs.map(|(index, (argument, parameter))| {
        let bytes = match (argument, parameter) {
            (Argument::Buffer(number), Parameter::Number(ty)) if ty.ends_with("64") => {
                Ok(storages[*number].address().to_le_bytes().to_vec())
            }
            (Argument::Buffer(_), _) => Err("is not a pointer".to_owned()),
            (Argument::Number(value), Parameter::Number(ty)) => {
                let ty = ty.replace(['s', 'b'], "u");
                Element::named(&ty).map(|element| element.bytes(*value))
            }
            (Argument::Structure(bytes), Parameter::Bytes(length)) if bytes.len() == *length => Ok(bytes.clone()),
            (_, Parameter::Bytes(length)) => Err(format!(
                "is a structure of {length} bytes; write its members as [{{ f32 = 1 }}, {{ u32 = 2 }}]"
            )),
            (Argument::Structure(_), Parameter::Number(_)) => Err("is not a structure".to_owned()),
        };
        bytes.map_err(|reason| anyhow!("argument {} of {} {reason}", index + 1, launch.kernel))
    });
    values.collect()
}
