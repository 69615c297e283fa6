//! The report in machine-readable formats. All contain the same [`Problem`]s.

mod github;
mod junit;
mod paths;
mod sarif;

use anyhow::Result;
use common::gpu::GpuInfo;
use telemetry::record::{Record, Run};
use telemetry::{Problem, Rule, Summary};

use crate::flags::{Flags, Format};

/// The report on a run.
pub struct Report<'a> {
    pub flags: &'a Flags,
    pub gpu: &'a GpuInfo,
    pub summary: &'a Summary,
    pub problems: &'a [Problem],
    /// The exit status of cuda-run.
    pub status: i32,
    pub run: &'a Run,
}

impl Report<'_> {
    /// Formats the report.
    ///
    /// # Errors
    ///
    /// Fails if the text format is requested, which is printed elsewhere, or if the record cannot be serialized.
    pub fn format(&self, format: Format) -> Result<String> {
        match format {
            Format::Text => anyhow::bail!("the report in text is printed as it is"),
            Format::Json => {
                let report = &self.flags.show.report;
                let requested = (report.profile, report.check);
                let record =
                    Record::new(self.run, self.gpu, requested, self.summary, self.problems);
                Ok(serde_json::to_string_pretty(&record)? + "\n")
            }
            Format::Sarif => Ok(serde_json::to_string_pretty(&sarif::log(self))? + "\n"),
            Format::Junit => Ok(junit::document(self)),
            Format::Github => Ok(github::commands(self)),
        }
    }
}

/// Returns the title of a problem's kind.
fn title(rules: &[Rule], problem: &Problem) -> String {
    let rule = rules.iter().find(|rule| rule.name == problem.kind);
    rule.map_or_else(|| problem.headline().to_owned(), |rule| rule.title.clone())
}
