//! One run of a chapter: the GPU it uses and the report on its results.

use std::any::Any;
use std::cell::RefCell;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Error, Result};
use common::Gpu;
use common::error::note;
use common::gpu::Clock;
use common::timing::{self, Measured};
use serde::Serialize;

use crate::flags::CommonFlags;
use crate::ladder::Selection;
use crate::lang::Lang;
use crate::progress;
use crate::report::{Details, Entry, Extra, Limit, Report};

/// Pause before each sample of [`Chapter::measure_with_pauses`]: ten times as long as a sample, because a GPU
/// that is busy for a tenth of the time draws little power.
const PAUSE: Duration = Duration::from_millis(50);

/// One run of a chapter.
pub struct Chapter {
    /// The GPU or the simulator that replaces it, with the stream to launch on.
    pub gpu: Gpu,
    flags: CommonFlags,
    report: RefCell<Report>,
    limit_of: RefCell<Option<LimitOf>>,
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
        })
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
        self.after(Duration::ZERO, label, work)
    }

    /// Times `work`, which repeats itself as many times as its argument says and returns the milliseconds of
    /// all repetitions together: see [`timing::time`].
    ///
    /// # Errors
    ///
    /// Fails if `work` fails.
    pub fn sample(&self, label: &str, work: impl FnMut(u32) -> Result<f32>) -> Result<Measured> {
        let measured = timing::time(self.gpu.info.time, self.flags.repeat, work);
        progress::clear_bar();
        measured.with_context(|| format!("{label} failed"))
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
        match self.gpu.info.time {
            Clock::Measured => self.after(PAUSE, label, work),
            Clock::Modelled => self.after(Duration::ZERO, label, work),
        }
    }

    /// Times `work` between two events and pauses before each sample.
    fn after<E: Into<Error>>(
        &self,
        pause: Duration,
        label: &str,
        mut work: impl FnMut() -> Result<(), E>,
    ) -> Result<Measured> {
        let events = timing::events(&self.gpu.stream)?;
        self.sample(label, |times| {
            if !pause.is_zero() {
                thread::sleep(pause);
            }
            events.time(|| (0..times).try_for_each(|_| work().map_err(Into::into)))
        })
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
