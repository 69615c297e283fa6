//! Targets: limits that an exercise sets on the counters of a submission.

use anyhow::{Result, ensure};
use serde::Deserialize;

use crate::lang::Text;

/// A bound on a counter or on a sum of counters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The counters, by Nsight Compute's names.
    pub counter: Option<Counters>,
    /// Instead of a counter, the minimum share of the bandwidth limit: the time of a copy of the required
    /// bytes divided by the kernels' time.
    pub share_of_limit: Option<f64>,
    /// The kernel whose launches are counted; `None` for all launches.
    pub kernel: Option<String>,
    /// The inclusive maximum.
    pub at_most: Option<u64>,
    /// The inclusive minimum.
    pub at_least: Option<u64>,
    /// The exact value.
    pub equals: Option<u64>,
    /// The derivation of the bound, shown if it is missed.
    pub say: Text,
}

/// One counter or a sum of several. An atomic operation reads and writes like a load and a store but has its
/// own counter, which a sum can include.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Counters {
    /// A single counter.
    One(String),
    /// The sum of several counters.
    Sum(Vec<String>),
}

impl Counters {
    /// Returns the counters' names.
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
                ensure!(!names.is_empty(), "[[target]] counter is empty");
                for (index, name) in names.iter().enumerate() {
                    let metrics = cuda_driver::counters::METRICS;
                    ensure!(
                        metrics.iter().any(|metric| metric.name == name),
                        "[[target]] {name} is not a counter"
                    );
                    ensure!(
                        !names[..index].contains(name),
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
                if let (Some(maximum), Some(minimum), _) = bounds {
                    ensure!(
                        minimum <= maximum,
                        "[[target]] {name}: at_least is above at_most"
                    );
                }
            }
            (None, Some(share)) => ensure!(
                bounds == (None, None, None)
                    && self.kernel.is_none()
                    && share > 0.0
                    && share <= 1.0,
                "[[target]] share_of_limit must be above 0 and at most 1, without other bounds"
            ),
            _ => anyhow::bail!("[[target]] takes `counter` or `share_of_limit`, one of them"),
        }
        Ok(())
    }
}
