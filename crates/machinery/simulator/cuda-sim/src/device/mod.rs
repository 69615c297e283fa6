//! GPU specifications: the figures behind limits, device attributes and the time model. There is one file per
//! GPU, and each figure names its source.

mod gtx280;
mod gtx970;
mod h200;
mod p2000;
mod rtx3090;
mod spec;
#[cfg(test)]
mod tests;

pub use spec::{CopyRate, DeviceSpec, Latencies, Rates};

/// The simulated GPUs with their short names: the default first, then those of the notes.
pub static PRESETS: [(&str, DeviceSpec); 5] = [
    ("h200", DeviceSpec::h200()),
    ("rtx3090", DeviceSpec::rtx3090()),
    ("gtx970", DeviceSpec::gtx970()),
    ("p2000", DeviceSpec::p2000()),
    ("gtx280", DeviceSpec::gtx280()),
];

impl DeviceSpec {
    /// Returns the preset with a name: the short or the full name, in any case, with or without spaces,
    /// dashes, and the words NVIDIA, GeForce and Quadro. Returns `None` for any other name.
    pub fn named(name: &str) -> Option<&'static DeviceSpec> {
        let short_name = normalize(name);
        let mut presets = PRESETS.iter();
        let preset = presets.find(|(short, _)| *short == short_name);
        preset.map(|(_, device)| device)
    }

    /// Returns true if no preset is newer.
    pub fn is_newest(&self) -> bool {
        let mut presets = PRESETS.iter();
        presets.all(|(_, device)| device.max_target_sm <= self.max_target_sm)
    }
}

/// Normalizes a GPU's name: `NVIDIA GeForce RTX 3090` becomes `rtx3090`.
fn normalize(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split([' ', '-', '_']);
    words
        .filter(|word| !["nvidia", "geforce", "quadro"].contains(word))
        .collect()
}
