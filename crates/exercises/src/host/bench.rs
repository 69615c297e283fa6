//! The GPU or simulator with a module, and what a host side asks of them.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};
use common::Gpu;
use common::timing::{self, Timing};
use cuda_driver::{LaunchRecord, Traced};
use cust::error::CudaResult;
use cust::function::Function;
use cust::memory::bytemuck::Pod;
use cust::memory::{DeviceBuffer, DeviceCopy, DeviceSlice};
use cust::module::Module;
use matmul_pitched::pitched::PitchedBuffer;

use super::inputs::Inputs;
use super::{Case, Changed, Code, Element, Host, Output, Place};

/// Loads the course's own kernels.
type Ours = Box<dyn Fn() -> Result<Module>>;

/// The opened GPU or simulator with the student's module.
pub struct Bench {
    /// The module, from the student's file. First here, because it must go before its context.
    pub(crate) answer: Code,
    /// The course's own kernels, when they have been asked for.
    ours: OnceCell<Code>,
    /// What they are loaded with.
    load_ours: Option<Ours>,
    /// What the solution is loaded with.
    load_solution: Option<Ours>,
    /// What kernels are to read and not to write.
    inputs: Inputs,
    /// Launches that count, so far.
    launches: RefCell<Vec<LaunchRecord>>,
    /// What they told of their accesses, where that is asked.
    traces: RefCell<Vec<(String, Vec<Traced>)>>,
    /// The GPU, with the stream to launch on.
    pub gpu: Gpu,
    /// Samples to take of the time of a launch; 0 where only results count.
    samples: Cell<u32>,
    /// That time, when it has been taken.
    time: Cell<Option<Timing>>,
}

/// What came of a run.
pub struct Ran {
    /// Its outputs, beside their references.
    pub outputs: Vec<Output>,
    /// An input that the kernel wrote to.
    pub changed: Option<Changed>,
    /// Where inputs were that are variables of the answer's.
    pub variables: Vec<Place>,
}

impl Bench {
    /// One with this module.
    pub fn new(module: Module, gpu: Gpu) -> Bench {
        Bench {
            answer: Code::new(module),
            ours: OnceCell::new(),
            load_ours: None,
            load_solution: None,
            inputs: Inputs::default(),
            launches: RefCell::default(),
            traces: RefCell::default(),
            gpu,
            samples: Cell::new(0),
            time: Cell::new(None),
        }
    }

    /// The same, and the course's own kernels are loaded in this way.
    pub fn with_ours(self, load: impl Fn() -> Result<Module> + 'static) -> Bench {
        Bench {
            load_ours: Some(Box::new(load)),
            ..self
        }
    }

    /// The same, and the solution is loaded in this way.
    pub fn with_solution(self, load: impl Fn() -> Result<Module> + 'static) -> Bench {
        Bench {
            load_solution: Some(Box::new(load)),
            ..self
        }
    }

    /// Another module in place of the student's.
    pub fn replace(&mut self, module: Module) {
        self.answer = Code::new(module);
    }

    /// Runs a host side at a size.
    ///
    /// # Errors
    ///
    /// Those of the host side.
    pub fn run(&self, host: &dyn Host, case: &Case) -> Result<Ran> {
        self.take_launches();
        let ran = host.run(self, case);
        if ran.is_err() {
            self.inputs.forget();
        }
        let outputs = ran?;
        let variables = self.inputs.variables();
        let changed = self.inputs.end()?;
        Ok(Ran {
            outputs,
            changed,
            variables,
        })
    }

    /// Launches what an exercise may be timed by: once, or as often as its time takes where that is
    /// asked. Memory that it reads and writes is then no longer what a single launch makes of it.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn launch(&self, mut launch: impl FnMut() -> CudaResult<()>) -> Result<()> {
        match self.samples.get() {
            0 => Ok(launch()?),
            samples => {
                let events = timing::events(&self.gpu.stream)?;
                let clock = self.gpu.info.time;
                let measured = events.measure(clock, samples, || Ok(launch()?))?;
                self.time.set(Some(measured.timing));
                Ok(())
            }
        }
    }

    /// Runs a host side for the time of its [launch](Self::launch): milliseconds, the median of so many
    /// samples after warming up.
    ///
    /// # Errors
    ///
    /// Those of the host side, and where it launches nothing in this way.
    pub fn milliseconds(&self, host: &dyn Host, case: &Case, samples: u32) -> Result<f64> {
        self.samples.set(samples.max(1));
        let ran = self.run(host, case);
        self.samples.set(0);
        let time = self.time.take();
        ran?;
        let time = time.context("the host side has nothing that is timed: see Bench::launch")?;
        Ok(time.median_ms)
    }

    /// A kernel of the student's.
    ///
    /// # Errors
    ///
    /// [`Missing::Kernel`](super::Missing::Kernel) where there is none of this name.
    pub fn kernel(&self, name: &str) -> Result<Function<'_>> {
        self.answer.kernel(name)
    }

    /// The course's own kernels and variables: those of the start file, whatever the student made of
    /// it.
    ///
    /// # Errors
    ///
    /// Where they do not load, which is no fault of the student's.
    pub fn ours(&self) -> Result<&Code> {
        if let Some(ours) = self.ours.get() {
            return Ok(ours);
        }
        let load = self.load_ours.as_ref();
        let load = load.context("the course has no kernels of its own here")?;
        let ours = Code::new(load()?);
        Ok(self.ours.get_or_init(|| ours))
    }

    /// The solution, loaded anew: what it makes of the inputs is the reference where no other is given.
    ///
    /// # Errors
    ///
    /// Where it does not load, which is no fault of the student's.
    pub fn solution(&self) -> Result<Code> {
        let load = self.load_solution.as_ref();
        let load = load.context("there is no solution here")?;
        Ok(Code::new(load()?))
    }

    /// Does what is no part of the answer, such as launches of [`Self::ours`]: it enters neither the
    /// counters nor the time.
    ///
    /// # Errors
    ///
    /// Those of what is done.
    pub fn uncounted<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = (self.take_launches(), self.take_traces());
        let done = work();
        cuda_driver::take_launches();
        cuda_driver::take_traces();
        *self.launches.borrow_mut() = before.0;
        *self.traces.borrow_mut() = before.1;
        done
    }

    /// Launches since this was last asked, where they are kept; none of those that do not count.
    pub fn take_launches(&self) -> Vec<LaunchRecord> {
        let mut launches = self.launches.take();
        launches.extend(cuda_driver::take_launches());
        launches
    }

    /// Gives back launches that were taken, to be taken again.
    pub fn put_back(&self, launches: Vec<LaunchRecord>) {
        *self.launches.borrow_mut() = launches;
    }

    /// What launches told of their accesses since this was last asked, each with its kernel's name: see
    /// [`cuda_driver::trace`].
    pub fn take_traces(&self) -> Vec<(String, Vec<Traced>)> {
        let mut traces = self.traces.take();
        traces.extend(cuda_driver::take_traces());
        traces
    }

    /// Memory for an output of the kernel, filled so that what it does not write shows.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn output<T: Element>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        Ok(DeviceBuffer::from_slice(&vec![T::poison(); len])?)
    }

    /// Memory with values that the kernel reads. It must not write there: the grader compares. The
    /// memory stays until the host side is done.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn input<T: DeviceCopy + 'static>(
        &self,
        name: &str,
        values: &[T],
    ) -> Result<DeviceSlice<T>> {
        let buffer = DeviceBuffer::from_slice(values)?;
        let slice = *buffer;
        let (start, bytes) = (slice.as_device_ptr(), size_of_val(values));
        let memory = Some(Box::new(buffer) as _);
        self.inputs.keep(name, start, bytes, memory)?;
        Ok(slice)
    }

    /// The same in pitched memory, width, height and depth of which are `size`: also what is behind the
    /// rows has to stay as it is.
    ///
    /// # Errors
    ///
    /// CUDA's own, and where these are not so many values.
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
        self.inputs.keep(name, start, bytes, memory)?;
        Ok(buffer)
    }

    /// Whether the student's file has a variable of this name.
    ///
    /// # Errors
    ///
    /// Where it is no name.
    pub fn has_variable(&self, name: &str) -> Result<bool> {
        self.answer.has_variable(name)
    }

    /// What a `__device__` or `__constant__` variable of the student's holds, `extern "C"`, an array of
    /// `len` elements.
    ///
    /// # Errors
    ///
    /// Where there is none of this name and length.
    pub fn variable<T: Element>(&self, name: &str, len: usize) -> Result<Vec<T>> {
        self.answer.variable(name, len)
    }

    /// Copies values to such a variable, which is as long as they are: `cudaMemcpyToSymbol`. What the
    /// kernel is to read and not to write is an [`Self::input_variable`].
    ///
    /// # Errors
    ///
    /// As [`Self::variable`].
    pub fn set_variable<T: DeviceCopy>(&self, name: &str, values: &[T]) -> Result<()> {
        self.answer.set_variable(name, values)
    }

    /// The same for a variable that the kernel reads. It must not write there: the grader compares.
    /// Once in a run for each name.
    ///
    /// # Errors
    ///
    /// As [`Self::variable`].
    pub fn input_variable<T: DeviceCopy>(&self, name: &str, values: &[T]) -> Result<()> {
        self.set_variable(name, values)?;
        let place = self.answer.place::<T>(name, values.len())?;
        let (start, bytes) = (place.as_device_ptr(), size_of_val(values));
        self.inputs.keep(name, start, bytes, None)
    }

    /// What the last launch counted, by Nsight Compute's name for the counter; `None` on a GPU, which
    /// takes a profiler for it.
    ///
    /// # Errors
    ///
    /// Where there is no such counter.
    pub fn counted(&self, counter: &str) -> Result<Option<u64>> {
        let Some(profile) = cuda_driver::last_launch().and_then(|launch| launch.profile) else {
            return Ok(None);
        };
        match profile.metric(counter) {
            Some(value) => Ok(Some(value)),
            None => bail!("there is no counter {counter}"),
        }
    }
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

    /// A host side that does this.
    struct Does(fn(&Bench) -> Result<()>);

    impl Host for Does {
        fn run(&self, bench: &Bench, _case: &Case) -> Result<Vec<Output>> {
            (self.0)(bench)?;
            bench.gpu.stream.synchronize()?;
            Ok(Vec::new())
        }
    }

    fn bench() -> Bench {
        let gpu = Gpu::open().unwrap();
        let ours = || module::load(PTX);
        Bench::new(module::load(PTX).unwrap(), gpu).with_ours(ours)
    }

    fn changed(does: fn(&Bench) -> Result<()>) -> Option<(String, usize, usize)> {
        let size = vec![1];
        let case = Case { size, seed: 1 };
        let ran = bench().run(&Does(does), &case).unwrap();
        ran.changed.map(|it| (it.name, it.many, it.first))
    }

    /// Writes to the second number at a place.
    fn scribble(bench: &Bench, place: cust::memory::DevicePointer<u32>) -> Result<()> {
        let kernel = bench.kernel("scribble")?;
        let stream = &bench.gpu.stream;
        // SAFETY: the place has two numbers at least.
        Ok(unsafe { launch!(kernel<<<1, 1, 0, stream>>>(place)) }?)
    }

    fn turn(bench: &Bench, code: &Code) -> Result<()> {
        let kernel = code.kernel("turn")?;
        let stream = &bench.gpu.stream;
        // SAFETY: it takes nothing and writes to its own variable.
        Ok(unsafe { launch!(kernel<<<1, 1, 0, stream>>>()) }?)
    }

    #[test]
    fn an_input_that_is_written_to_is_told() {
        let wrote = changed(|bench| {
            bench.input("other", &VALUES)?;
            scribble(bench, bench.input("in", &VALUES)?.as_device_ptr())
        });
        assert_eq!(wrote, Some(("in".to_owned(), 1, 1)));
        let only_read = changed(|bench| {
            bench.input("in", &VALUES)?;
            let out = bench.output::<u32>(4)?;
            scribble(bench, out.as_device_ptr())?;
            Ok(bench.gpu.stream.synchronize()?)
        });
        assert_eq!(only_read, None);
    }

    #[test]
    fn what_is_behind_the_rows_belongs_to_the_input() {
        let wrote = changed(|bench| {
            let rows = bench.pitched_input("matrix", &VALUES, [1, 4, 1])?;
            scribble(bench, rows.as_device_ptr())
        });
        assert_eq!(wrote, Some(("matrix".to_owned(), 1, 1)));
    }

    #[test]
    fn a_variable_may_be_an_input() {
        let wrote = changed(|bench| {
            bench.input_variable("weights", &VALUES)?;
            turn(bench, &bench.answer)
        });
        assert_eq!(wrote, Some(("weights".to_owned(), 1, 2)));
        let result = changed(|bench| {
            bench.set_variable("weights", &VALUES)?;
            turn(bench, &bench.answer)?;
            assert_eq!(bench.variable::<u32>("weights", 4)?, [1, 2, 7, 4]);
            Ok(())
        });
        assert_eq!(result, None);
    }

    #[test]
    fn our_kernels_have_variables_of_their_own() {
        let ours = changed(|bench| {
            bench.input_variable("weights", &VALUES)?;
            bench.uncounted(|| turn(bench, bench.ours()?))
        });
        assert_eq!(ours, None);
    }
}
