//! The chapter's steps: each is timed, checked and added to the report.

use std::fmt::Debug;

use anyhow::{Context as _, Result};
use common::gpu::{Clock, Gpu};
use common::report::{Details, Report, or_dash};
use common::timing::{self, Events, Timing};
use common::verify::{POISON, Verdict, compare};
use cust::memory::bytemuck::{self, Pod};
use serde::Serialize;

use crate::flags::{Flags, Inputs, Part};
use crate::variable::Variable;

/// What the table says of a step beside its time: which bytes a copy copies, nothing for a kernel.
#[derive(Debug, Serialize)]
pub struct Copied {
    symbol: Option<String>,
    bytes: Option<u64>,
    offset: Option<u64>,
}

/// Takes the steps and keeps what comes of them.
pub struct Steps<'a> {
    clock: Clock,
    repeat: u32,
    events: Events<'a>,
    report: Report<Inputs, Copied>,
}

impl<'a> Steps<'a> {
    /// No steps so far, of which the last copy `part`. The copies' speeds will be relative to the
    /// one named `baseline`.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn new(gpu: &'a Gpu, flags: &Flags, part: Part, baseline: &'static str) -> Result<Self> {
        Ok(Steps {
            clock: gpu.info.time,
            repeat: flags.common.repeat,
            events: timing::events(&gpu.stream)?,
            report: Report::new(
                "device-symbols",
                &gpu.info,
                &flags.common,
                flags.inputs(part),
                baseline,
            ),
        })
    }

    /// Copies `values` to `symbol`, from byte `offset` on; then all of the symbol has to be right,
    /// what is around the part too.
    ///
    /// # Errors
    ///
    /// Where the part does not fit, and CUDA's own.
    pub fn to_symbol<T: Pod>(
        &mut self,
        step: &str,
        symbol: &mut Variable,
        values: &[T],
        offset: u64,
    ) -> Result<()> {
        let values = bytemuck::cast_slice::<T, u8>(values);
        symbol.copy_from(&vec![POISON; values.len()], offset)?;
        let mut expected = symbol.contents()?;
        expected[offset as usize..][..values.len()].copy_from_slice(values);

        let timing = self.time(step, || symbol.copy_from(values, offset))?;
        let check = compare(&symbol.contents()?, &expected, |got, want| got == want);
        let verdict = check.verdict(|index| format!("byte {index} of {}", symbol.name()));
        let copied = Copied::new(symbol, values.len(), offset);
        self.report.add(step, copied, timing, &verdict);
        Ok(())
    }

    /// Copies as many values as `expected` has from `symbol`, from byte `offset` on; they have to
    /// be those.
    ///
    /// # Errors
    ///
    /// Where the part does not fit, and CUDA's own.
    pub fn from_symbol<T: Pod + Debug + PartialEq>(
        &mut self,
        step: &str,
        symbol: &Variable,
        expected: &[T],
        offset: u64,
    ) -> Result<()> {
        let mut values = vec![T::zeroed(); expected.len()];
        bytemuck::cast_slice_mut::<T, u8>(&mut values).fill(POISON);

        let timing = self.time(step, || symbol.copy_to(&mut values, offset))?;
        let check = compare(&values, expected, |got, want| got == want);
        let verdict = check.verdict(|index| format!("element {index} from {}", symbol.name()));
        let copied = Copied::new(symbol, size_of_val(expected), offset);
        self.report.add(step, copied, timing, &verdict);
        Ok(())
    }

    /// Launches a kernel, and asks `check` what came of it.
    ///
    /// # Errors
    ///
    /// Those of `launch`, of `check`, and what the kernel did wrong.
    pub fn kernel(
        &mut self,
        name: &str,
        launch: impl FnMut() -> Result<()>,
        check: impl FnOnce() -> Result<Verdict>,
    ) -> Result<()> {
        let timing = self.time(name, launch)?;
        self.report
            .add_apart(name, Copied::NOTHING, timing, &check()?);
        Ok(())
    }

    /// The report on all steps.
    pub fn report(self) -> Report<Inputs, Copied> {
        self.report
    }

    /// Times `work`, which comes to the same however often it is done.
    fn time(&self, step: &str, work: impl FnMut() -> Result<()>) -> Result<Timing> {
        self.events
            .timing(self.clock, self.repeat, work)
            .with_context(|| format!("{step} failed"))
    }
}

impl Copied {
    const NOTHING: Copied = Copied {
        symbol: None,
        bytes: None,
        offset: None,
    };

    fn new(symbol: &Variable, bytes: usize, offset: u64) -> Self {
        Copied {
            symbol: Some(symbol.name().to_owned()),
            bytes: Some(bytes as u64),
            offset: Some(offset),
        }
    }
}

impl Details for Copied {
    const COLUMNS: &'static [&'static str] = &["symbol", "bytes", "offset"];

    fn cells(&self) -> Vec<String> {
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        [self.symbol.clone(), number(self.bytes), number(self.offset)]
            .map(or_dash)
            .to_vec()
    }
}
