//! What counters have to come to.

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::Text;

/// What a counter, or the sum of several, has to come to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Which, by the names that Nsight Compute has for them.
    pub counter: Option<Counters>,
    /// In place of a counter: the share of the limit, which is the time that a copy of the bytes
    /// takes that have to be moved, over the kernels' own.
    pub share_of_limit: Option<f64>,
    /// Of which kernel; of all together where it says nothing.
    pub kernel: Option<String>,
    /// No more than this.
    pub at_most: Option<u64>,
    /// No less than this.
    pub at_least: Option<u64>,
    /// Exactly this.
    pub equals: Option<u64>,
    /// Where the number comes from.
    pub say: Text,
}

/// One counter, or several whose sum is meant: an atomic operation reads and writes as a load and a
/// store do, and has a counter of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Counters {
    /// One.
    One(String),
    /// The sum of these.
    Sum(Vec<String>),
}

impl Counters {
    /// Their names.
    pub fn names(&self) -> &[String] {
        match self {
            Counters::One(name) => std::slice::from_ref(name),
            Counters::Sum(names) => names,
        }
    }
}

impl Target {
    pub(super) fn validate(&self) -> Result<()> {
        let bounds = (self.at_most, self.at_least, self.equals);
        match (&self.counter, self.share_of_limit) {
            (Some(counters), None) => {
                let names = counters.names();
                ensure!(!names.is_empty(), "[[target]] counter names none");
                for (place, name) in names.iter().enumerate() {
                    let known = cuda_driver::counters::METRICS;
                    ensure!(
                        known.iter().any(|metric| metric.name == name),
                        "[[target]] {name} is no counter"
                    );
                    ensure!(
                        !names[..place].contains(name),
                        "[[target]] {name} is named twice, and would be counted twice"
                    );
                }
                let name = &names[0];
                ensure!(
                    matches!(
                        bounds,
                        (None, None, Some(_)) | (Some(_), _, None) | (_, Some(_), None)
                    ),
                    "[[target]] {name} takes at_most, at_least or both of them, or equals alone"
                );
                if let (Some(most), Some(least), _) = bounds {
                    ensure!(
                        least <= most,
                        "[[target]] {name}: at_least is above at_most"
                    );
                }
            }
            (None, Some(share)) => ensure!(
                bounds == (None, None, None)
                    && self.kernel.is_none()
                    && share > 0.0
                    && share <= 1.0,
                "[[target]] share_of_limit is above 0 and at most 1, and stands alone"
            ),
            _ => anyhow::bail!("[[target]] takes `counter` or `share_of_limit`, one of them"),
        }
        Ok(())
    }
}
