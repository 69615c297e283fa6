//! Carries out a case with cust, on the GPU or the simulator.

use std::ffi::{CString, c_void};
use std::mem;

use anyhow::{Context as _, Result};
use cust::context::Context;
use cust::memory::{
    AsyncCopyDestination as _, CopyDestination as _, DeviceBuffer, DevicePointer, LockedBuffer,
};
use cust::module::{Module, ModuleJitOption};
use cust::prelude::{Stream, StreamFlags};

use crate::cases::Case;
use crate::plan::{Argument, Back, Buffer, Fate, Plan, Write};

/// Runs the mistake, or its twin.
///
/// # Errors
///
/// CUDA's own, among them those of a kernel that went wrong.
pub fn run(case: &Case, right: bool) -> Result<()> {
    let (plan, kernel) = if right {
        (&case.right, case.twin())
    } else {
        (&case.wrong, case.kernel())
    };
    let _context: Context = cust::quick_init().context("cannot open the GPU")?;
    // So that compute-sanitizer can name lines.
    let options = [ModuleJitOption::GenerateLineInfo(true)];
    let module = Module::from_ptx(case.source.ptx, &options).context("cannot load the module")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut memory = Memory::default();
    launch_all(plan, &kernel, &module, &stream, &mut memory)?;
    memory.free()
}

/// The buffers of a run, by what becomes of them.
#[derive(Default)]
struct Memory {
    kept: Vec<DeviceBuffer<u8>>,
    on_host: Vec<Vec<u8>>,
}

/// An argument's bytes.
type Value = u64;

fn launch_all(
    plan: &Plan,
    kernel: &str,
    module: &Module,
    stream: &Stream,
    memory: &mut Memory,
) -> Result<()> {
    let mut freed = Vec::new();
    if let Some((name, buffer)) = &plan.symbol {
        let place = memory.make(buffer, &mut freed)?;
        let mut symbol = module.get_global::<u64>(&CString::new(*name)?)?;
        symbol.copy_from(&place)?;
    }
    let mut lists: Vec<Vec<Value>> = Vec::new();
    for launch in &plan.launches {
        let mut values = Vec::new();
        for argument in &launch.arguments {
            values.push(match argument {
                Argument::Buffer(buffer) => memory.make(buffer, &mut freed)?,
                Argument::Again(number) => lists[0][*number],
                Argument::Word(word) => u64::from(*word),
                Argument::Long(long) => *long,
            });
        }
        lists.push(values);
    }
    for buffer in freed {
        DeviceBuffer::drop(buffer).map_err(|(error, _)| error)?;
    }

    for (launch, values) in plan.launches.iter().zip(&mut lists) {
        let function = module.get_function(launch.kernel.unwrap_or(kernel))?;
        let places: Vec<*mut c_void> = values.iter_mut().map(|v| (&raw mut *v).cast()).collect();
        // SAFETY: each place has the eight bytes of an argument, of which a kernel takes the first
        // four where it wants no more, and the plans have the arguments that their kernels take.
        // What the kernels do with memory is not safe, and that is what they are for: the driver
        // ends those that go too far, and only the device's memory is at stake.
        unsafe { stream.launch(&function, launch.grid, launch.block, launch.shared, &places) }
            .with_context(|| format!("{kernel} does not start"))?;
        if plan.back.is_none() {
            wait(stream, kernel)?;
        }
    }
    if let Some((argument, when)) = plan.back {
        let from = memory.at(lists[0][argument]).context("no such buffer")?;
        read_back(from, when, || wait(stream, kernel), stream)?;
    }
    Ok(())
}

fn wait(stream: &Stream, kernel: &str) -> Result<()> {
    let waited = stream.synchronize();
    waited.with_context(|| format!("{kernel} failed"))
}

/// Copies a buffer back in the stream, and reads the copy before or after the wait.
fn read_back(
    from: &DeviceBuffer<u8>,
    when: Back,
    wait: impl FnOnce() -> Result<()>,
    stream: &Stream,
) -> Result<()> {
    let mut to = LockedBuffer::new(&0_u8, from.len()).context("cannot allocate host memory")?;
    // SAFETY: both live until the stream has been waited for.
    unsafe { from.async_copy_to(&mut to, stream) }?;
    // SAFETY: there is a first byte. It may still be written: that is the mistake.
    let read = || unsafe { to.as_ptr().read_volatile() };
    match when {
        Back::ReadBeforeWaiting => {
            read();
            wait()
        }
        Back::ReadAfterWaiting => {
            wait()?;
            read();
            Ok(())
        }
    }
}

impl Memory {
    /// Makes a buffer and fills it; the address. What is to be freed before the launch goes to
    /// `freed`.
    fn make(&mut self, plan: &Buffer, freed: &mut Vec<DeviceBuffer<u8>>) -> Result<Value> {
        if plan.fate == Fate::OnHost {
            self.on_host.push(on_host(plan));
            return Ok(self.on_host.last().map_or(0, |host| host.as_ptr() as u64));
        }
        // SAFETY: any byte is a `u8`; what nobody writes is a mistake on purpose.
        let buffer = unsafe { DeviceBuffer::<u8>::uninitialized(plan.bytes) }
            .context("cannot allocate memory on the GPU")?;
        for write in &plan.written {
            match write {
                Write::Copy(at, bytes) => {
                    buffer.index(*at..at + bytes.len()).copy_from(bytes)?;
                }
                Write::Zeros(count) => buffer.index(..*count).set_8(0)?,
            }
        }
        let place: DevicePointer<u8> = buffer.as_device_ptr();
        match plan.fate {
            Fate::Freed => freed.push(buffer),
            Fate::Leaked => mem::forget(buffer),
            Fate::Kept | Fate::OnHost => self.kept.push(buffer),
        }
        Ok(place.as_raw())
    }

    /// The buffer at an address, if it is kept.
    fn at(&self, place: Value) -> Option<&DeviceBuffer<u8>> {
        let mut kept = self.kept.iter();
        kept.find(|buffer| buffer.as_device_ptr().as_raw() == place)
    }

    /// Frees what is left.
    fn free(self) -> Result<()> {
        for buffer in self.kept {
            DeviceBuffer::drop(buffer)
                .map_err(|(error, _)| error)
                .context("cannot free memory on the GPU")?;
        }
        Ok(())
    }
}

/// A buffer's bytes, in the host's memory.
fn on_host(plan: &Buffer) -> Vec<u8> {
    let mut host = vec![0; plan.bytes];
    for write in &plan.written {
        match write {
            Write::Copy(at, bytes) => host[*at..at + bytes.len()].copy_from_slice(bytes),
            Write::Zeros(count) => host[..*count].fill(0),
        }
    }
    host
}
