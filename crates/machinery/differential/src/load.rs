//! Whether PTX that somebody else's compiler wrote loads.

use anyhow::{Context as _, Result};
use cuda_sim::device::DeviceSpec;
use cuda_sim::memory::global::Global;
use std::path::Path;

/// Device memory for the variables of a module.
const BYTES: u64 = 1 << 36;

/// Why the simulator does not take the module in a file; none where it does.
///
/// # Errors
/// Where the file cannot be read.
pub fn refusal(path: &Path) -> Result<Option<String>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut global = Global::new(BYTES);
    let loaded = cuda_sim::lower::load(&text, &DeviceSpec::h200(), &mut global);
    Ok(loaded.err().map(|error| error.to_string()))
}
