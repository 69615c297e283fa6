//! What a GPU is made of: the numbers that limits, attributes and the time model are read from.
//! One file a GPU, each figure with its source.

mod h200_defaults;
mod copy_rate;
mod gtx280;
mod gtx970;
mod h200;
mod images;
mod p2000;
pub mod rates;
mod rtx3090;
mod spec;
#[cfg(test)]
mod tests;

pub use copy_rate::CopyRate;
pub use rates::{Latencies, Rates};
pub use spec::DeviceSpec;

/// The GPUs that can be modelled, each with its short name: first the default, then those of the
/// notes.
pub static PRESETS: [(&str, DeviceSpec); 5] = [
    ("h200", DeviceSpec::h200()),
    ("rtx3090", DeviceSpec::rtx3090()),
    ("gtx970", DeviceSpec::gtx970()),
    ("p2000", DeviceSpec::p2000()),
    ("gtx280", DeviceSpec::gtx280()),
];

impl DeviceSpec {
    /// The GPU of [`PRESETS`] with this name: the short one or the full one, in capitals or not, with
    /// or without spaces, dashes and the words NVIDIA, GeForce and Quadro. `None` for any other name.
    pub fn named(name: &str) -> Option<&'static DeviceSpec> {
        let wanted = plain(name);
        let mut presets = PRESETS.iter();
        let found = presets.find(|(short, _)| *short == wanted);
        found.map(|(_, device)| device)
    }

    /// Whether no GPU is newer of those that can be modelled.
    pub fn is_newest(&self) -> bool {
        let mut presets = PRESETS.iter();
        presets.all(|(_, device)| device.accepts <= self.accepts)
    }
}

/// A GPU's name, short: `NVIDIA GeForce RTX 3090` is `rtx3090`.
fn plain(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split([' ', '-', '_']);
    words
        .filter(|word| !["nvidia", "geforce", "quadro"].contains(word))
        .collect()
}
