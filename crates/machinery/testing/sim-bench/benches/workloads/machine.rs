//! A workload on the simulator: its kernels are loaded and its inputs are in device memory.

use std::sync::Arc;

use cuda_sim::launch::LaunchRecord;
use launch_plan::devices::Simulator;
use launch_plan::execute::PreparedLaunch;
use launch_plan::{Buffer, Device as _, Execution};
use rayon::ThreadPool;

use super::{OUTPUT, POISON, Workload};

/// The part of a launch that is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    Nothing,
    /// The sample that the time model needs.
    Sample,
    Everything,
}

/// Bytes of device memory.
const MEMORY: u64 = 1 << 33;

/// A workload's buffers and its launch.
pub struct Machine {
    execution: Execution<Simulator>,
    launch: PreparedLaunch<String>,
    /// The output, without its initial contents.
    output: Buffer,
}

impl Machine {
    /// Loads a workload's kernels and copies its inputs. Fills the output of `words` words with [`POISON`].
    ///
    /// # Panics
    ///
    /// Panics if the chapter's kernels cannot be loaded or memory is exhausted.
    pub fn new(workload: &dyn Workload, words: usize) -> Machine {
        let mut plan = workload.plan(words);
        let device = Simulator::load(workload.ptx(), MEMORY).expect("cannot load the module");
        let mut execution = Execution::new(&plan, device).expect("cannot create the buffers");
        let launch = execution.prepare(&plan.launches[0]);
        let mut output = plan.buffers.swap_remove(OUTPUT);
        output.initial = None;
        Machine {
            execution,
            launch: launch.expect("the plan does not match the kernel"),
            output,
        }
    }

    /// Launches the kernel on the threads of `pool`.
    ///
    /// # Panics
    ///
    /// Panics if the kernel fails.
    pub fn run(&mut self, pool: &Arc<ThreadPool>, counted: Counted) -> LaunchRecord {
        let options = &mut self.execution.device.machine.options;
        options.threads = Some(Arc::clone(pool));
        options.sampled = counted != Counted::Nothing;
        options.profile = counted == Counted::Everything;
        let launched = self.execution.launch(&self.launch);
        launched.expect("the kernel failed");
        let report = self.execution.device.report.take();
        let report = report.expect("a launch has a report");
        report.result.expect("the kernel failed")
    }

    /// Returns the output of the last launch, and fills it with [`POISON`] again.
    ///
    /// # Panics
    ///
    /// Panics if the output cannot be copied.
    pub fn take_output(&mut self) -> Vec<u32> {
        let bytes = self.execution.read(OUTPUT, &self.output);
        let bytes = bytes.expect("cannot read the output");
        let poison = POISON.to_le_bytes().repeat(bytes.len() / size_of::<u32>());
        let address = self.execution.addresses[OUTPUT];
        let written = self.execution.device.write(address, &poison);
        written.expect("cannot write the output");
        let words = bytes.chunks_exact(size_of::<u32>());
        words
            .map(|word| u32::from_le_bytes(word.try_into().expect("a word has four bytes")))
            .collect()
    }
}
