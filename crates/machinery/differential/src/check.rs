//! Kernels on both backends side by side, on a machine that has a GPU; what differs is made small.

use crate::forms::Forms;
use crate::generate;
use crate::kernel::{Kernel, Slot};
use crate::record::{Distances, Record};
use crate::worker::{Answer, Task, Worker};
use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// The two sides.
pub struct Sides {
    pub gpu: Worker,
    pub simulator: Worker,
}

/// What came of a kernel.
pub enum Verdict {
    Equal(Record),
    /// The GPU answers as the simulator does where its assembler works at this lower level: how it
    /// differs at its own.
    Assembler(u8, String),
    /// How they differ.
    Differs(String),
}

impl Default for Sides {
    fn default() -> Self {
        Sides {
            gpu: Worker::new(Some("gpu")),
            simulator: Worker::new(Some("sim")),
        }
    }
}

impl Sides {
    /// Runs one kernel on both sides, and adds what approximate answers differ by.
    ///
    /// # Errors
    /// Where no process can be started.
    pub fn compare(
        &mut self,
        task: &Task,
        kernel: &Kernel,
        distances: &mut Distances,
    ) -> Result<Verdict> {
        let ours = match self.simulator.run(task)? {
            Answer::Ran { record, .. } => record,
            Answer::Failed(why) => return Ok(Verdict::Differs(format!("simulator: {why}"))),
        };
        let mut seen = Distances::default();
        let how = match self.gpu.run(task)? {
            Answer::Ran { record, .. } => match difference(&ours, &record, kernel, &mut seen) {
                None => {
                    distances.join(seen);
                    return Ok(Verdict::Equal(record));
                }
                Some(how) => how,
            },
            Answer::Failed(why) => format!("GPU: {why}"),
        };
        for level in [1, 0] {
            let lower = Task {
                level: Some(level),
                ..task.clone()
            };
            if let Answer::Ran { record, .. } = self.gpu.run(&lower)?
                && difference(&ours, &record, kernel, &mut Distances::default()).is_none()
            {
                return Ok(Verdict::Assembler(level, how));
            }
        }
        distances.join(seen);
        Ok(Verdict::Differs(how))
    }

    /// Removes statements as long as the two sides still differ in the same way, until `deadline` at
    /// the latest, and says what is left.
    ///
    /// # Errors
    /// Where no process can be started, or the PTX cannot be written to `folder`.
    pub fn shrink(
        &mut self,
        task: &Task,
        by_assembler: bool,
        forms: &Forms,
        folder: Option<&Path>,
        deadline: Instant,
    ) -> Result<String> {
        let kernel = generate::kernel(forms, task.seed, task.kernel);
        let mut small = task.clone();
        let mut size = 64;
        while size > 0 {
            let left: Vec<u32> = kernel
                .statements()
                .into_iter()
                .filter(|number| !small.removed.contains(number))
                .collect();
            for part in left.chunks(size) {
                if Instant::now() >= deadline {
                    size = 0;
                    break;
                }
                let mut tried = small.clone();
                tried.removed.extend(part);
                let mut unused = Distances::default();
                let same = match self.compare(&tried, &kernel, &mut unused)? {
                    Verdict::Equal(_) => false,
                    Verdict::Assembler(..) => by_assembler,
                    Verdict::Differs(_) => !by_assembler,
                };
                if same {
                    small = tried;
                }
            }
            size /= 4;
        }
        if let Some(folder) = folder {
            let name = format!("{}-{}.ptx", task.seed, task.kernel);
            std::fs::write(folder.join(name), kernel.ptx(&small.removed))?;
        }
        self.describe(&small, &kernel)
    }

    /// What is left of a kernel, the first thread and slot that differ, and what the assembler's
    /// lowest level gives there.
    fn describe(&mut self, small: &Task, kernel: &Kernel) -> Result<String> {
        let whole = Task {
            whole: true,
            ..small.clone()
        };
        let plain = Task {
            level: Some(0),
            ..whole.clone()
        };
        let mut text = String::new();
        let sides = [
            self.simulator.run(&whole)?,
            self.gpu.run(&whole)?,
            self.gpu.run(&plain)?,
        ];
        let [
            Answer::Ran { words: ours, .. },
            Answer::Ran { words: theirs, .. },
            plainly,
        ] = sides
        else {
            return Ok(text + &statements(kernel, &small.removed));
        };
        let plainly = match plainly {
            Answer::Ran { words, .. } => words,
            Answer::Failed(_) => Vec::new(),
        };
        let threads = kernel.threads();
        let mut said = 0;
        for (slot, what) in kernel.slots.iter().enumerate() {
            let at = slot * threads;
            let exact = matches!(what, Slot::Exact(_));
            let first =
                (0..threads).find(|thread| exact && ours[at + thread] != theirs[at + thread]);
            if let (Some(thread), Slot::Exact(name), true) = (first, what, said < 4) {
                said += 1;
                let count = (0..threads)
                    .filter(|thread| ours[at + thread] != theirs[at + thread])
                    .count();
                let _ = writeln!(
                    text,
                    "  {name}, thread {thread} (and {} more): simulator {:x}, GPU {:x}, GPU at -O0 {:x?}",
                    count - 1,
                    ours[at + thread],
                    theirs[at + thread],
                    plainly.get(at + thread)
                );
            }
        }
        Ok(text + &statements(kernel, &small.removed))
    }
}

/// How two records differ; None where they do not.
fn difference(
    ours: &Record,
    theirs: &Record,
    kernel: &Kernel,
    distances: &mut Distances,
) -> Option<String> {
    distances.add(ours, theirs);
    let differing = ours.differing(theirs, kernel);
    if !differing.is_empty() {
        return Some(format!("difference in {}", differing.join(", ")));
    }
    let first = distances.beyond.first()?;
    let count = distances.beyond.len();
    Some(format!("{count} answers are too far off: {first}"))
}

/// What is left of the body.
fn statements(kernel: &Kernel, removed: &BTreeSet<u32>) -> String {
    let mut text = String::new();
    for function in &kernel.functions {
        crate::tree::write(&function.body, removed, &mut text);
        text += "  --\n";
    }
    crate::tree::write(&kernel.body, removed, &mut text);
    let shape = format!(
        "  grid {:?}, block {:?}, sm_{}\n",
        kernel.grid, kernel.block, kernel.target
    );
    shape + &text
}
