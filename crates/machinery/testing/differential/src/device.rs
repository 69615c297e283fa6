//! Runs a kernel on this process's backend: NVIDIA's driver or the simulator.

use crate::kernel::Kernel;
use anyhow::{Context as _, Result};
use cust::memory::{CopyDestination as _, DeviceBuffer};
use cust::module::{Module, ModuleJitOption, OptLevel};
use cust::prelude::{Context, Stream, StreamFlags};
use std::collections::BTreeSet;
use std::ffi::c_void;

/// A GPU, real or simulated.
pub struct Device {
    stream: Stream,
    _context: Context,
}

/// The output of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelOutput {
    /// One word per thread for each slot, slot by slot.
    pub words: Vec<u64>,
    /// The final values of the cells in global memory.
    pub cells: Vec<u64>,
}

impl Device {
    /// Opens the first GPU.
    ///
    /// # Errors
    /// Fails if there is none.
    pub fn open() -> Result<Device> {
        let context = cust::quick_init().context("no GPU to run on")?;
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
        Ok(Device {
            stream,
            _context: context,
        })
    }

    /// Runs a kernel without the removed statements, assembled at an optimization level from 0 to 4 or, for
    /// `None`, at the assembler's default.
    ///
    /// # Errors
    /// Fails if the module cannot be loaded or the kernel faults. The context is unusable after a fault.
    pub fn run(
        &self,
        kernel: &Kernel,
        removed: &BTreeSet<u32>,
        seed: u64,
        level: Option<u8>,
    ) -> Result<KernelOutput> {
        // The simulator runs an instrumented copy of the code when profiling. Profile every second kernel, so
        // that both copies are tested. Has no effect on a GPU.
        cuda_driver::profile(kernel.number % 2 == 1);
        let level = match level {
            None => Vec::new(),
            Some(0) => vec![ModuleJitOption::OptLevel(OptLevel::O0)],
            Some(1) => vec![ModuleJitOption::OptLevel(OptLevel::O1)],
            Some(2) => vec![ModuleJitOption::OptLevel(OptLevel::O2)],
            Some(3) => vec![ModuleJitOption::OptLevel(OptLevel::O3)],
            Some(_) => vec![ModuleJitOption::OptLevel(OptLevel::O4)],
        };
        let module =
            Module::from_ptx(kernel.ptx(removed), &level).context("cannot load the module")?;
        let function = module.get_function("k")?;
        let inputs = kernel.inputs(seed);
        let words = kernel.slots.len() * kernel.threads();
        let out = DeviceBuffer::from_slice(&vec![0xa5a5_a5a5_a5a5_a5a5_u64; words])?;
        let table = DeviceBuffer::from_slice(&inputs.table)?;
        let scratch = DeviceBuffer::from_slice(&inputs.scratch)?;
        // cust cannot allocate an empty buffer, so one cell is added.
        let cells = DeviceBuffer::from_slice(&[&kernel.cells[..], &[0]].concat())?;
        let pointers = [&out, &table, &scratch, &cells].map(|buffer| buffer.as_device_ptr());
        let mut zero = 0_u64;
        let mut values = inputs.values;
        let mut arguments: Vec<*mut c_void> = pointers
            .iter()
            .map(|pointer| std::ptr::from_ref(pointer).cast_mut().cast())
            .collect();
        arguments.push(std::ptr::from_mut(&mut zero).cast());
        arguments.push(values.as_mut_ptr().cast());
        let [x, y, z] = kernel.grid;
        let [bx, by, bz] = kernel.block;
        // SAFETY: `arguments` points to the kernel's six parameters, in order and of their types. The buffers
        // are as large as the generated code assumes, and they and the arguments outlive the launch because
        // the stream is synchronized below.
        unsafe {
            self.stream.launch(
                &function,
                (x, y, z),
                (bx, by, bz),
                kernel.dynamic_shared,
                &arguments,
            )
        }
        .context("cannot launch the kernel")?;
        self.stream.synchronize().context("the kernel failed")?;
        let mut output = KernelOutput {
            words: vec![0; words],
            cells: vec![0; kernel.cells.len() + 1],
        };
        out.copy_to(&mut output.words)?;
        cells.copy_to(&mut output.cells)?;
        output.cells.pop();
        Ok(output)
    }
}
