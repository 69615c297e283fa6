//! Runs kernels on both backends of a machine with a GPU, and shrinks those whose results differ.

use crate::forms::Forms;
use crate::generate;
use crate::kernel::{self, Kernel, Slot};
use crate::record::{Distances, Record};
use crate::worker::{Reply, Task, Worker};
use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// The two backends that are compared: a GPU, or the simulator's compiled code, and the simulator's interpreter.
pub struct Backends {
    pub gpu: Worker,
    pub simulator: Worker,
}

/// The environment of a simulator that compiles all kernels and counts no blocks, which it would interpret.
const COMPILED: &[(&str, &str)] = &[("CUDA_SIM_COMPILE", "always"), ("CUDA_SIM_SAMPLE", "none")];

/// The environment of a simulator that interprets all kernels.
const INTERPRETED: &[(&str, &str)] = &[("CUDA_SIM_COMPILE", "never")];

/// The result of comparing a kernel's two runs.
pub enum Verdict {
    Equal(Record),
    /// The GPU's results equal the simulator's if its assembler optimizes at this lower level. The text
    /// describes the difference at the default level.
    AssemblerLevel(u8, String),
    /// The results differ, as described.
    Different(String),
}

impl Default for Backends {
    fn default() -> Self {
        Backends {
            gpu: Worker::new(Some("gpu")),
            simulator: Worker::with_environment(Some("sim"), INTERPRETED),
        }
    }
}

impl Backends {
    /// Returns the simulator's compiled code instead of a GPU, and its interpreter.
    pub fn of_simulator() -> Backends {
        Backends {
            gpu: Worker::with_environment(Some("sim"), COMPILED),
            ..Backends::default()
        }
    }
}

impl Backends {
    /// Runs one kernel on both backends, and adds the differences of approximate results to `distances`.
    ///
    /// # Errors
    /// Fails if a worker process cannot be started.
    pub fn compare(
        &mut self,
        task: &Task,
        kernel: &Kernel,
        distances: &mut Distances,
    ) -> Result<Verdict> {
        let simulator = match self.simulator.run(task)? {
            Reply::Ran { record, .. } => record,
            Reply::Failed(reason) => return Ok(Verdict::Different(format!("simulator: {reason}"))),
        };
        let mut run_distances = Distances::default();
        let description = match self.gpu.run(task)? {
            Reply::Ran { record, .. } => {
                match difference(&simulator, &record, kernel, &mut run_distances) {
                    None => {
                        distances.merge(run_distances);
                        return Ok(Verdict::Equal(record));
                    }
                    Some(description) => description,
                }
            }
            Reply::Failed(reason) => format!("GPU: {reason}"),
        };
        for level in [1, 0] {
            let lower = Task {
                level: Some(level),
                ..task.clone()
            };
            if let Reply::Ran { record, .. } = self.gpu.run(&lower)?
                && difference(&simulator, &record, kernel, &mut Distances::default()).is_none()
            {
                return Ok(Verdict::AssemblerLevel(level, description));
            }
        }
        distances.merge(run_distances);
        Ok(Verdict::Different(description))
    }

    /// Removes statements while the two backends still differ in the same way, at the latest until
    /// `deadline`, and describes the kernel that remains.
    ///
    /// # Errors
    /// Fails if a worker process cannot be started, or the PTX cannot be written to `folder`.
    pub fn shrink(
        &mut self,
        task: &Task,
        by_assembler: bool,
        forms: &Forms,
        folder: Option<&Path>,
        deadline: Instant,
    ) -> Result<String> {
        let kernel = generate::kernel(forms, task.seed, task.kernel);
        let mut smallest = task.clone();
        let mut size = 64;
        while size > 0 {
            let remaining: Vec<u32> = kernel
                .statements()
                .into_iter()
                .filter(|number| !smallest.removed.contains(number))
                .collect();
            for part in remaining.chunks(size) {
                if Instant::now() >= deadline {
                    size = 0;
                    break;
                }
                let mut candidate = smallest.clone();
                candidate.removed.extend(part);
                let mut unused = Distances::default();
                let still_differs = match self.compare(&candidate, &kernel, &mut unused)? {
                    Verdict::Equal(_) => false,
                    Verdict::AssemblerLevel(..) => by_assembler,
                    Verdict::Different(_) => !by_assembler,
                };
                if still_differs {
                    smallest = candidate;
                }
            }
            size /= 4;
        }
        if let Some(folder) = folder {
            let name = format!("{}-{}.ptx", task.seed, task.kernel);
            std::fs::write(folder.join(name), kernel.ptx(&smallest.removed))?;
        }
        self.describe(&smallest, &kernel)
    }

    /// Describes the shrunk kernel: the first thread and slots that differ, and the GPU's value there when
    /// its assembler does not optimize (-O0).
    fn describe(&mut self, smallest: &Task, kernel: &Kernel) -> Result<String> {
        let full_task = Task {
            all_words: true,
            ..smallest.clone()
        };
        let unoptimized_task = Task {
            level: Some(0),
            ..full_task.clone()
        };
        let mut text = String::new();
        let backends = [
            self.simulator.run(&full_task)?,
            self.gpu.run(&full_task)?,
            self.gpu.run(&unoptimized_task)?,
        ];
        let [
            Reply::Ran {
                words: simulator, ..
            },
            Reply::Ran { words: gpu, .. },
            unoptimized,
        ] = backends
        else {
            return Ok(text + &statements(kernel, &smallest.removed));
        };
        let unoptimized = match unoptimized {
            Reply::Ran { words, .. } => words,
            Reply::Failed(_) => Vec::new(),
        };
        let threads = kernel.threads();
        let mut reported = 0;
        for (slot, slot_kind) in kernel.slots.iter().enumerate() {
            let base = slot * threads;
            let exact = matches!(slot_kind, Slot::Exact(_));
            let first =
                (0..threads).find(|thread| exact && simulator[base + thread] != gpu[base + thread]);
            if let (Some(thread), Slot::Exact(name), true) = (first, slot_kind, reported < 4) {
                reported += 1;
                let count = (0..threads)
                    .filter(|thread| simulator[base + thread] != gpu[base + thread])
                    .count();
                let _ = writeln!(
                    text,
                    "  {name}, thread {thread} (and {} more): simulator {:x}, GPU {:x}, GPU at -O0 {:x?}",
                    count - 1,
                    simulator[base + thread],
                    gpu[base + thread],
                    unoptimized.get(base + thread)
                );
            }
        }
        Ok(text + &statements(kernel, &smallest.removed))
    }
}

/// Describes how two records differ. Returns `None` if they do not.
fn difference(
    simulator: &Record,
    gpu: &Record,
    kernel: &Kernel,
    distances: &mut Distances,
) -> Option<String> {
    distances.add(simulator, gpu);
    let differing = simulator.differing_slots(gpu, kernel);
    if !differing.is_empty() {
        return Some(format!("difference in {}", differing.join(", ")));
    }
    let first = distances.violations.first()?;
    let count = distances.violations.len();
    Some(format!(
        "{count} approximate results are out of bounds: {first}"
    ))
}

/// Prints the statements that remain.
fn statements(kernel: &Kernel, removed: &BTreeSet<u32>) -> String {
    let mut text = String::new();
    for function in &kernel.functions {
        kernel::write(&function.body, removed, &mut text);
        text += "  --\n";
    }
    kernel::write(&kernel.body, removed, &mut text);
    let shape = format!(
        "  grid {:?}, block {:?}, sm_{}\n",
        kernel.grid, kernel.block, kernel.target
    );
    shape + &text
}
