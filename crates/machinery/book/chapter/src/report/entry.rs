//! Entries: the rows of a chapter's table of results.

use std::any::Any;

use common::timing::{Measured, Timing};
use common::verify::Verdict;
use cuda_driver::LaunchRecord;
use serde::{Serialize, Serializer};

use crate::flags::Detail;
use crate::lang::Lang;
use crate::profile;

/// The result of one variant: its time, its launch record, and whether its output is correct.
pub struct Entry {
    pub(crate) variant: String,
    pub(crate) details: Box<dyn Details>,
    pub(super) measured: Measured,
    pub(super) verdict: Verdict,
    pub(super) compared: bool,
    pub(super) limit_source: LimitSource,
}

/// The limit that a result is compared with.
pub(super) enum LimitSource {
    /// The last limit added to the report.
    Report,
    /// A limit for this result only, or none.
    Explicit(Option<Limit>),
}

impl Entry {
    /// Creates the result of a variant, to be compared with the report's baseline and limit.
    pub fn new(variant: &str, measured: Measured, verdict: Verdict) -> Self {
        Entry {
            variant: variant.to_owned(),
            details: Box::new(()),
            measured,
            verdict,
            compared: true,
            limit_source: LimitSource::Report,
        }
    }

    /// Adds the chapter's own columns and fields, computed from the measurement.
    pub fn with<D: Details>(self, details: impl FnOnce(&Measured) -> D) -> Self {
        Entry {
            details: Box::new(details(&self.measured)),
            ..self
        }
    }

    /// Returns true if the output matches its reference.
    pub fn is_correct(&self) -> bool {
        self.verdict.wrong.is_none()
    }

    /// Excludes the result from the comparison with the baseline, because it does different work.
    pub fn separate(self) -> Self {
        Entry {
            compared: false,
            ..self
        }
    }

    /// Replaces the report's limit for this result with `limit`; `None` if its limit is unknown.
    pub fn limit(self, limit: Option<Limit>) -> Self {
        Entry {
            limit_source: LimitSource::Explicit(limit),
            ..self
        }
    }
}

/// The chapter's own columns of a result. All results of a chapter have the same type of details.
pub trait Details: erased_serde::Serialize + Any {
    /// Returns the column heads.
    fn columns(&self, lang: Lang) -> &'static [&'static str];

    /// Returns one cell per column.
    fn cells(&self) -> Vec<String>;

    /// Returns the input that the variant ran on, such as `128000 sums, pseudo_random`, if the report runs
    /// its variants on several inputs. Profiles show launches on the same input side by side.
    fn case(&self, _: Lang) -> String {
        String::new()
    }
}

erased_serde::serialize_trait_object!(Details);

/// No additional columns.
impl Details for () {
    fn columns(&self, _: Lang) -> &'static [&'static str] {
        &[]
    }

    fn cells(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A hardware limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The name of the measurement, such as `copy on the device`.
    pub name: &'static str,
    /// The time that the hardware needs at least.
    pub timing: Timing,
}

impl Limit {
    /// Relates a result's time to the limit; `None` if the time is 0.
    pub(super) fn bound(&self, timing: &Timing) -> Option<Bound> {
        let median_ms = self.timing.median_ms;
        let share = median_ms / timing.median_ms;
        share.is_finite().then_some(Bound {
            name: self.name,
            median_ms,
            share,
        })
    }
}

/// A result's relation to its limit.
#[derive(Debug, Serialize)]
pub(super) struct Bound {
    name: &'static str,
    median_ms: f64,
    /// The limit's time divided by the result's time: 1 means that the result reaches the limit.
    pub share: f64,
}

/// A result as stored in the report.
#[derive(Serialize)]
pub(super) struct Outcome {
    pub variant: String,
    #[serde(flatten)]
    pub details: Box<dyn Details>,
    #[serde(flatten)]
    pub timing: Timing,
    pub speedup: Option<f64>,
    #[serde(rename = "limit", skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    pub verified: bool,
    pub differing: usize,
    #[serde(skip)]
    pub wrong: Option<String>,
    #[serde(flatten)]
    pub launch: Launch,
}

/// The launch record of a result; `None` on a GPU and for copies.
#[derive(Debug)]
pub(super) struct Launch {
    pub record: Option<LaunchRecord>,
    pub detail: Option<Detail>,
}

impl Serialize for Launch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        profile::Record::new(self.record.as_ref(), self.detail).serialize(serializer)
    }
}
