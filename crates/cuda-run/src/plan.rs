//! Kernels without a host program, launched by a launch plan.

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::{fs, ptr};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use common::Gpu;
use common::error::note;
use cuda_driver::names::short;
use cust::memory::{CopyDestination as _, DeviceBuffer};
use cust::stream::Stream;
use cust::sys;
use launch_plan::{Argument, Buffer, Element, Launch, PlanError, ResolvedPlan, comment, verify};
use telemetry::wire::{Event, EventWriter};

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
        let text = if is_plan_only {
            Some(comment::Text {
                text: &self.text,
                lines_before: 0,
            })
        } else {
            comment::find(&self.text).map_err(|error| self.with_location(&error))?
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
    let entries = parse_entry_points(&ptx);
    let gpu = Gpu::open()?;
    let module = Module::new(&ptx)?;
    let mut storages = Vec::new();
    for buffer in &plan.buffers {
        storages.push(plan_file.with_line(buffer.line, Storage::new(buffer, &module))?);
    }
    writer.write(&Event::Started);
    for launch in &plan.launches {
        let launch_all = || -> Result<()> {
            let entry = find_entry_point(&entries, &launch.kernel)?;
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
                unsafe { copy_to_device(address, initial) }
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
                unsafe { copy_from_device(&mut bytes, *address) }.with_context(context)?
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

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EntryPoint {
    /// The name in the PTX.
    symbol: String,
    parameters: Vec<Parameter>,
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Parameter {
    /// A scalar of this PTX type, such as `f32`.
    Number(String),
    /// A structure of this many bytes.
    Bytes(usize),
}

/// Returns the kernels in PTX generated by clang.
fn parse_entry_points(ptx: &str) -> Vec<EntryPoint> {
    let parts = ptx.split(".entry ").skip(1);
    parts.filter_map(parse_entry).collect()
}

fn parse_entry(text: &str) -> Option<EntryPoint> {
    let end = text.find(['(', '{', '\n'])?;
    let symbol = text[..end].trim().to_owned();
    // A kernel without parameters may lack parentheses.
    let list = if text[end..].starts_with('(') {
        text[end + 1..].split(')').next().unwrap_or_default()
    } else {
        ""
    };
    let parameters = list
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    Some(EntryPoint {
        symbol,
        parameters: parameters.map(parse_parameter).collect(),
    })
}

/// Parses a parameter: `.param .u64 add_param_0`, `.param .align 8 .b8 add_param_0[16]`.
fn parse_parameter(text: &str) -> Parameter {
    if let Some((_, length)) = text.trim_end_matches(']').rsplit_once('[') {
        return Parameter::Bytes(length.parse().unwrap_or_default());
    }
    let mut words = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('.'));
    let is_type = |word: &&str| {
        let (first, digits) = word.split_at(word.len().min(1));
        "usfb".contains(first) && digits.parse::<u32>().is_ok()
    };
    Parameter::Number(words.find(is_type).unwrap_or("u64").to_owned())
}

/// Finds a kernel by its name in the source or in the PTX.
///
/// # Errors
///
/// Fails if there is no such kernel, or several, and lists the candidates.
fn find_entry_point<'a>(entries: &'a [EntryPoint], name: &str) -> Result<&'a EntryPoint> {
    let matches = |entry: &&EntryPoint| entry.symbol == name || short(&entry.symbol) == name;
    let matching: Vec<&EntryPoint> = entries.iter().filter(matches).collect();
    match matching[..] {
        [entry] => Ok(entry),
        [] if entries.is_empty() => bail!("the file has no kernel (a __global__ function)"),
        [] => {
            let names: Vec<String> = entries.iter().map(|entry| short(&entry.symbol)).collect();
            bail!(
                "the file has no kernel {name}; its kernels are {}",
                names.join(", ")
            )
        }
        _ => {
            let symbols: Vec<&str> = matching.iter().map(|entry| entry.symbol.as_str()).collect();
            bail!(
                "kernel name {name} is ambiguous; use one of the PTX names: {}",
                symbols.join(", ")
            )
        }
    }
}

/// A PTX module loaded into the current context until the program exits. Uses the driver API directly, because cust's
/// module type requires the size of a variable at compile time.
struct Module(sys::CUmodule);

impl Module {
    /// Loads PTX source.
    ///
    /// # Errors
    ///
    /// Fails if the driver rejects the source.
    fn new(ptx: &str) -> Result<Self> {
        let text = CString::new(ptx).context("the PTX contains a NUL byte")?;
        let mut module = ptr::null_mut();
        // SAFETY: `module` is writable, and `text` is NUL-terminated.
        let code = unsafe { sys::cuModuleLoadData(&mut module, text.as_ptr().cast()) };
        check(code).context("cannot load the kernels")?;
        Ok(Module(module))
    }

    /// Returns the address of a variable that has at least `bytes` bytes.
    ///
    /// # Errors
    ///
    /// Fails if there is no such variable or it is smaller.
    fn global(&self, name: &str, bytes: usize) -> Result<u64> {
        let c_name = CString::new(name).with_context(|| format!("{name:?} is not a valid name"))?;
        let (mut address, mut size) = (0, 0);
        // SAFETY: `address` and `size` are writable, and `c_name` is NUL-terminated.
        let code =
            unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut size, self.0, c_name.as_ptr()) };
        match check(code) {
            Ok(()) if size < bytes => {
                bail!(
                    "{name} has {size} bytes in the kernel's file, but {bytes} in the launch plan"
                )
            }
            Ok(()) => Ok(address),
            Err(_) => bail!(
                "the kernel's file has no __constant__ or __device__ variable {name} that a kernel uses"
            ),
        }
    }

    /// Launches the kernel with this name in the PTX.
    ///
    /// # Errors
    ///
    /// Fails if the driver rejects the launch.
    ///
    /// # Safety
    ///
    /// `values` must contain the bytes of each of the kernel's parameters, in order.
    unsafe fn launch(
        &self,
        symbol: &str,
        [grid, block]: [[u32; 3]; 2],
        shared: u32,
        stream: &Stream,
        values: &mut [Vec<u8>],
    ) -> Result<()> {
        let name = CString::new(symbol).unwrap_or_default();
        let mut function = ptr::null_mut();
        let mut pointers: Vec<*mut c_void> = values
            .iter_mut()
            .map(|value| value.as_mut_ptr().cast())
            .collect();
        // SAFETY: `function` is writable, the module is loaded, and `name` is NUL-terminated.
        let code = unsafe { sys::cuModuleGetFunction(&mut function, self.0, name.as_ptr()) };
        check(code)?;
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (grid, block);
        // SAFETY: `pointers` has one entry per parameter, each pointing to as many bytes as the parameter has.
        let code = unsafe {
            sys::cuLaunchKernel(
                function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shared,
                stream.as_inner(),
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        check(code)
    }
}

/// Copies bytes to the device.
///
/// # Safety
///
/// `address` must be device memory of at least `bytes.len()` bytes.
unsafe fn copy_to_device(address: u64, bytes: &[u8]) -> Result<()> {
    // SAFETY: `address` has room for `bytes.len()` bytes, and `bytes` is readable.
    check(unsafe { sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) })
}

/// Copies bytes from the device.
///
/// # Safety
///
/// `address` must be device memory of at least `bytes.len()` bytes.
unsafe fn copy_from_device(bytes: &mut [u8], address: u64) -> Result<()> {
    // SAFETY: `address` has `bytes.len()` bytes, and `bytes` is writable.
    check(unsafe { sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len()) })
}

/// Converts the driver's result code to a `Result`.
fn check(code: sys::CUresult) -> Result<()> {
    ensure!(code == sys::CUresult::CUDA_SUCCESS, "{code:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.visible .entry _Z3addPfi(
\t.param .u64 _Z3addPfi_param_0,
\t.param .u32 _Z3addPfi_param_1
)
.maxntid 1, 1, 1
{
}
.visible .entry none()
{
}
.visible .entry pair(
\t.param .align 8 .b8 pair_param_0[16],
\t.param .u64 .ptr .global .align 4 pair_param_1,
\t.param .f32 pair_param_2
)
{
}
.visible .entry _Z3addPdi(
)
{
}
";

    #[test]
    fn kernels_and_their_parameters_are_read() {
        let entries = parse_entry_points(PTX);
        let number = |name: &str| Parameter::Number(name.to_owned());
        let parameters: Vec<_> = entries
            .iter()
            .map(|entry| entry.parameters.clone())
            .collect();
        assert_eq!(
            parameters,
            [
                vec![number("u64"), number("u32")],
                vec![],
                vec![Parameter::Bytes(16), number("u64"), number("f32")],
                vec![],
            ]
        );
        assert_eq!(find_entry_point(&entries, "none").unwrap().symbol, "none");
        let message = |name| find_entry_point(&entries, name).unwrap_err().to_string();
        assert_eq!(
            message("ad"),
            "the file has no kernel ad; its kernels are add, none, pair, add"
        );
        assert!(message("add").contains("_Z3addPfi, _Z3addPdi"));
        assert!(
            find_entry_point(&[], "add")
                .unwrap_err()
                .to_string()
                .contains("no kernel (a __global__")
        );
    }
}
