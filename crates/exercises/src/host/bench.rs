//! The test bench of a host side: the GPU or simulator, the submission's module with its kernels and variables, and its
//! inputs, which are compared with a copy after the run, because a submission must not modify them.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::rc::Rc;

use anyhow::{Context as _, Error, Result, bail};
use common::timing::{self, Timing};
use common::{Gpu, PitchedBuffer};
use cuda_driver::{Checks, Fault, LaunchRecord, LaunchRecorder, Traced, record_launches};
use cust::function::Function;
use cust::memory::bytemuck::Pod;
use cust::memory::{CopyDestination as _, DeviceBuffer, DeviceCopy, DevicePointer, DeviceSlice};
use cust::module::Module;
use thiserror::Error;

use super::{Case, Element, Host, Output};

/// A function that loads one of the course's own modules.
type Loader = Box<dyn Fn() -> Result<Module>>;

/// The opened GPU or simulator with the student's module.
pub struct Bench {
    /// The submission's module. It is the first field because it must be dropped before its context.
    pub submission: Code,
    /// The course's own kernels, loaded on first use.
    start_code: OnceCell<Code>,
    /// Loads the course's own kernels.
    load_start_code: Option<Loader>,
    load_solution: Option<Loader>,
    /// The inputs, which kernels must not modify.
    inputs: Inputs,
    /// Records the launches on the simulator.
    recorder: LaunchRecorder,
    /// The launch records collected from the recorder, without those of uncounted work.
    launches: RefCell<Vec<LaunchRecord>>,
    /// The access traces of the launches, if tracing is on, each with its kernel's name.
    traces: RefCell<Vec<(String, Vec<Traced>)>>,
    /// The fault of the last launch that faulted, until it is taken.
    fault: RefCell<Option<Fault>>,
    /// The GPU, with the stream to launch on.
    pub gpu: Gpu,
    /// The number of timing samples per launch; 0 if the launch is not timed.
    samples: Cell<u32>,
    /// The measured time of the last timed launch.
    time: Cell<Option<Timing>>,
}

/// The result of running a host side.
pub struct RunResult {
    /// The outputs with their references.
    pub outputs: Vec<Output>,
    /// An input that a kernel modified.
    pub modified: Option<ModifiedInput>,
    pub inputs: Vec<InputLocation>,
}

impl Bench {
    /// Creates a bench with this module.
    pub fn new(module: Module, gpu: Gpu) -> Bench {
        Bench {
            submission: Code::new(module),
            start_code: OnceCell::new(),
            load_start_code: None,
            load_solution: None,
            inputs: Inputs::default(),
            recorder: record_launches(),
            launches: RefCell::default(),
            traces: RefCell::default(),
            fault: RefCell::default(),
            gpu,
            samples: Cell::new(0),
            time: Cell::new(None),
        }
    }

    /// Sets the function that loads the course's own kernels.
    pub fn with_start_code(self, load: impl Fn() -> Result<Module> + 'static) -> Bench {
        Bench {
            load_start_code: Some(Box::new(load)),
            ..self
        }
    }

    /// Sets the function that loads the solution.
    pub fn with_solution(self, load: impl Fn() -> Result<Module> + 'static) -> Bench {
        Bench {
            load_solution: Some(Box::new(load)),
            ..self
        }
    }

    /// Replaces the submission's module.
    pub fn replace_submission(&mut self, module: Module) {
        self.submission = Code::new(module);
    }

    /// Runs a host side at a size.
    ///
    /// # Errors
    ///
    /// Fails if the host side does, or if an input cannot be read back.
    pub fn run(&self, host: &dyn Host, case: &Case) -> Result<RunResult> {
        self.take_launches();
        let outputs = host.run(self, case);
        if outputs.is_err() {
            self.inputs.clear();
        }
        let outputs = outputs?;
        let inputs = self.inputs.locations();
        let modified = self.inputs.finish()?;
        Ok(RunResult {
            outputs,
            modified,
            inputs,
        })
    }

    /// Performs the launch by which an exercise is timed: once, or repeatedly while its time is measured.
    /// Repeated launches leave other values in memory that the kernel both reads and writes.
    ///
    /// # Errors
    ///
    /// Fails with the error of the launch.
    pub fn launch<E: Into<Error>>(&self, mut launch: impl FnMut() -> Result<(), E>) -> Result<()> {
        let mut launch = || launch().map_err(Into::into);
        let samples = self.samples.get();
        if samples == 0 {
            return launch();
        }
        let events = timing::events(&self.gpu.stream)?;
        let measured = events.measure(self.gpu.info.time, samples, launch)?;
        self.time.set(Some(measured.timing));
        Ok(())
    }

    /// Runs a host side and returns the time of its [launch](Self::launch) in milliseconds: the median of
    /// this many samples after a warm-up.
    ///
    /// # Errors
    ///
    /// Fails if the host side does, or if it never calls [`Self::launch`].
    pub fn milliseconds(&self, host: &dyn Host, case: &Case, samples: u32) -> Result<f64> {
        self.samples.set(samples.max(1));
        let result = self.run(host, case);
        self.samples.set(0);
        let time = self.time.take();
        result?;
        let time = time.context("the host side times no launch: see Bench::launch")?;
        Ok(time.median_ms)
    }

    /// Returns the module of the start file, which does not depend on the student's changes.
    ///
    /// # Errors
    ///
    /// Fails if the module cannot be loaded, which is not the student's fault.
    pub fn start_code(&self) -> Result<&Code> {
        if let Some(start_code) = self.start_code.get() {
            return Ok(start_code);
        }
        let load = self.load_start_code.as_ref();
        let load = load.context("this exercise has no start code")?;
        let start_code = Code::new(load()?);
        Ok(self.start_code.get_or_init(|| start_code))
    }

    /// Loads a fresh copy of the solution, whose results are the reference if there is no other.
    ///
    /// # Errors
    ///
    /// Fails if the solution cannot be loaded, which is not the student's fault.
    pub fn solution(&self) -> Result<Code> {
        let load = self.load_solution.as_ref();
        let load = load.context("this exercise has no solution module")?;
        Ok(Code::new(load()?))
    }

    /// Does work that is not part of the submission, such as launches of [`Self::solution`], without
    /// checking, counting or timing it.
    ///
    /// # Errors
    ///
    /// Fails if the work does.
    pub fn uncounted<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.do_apart(false, work)
    }

    /// Does work that is not part of the submission, whose counters [`Self::counter`] returns.
    ///
    /// # Errors
    ///
    /// Fails if the work does.
    pub fn counted_apart<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.do_apart(true, work)
    }

    /// Does work without checks, and omits its launches and traces from those of the submission.
    fn do_apart<T>(&self, counted: bool, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let saved = (self.take_launches(), self.take_traces());
        let (checks, counts) = (cuda_driver::active_checks(), cuda_driver::is_profiling());
        cuda_driver::check(Checks::NONE);
        cuda_driver::profile(counted);
        let result = work();
        cuda_driver::check(checks);
        cuda_driver::profile(counts);
        self.collect_reports();
        *self.launches.borrow_mut() = saved.0;
        *self.traces.borrow_mut() = saved.1;
        result
    }

    /// Takes the launch records since the last call, without those of uncounted work.
    pub fn take_launches(&self) -> Vec<LaunchRecord> {
        self.collect_reports();
        self.launches.take()
    }

    /// Returns launch records to the bench, so that they can be taken again.
    pub fn restore_launches(&self, launches: Vec<LaunchRecord>) {
        *self.launches.borrow_mut() = launches;
    }

    /// Takes the access traces since the last call, each with its kernel's name: see [`cuda_driver::trace`].
    pub fn take_traces(&self) -> Vec<(String, Vec<Traced>)> {
        self.collect_reports();
        self.traces.take()
    }

    /// Takes the fault that ended the most recent faulting launch on the simulator; `None` if there has been none
    /// since the last call.
    pub fn take_fault(&self) -> Option<Fault> {
        self.collect_reports();
        self.fault.take()
    }

    /// Moves the reports of the launches so far from the recorder to the bench.
    fn collect_reports(&self) {
        for report in self.recorder.take() {
            match report.result {
                Ok(record) => {
                    if !report.trace.is_empty() {
                        let traced = (record.kernel.clone(), report.trace);
                        self.traces.borrow_mut().push(traced);
                    }
                    self.launches.borrow_mut().push(record);
                }
                Err(fault) => *self.fault.borrow_mut() = Some(fault),
            }
        }
    }

    /// Allocates an output buffer filled with a poison pattern, so that unwritten elements show.
    ///
    /// # Errors
    ///
    /// Fails with the CUDA error of the allocation.
    pub fn output<T: Element>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        Ok(DeviceBuffer::from_slice(&vec![T::poison(); len])?)
    }

    /// Allocates an input buffer with these values. The grader checks that kernels do not modify it. The
    /// memory is freed after the host side's run.
    ///
    /// # Errors
    ///
    /// Fails with the CUDA error of the allocation.
    pub fn input<T: DeviceCopy + 'static>(
        &self,
        name: &str,
        values: &[T],
    ) -> Result<DeviceSlice<T>> {
        let buffer = DeviceBuffer::from_slice(values)?;
        let slice = *buffer;
        let (start, bytes) = (slice.as_device_ptr(), size_of_val(values));
        let memory = Some(Box::new(buffer) as _);
        self.inputs.register(name, start, bytes, memory)?;
        Ok(slice)
    }

    /// Allocates an input in pitched memory; the array gives its width, height and depth. Kernels must not
    /// modify the padding of the rows either.
    ///
    /// # Errors
    ///
    /// Fails with the CUDA error of the allocation, or if the number of values does not match.
    pub fn pitched_input<T: DeviceCopy + Pod + 'static>(
        &self,
        name: &str,
        values: &[T],
        [width, height, depth]: [usize; 3],
    ) -> Result<Rc<PitchedBuffer<T>>> {
        let mut buffer = PitchedBuffer::new_3d(width, height, depth)?;
        buffer.copy_2d_from(values, width)?;
        let buffer = Rc::new(buffer);
        let (start, bytes) = (buffer.as_device_ptr(), buffer.pitch() * buffer.rows());
        let memory = Some(Box::new(Rc::clone(&buffer)) as _);
        self.inputs.register(name, start, bytes, memory)?;
        Ok(buffer)
    }

    /// Copies values to a variable that kernels must not modify, which the grader checks. Call it at most
    /// once per run for each name.
    ///
    /// # Errors
    ///
    /// Fails as [`Code::set_variable`] does.
    pub fn input_variable<T: DeviceCopy>(&self, name: &str, values: &[T]) -> Result<()> {
        self.submission.set_variable(name, values)?;
        let variable = self.submission.variable_memory::<T>(name, values.len())?;
        let (start, bytes) = (variable.as_device_ptr(), size_of_val(values));
        self.inputs.register(name, start, bytes, None)
    }

    /// Returns the last launch's value of a counter, by Nsight Compute's name; `None` on a GPU, where
    /// counters need a profiler.
    ///
    /// # Errors
    ///
    /// Fails if there is no such counter.
    pub fn counter(&self, counter: &str) -> Result<Option<u64>> {
        let Some(profile) = self.recorder.last().and_then(|launch| launch.profile) else {
            return Ok(None);
        };
        match profile.metric(counter) {
            Some(value) => Ok(Some(value)),
            None => bail!("there is no counter {counter}"),
        }
    }
}

/// The inputs of a run.
#[derive(Default)]
struct Inputs {
    inputs: RefCell<Vec<Input>>,
}

struct Input {
    name: String,
    /// The input's bytes, including the padding of pitched rows.
    slice: DeviceSlice<u8>,
    before: Vec<u8>,
    /// The element size in bytes.
    element: usize,
    /// The owner of the memory, if it is freed with the input; `None` for variables.
    memory: Option<Box<dyn Any>>,
}

/// The location of an input.
#[derive(Clone, Debug)]
pub struct InputLocation {
    /// The input's name.
    pub name: String,
    /// The address of its first byte.
    pub address: u64,
    /// The input's size in bytes.
    pub bytes: u64,
    /// True if the input is a variable of the submission.
    pub is_variable: bool,
}

impl InputLocation {
    /// Returns true if an access from this address overlaps the input.
    pub fn overlaps(&self, address: u64, bytes: u64) -> bool {
        address < self.address + self.bytes && self.address < address + bytes
    }
}

/// An input that was modified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModifiedInput {
    /// The input's name.
    pub name: String,
    /// The number of modified elements.
    pub count: usize,
    /// The index of the first modified element.
    pub first: usize,
}

impl Inputs {
    /// Registers an input, saves its contents, and takes ownership of the memory if it is passed.
    fn register<T: DeviceCopy>(
        &self,
        name: &str,
        start: DevicePointer<T>,
        bytes: usize,
        memory: Option<Box<dyn Any>>,
    ) -> Result<()> {
        // SAFETY: `start` points to `bytes` bytes that outlive this input: either the memory passed in
        // `memory`, or a variable of a module that outlives the run.
        let mut slice = unsafe { DeviceSlice::from_raw_parts(start.cast::<u8>(), bytes) };
        let before = slice.as_host_vec()?;
        // Write the contents back, so that the padding of pitched memory counts as initialized: a kernel may
        // read it if it does not use the value.
        slice.copy_from(&before)?;
        self.inputs.borrow_mut().push(Input {
            name: name.to_owned(),
            slice,
            before,
            element: size_of::<T>().max(1),
            memory,
        });
        Ok(())
    }

    /// Returns the locations of the inputs.
    fn locations(&self) -> Vec<InputLocation> {
        let location = |input: &Input| InputLocation {
            name: input.name.clone(),
            address: input.slice.as_device_ptr().as_raw(),
            bytes: input.before.len() as u64,
            is_variable: input.memory.is_none(),
        };
        self.inputs.borrow().iter().map(location).collect()
    }

    /// Frees all inputs and returns the first modified one.
    ///
    /// # Errors
    ///
    /// Fails with the CUDA error of reading an input back.
    fn finish(&self) -> Result<Option<ModifiedInput>> {
        let mut modified = None;
        for input in self.inputs.take() {
            modified = modified.or(input.modified()?);
        }
        Ok(modified)
    }

    /// Frees all inputs without checking them.
    fn clear(&self) {
        self.inputs.take();
    }
}

impl Input {
    fn modified(&self) -> Result<Option<ModifiedInput>> {
        let now = self.slice.as_host_vec()?;
        let modified = compare_elements(&now, &self.before, self.element);
        Ok(modified.map(|(count, first)| ModifiedInput {
            name: self.name.clone(),
            count,
            first,
        }))
    }
}

/// Returns the number of differing elements and the index of the first; `None` if there are none.
fn compare_elements(now: &[u8], before: &[u8], element: usize) -> Option<(usize, usize)> {
    if now == before {
        return None;
    }
    let pairs = now.chunks(element).zip(before.chunks(element));
    let mut differing = pairs.enumerate().filter(|(_, (now, before))| now != before);
    let (first, _) = differing.next()?;
    Some((1 + differing.count(), first))
}

/// A loaded module, either the submission's or the course's own.
pub struct Code {
    module: Module,
    /// The optional variables that the host side looked for in vain.
    absent: RefCell<BTreeSet<String>>,
}

impl Code {
    /// Wraps a module.
    pub fn new(module: Module) -> Code {
        Code {
            module,
            absent: RefCell::default(),
        }
    }

    /// Returns a kernel.
    ///
    /// # Errors
    ///
    /// Fails with [`Missing::Kernel`] if there is no kernel with this name.
    pub fn kernel(&self, name: &str) -> Result<Function<'_>> {
        let function = self.module.get_function(name);
        function.map_err(|_| Missing::Kernel(name.to_owned()).into())
    }

    /// Returns true if there is a variable with this name.
    ///
    /// # Errors
    ///
    /// Fails if the name contains a NUL byte.
    pub fn has_variable(&self, name: &str) -> Result<bool> {
        let c_name = CString::new(name)?;
        let is_present = common::module::symbol_address(&self.module, &c_name).is_ok();
        if !is_present {
            self.absent.borrow_mut().insert(name.to_owned());
        }
        Ok(is_present)
    }

    /// Returns the optional variables that the host side looked for in vain.
    pub fn absent_variables(&self) -> BTreeSet<String> {
        self.absent.borrow().clone()
    }

    /// Reads an `extern "C"` `__device__` or `__constant__` array of `len` elements.
    ///
    /// # Errors
    ///
    /// Fails if there is no variable with this name and length.
    pub fn variable<T: Element>(&self, name: &str, len: usize) -> Result<Vec<T>> {
        let mut values = vec![T::default(); len];
        self.variable_memory(name, len)?.copy_to(&mut values)?;
        Ok(values)
    }

    /// Copies values to a variable of exactly their length, like `cudaMemcpyToSymbol`.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::variable`] does.
    pub fn set_variable<T: DeviceCopy>(&self, name: &str, values: &[T]) -> Result<()> {
        Ok(self
            .variable_memory(name, values.len())?
            .copy_from(values)?)
    }

    /// Returns the memory of a variable.
    pub(crate) fn variable_memory<T: DeviceCopy>(
        &self,
        name: &str,
        len: usize,
    ) -> Result<DeviceSlice<T>> {
        let c_name = CString::new(name)?;
        let variable = common::module::symbol_address(&self.module, &c_name);
        let (address, bytes) = variable.map_err(|_| Missing::Variable(name.to_owned()))?;
        let expected = len * size_of::<T>();
        if bytes != expected {
            let name = name.to_owned();
            return Err(Missing::Length {
                name,
                bytes,
                expected,
            }
            .into());
        }
        // SAFETY: the driver reported `bytes` bytes at `address`, the size of `len` elements, for which any
        // bit pattern is valid. A slice, unlike a buffer, does not free the module's memory.
        Ok(unsafe { DeviceSlice::from_raw_parts(address.cast::<T>(), len) })
    }
}

/// A kernel or variable that a submission must have but lacks.
#[derive(Debug, Error)]
pub enum Missing {
    /// There is no kernel with this name.
    #[error("there is no kernel {0}")]
    Kernel(String),
    /// There is no variable with this name.
    #[error("there is no variable {0}")]
    Variable(String),
    /// The variable has another size.
    #[error("the variable {name} has {bytes} bytes instead of {expected}")]
    Length {
        /// The variable's name.
        name: String,
        /// The actual size in bytes.
        bytes: usize,
        /// The required size in bytes.
        expected: usize,
    },
}

#[cfg(test)]
mod tests {
    use common::module;
    use cust::launch;

    use super::*;

    const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .global .align 4 .u32 weights[4];
.visible .entry scribble(.param .u64 place) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [place];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1+4], %r1;
    ret;
}
.visible .entry turn() {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    mov.u64 %rd1, weights;
    mov.u32 %r1, 7;
    st.global.u32 [%rd1+8], %r1;
    ret;
}
";

    const VALUES: [u32; 4] = [1, 2, 3, 4];

    /// A host side that calls a function.
    struct RunFunction(fn(&Bench) -> Result<()>);

    impl Host for RunFunction {
        fn run(&self, bench: &Bench, _case: &Case) -> Result<Vec<Output>> {
            (self.0)(bench)?;
            bench.gpu.stream.synchronize()?;
            Ok(Vec::new())
        }
    }

    fn bench() -> Bench {
        let gpu = Gpu::open().unwrap();
        let start_code = || module::load(PTX);
        Bench::new(module::load(PTX).unwrap(), gpu).with_start_code(start_code)
    }

    fn modified(f: fn(&Bench) -> Result<()>) -> Option<(String, usize, usize)> {
        let size = vec![1];
        let case = Case { size, seed: 1 };
        let result = bench().run(&RunFunction(f), &case).unwrap();
        result
            .modified
            .map(|input| (input.name, input.count, input.first))
    }

    /// Writes to the second element of a buffer.
    fn scribble(bench: &Bench, buffer: cust::memory::DevicePointer<u32>) -> Result<()> {
        let kernel = bench.submission.kernel("scribble")?;
        let stream = &bench.gpu.stream;
        // SAFETY: every caller passes a buffer of four elements, and the kernel writes the second one.
        Ok(unsafe { launch!(kernel<<<1, 1, 0, stream>>>(buffer)) }?)
    }

    fn turn(bench: &Bench, code: &Code) -> Result<()> {
        let kernel = code.kernel("turn")?;
        let stream = &bench.gpu.stream;
        // SAFETY: the kernel takes no arguments and writes only to its module's variable.
        Ok(unsafe { launch!(kernel<<<1, 1, 0, stream>>>()) }?)
    }

    #[test]
    fn modified_inputs_are_reported() {
        let modified_input = modified(|bench| {
            bench.input("other", &VALUES)?;
            scribble(bench, bench.input("in", &VALUES)?.as_device_ptr())
        });
        assert_eq!(modified_input, Some(("in".to_owned(), 1, 1)));
        let modified_input = modified(|bench| {
            bench.input("in", &VALUES)?;
            let out = bench.output::<u32>(4)?;
            scribble(bench, out.as_device_ptr())?;
            Ok(bench.gpu.stream.synchronize()?)
        });
        assert_eq!(modified_input, None);
    }

    #[test]
    fn row_padding_belongs_to_the_input() {
        let modified_input = modified(|bench| {
            let rows = bench.pitched_input("matrix", &VALUES, [1, 4, 1])?;
            scribble(bench, rows.as_device_ptr())
        });
        assert_eq!(modified_input, Some(("matrix".to_owned(), 1, 1)));
    }

    #[test]
    fn variables_can_be_inputs() {
        let modified_input = modified(|bench| {
            bench.input_variable("weights", &VALUES)?;
            turn(bench, &bench.submission)
        });
        assert_eq!(modified_input, Some(("weights".to_owned(), 1, 2)));
        let modified_input = modified(|bench| {
            bench.submission.set_variable("weights", &VALUES)?;
            turn(bench, &bench.submission)?;
            assert_eq!(
                bench.submission.variable::<u32>("weights", 4)?,
                [1, 2, 7, 4]
            );
            Ok(())
        });
        assert_eq!(modified_input, None);
    }

    #[test]
    fn start_code_has_separate_variables() {
        let modified_input = modified(|bench| {
            bench.input_variable("weights", &VALUES)?;
            bench.uncounted(|| turn(bench, bench.start_code()?))
        });
        assert_eq!(modified_input, None);
    }

    #[test]
    fn differing_elements_are_counted() {
        let before = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(compare_elements(&before, &before, 4), None);
        let mut now = before;
        now[5] = 0;
        now[6] = 0;
        assert_eq!(compare_elements(&now, &before, 4), Some((1, 1)));
        assert_eq!(compare_elements(&now, &before, 1), Some((2, 5)));
    }
}
