//! Launches that record every memory access.

use cuda_sim::exec::{Fault, Traced, Tracing};
use cuda_sim::isa::Memory;
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::OutOfMemory;
use cuda_sim::profile::Tally;
use sim_machine::{Launch, Machine};
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

/// The memory accesses and counters of a launch.
pub struct Trace {
    /// All accesses, ordered by block and, within a block, by execution.
    pub accesses: Vec<Traced>,
    pub tally: Tally,
}

/// Creates a machine that has loaded a module and traces its launches. The launches have no time limit because
/// `Instant` is not available in WebAssembly.
///
/// Fails if the PTX is invalid or its variables do not fit into device memory.
pub fn load(ptx: &str) -> Result<Machine, Failure> {
    let mut machine = Machine::load(ptx, MEMORY)?;
    machine.options.tracing = Some(Tracing::All);
    Ok(machine)
}

/// Runs a kernel to completion.
///
/// Fails if the module has no such kernel or the kernel faults.
pub fn run(machine: &Machine, launch: &Launch) -> Result<Trace, Failure> {
    if !machine.has_kernel(launch.kernel) {
        return Err(Failure::NoKernel(launch.kernel.into()));
    }
    let report = machine.report(launch);
    let record = report.result.map_err(Box::new)?;
    Ok(Trace {
        accesses: report.trace,
        tally: record.profile.unwrap_or_default().total,
    })
}

impl Trace {
    /// Returns the loads from a memory space.
    pub fn loads(&self, memory: Memory) -> impl Iterator<Item = &Traced> {
        let is_load = move |access: &&Traced| access.kind.is_load() && access.memory == memory;
        self.accesses.iter().filter(is_load)
    }
}
