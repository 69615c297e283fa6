//! A chapter's run: the GPU that it is on, and the report on what comes of it.

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
use crate::ladder::Chosen;
use crate::progress;
use crate::report::{Details, Entry, Extra, Limit, Report};

/// Ten times a sample: a GPU that is busy for a tenth of the time draws little power.
const PAUSE: Duration = Duration::from_millis(50);

/// A chapter's run.
pub struct Chapter {
    /// The GPU, or the simulator in its place, with the stream to launch on.
    pub gpu: Gpu,
    flags: CommonFlags,
    report: RefCell<Report>,
    limit_of: RefCell<Option<LimitOf>>,
}

/// What the hardware allows for a variant of this name and with these details.
type LimitOf = Box<dyn Fn(&str, &dyn Details) -> Option<Limit>>;

impl Chapter {
    /// Opens the GPU, says which it is, and begins the report. Speeds will be relative to the
    /// variant named `baseline`.
    ///
    /// # Errors
    ///
    /// As [`Gpu::open`].
    pub fn open(
        name: &'static str,
        flags: &CommonFlags,
        inputs: impl Serialize + 'static,
        baseline: &'static str,
    ) -> Result<Self> {
        let gpu = Gpu::open()?;
        note(&gpu.info);
        progress::show();
        let report = Report::new(name, &gpu.info, flags, inputs, baseline);
        Ok(Chapter {
            gpu,
            flags: flags.clone(),
            report: report.into(),
            limit_of: None.into(),
        })
    }

    /// Times `work`, which puts a launch or a copy into the chapter's stream: between two events it
    /// is done as often as a good sample takes. (`label` is what an error begins with.)
    ///
    /// # Errors
    ///
    /// Those of `work`, and CUDA's: a kernel that failed shows here.
    pub fn measure<E: Into<Error>>(
        &self,
        label: &str,
        work: impl FnMut() -> Result<(), E>,
    ) -> Result<Measured> {
        self.after(Duration::ZERO, label, work)
    }

    /// Times `work`, which does the same as many times as it is told and returns the milliseconds
    /// of all together: see [`timing::time`].
    ///
    /// # Errors
    ///
    /// Those of `work`.
    pub fn sample(&self, label: &str, work: impl FnMut(u32) -> Result<f32>) -> Result<Measured> {
        let measured = timing::time(self.gpu.info.time, self.flags.repeat, work);
        progress::settle();
        measured.with_context(|| format!("{label} failed"))
    }

    /// Times `work` as [`Self::measure`] does, on a GPU with a pause before each sample: for kernels
    /// that draw more power than it may for long, which lowers its clock after some hundredths of a
    /// second. This way they are timed at the clock of the others.
    ///
    /// # Errors
    ///
    /// As [`Self::measure`].
    pub fn paced<E: Into<Error>>(
        &self,
        label: &str,
        work: impl FnMut() -> Result<(), E>,
    ) -> Result<Measured> {
        match self.gpu.info.time {
            Clock::Measured => self.after(PAUSE, label, work),
            Clock::Modelled => self.after(Duration::ZERO, label, work),
        }
    }

    /// Times `work` between two events, each sample after a pause.
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

    /// Adds a result to the report; returns whether it is right.
    pub fn add(&self, entry: Entry) -> bool {
        let is_right = entry.is_right();
        let mut report = self.report.borrow_mut();
        if let Some(limit_of) = &*self.limit_of.borrow() {
            let limit = limit_of(&entry.variant, &*entry.details);
            limit.into_iter().for_each(|limit| report.limit(limit));
        }
        report.add(entry);
        is_right
    }

    /// Adds what the hardware allows, for the results from here on: see [`Report::limit`].
    pub fn limit(&self, limit: Limit) {
        self.report.borrow_mut().limit(limit);
    }

    /// Sets what the hardware allows for each result, by its variant and details, where that is not
    /// the same for all.
    pub fn limit_of<D: Details>(&self, limit_of: impl Fn(&str, &D) -> Limit + 'static) {
        *self.limit_of.borrow_mut() = Some(Box::new(move |variant, details| {
            let details: &dyn Any = details;
            Some(limit_of(variant, details.downcast_ref()?))
        }));
    }

    /// Sets what the chapter tells beside its results.
    pub fn beside(&self, extra: impl Extra + 'static) {
        self.report.borrow_mut().beside(extra);
    }

    /// Says under the table what each rung of the ladder adds, where one was chosen. Returns whether
    /// to measure what the hardware allows: then, unless nothing is timed.
    pub fn climbs<O>(&self, chosen: &Chosen<O>) -> bool {
        self.report.borrow_mut().ideas(chosen.ideas());
        chosen.climbs() && self.flags.is_timed()
    }

    /// How many samples a time is the median of: see [`CommonFlags::repeat`].
    pub fn repeat(&self) -> u32 {
        self.flags.repeat
    }

    /// Whether a result differs from its reference.
    pub fn is_wrong(&self) -> bool {
        self.report.borrow().is_wrong()
    }

    /// Prints the results, and `words` under them: see [`Report::print`].
    ///
    /// # Errors
    ///
    /// Where nothing can be written.
    pub fn print(&self, words: &str) -> Result<()> {
        self.report.borrow().print(words)
    }

    /// What the run comes to: see [`Report::verdict`].
    ///
    /// # Errors
    ///
    /// Where a variant is wrong, or a check found an error.
    pub fn verdict(&self) -> Result<()> {
        self.report.borrow().verdict()
    }

    /// Prints the results, and says what the run comes to.
    ///
    /// # Errors
    ///
    /// Those of [`Self::print`] and [`Self::verdict`].
    pub fn finish(&self, words: &str) -> Result<()> {
        self.print(words)?;
        self.verdict()
    }
}
