//! What a host side is written with: cases, buffers that show what was not written, references.

use std::cell::Cell;
use std::ffi::CString;

use anyhow::{Context as _, Result, bail, ensure};
use common::Gpu;
use common::timing::{self, Timing};
use common::verify::POISON;
use cust::error::CudaResult;
use cust::function::Function;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy, DeviceSlice};
use cust::module::Module;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use thiserror::Error;

/// The host side of an exercise: what a program that uses the student's kernel does.
pub trait Host: Sync {
    /// Runs it once at a size and says what came out and what should have.
    ///
    /// # Errors
    ///
    /// CUDA's own, such as those of a kernel that failed.
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>>;

    /// Bytes that a launch at this size has to move at least, for a target `share_of_limit`.
    fn bytes(&self, _case: &Case) -> u64 {
        0
    }
}

/// A size and a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// One to three numbers, x first.
    pub size: Vec<u32>,
    /// What its inputs are drawn from.
    pub seed: u64,
}

impl Case {
    /// Its first number.
    pub fn n(&self) -> usize {
        self.at(0)
    }

    /// Along x: the first number.
    pub fn width(&self) -> usize {
        self.at(0)
    }

    /// Along y: the second number, 1 where there is none.
    pub fn height(&self) -> usize {
        self.at(1)
    }

    /// Along z: the third number, 1 where there is none.
    pub fn depth(&self) -> usize {
        self.at(2)
    }

    fn at(&self, dimension: usize) -> usize {
        self.size.get(dimension).map_or(1, |&size| size as usize)
    }

    /// Random numbers of this case.
    pub fn random(&self) -> Pcg32 {
        Pcg32::seed_from_u64(self.seed)
    }

    /// Others for each `stream`.
    fn stream(&self, stream: u64) -> Pcg32 {
        let mut random = Pcg32::seed_from_u64(stream);
        Pcg32::seed_from_u64(self.seed ^ random.next_u64())
    }

    /// So many floats in [-1, 1); another `stream` gives others.
    pub fn floats(&self, stream: u64, len: usize) -> Vec<f32> {
        let mut random = self.stream(stream);
        // 24 bits, as many as a float holds exactly.
        let unit = |bits: u32| (bits >> 8) as f32 / (1 << 23) as f32 - 1.0;
        (0..len).map(|_| unit(random.next_u32())).collect()
    }

    /// So many whole numbers from 0 up to, and without, `below`.
    pub fn integers(&self, stream: u64, len: usize, below: u32) -> Vec<u32> {
        let mut random = self.stream(stream);
        (0..len)
            .map(|_| ((u64::from(random.next_u32()) * u64::from(below)) >> 32) as u32)
            .collect()
    }
}

/// The opened GPU or simulator with the student's module.
pub struct Bench {
    /// The module, from the student's file. First here, because it must go before its context.
    pub module: Module,
    /// The GPU, with the stream to launch on.
    pub gpu: Gpu,
    /// Samples to take of the time of a launch; 0 where only results count.
    samples: Cell<u32>,
    /// That time, when it has been taken.
    time: Cell<Option<Timing>>,
}

impl Bench {
    /// One with this module.
    pub fn new(module: Module, gpu: Gpu) -> Bench {
        Bench {
            module,
            gpu,
            samples: Cell::new(0),
            time: Cell::new(None),
        }
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
        let ran = host.run(self, case);
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
    /// [`Missing::Kernel`] where there is none of this name.
    pub fn kernel(&self, name: &str) -> Result<Function<'_>> {
        let found = self.module.get_function(name);
        found.map_err(|_| Missing::Kernel(name.to_owned()).into())
    }

    /// Memory for an output of the kernel, filled so that what it does not write shows.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn output<T: Element>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        Ok(DeviceBuffer::from_slice(&vec![T::poison(); len])?)
    }

    /// What a `__device__` or `__constant__` variable of the student's holds, `extern "C"`, an array of
    /// `len` elements.
    ///
    /// # Errors
    ///
    /// Where there is none of this name and length.
    pub fn variable<T: Element>(&self, name: &str, len: usize) -> Result<Vec<T>> {
        let mut values = vec![T::default(); len];
        self.place(name, len)?.copy_to(&mut values)?;
        Ok(values)
    }

    /// Copies values to such a variable, which is as long as they are: `cudaMemcpyToSymbol`.
    ///
    /// # Errors
    ///
    /// As [`Self::variable`].
    pub fn set_variable<T: DeviceCopy>(&self, name: &str, values: &[T]) -> Result<()> {
        Ok(self.place(name, values.len())?.copy_from(values)?)
    }

    /// Where a variable lies.
    fn place<T: DeviceCopy>(&self, name: &str, len: usize) -> Result<DeviceSlice<T>> {
        let c_name = CString::new(name)?;
        let place = common::module::place(&self.module, &c_name);
        let (address, bytes) = place.map_err(|_| Missing::Variable(name.to_owned()))?;
        let wanted = len * size_of::<T>();
        if bytes != wanted {
            let name = name.to_owned();
            return Err(Missing::Length {
                name,
                bytes,
                wanted,
            }
            .into());
        }
        // SAFETY: the driver said that so many bytes lie there; any bits are an element. The slice does
        // not free them, unlike a buffer.
        Ok(unsafe { DeviceSlice::from_raw_parts(address.cast::<T>(), len) })
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

/// What a student's file has to have and has not.
#[derive(Debug, Error)]
pub enum Missing {
    /// A kernel of this name.
    #[error("there is no kernel {0}")]
    Kernel(String),
    /// A variable of this name.
    #[error("there is no variable {0}")]
    Variable(String),
    /// A variable of this length.
    #[error("the variable {name} has {bytes} bytes, and should have {wanted}")]
    Length {
        /// Its name.
        name: String,
        /// Its bytes.
        bytes: usize,
        /// Those it should have.
        wanted: usize,
    },
}

/// An output and its reference.
#[derive(Clone, Debug)]
pub struct Output {
    /// What it is called where something is wrong with it.
    pub name: &'static str,
    /// Its lengths, outermost first: rows, then columns.
    pub shape: Vec<usize>,
    /// What came out.
    pub got: Values,
    /// What should have.
    pub expected: Values,
    /// Whether what should have come out is for the student to find out, and not to be shown.
    pub secret: bool,
}

impl Output {
    /// What is in a buffer, beside its reference.
    ///
    /// # Errors
    ///
    /// CUDA's own, such as those of a kernel that failed.
    pub fn new<T: Element>(
        name: &'static str,
        shape: &[usize],
        got: &DeviceBuffer<T>,
        expected: Vec<T>,
    ) -> Result<Output> {
        let mut values = vec![T::default(); got.len()];
        got.copy_to(&mut values)?;
        Output::of(name, shape, values, expected)
    }

    /// What a host has already, beside its reference.
    ///
    /// # Errors
    ///
    /// Where lengths and shape differ, which would be the host side's mistake.
    pub fn of<T: Element>(
        name: &'static str,
        shape: &[usize],
        got: Vec<T>,
        expected: Vec<T>,
    ) -> Result<Output> {
        let len = shape.iter().product::<usize>();
        ensure!(
            got.len() == len && expected.len() == len,
            "{name}: {} and {} elements in the shape {shape:?}",
            got.len(),
            expected.len()
        );
        Ok(Output {
            name,
            shape: shape.to_vec(),
            got: T::values(got),
            expected: T::values(expected),
            secret: false,
        })
    }

    /// The same, and nobody is told what should have come out.
    pub fn secret(self) -> Output {
        Output {
            secret: true,
            ..self
        }
    }
}

/// Elements of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `float`
    Floats(Vec<f32>),
    /// `int`
    Integers(Vec<i32>),
    /// `unsigned int`
    Unsigned(Vec<u32>),
}

/// What an output may be made of.
pub trait Element: DeviceCopy + Default {
    /// So many of them.
    fn values(elements: Vec<Self>) -> Values;

    /// What an element holds that nobody has written.
    fn poison() -> Self;
}

impl Element for f32 {
    fn values(elements: Vec<f32>) -> Values {
        Values::Floats(elements)
    }

    fn poison() -> f32 {
        f32::from_ne_bytes([POISON; 4])
    }
}

impl Element for i32 {
    fn values(elements: Vec<i32>) -> Values {
        Values::Integers(elements)
    }

    fn poison() -> i32 {
        i32::from_ne_bytes([POISON; 4])
    }
}

impl Element for u32 {
    fn values(elements: Vec<u32>) -> Values {
        Values::Unsigned(elements)
    }

    fn poison() -> u32 {
        u32::from_ne_bytes([POISON; 4])
    }
}
