//! A simulated GPU with one module loaded, whose launches record every memory access.

use std::sync::Arc;

use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{Fault, LaunchOptions, LaunchSpec, Program, Resources, Traced, Tracing};
use cuda_sim::isa::Memory;
use cuda_sim::launch::{Launch, launch};
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::{Global, OutOfMemory};
use cuda_sim::profile::Tally;
use thiserror::Error;

/// Bytes of device memory: more than any figure needs.
const MEMORY: u64 = 64 << 20;

/// The reason why a launch has no trace.
#[derive(Debug, Error)]
pub enum Failure {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error("the module has no kernel `{0}`")]
    NoKernel(String),
    /// The kernel faulted, for example by an invalid or misaligned access.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
}

/// A simulated NVIDIA H200 with a module loaded.
pub struct Machine {
    device: DeviceSpec,
    global: Global,
    program: Arc<Program>,
}

/// A kernel to launch, with its launch configuration and parameters.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    pub kernel: &'a str,
    /// Blocks in x and y.
    pub grid: [u32; 2],
    /// Threads of a block in x and y.
    pub block: [u32; 2],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// The parameters, laid out as in the kernel's parameter space; see [`params`].
    pub params: &'a [u8],
}

/// The memory accesses and counters of a launch.
pub struct Trace {
    /// All accesses, ordered by block and, within a block, by execution.
    pub accesses: Vec<Traced>,
    pub tally: Tally,
}

impl Machine {
    /// Loads a module from PTX text.
    ///
    /// Fails if the PTX is invalid or its variables do not fit into device memory.
    pub fn load(ptx: &str) -> Result<Machine, Failure> {
        let device = DeviceSpec::h200();
        let mut global = Global::new(MEMORY);
        let program = Arc::new(cuda_sim::lower::load(ptx, &device, &mut global)?);
        Ok(Machine {
            device,
            global,
            program,
        })
    }

    /// Allocates `bytes` bytes of device memory, filled with zeros, and returns the address.
    pub fn buffer(&mut self, bytes: u64) -> Result<u64, Failure> {
        Ok(self.global.allocate(bytes.max(1))?)
    }

    /// Returns the address of a module variable, or `None` if the module has no variable of that name.
    pub fn variable(&self, name: &str) -> Option<u64> {
        self.program.variable(name).map(|(address, _)| address)
    }

    /// Runs a kernel to completion.
    ///
    /// Fails if the module has no such kernel or the kernel faults.
    pub fn run(&self, job: &Job) -> Result<Trace, Failure> {
        let kernel = self.program.listing.kernel(job.kernel);
        let kernel = kernel.ok_or_else(|| Failure::NoKernel(job.kernel.into()))?;
        let [[columns, rows], [x, y]] = [job.grid, job.block];
        let report = launch(&Launch {
            program: &self.program,
            kernel,
            spec: &LaunchSpec {
                dynamic_shared: job.shared,
                ..LaunchSpec::new([columns, rows, 1], [x, y, 1], job.params)
            },
            resources: &Resources::default(),
            // No time limit: `Instant` is not available in WebAssembly.
            options: &LaunchOptions {
                tracing: Some(Tracing::All),
                ..LaunchOptions::default()
            },
            global: &self.global,
            device: &self.device,
        });
        let record = report.result.map_err(Box::new)?;
        Ok(Trace {
            accesses: report.trace,
            tally: record.profile.unwrap_or_default().total,
        })
    }
}

impl Trace {
    /// Returns the loads from a memory space.
    pub fn loads(&self, memory: Memory) -> impl Iterator<Item = &Traced> {
        let is_load = move |access: &&Traced| access.kind.is_load() && access.memory == memory;
        self.accesses.iter().filter(is_load)
    }
}

/// A kernel parameter: a 32-bit or a 64-bit value.
#[derive(Clone, Copy)]
pub enum Param {
    U32(u32),
    U64(u64),
}

/// Lays out parameters as in a kernel's parameter space: each aligned to its size.
pub fn params(list: &[Param]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for param in list {
        let (word, long);
        let param: &[u8] = match param {
            Param::U32(value) => {
                word = value.to_le_bytes();
                &word
            }
            Param::U64(value) => {
                long = value.to_le_bytes();
                &long
            }
        };
        bytes.resize(bytes.len().next_multiple_of(param.len()), 0);
        bytes.extend(param);
    }
    bytes
}
