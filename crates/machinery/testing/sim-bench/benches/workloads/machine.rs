//! A workload on the simulator: its kernels are loaded and its inputs are in device memory.

use std::sync::Arc;

use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{LaunchOptions, LaunchSpec, Program, Resources};
use cuda_sim::launch::{Launch, LaunchRecord, launch};
use cuda_sim::memory::global::Global;
use rayon::ThreadPool;

use super::{Argument, POISON, Workload};

/// The part of a launch that is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    Nothing,
    /// The sample that the time model needs.
    Sample,
    Everything,
}

/// A loaded module, and its device memory.
pub struct Machine {
    device: DeviceSpec,
    global: Global,
    program: Arc<Program>,
    kernel: usize,
    spec: LaunchSpec,
    /// The address of the output, and its size in bytes.
    output: (u64, usize),
}

impl Machine {
    /// Loads a workload's kernels and copies its inputs. Fills the output of `words` words with [`POISON`].
    ///
    /// # Panics
    ///
    /// Panics if the chapter's kernels cannot be loaded or memory is exhausted.
    pub fn new(workload: &dyn Workload, words: usize) -> Machine {
        let device = DeviceSpec::h200();
        let mut global = Global::new(1 << 33);
        let program = cuda_sim::lower::load(workload.ptx(), &device, &mut global)
            .expect("cannot load the module");
        let kernel = program
            .listing
            .kernel(workload.kernel())
            .expect("the module lacks the kernel");
        if let Some((name, value)) = workload.symbol() {
            let (address, _) = program.variable(name).expect("the module lacks the symbol");
            write(&global, address, &value.bytes());
        }
        let poison = POISON.to_le_bytes().repeat(words);
        let output = upload(&mut global, &poison);
        let halo = size_of::<u32>() * workload.halo();
        let mut params = Vec::new();
        for argument in workload.arguments() {
            match argument {
                Argument::Word(word) => push(&mut params, &word.to_le_bytes()),
                Argument::Long(long) => push(&mut params, &long.to_le_bytes()),
                Argument::Input(input) => {
                    let address = upload(&mut global, &input.bytes());
                    push(&mut params, &(address + halo as u64).to_le_bytes());
                }
                Argument::Output => push(&mut params, &(output + halo as u64).to_le_bytes()),
            }
        }
        let [grid, block] = workload.shape();
        Machine {
            device,
            global,
            program: Arc::new(program),
            kernel,
            spec: LaunchSpec {
                dynamic_shared: workload.dynamic_shared(),
                ..LaunchSpec::new(grid, block, &params)
            },
            output: (output, poison.len()),
        }
    }

    /// Launches the kernel on the threads of `pool`.
    ///
    /// # Panics
    ///
    /// Panics if the kernel fails.
    pub fn run(&self, pool: &Arc<ThreadPool>, counted: Counted) -> LaunchRecord {
        let report = launch(&Launch {
            program: &self.program,
            kernel: self.kernel,
            spec: &self.spec,
            resources: &Resources::default(),
            options: &LaunchOptions {
                threads: Some(pool.clone()),
                sampled: counted != Counted::Nothing,
                profile: counted == Counted::Everything,
                ..LaunchOptions::default()
            },
            global: &self.global,
            device: &self.device,
        });
        report.result.expect("the kernel failed")
    }

    /// Returns the output of the last launch, and fills it with [`POISON`] again.
    pub fn take_output(&self) -> Vec<u32> {
        let (address, bytes) = self.output;
        let host = self.global.host(address, bytes as u64);
        let mut output = vec![POISON; bytes / size_of::<u32>()];
        let host = host.expect("the output is not allocated");
        // SAFETY: `host` is valid for `bytes` bytes, as `Global::host` has checked; `output` is as long and
        // owned by this function, so they do not overlap; no launch is running that could access `host`.
        unsafe { std::ptr::swap_nonoverlapping(host, output.as_mut_ptr().cast(), bytes) };
        output
    }
}

/// Appends an argument at its natural alignment, which is its size.
fn push(params: &mut Vec<u8>, argument: &[u8]) {
    params.resize(params.len().next_multiple_of(argument.len()), 0);
    params.extend(argument);
}

/// Copies `bytes` to device memory and returns their address.
fn upload(global: &mut Global, bytes: &[u8]) -> u64 {
    let address = global.allocate(bytes.len() as u64);
    let address = address.expect("out of memory");
    write(global, address, bytes);
    address
}

fn write(global: &Global, address: u64, bytes: &[u8]) {
    let host = global.host(address, bytes.len() as u64);
    let host = host.expect("the range is not allocated");
    // SAFETY: `Global::host` has checked that `host` is valid for `bytes.len()` bytes; `bytes` is host memory,
    // so it does not overlap; no launch is running that could access `host`.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, bytes.len()) };
}
