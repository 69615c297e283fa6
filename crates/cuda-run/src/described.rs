//! A kernel without a host program, launched as its description says.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};
use common::Gpu;
use common::error::note;
use cust::memory::{CopyDestination as _, DeviceBuffer};
use launch_plan::{Argument, Buffer, Element, Launch, Mistake, Ready, comment, judge};
use summary::wire::{Teller, Told};

use crate::entries::{self, EntryPoint, Parameter};
use crate::module::{self, Loaded};

/// A description, and where it stands.
pub struct Description {
    /// The kernel's file, or one that has the description alone.
    file: PathBuf,
    text: String,
    set: Vec<(String, String)>,
}

impl Description {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or a number is not set as `NAME=VALUE`.
    pub fn open(file: &Path, set: &[String]) -> Result<Self> {
        let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let set = set.iter().map(|set| {
            let (name, value) = set
                .split_once('=')
                .with_context(|| format!("--set {set}: write NAME=VALUE"))?;
            Ok((name.to_owned(), value.to_owned()))
        });
        Ok(Description {
            file: file.to_owned(),
            text: String::from_utf8_lossy(&text).into_owned(),
            set: set.collect::<Result<_>>()?,
        })
    }

    /// What it says.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and in which line.
    pub fn ready(&self) -> Result<Ready> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let is_alone = self.file.extension().is_some_and(|ending| ending == "toml");
        let text = match is_alone {
            true => Some(comment::Text {
                text: &self.text,
                lines_before: 0,
            }),
            false => comment::find(&self.text).map_err(|mistake| self.at(&mistake))?,
        };
        let text = text.ok_or_else(|| {
            anyhow!(
                "{} has no description of launches, a comment that begins with /* cuda-run",
                self.file.display()
            )
        })?;
        Ready::read(&text, folder, &self.set).map_err(|mistake| self.at(&mistake))
    }

    /// A mistake in it, with its place: `add.cu:12: …`.
    fn at(&self, mistake: &Mistake) -> anyhow::Error {
        let file = self.file.display();
        match mistake.line {
            0 => anyhow!("{file}: {}", mistake.what),
            line => anyhow!("{file}:{line}: {}", mistake.what),
        }
    }

    /// Something that is wrong with what stands in this line.
    fn at_line<T>(&self, line: usize, result: Result<T>) -> Result<T> {
        result.with_context(|| format!("{}:{line}", self.file.display()))
    }
}

/// Launches a PTX file's kernels, and prints what is asked for. Returns whether all is as it is to be.
///
/// # Errors
///
/// Where the description does not fit the kernels, or CUDA says so.
pub fn run(description: &Description, ptx: &Path, teller: &Teller) -> Result<bool> {
    let ready = description.ready()?;
    let ptx = fs::read_to_string(ptx).context("cannot read the PTX")?;
    let entries = entries::of(&ptx);
    let gpu = Gpu::open()?;
    let module = Loaded::new(&ptx)?;
    let mut places = Vec::new();
    for buffer in &ready.buffers {
        places.push(description.at_line(buffer.line, Place::new(buffer, &module))?);
    }
    teller.tell(&Told::Begun);
    for launch in &ready.launches {
        let start = || -> Result<()> {
            let entry = entries::find(&entries, &launch.kernel)?;
            let mut values = arguments(launch, entry, &places)?;
            let shape = [launch.grid, launch.block];
            for _ in 0..launch.times {
                // SAFETY: the values are of its parameters. What a kernel does with memory is its author's:
                // only the device's is at stake.
                let started = unsafe {
                    module.launch(
                        &entry.symbol,
                        shape,
                        launch.shared,
                        &gpu.stream,
                        &mut values,
                    )
                };
                started.with_context(|| format!("{} does not start", launch.kernel))?;
            }
            Ok(())
        };
        description.at_line(launch.line, start())?;
        let ended = gpu.stream.synchronize();
        ended.with_context(|| format!("{} failed", launch.kernel))?;
    }
    let mut right = true;
    for (buffer, place) in ready.buffers.iter().zip(&places) {
        let verdict = judge::judge(buffer, &place.read(buffer)?);
        if let Some(shown) = verdict.shown {
            println!("{shown}");
        }
        match verdict.compared {
            None => {}
            Some(Ok(equal)) => println!("{equal}"),
            Some(Err(wrong)) => {
                note(format_args!("error: {wrong}"));
                teller.tell(&Told::Wrong(wrong));
                right = false;
            }
        }
    }
    Ok(right)
}

/// Where a buffer lies.
enum Place {
    Own(DeviceBuffer<u8>),
    /// A variable of the kernel's file.
    Variable(u64),
}

impl Place {
    /// Memory for a buffer, with what is in it at first.
    fn new(buffer: &Buffer, module: &Loaded) -> Result<Place> {
        let bytes = buffer.count * buffer.of.size();
        if buffer.symbol {
            let at = module.variable(&buffer.name, bytes)?;
            if let Some(start) = buffer.start.as_ref().filter(|start| !start.is_empty()) {
                // SAFETY: the variable is that long: `variable` has looked.
                unsafe { module::write(at, start) }
                    .with_context(|| format!("cannot write {}", buffer.name))?;
            }
            return Ok(Place::Variable(at));
        }
        let cannot = || format!("cannot allocate {} on the GPU", buffer.name);
        let memory = match &buffer.start {
            Some(start) => DeviceBuffer::from_slice(start),
            // SAFETY: whoever asks for memory that nobody has written wants to see who reads it.
            None => unsafe { DeviceBuffer::uninitialized(bytes) },
        };
        Ok(Place::Own(memory.with_context(cannot)?))
    }

    fn address(&self) -> u64 {
        match self {
            Place::Own(memory) => memory.as_device_ptr().as_raw(),
            Place::Variable(at) => *at,
        }
    }

    fn read(&self, buffer: &Buffer) -> Result<Vec<u8>> {
        let mut bytes = vec![0; buffer.count * buffer.of.size()];
        let cannot = || format!("cannot read {}", buffer.name);
        match self {
            _ if bytes.is_empty() => {}
            Place::Own(memory) => memory.copy_to(&mut bytes).with_context(cannot)?,
            // SAFETY: the variable is that long: `variable` has looked.
            Place::Variable(at) => unsafe { module::read(&mut bytes, *at) }.with_context(cannot)?,
        }
        Ok(bytes)
    }
}

/// A launch's arguments, as the kernel's parameters have them in memory.
fn arguments(launch: &Launch, entry: &EntryPoint, places: &[Place]) -> Result<Vec<Vec<u8>>> {
    let (takes, given) = (entry.parameters.len(), launch.arguments.len());
    ensure!(
        takes == given,
        "{} takes {takes} arguments, and the description has {given}",
        launch.kernel
    );
    let both = launch.arguments.iter().zip(&entry.parameters).enumerate();
    let each = both.map(|(index, (argument, parameter))| {
        let bytes = match (argument, parameter) {
            (Argument::Buffer(number), Parameter::Number(of)) if of.ends_with("64") => {
                Ok(places[*number].address().to_le_bytes().to_vec())
            }
            (Argument::Buffer(_), _) => Err("is no pointer".to_owned()),
            (Argument::Number(value), Parameter::Number(of)) => {
                let of = of.replace(['s', 'b'], "u");
                Element::named(&of).map(|of| of.bytes(*value))
            }
            (Argument::Structure(bytes), Parameter::Bytes(length)) if bytes.len() == *length => Ok(bytes.clone()),
            (_, Parameter::Bytes(length)) => Err(format!(
                "is a structure of {length} bytes; write its members as [{{ f32 = 1 }}, {{ u32 = 2 }}]"
            )),
            (Argument::Structure(_), Parameter::Number(_)) => Err("is no structure".to_owned()),
        };
        bytes.map_err(|why| anyhow!("argument {} of {} {why}", index + 1, launch.kernel))
    });
    each.collect()
}
