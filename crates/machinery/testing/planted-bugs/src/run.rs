//! Runs a case with cust, on the GPU or the simulator.

use std::mem;

use anyhow::{Context as _, Result};
use cust::context::Context;
use cust::memory::{AsyncCopyDestination as _, DeviceBuffer, LockedBuffer};
use cust::prelude::{Stream, StreamFlags};
use cust::sys::CUfunction;
use launch_plan::devices::{DriverModule, copy_to_device};
use launch_plan::kernels::Parameter;
use launch_plan::{Buffer, Device, Execution, Launch};

use crate::cases::{Case, HostSide, Memory, ReadBack};

/// Runs the planted bug, or its twin.
///
/// # Errors
///
/// Returns CUDA's errors, including those of a kernel that faulted.
pub fn run(case: &Case, correct: bool) -> Result<()> {
    let side = if correct { &case.correct } else { &case.buggy };
    let _context: Context = cust::quick_init().context("cannot open the GPU")?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let device = BugDevice {
        module: DriverModule::load(case.source.ptx, &stream)?,
        side,
        live: Vec::new(),
        freed: Vec::new(),
        host: Vec::new(),
    };
    let mut execution = Execution::new(&side.plan, device)?;
    for (variable, buffer) in &side.pointers {
        let address = execution.addresses[index_of(side, buffer)?];
        let variable = execution.device.variable(variable, size_of_val(&address))?;
        execution.device.write(variable, &address.to_le_bytes())?;
    }
    for (_, buffer) in mem::take(&mut execution.device.freed) {
        DeviceBuffer::drop(buffer).map_err(|(error, _)| error)?;
    }
    match &side.read_back {
        None => execution.run(&side.plan)?,
        Some((buffer, when)) => {
            for launch in &side.plan.launches {
                let prepared = execution.prepare(launch)?;
                execution.launch(&prepared)?;
            }
            let buffer = index_of(side, buffer)?;
            read_back(execution.device.buffer(buffer)?, *when, side, &stream)?;
        }
    }
    for (_, buffer) in mem::take(&mut execution.device.live) {
        DeviceBuffer::drop(buffer)
            .map_err(|(error, _)| error)
            .context("cannot free memory on the GPU")?;
    }
    Ok(())
}

/// Returns the index of the plan's buffer with this name.
fn index_of(side: &HostSide, name: &str) -> Result<usize> {
    let mut buffers = side.plan.buffers.iter();
    let index = buffers.position(|buffer| buffer.name == name);
    index.with_context(|| format!("the plan has no buffer {name}"))
}

/// Copies a buffer back in the stream, and reads the copy before or after the wait.
fn read_back(
    from: &DeviceBuffer<u8>,
    when: ReadBack,
    side: &HostSide,
    stream: &Stream,
) -> Result<()> {
    let wait = || {
        let kernel = side.plan.launches.last().map(|launch| &*launch.kernel);
        let waited = stream.synchronize();
        waited.with_context(|| format!("{} failed", kernel.unwrap_or_default()))
    };
    let mut to = LockedBuffer::new(&0_u8, from.len()).context("cannot allocate host memory")?;
    // SAFETY: `from` and `to` live until `wait` has synchronized the stream.
    unsafe { from.async_copy_to(&mut to, stream) }?;
    // SAFETY: `to` is not empty because no plan reads back an empty buffer. The stream may still be writing
    // the byte: that is the planted bug.
    let read = || unsafe { to.as_ptr().read_volatile() };
    match when {
        ReadBack::BeforeSync => {
            read();
            wait()
        }
        ReadBack::AfterSync => {
            wait()?;
            read();
            Ok(())
        }
    }
}

/// A module loaded by the driver, and buffers with the properties that the case requests.
struct BugDevice<'a> {
    module: DriverModule<'a>,
    side: &'a HostSide,
    /// The device buffers that are still allocated, with their indices in the plan.
    live: Vec<(usize, DeviceBuffer<u8>)>,
    /// The device buffers to free before the first launch.
    freed: Vec<(usize, DeviceBuffer<u8>)>,
    /// The buffers in host memory.
    host: Vec<Vec<u8>>,
}

impl BugDevice<'_> {
    /// Returns the live device buffer with this index in the plan.
    fn buffer(&self, index: usize) -> Result<&DeviceBuffer<u8>> {
        let mut live = self.live.iter();
        let buffer = live.find(|(number, _)| *number == index);
        let (_, buffer) = buffer.context("the plan reads back a buffer that is not allocated")?;
        Ok(buffer)
    }
}

impl Device for BugDevice<'_> {
    type Kernel = CUfunction;

    fn kernel(&mut self, name: &str) -> Result<(CUfunction, Option<Vec<Parameter>>)> {
        self.module.kernel(name)
    }

    fn allocate(&mut self, bytes: usize) -> Result<u64> {
        self.module.allocate(bytes)
    }

    fn variable(&mut self, name: &str, bytes: usize) -> Result<u64> {
        self.module.variable(name, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        self.module.write(address, bytes)
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<()> {
        self.module.read(address, bytes)
    }

    unsafe fn launch(
        &mut self,
        kernel: &CUfunction,
        launch: &Launch,
        arguments: &[Vec<u8>],
    ) -> Result<()> {
        // SAFETY: the arguments are the caller's, and the kernel is one of the module. The kernels access memory
        // incorrectly on purpose: the driver stops those that fault, and only device memory can be corrupted.
        unsafe { self.module.launch(kernel, launch, arguments) }
    }

    fn synchronize(&mut self) -> Result<()> {
        self.module.synchronize()
    }

    fn create(&mut self, index: usize, buffer: &Buffer) -> Result<u64> {
        let memory = self.side.memory.get(&buffer.name);
        let initial = buffer.initial.as_deref().unwrap_or_default();
        if memory == Some(&Memory::Host) {
            self.host.push(initial.to_vec());
            return Ok(self.host.last().map_or(0, |host| host.as_ptr() as u64));
        }
        // SAFETY: every bit pattern is a valid `u8`; reading uninitialized device memory is a planted bug.
        let allocated = unsafe { DeviceBuffer::<u8>::uninitialized(buffer.size()) }
            .context("cannot allocate memory on the GPU")?;
        let address = allocated.as_device_ptr().as_raw();
        let written = match memory {
            Some(Memory::Written(ranges)) => ranges.clone(),
            _ if initial.is_empty() => Vec::new(),
            _ => vec![[0, buffer.count]],
        };
        for range in written {
            let [from, to] = range.map(|element| element * buffer.element.size());
            copy_to_device(address + from as u64, &initial[from..to])?;
        }
        match memory {
            Some(Memory::Freed) => self.freed.push((index, allocated)),
            Some(Memory::Leaked) => mem::forget(allocated),
            _ => self.live.push((index, allocated)),
        }
        Ok(address)
    }
}
