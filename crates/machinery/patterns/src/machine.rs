//! A GPU with one module loaded, whose launches tell of every access.

use std::sync::Arc;

use cuda_sim::check::Checks;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{Conditions, Fault, Observe, Program, Traced};
use cuda_sim::isa::Memory;
use cuda_sim::launch::{Launch, Report, launch};
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::{Global, OutOfMemory};
use cuda_sim::profile::Tally;
use thiserror::Error;

/// Device memory there is: more than any figure takes.
const MEMORY: u64 = 64 << 20;

/// Why a launch told of nothing.
#[derive(Debug, Error)]
pub enum Failure {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error("the module has no kernel `{0}`")]
    NoKernel(String),
    /// The kernel did what no kernel may.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
}

/// An NVIDIA H200 with a module loaded.
pub struct Machine {
    device: DeviceSpec,
    global: Global,
    program: Arc<Program>,
}

/// Which kernel to launch, and how.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    pub kernel: &'a str,
    /// Blocks in x and y.
    pub grid: [u32; 2],
    /// Threads of a block in x and y.
    pub block: [u32; 2],
    /// Bytes of shared memory besides what the kernel declares.
    pub shared: u32,
    /// The parameters as they lie in the kernel's parameter space; see [`params`].
    pub params: &'a [u8],
}

/// What a launch did.
pub struct Trace {
    /// Every access, block by block; of a block, in the order in which they were made.
    pub accesses: Vec<Traced>,
    /// The counters of the launch.
    pub tally: Tally,
}

impl Machine {
    /// Loads PTX text.
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

    /// Device memory of `bytes` bytes, all zero; its address.
    pub fn buffer(&mut self, bytes: u64) -> Result<u64, Failure> {
        Ok(self.global.allocate(bytes.max(1))?)
    }

    /// Where a variable of the module is, if it has one of that name.
    pub fn variable(&self, name: &str) -> Option<u64> {
        self.program.variable(name).map(|(address, _)| address)
    }

    /// Runs a kernel to its end.
    pub fn run(&self, job: &Job) -> Result<Trace, Failure> {
        let kernel = self.program.listing.kernel(job.kernel);
        let kernel = kernel.ok_or_else(|| Failure::NoKernel(job.kernel.into()))?;
        let [[columns, rows], [x, y]] = [job.grid, job.block];
        let work = Launch {
            kernel,
            grid: [columns, rows, 1],
            block: [x, y, 1],
            dynamic_shared: job.shared,
            params: job.params,
            stack_limit: 1024,
            cooperative: None,
            heap: None,
            images: Arc::default(),
            // A clock is something that a browser's page lacks.
            time_limit: None,
            threads: None,
            watch: None,
            observe: Observe::Trace,
            checks: Checks::NONE,
            conditions: Conditions::USUAL,
        };
        let done = launch(&self.program, &self.global, &self.device, &work);
        let Report { trace, profile, .. } = done.map_err(Box::new)?;
        Ok(Trace {
            accesses: trace,
            tally: profile.unwrap_or_default().total,
        })
    }
}

impl Trace {
    /// The loads from a memory.
    pub fn loads(&self, memory: Memory) -> impl Iterator<Item = &Traced> {
        let of = move |access: &&Traced| access.kind.is_load() && access.memory == memory;
        self.accesses.iter().filter(of)
    }
}

/// A parameter of a kernel.
#[derive(Clone, Copy)]
pub enum Param {
    Word(u32),
    Long(u64),
}

/// Parameters as they lie in a kernel's parameter space: each aligned to its own size.
pub fn params(list: &[Param]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for param in list {
        let (word, long);
        let param: &[u8] = match param {
            Param::Word(value) => {
                word = value.to_le_bytes();
                &word
            }
            Param::Long(value) => {
                long = value.to_le_bytes();
                &long
            }
        };
        bytes.resize(bytes.len().next_multiple_of(param.len()), 0);
        bytes.extend(param);
    }
    bytes
}
