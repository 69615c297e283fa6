//! Runs a case with cust, on the GPU or the simulator.

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
use crate::plan::{Argument, Buffer, Lifetime, Plan, Readback, Write};

/// Runs the planted bug, or its twin.
///
/// # Errors
///
/// Returns CUDA's errors, including those of a kernel that faulted.
pub fn run(case: &Case, correct: bool) -> Result<()> {
    let (plan, kernel) = if correct {
        (&case.correct, case.twin())
    } else {
        (&case.buggy, case.kernel())
    };
    let _context: Context = cust::quick_init().context("cannot open the GPU")?;
    // Line information lets compute-sanitizer name lines.
    let options = [ModuleJitOption::GenerateLineInfo(true)];
    let module = Module::from_ptx(case.source.ptx, &options).context("cannot load the module")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut memory = Memory::default();
    launch_all(plan, &kernel, &module, &stream, &mut memory)?;
    memory.free()
}

/// The buffers of a run that outlive the launches, by location.
#[derive(Default)]
struct Memory {
    live: Vec<DeviceBuffer<u8>>,
    host: Vec<Vec<u8>>,
}

/// A kernel argument's value, zero-extended to 8 bytes.
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
        let address = memory.allocate(buffer, &mut freed)?;
        let mut symbol = module.get_global::<u64>(&CString::new(*name)?)?;
        symbol.copy_from(&address)?;
    }
    let mut argument_lists: Vec<Vec<Value>> = Vec::new();
    for launch in &plan.launches {
        let mut values = Vec::new();
        for argument in &launch.arguments {
            values.push(match argument {
                Argument::Buffer(buffer) => memory.allocate(buffer, &mut freed)?,
                Argument::SameAs(number) => argument_lists[0][*number],
                Argument::Word(word) => u64::from(*word),
                Argument::Long(long) => *long,
            });
        }
        argument_lists.push(values);
    }
    for buffer in freed {
        DeviceBuffer::drop(buffer).map_err(|(error, _)| error)?;
    }

    for (launch, values) in plan.launches.iter().zip(&mut argument_lists) {
        let function = module.get_function(launch.kernel.unwrap_or(kernel))?;
        let pointers: Vec<*mut c_void> = values.iter_mut().map(|v| (&raw mut *v).cast()).collect();
        // SAFETY: each pointer in the array is valid for the 8 bytes of a `Value`, of which a kernel reads the
        // first 4 for a narrower parameter, and each plan lists the parameters of its kernel. The kernels
        // access memory incorrectly on purpose: the driver stops those that fault, and only device memory
        // can be corrupted.
        unsafe {
            stream.launch(
                &function,
                launch.grid,
                launch.block,
                launch.shared,
                &pointers,
            )
        }
        .with_context(|| format!("{kernel} does not start"))?;
        if plan.readback.is_none() {
            wait(stream, kernel)?;
        }
    }
    if let Some((argument, when)) = plan.readback {
        let from = memory
            .buffer_at(argument_lists[0][argument])
            .context("the plan reads back an argument that is not a buffer")?;
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
    when: Readback,
    wait: impl FnOnce() -> Result<()>,
    stream: &Stream,
) -> Result<()> {
    let mut to = LockedBuffer::new(&0_u8, from.len()).context("cannot allocate host memory")?;
    // SAFETY: `from` and `to` live until `wait` has synchronized the stream.
    unsafe { from.async_copy_to(&mut to, stream) }?;
    // SAFETY: `to` is not empty because no plan reads back an empty buffer. The stream may still be writing
    // the byte: that is the planted bug.
    let read = || unsafe { to.as_ptr().read_volatile() };
    match when {
        Readback::BeforeSync => {
            read();
            wait()
        }
        Readback::AfterSync => {
            wait()?;
            read();
            Ok(())
        }
    }
}

impl Memory {
    /// Allocates a buffer, fills it and returns its address. Buffers to free before the launch are pushed to
    /// `freed`.
    fn allocate(&mut self, plan: &Buffer, freed: &mut Vec<DeviceBuffer<u8>>) -> Result<Value> {
        if plan.lifetime == Lifetime::OnHost {
            self.host.push(host_bytes(plan));
            return Ok(self.host.last().map_or(0, |host| host.as_ptr() as u64));
        }
        // SAFETY: every bit pattern is a valid `u8`; reading uninitialized device memory is a planted bug.
        let buffer = unsafe { DeviceBuffer::<u8>::uninitialized(plan.bytes) }
            .context("cannot allocate memory on the GPU")?;
        for write in &plan.writes {
            match write {
                Write::Copy(offset, bytes) => {
                    buffer
                        .index(*offset..offset + bytes.len())
                        .copy_from(bytes)?;
                }
                Write::Zeros(count) => buffer.index(..*count).set_8(0)?,
            }
        }
        let address: DevicePointer<u8> = buffer.as_device_ptr();
        match plan.lifetime {
            Lifetime::Freed => freed.push(buffer),
            Lifetime::Leaked => mem::forget(buffer),
            Lifetime::Run | Lifetime::OnHost => self.live.push(buffer),
        }
        Ok(address.as_raw())
    }

    /// Returns the live device buffer at an address.
    fn buffer_at(&self, address: Value) -> Option<&DeviceBuffer<u8>> {
        let mut live = self.live.iter();
        live.find(|buffer| buffer.as_device_ptr().as_raw() == address)
    }

    /// Frees the device buffers that are still allocated.
    fn free(self) -> Result<()> {
        for buffer in self.live {
            DeviceBuffer::drop(buffer)
                .map_err(|(error, _)| error)
                .context("cannot free memory on the GPU")?;
        }
        Ok(())
    }
}

/// Returns a buffer's contents, in host memory.
fn host_bytes(plan: &Buffer) -> Vec<u8> {
    let mut host = vec![0; plan.bytes];
    for write in &plan.writes {
        match write {
            Write::Copy(offset, bytes) => {
                host[*offset..offset + bytes.len()].copy_from_slice(bytes)
            }
            Write::Zeros(count) => host[..*count].fill(0),
        }
    }
    host
}
