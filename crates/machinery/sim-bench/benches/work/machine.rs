//! A work on the simulator: its kernels loaded, its inputs in device memory.

use std::sync::Arc;

use cuda_sim::check::Checks;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{Conditions, Observe, Program};
use cuda_sim::launch::{Launch, Report, launch};
use cuda_sim::memory::global::Global;
use rayon::ThreadPool;

use super::{Argument, POISON, Work};

/// A loaded module, and the memory behind it.
pub struct Machine {
    device: DeviceSpec,
    global: Global,
    program: Arc<Program>,
    kernel: usize,
    shape: [[u32; 3]; 2],
    dynamic_shared: u32,
    params: Vec<u8>,
    /// Where the output lies, and its bytes.
    output: (u64, usize),
}

impl Machine {
    /// Loads a work's kernels and copies its inputs; the output, of `words` words, is [`POISON`].
    ///
    /// # Panics
    ///
    /// Where the chapter's kernels do not load, or there is no memory.
    pub fn new(work: &dyn Work, words: usize) -> Machine {
        let device = DeviceSpec::h200();
        let mut global = Global::new(1 << 33);
        let program =
            cuda_sim::lower::load(work.ptx(), &device, &mut global).expect("the module loads");
        let kernel = program
            .listing
            .kernel(work.kernel())
            .expect("the kernel exists");
        if let Some((name, value)) = work.symbol() {
            let (address, _) = program.variable(name).expect("the symbol exists");
            write(&global, address, &value.bytes());
        }
        let poison = POISON.to_le_bytes().repeat(words);
        let output = upload(&mut global, &poison);
        let halo = size_of::<u32>() * work.halo();
        let mut params = Vec::new();
        for argument in work.arguments() {
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
        Machine {
            device,
            global,
            program: Arc::new(program),
            kernel,
            shape: work.shape(),
            dynamic_shared: work.dynamic_shared(),
            params,
            output: (output, poison.len()),
        }
    }

    /// Launches the kernel on the threads of `pool`.
    ///
    /// # Panics
    ///
    /// Where the kernel fails.
    pub fn run(&self, pool: &ThreadPool, observe: Observe) -> Report {
        let configuration = Launch {
            kernel: self.kernel,
            grid: self.shape[0],
            block: self.shape[1],
            dynamic_shared: self.dynamic_shared,
            params: &self.params,
            stack_limit: 1024,
            cooperative: None,
            heap: None,
            images: Arc::default(),
            time_limit: None,
            threads: Some(pool),
            watch: None,
            observe,
            checks: Checks::NONE,
            conditions: Conditions::USUAL,
        };
        launch(&self.program, &self.global, &self.device, &configuration).expect("the kernel runs")
    }

    /// How many PTX instructions the launch of `report` ran, once for each thread.
    pub fn thread_instructions(&self, report: &Report) -> u64 {
        report.counts.thread_instructions(&self.program.listing)
    }

    /// The output as the last launch left it, which is [`POISON`] again after this.
    pub fn take_output(&self) -> Vec<u32> {
        let (address, bytes) = self.output;
        let host = self.global.host(address, bytes as u64);
        let mut output = vec![POISON; bytes / size_of::<u32>()];
        let host = host.expect("the output is allocated");
        // SAFETY: both are that long, one is this function's own, and no launch is running.
        unsafe { std::ptr::swap_nonoverlapping(host, output.as_mut_ptr().cast(), bytes) };
        output
    }
}

/// Appends an argument where its alignment, its own size, puts it.
fn push(params: &mut Vec<u8>, argument: &[u8]) {
    params.resize(params.len().next_multiple_of(argument.len()), 0);
    params.extend(argument);
}

/// A copy in device memory, and its address.
fn upload(global: &mut Global, bytes: &[u8]) -> u64 {
    let address = global.allocate(bytes.len() as u64);
    let address = address.expect("memory is free");
    write(global, address, bytes);
    address
}

fn write(global: &Global, address: u64, bytes: &[u8]) {
    let host = global.host(address, bytes.len() as u64);
    let host = host.expect("there is as much memory at this address");
    // SAFETY: `host` found as many bytes there, and nothing else uses them.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, bytes.len()) };
}
