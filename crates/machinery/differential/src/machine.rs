//! Runs a kernel on the backend that this process has: NVIDIA's driver or the simulator.

use crate::kernel::Kernel;
use anyhow::{Context as _, Result};
use cust::memory::{CopyDestination as _, DeviceBuffer};
use cust::module::{Module, ModuleJitOption, OptLevel};
use cust::prelude::{Context, Stream, StreamFlags};
use std::collections::BTreeSet;
use std::ffi::c_void;

/// The GPU, real or simulated.
pub struct Machine {
    stream: Stream,
    _context: Context,
}

/// What a kernel left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Slot after slot, a word a thread.
    pub words: Vec<u64>,
    /// The cells in global memory.
    pub cells: Vec<u64>,
}

impl Machine {
    /// Opens the first GPU.
    ///
    /// # Errors
    /// Where there is none.
    pub fn open() -> Result<Machine> {
        let context = cust::quick_init().context("no GPU to run on")?;
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
        Ok(Machine {
            stream,
            _context: context,
        })
    }

    /// Runs a kernel without the statements that are removed, assembled at this level (0 to 4) or at
    /// the assembler's own.
    ///
    /// # Errors
    /// Where the module does not load, or the kernel fails. The context is dead then.
    pub fn run(
        &self,
        kernel: &Kernel,
        removed: &BTreeSet<u32>,
        seed: u64,
        level: Option<u8>,
    ) -> Result<Left> {
        // Code that counts as it runs is not the code that runs uncounted: each takes its half. A GPU
        // takes no notice.
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
            Module::from_ptx(kernel.ptx(removed), &level).context("the module does not load")?;
        let function = module.get_function("k")?;
        let given = kernel.inputs(seed);
        let words = kernel.slots.len() * kernel.threads();
        let out = DeviceBuffer::from_slice(&vec![0xa5a5_a5a5_a5a5_a5a5_u64; words])?;
        let table = DeviceBuffer::from_slice(&given.table)?;
        let scratch = DeviceBuffer::from_slice(&given.scratch)?;
        // Never empty, which cust does not allocate.
        let cells = DeviceBuffer::from_slice(&[&kernel.cells[..], &[0]].concat())?;
        let pointers = [&out, &table, &scratch, &cells].map(|buffer| buffer.as_device_ptr());
        let mut zero = 0_u64;
        let mut values = given.values;
        let mut arguments: Vec<*mut c_void> = pointers
            .iter()
            .map(|pointer| std::ptr::from_ref(pointer).cast_mut().cast())
            .collect();
        arguments.push(std::ptr::from_mut(&mut zero).cast());
        arguments.push(values.as_mut_ptr().cast());
        let [x, y, z] = kernel.grid;
        let [bx, by, bz] = kernel.block;
        // SAFETY: the arguments are the kernel's, which touches its part of the buffers only, and
        // they outlive the launch, which is waited for.
        unsafe {
            self.stream.launch(
                &function,
                (x, y, z),
                (bx, by, bz),
                kernel.dynamic_shared,
                &arguments,
            )
        }
        .context("the kernel does not start")?;
        self.stream.synchronize().context("the kernel failed")?;
        let mut left = Left {
            words: vec![0; words],
            cells: vec![0; kernel.cells.len() + 1],
        };
        out.copy_to(&mut left.words)?;
        cells.copy_to(&mut left.cells)?;
        left.cells.pop();
        Ok(left)
    }
}
