//! One run of a chapter: the GPU it uses and the report on its results.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Error, Result};
use common::Gpu;
use common::error::{check, note};
use common::gpu::Clock;
use common::timing::{self, Measured};
use cust::stream::Stream;
use cust::sys::{self, CUstreamCaptureMode};
use serde::Serialize;

use crate::flags::CommonFlags;
use crate::ladder::Selection;
use crate::lang::Lang;
use crate::progress;
use crate::report::{Details, Entry, Extra, Limit, Report};

/// Pause before each sample of [`Chapter::measure_with_pauses`]: ten times as long as a sample, because a GPU
/// that is busy for a tenth of the time draws little power.
const PAUSE: Duration = Duration::from_millis(50);

/// Samples of [`Chapter::try_out`].
const TRIAL_SAMPLES: u32 = 3;

/// One run of a chapter.
pub struct Chapter {
    /// The GPU or the simulator that replaces it, with the stream to launch on.
    pub gpu: Gpu,
    flags: CommonFlags,
    report: RefCell<Report>,
    limit_of: RefCell<Option<LimitOf>>,
    in_graphs: Cell<bool>,
}

/// Returns the hardware limit of the variant with this name and these details.
type LimitOf = Box<dyn Fn(&str, &dyn Details) -> Option<Limit>>;

impl Chapter {
    /// Opens the GPU, prints its device line and starts the report. Speedups are relative to the variant
    /// named `baseline`.
    ///
    /// # Errors
    ///
    /// Fails where [`Gpu::open`] does.
    pub fn open(
        name: &'static str,
        flags: &CommonFlags,
        inputs: impl Serialize + 'static,
        baseline: &'static str,
    ) -> Result<Self> {
        let gpu = Gpu::open()?;
        note(&gpu.info);
        progress::enable();
        let report = Report::new(name, &gpu.info, flags, inputs, baseline);
        Ok(Chapter {
            gpu,
            flags: flags.clone(),
            report: report.into(),
            limit_of: None.into(),
            in_graphs: false.into(),
        })
    }

    /// Makes [`Self::measure`] time CUDA graphs on a GPU: the repetitions of a sample are captured once, and the
    /// GPU runs them without the host. A ladder needs this if a library is one of its limits, because a stream
    /// would measure the time that the library takes to enqueue its kernels: at 480×640×320, cuBLAS enqueues a
    /// product in 17 µs, and an H200 computes it in 12 µs.
    pub fn time_in_graphs(&self) {
        self.in_graphs.set(true);
    }

    /// Times `work`, which puts one launch or copy into the chapter's stream. `work` is repeated between two
    /// events until a sample is long enough. `label` starts the error message.
    ///
    /// # Errors
    ///
    /// Fails if `work` fails or CUDA reports an error; errors of an asynchronous kernel are reported here.
    pub fn measure<E: Into<Error>>(
        &self,
        label: &str,
        work: impl FnMut() -> Result<(), E>,
    ) -> Result<Measured> {
        self.measure_after(Duration::ZERO, self.flags.repeat, label, work)
    }

    /// Times `work`, which repeats itself as many times as its argument says and returns the milliseconds of
    /// all repetitions together: see [`timing::time`].
    ///
    /// # Errors
    ///
    /// Fails if `work` fails.
    pub fn sample(&self, label: &str, work: impl FnMut(u32) -> Result<f32>) -> Result<Measured> {
        self.samples(self.flags.repeat, label, work)
    }

    /// Times `work` like [`Self::measure`], but pauses before each sample on a GPU. Kernels that draw more
    /// power than the GPU sustains lower its clock after some hundredths of a second; with the pauses they
    /// are timed at the same clock as the others.
    ///
    /// # Errors
    ///
    /// Fails where [`Self::measure`] does.
    pub fn measure_with_pauses<E: Into<Error>>(
        &self,
        label: &str,
        work: impl FnMut() -> Result<(), E>,
    ) -> Result<Measured> {
        self.measure_after(PAUSE, self.flags.repeat, label, work)
    }

    /// Times `work` like [`Self::measure_with_pauses`], but takes only a few samples: enough to choose between
    /// several ways to do the same work.
    ///
    /// # Errors
    ///
    /// Fails where [`Self::measure`] does.
    pub fn try_out<E: Into<Error>>(
        &self,
        label: &str,
        work: impl FnMut() -> Result<(), E>,
    ) -> Result<Measured> {
        self.measure_after(PAUSE, TRIAL_SAMPLES, label, work)
    }

    /// Times `work` in `samples` samples and pauses before each of them on a GPU.
    fn measure_after<E: Into<Error>>(
        &self,
        pause: Duration,
        samples: u32,
        label: &str,
        mut work: impl FnMut() -> Result<(), E>,
    ) -> Result<Measured> {
        let stream = &self.gpu.stream;
        let is_measured = self.gpu.info.time == Clock::Measured;
        let events = timing::events(stream)?;
        let mut work = || work().map_err(Into::into);
        let mut graph: Option<Graph> = None;
        self.samples(samples, label, |times| {
            if is_measured {
                thread::sleep(pause);
            }
            if !(is_measured && self.in_graphs.get()) {
                return events.time(|| (0..times).try_for_each(|_| work()));
            }
            let captured = match graph.take() {
                Some(graph) if graph.times == times => graph,
                _ => Graph::capture(stream, times, &mut work)?,
            };
            events.time(|| graph.insert(captured).launch(stream))
        })
    }

    fn samples(
        &self,
        samples: u32,
        label: &str,
        work: impl FnMut(u32) -> Result<f32>,
    ) -> Result<Measured> {
        let measured = timing::time(self.gpu.info.time, samples, work);
        progress::clear_bar();
        measured.with_context(|| format!("{label} failed"))
    }

    /// Adds a result to the report and returns true if it is correct.
    pub fn add(&self, entry: Entry) -> bool {
        let is_correct = entry.is_correct();
        let mut report = self.report.borrow_mut();
        if let Some(limit_of) = &*self.limit_of.borrow() {
            let limit = limit_of(&entry.variant, &*entry.details);
            limit.into_iter().for_each(|limit| report.limit(limit));
        }
        report.add(entry);
        is_correct
    }

    /// Sets the hardware limit of the results that follow: see [`Report::limit`].
    pub fn limit(&self, limit: Limit) {
        self.report.borrow_mut().limit(limit);
    }

    /// Sets a function that returns the hardware limit of each result by its variant and details, for
    /// chapters whose results have different limits.
    pub fn limit_of<D: Details>(&self, limit_of: impl Fn(&str, &D) -> Limit + 'static) {
        *self.limit_of.borrow_mut() = Some(Box::new(move |variant, details| {
            let details: &dyn Any = details;
            Some(limit_of(variant, details.downcast_ref()?))
        }));
    }

    /// Sets the chapter's additional tables and record fields.
    pub fn extra(&self, extra: impl Extra + 'static) {
        self.report.borrow_mut().extra(extra);
    }

    /// Lists under the table the idea of each selected rung of the ladder. Returns true if the hardware
    /// limits should be measured: rungs were selected and launches are timed.
    pub fn with_ladder<C>(&self, selection: &Selection<C>) -> bool {
        self.report.borrow_mut().ideas(selection.ideas(self.lang()));
        selection.has_rungs() && self.flags.is_timed()
    }

    /// Returns the language of the tables and of the text under them.
    pub fn lang(&self) -> Lang {
        self.flags.lang()
    }

    /// Returns the number of samples per time: see [`CommonFlags::repeat`].
    pub fn repeat(&self) -> u32 {
        self.flags.repeat
    }

    /// Returns true if a result differs from its reference.
    pub fn is_wrong(&self) -> bool {
        self.report.borrow().is_wrong()
    }

    /// Prints the results and `words` under them: see [`Report::print`].
    ///
    /// # Errors
    ///
    /// Fails if standard output cannot be written to.
    pub fn print(&self, words: &str) -> Result<()> {
        self.report.borrow().print(words)
    }

    /// Returns the outcome of the run: see [`Report::verdict`].
    ///
    /// # Errors
    ///
    /// Fails if a variant's result is wrong or a check found an error.
    pub fn verdict(&self) -> Result<()> {
        self.report.borrow().verdict()
    }

    /// Prints the results and returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// Fails where [`Self::print`] or [`Self::verdict`] does.
    pub fn finish(&self, words: &str) -> Result<()> {
        self.print(words)?;
        self.verdict()
    }
}

/// Launches that were captured from a stream as a CUDA graph.
struct Graph {
    exec: sys::CUgraphExec,
    /// The number of calls that were captured.
    times: u32,
}

impl Graph {
    /// Captures `times` calls of `work`, which enqueues a launch in `stream`. Calls it once before, because the
    /// first launch of a kernel may load it, which cannot be captured.
    fn capture(stream: &Stream, times: u32, mut work: impl FnMut() -> Result<()>) -> Result<Graph> {
        work()?;
        stream.synchronize()?;
        let raw = stream.as_inner();
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        let (mut graph, mut exec) = (ptr::null_mut(), ptr::null_mut());
        // ANCHOR: capture
        // SAFETY: the stream exists, and nothing but `work` uses it until the capture ends.
        check(unsafe { sys::cuStreamBeginCapture_v2(raw, mode) })?;
        let captured = (0..times).try_for_each(|_| work());
        // SAFETY: `graph` is writable, and the stream is capturing; this ends the capture after an error too.
        let ended = check(unsafe { sys::cuStreamEndCapture(raw, &mut graph) });
        // ANCHOR_END: capture
        captured?;
        ended?;
        // SAFETY: `graph` was captured above and `exec` is writable; without a log, its size is 0.
        let instantiated = check(unsafe {
            sys::cuGraphInstantiate_v2(&mut exec, graph, ptr::null_mut(), ptr::null_mut(), 0)
        });
        // SAFETY: `graph` was captured above and is not used after this; `exec` does not need it.
        check(unsafe { sys::cuGraphDestroy(graph) })?;
        instantiated?;
        Ok(Graph { exec, times })
    }

    fn launch(&self, stream: &Stream) -> Result<()> {
        // SAFETY: the graph and the stream exist, and the buffers that its launches use outlive `work`.
        check(unsafe { sys::cuGraphLaunch(self.exec, stream.as_inner()) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: only this object owns the graph, and `time` has waited for its launches. An error is
        // ignored: it belongs to an earlier launch and has been reported there.
        let _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
    }
}
