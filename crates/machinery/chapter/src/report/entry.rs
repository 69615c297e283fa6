//! One row of a chapter's table.

use std::any::Any;

use common::timing::{Measured, Timing};
use common::verify::Verdict;
use cuda_driver::LaunchRecord;
use serde::{Serialize, Serializer};

use crate::flags::Detail;
use crate::profile;

/// What came of one variant: its time, what its launch did, and whether its result is right.
pub struct Entry {
    pub(crate) variant: String,
    pub(crate) details: Box<dyn Details>,
    pub(super) measured: Measured,
    pub(super) verdict: Verdict,
    pub(super) compared: bool,
    pub(super) against: Against,
}

/// Which limit a result is measured against.
pub(super) enum Against {
    /// The report's last one.
    Last,
    /// One that holds for this result alone, or none.
    Own(Option<Limit>),
}

impl Entry {
    /// A variant, compared with its report's baseline and limit.
    pub fn new(variant: &str, measured: Measured, verdict: Verdict) -> Self {
        Entry {
            variant: variant.to_owned(),
            details: Box::new(()),
            measured,
            verdict,
            compared: true,
            against: Against::Last,
        }
    }

    /// The same with what the chapter says of it besides.
    pub fn with<D: Details>(self, details: impl FnOnce(&Measured) -> D) -> Self {
        Entry {
            details: Box::new(details(&self.measured)),
            ..self
        }
    }

    /// Whether its result is its reference's.
    pub fn is_right(&self) -> bool {
        self.verdict.wrong.is_none()
    }

    /// It does other work than the baseline, and is compared with nothing.
    pub fn apart(self) -> Self {
        Entry {
            compared: false,
            ..self
        }
    }

    /// The limit of the others is none for it: it has one of its own, or none that is known.
    pub fn limit(self, limit: Option<Limit>) -> Self {
        Entry {
            against: Against::Own(limit),
            ..self
        }
    }
}

/// What a chapter says of a variant beside its time and check; of all its variants the same type.
pub trait Details: erased_serde::Serialize + Any {
    /// The headers of its columns.
    fn columns(&self) -> &'static [&'static str];

    /// Its cells, one a column.
    fn cells(&self) -> Vec<String>;

    /// Of what the variant was run on, `128000 sums, pseudo_random`, where a report runs its
    /// variants on several; profiles show those of one case side by side.
    fn case(&self) -> String {
        String::new()
    }
}

erased_serde::serialize_trait_object!(Details);

/// Nothing more.
impl Details for () {
    fn columns(&self) -> &'static [&'static str] {
        &[]
    }

    fn cells(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What the hardware allows.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What was measured, as `copy on the device`.
    pub name: &'static str,
    /// How long that takes.
    pub timing: Timing,
}

impl Limit {
    /// How near a result of this time comes; `None` where the time is 0.
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

/// A result beside its limit.
#[derive(Debug, Serialize)]
pub(super) struct Bound {
    name: &'static str,
    median_ms: f64,
    /// The limit's time as a part of the result's: 1 is all that the hardware gives.
    pub share: f64,
}

/// An entry in its report.
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

/// The launch that a result is of; none on a GPU, and where it is a copy.
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
