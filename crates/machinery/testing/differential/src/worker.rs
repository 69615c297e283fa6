//! Worker processes that run kernels. Each has one backend, NVIDIA's driver or the simulator, reads one task per
//! line and replies with one line. A kernel that faults ends only its own process.

use crate::forms::Forms;
use crate::generate;
use crate::kernel::Kernel;
use crate::record::Record;
use anyhow::{Context as _, Result, bail};
use cust::memory::{CopyDestination as _, DeviceBuffer};
use cust::module::{Module, ModuleJitOption, OptLevel};
use cust::prelude::{Context, Stream, StreamFlags};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time limit for a task. No correct kernel takes this long.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// A kernel to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    pub seed: u64,
    pub kernel: u64,
    #[serde(default)]
    pub removed: BTreeSet<u32>,
    /// The assembler's optimization level; `None` for its default.
    #[serde(default)]
    pub level: Option<u8>,
    /// The number of threads whose approximate results are returned.
    pub threads: usize,
    /// True to return every word of the output.
    #[serde(default)]
    pub all_words: bool,
}

/// The worker's reply to a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Reply {
    Ran {
        record: Record,
        /// The output if it was requested, otherwise empty.
        words: Vec<u64>,
    },
    Failed(String),
}

/// Serves tasks from standard input until end of file.
///
/// # Errors
/// Fails if there is no GPU, or a pipe breaks.
pub fn serve() -> Result<()> {
    let device = Device::open()?;
    let forms = Forms::new();
    for line in std::io::stdin().lock().lines() {
        let task: Task = serde_json::from_str(&line?).context("invalid task")?;
        let kernel = generate::kernel(&forms, task.seed, task.kernel);
        let output = device.run(&kernel, &task.removed, task.seed, task.level);
        let reply = match &output {
            Ok(output) => Reply::Ran {
                record: Record::new(&kernel, output, task.threads),
                words: if task.all_words {
                    output.words.clone()
                } else {
                    Vec::new()
                },
            },
            Err(error) => Reply::Failed(format!("{error:#}")),
        };
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{}", serde_json::to_string(&reply)?)?;
        stdout.flush()?;
        if output.is_err() {
            // The context may be unusable: another process takes over.
            std::process::exit(1);
        }
    }
    Ok(())
}

/// A process that serves tasks. It is started on first use, and again after it has exited.
pub struct Worker {
    backend: Option<&'static str>,
    /// Variables of its environment.
    environment: &'static [(&'static str, &'static str)],
    running: Option<Running>,
}

struct Running {
    child: Child,
    tasks: ChildStdin,
    replies: Receiver<String>,
}

impl Worker {
    /// Creates a worker with the backend `gpu` or `sim`, or for `None` with the default one.
    pub fn new(backend: Option<&'static str>) -> Worker {
        Worker::with_environment(backend, &[])
    }

    /// Creates a worker that also has these variables in its environment.
    pub fn with_environment(
        backend: Option<&'static str>,
        environment: &'static [(&'static str, &'static str)],
    ) -> Worker {
        Worker {
            backend,
            environment,
            running: None,
        }
    }

    /// Runs a task.
    ///
    /// # Errors
    /// Fails if no process can be started.
    pub fn run(&mut self, task: &Task) -> Result<Reply> {
        let running = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(start(self.backend, self.environment)?),
        };
        let reply = request(running, task);
        if !matches!(reply, Ok(Reply::Ran { .. })) {
            self.stop();
        }
        reply
    }

    fn stop(&mut self) {
        if let Some(Running {
            mut child, tasks, ..
        }) = self.running.take()
        {
            drop(tasks);
            // The process may hang in a kernel that does not end. If it has already exited, killing it does
            // no harm.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
    }
}

fn start(backend: Option<&str>, environment: &[(&str, &str)]) -> Result<Running> {
    let executable = std::env::current_exe().context("cannot find this program's executable")?;
    let mut command = Command::new(executable);
    command
        .arg("worker")
        // Kernels are generated for targets up to this device's compute capability.
        .env("CUDA_SIM_DEVICE", "h200")
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if let Some(backend) = backend {
        command.env("CUDA_BACKEND", backend);
    }
    let mut child = command.spawn().context("cannot start a worker process")?;
    let (Some(tasks), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        bail!("the worker process has no pipes");
    };
    let (sender, replies) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(Running {
        child,
        tasks,
        replies,
    })
}

fn request(running: &mut Running, task: &Task) -> Result<Reply> {
    const EXITED: &str = "the worker process has exited";
    if writeln!(running.tasks, "{}", serde_json::to_string(task)?).is_err() {
        return Ok(Reply::Failed(EXITED.to_owned()));
    }
    match running.replies.recv_timeout(TIME_LIMIT) {
        Ok(line) => Ok(serde_json::from_str(&line)?),
        Err(RecvTimeoutError::Timeout) => Ok(Reply::Failed(format!(
            "timed out after {} s",
            TIME_LIMIT.as_secs()
        ))),
        Err(RecvTimeoutError::Disconnected) => Ok(Reply::Failed(EXITED.to_owned())),
    }
}

/// A GPU, real or simulated.
struct Device {
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
    fn open() -> Result<Device> {
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
    fn run(
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
